"""Circles: words that lead to others, and from there back to where they began."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

Steps = Mapping[str, Sequence[str]]
LONGEST = 6  # words of a circle that are named
FARTHEST = 64  # words looked at for a way back; without an end each step would look at them all


def find_circles(edges: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the names of steps, each `(name, from, to)`, that are part of a circle, and its words.

    A long circle is told by its first words and `…`; each name is told once.
    """
    edges = list(edges)
    steps: dict[str, list[str]] = {}
    for _, word, other in edges:
        steps.setdefault(word, []).append(other)
    knots = find_knots(steps)
    inside = {
        word: [other for other in after if knots[other] == knots[word]]
        for word, after in steps.items()
    }
    told: set[str] = set()
    for name, word, other in edges:
        if name not in told and knots[word] == knots[other]:
            told.add(name)
            yield name, _shorten([word, *(_find_way(inside, other, word) or [other, "…"])])


def find_knots(steps: Steps) -> dict[str, str]:
    """Say for each word which knot it is in: those of one knot all lead to each other."""
    order: dict[str, int] = {}
    knots: dict[str, str] = {}
    for start in steps:
        if start not in order:
            _walk(steps, start, order, knots)
    return knots


def _walk(steps: Steps, start: str, order: dict[str, int], knots: dict[str, str]) -> None:
    """Find the knots that a word leads to: Gabow's algorithm, which looks at each step once."""
    order[start] = len(order)
    # `firsts` begin what may be a knot, `members` are those of them all.
    ways, firsts, members = [(start, iter(steps[start]))], [start], [start]
    while ways:
        word, after = ways[-1]
        for other in after:
            if other not in order:
                order[other] = len(order)
                firsts.append(other)
                members.append(other)
                ways.append((other, iter(steps.get(other, ()))))
                break
            if other not in knots:
                while order[firsts[-1]] > order[other]:
                    firsts.pop()
        else:
            ways.pop()
            if firsts[-1] == word:
                firsts.pop()
                while word not in knots:
                    knots[members.pop()] = word


def _find_way(steps: Steps, start: str, goal: str) -> list[str]:
    """Return the shortest way from one word to another, the first included, unless it is long."""
    came: dict[str, str] = {}
    queue = [start]
    for word in queue:
        for after in steps[word]:
            if after == goal:
                return _walk_back(came, start, word)
            if after != start and after not in came:
                came[after] = word
                queue.append(after)
        if len(queue) > FARTHEST:
            return []
    return []


def _walk_back(came: Mapping[str, str], start: str, at: str) -> list[str]:
    way = [at]
    while at != start:
        at = came[at]
        way.append(at)
    return way[::-1]


def _shorten(words: list[str]) -> list[str]:
    return words if len(words) <= LONGEST else [*words[:LONGEST], "…"]

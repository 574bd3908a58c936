"""Errors and warnings about synonyms, and synonyms that form a cycle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from svc_notebook.editors.curation_editors.editor import Faults, ObjectProblem

Steps = Mapping[str, Sequence[str]]
MAX_LISTED_WORDS = 6  # words of a cycle that are listed
MAX_VISITED_WORDS = (
    64  # limit of words in the search for a path back, which would otherwise visit all words
)


def find_circles(edges: Iterable[tuple[str, str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the steps `(name, from, to)` that are part of a cycle, and the cycle's words.

    A long cycle is shortened to its first words and `…`; each name is yielded once.
    """
    edges = list(edges)
    steps: dict[str, list[str]] = {}
    for _, word, other in edges:
        steps.setdefault(word, []).append(other)
    components = find_components(steps)
    inside = {
        word: [other for other in after if components[other] == components[word]]
        for word, after in steps.items()
    }
    told: set[str] = set()
    for name, word, other in edges:
        if name not in told and components[word] == components[other]:
            told.add(name)
            yield name, _shorten([word, *(_find_way(inside, other, word) or [other, "…"])])


def find_components(steps: Steps) -> dict[str, str]:
    """Return for each word its strongly connected component."""
    order: dict[str, int] = {}
    components: dict[str, str] = {}
    for start in steps:
        if start not in order:
            _walk(steps, start, order, components)
    return components


def _walk(steps: Steps, start: str, order: dict[str, int], components: dict[str, str]) -> None:
    """Find the strongly connected components from a word by Gabow's algorithm, each edge once."""
    order[start] = len(order)
    # `firsts` are the possible roots of components, `members` the words of all of them.
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
            if other not in components:
                while order[firsts[-1]] > order[other]:
                    firsts.pop()
        else:
            ways.pop()
            if firsts[-1] == word:
                firsts.pop()
                while word not in components:
                    components[members.pop()] = word


def _find_way(steps: Steps, start: str, goal: str) -> list[str]:
    """Return the shortest path from one word to another, the first included, unless it is long."""
    came: dict[str, str] = {}
    queue = [start]
    for word in queue:
        for after in steps[word]:
            if after == goal:
                return _walk_back(came, start, word)
            if after != start and after not in came:
                came[after] = word
                queue.append(after)
        if len(queue) > MAX_VISITED_WORDS:
            return []
    return []


def _walk_back(came: Mapping[str, str], start: str, at: str) -> list[str]:
    way = [at]
    while at != start:
        at = came[at]
        way.append(at)
    return way[::-1]


def _shorten(words: list[str]) -> list[str]:
    return words if len(words) <= MAX_LISTED_WORDS else [*words[:MAX_LISTED_WORDS], "…"]


# Where each type keeps the word that is replaced, and the words that stand for it.
MEMBERS: dict[str, tuple[str | None, str]] = {
    "synonym": (None, "synonyms"),
    "onewaysynonym": ("input", "synonyms"),
    "altcorrection1": ("word", "corrections"),
    "altcorrection2": ("word", "corrections"),
    "placeholder": ("placeholder", "replacements"),
}
Synonym = Mapping[str, Any]


def find_faults(synonyms: Sequence[Synonym]) -> Faults:
    """Return the errors and warnings, by objectID."""
    faults: Faults = defaultdict(list)
    for synonym in synonyms:
        faults[synonym["objectID"]] += _own_faults(synonym)
    for name, other in _find_doubles(synonyms):
        faults[name].append({"level": "odd", "text": f"says what `{other}` says", "other": other})
    for name, other in _find_parts(synonyms):
        text = f"says a part of what `{other}` says"
        faults[name].append({"level": "odd", "text": text, "other": other})
    for name, words in find_circles(_find_steps(synonyms)):
        path = " → ".join((*words, words[0]))
        text = f"leads in a circle: {path}; a two-way synonym says it plainly"
        faults[name].append({"level": "odd", "text": text})
    return {name: found for name, found in faults.items() if found}


def head_of(synonym: Synonym) -> str | None:
    """Return the replaced word; two-way synonyms have none."""
    member = MEMBERS[synonym["type"]][0]
    return synonym.get(member, "") if member else None


def words_of(synonym: Synonym) -> list[str]:
    """The words that stand for it, or for each other."""
    return list(synonym.get(MEMBERS[synonym["type"]][1]) or ())


def _own_faults(synonym: Synonym) -> Iterator[ObjectProblem]:
    kind, head, words = synonym["type"], head_of(synonym), words_of(synonym)
    member, others = MEMBERS[kind]
    if not synonym["objectID"].strip():
        yield _wrong("the objectID is empty")
    if head is not None and not head.strip():
        yield _wrong(f"`{member}` is empty")
    if not words:
        yield _wrong(f"`{others}` has no words")
    elif not all(word.strip() for word in words):
        yield _wrong(f"`{others}` holds an empty word")
    if kind.startswith("altcorrection"):
        yield from (
            _wrong(f"`{word}` is several words; corrections are single words")
            for word in (head or "", *words)
            if len(word.split()) > 1
        )
    plain = [_fold(word) for word in words]
    for word in dict.fromkeys(word for word in plain if word and plain.count(word) > 1):
        yield _odd(f"`{word}` is there twice")
    if kind == "synonym" and len(set(plain)) == 1 and plain[0]:
        yield _odd("one word alone stands for nothing else")
    if head and _fold(head) in plain:
        yield _odd(f"`{head}` stands for itself")
    if kind == "placeholder" and head and not (head.startswith("<") and head.endswith(">")):
        yield _odd(f"records hold placeholders in angle brackets: `<{head.strip('<> ')}>`")


def _find_doubles(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str]]:
    """Yield those that say what one before them says."""
    seen: dict[Any, str] = {}
    for synonym in synonyms:
        words = frozenset(map(_fold, words_of(synonym)))
        if not words:
            continue
        head = head_of(synonym)
        key = (synonym["type"], None if head is None else _fold(head), words)
        first = seen.setdefault(key, synonym["objectID"])
        if first != synonym["objectID"]:
            yield synonym["objectID"], first


def _find_parts(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str]]:
    """Yield those that say a part of what another says, and the first that says it all."""
    groups: dict[tuple[str, str], list[tuple[str, frozenset[str]]]] = defaultdict(list)
    own: list[tuple[str, str | None, frozenset[str]]] = []
    for synonym in synonyms:
        kind, head = synonym["type"], head_of(synonym)
        words = frozenset(filter(None, map(_fold, words_of(synonym))))
        if kind in ("synonym", "onewaysynonym") and words:
            own.append((synonym["objectID"], None if head is None else _fold(head), words))
            for key in [("", word) for word in words] if head is None else [("to", _fold(head))]:
                groups[key].append((synonym["objectID"], words))
    for name, head, words in own:
        all_of = words if head is None else words | {head}
        # Who has all words is among those that have the word which the fewest have.
        near = [*min((groups.get(("", word), []) for word in all_of), key=len)]
        whole = [other for other, more in near if all_of < more or (head and all_of == more)]
        if head is not None:
            whole += [other for other, more in groups["to", head] if words < more]
        if whole:
            yield name, whole[0]


def _find_steps(synonyms: Iterable[Synonym]) -> Iterator[tuple[str, str, str]]:
    """Yield what one-way synonyms lead from and to, with whose step it is."""
    for synonym in synonyms:
        if synonym["type"] == "onewaysynonym":
            head = _fold(head_of(synonym) or "")
            for word in map(_fold, words_of(synonym)):
                if word and word != head:
                    yield synonym["objectID"], head, word


def _fold(word: str) -> str:
    return " ".join(word.casefold().split())


def _wrong(text: str) -> ObjectProblem:
    return {"level": "wrong", "text": text}


def _odd(text: str) -> ObjectProblem:
    return {"level": "odd", "text": text}

"""Highlights and snippets: the texts of a hit again, with what the query matched marked.

Both mirror the record: objects stay objects, arrays stay arrays, and each plain value becomes a
leaf that says how much of the query it holds. Numbers and booleans are written as texts, null is
left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, NamedTuple

from svc_notebook.service.engine.highlight_style import Selection, Style
from svc_notebook.service.engine.leaves import DEEPEST, number_text
from svc_notebook.service.engine.words import Token, reach, split, split_camel, tokens

__all__ = ["Match", "Matcher", "Run", "Runs", "Style", "highlight_hit", "mark_text", "snippet_hit"]

LONGEST = 50_000
"""What follows after so many characters of a text is neither marked nor cut from."""

Match = tuple[int, int]
"""The number of the query word that a token matches, and how many of its letters to mark."""

Matcher = Callable[[str, AbstractSet[str]], Mapping[str, Match]]
"""Tells which of some tokens under a path match."""

Run = tuple[int, tuple[str, ...]]
"""A query word's number, and tokens that match it where they stand side by side."""

Runs = Callable[[str], Sequence[Run]]
"""Tells the runs to mark under a path."""

_Leaf = dict[str, Any]
_Node = dict[str, Any] | list[Any]
_WriteLeaf = Callable[[str, str, int], _Leaf]


def no_runs(path: str) -> Sequence[Run]:
    """Mark single tokens only."""
    return ()


def highlight_hit(
    record: Mapping[str, Any], matcher: Matcher, style: Style, runs: Runs = no_runs
) -> dict[str, Any]:
    """Return a hit's `_highlightResult`."""

    def write_leaf(path: str, text: str, _: int) -> _Leaf:
        reading = _read(text, path, matcher, style, runs)
        if not reading.marks:
            return {"value": text, "matchLevel": "none", "matchedWords": []}
        return {
            "value": _write(reading, 0, len(text)),
            "matchLevel": reading.level(),
            "fullyHighlighted": reading.is_full(),
            "matchedWords": reading.matched(),
        }

    return _Mirror(style.highlighted, style.only_matching_items, write_leaf).of_record(record)


def snippet_hit(
    record: Mapping[str, Any], matcher: Matcher, style: Style, runs: Runs = no_runs
) -> dict[str, Any]:
    """Return a hit's `_snippetResult`."""

    def write_leaf(path: str, text: str, size: int) -> _Leaf:
        reading = _read(text, path, matcher, style, runs)
        start, end = _choose_window(reading, size)
        before = style.ellipsis if start > 0 else ""
        after = style.ellipsis if end < len(text) else ""
        value = f"{before}{_write(reading, start, end)}{after}"
        return {"value": value, "matchLevel": reading.level()}

    return _Mirror(style.snippeted, style.only_matching_items, write_leaf).of_record(record)


def mark_text(text: str, path: str, matcher: Matcher, style: Style, runs: Runs = no_runs) -> str:
    """Return one text with its matches marked."""
    return _write(_read(text, path, matcher, style, runs), 0, len(text))


@dataclass(frozen=True)
class _Mirror:
    """The shape of a record's selected attributes, with a leaf for each plain value."""

    selection: Selection
    only_matching_items: bool
    write_leaf: _WriteLeaf

    def of_record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        top = self.selection.top
        chosen = self.selection.members(record)
        return _without_none(
            {name: self.of_member(name, record[name], top(name), 1) for name in chosen}
        )

    def of_member(self, path: str, value: Any, around: int | None, depth: int) -> _Node | None:
        number = self.selection.number(path, around)
        if number is None and path not in self.selection.ways:
            return None
        node = self.of_value(value, path, number, depth)
        return node if node or number is not None else None

    def of_value(self, value: Any, path: str, number: int | None, depth: int) -> _Node | None:
        if depth > DEEPEST:
            return None
        if isinstance(value, dict):
            return _without_none(
                {
                    name: self.of_member(f"{path}.{name}", inner, number, depth + 1)
                    for name, inner in value.items()
                }
            )
        if isinstance(value, list):
            items = [self.of_value(item, path, number, depth + 1) for item in value]
            return [item for item in items if self.is_kept(item)]
        if value is None or number is None:
            return None
        return self.write_leaf(path, _to_text(value), number)

    def is_kept(self, item: _Node | None) -> bool:
        return item is not None and (not self.only_matching_items or _has_match(item))


def _without_none(nodes: Mapping[str, _Node | None]) -> dict[str, Any]:
    return {name: node for name, node in nodes.items() if node is not None}


def _has_match(node: _Node) -> bool:
    if isinstance(node, list):
        return any(map(_has_match, node))
    level = node.get("matchLevel")
    return level != "none" if isinstance(level, str) else any(map(_has_match, node.values()))


def _to_text(value: str | bool | float) -> str:
    if isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else number_text(value)


class _Mark(NamedTuple):
    """A marked token, where its mark ends, and the query words it matches."""

    token: Token
    end: int
    words: frozenset[str]


class _Reading(NamedTuple):
    """A text, how many words it has, and what matches in it."""

    text: str
    style: Style
    camel: bool
    length: int = 0
    marks: Sequence[_Mark] = ()

    def tokens(self) -> list[Token]:
        return _read_tokens(self.text, self.style, self.camel)

    def found(self) -> frozenset[str]:
        return frozenset().union(*(mark.words for mark in self.marks))

    def matched(self) -> list[str]:
        found = self.found()
        return [word for word in dict.fromkeys(self.style.words) if word in found]

    def level(self) -> str:
        if not self.marks:
            return "none"
        return "full" if self.found().issuperset(self.style.words) else "partial"

    def is_full(self) -> bool:
        whole = sum(mark.end == mark.token.end for mark in self.marks)
        return whole == self.length and len(self.text) <= LONGEST


def _read(text: str, path: str, matcher: Matcher, style: Style, runs: Runs) -> _Reading:
    camel = path in style.rules.camel
    if not style.words:
        return _Reading(text, style, camel)
    # Splitting is many times faster than finding where words stand, and many texts match nothing.
    body = text[:LONGEST]
    found = split(split_camel(body) if camel else body, style.rules)
    words = set(found)
    matches = matcher(path, words)
    wanted = [run for run in runs(path) if run[1][0] in words and words.issuperset(run[1])]
    marks = _mark_singles(text, style, camel, matches) if matches else []
    if wanted:
        marks = _join_marks([*marks, *_mark_runs(_read_tokens(text, style, camel), style, wanted)])
    return _Reading(text, style, camel, len(found), marks)


def _mark_singles(
    text: str, style: Style, camel: bool, matches: Mapping[str, Match]
) -> list[_Mark]:
    rules = style.rules
    marks = []
    for token in _read_tokens(text, style, camel, matches):
        word, letters = matches[token.text]
        end = reach(text, token, letters, rules)
        marks.append(_Mark(token, end, frozenset((style.words[word],))))
    return marks


def _mark_runs(found: Sequence[Token], style: Style, runs: Sequence[Run]) -> Iterator[_Mark]:
    texts = tuple(token.text for token in found)
    for word, wanted in runs:
        words = frozenset((style.words[word],))
        for start in range(len(texts) - len(wanted) + 1):
            if texts[start : start + len(wanted)] == wanted:
                run = found[start : start + len(wanted)]
                yield from (_Mark(token, token.end, words) for token in run)


def _read_tokens(
    text: str, style: Style, camel: bool, wanted: Collection[str] | None = None
) -> list[Token]:
    """Return the words of a text, or those wanted, without one that goes on beyond what is read."""
    found = tokens(text[:LONGEST], style.rules, wanted, camel=camel)
    cut_through = len(text) > LONGEST and found and found[-1].end == LONGEST
    return found[:-1] if cut_through else found


def _join_marks(marks: Iterable[_Mark]) -> list[_Mark]:
    """Make one mark of those of one token: as long as the longest, for all their words."""
    joined: dict[int, _Mark] = {}
    for mark in marks:
        token, end, words = joined.get(mark.token.start, mark)
        joined[token.start] = _Mark(token, max(end, mark.end), words | mark.words)
    return [joined[start] for start in sorted(joined)]


def _write(reading: _Reading, start: int, end: int) -> str:
    """Write the part of a text from `start` to `end` with its marks."""
    pieces = []
    for mark in reading.marks:
        opening = mark.token.start
        if start <= opening < end:
            pieces += [reading.text[start:opening], reading.style.before]
            pieces += [reading.text[opening : mark.end], reading.style.after]
            start = mark.end
    return "".join([*pieces, reading.text[start:end]])


def _choose_window(reading: _Reading, size: int) -> tuple[int, int]:
    """Return the bounds of the words to keep: most of the query, then earliest, with equal room
    on both sides of the matches.
    """
    text, found = reading.text, reading.tokens()
    if len(found) <= size:
        return 0, min(len(text), LONGEST)
    low, high = _densest_span(reading.marks, found, size)
    first = low - (size - (high - low + 1)) // 2
    first = max(0, min(first, len(found) - size))
    last = first + size - 1
    ends_text = last == len(found) - 1
    start = found[first].start if first else 0
    return start, min(len(text), LONGEST) if ends_text else found[last].end


def _densest_span(marks: Sequence[_Mark], found: Sequence[Token], size: int) -> tuple[int, int]:
    """Return the first and the last of the marked words that hold most of the query."""
    place = {token.start: number for number, token in enumerate(found)}
    places = [place[mark.token.start] for mark in marks]
    best, span = 0, (0, 0)
    inside: Counter[str] = Counter()
    oldest = 0
    for mark, last in zip(marks, places, strict=True):
        inside.update(mark.words)
        while last - places[oldest] >= size:
            inside.subtract(marks[oldest].words)
            oldest += 1
        different = sum(count > 0 for count in inside.values())
        if different > best:
            best, span = different, (places[oldest], last)
    return span

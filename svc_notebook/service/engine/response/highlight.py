"""Highlights and snippets: the texts of a hit with the matches marked.

Both mirror the record: objects remain objects, arrays remain arrays, and each scalar becomes a
leaf that reports how much of the query it matches. Numbers and booleans are written as text, nulls
are omitted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from svc_notebook.core.tokenization.joined_words import distinct_words, has_joiner
from svc_notebook.core.tokenization.tokenizer import (
    Position,
    Token,
    end_of_letters,
    find_tokens,
    fold,
    positions,
    split,
    split_camel,
)
from svc_notebook.service.engine.execution import check_time, count_answer_bytes
from svc_notebook.service.engine.index.flatten import MAX_DEPTH, number_text
from svc_notebook.service.engine.index.schema import INTERNAL
from svc_notebook.service.engine.query.options import HighlightedAttributes, Style
from svc_notebook.service.engine.response.highlight_matcher import Marker, Run, TokenMatch
from svc_notebook.service.engine.text.synonyms import (
    BracketedToken,
    find_placeholders,
    is_placeholder,
)

__all__ = ["Style", "highlight_hit", "mark_text", "snippet_hit"]

# Only this many characters of a text are highlighted or used for snippets.
MAX_TEXT_CHARACTERS = 50_000
# Bytes of a leaf in an answer, besides its text.
LEAF_BYTES = 80

_Leaf = dict[str, Any]
_Node = dict[str, Any] | list[Any]
_WriteLeaf = Callable[[str, str, int], _Leaf]


def highlight_hit(record: Mapping[str, Any], marker: Marker, style: Style) -> dict[str, Any]:
    """Return a hit's `_highlightResult`."""

    def write_leaf(path: str, text: str, _: int) -> _Leaf:
        marked = _mark(text, path, marker, style)
        if not marked.marks:
            return {"value": text, "matchLevel": "none", "matchedWords": []}
        matched = marked.found()
        return {
            "value": _write_marked(marked, 0, len(text)),
            "matchLevel": "full" if style.whole <= matched else "partial",
            "fullyHighlighted": marked.is_full(),
            "matchedWords": [word for word in style.distinct if word in matched],
        }

    return _ResultBuilder(style.highlighted, style.only_matching_items, write_leaf).of_record(
        record
    )


def snippet_hit(record: Mapping[str, Any], marker: Marker, style: Style) -> dict[str, Any]:
    """Return a hit's `_snippetResult`."""

    def write_leaf(path: str, text: str, size: int) -> _Leaf:
        marked = _mark(text, path, marker, style)
        start, end = _choose_window(marked, size)
        before = style.ellipsis if start > 0 else ""
        after = style.ellipsis if end < len(text) else ""
        count_answer_bytes(len(before) + len(after))
        value = f"{before}{_write_marked(marked, start, end)}{after}"
        return {"value": value, "matchLevel": marked.level()}

    return _ResultBuilder(style.snippeted, style.only_matching_items, write_leaf).of_record(record)


def mark_text(text: str, path: str, marker: Marker, style: Style) -> str:
    """Return one text with its matches marked."""
    return _write_marked(_mark(text, path, marker, style), 0, len(text))


@dataclass(frozen=True)
class _ResultBuilder:
    """Builds the result for a record's selected attributes, with a leaf for each scalar."""

    selection: HighlightedAttributes
    only_matching_items: bool
    write_leaf: _WriteLeaf

    def of_record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        selection, rest = self.selection, self.selection.rest
        return {
            name: node
            for name, value in record.items()
            if rest is not None or name in selection.numbers or name in selection.parents
            # `*` does not select internal attributes.
            if (node := self.of_member(name, value, None if name in INTERNAL else rest, 1))
            is not None
        }

    def of_member(self, path: str, value: Any, inherited: int | None, depth: int) -> _Node | None:
        selection = self.selection
        number = None if path in selection.hidden else selection.numbers.get(path, inherited)
        if number is None and path not in selection.parents:
            return None
        node = self.of_value(value, path, number, depth)
        return node if node or number is not None else None

    def of_value(self, value: Any, path: str, number: int | None, depth: int) -> _Node | None:
        if depth > MAX_DEPTH:
            return None
        if isinstance(value, dict):
            return {
                name: node
                for name, inner in value.items()
                if (node := self.of_member(f"{path}.{name}", inner, number, depth + 1)) is not None
            }
        if isinstance(value, list):
            items = [self.of_value(item, path, number, depth + 1) for item in value]
            return [*filter(self.is_kept, items)]
        if value is None or number is None:
            return None
        text = value if isinstance(value, str) else _write_scalar(value)
        return self.write_leaf(path, text, number)

    def is_kept(self, item: _Node | None) -> bool:
        return item is not None and (not self.only_matching_items or _has_match(item))


def _has_match(node: _Node) -> bool:
    if isinstance(node, list):
        return any(map(_has_match, node))
    level = node.get("matchLevel")
    return level != "none" if isinstance(level, str) else any(map(_has_match, node.values()))


def _write_scalar(value: bool | float) -> str:
    return str(value).lower() if isinstance(value, bool) else number_text(value)


class _Mark(NamedTuple):
    """A highlight: its first word, its start and end, and how many whole words it covers.

    `words` are the matched query words; `shown` replaces the text.
    """

    token: Token
    start: int
    end: int
    words: frozenset[str]
    whole: int
    shown: str | None = None


class _MarkedText(NamedTuple):
    """A text with its word count and its highlights; `joined` if it may have joined words."""

    text: str
    style: Style
    camel: bool
    length: int = 0
    marks: Sequence[_Mark] = ()
    joined: bool = False

    def positions(self) -> list[Position]:
        return _read_positions(self.text, self.style, self.camel)

    def found(self) -> frozenset[str]:
        return self.marks[0].words.union(*[mark.words for mark in self.marks[1:]])

    def level(self) -> str:
        if not self.marks:
            return "none"
        return "full" if self.style.whole <= self.found() else "partial"

    def is_full(self) -> bool:
        whole = sum(mark.whole for mark in self.marks)
        if whole < self.length or len(self.text) > MAX_TEXT_CHARACTERS:
            return False
        # A joined word may be marked in part, or part by part.
        return not self.joined or not split(self.unmarked(), self.style.rules)

    def unmarked(self) -> str:
        """Return what is outside the highlights."""
        edges = [0, *(edge for mark in self.marks for edge in (mark.start, mark.end)), None]
        return " ".join(
            self.text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)
        )


def _mark(text: str, path: str, marker: Marker, style: Style) -> _MarkedText:
    check_time()
    count_answer_bytes(LEAF_BYTES)
    camel = path in style.rules.camel
    if not style.words:
        return _MarkedText(text, style, camel)
    # Splitting is many times faster than computing offsets, and many texts match nothing.
    body = text[:MAX_TEXT_CHARACTERS]
    folded = fold(split_camel(body) if camel else body, style.rules)
    words, length = distinct_words(folded)
    matcher = marker(path)
    matches = matcher.match(words)
    marks = _mark_singles(text, style, camel, matches, folded) if matches else []
    if chosen := _choose_runs(matcher.runs, words, placeholders="<" in body):
        marks = _join_marks([*marks, *_mark_runs(text, style, camel, chosen)])
    return _MarkedText(text, style, camel, length, marks, has_joiner(folded))


def _choose_runs(
    runs: Mapping[str, Sequence[Run]], words: set[str], *, placeholders: bool
) -> list[Run]:
    """Return the runs that a text with these words may contain."""
    chosen = [
        run
        for first in runs
        if first in words
        for run in runs[first]
        if (placeholders if is_placeholder(run.tokens) else words.issuperset(run.tokens))
    ]
    return sorted(chosen)


def _mark_singles(
    text: str, style: Style, camel: bool, matches: Mapping[str, TokenMatch], folded: str
) -> list[_Mark]:
    marks = []
    body = text[:MAX_TEXT_CHARACTERS]
    for token in find_tokens(body, style.rules, matches, camel=camel, folded=folded):
        if token.end == MAX_TEXT_CHARACTERS < len(text):  # the word is cut off
            continue
        match = matches[token.text]
        words = style.of_numbers(match.words)
        shown = match.replaced if style.replacing and match.replaced else None
        whole = match.letters >= len(token.text)
        end = token.end if whole else end_of_letters(text, token, match.letters, style.rules)
        marks.append(_Mark(token, token.start, end, words, int(end == token.end), shown))
    return marks


def _mark_runs(text: str, style: Style, camel: bool, runs: Sequence[Run]) -> Iterator[_Mark]:
    positions_read = _read_positions(text, style, camel)
    body = text[:MAX_TEXT_CHARACTERS]
    placeholders = list(find_placeholders(split_camel(body) if camel else body, style.rules))
    for run in runs:
        words = style.of_numbers(run.words)
        shown = run.replaced if style.replacing and run.replaced else None
        for first in _find_run(run.tokens, positions_read, placeholders):
            here = positions_read[first : first + len(run.tokens)]
            if is_placeholder(run.tokens):
                yield _mark_placeholder(text, here, words, shown)
            else:
                yield from _mark_run(_tokens_of_run(run.tokens, here), words, shown)


def _find_run(
    run_words: tuple[str, ...],
    text_positions: Sequence[Position],
    placeholders: Iterable[BracketedToken],
) -> Sequence[int]:
    """Return the positions of a text at which a run begins."""
    if is_placeholder(run_words):
        last = len(text_positions) - len(run_words)
        return [
            bracketed.first
            for bracketed in placeholders
            if bracketed.words == run_words and bracketed.first <= last
        ]
    texts = [{token.text for token in position.tokens} for position in text_positions]
    starts = range(len(texts) - len(run_words) + 1)
    return [
        first
        for first in starts
        if all(word in texts[at] for at, word in enumerate(run_words, first))
    ]


def _tokens_of_run(run_words: tuple[str, ...], run: Sequence[Position]) -> list[Token]:
    return [
        next(token for token in position.tokens if token.text == word)
        for word, position in zip(run_words, run, strict=True)
    ]


def _mark_run(run: Sequence[Token], words: frozenset[str], shown: str | None) -> Iterator[_Mark]:
    """Mark each token, or the whole run at once if it is replaced."""
    if shown is None:
        yield from (_Mark(token, token.start, token.end, words, 1) for token in run)
    else:
        yield _Mark(run[0], run[0].start, run[-1].end, words, len(run), shown)


def _mark_placeholder(
    text: str, run: Sequence[Position], words: frozenset[str], shown: str | None
) -> _Mark:
    """Mark a placeholder with its brackets."""
    start, end = text.rindex("<", 0, run[0].start), text.index(">", run[-1].end) + 1
    return _Mark(run[0].tokens[0], start, end, words, len(run), shown)


def _read_positions(text: str, style: Style, camel: bool) -> list[Position]:
    """Return the positions of a text, without a word cut off at the length limit."""
    text_positions = positions(text[:MAX_TEXT_CHARACTERS], style.rules, camel=camel)
    if text_positions and text_positions[-1].end == MAX_TEXT_CHARACTERS < len(text):
        return text_positions[:-1]
    return text_positions


def _join_marks(marks: Iterable[_Mark]) -> list[_Mark]:
    """Merge overlapping marks: the longest of those that start first, with the words of all."""
    joined: list[_Mark] = []
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end, mark.shown is not None)):
        if joined and mark.start < joined[-1].end:
            joined[-1] = joined[-1]._replace(words=joined[-1].words | mark.words)
        else:
            joined.append(mark)
    return joined


def _write_marked(marked: _MarkedText, start: int, end: int) -> str:
    """Write the part of a text from `start` to `end` with its marks."""
    tags = len(marked.style.before) + len(marked.style.after)
    count_answer_bytes(end - start + tags * len(marked.marks))
    pieces = []
    for mark in marked.marks:
        opening = max(mark.start, start)
        if opening < min(mark.end, end):
            pieces += [marked.text[start:opening], marked.style.before]
            shown = marked.text[opening : mark.end] if mark.shown is None else mark.shown
            pieces += [shown, marked.style.after]
            start = mark.end
    return "".join([*pieces, marked.text[start:end]])


def _choose_window(marked: _MarkedText, size: int) -> tuple[int, int]:
    """Return the bounds of the snippet: the most query words, then the earliest, then centred."""
    text, text_positions = marked.text, marked.positions()
    if len(text_positions) <= size:
        return 0, min(len(text), MAX_TEXT_CHARACTERS)
    low, high = _densest_span(marked.marks, text_positions, size)
    first = low - (size - (high - low + 1)) // 2
    first = max(0, min(first, len(text_positions) - size))
    last = first + size - 1
    ends_text = last == len(text_positions) - 1
    start = text_positions[first].start if first else 0
    end = min(len(text), MAX_TEXT_CHARACTERS) if ends_text else text_positions[last].end
    # A mark of several words or with brackets is not split.
    return (
        next((mark.start for mark in marked.marks if mark.start < start < mark.end), start),
        next((mark.end for mark in marked.marks if mark.start < end < mark.end), end),
    )


def _densest_span(
    marks: Sequence[_Mark], text_positions: Sequence[Position], size: int
) -> tuple[int, int]:
    """Return the first and last marked word of the window with the most query words."""
    starts = [position.start for position in text_positions]
    places = [bisect_right(starts, mark.token.start) - 1 for mark in marks]
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

"""The synonyms of an index, compiled for looking up the words of a query.

A synonym applies to whole words as typed, not to misspellings, and its replacements match only as
written. While the last word is typed, its beginning is enough. Synonyms are not chained: a
replacement is not expanded again.

A placeholder is a token such as `<number>` in a text that matches any of a list of words. Every
text in angle brackets is indexed twice at the same position: as its words, and as the same words
with a marker before the first and after the last. The markers distinguish a placeholder from
ordinary words, and a placeholder that is declared later needs no reindexing. Only the synonyms
define which placeholders match something.
"""

from __future__ import annotations

import re
import threading
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from svc_notebook.core.tokenization.joined_words import count_positions
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, fold, split, split_camel

# No word contains the markers; two characters each put them beyond the typo tolerance.
FIRST_MARKER, LAST_MARKER, ONLY_MARKER = "\x02\x03", "\x03\x02", "\x02\x02"
MAX_PLACEHOLDER_LETTERS = 100
_BRACKETED = re.compile(rf"<([^<>]{{1,{MAX_PLACEHOLDER_LETTERS}}})>")


class BracketedToken(NamedTuple):
    """A bracketed token of a text: its marked words, and the position of the first in the text."""

    words: tuple[str, ...]
    first: int


def mark_placeholder(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words of a placeholder as they are indexed."""
    if len(words) < 2:
        return tuple(ONLY_MARKER + word for word in words)
    return FIRST_MARKER + words[0], *words[1:-1], LAST_MARKER + words[-1]


def is_placeholder(words: Sequence[str]) -> bool:
    """Return whether the words are those of a placeholder."""
    return words[0].startswith((FIRST_MARKER, ONLY_MARKER))


def remove_markers(word: str) -> str:
    """Return a word without its markers."""
    return word.strip("\x02\x03")


def find_placeholders(text: str, rules: TokenizerSettings) -> Iterator[BracketedToken]:
    """Return the bracketed tokens of a text."""
    breaks = all(rules.table[ord(bracket)].endswith(" ") for bracket in "<>")
    if "<" not in text or not breaks:
        return
    for match in _BRACKETED.finditer(text):
        if words := split(match[1], rules):
            first = count_positions(fold(text[: match.start(1)], rules))
            yield BracketedToken(mark_placeholder(words), first)


Synonym = Mapping[str, Any]
Phrase = tuple[str, ...]
# The sources that a beginning is looked up in, in alphabetical order.
MAX_TYPED_SOURCES = 100


class CompiledSynonym(NamedTuple):
    """One compiled synonym: each source may be replaced by each target.

    With `while_typing`, the beginning of the last word of a source is enough.
    """

    sources: tuple[Phrase, ...]
    targets: tuple[Phrase, ...]
    typos: int = 0
    while_typing: bool = True


class Replacement(NamedTuple):
    """A replacement for a run of words: its start, its length, the words and their typo cost.

    It is `partial` if the last word of the run is only the beginning of a word.
    """

    start: int
    length: int
    words: Phrase
    typos: int
    partial: bool = False


class Thesaurus:
    """The synonyms of one index; `read` loads them when the first search needs them.

    They are compiled separately for each set of tokenizer settings, so that synonyms compiled under
    old settings are never used with new ones.
    """

    def __init__(self, read: Callable[[], Iterable[Synonym]] = tuple) -> None:
        self._read = read
        self._tables: dict[TokenizerSettings, _SynonymTable] = {}
        self._compiling = threading.Lock()

    def find(
        self, words: Sequence[str], rules: TokenizerSettings, prefixes: Iterable[int] = ()
    ) -> Iterator[Replacement]:
        """Return the replacements of words and runs of words of a query.

        The words at `prefixes` may be beginnings of words.
        """
        table = self._tables.get(rules) or self._compile(rules)
        if not table.by_source:
            return
        for start, word in enumerate(words):
            for length in range(1, min(table.longest.get(word, 0), len(words) - start) + 1):
                source = tuple(words[start : start + length])
                for synonym in table.by_source.get(source, ()):
                    for target in synonym.targets:
                        if target != source:
                            yield Replacement(start, length, target, synonym.typos)
        for last in prefixes:
            yield from table.find_typed(words, last)

    def revised(
        self, deleted: Collection[str], new: Iterable[Synonym], *, emptied: bool = False
    ) -> Thesaurus:
        """Return a thesaurus with new synonyms, and without some or all of the old ones."""
        revised = Thesaurus(self._read)
        new = [synonym for synonym in new if synonym["objectID"] not in deleted]
        for rules, table in self._tables.items():
            before = _SynonymTable({}, {}, {}) if emptied else table
            revised._tables[rules] = before.with_changes(deleted, _compile(new, rules))
        return revised

    def _compile(self, rules: TokenizerSettings) -> _SynonymTable:
        with self._compiling:
            if rules not in self._tables:
                table = _SynonymTable({}, {}, {}).with_changes((), _compile(self._read(), rules))
                self._tables = {**self._tables, rules: table}
            return self._tables[rules]


@dataclass(frozen=True, eq=False)
class _SynonymTable:
    """Synonyms by source; `longest` maps a first word to the length of its longest source."""

    by_source: Mapping[Phrase, tuple[CompiledSynonym, ...]]
    by_id: Mapping[str, CompiledSynonym]
    longest: Mapping[str, int]

    @cached_property
    def ascending(self) -> list[Phrase]:
        """The sources of which a beginning is enough."""
        return sorted(
            source
            for source, synonyms in self.by_source.items()
            if any(synonym.while_typing for synonym in synonyms)
        )

    @cached_property
    def max_length(self) -> int:
        """The words of the longest source."""
        return max(self.longest.values(), default=0)

    def find_typed(self, words: Sequence[str], last: int) -> Iterator[Replacement]:
        """Return the replacements of runs that end with the beginning of a word at `last`."""
        for start in range(max(0, last + 1 - self.max_length), last + 1):
            for source in islice(self._begun_by(tuple(words[start : last + 1])), MAX_TYPED_SOURCES):
                for synonym in self.by_source[source]:
                    for target in synonym.targets if synonym.while_typing else ():
                        if target != source:
                            yield Replacement(start, len(source), target, 0, partial=True)

    def _begun_by(self, run: Phrase) -> Iterator[Phrase]:
        """Return the longer sources of as many words that begin like a run."""
        last = len(run) - 1
        for at in range(bisect_left(self.ascending, run), len(self.ascending)):
            source = self.ascending[at]
            if source[:last] != run[:last] or not source[last].startswith(run[last]):
                return
            if len(source) == len(run) and source != run:
                yield source

    def with_changes(
        self, deleted: Collection[str], new: Mapping[str, CompiledSynonym]
    ) -> _SynonymTable:
        """Return a table with the synonyms with some ids removed and others added."""
        by_source, by_id, longest = dict(self.by_source), dict(self.by_id), dict(self.longest)
        for name in (*deleted, *new):
            if removed := by_id.pop(name, None):
                for source in removed.sources:
                    by_source[source] = tuple(
                        entry for entry in by_source[source] if entry is not removed
                    )
        for synonym in new.values():
            for source in synonym.sources:
                by_source[source] = (*by_source.get(source, ()), synonym)
                longest[source[0]] = max(longest.get(source[0], 0), len(source))
        by_id.update(new)
        return _SynonymTable(by_source, by_id, longest)


def _compile(synonyms: Iterable[Synonym], rules: TokenizerSettings) -> dict[str, CompiledSynonym]:
    return {
        synonym["objectID"]: _READ[synonym["type"].lower()](synonym, rules) for synonym in synonyms
    }


def _read_equal(synonym: Synonym, rules: TokenizerSettings) -> CompiledSynonym:
    phrases = _phrases(synonym["synonyms"], rules)
    return CompiledSynonym(phrases, phrases)


def _read_one_way(synonym: Synonym, rules: TokenizerSettings) -> CompiledSynonym:
    return CompiledSynonym(
        _phrases([synonym["input"]], rules), _phrases(synonym["synonyms"], rules)
    )


def _read_correction(typos: int) -> Callable[[Synonym, TokenizerSettings], CompiledSynonym]:
    def read(synonym: Synonym, rules: TokenizerSettings) -> CompiledSynonym:
        sources = _phrases([synonym["word"]], rules)
        corrections = _phrases(synonym["corrections"], rules)
        return CompiledSynonym(sources, corrections, typos, while_typing=False)

    return read


def _read_placeholder(synonym: Synonym, rules: TokenizerSettings) -> CompiledSynonym:
    token = synonym["placeholder"]
    # Attributes with words split at capitals index the token in a different form.
    tokens = [token, split_camel(token)] if rules.camel else [token]
    targets = tuple(mark_placeholder(words) for words in _phrases(tokens, rules))
    return CompiledSynonym(_phrases(synonym["replacements"], rules), targets, while_typing=False)


_READ: Mapping[str, Callable[[Synonym, TokenizerSettings], CompiledSynonym]] = {
    "synonym": _read_equal,
    "onewaysynonym": _read_one_way,
    "altcorrection1": _read_correction(1),
    "altcorrection2": _read_correction(2),
    "placeholder": _read_placeholder,
}


def _phrases(texts: Iterable[str], rules: TokenizerSettings) -> tuple[Phrase, ...]:
    """Return the words of each text that has any."""
    return tuple(words for words in dict.fromkeys(tuple(split(t, rules)) for t in texts) if words)

"""Which tokens of a hit a query matches: the rule of the index, told word by word for marking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from svc_notebook.service.engine.fields import path_test
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.query import Alternative, Query, words_without_typos
from svc_notebook.service.engine.spelling import FIRST_LETTER, typos_between

Match = tuple[int, int]
"""The number of a query word, and how many letters of the token to mark."""
Spotted = tuple[int, int, int]
"""Typos, the number of the query word, and how many letters of the token match."""
Loose = Callable[[str], Spotted | None]
Run = tuple[int, tuple[str, ...]]
"""The number of a query word, and tokens that match it side by side."""


class Marker(NamedTuple):
    """What to mark under a path: single tokens, and runs of them."""

    match: Callable[[str, AbstractSet[str]], Mapping[str, Match]]
    runs: Callable[[str], Sequence[Run]]


class Manner(NamedTuple):
    """What may match in an attribute."""

    typos: bool
    prefixes: bool


def make_marker(query: Query, options: Options) -> Marker:
    """Return what marks the texts of a search's hits."""
    ways = [(number, way) for number, word in enumerate(query.words) for way in word.alternatives]
    unforgiven = words_without_typos(options)
    manner_of = _make_manners(options)
    unsearched = _Tokens((), Manner(typos=False, prefixes=False), unforgiven)

    @cache
    def in_manner(manner: Manner) -> _Tokens:
        return _Tokens(ways, manner, unforgiven)

    @cache
    def tokens_of(path: str) -> _Tokens:
        manner = manner_of(path)
        return in_manner(manner) if manner else unsearched

    def match(path: str, tokens: AbstractSet[str]) -> Mapping[str, Match]:
        return tokens_of(path).match(tokens)

    @cache
    def runs(path: str) -> Sequence[Run]:
        manner = manner_of(path)
        return [
            (number, way.words)
            for number, way in ways
            if manner and len(way.words) > 1 and (manner.typos or not way.typos)
        ]

    return Marker(match, runs)


class _Tokens:
    """The tokens met so far, and the matches among them, in one manner."""

    def __init__(
        self, ways: Iterable[tuple[int, Alternative]], manner: Manner, unforgiven: frozenset[str]
    ) -> None:
        self._met: set[str] = set()
        self._matches: dict[str, Match] = {}
        self._unforgiven = unforgiven
        self._whole = _by_word(pair for pair in ways if manner.typos or not pair[1].typos)
        self._by_first: dict[str, tuple[Loose, ...]] = {}
        self._by_second: dict[str, tuple[Loose, ...]] = {}
        for number, way in ways:
            self._expect(_Spelling.of(number, way, manner))

    def _expect(self, one: _Spelling) -> None:
        """Note under which first or second letters of tokens a word may be met."""
        word, first, second = one.word, self._by_first, self._by_second
        if one.prefix or one.forgiven:
            first[word[0]] = (*first.get(word[0], ()), one.match)
        if one.forgiven >= FIRST_LETTER and len(word) > 1:
            first[word[1]] = (*first.get(word[1], ()), one.match_other)
            for letter in word[:2]:
                second[letter] = (*second.get(letter, ()), one.match_other)

    def match(self, tokens: AbstractSet[str]) -> dict[str, Match]:
        """Return the matches of those tokens that match."""
        new = tokens - self._met
        if new:
            self._met |= new
            first, second, whole = self._by_first, self._by_second, self._whole
            for token in new:
                if token[0] in first or token[1:2] in second or token in whole:
                    self._meet(token)
        matches = self._matches
        return {token: matches[token] for token in matches.keys() & tokens}

    def _meet(self, token: str) -> None:
        tests = self._by_first.get(token[0], ()) + self._by_second.get(token[1:2], ())
        found = [spot for test in tests if (spot := test(token))]
        if token in self._unforgiven:
            found = [spot for spot in found if not spot[0]]
        found += self._whole.get(token, ())
        if found:
            self._matches[token] = min(found)[1:]


@dataclass(frozen=True)
class _Spelling:
    """A query word that also matches by its beginning, or misspelled.

    Most tokens are far away, and that is told without comparing letter by letter.
    """

    number: int
    word: str
    forgiven: int
    prefix: bool

    @classmethod
    def of(cls, number: int, way: Alternative, manner: Manner) -> _Spelling:
        """Read off a word what of it counts in one manner."""
        forgiven = way.forgiven if manner.typos else 0
        return cls(number, way.words[0], forgiven, way.prefix and manner.prefixes)

    def match(self, token: str) -> Spotted | None:
        """Compare the word with a token of the same first letter."""
        if self.prefix and token.startswith(self.word):
            return 0, self.number, len(self.word)
        if not self.forgiven or len(token) < len(self.word) - self.forgiven:
            return None
        if len(self.letters.difference(token)) > self.forgiven:
            return None
        return self.compare(token)

    def match_other(self, token: str) -> Spotted | None:
        """Compare the word with a token of another first letter."""
        if self.rest in token or token.startswith(self.swapped):
            return self.compare(token) if token[0] != self.word[0] else None
        return None

    def compare(self, token: str) -> Spotted | None:
        """Count the typos."""
        typos, letters = typos_between(self.word, token, self.forgiven, self.prefix)
        return (typos, self.number, letters) if typos <= self.forgiven else None

    @cached_property
    def letters(self) -> frozenset[str]:
        """The distinct letters."""
        return frozenset(self.word)

    @cached_property
    def rest(self) -> str:
        """All but the first letter."""
        return self.word[1:]

    @cached_property
    def swapped(self) -> str:
        """The word with its first two letters swapped."""
        return self.word[1:2] + self.word[0] + self.word[2:]


def _by_word(ways: Iterable[tuple[int, Alternative]]) -> dict[str, list[Spotted]]:
    """Group what matches a token as a whole: typos, query word, letters."""
    found: dict[str, list[Spotted]] = {}
    for number, way in ways:
        if len(way.words) == 1:
            word = way.words[0]
            found.setdefault(word, []).append((way.typos, number, len(word)))
    return found


def _make_manners(options: Options) -> Callable[[str], Manner | None]:
    """Tell what may match in an attribute; None if it is not searched."""
    restricted = options["restrictSearchableAttributes"]
    searched = path_test(entry.path for entry in options.searched)
    chosen = path_test(restricted)
    rigid = path_test(options["disableTypoToleranceOnAttributes"])
    whole = path_test(options["disablePrefixOnAttributes"])

    @cache
    def manner_of(path: str) -> Manner | None:
        if options.searched and not searched(path):
            return None
        if restricted and not chosen(path):
            return None
        return Manner(typos=not rigid(path), prefixes=not whole(path))

    return manner_of

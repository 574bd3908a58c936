"""Which tokens of a hit a query matches: the rule of the index, told word by word for marking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from svc_notebook.service.engine.fields import path_test
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.query import Alternative, Query, words_without_typos
from svc_notebook.service.engine.spelling import FIRST_LETTER, typos_between

Match = tuple[int, int]
"""The number of a query word, and how many letters of the token to mark."""
Run = tuple[int, tuple[str, ...]]
"""The number of a query word, and tokens that match it side by side."""


class Marker(NamedTuple):
    """What to mark: single tokens under a path, and runs of them."""

    match: Callable[[str, str], Match | None]
    runs: Callable[[str], Sequence[Run]]


class Manner(NamedTuple):
    """What may match in an attribute."""

    typos: bool
    prefixes: bool


def make_marker(query: Query, options: Options) -> Marker:
    """Return what marks the texts of a search's hits."""
    ways = [(number, way) for number, word in enumerate(query.words) for way in word.alternatives]
    loose = [_Loose.of(*pair) for pair in ways if pair[1].prefix or pair[1].forgiven]
    several = [(number, way) for number, way in ways if len(way.words) > 1]
    whole = _by_word(ways)
    unforgiven = words_without_typos(options)
    manner_of = _make_manners(options)

    @cache
    def match(path: str, token: str) -> Match | None:
        manner = manner_of(path)
        if manner is None:
            return None
        lenient = manner.typos and token not in unforgiven
        found = [way.match(token, manner.prefixes, lenient) for way in loose]
        if token in whole:
            found += (one for one in whole[token] if manner.typos or not one[0])
        best = min(filter(None, found), default=None)
        return None if best is None else best[1:]

    def runs(path: str) -> Sequence[Run]:
        manner = manner_of(path)
        return [
            (number, way.words)
            for number, way in several
            if manner and (manner.typos or not way.typos)
        ]

    return Marker(match, runs)


class _Loose(NamedTuple):
    """A query word that also matches by its beginning, or misspelled."""

    word: str
    number: int
    prefix: bool
    forgiven: int
    letters: frozenset[str]

    @classmethod
    def of(cls, number: int, way: Alternative) -> _Loose:
        word = way.words[0]
        return cls(word, number, way.prefix, way.forgiven, frozenset(word))

    def match(self, token: str, prefixes: bool, typos: bool) -> tuple[int, int, int] | None:
        """Return typos, the query word's number, and the letters that match."""
        word, _, prefix, forgiven, _ = self
        prefix = prefix and prefixes
        if prefix and token.startswith(word):
            return 0, self.number, len(word)
        # Most tokens are far away, and that can be told without comparing letter by letter.
        if not forgiven or not typos or len(token) < len(word) - forgiven:
            return None
        if token[0] != word[0] and forgiven < FIRST_LETTER:
            return None
        if len(self.letters.difference(token)) > forgiven:
            return None
        count, letters = typos_between(word, token, forgiven, prefix)
        return (count, self.number, letters) if count <= forgiven else None


def _by_word(ways: Iterable[tuple[int, Alternative]]) -> dict[str, list[tuple[int, int, int]]]:
    """Group what matches a token as a whole: typos, query word, letters."""
    found: dict[str, list[tuple[int, int, int]]] = {}
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

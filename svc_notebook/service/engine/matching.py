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
Spotted = tuple[int, int, int]
"""Typos, the number of the query word, and how many letters of the token match."""
Loose = Callable[[str, bool, bool], Spotted | None]
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
    loose = [_make_loose(*pair) for pair in ways if pair[1].prefix or pair[1].forgiven]
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
        found = [one for spot in loose if (one := spot(token, manner.prefixes, lenient))]
        if token in whole:
            found += (one for one in whole[token] if manner.typos or not one[0])
        return min(found)[1:] if found else None

    def runs(path: str) -> Sequence[Run]:
        manner = manner_of(path)
        return [
            (number, way.words)
            for number, way in several
            if manner and (manner.typos or not way.typos)
        ]

    return Marker(match, runs)


def _make_loose(number: int, way: Alternative) -> Loose:
    """Return a test of tokens against a word that also matches by its beginning or misspelled."""
    word, prefix, forgiven = way.words[0], way.prefix, way.forgiven
    first, shortest, letters = word[0], len(word) - forgiven, frozenset(word)
    as_beginning = (0, number, len(word))

    def match(token: str, prefixes: bool, typos: bool) -> Spotted | None:
        if prefix and prefixes and token.startswith(word):
            return as_beginning
        # Most tokens are far away, and that can be told without comparing letter by letter.
        if not typos or (token[0] != first and forgiven < FIRST_LETTER) or len(token) < shortest:
            return None
        if not forgiven or len(letters.difference(token)) > forgiven:
            return None
        count, matching = typos_between(word, token, forgiven, prefix and prefixes)
        return (count, number, matching) if count <= forgiven else None

    return match


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

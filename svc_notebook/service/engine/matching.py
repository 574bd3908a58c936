"""Which tokens of a hit a query matches: the rule of the index, told word by word for marking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from svc_notebook.service.engine.fields import path_test
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.query import Alternative, Query, words_without_typos
from svc_notebook.service.engine.spelling import typos_between

Matcher = Callable[[str, str], tuple[int, int] | None]


def make_matcher(query: Query, options: Options) -> Matcher:
    """Return a function from an attribute and a token to the query word and letters to mark."""
    ways = [(number, way) for number, word in enumerate(query.words) for way in word.alternatives]
    unforgiven = words_without_typos(options)
    manner_of = _make_manners(options)

    @cache
    def match(manner: tuple[bool, bool], token: str) -> tuple[int, int] | None:
        found = (_match_way(way, number, token, manner, unforgiven) for number, way in ways)
        best = min((one for one in found if one), default=None)
        return best and (best[1], best[2])

    def match_at(path: str, token: str) -> tuple[int, int] | None:
        manner = manner_of(path)
        return manner and match(manner, token)

    return match_at


def _make_manners(options: Options) -> Callable[[str], tuple[bool, bool] | None]:
    """Tell of an attribute whether typos and beginnings match in it; None if it is not searched."""
    restricted = options["restrictSearchableAttributes"]
    searched = path_test(entry.path for entry in options.searched)
    chosen = path_test(restricted)
    rigid = path_test(options["disableTypoToleranceOnAttributes"])
    whole = path_test(options["disablePrefixOnAttributes"])

    @cache
    def manner_of(path: str) -> tuple[bool, bool] | None:
        if options.searched and not searched(path):
            return None
        if restricted and not chosen(path):
            return None
        return not rigid(path), not whole(path)

    return manner_of


def _match_way(
    way: Alternative,
    number: int,
    token: str,
    manner: tuple[bool, bool],
    unforgiven: frozenset[str],
) -> tuple[int, int, int] | None:
    """Return typos, query word and letters; each word of a phrase is marked by itself."""
    with_typos, with_prefixes = manner
    if len(way.words) > 1 or (way.typos and not with_typos):
        part = token in way.words and not (way.typos and not with_typos)
        return (way.typos, number, len(token)) if part else None
    allowed = way.forgiven if with_typos and token not in unforgiven else 0
    typos, letters = typos_between(
        way.words[0], token, allowed, prefix=way.prefix and with_prefixes
    )
    return (way.typos + typos, number, letters) if typos <= allowed else None


def query_texts(query: Query) -> Sequence[str]:
    """Return the words of a query as they are told to match."""
    return [word.text for word in query.words]

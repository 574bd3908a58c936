"""Searches without hits: warnings, the conditions that exclude all records, what to omit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypedDict

from pandas import DataFrame

from svc_notebook.core.api.attributes import (
    compared_attributes,
    filtered_attributes,
    split_conjunction,
)
from svc_notebook.core.api.messages import PAGINATION_MESSAGE
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client import (
    FACETS,
    AsyncClient,
    FilterFault,
    check_filters,
    read_facet_entries,
    read_names,
    warn_of_filters,
)
from svc_notebook.data.frames import hits_of
from svc_notebook.errors import NoHitsWarning, SvcError

# Words of a query that are left out one by one to find the reason for no hits.
MAX_WORDS = 10
OPTIONAL = ("optionalFilters", "optionalFacetFilters")
# What makes a condition match records that lack its attribute.
_INDECISIVE = re.compile(r"\b(?:OR|NOT)\b", re.IGNORECASE)
# Parameters with which a search returns no hits by intention, if they are 0.
SIZES = ("hitsPerPage", "length")

Params = dict[str, Any]
MAX_CHECKED_WORDS = 40  # of a query, the first; each is one more search
MAX_SEARCHES_PER_REQUEST = 50
FILTERS = (
    "filters", "facetFilters", "numericFilters", "tagFilters", "restrictSearchableAttributes",
    "aroundLatLng", "aroundRadius", "insideBoundingBox", "insidePolygon",
)  # fmt: skip
# Filters whose entries must all match.
ENTRY_FILTERS = ("facetFilters", "numericFilters")
# Parameters that determine which records a query matches.
MATCHING = (
    "similarQuery", "queryType", "typoTolerance", "allowTyposOnNumericTokens",
    "minWordSizefor1Typo", "minWordSizefor2Typos", "disableTypoToleranceOnWords",
    "disableTypoToleranceOnAttributes", "disablePrefixOnAttributes", "advancedSyntax",
    "ignorePlurals", "removeStopWords", "queryLanguages", "decompoundQuery", "synonyms",
    "removeWordsIfNoResults", "ruleContexts", "relevancyStrictness", "mode",
)  # fmt: skip
PAGING = ("page", "offset", "length")
Kind = Literal["word", "filter", "parameter", "rules"]


async def warn_of_search(
    client: AsyncClient, index: str, query: str, hits: DataFrame, params: Mapping[str, Any]
) -> None:
    """Warn of the reason why a search has no hits, else of facets that it cannot count."""
    facts = hits.attrs["svc"]
    if not hits_of(hits).empty or any(params.get(name) == 0 for name in SIZES):
        await _warn_of_no_words(client, index, query, facts.get("nbHits"), params)
        await warn_of_filters(client, index, _without_effect(params, facts.get("facets", {})))
    elif PAGINATION_MESSAGE in facts.get("message", ""):
        warn_user(
            f"no hits on this page of {index}: it is beyond paginationLimitedTo; "
            f"svc.read_browse({index!r}, ...) reads all records that match",
            NoHitsWarning,
        )
    elif reason := await summarize(client, index, {**params, "query": query}, MAX_WORDS):
        warn_user(f"no hits in {index}: {reason} (`svc.why` lists each condition)", NoHitsWarning)


async def _warn_of_no_words(
    client: AsyncClient, index: str, query: str, hits: int | None, params: Mapping[str, Any]
) -> None:
    """Warn of a query without words, such as an emoji, that matches what an empty query does."""
    if not query.strip() or any(letter.isalnum() for letter in query):
        return
    every: list[int] = []
    with suppress(SvcError):
        every = await count_hits(client, index, [{**without(params, *PAGING), "query": ""}])
    if every == [hits]:
        warn_user(
            f"the query {query!r} has no letters or digits that are searched for: it matches every "
            f"record of {index}, as an empty query does"
        )


async def warn_of_searches(
    client: AsyncClient, index: str, hits: DataFrame, params: Mapping[str, Any]
) -> None:
    """Warn of attributes that cannot be filtered or counted, if searches found nothing."""
    shown = params if hits_of(hits).empty else _without_effect(params, ())
    await warn_of_filters(client, index, shown)


async def warn_of_counts(
    client: AsyncClient, index: str, query: str, counts: DataFrame, params: Mapping[str, Any]
) -> None:
    """Warn of facets that were not counted, and of the reason if nothing was."""
    shown = params if counts.empty else _without_effect(params, {*counts["facet"]})
    if not counts.empty or params.get("facets"):
        await warn_of_filters(client, index, shown)
        return
    with suppress(SvcError):
        word = query.strip()
        if word and word in await read_names(client, index):
            await warn_of_filters(client, index, {"facets": [word]})
        elif not await read_facet_entries(client, index):
            warn_user(
                f"{index} has no facets: name attributes in {FACETS}, such as "
                f"`svc.set_settings({index!r}, {{{FACETS!r}: ['brand']}})`",
                NoHitsWarning,
            )
        elif reason := await summarize(client, index, {**params, "query": query}, MAX_WORDS):
            warn_user(f"no hits in {index}: {reason}", NoHitsWarning)


def _without_effect(params: Mapping[str, Any], counted: Any) -> dict[str, Any]:
    """Return what may be without effect although there are hits.

    These are optional filters, uncounted facets, and facets in alternatives and negations.
    """
    facets = params.get("facets") or ()
    facets = facets.split(",") if isinstance(facets, str) else facets
    optional = {name: params[name] for name in OPTIONAL if name in params}
    uncounted = [name for name in facets if name not in counted] if counted != () else []
    return {**optional, "facets": [*dict.fromkeys([*uncounted, *_in_indecisive_filters(params)])]}


def _in_indecisive_filters(params: Mapping[str, Any]) -> list[str]:
    """Return the facets in conditions that match without them: alternatives and negations."""
    filters, entries = params.get("filters"), params.get("facetFilters") or ()
    conditions: list[Any] = split_conjunction(filters) if isinstance(filters, str) else []
    indecisive = [condition for condition in conditions if _INDECISIVE.search(condition)]
    indecisive += [
        entry
        for entry in ([entries] if isinstance(entries, str) else entries)
        if ":-" in str(entry) or (isinstance(entry, list | tuple) and len(entry) > 1)
    ]
    return list(filtered_attributes(indecisive))


class RelaxedSearch(TypedDict):
    """A search with hits, and the description of what it leaves out."""

    label: str
    hits: int
    value: Params


class Diagnosis(TypedDict):
    """The reasons of a search without results, and searches with results, most first."""

    reasons: list[str]
    searches: list[RelaxedSearch]


class SearchCondition(NamedTuple):
    """A condition of a search: the search without it, and its own parameters."""

    kind: Kind
    label: str
    without: Params
    alone: Params


class CountedCondition(NamedTuple):
    """A condition, the hits of the search without it, and those of the condition alone."""

    condition: SearchCondition
    hits: int
    alone: int


@dataclass(frozen=True)
class SearchCounts:
    """The hits of a search, of its words without filters, and without each condition."""

    hits: int
    # All records, and those that match the words.
    total: int
    matching: int
    conditions: Sequence[CountedCondition]

    def labels_of(self, kind: Kind) -> list[str]:
        """Return the labels of the conditions of one kind."""
        return [counted.condition.label for counted in self.of(kind)]

    def of(self, kind: Kind) -> list[CountedCondition]:
        """Return the conditions of one kind."""
        return [counted for counted in self.conditions if counted.condition.kind == kind]

    @property
    def ordered(self) -> list[CountedCondition]:
        """The conditions without which there are most hits first, a whole query last."""
        return sorted(self.conditions, key=lambda c: (self.is_query(c), -c.hits))

    def is_query(self, counted: CountedCondition) -> bool:
        """Return whether a condition is the whole query: without it, any record matches."""
        return counted.condition.kind == "word" and len(self.of("word")) == 1

    @property
    def unknown_words(self) -> list[str]:
        """The words without a hit."""
        return [c.condition.alone["query"] for c in self.of("word") if not c.alone]


async def count_conditions(
    client: AsyncClient, index: str, params: Params, *, max_words: int = MAX_CHECKED_WORDS
) -> SearchCounts:
    """Count the hits of a search without each of its conditions, and of each condition alone."""
    rest = without(params, *PAGING)
    plain = _plain(rest)
    conditions = [*_list_words(rest, max_words), *_list_filters(rest), *_list_parameters(rest)]
    searches = [
        rest,
        plain,
        {**plain, "query": params.get("query", "")},
        *(condition.without for condition in conditions),
        *({**plain, **condition.alone} for condition in conditions),
    ]
    hits, total, matching, *counts = await count_hits(client, index, searches)
    fewer, alone = counts[: len(conditions)], counts[len(conditions) :]
    counted = map(CountedCondition, conditions, fewer, alone)
    return SearchCounts(hits, total, matching, list(counted))


async def relax(client: AsyncClient, index: str, params: Params) -> Diagnosis:
    """Find the conditions that leave a search without results, and searches that have results."""
    rest = without(params, *PAGING)
    counts = await count_conditions(client, index, params)
    if not counts.total:
        return {"reasons": [f"The index {index} has no records."], "searches": []}
    searches = _leave_out(counts, rest)
    words = [counted.condition.alone["query"] for counted in counts.of("word")]
    if words and not counts.matching:
        unknown = counts.unknown_words
        indexed = [word for word in words if word not in unknown]
        searches += await _combine(client, index, rest, indexed, unknown)
    faults = await check_filters(client, index, params)
    reasons = [
        *_explain_words(words, counts),
        *_explain_filters(counts, has_words=bool(words)),
        *(fault.advice for fault in faults),
    ]
    if not searches:
        searches = [{"label": "All records", "hits": counts.total, "value": _plain(rest)}]
    return {"reasons": reasons, "searches": _unique(searches)}


def _leave_out(counts: SearchCounts, rest: Params) -> list[RelaxedSearch]:
    """Return the searches without a condition, or without all filters, that have hits."""
    if counts.hits:
        return [{"label": "First page", "hits": counts.hits, "value": rest}]
    searches = [
        RelaxedSearch(label=f"Without {c.condition.label}", hits=c.hits, value=c.condition.without)
        for c in counts.conditions
        if c.hits and not counts.is_query(c)
    ]
    if len(counts.of("filter")) > 1 and counts.matching:
        bare = without(rest, *FILTERS)
        searches.append({"label": "Without any filter", "hits": counts.matching, "value": bare})
    return searches


async def summarize(client: AsyncClient, index: str, params: Params, max_words: int) -> str:
    """Say in one sentence why a search has no hits; empty if the key may not find out."""
    try:
        counts = await count_conditions(client, index, params, max_words=max_words)
        faults = await check_filters(client, index, params)
    except SvcError:
        return ""
    return find_reason(index, counts, faults)


def describe_all(hits: int) -> str:
    """Return `all N hits`, of a single one `the only hit`."""
    return f"all {hits:,} hits" if hits > 1 else "the only hit"


def find_reason(index: str, counts: SearchCounts, faults: Sequence[FilterFault]) -> str:
    """Return the sentence that names the condition which excludes all hits."""
    if counts.hits:
        return f"this page is beyond the {counts.hits:,} hits"
    if not counts.total:
        return f"{index} has no records"
    reasons = [*_find_cause(counts), *(fault.advice for fault in faults)]
    if not reasons:
        names = list_names(counts.labels_of("filter"), "and", quoted=False)
        return f"no record matches {names} together"
    return "; ".join(reasons)


def _find_cause(counts: SearchCounts) -> Iterator[str]:
    """Yield the unknown words, else the condition that excludes most hits, else all words."""
    culprit = next((counted for counted in counts.ordered if counted.hits), None)
    words = [counted.condition.alone["query"] for counted in counts.of("word")]
    if counts.unknown_words:
        yield f"no record contains {list_names(counts.unknown_words, 'or')}"
    elif culprit:
        label, hits = culprit.condition.label, describe_all(culprit.hits)
        yield f"{label} excludes {hits} that the search has without it"
    elif words and not counts.matching:
        yield f"no record contains {list_names(words, 'and')} together"


def _explain_words(words: Sequence[str], counts: SearchCounts) -> Iterator[str]:
    if counts.unknown_words:
        yield f"No record contains {list_names(counts.unknown_words, 'or')}."
    elif words and not counts.matching:
        yield f"Each word has hits, but no record contains {list_names(words, 'and')} together."


def _explain_filters(counts: SearchCounts, *, has_words: bool) -> Iterator[str]:
    filters = counts.of("filter")
    matching = counts.matching if has_words else counts.total
    empty = [counted.condition.label for counted in filters if not counted.alone]
    if empty:
        yield f"No record matches {list_names(empty, 'or', quoted=False)}."
    elif filters and matching and not counts.hits:
        unfiltered = f"Without filters the words have {matching:,} hits; " if has_words else ""
        names = list_names(counts.labels_of("filter"), "and", quoted=False)
        text = f"{unfiltered}no record among them matches {names}."
        yield text if unfiltered else f"No record matches {names} together."


async def _combine(
    client: AsyncClient,
    index: str,
    rest: Params,
    indexed: Sequence[str],
    unknown: Sequence[str],
) -> list[RelaxedSearch]:
    """Search without the unknown words; if that has no hits, keep each word that leaves some."""
    kept, hits = list[str](), 0
    if unknown and indexed:
        [hits] = await count_hits(client, index, [{**rest, "query": " ".join(indexed)}])
        kept = list(indexed) if hits else []
    for word in [] if kept else indexed:
        [number] = await count_hits(client, index, [{**rest, "query": " ".join([*kept, word])}])
        if number:
            kept, hits = [*kept, word], number
    if not kept:
        return []
    query = " ".join(kept)
    return [{"label": f"Only “{query}”", "hits": hits, "value": {**rest, "query": query}}]


def _plain(rest: Params) -> Params:
    return without(rest, *FILTERS, *MATCHING, "query")


def _list_words(rest: Params, max_words: int) -> Iterator[SearchCondition]:
    words = rest.get("query", "").split()
    for word in list(dict.fromkeys(words))[:max_words]:
        left = " ".join(other for other in words if other != word)
        yield SearchCondition("word", f"“{word}”", {**rest, "query": left}, {"query": word})


def _list_filters(rest: Params) -> Iterator[SearchCondition]:
    """List the filters: those on one attribute together, and each part of an expression."""
    yield from _list_entries(rest)
    yield from _list_parts(rest)
    for name in FILTERS:
        if name in rest and name not in (*ENTRY_FILTERS, "filters"):
            center = ["aroundLatLng"] if name == "aroundRadius" else []
            kept = {key: rest[key] for key in [*center, name] if key in rest}
            yield SearchCondition("filter", name, without(rest, name), kept)


def _list_entries(rest: Params) -> Iterator[SearchCondition]:
    groups: dict[tuple[str, ...], list[tuple[str, Any]]] = {}
    for name in ENTRY_FILTERS:
        for entry in _entries(name, rest.get(name)):
            named = dict.fromkeys([*filtered_attributes(entry), *compared_attributes(entry)])
            groups.setdefault(tuple(named), []).append((name, entry))
    for attributes, entries in groups.items():
        label = f"the filter on {' and '.join(attributes)}" if attributes else entries[0][0]
        yield SearchCondition(
            "filter", label, _remove_entries(rest, entries), _only_entries(entries)
        )


def _list_parts(rest: Params) -> Iterator[SearchCondition]:
    parts = split_conjunction(rest.get("filters") or "")
    for part in parts:
        left = " AND ".join(other for other in parts if other is not part)
        fewer = {**rest, "filters": left} if left else without(rest, "filters")
        yield SearchCondition("filter", f"the filter {part}", fewer, {"filters": part})


def _list_parameters(rest: Params) -> Iterator[SearchCondition]:
    """List the parameters that decide what matches, and the rules."""
    for name in (name for name in MATCHING if name in rest):
        yield SearchCondition("parameter", f"{name}={rest[name]!r}", without(rest, name), {})
    if rest.get("enableRules") is not False:
        yield SearchCondition("rules", "the rules of the index", {**rest, "enableRules": False}, {})


def _entries(name: str, value: Any) -> list[Any]:
    if isinstance(value, str):
        return value.split(",") if name == "numericFilters" else [value]
    return list(value or ())


def _remove_entries(rest: Params, entries: Sequence[tuple[str, Any]]) -> Params:
    left = dict(rest)
    for name in {name for name, _ in entries}:
        kept = [e for e in _entries(name, rest[name]) if (name, e) not in entries]
        left = {**left, name: kept} if kept else without(left, name)
    return left


def _only_entries(entries: Sequence[tuple[str, Any]]) -> Params:
    names = dict.fromkeys(name for name, _ in entries)
    return {name: [entry for other, entry in entries if other == name] for name in names}


async def count_hits(client: AsyncClient, index: str, searches: Sequence[Params]) -> list[int]:
    """Count the hits of searches."""
    request = {"hitsPerPage": 0, "facets": [], "analytics": False, "indexName": index}
    requests: Any = [{**value, **request} for value in searches]
    counts: list[int] = []
    for start in range(0, len(requests), MAX_SEARCHES_PER_REQUEST):
        part = requests[start : start + MAX_SEARCHES_PER_REQUEST]
        answers: Any = (await client.search_many(part))["results"]
        counts += [answer["nbHits"] for answer in answers]
    return counts


def _unique(searches: Sequence[RelaxedSearch]) -> list[RelaxedSearch]:
    """Sort searches by their hits, most first; the first label of equal searches is kept."""
    unique: list[RelaxedSearch] = []
    for search in searches:
        if all(search["value"] != other["value"] for other in unique):
            unique.append(search)
    return sorted(unique, key=lambda search: -search["hits"])


def list_names(names: Sequence[str], word: str, *, quoted: bool = True) -> str:
    """Join names as a sentence does."""
    shown = [f"“{name}”" for name in names] if quoted else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {word} {shown[-1]}"


def without(params: Mapping[str, Any], *names: str) -> Params:
    """Return search parameters without some of them."""
    return {name: value for name, value in params.items() if name not in names}

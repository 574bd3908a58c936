"""Builds the indices of query suggestions from counted searches, facet values and other indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import msgspec
import regex

from svc_notebook.core.api.shapes.suggestions import SuggestionConfig, SuggestionSource
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.service.analytics.search_counts import normalize_query
from svc_notebook.service.background_thread import BackgroundThread
from svc_notebook.service.engine.text.inflections import ALGORITHMS, find_stemmer
from svc_notebook.service.http.auth import Caller
from svc_notebook.service.indices.records import read_bodies
from svc_notebook.service.search.search_response import answer_search
from svc_notebook.service.service import RequestContext, Service
from svc_notebook.service.tasks.batch_operations import (
    BatchOperation,
    check_operation,
    encode_operations,
)

POLL_SECONDS = 0.5
# The most popular queries of a source that are tried, and values of a facet that are combined.
MAX_QUERIES, MAX_FACET_VALUES = 10_000, 20
DEFAULT_FACET_VALUES = 5
# Maximum time of an excluded expression for one query.
MATCH_SECONDS = 0.05
SETTINGS = {
    "searchableAttributes": ["unordered(query)"],
    "customRanking": ["desc(popularity)"],
    "attributesToHighlight": ["query"],
}
# Letters, digits and what joins them in words; other characters are special.
_PLAIN = regex.compile(r"[\p{L}\p{M}\p{N}\s'&.-]+")


class SuggestionBuilder:
    """The background thread that builds due indices of suggestions."""

    def __init__(self, service: Service) -> None:
        self._service = service
        paused = "query suggestions are not built"
        self.thread = BackgroundThread("svc-suggestions", self._work, service.store, paused)

    def _work(self) -> None:
        while not self.thread.stopping.wait(POLL_SECONDS):
            self.thread.attempt(self.build_due, retried=True)

    def build_due(self) -> None:
        """Build the indices that are due, each from the present counts."""
        configs = self._service.suggestions
        for config in configs.due():
            started = configs.note_start(config["indexName"])
            try:
                count = self._build(config)
            except (BadInput, NotFound) as error:
                configs.note_end(config["indexName"], started, str(error), failed=True)
            else:
                message = f"{count:,} suggestions were built"
                configs.note_end(config["indexName"], started, message, failed=False)

    def _build(self, config: SuggestionConfig) -> int:
        self._service.search_counts.flush()
        suggestions: dict[str, Suggestion] = {}
        for source in config["sourceIndices"]:
            collect_suggestions(self._service, config, source, suggestions)
        records = [suggestion.record() for suggestion in merge_forms(config, suggestions)]
        index = config["indexName"]
        if self._service.catalog.get(index) is None:
            order = {"settings": SETTINGS, "forward": False}
            self._service.accept(index, "settings", order)
        operations = [check_operation("addObject", record, "") for record in records]
        # One task: searches see the earlier suggestions until the new ones replace them.
        body = encode_operations([BatchOperation("clear"), *operations])
        self._service.accept(index, "steps", body)
        return len(records)


@dataclass
class Suggestion:
    """A query with its searches, and for each source its hits and their facets."""

    query: str
    popularity: int = 0
    sources: dict[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return the record of the index of suggestions."""
        return {
            "objectID": self.query,
            "query": self.query,
            "nb_words": len(self.query.split()),
            "popularity": self.popularity,
            **self.sources,
        }


def collect_suggestions(
    service: Service,
    config: SuggestionConfig,
    source: SuggestionSource,
    suggestions: dict[str, Suggestion],
) -> None:
    """Add the queries of a source that have enough letters and hits."""
    name = source["indexName"]
    call = RequestContext(service, Caller((), True))
    service.catalog.find(name)
    excluded = [_compile(text) for text in config["exclude"]]
    counts = _count_queries(service, source)
    for query in _generate(call, source):
        counts.setdefault(query, 0)
    for query, popularity in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
        if len(query) < source["minLetters"] or any(
            _matches(pattern, query) for pattern in excluded
        ):
            continue
        if not (config["allowSpecialCharacters"] or _PLAIN.fullmatch(query)):
            continue
        hits, facets = _search(call, source, query)
        if hits < source["minHits"]:
            continue
        suggestion = suggestions.setdefault(query, Suggestion(query))
        suggestion.popularity += popularity
        suggestion.sources[name] = {"exact_nb_hits": hits, "facets": {"exact_matches": facets}}


def _count_queries(service: Service, source: SuggestionSource) -> Counter[str]:
    """Return the number of searches of each query, with those of other indices and replicas."""
    counts = _count_searches(service, source)
    for name in source["external"] or ():
        for record in _read_records(service, name):
            query, count = record.get("query"), record.get("count")
            if isinstance(query, str) and isinstance(count, int) and query.strip():
                counts[normalize_query(query)] += count
    return counts


def _count_searches(service: Service, source: SuggestionSource) -> Counter[str]:
    published = service.catalog.find(source["indexName"])
    group = service.catalog.replica_group(published) if source["replicas"] else [published]
    rows = service.store.read(
        "SELECT query, count(*) FROM counted WHERE superseded = 0 AND query <> '' "
        "AND index_name IN (SELECT value FROM json_each(?1)) AND (?2 = '[]' OR EXISTS "
        "(SELECT 1 FROM json_each(tags) WHERE value IN (SELECT value FROM json_each(?2)))) "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MAX_QUERIES}",
        msgspec.json.encode([index.name for index in group]).decode(),
        msgspec.json.encode(source["analyticsTags"] or []).decode(),
    )
    return Counter({str(query): int(count) for query, count in rows})


def _read_records(service: Service, name: str) -> Iterator[dict[str, Any]]:
    index = service.catalog.find(name)
    ids = index.engine.get().matching({})
    bodies = read_bodies(service.store, index.records_id, ids)
    return (msgspec.json.decode(body) for body in bodies.values())


def _generate(call: RequestContext, source: SuggestionSource) -> Iterator[str]:
    """Yield the combinations of the most frequent values of facets."""
    for attributes in source["generate"] or ():
        given = {"facets": attributes, "maxValuesPerFacet": MAX_FACET_VALUES}
        facets = _answer(call, source, given).get("facets", {})
        for values in product(*(facets.get(name, ()) for name in attributes)):
            yield normalize_query(" ".join(values))


def _search(
    call: RequestContext, source: SuggestionSource, query: str
) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """Return the number of hits without typos, and the most frequent values of their facets."""
    amounts = {
        facet["attribute"]: facet.get("amount", DEFAULT_FACET_VALUES)
        for facet in source["facets"] or ()
    }
    given = {"query": query, "typoTolerance": False, "facets": [*amounts]}
    answer = _answer(call, source, given)
    facets = {
        name: [
            {"value": value, "count": count}
            for value, count in [*answer.get("facets", {}).get(name, {}).items()][:amount]
        ]
        for name, amount in amounts.items()
    }
    return answer["nbHits"], facets


def _answer(call: RequestContext, source: SuggestionSource, given: dict[str, Any]) -> Any:
    shown = {"hitsPerPage": 1, "attributesToRetrieve": [], "attributesToHighlight": []}
    return answer_search(call, source["indexName"], {**given, **shown, "analytics": False})[0]


def _compile(text: str) -> Any:
    """Compile an excluded word or expression; what is not an expression is a word."""
    try:
        return regex.compile(rf"\b(?:{text})\b", regex.IGNORECASE)
    except regex.error:
        return regex.compile(rf"(?:^|\s){regex.escape(text)}(?:\s|$)", regex.IGNORECASE)


def _matches(pattern: Any, query: str) -> bool:
    """Return whether an expression excludes a query; one that takes too long does not."""
    try:
        return bool(pattern.search(query, timeout=MATCH_SECONDS))
    except TimeoutError:
        return False


def merge_forms(
    config: SuggestionConfig, suggestions: dict[str, Suggestion]
) -> Sequence[Suggestion]:
    """Merge queries that differ in endings only into the most popular one of them."""
    languages = config["languages"]
    codes = ["en"] if languages is True else languages or []
    stemmers = [stemmer for code in codes if code in ALGORITHMS and (stemmer := find_stemmer(code))]
    ordered = sorted(suggestions.values(), key=lambda entry: (-entry.popularity, entry.query))
    if not stemmers:
        return ordered
    merged: dict[tuple[str, ...], Suggestion] = {}
    for suggestion in ordered:
        key = suggestion.query.split()
        for stemmer in stemmers:
            key = stemmer.stem(key)
        first = merged.setdefault(tuple(key), suggestion)
        if first is not suggestion:
            first.popularity += suggestion.popularity
    return list(merged.values())

"""The engine agrees with the oracle: ids, order, counts, facets and every criterion's value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

import pytest

from svc_notebook.service.engine import Index, SearchResult
from svc_notebook.service.engine.ranking import top_k_pruning
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Thesaurus
from tests.service.engine import cases
from tests.service.engine.oracle import Oracle, Row, values_at, written

INDICES = 105
QUERIES = 20
"""2,100 cases in all."""
CRITERIA = (
    "nbTypos",
    "words",
    "filters",
    "proximityDistance",
    "firstMatchedWord",
    "nbExactWords",
    "textScore",
    "geoDistance",
    "geoPrecision",
)
TOLD = ("aroundLatLng", "automaticRadius")


@pytest.mark.sampled(20, quick=4)
@pytest.mark.parametrize("seed", range(INDICES))
def test_the_engine_agrees_with_the_oracle(
    seed: int, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    if seed % 2:
        request.getfixturevalue("threads_for_few_records")
    if seed % 3:
        request.getfixturevalue("pruning_of_few_rows")
    if seed % 3 == 1:  # by words, too
        monkeypatch.setattr(top_k_pruning, "MIN_CANDIDATES", 0)
    random = Random(seed)
    settings = cases.make_settings(random)
    index, oracle = Index(settings), Oracle(settings)
    synonyms = cases.make_synonyms(random)
    knowledge = LanguageResources(Thesaurus(lambda: synonyms))

    for number in range(QUERIES):
        if random.random() < 0.5:
            change(random, index, oracle)
        if random.random() < 0.5:
            index.warm(knowledge)
        params = cases.make_params(random, settings, synonyms)
        if number % 3 == 0:
            params["enableReRanking"] = True
            params["attributeWeights"] = cases.make_weights(random, settings)
        required, optional = cases.make_filter(random), cases.make_filter(random)
        optional = [[term for term in group if term["kind"] == "facet"] for group in optional]
        asked = params | {"_filter": required, "_optional": list(filter(None, optional))}
        asked["_synonyms"] = synonyms
        sent = params | {"filters": cases.write_filter(required) or None}
        sent["optionalFilters"] = list(write_optional(asked["_optional"]))

        expected = oracle.search(asked)
        found = index.search(sent, fetch_from(oracle), knowledge)

        told = f"seed {seed}: {settings} {sent} {synonyms}"
        groups = oracle.grouped(expected, params)
        counted = (
            [group[0] for group in groups] if params.get("facetingAfterDistinct") else expected
        )
        assert found.nbHits == len(groups), told
        told_of = {name: found.extra[name] for name in TOLD if name in found.extra}
        assert told_of == oracle.told(params), told
        assert read_hits(found) == expect_hits(groups, params), told
        assert (found.facets or {}) == expect_facets(counted, params), told
        assert (found.facets_stats or {}) == expect_stats(counted, found), told
        assert sorted(index.matching(sent)) == sorted(oracle.matching(asked)), told


@pytest.mark.sampled(10, quick=3)
@pytest.mark.parametrize("seed", range(30))
def test_browsing_agrees_with_the_oracle(seed: int) -> None:
    random = Random(seed)
    settings = cases.make_settings(random)
    index, oracle = Index(settings), Oracle(settings)
    synonyms = cases.make_synonyms(random)
    knowledge = LanguageResources(Thesaurus(lambda: synonyms))
    for _ in range(6):
        change(random, index, oracle)

    for _ in range(5):
        sent = {"query": cases.make_query(random)}
        if synonyms:
            sent["query"] = cases.make_synonymous(random, synonyms)
        if random.random() < 0.3:
            sent |= cases.make_where(random)
        ranking = {"ranking": ["attribute", "custom"]}
        expected = Oracle({**settings, **ranking}, oracle.records).search(
            {**sent, "_synonyms": synonyms, "_browse": True}
        )

        order = index.order(sent, knowledge)

        ids = [row.record["objectID"] for row in expected]
        assert len(order) == len(ids)
        assert order[:] == ids, f"seed {seed}: {settings} {sent}"
        assert order[2:5] == ids[2:5]


def change(random: Random, index: Index, oracle: Oracle) -> None:
    """Put some records, of which some are there already, and delete some."""
    records = [
        cases.make_record(random, random.randint(0, 40)) for _ in range(random.randint(1, 12))
    ]
    latest = {record["objectID"]: record for record in records}
    index.put(records)
    oracle.records.update(latest)
    if random.random() < 0.4:
        gone = random.sample(sorted(oracle.records), min(3, len(oracle.records)))
        index.delete([*gone, "never there"])
        for name in gone:
            del oracle.records[name]
    if random.random() < 0.1:
        index.compact()


def fetch_from(oracle: Oracle) -> Any:
    return lambda ids: [oracle.records[name] for name in ids]


def write_optional(groups: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[list[str]]:
    for group in groups:
        yield [
            f"{term['path']}:{'-' if term['negated'] else ''}"
            f'"{term["value"]}"<score={term["score"]}>'
            for term in group
        ]


def read_hits(found: SearchResult) -> list[tuple[Any, ...]]:
    return [
        (
            hit["objectID"],
            hit.get("_distinctSeqID", 0),
            *(hit["_rankingInfo"][criterion] for criterion in CRITERIA),
            hit["_rankingInfo"].get("matchedGeoLocation"),
        )
        for hit in found.hits
    ]


def expect_hits(groups: list[list[Row]], params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    size = params["hitsPerPage"]
    page = groups[params["page"] * size :][:size]
    return [
        (
            row.record["objectID"],
            number,
            *(getattr(row, criterion) for criterion in CRITERIA),
            row.matchedGeoLocation,
        )
        for group in page
        for number, row in enumerate(group)
    ]


def expect_facets(rows: list[Row], params: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    countable = ["brand", "colours", "size", "flag", "maker.name", "shelf.code"]
    paths = countable if "*" in params["facets"] else params["facets"]
    most = params.get("maxValuesPerFacet", 100)
    expected = {}
    for path in paths:
        counts = Counter(
            value for row in rows for value in {written(v) for v in values_at(row.record, path)}
        )
        alpha = params.get("sortFacetValuesBy") == "alpha"
        order = sorted(counts.items(), key=lambda item: (0 if alpha else -item[1], item[0]))
        expected[path] = dict(order[:most])
    return expected


def expect_stats(rows: list[Row], found: SearchResult) -> dict[str, dict[str, Any]]:
    expected: dict[str, dict[str, Any]] = {}
    for path in found.facets or {}:
        values = [value for row in rows for value in values_at(row.record, path)]
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        if numbers:
            total = sum(numbers)
            expected[path] = {
                "min": min(numbers),
                "max": max(numbers),
                "avg": pytest.approx(total / len(numbers)),
                "sum": pytest.approx(total),
            }
    return expected

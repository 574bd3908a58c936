"""Filters with many terms, compared with each term on each record in plain Python."""

from __future__ import annotations

import tracemalloc
from random import Random
from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index
from svc_notebook.service.engine.filters.filters import parse_filters, parse_optional
from svc_notebook.service.engine.filters.geo_search import (
    MAX_AREA_POINTS,
    MAX_AREAS,
    read_geo_parameters,
)
from svc_notebook.service.engine.filters.grammar import MAX_FILTER_TERMS, MAX_OPTIONAL_TERMS
from tests.service.engine.cases import write_filter
from tests.service.engine.oracle import holds

Record = dict[str, Any]
FACETS = ["brand", "colours", "sku"]
PATHS = [*FACETS, "objectID", "_tags", "price", "sizes"]


def make_records(random: Random, count: int) -> list[Record]:
    return [
        {
            "objectID": str(number),
            "sku": f"s{number}",
            "brand": random.choice(
                ["Acme", "ACME", "acme", "Bolt", "", "Émile", "straße", "STRASSE"]
            ),
            "colours": random.choices(["Red", "red", "blue", "Green", "7"], k=random.randrange(4)),
            "_tags": random.sample(["new", "New", "sale", "x"], random.randrange(4)),
            "price": random.choice([1, 2.5, 4, None, "4", True]),
            "sizes": random.choices([1, 2, 3, 4.5], k=random.randrange(3)),
        }
        for number in range(count)
    ]


def make_index(random: Random, records: list[Record]) -> Index:
    index = Index({"attributesForFaceting": FACETS, "ranking": ["filters"]})
    for start in range(0, len(records), 60):
        index.put(records[start : start + 60])
    for record in random.sample(records, 5):
        index.delete([record["objectID"]])
        records.remove(record)
    return index


def make_term(random: Random, kind: str) -> dict[str, Any]:
    negated, score = random.random() < 0.4, random.choice([0, 1, 1, 2, 700])
    match kind:
        case "tag":
            value = random.choice(["new", "New", "sale", "nothing"])
            return term(kind, "_tags", negated, score or 1, value=value)
        case "numeric":
            operator = random.choice(["=", "=", "=", "!=", "<", ">="])
            number = random.choice([1, 2.5, 3, 4, 4.5, 99])
            path = random.choice(["price", "sizes"])
            return term(kind, path, negated, 0, operator=operator, number=number)
    path = random.choice([*FACETS, "objectID", "unknown"])
    values = {
        "brand": ["acme", "BOLT", "", "émile", "STRASSE", "none"],
        "colours": ["RED", "blue", "green", "7"],
    }
    value = random.choice(
        values.get(path, [f"s{n}" for n in range(200)] + list(map(str, range(200))))
    )
    return term(kind, path, negated, score, value=value)


def term(kind: str, path: str, negated: bool, score: int, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "path": path, "negated": negated, "score": score, **more}


def passes(one: dict[str, Any], record: Record) -> bool:
    if one["kind"] == "facet" and one["path"] in FACETS:
        found = record[one["path"]]
        values = found if isinstance(found, list) else [found]
        carried = one["value"].casefold() in [str(value).casefold() for value in values]
        return carried is not one["negated"]
    return holds(one, record, {*FACETS, "objectID"})


def search(index: Index, **params: Any) -> dict[str, int]:
    """Return the ids of all hits, with their scores."""
    everything = {"hitsPerPage": 1000, "getRankingInfo": True, **params}
    found = index.search(everything, lambda ids: [{"objectID": name} for name in ids])
    return {hit["objectID"]: hit["_rankingInfo"]["filters"] for hit in found.hits}


@pytest.mark.parametrize("seed", range(30))
def test_many_terms_select_what_each_of_them_does(seed: int) -> None:
    random = Random(seed)
    records = make_records(random, 200)
    index = make_index(random, records)
    kinds = [
        random.choice(["facet", "facet", "tag", "numeric"]) for _ in range(random.randrange(1, 9))
    ]
    groups = [
        [make_term(random, kind) for _ in range(random.choice([1, 1, 5, 40]))] for kind in kinds
    ]
    added = random.random() < 0.5

    found = search(index, filters=write_filter(groups), sumOrFiltersScores=added)

    expected = {
        record["objectID"]: score_of(groups, record, added)
        for record in records
        if all(any(passes(one, record) for one in group) for group in groups)
    }
    assert found == expected


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize("seed", range(30))
def test_many_optional_terms_score_what_each_of_them_does(seed: int) -> None:
    random = Random(seed)
    records = make_records(random, 200)
    index = make_index(random, records)
    groups = [
        [make_term(random, "facet") for _ in range(random.choice([1, 1, 1, 6]))]
        for _ in range(random.choice([1, 30, 150]))
    ]
    added = random.random() < 0.5

    found = search(index, optionalFilters=write_list(groups), sumOrFiltersScores=added)

    assert found == {record["objectID"]: score_of(groups, record, added) for record in records}
    assert list(found.values()) == sorted(found.values(), reverse=True)


def score_of(groups: list[list[dict[str, Any]]], record: Record, added: bool) -> int:
    combine = sum if added else max
    return sum(
        combine([one["score"] if passes(one, record) else 0 for one in group]) for group in groups
    )


def write_list(groups: list[list[dict[str, Any]]]) -> list[list[str]]:
    return [
        [
            f'{one["path"]}:{"-" if one["negated"] else ""}"{one["value"]}"<score={one["score"]}>'
            for one in group
        ]
        for group in groups
    ]


@pytest.mark.parametrize(
    "params",
    [
        {"filters": " OR ".join(f"sku:s{n}" for n in range(4000))},
        {"filters": " AND ".join(f"NOT sku:s{n}" for n in range(4000))},
        {"filters": " OR ".join(f"NOT colours:c{n}" for n in range(4000))},
        {"filters": " OR ".join(f"price > {n}" for n in range(4000))},
        {"numericFilters": [[f"price={n}" for n in range(4000)]]},
        {"tagFilters": [[f"t{n}" for n in range(4000)]]},
        {"optionalFilters": [f"sku:s{n}" for n in range(1000)]},
        {"optionalFilters": [[f"sku:s{n}<score={n}>" for n in range(1000)]]},
    ],
    ids=["any", "none", "any not", "compared", "equal", "tags", "optional", "highest"],
)
@pytest.mark.sampled(3)
def test_masks_of_many_terms_are_not_kept(params: dict[str, Any]) -> None:
    records = make_records(Random(1), 10_000)
    index = Index({"attributesForFaceting": FACETS})
    index.put(records)
    search(index, hitsPerPage=1, **params)  # what is worked out once is no part of this
    terms = parse_filters(params) or parse_optional(params)
    count = sum(map(len, terms))
    del terms

    tracemalloc.start()
    search(index, hitsPerPage=1, **params)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # Reading the terms takes some hundred bytes each; a mask of each would take 10,000.
    assert peak < count * 2_000 + 100 * len(records)


@pytest.mark.parametrize("name", ["filters", "facetFilters", "numericFilters", "tagFilters"])
@pytest.mark.parametrize("kind", ["list", "nested", "text", "json"])
def test_too_many_terms_are_refused_by_name(name: str, kind: str) -> None:
    item = "p>1" if name == "numericFilters" else "a:x"
    given = {
        "list": [item] * (MAX_FILTER_TERMS + 1),
        "nested": [[item, [item]]] * (MAX_FILTER_TERMS // 2 + 1),
        "text": ",".join([item] * (MAX_FILTER_TERMS + 1)),
        "json": f"[{','.join([f'{chr(34)}{item}{chr(34)}'] * (MAX_FILTER_TERMS + 1))}]",
    }[kind]
    if name == "filters":
        given = " AND ".join([item] * (MAX_FILTER_TERMS + 1))

    with pytest.raises(BadInput, match=rf"{name}: more than 10,000 filter terms"):
        parse_filters({name: given})


def test_terms_of_all_parameters_count_together() -> None:
    half = ["a:x"] * (MAX_FILTER_TERMS // 2)

    assert len(parse_filters({"facetFilters": half, "tagFilters": half})) == MAX_FILTER_TERMS
    with pytest.raises(BadInput, match="tagFilters: more than 10,000 filter terms"):
        parse_filters({"facetFilters": half, "tagFilters": [*half, "x"]})


def test_too_many_optional_terms_are_refused_by_name() -> None:
    most = ["a:x"] * MAX_OPTIONAL_TERMS

    assert len(parse_optional({"optionalFilters": most})) == MAX_OPTIONAL_TERMS
    with pytest.raises(BadInput, match="optionalFilters: more than 1,000 filter terms"):
        parse_optional({"optionalFilters": [*most, "a:x"]})


@pytest.mark.parametrize("name", ["insideBoundingBox", "insidePolygon"])
def test_too_many_areas_are_refused_by_name(name: str) -> None:
    area = [1, 1, 2, 2] if name == "insideBoundingBox" else [1, 1, 2, 2, 3, 1]

    read_geo_parameters({name: [area] * MAX_AREAS})
    with pytest.raises(BadInput, match=f"{name}: expected at most 1,000 areas, found 1,001"):
        read_geo_parameters({name: [area] * (MAX_AREAS + 1)})


def test_too_many_points_are_refused_by_name() -> None:
    area = [1, 1, 2, 2, 3, 1] * 3000
    fitting = MAX_AREA_POINTS // (len(area) // 2)

    read_geo_parameters({"insidePolygon": [area] * fitting})
    with pytest.raises(BadInput, match=r"insidePolygon: expected at most 200,000 points"):
        read_geo_parameters({"insidePolygon": [area] * (fitting + 1)})
    with pytest.raises(BadInput, match=r"insidePolygon: expected at most 200,000 points"):
        read_geo_parameters({"insidePolygon": ",".join(["1"] * (2 * MAX_AREA_POINTS + 2))})

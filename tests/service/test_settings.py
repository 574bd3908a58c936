"""Settings are changed one by one, and returned with the defaults."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.core.api.parameters import default_of
from tests.conftest import Inside


def put(inside: Inside, **settings: Any) -> None:
    inside.done("PUT", "/1/indexes/films/settings", settings)


def read(inside: Inside) -> dict[str, Any]:
    return dict(inside.call("GET", "/1/indexes/films/settings").json())


def test_setting_one_leaves_the_others(inside: Inside) -> None:
    put(inside, hitsPerPage=5, searchableAttributes=["title"])

    put(inside, hitsPerPage=7)

    assert read(inside)["hitsPerPage"] == 7
    assert read(inside)["searchableAttributes"] == ["title"]


def test_null_resets_a_setting_to_its_default(inside: Inside) -> None:
    put(inside, hitsPerPage=5, searchableAttributes=["title"])

    put(inside, hitsPerPage=None, searchableAttributes=None)

    assert read(inside)["hitsPerPage"] == default_of("hitsPerPage")
    assert "searchableAttributes" not in read(inside)


def test_settings_alone_make_an_index(inside: Inside) -> None:
    put(inside, hitsPerPage=5)

    assert inside.ids("films") == []
    assert read(inside)["ranking"] == default_of("ranking")


def test_no_setting_is_returned_as_null(inside: Inside) -> None:
    put(inside, hitsPerPage=5)

    assert None not in read(inside).values()


def test_new_settings_apply_to_existing_records(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "a": "x"}, {"objectID": "2", "b": "x"})
    assert inside.ids("films", "x") == ["1", "2"]

    put(inside, searchableAttributes=["b"])

    assert inside.ids("films", "x") == ["2"]


def test_former_names_still_set(inside: Inside) -> None:
    put(inside, attributesToIndex=["title"])

    assert read(inside)["searchableAttributes"] == ["title"]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"searchableAttribute": ["a"]}, "did you mean `searchableAttributes`?"),
        ({"hitsPerPage": "5"}, "`hitsPerPage`"),
        ({"ranking": ["typos"]}, "ranking"),
        ({"customRanking": ["sideways(n)"]}, "customRanking"),
        ({"searchableAttributes": ["unordered(a"]}, "never closed"),
        ({"attributesForFaceting": ["filterOnly()"]}, "expected filterOnly(attribute)"),
        ({"attributesForFaceting": ["a", "searchable("]}, 'never closed: "searchable("'),
        ({"attributesForFaceting": ["afterDistinct(searchable(a)"]}, "never closed"),
        ({"attributesForFaceting": [" "]}, 'attributesForFaceting: " " names no attribute'),
        ({"searchableAttributes": [""]}, 'searchableAttributes: "" names no attribute'),
        ({"searchableAttributes": ["a", " , "]}, "names no attribute; remove it"),
        ({"numericAttributesForFiltering": [""]}, "names no attribute"),
        ({"numericAttributesForFiltering": ["more(a)"]}, "known: equalOnly"),
        ({"attributesToSnippet": ["a:x"]}, "attributesToSnippet[0]"),
        ({"optionalWords": [""]}, 'optionalWords: "" is blank; remove it'),
        ({"removeStopWords": [" "]}, "is blank"),
        ({"attributesToHighlight": ["title", ""]}, "is blank"),
        ({"disableTypoToleranceOnWords": [""]}, "is blank"),
        ({"customNormalization": {"default": {"ab": "c"}}}, "expected one character"),
        ({"replicas": ["virtual(a"]}, "never closed"),
        ({"typoTolerance": "maybe"}, "`maybe` is not one of min, strict, true, false"),
        ({"alternativesAsExact": ["x"]}, "`x` is not one of ignorePlurals"),
        (
            {"relevancyStrictness": 101},
            "`relevancyStrictness` must be a whole number, at most 100",
        ),
        ({"userData": "x" * 40_000}, "`userData` is larger"),
        ({"query": "x"}, "`query` is not known"),
        ([], "the body"),
        (None, "the body"),
    ],
)
def test_a_setting_that_is_wrong_is_refused_with_the_reason(
    inside: Inside, settings: Any, told: str
) -> None:
    answer = inside.call("PUT", "/1/indexes/films/settings", settings)

    assert answer.status_code == 400
    assert told in answer.json()["message"]


@pytest.mark.parametrize(
    ("given", "found", "why"),
    [
        ("n > 1", ["2"], ""),
        ("n = 1", ["1"], ""),
        ("m = 2", ["2"], ""),
        ("NOT m != 2", ["2"], ""),
        ("m > 1", [], "m is compared by = and != only"),
        ("m:1 TO 2", [], "m is compared by = and != only"),
        ("o = 1", [], "o is not in numericAttributesForFiltering (m, n)"),
    ],
)
def test_only_the_declared_numeric_attributes_are_filtered_by(
    inside: Inside, given: str, found: list[str], why: str
) -> None:
    records = [{"objectID": str(n), "n": n, "m": n, "o": n} for n in (1, 2)]
    inside.fill("films", *records, numericAttributesToIndex=["n", "equalOnly(m)"])

    answer = inside.call("POST", "/1/indexes/films/query", {"filters": given})

    assert [hit["objectID"] for hit in answer.json().get("hits", ())] == found
    assert why in answer.json().get("message", "")
    assert answer.status_code == (400 if why else 200)


@pytest.mark.parametrize("version", [1, 2])
def test_settings_are_read_in_either_version(inside: Inside, version: int) -> None:
    put(inside, hitsPerPage=5)

    answer = inside.call("GET", f"/1/indexes/films/settings?getVersion={version}")

    assert answer.json()["hitsPerPage"] == 5


def test_settings_read_from_a_replica_may_be_written_back(inside: Inside) -> None:
    put(inside, replicas=["other", "virtual(more)"])

    for name in ("films", "other", "more"):
        told = inside.call("GET", f"/1/indexes/{name}/settings").json()
        inside.done("PUT", f"/1/indexes/{name}/settings", told)

    assert read(inside)["replicas"] == ["other", "virtual(more)"]


def test_a_missing_index_has_no_settings(inside: Inside) -> None:
    assert inside.call("GET", "/1/indexes/films/settings").status_code == 404


def test_user_data_and_rendering_content_come_with_each_answer(inside: Inside) -> None:
    put(inside, userData={"a": [1]}, renderingContent={"facetOrdering": {}})

    answer = inside.call("POST", "/1/indexes/films/query", {}).json()

    assert answer["userData"] == {"a": [1]}
    assert answer["renderingContent"] == {"facetOrdering": {}}

"""Rules are stored, found and replaced as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Inside

PATH = "/1/indexes/shop/rules"
FILTERS = {"params": {"filters": "brand:acme"}}
ALL: list[dict[str, Any]] = [
    {
        "objectID": "sale",
        "conditions": [{"pattern": "cheap {facet:brand}", "anchoring": "contains"}],
        "consequence": {"params": {"query": {"edits": [{"type": "remove", "delete": "cheap"}]}}},
        "description": "Cheap means price",
        "validity": [{"from": 1, "until": 2}],
    },
    {
        "objectID": "promo",
        "conditions": [{"pattern": "shoe", "anchoring": "is", "context": "mobile"}],
        "consequence": {"promote": [{"objectID": "7", "position": 0}], "hide": [{"objectID": "8"}]},
        "enabled": False,
    },
    {"objectID": "always", "consequence": {"userData": {"banner": 1}}, "tags": ["x"]},
]


@pytest.fixture
def shop(inside: Inside) -> Inside:
    inside.done("POST", f"{PATH}/batch", ALL)
    return inside


def found(inside: Inside, **body: Any) -> list[str]:
    return [hit["objectID"] for hit in inside.call("POST", f"{PATH}/search", body).json()["hits"]]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule["objectID"])
def test_a_rule_is_saved_and_read(inside: Inside, rule: dict[str, Any]) -> None:
    path = f"{PATH}/{rule['objectID']}"

    answer = inside.done("PUT", path, rule)

    assert answer.keys() == {"taskID", "updatedAt", "objectID"}
    assert inside.call("GET", path).json() == rule


def test_the_single_condition_of_old_is_one_of_many(inside: Inside) -> None:
    condition = {"pattern": "x", "anchoring": "is"}

    inside.done(
        "PUT", f"{PATH}/1", {"objectID": "1", "condition": condition, "consequence": FILTERS}
    )

    rule = inside.call("GET", f"{PATH}/1").json()
    assert rule == {"objectID": "1", "conditions": [condition], "consequence": FILTERS}


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ({}, ["always", "promo", "sale"]),
        ({"query": "cheap"}, ["sale"]),
        ({"query": "mobile"}, ["promo"]),
        ({"anchoring": "is"}, ["promo"]),
        ({"context": "mobile"}, ["promo"]),
        ({"enabled": True}, ["always", "sale"]),
        ({"enabled": False}, ["promo"]),
        ({"enabled": None, "hitsPerPage": 2}, ["always", "promo"]),
        ({"page": 1, "hitsPerPage": 2}, ["sale"]),
    ],
)
def test_rules_are_found(shop: Inside, body: dict[str, Any], ids: list[str]) -> None:
    assert found(shop, **body) == ids


def test_a_page_of_rules_has_the_total_count(shop: Inside) -> None:
    answer = shop.call("POST", f"{PATH}/search", {"query": "chea", "hitsPerPage": 1}).json()

    assert (answer["nbHits"], answer["page"], answer["nbPages"]) == (1, 0, 1)
    marked = answer["hits"][0]["_highlightResult"]["conditions"][0]["pattern"]
    assert marked["value"] == "<em>cheap</em> {facet:brand}"


@pytest.mark.parametrize(("clear", "left"), [("", 4), ("?clearExistingRules=true", 1)])
def test_a_batch_adds_or_replaces_them_all(shop: Inside, clear: str, left: int) -> None:
    shop.done("POST", f"{PATH}/batch{clear}", [{"objectID": "new", "consequence": FILTERS}])

    assert len(found(shop)) == left


def test_rules_are_deleted_and_cleared(shop: Inside) -> None:
    assert shop.done("DELETE", f"{PATH}/sale").keys() == {"taskID", "updatedAt"}
    assert found(shop) == ["always", "promo"]

    shop.done("POST", f"{PATH}/clear")

    assert found(shop) == []
    assert shop.call("GET", f"{PATH}/promo").status_code == 404


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"consequence": {}}, "`consequence` is empty"),
        ({"conditions": [{"pattern": "x"}]}, "`conditions[0].anchoring` is missing"),
        ({"conditions": [{"anchoring": "is"}]}, "`conditions[0].pattern` is missing"),
        ({"conditions": [{"pattern": "", "anchoring": "contains"}]}, "is empty"),
        ({"conditions": [{"context": "two words"}]}, "context"),
        ({"conditions": [{}]}, "needs a pattern, a context or filters"),
        ({"conditions": [{"pattern": "x", "anchoring": "has"}]}, "`conditions[0].anchoring`"),
        ({"consequence": {"promote": [{"position": 1}]}}, "promote[0]` needs an objectID"),
        ({"consequence": {"promote": [{"objectID": "1"}]}}, "position"),
        ({"consequence": {"params": {"hitPerPage": 1}}}, "did you mean `hitsPerPage`?"),
        ({"consequence": {"userData": "x" * 2000}}, "userData"),
        ({"conditions": [{"filters": "a:x OR a:y"}]}, "`conditions[0].filters` may contain"),
        ({"conditions": [{"filters": "price > 3"}]}, "neither OR nor numbers"),
        ({"conditions": [{"filters": "a:"}]}, "conditions[0].filters: expected a value"),
        ({"consequence": {"params": {"filters": "a:"}}}, "`consequence.params`: filters"),
        ({"consequence": {"params": {"optionalFilters": ["a"]}}}, "optionalFilters[0]"),
        (
            {"consequence": {"params": {"query": {"edits": [{"type": "replace", "delete": "a"}]}}}},
            "`consequence.params.query.edits[0].insert` is missing",
        ),
        (
            {"consequence": {"params": {"automaticFacetFilters": [{"facet": "a", "score": -1}]}}},
            "automaticFacetFilters[0].score",
        ),
        ({"consequence": {"params": {"aroundLatLng": "x"}}}, "`consequence.params`: aroundLatLng"),
        ({"consequence": {"params": {"insidePolygon": [[1, 2]]}}}, "insidePolygon[0]"),
        ({"consequence": {"params": {"ranking": ["new"]}}}, "ranking: expected asc(attribute)"),
        ({"consequence": {"params": {"attributesToSnippet": ["a:b"]}}}, "attributesToSnippet[0]"),
        ({"validity": [{"from": 6, "until": 5}]}, "`validity[0]` ends before it begins"),
        ({"objectID": "other"}, "other in the body, 1 in the path"),
        ({"condtions": []}, "did you mean `condition`?|did you mean `conditions`?"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(
    inside: Inside, change: dict[str, Any], told: str
) -> None:
    rule = {"objectID": "1", "consequence": FILTERS, **change}

    answer = inside.call("PUT", f"{PATH}/1", rule)

    assert answer.status_code == 400
    assert any(part in answer.json()["message"] for part in told.split("|"))

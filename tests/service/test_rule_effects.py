"""Rules change searches: when they apply, what they do, and their limits."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from svc_notebook.core.api.secured_keys import make_secured_key
from svc_notebook.service.app import App
from svc_notebook.service.resources.compiled import Rulebook
from svc_notebook.service.resources.entries import RULE_ENTRIES, read_entries
from svc_notebook.service.service import Service
from tests.conftest import Inside

PATH = "/1/indexes/shop"
RECORDS: list[dict[str, Any]] = [
    {"objectID": "1", "title": "Red lamp", "brand": "Acme", "colour": ["red"], "price": 10},
    {"objectID": "2", "title": "Blue lamp", "brand": "Bolt", "colour": ["blue"], "price": 20},
    {"objectID": "3", "title": "Green desk", "brand": "Acme", "colour": ["green"], "price": 30},
    {"objectID": "4", "title": "Lamp shade", "brand": "Dark Star", "colour": ["red", "blue"]},
    {"objectID": "5", "title": "Cheap desk", "brand": "Bolt", "colour": [], "price": 5},
]
SETTINGS: dict[str, Any] = {
    "searchableAttributes": ["title"],
    "attributesForFaceting": ["searchable(brand)", "colour"],
    "customRanking": ["asc(objectID)"],
    "ranking": ["words", "filters", "custom"],
}
DATA = {"userData": {"seen": True}}
GROW = {"type": "replace", "delete": "red", "insert": "red " * 500}


@pytest.fixture
def shop(inside: Inside) -> Inside:
    inside.fill("shop", *RECORDS, **SETTINGS)
    return inside


def save(inside: Inside, *rules: dict[str, Any]) -> None:
    """Save rules; those without an objectID are called a, b and so on."""
    named = [{"objectID": chr(97 + n), "consequence": DATA, **r} for n, r in enumerate(rules)]
    inside.done("POST", f"{PATH}/rules/batch?clearExistingRules=true", named)


def ask(inside: Inside, query: str = "", key: str | None = None, **params: Any) -> dict[str, Any]:
    answer = inside.call("POST", f"{PATH}/query", {"query": query, **params}, key=key)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def ids(answer: dict[str, Any]) -> list[str]:
    return [hit["objectID"] for hit in answer["hits"]]


def applied(answer: dict[str, Any]) -> list[str]:
    return [rule["objectID"] for rule in answer.get("appliedRules", [])]


def when(pattern: str, anchoring: str = "contains", **more: Any) -> dict[str, Any]:
    return {"conditions": [{"pattern": pattern, "anchoring": anchoring, **more}]}


def then(**params: Any) -> dict[str, Any]:
    return {"consequence": {"params": params}}


# --------------------------------------------------------------------------- when a rule applies


@pytest.mark.parametrize(
    ("condition", "yes", "no"),
    [
        (when("red lamp", "is"), ["red lamp", "RED  Lamp!", "réd-lamp"], ["red", "red lamp x", ""]),
        (when("red lamp", "startsWith"), ["red lamp", "red lamp shade"], ["a red lamp", "red"]),
        (when("red lamp", "endsWith"), ["red lamp", "a red lamp"], ["red lamp x", "lamp"]),
        (when("red lamp"), ["red lamp", "a red lamp x"], ["red x lamp", "redlamp", "red lamps"]),
        (when("", "is"), ["", "  ", "?!"], ["red"]),
        (when("?!"), [], ["", "red"]),
        (when("{facet:brand}"), ["acme", "a dark star x", "bolt"], ["dark", "acmes", "red"]),
        (when("{facet:brand}", "is"), ["ACME", "dark star"], ["acme lamp", ""]),
        (when("lamp {facet:brand}", "startsWith"), ["lamp bolt x"], ["lamp x", "bolt lamp"]),
        (when("{facet:colour} {facet:brand}"), ["red acme", "x blue bolt"], ["acme red", "red"]),
        (when("{facet:brand} and {facet:brand}", "is"), ["acme and bolt"], ["acme and red"]),
        (when("{facet:nothing}"), [], ["acme", ""]),
        ({}, ["", "anything"], []),
        ({"conditions": []}, [""], []),
    ],
    ids=str,
)
def test_a_pattern_decides_which_queries_a_rule_is_for(
    shop: Inside, condition: dict[str, Any], yes: list[str], no: list[str]
) -> None:
    save(shop, condition)

    found = {query: applied(ask(shop, query)) for query in (*yes, *no)}

    assert found == {query: ["a"] * (query in yes) for query in found}


@pytest.mark.parametrize(
    ("condition", "params", "applies"),
    [
        ({"context": "mobile"}, {"ruleContexts": ["web", "mobile"]}, True),
        ({"context": "mobile"}, {"ruleContexts": ["web"]}, False),
        ({"context": "mobile"}, {}, False),
        ({"context": "natural_language"}, {"naturalLanguages": ["en"]}, True),
        ({"filters": "brand:acme"}, {"filters": "brand:Acme AND price > 1"}, True),
        ({"filters": "brand:acme"}, {"facetFilters": [["brand:Acme", "brand:Bolt"]]}, True),
        ({"filters": "brand:acme"}, {"facetFilters": "brand:-Acme"}, False),
        ({"filters": "brand:'dark star' AND colour:red"}, {"facetFilters": ["colour:red"]}, False),
        (
            {"filters": "brand:'dark star' AND colour:red"},
            {"facetFilters": ["colour:red", "brand:Dark Star"]},
            True,
        ),
        ({"filters": "_tags:new"}, {"tagFilters": "new"}, True),
        ({"filters": "brand:acme"}, {}, False),
        ({"context": "m", "filters": "brand:acme"}, {"filters": "brand:acme"}, False),
        (
            {"context": "m", "filters": "brand:acme"},
            {"filters": "brand:acme", "ruleContexts": ["m"]},
            True,
        ),
        (
            when("lamp", context="m")["conditions"][0],
            {"query": "lamp", "ruleContexts": ["m"]},
            True,
        ),
        (when("lamp", context="m")["conditions"][0], {"query": "lamp"}, False),
        (when("lamp", context="m")["conditions"][0], {"ruleContexts": ["m"]}, False),
    ],
    ids=str,
)
def test_all_parts_of_a_condition_must_match(
    shop: Inside, condition: dict[str, Any], params: dict[str, Any], applies: bool
) -> None:
    save(shop, {"conditions": [condition]})

    answer = ask(shop, **params)

    assert applied(answer) == (["a"] if applies else [])


def test_one_of_several_conditions_is_enough_and_a_rule_applies_once(shop: Inside) -> None:
    save(shop, {"conditions": [*when("lamp")["conditions"], *when("red")["conditions"]]})

    found = [applied(ask(shop, query)) for query in ("lamp", "red", "red lamp lamp", "desk")]

    assert found == [["a"], ["a"], ["a"], []]


@pytest.mark.parametrize(
    ("query", "loose", "strict"),
    [
        ("lamp", True, True),
        ("lampp", True, False),
        ("lmap shade", True, False),
        ("lmp", False, False),
        ("lamps", True, False),
        ("lantern", True, False),
        ("night light", True, False),
        ("xamp", False, False),
    ],
)
def test_alternatives_match_typos_plurals_and_synonyms(
    shop: Inside, query: str, loose: bool, strict: bool
) -> None:
    synonym = {"type": "synonym", "synonyms": ["lamp", "lantern", "night light"]}
    shop.done("PUT", f"{PATH}/synonyms/s", {"objectID": "s", **synonym})
    save(shop, when("lamp", alternatives=True), when("lamp"))

    answer = ask(shop, query)

    assert applied(answer) == ["a"] * loose + ["b"] * strict


def test_words_of_several_synonyms_match_a_pattern_of_several_words(shop: Inside) -> None:
    synonym = {"type": "synonym", "synonyms": ["ny", "new york"]}
    shop.done("PUT", f"{PATH}/synonyms/s", {"objectID": "s", **synonym})
    save(shop, when("new york lamp", "is", alternatives=True), when("ny", alternatives=True))

    found = {query: applied(ask(shop, query)) for query in ("ny lamp", "new york lmap", "york")}

    assert found == {"ny lamp": ["a", "b"], "new york lmap": ["a", "b"], "york": []}


def test_words_without_typo_tolerance_have_none_in_patterns(shop: Inside) -> None:
    shop.done("PUT", f"{PATH}/settings", {"disableTypoToleranceOnWords": ["lamp"]})
    save(shop, when("lamp", alternatives=True), when("cheap", alternatives=True))

    assert applied(ask(shop, "lampp cheapp")) == ["b"]
    assert applied(ask(shop, "cheapp", typoTolerance=False)) == []


def test_a_rule_applies_while_it_is_enabled_and_valid(shop: Inside) -> None:
    now = int(time.time())
    save(
        shop,
        {"enabled": False},
        {"validity": [{"from": 1, "until": 2}]},
        {"validity": [{"from": 1, "until": 2}, {"from": now - 100, "until": now + 100}]},
        {"validity": [{"from": now + 100, "until": now + 200}]},
        {"validity": [], "enabled": True},
    )

    assert applied(ask(shop)) == ["c", "e"]


def test_a_rule_applies_in_times_that_are_open_at_an_end(shop: Inside) -> None:
    now = int(time.time())
    save(
        shop,
        {"validity": [{"from": now - 100}]},
        {"validity": [{"from": now + 100}]},
        {"validity": [{"until": now + 100}]},
        {"validity": [{"until": now - 100}]},
        {"validity": [{"until": now - 100}, {"from": now - 50}]},
        {"validity": [{"from": now, "until": now}]},
        {"validity": [{}]},
    )

    assert applied(ask(shop)) == ["a", "c", "e", "g"]


def test_rules_can_be_switched_off(shop: Inside) -> None:
    save(shop, then(hitsPerPage=1))

    assert len(ask(shop, enableRules=False)["hits"]) == 5
    shop.done("PUT", f"{PATH}/settings", {"enableRules": False})
    assert len(ask(shop)["hits"]) == 5
    assert len(ask(shop, enableRules=True)["hits"]) == 1


def test_a_facet_value_without_records_is_not_found(shop: Inside) -> None:
    save(shop, when("{facet:brand}"))
    shop.done("DELETE", f"{PATH}/4")

    assert applied(ask(shop, "dark star")) == []
    assert applied(ask(shop, "bolt")) == ["a"]


def test_the_rules_of_words_are_those_of_the_settings(shop: Inside) -> None:
    save(shop, when("c#"))
    assert applied(ask(shop, "c")) == ["a"]

    shop.done("PUT", f"{PATH}/settings", {"separatorsToIndex": "#"})

    assert applied(ask(shop, "c")) == []
    assert applied(ask(shop, "c#")) == ["a"]


# -------------------------------------------------------------------------------- which rule wins


@pytest.mark.parametrize(
    ("rules", "order"),
    [
        ([when("lamp"), when("red")], "ba"),
        ([when("red"), when("red lamp")], "ba"),
        ([when("red", "contains"), when("red", "startsWith")], "ba"),
        ([when("red lamp", "endsWith"), when("red lamp", "is")], "ba"),
        ([when("red"), when("red", context="m")], "ba"),
        ([when("red"), when("red", filters="brand:acme")], "ba"),
        ([when("red", filters="brand:acme"), when("red", context="m")], "ba"),
        ([when("{facet:colour}"), when("red")], "ba"),
        ([when("red"), {**when("red"), "validity": [{"from": 1, "until": 9999999999}]}], "ba"),
        ([{**when("red"), "objectID": "b"}, {**when("red"), "objectID": "a"}], "ab"),
        ([{}, when("lamp")], "ba"),
        ([{}, {"conditions": [{"context": "m"}]}], "ba"),
    ],
)
def test_rules_apply_in_the_order_of_their_precedence(
    shop: Inside, rules: list[dict[str, Any]], order: str
) -> None:
    save(shop, *rules)

    answer = ask(shop, "red lamp", ruleContexts=["m"], filters="brand:acme")

    assert applied(answer) == list(order)


# --------------------------------------------------------------------------------- what follows


def test_parameters_of_a_rule_replace_those_of_the_query(shop: Inside) -> None:
    save(shop, when("lamp") | then(hitsPerPage=1, attributesToRetrieve=["brand"], page=None))

    answer = ask(shop, "lamp", hitsPerPage=3, page=1)

    assert answer["hits"][0].keys() == {"objectID", "brand", "_highlightResult"}
    assert (answer["hitsPerPage"], answer["page"], answer["nbHits"]) == (1, 1, 3)
    told = {"query": ["lamp"], "hitsPerPage": ["1"], "page": ["1"]}
    assert parse_qs(answer["params"]) == {**told, "attributesToRetrieve": ['["brand"]']}


def test_of_two_rules_the_first_sets_a_parameter(shop: Inside) -> None:
    save(shop, when("lamp") | then(hitsPerPage=1, page=1), when("red") | then(hitsPerPage=2))

    answer = ask(shop, "red lamp", removeWordsIfNoResults="allOptional")

    assert applied(answer) == ["b", "a"]
    assert (answer["hitsPerPage"], answer["page"]) == (2, 1)


@pytest.mark.parametrize(
    ("wanted", "query", "found"),
    [
        ("desk", "lamp", ["3", "5"]),
        ("", "lamp", ["1", "2", "3", "4", "5"]),
        ({"remove": ["cheap"]}, "Cheap lamp", ["1", "2", "4"]),
        ({"remove": ["really cheap", "lamp"]}, "really cheap lamp desk", ["3", "5"]),
        ({"edits": [{"type": "remove", "delete": "CHEAP"}]}, "cheap lamp cheap", ["1", "2", "4"]),
        (
            {"edits": [{"type": "replace", "delete": "couch table", "insert": "desk"}]},
            "green couch-table",
            ["3"],
        ),
        (
            {
                "edits": [
                    {"type": "replace", "delete": "one", "insert": "two"},
                    {"type": "replace", "delete": "two", "insert": "lamp"},
                ]
            },
            "one",
            ["1", "2", "4"],
        ),
        ({"remove": ["x"], "edits": [{"type": "remove", "delete": "y"}]}, "x desk y", ["3", "5"]),
        ({"edits": [{"type": "remove", "delete": "?"}]}, "desk", ["3", "5"]),
    ],
    ids=str,
)
def test_a_rule_changes_the_words_of_the_query(
    shop: Inside, wanted: Any, query: str, found: list[str]
) -> None:
    save(shop, then(query=wanted))

    answer = ask(shop, query)

    assert ids(answer) == found
    assert answer["query"] == query


@pytest.mark.parametrize("query", ["cheap lamp", "cheapp lamp", "low cost lamp", "CHEAPS lamp"])
def test_a_match_with_alternatives_is_removed_as_typed(shop: Inside, query: str) -> None:
    synonym = {"type": "synonym", "synonyms": ["cheap", "low cost"]}
    shop.done("PUT", f"{PATH}/synonyms/s", {"objectID": "s", **synonym})
    save(shop, when("cheap", alternatives=True) | then(query={"remove": ["cheap"]}))

    answer = ask(shop, query)

    assert parse_qs(answer["params"])["query"] == ["lamp"]


def test_a_new_query_may_contain_the_captured_text(shop: Inside) -> None:
    insert = {"type": "replace", "delete": "from {facet:brand}", "insert": "{facet:brand}"}
    save(
        shop,
        when("buy {facet:colour}") | then(query="{facet:colour} lamp"),
        when("from {facet:brand}", "endsWith") | then(query={"edits": [insert]}),
    )

    told = [parse_qs(ask(shop, query)["params"])["query"] for query in ("Buy Red", "x from Bolt")]

    assert told == [["red lamp"], ["x bolt"]]


@pytest.mark.parametrize(
    ("rule", "query"),
    [
        (then(query={"edits": [GROW] * 9}), "red"),
        (then(query={"edits": [{"type": "remove", "delete": "{facet:colour} " * 9}]}), "red blue "),
        (when("{facet:colour} " * 50 + "x"), "red "),
        (then(query="y " * 9000), ""),
    ],
    ids=["grows", "many ways to delete", "many ways to match", "long"],
)
def test_no_rule_makes_a_search_endless(shop: Inside, rule: dict[str, Any], query: str) -> None:
    placeholders = when("{facet:colour}") if "conditions" not in rule else {}
    save(shop, rule | placeholders, rule)

    answer = ask(shop, query * 50)

    assert len(answer["params"]) < 3000


@pytest.mark.parametrize(
    ("query", "left", "found"),
    [
        ("lamp acme", "lamp", ["1"]),
        ("ACME lamp", "lamp", ["1"]),
        ("dark star", "", ["4"]),
        ("lamp  from dark-star", "lamp from", []),
        ("acme or bolt", "or", []),
    ],
)
def test_a_placeholder_becomes_a_filter(
    shop: Inside, query: str, left: str, found: list[str]
) -> None:
    edit = {"type": "remove", "delete": "{facet:brand}"}
    params = then(query={"edits": [edit]}, automaticFacetFilters=["brand"])
    save(shop, when("{facet:brand}") | params)

    answer = ask(shop, query)

    assert ids(answer) == found
    assert parse_qs(answer["params"], keep_blank_values=True)["query"] == [left]


@pytest.mark.parametrize(
    ("automatic", "found"),
    [
        (["colour"], ["4"]),
        ([{"facet": "colour", "disjunctive": True}], ["1", "2", "4"]),
        ([{"facet": "colour", "negative": True}], ["3", "5"]),
        ([{"facet": "brand"}], ["1", "2", "3", "4", "5"]),
        (["brand", "colour"], ["4"]),
    ],
    ids=str,
)
def test_several_values_are_combined_by_and_or_by_or(
    shop: Inside, automatic: list[Any], found: list[str]
) -> None:
    save(shop, when("{facet:colour}") | then(query="", automaticFacetFilters=automatic))

    answer = ask(shop, "red and blue")

    assert ids(answer) == found


@pytest.mark.parametrize(
    ("automatic", "found"),
    [
        (["colour"], ["4", "1", "2", "3", "5"]),
        ([{"facet": "colour", "score": 5}], ["4", "1", "2", "3", "5"]),
        ([{"facet": "colour", "negative": True}], ["3", "5", "1", "2", "4"]),
    ],
    ids=str,
)
def test_an_automatic_optional_filter_ranks_the_captured_value_higher(
    shop: Inside, automatic: list[Any], found: list[str]
) -> None:
    save(shop, when("{facet:colour}") | then(query="", automaticOptionalFacetFilters=automatic))

    assert ids(ask(shop, "red blue")) == found


def test_optional_filters_of_the_query_are_kept_with_automatic_ones(shop: Inside) -> None:
    automatic = [{"facet": "colour", "score": 9}]
    save(shop, when("{facet:colour}") | then(query="", automaticOptionalFacetFilters=automatic))

    assert ids(ask(shop, "blue", optionalFilters="brand:Bolt"))[:4] == ["2", "4", "5", "1"]


def test_values_with_equal_spelling_are_alternatives(shop: Inside) -> None:
    shop.fill("shop", {"objectID": "6", "title": "Lamp", "brand": "ÁCME"})
    save(shop, when("{facet:brand}") | then(query="", automaticFacetFilters=["brand"]))

    assert ids(ask(shop, "acme")) == ["1", "3", "6"]


@pytest.mark.parametrize(
    ("own", "given", "found"),
    [
        ({"filters": "brand:Acme"}, {}, ["1", "3"]),
        ({"filters": "brand:Acme"}, {"filters": "colour:red OR colour:blue"}, ["1"]),
        ({"filters": "colour:red OR colour:blue"}, {"filters": "brand:Acme"}, ["1"]),
        ({"facetFilters": ["brand:Bolt"]}, {"facetFilters": ["colour:blue"]}, ["2"]),
        ({"numericFilters": "price > 8"}, {"facetFilters": "brand:-Acme"}, ["2"]),
        ({"tagFilters": "new"}, {}, []),
    ],
    ids=str,
)
def test_filters_of_a_rule_are_added_to_those_of_the_query(
    shop: Inside, own: dict[str, Any], given: dict[str, Any], found: list[str]
) -> None:
    save(shop, then(**own))

    assert ids(ask(shop, **given)) == found


def test_filters_of_all_rules_hold(shop: Inside) -> None:
    save(shop, then(filters="brand:Acme"), then(filters="price > 20 OR price < 2"))

    assert ids(ask(shop)) == ["3"]


# ------------------------------------------------------------------------------ single records


@pytest.mark.parametrize(
    ("consequence", "found"),
    [
        ({"promote": [{"objectID": "5", "position": 0}]}, ["5", "1", "2", "4"]),
        ({"promote": [{"objectID": "4", "position": 1}]}, ["1", "4", "2"]),
        (
            {"promote": [{"objectIDs": ["5", "missing", "3"], "position": 1}]},
            ["1", "5", "3", "2", "4"],
        ),
        ({"promote": [{"objectID": "5", "position": 99}]}, ["1", "2", "4", "5"]),
        ({"promote": [{"objectIDs": [], "position": 0}]}, ["1", "2", "4"]),
        ({"hide": [{"objectID": "2"}, {"objectID": "missing"}]}, ["1", "4"]),
        ({"promote": [{"objectID": "2", "position": 0}], "hide": [{"objectID": "2"}]}, ["1", "4"]),
        (
            {"promote": [{"objectID": "5", "position": 0}, {"objectID": "4", "position": 0}]},
            ["5", "4", "1", "2"],
        ),
    ],
    ids=str,
)
def test_records_are_promoted_or_hidden(
    shop: Inside, consequence: dict[str, Any], found: list[str]
) -> None:
    save(shop, {"consequence": consequence})

    answer = ask(shop, "lamp", getRankingInfo=True, facets=["brand"])

    assert ids(answer) == found
    assert answer["nbHits"] == sum(answer["facets"]["brand"].values()) == len(found)
    promoted = [h["objectID"] for h in answer["hits"] if h["_rankingInfo"].get("promoted")]
    wanted = [
        n for p in consequence.get("promote", ()) for n in p.get("objectIDs", [p.get("objectID")])
    ]
    assert sorted(promoted) == sorted(set(wanted) & set(found))


def test_for_one_record_the_earlier_rule_takes_precedence(shop: Inside) -> None:
    save(
        shop,
        when("red lamp") | {"consequence": {"promote": [{"objectID": "5", "position": 0}]}},
        when("red")
        | {
            "consequence": {
                "hide": [{"objectID": "5"}, {"objectID": "1"}],
                "promote": [{"objectID": "3", "position": 0}, {"objectID": "5", "position": 1}],
            }
        },
        when("lamp") | {"consequence": {"promote": [{"objectID": "1", "position": 0}]}},
    )

    answer = ask(shop, "red lamp")

    assert ids(answer) == ["5", "3"]


@pytest.mark.parametrize(("filtered", "found"), [(False, ["5", "1", "3"]), (True, ["1", "3"])])
def test_promoted_records_match_the_filters_if_the_rule_requires_it(
    shop: Inside, filtered: bool, found: list[str]
) -> None:
    promote = {"promote": [{"objectID": "5", "position": 0}], "filterPromotes": filtered}
    save(shop, {"consequence": promote})

    assert ids(ask(shop, filters="brand:Acme")) == found


def test_promoted_records_hide_unretrievable_attributes(shop: Inside) -> None:
    shop.done("PUT", f"{PATH}/settings", {"unretrievableAttributes": ["price"]})
    save(shop, {"consequence": {"promote": [{"objectID": "3", "position": 0}]}})
    key = shop.facts["searchKey"]

    [hit] = ask(shop, "lamp", key, hitsPerPage=1)["hits"]

    assert hit["objectID"] == "3"
    assert "price" not in hit


# ------------------------------------------------------------------------ what the answer tells


def test_user_data_of_rules_comes_in_their_order_else_that_of_the_index(shop: Inside) -> None:
    shop.done("PUT", f"{PATH}/settings", {"userData": {"own": 1}})
    save(
        shop,
        when("lamp") | {"consequence": {"userData": "lamp"}},
        when("red") | {"consequence": {"userData": {"red": 1}}},
        when("red lamp") | then(page=0),
    )

    told = [ask(shop, query)["userData"] for query in ("red lamp", "lamp", "desk")]

    assert told == [[{"red": 1}, "lamp"], ["lamp"], {"own": 1}]


def test_rendering_content_is_merged(shop: Inside) -> None:
    order = {"facetOrdering": {"facets": {"order": ["brand"]}, "values": {"brand": {"hide": []}}}}
    shop.done("PUT", f"{PATH}/settings", {"renderingContent": order})
    facets = {"facetOrdering": {"facets": {"order": ["colour"]}}}
    redirect = {"redirect": {"url": "https://example.org/lamps"}}
    save(
        shop,
        when("lamp")
        | then(renderingContent={**redirect, "facetOrdering": {"facets": {"order": []}}}),
        when("red") | then(renderingContent=facets),
    )

    answer = ask(shop, "red lamp")

    assert answer["renderingContent"] == {
        "facetOrdering": {"facets": {"order": ["colour"]}, "values": {"brand": {"hide": []}}},
        **redirect,
    }


def test_a_search_without_rules_names_none(shop: Inside) -> None:
    save(shop, when("lamp") | then(page=1))

    answer = ask(shop, "desk")

    assert not {"appliedRules", "userData"} & answer.keys()
    assert parse_qs(answer["params"]) == {"query": ["desk"]}


def test_ranking_information_shows_the_words_after_the_rules(shop: Inside) -> None:
    save(shop, when("cheap") | then(query={"remove": ["cheap"]}))

    answer = ask(shop, "Cheap lamp", getRankingInfo=True)

    assert (answer["query"], answer["parsedQuery"]) == ("Cheap lamp", "lamp")


@pytest.mark.parametrize(("goal", "used"), [("sorted", "sorted"), ("nowhere", "shop")])
def test_a_rule_sends_the_search_to_another_index(shop: Inside, goal: str, used: str) -> None:
    shop.fill("sorted", *RECORDS, **{**SETTINGS, "ranking": ["desc(price)"]})
    save(shop, {"consequence": {"redirect": {"indexName": goal}}})

    answer = ask(shop, "lamp", getRankingInfo=True)

    assert (answer["index"], answer["indexUsed"]) == ("shop", used)
    assert ids(answer) == (["2", "1", "4"] if used == "sorted" else ["1", "2", "4"])


# ------------------------------------------------------------------ where rules apply, where not


def test_rules_apply_to_each_of_several_searches(shop: Inside) -> None:
    save(shop, when("cheap") | then(query="desk"))
    requests = [{"indexName": "shop", "query": "cheap"}, {"indexName": "shop", "query": "lamp"}]

    answer = shop.call("POST", "/1/indexes/*/queries", {"requests": requests}).json()

    assert [ids(result) for result in answer["results"]] == [["3", "5"], ["1", "2", "4"]]


def test_a_facet_search_counts_as_the_search_does(shop: Inside) -> None:
    save(
        shop,
        when("cheap")
        | {
            "consequence": {
                "params": {"query": "lamp"},
                "hide": [{"objectID": "4"}],
                "promote": [{"objectID": "3", "position": 0}],
            }
        },
    )

    answer = shop.call("POST", f"{PATH}/facets/brand/query", {"query": "cheap"}).json()

    counts = {hit["value"]: hit["count"] for hit in answer["facetHits"]}
    assert counts == ask(shop, "cheap", facets=["brand"])["facets"]["brand"]
    assert counts == {"Acme": 2, "Bolt": 1}


def test_rules_do_not_apply_to_a_browse(shop: Inside) -> None:
    consequence = {"hide": [{"objectID": "1"}], "params": {"filters": "brand:Acme"}}
    save(shop, {"consequence": consequence})

    answer = shop.call("POST", f"{PATH}/browse", {"query": "lamp"}).json()

    assert sorted(ids(answer)) == ["1", "2", "4"]


def test_a_copy_of_the_rules_has_effect(shop: Inside) -> None:
    save(shop, then(filters="brand:Acme"))
    shop.fill("other", *RECORDS, **SETTINGS)
    copy = {"operation": "copy", "destination": "other", "scope": ["rules"]}

    shop.done("POST", f"{PATH}/operation", copy)

    assert shop.ids("other") == ["1", "3"]


@pytest.mark.parametrize(
    ("params", "settings", "fault"),
    [
        (
            {"numericFilters": ["price > 8"]},
            {"numericAttributesForFiltering": ["stock"]},
            "`numericFilters` left out: price is not in numericAttributesForFiltering",
        ),
        (
            {"filters": "price > 8"},
            {"numericAttributesForFiltering": ["equalOnly(price)"]},
            "`filters` left out: ",
        ),
    ],
    ids=["not a number to filter by", "equalOnly"],
)
def test_no_rule_breaks_a_search(
    shop: Inside, params: dict[str, Any], settings: dict[str, Any], fault: str
) -> None:
    save(shop, {"consequence": {"params": {**params, "hitsPerPage": 2}}}, {})
    shop.done("PUT", f"{PATH}/settings", settings)

    answer = ask(shop, "lamp")
    values = shop.call("POST", f"{PATH}/facets/brand/query", {"facetQuery": "b"})

    assert ids(answer) == ["1", "2"]
    assert (answer["nbHits"], applied(answer)) == (3, ["a", "b"])
    assert answer["message"].startswith(f"rule a: {fault}")
    assert values.json()["facetHits"][0]["value"] == "Bolt"


def test_an_error_of_the_search_is_not_attributed_to_rules(shop: Inside) -> None:
    save(shop, {"consequence": {"params": {"filters": "brand:Acme"}}})

    answer = shop.call("POST", f"{PATH}/query", {"insideBoundingBox": "1,2"})

    assert answer.status_code == 400
    assert answer.json()["message"].startswith("insideBoundingBox")


def test_a_deleted_rule_has_no_effect(shop: Inside) -> None:
    save(shop, when("lamp") | then(hitsPerPage=1), when("desk") | then(hitsPerPage=1))
    assert [len(ids(ask(shop, query))) for query in ("lamp", "desk")] == [1, 1]

    shop.done("DELETE", f"{PATH}/rules/a")
    assert [len(ids(ask(shop, query))) for query in ("lamp", "desk")] == [3, 1]

    shop.done("POST", f"{PATH}/rules/clear")
    assert [len(ids(ask(shop, query))) for query in ("lamp", "desk")] == [3, 2]


def test_rules_have_effect_after_a_restart(tmp_path: Path) -> None:
    for start in range(2):
        service = Service(tmp_path)
        service.start()
        app = App(service)
        inside = Inside(app)
        if not start:
            inside.fill("shop", *RECORDS, **SETTINGS)
            save(inside, when("cheap") | then(query="lamp"))

        assert ids(ask(inside, "cheap")) == ["1", "2", "4"]

        app.close()
        service.stop()


# ------------------------------------------------------------------------- what no rule can do


def limited(inside: Inside, **restrictions: Any) -> str:
    """A key of the search key's with restrictions in it."""
    return make_secured_key(inside.facts["searchKey"], **restrictions)


@pytest.mark.parametrize(
    "consequence",
    [
        {"params": {"filters": "brand:Bolt"}},
        {"params": {"facetFilters": [["brand:Bolt", "brand:Acme"]]}},
        {"promote": [{"objectIDs": ["2", "5"], "position": 0}]},
        {"params": {"query": "", "insideBoundingBox": [[90, -180, -90, 180]]}},
        {"params": {"hitsPerPage": 1000, "attributesToRetrieve": ["*"]}},
    ],
    ids=str,
)
def test_a_rule_cannot_bypass_the_filters_of_the_key(
    shop: Inside, consequence: dict[str, Any]
) -> None:
    save(shop, {"consequence": consequence})
    key = limited(
        shop, filters="brand:Acme", attributesToRetrieve=["title", "brand"], hitsPerPage=1
    )

    answer = ask(shop, key=key, facets=["brand"])

    assert set(answer["facets"]["brand"]) <= {"Acme"}
    assert answer["hitsPerPage"] == 1
    assert all(hit["title"] in ("Red lamp", "Green desk") for hit in answer["hits"])
    assert not any("price" in hit for hit in answer["hits"])
    assert "Acme" not in answer["params"] or "Acme" in str(consequence)


def test_a_key_brings_contexts_and_decides_whether_rules_apply(shop: Inside) -> None:
    save(shop, {"conditions": [{"context": "m"}]}, then(page=0))

    assert applied(ask(shop, key=limited(shop, ruleContexts=["m"]))) == ["a", "b"]
    assert applied(ask(shop, key=limited(shop, enableRules=False), enableRules=True)) == []


def test_a_rule_does_not_redirect_to_an_index_that_the_key_does_not_reach(shop: Inside) -> None:
    shop.fill("secret", {"objectID": "s"})
    save(shop, {"consequence": {"redirect": {"indexName": "secret"}}})

    assert ids(ask(shop)) == ["s"]
    assert "s" not in ids(ask(shop, key=limited(shop, restrictIndices="shop")))


def test_the_maximum_hits_of_a_key_apply_to_rules(shop: Inside) -> None:
    save(shop, then(hitsPerPage=5, offset=0, length=5))
    fields = {"acl": ["search"], "maxHitsPerQuery": 2}
    key = shop.call("POST", "/1/keys", fields).json()["key"]

    assert len(ids(ask(shop, key=key))) == 2


def test_rules_are_never_applied_to_other_settings_than_theirs(shop: Inside) -> None:
    """Facets and the rules that filter by them change while a search compiles its rules."""
    save(shop, {"consequence": {"params": {"filters": "brand:Bolt"}}})
    catalog = shop.app.service.catalog
    owner = catalog.find("shop").id
    reached, released = threading.Event(), threading.Event()

    def read_slowly() -> list[dict[str, Any]]:
        entries = read_entries(shop.app.service.store, owner, RULE_ENTRIES)
        reached.set()
        assert released.wait(20)
        return entries

    catalog.resources._compiled[owner, RULE_ENTRIES] = Rulebook(read_slowly)
    with ThreadPoolExecutor(1) as pool:
        searching = pool.submit(ask, shop, "lamp")
        assert reached.wait(20)
        save(shop, {"consequence": {"params": {"filters": "title:'Red lamp'"}}})
        shop.done("PUT", f"{PATH}/settings", {"attributesForFaceting": ["title"]})
        released.set()

    assert [hit["objectID"] for hit in searching.result()["hits"]] == ["1"]

"""A value of a parameter is accepted by all calls, or refused by all."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import pytest

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.core.api.secured_keys import sign
from svc_notebook.core.api.validation import write_text
from svc_notebook.errors import BadInput
from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside
from tests.core.api.representative import VALUES
from tests.looping import loop_over

PATH = "/1/indexes/films"
# A browse hands out a record at least.
BROWSES = ("browse", "get browse")
OF_A_SEARCH = sorted(name for name, one in PARAMETERS.items() if one.scope != "setting")
FILTERS = ["filters", "facetFilters", "numericFilters", "tagFilters"]
ROW = next(row for row in SearchApi.endpoints.values() if row.name == "search")

Ask = Callable[[Inside, str, Any], httpx.Response]


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    service = Service(tmp_path_factory.mktemp("embedded"))
    service.start()
    app = App(service)
    inside = Inside(app)
    place = {"lat": 48.5, "lng": 2.4}
    record = {"objectID": "1", "title": "Solaris", "brand": "a", "n": 1, "_geoloc": place}
    inside.fill("films", record, attributesForFaceting=["searchable(brand)"])
    yield inside
    app.close()
    service.stop()


def send(inside: Inside, path: str, body: Any, verb: str = "POST") -> httpx.Response:
    return inside.call(verb, path, body)


def with_rule(inside: Inside, name: str, value: Any) -> httpx.Response:
    rule = {
        "objectID": "r",
        "conditions": [{"pattern": "never typed", "anchoring": "is"}],
        "consequence": {"params": {name: value}},
    }
    return send(inside, f"{PATH}/rules/r", rule, "PUT")


def with_secured_key(inside: Inside, name: str, value: Any) -> httpx.Response:
    parent = inside.facts["searchKey"]
    text = f"{name}={quote(write_text(value), safe='')}"
    key = base64.b64encode((sign(parent, text) + text).encode()).decode()
    return inside.call("POST", f"{PATH}/query", {}, key=key)


def with_settings(inside: Inside, name: str, value: Any) -> httpx.Response:
    return send(inside, "/1/indexes/other/settings", {name: value}, "PUT")


AS_JSON: dict[str, Ask] = {
    "search": lambda inside, name, value: send(inside, f"{PATH}/query", {name: value}),
    "params": lambda inside, name, value: send(inside, f"{PATH}/query", {"params": {name: value}}),
    "browse": lambda inside, name, value: send(inside, f"{PATH}/browse", {name: value}),
    "many": lambda inside, name, value: send(
        inside, "/1/indexes/*/queries", {"requests": [{"indexName": "films", name: value}]}
    ),
    "facet": lambda inside, name, value: send(inside, f"{PATH}/facets/brand/query", {name: value}),
    "rule": with_rule,
}
AS_TEXT: dict[str, Ask] = {
    "get search": lambda inside, name, value: inside.call("GET", f"{PATH}?{text(name, value)}"),
    "get browse": lambda inside, name, value: inside.call(
        "GET", f"{PATH}/browse?{text(name, value)}"
    ),
    "params text": lambda inside, name, value: send(
        inside, f"{PATH}/query", {"params": text(name, value)}
    ),
    "secured key": with_secured_key,
}


def text(name: str, value: Any) -> str:
    return urlencode({name: write_text(value)})


def fits(name: str, value: Any) -> bool:
    """Whether a value is of the parameter's declared type, whatever it may mean."""
    try:
        ROW.encode("films", **{name: value})
    except BadInput:
        return False
    return True


@pytest.mark.slow
@loop_over("name", OF_A_SEARCH, sample=20)
def test_a_value_is_accepted_by_all_calls_or_by_none(inside: Inside, name: str) -> None:
    refused = next(value for value in VALUES if not fits(name, value))
    for value in [*(value for value in VALUES if fits(name, value)), refused]:
        # As text, 5 and "5" are the same: what is of no such type is not held against texts.
        places = AS_JSON | (AS_TEXT if value is not refused else {})
        if PARAMETERS[name].scope == "both":
            places = {**places, "settings": with_settings}
        if name == "query" and value == refused:
            del places["rule"]  # whose own `query` may be edits of the query's words
        if name == "attributeWeights" and value == {"a": 1}:
            del places["rule"]  # which is saved whatever is searched, and reported if it fails
        statuses = {
            place: ask(inside, name, value).status_code
            for place, ask in places.items()
            if not (name == "hitsPerPage" and value == 0 and place in BROWSES)
        }

        # A key that embeds what cannot be is refused itself.
        assert {status // 100 for status in statuses.values()} in ({2}, {4}), f"{value}: {statuses}"


@pytest.mark.parametrize("name", FILTERS)
def test_a_deletion_by_query_accepts_the_filters_of_a_search(inside: Inside, name: str) -> None:
    # What filters nothing would delete everything: refused, and api.md says so.
    for value in (one for one in VALUES if fits(name, one) and one not in ("", [])):
        place = {"aroundLatLng": "0,0", "aroundRadius": 1}  # where no record is

        searched = send(inside, f"{PATH}/query", {name: value, **place})
        deleted = send(inside, f"{PATH}/deleteByQuery", {name: value, **place})

        assert deleted.status_code == searched.status_code, (value, deleted.text)


@pytest.mark.parametrize(
    ("name", "value"),
    [("ignorePlurals", True), ("ignorePlurals", ["en"]), ("removeStopWords", True)],
)
def test_a_rule_sets_the_languages_of_a_search(inside: Inside, name: str, value: Any) -> None:
    index = f"cars-{name}-{type(value).__name__}"
    inside.fill(index, {"objectID": "1", "title": "red car"}, queryLanguages=["en"])
    rule = {
        "objectID": "r",
        "conditions": [{"context": "shop"}],
        "consequence": {"params": {name: value}},
    }
    query = "cars" if name == "ignorePlurals" else "the car"
    before = inside.ids(index, query, ruleContexts=["shop"], typoTolerance=False)

    inside.done("PUT", f"/1/indexes/{index}/rules/r", rule)

    assert before == []
    assert inside.ids(index, query, ruleContexts=["shop"], typoTolerance=False) == ["1"]

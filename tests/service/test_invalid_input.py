"""The response to any input is JSON with a message, and never a server error."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.service.handlers import HANDLERS
from tests.conftest import Running, examples
from tests.core.api import value_strategies

SERVED = [row for row in ENDPOINTS if row in HANDLERS]
NAMES = st.sampled_from(["films", "a/b", "😀", "%", "..", "*", "x" * 300, "settings", "\x00"])
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
HUGE = st.sampled_from([10**30, -(10**19), 1.5e308, "x" * 3000, [[[[[]]]]], {"a": {"b": {}}}])
WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT | HUGE,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@st.composite
def requests(draw: st.DrawFn) -> tuple[Endpoint, str, dict[str, str], bytes]:
    """A call that fits its declaration but for a part or two."""
    row = draw(st.sampled_from(SERVED))
    parts = {name: quote(draw(NAMES), safe="") for name, p in row.places.items() if p == "path"}
    names = [name for name, place in row.places.items() if place == "query"]
    query = draw(
        st.dictionaries(st.sampled_from(names) | TEXT if names else TEXT, TEXT, max_size=2)
    )
    return row, row.path.format_map(parts), query, _body(draw, row)


def _body(draw: st.DrawFn, row: Endpoint) -> bytes:
    whole = [name for name, place in row.places.items() if place == "body"]
    if whole:
        body = draw(value_strategies.of(row.types[whole[0]]) | WILD)
    else:
        few = st.lists(st.sampled_from(sorted(row.members or {"x": str})), max_size=3)
        body = {name: draw(_member(row, name)) for name in draw(few)}
    raw = json.dumps(body).encode(errors="replace")
    return draw(st.sampled_from([raw] * 8 + [raw[:-1], raw + b"\xff", b""]))


def _member(row: Endpoint, name: str) -> st.SearchStrategy[Any]:
    fitting = value_strategies.of(row.members.get(name, Any))
    return st.one_of(fitting, fitting, WILD)


@pytest.fixture(scope="module")
def client(service: Running) -> Iterator[httpx.Client]:
    with service.client() as client:
        yield client


@pytest.mark.slow
@settings(max_examples=examples(500), deadline=None, suppress_health_check=list(HealthCheck))
@given(call=requests())
def test_a_hostile_call_is_served_or_refused_with_a_message(
    client: httpx.Client, call: tuple[Endpoint, str, dict[str, str], bytes]
) -> None:
    row, path, query, body = call

    answer = client.request(row.verb, path, params=query, content=body)

    assert answer.status_code < 500, answer.text
    if answer.is_error:
        assert answer.json()["message"]
        assert answer.json()["status"] == answer.status_code


# Parameters with JSON inside a text, where an escape can be half of a surrogate pair.
IN_TEXT = ["facetFilters", "filters", "numericFilters", "optionalFilters", "tagFilters"]
LONE = [
    r'["\ud800"]',
    r'[["\ud800", "a:b"]]',
    r'["a:\ud800"]',
    r'["a:1 TO \ud800"]',
    r'[["\udfff"]]',
]


@pytest.mark.parametrize("value", LONE)
@pytest.mark.parametrize("name", [*IN_TEXT, "aroundLatLng", "insideBoundingBox", "optionalWords"])
def test_a_lone_surrogate_in_a_parameter_is_searched_for_or_refused(
    client: httpx.Client, name: str, value: str
) -> None:
    publish(client, client.put("/1/indexes/surrogates/1", json={"name": "a lamp"}))

    for path in ("/1/indexes/surrogates", "/1/indexes/surrogates/browse"):
        answer = client.get(path, params={name: value})

        assert answer.status_code in (200, 400), answer.text
        assert answer.is_success or answer.json()["message"]


def publish(client: httpx.Client, answer: httpx.Response) -> None:
    """Wait until a write is published."""
    task = answer.json()["taskID"]
    while client.get(f"/1/task/{task}").json()["status"] != "published":
        pass


def test_the_service_still_works_after_all_that(client: httpx.Client) -> None:
    publish(client, client.post("/1/indexes/after", json={"objectID": "1"}))

    assert client.get("/1/indexes/after/1").json() == {"objectID": "1"}

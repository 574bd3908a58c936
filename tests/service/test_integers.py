"""Every integer of a request has bounds, in whatever way it arrives, and costs no search worker."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
import types
import typing
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Union
from urllib.parse import quote, urlencode

import httpx
import psutil  # type: ignore[import-untyped]  # it has no types of its own
import pytest
from msgspec import Meta

from svc_notebook.core.api import ENDPOINTS
from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.secured_keys import sign
from svc_notebook.core.api.validation import hints
from svc_notebook.core.api.values import MAX_INTEGER
from svc_notebook.service.crawl.configuration import ConfigurationShape
from svc_notebook.service.workers.pool import SUPPORTED
from tests.conftest import ROOT, Running, stop_service
from tests.looping import loop_over

EXTREMES = (
MAX_INTEGER, -MAX_INTEGER - 1, 2**62, 2**63, 10**20, 10**400,)  # fmt: skip
Call = tuple[str, str, Any]
SEARCH = "POST", "/1/indexes/p/query", {"clickAnalytics": True}
FREE = ("semanticSearch", "renderingContent")
"""Parameters with values of any type."""


def list_integers(kind: Any, at: str, marks: tuple[Any, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield each integer inside a type, with its bounds."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        yield from list_integers(args[0], at, args[1:])
    elif origin in (Union, types.UnionType, list, dict, typing.Required, typing.NotRequired):
        for inner in args:
            yield from list_integers(inner, at, marks)
    elif typing.is_typeddict(kind):
        for name, inner in hints(kind).items():
            yield from list_integers(inner, f"{at}.{name}")
    elif kind is int:
        yield at, [mark for mark in marks if isinstance(mark, Meta)]


@loop_over("endpoint", ENDPOINTS)
def test_every_declared_integer_has_two_bounds(endpoint: Any) -> None:
    kinds = {**endpoint.types, **endpoint.members}
    kinds.pop("return", None)
    kinds.pop("params", None)
    integers = [pair for name, kind in kinds.items() for pair in list_integers(kind, name)]

    unbounded = [
        at
        for at, marks in integers
        if not any(m.ge is not None for m in marks) or not any(m.le is not None for m in marks)
    ]

    assert unbounded == []


def test_every_integer_of_a_crawler_configuration_has_two_bounds() -> None:
    integers = dict(list_integers(ConfigurationShape, ""))

    assert integers
    assert all(mark.ge is not None and mark.le is not None for [mark] in integers.values())


class Shop(NamedTuple):
    """A service with warm search workers, and the file of its output."""

    running: Running
    process: subprocess.Popen[str]
    output: Path
    threads: ThreadPoolExecutor
    clients: dict[str, httpx.Client]

    def workers(self) -> list[int]:
        """Return the ids of the worker processes."""
        return sorted(child.pid for child in psutil.Process(self.process.pid).children())

    def statuses(self, calls: list[Call], key: str | None = None) -> list[int]:
        """Send calls, several at one time, and return the statuses of the responses."""
        client = self._client(key or self.running.searchKey)
        return [answer.status_code for answer in self.threads.map(partial(send, client), calls)]

    def _client(self, key: str) -> httpx.Client:
        if key not in self.clients:
            self.clients[key] = self.running.client(key)
        return self.clients[key]


def send(client: httpx.Client, call: Call) -> httpx.Response:
    verb, path, body = call
    return client.request(verb, path, content=None if body is None else write_json(body))


def write_json(body: Any) -> bytes:
    sys.set_int_max_str_digits(0)
    return json.dumps(body).encode()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    if not SUPPORTED:
        pytest.skip("the system has no workers")
    folder = tmp_path_factory.mktemp("integers")
    output = folder / "stderr"
    command = [sys.executable, "-m", "svc_notebook.service", "--json", "--workers", "2"]
    with output.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, "--data", str(folder / "data")],
            stdout=subprocess.PIPE, stderr=stderr, text=True, cwd=ROOT,
        )  # fmt: skip
        assert process.stdout
        running = Running(**json.loads(process.stdout.readline()))
        with ThreadPoolExecutor(6) as threads:
            shop = Shop(running, process, output, threads, {})
            fill(shop)
            yield shop
        for client in shop.clients.values():
            client.close()
        stop_service(process)


def fill(shop: Shop) -> None:
    """Fill an index, and search until both workers run."""
    with shop.running.client() as client:
        settings = {
            "attributesForFaceting": ["searchable(brand)"],
            "attributeForDistinct": "brand",
            "attributesToSnippet": ["title:5"],
        }
        client.put("/1/indexes/p/settings", json=settings)
        records = [
            {"objectID": str(n), "title": f"lamp {n}", "brand": f"b{n % 7}", "n": n,
             "_geoloc": {"lat": n, "lng": n}}
            for n in range(50)
        ]  # fmt: skip
        requests = [{"action": "addObject", "body": record} for record in records]
        task = client.post("/1/indexes/p/batch", json={"requests": requests}).json()["taskID"]
        while client.get(f"/1/indexes/p/task/{task}").json()["status"] != "published":
            time.sleep(0.02)
    end = time.monotonic() + 60
    while len(shop.workers()) < 2 or not all(map(is_ready, shop.workers())):
        assert time.monotonic() < end, "the workers did not start"
        shop.statuses([("POST", "/1/indexes/p/query", {"query": "lamp"})] * 12)


def is_ready(pid: int) -> bool:
    """Return whether a process has used the processor for a while: its modules are imported."""
    return float(sum(psutil.Process(pid).cpu_times()[:2])) > 0.4


def integer_parameters() -> dict[str, Any]:
    """Return the search parameters that accept integers, each with a function of a value."""
    kinds = hints(SearchParams)
    plain = [name for name, kind in kinds.items() if any(list_integers(kind, name))]
    bodies: dict[str, Any] = {name: (lambda value, n=name: {n: value}) for name in plain}
    bodies |= {f"free {n}": (lambda value, n=n: {n: {"limit": value}}) for n in FREE}
    bodies |= {
        "page of a click": lambda value: {"page": value, "clickAnalytics": True},
        "offset and length": lambda value: {
            "offset": value, "length": 1000, "clickAnalytics": True},
        "page of many": lambda value: {"page": value, "hitsPerPage": 1000, "getRankingInfo": True},
        "precision": lambda value: {
            "aroundLatLng": "1,1", "aroundPrecision": [{"from": value, "value": value}],
            "getRankingInfo": True},
        "precision of all": lambda value: {
            "aroundLatLng": "1,1", "aroundPrecision": value, "getRankingInfo": True},
        "radius": lambda value: {"aroundLatLng": "1,1", "aroundRadius": value},
        "least radius": lambda value: {"aroundLatLng": "1,1", "minimumAroundRadius": value},
        "filter": lambda value: {"filters": f"n > {value} OR n = {value}"},
        "range": lambda value: {"filters": f"n:{value} TO {value}"},
        "comparison": lambda value: {"numericFilters": [f"n>{value}", [f"n={value}"]]},
        "numbers as filters": lambda value: {"facetFilters": [value], "numericFilters": [value]},
        "score": lambda value: {"optionalFilters": [f"brand:b1<score={value}>"]},
        "snippet": lambda value: {"attributesToSnippet": [f"title:{value}"], "query": "lamp"},
        "box": lambda value: {"insideBoundingBox": [[value, value, -1, 1]]},
        "polygon": lambda value: {"insidePolygon": f"0,0,0,{value},{value},0"},
        "place": lambda value: {"aroundLatLng": f"{value},{value}"},
    }  # fmt: skip
    return bodies


PARAMETERS = integer_parameters()


def list_ways(shop: Shop, body: Mapping[str, Any]) -> Iterator[Call]:
    """Yield the calls by which parameters can reach a search."""
    texts = {n: v if isinstance(v, str) else write_json(v).decode() for n, v in body.items()}
    text = urlencode(texts)
    yield "POST", "/1/indexes/p/query", body
    yield "POST", "/1/indexes/p/query", {"params": text}
    yield "POST", "/1/indexes/p/query", {"params": body}
    yield "GET", f"/1/indexes/p?{text}", None
    yield "POST", "/1/indexes/*/queries", {"requests": [{"indexName": "p", **body}] * 2}
    yield "POST", "/1/indexes/*/queries", {"requests": [{"indexName": "p", "params": text}]}
    facet = {"indexName": "p", "type": "facet", "facet": "brand", **body}
    yield "POST", "/1/indexes/*/queries", {"requests": [facet]}
    yield "POST", "/1/indexes/p/facets/brand/query", body
    yield "POST", "/1/indexes/p/facets/brand/query", {"params": text}


@pytest.mark.sampled(quick=8)
@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", PARAMETERS)
def test_no_integer_of_a_search_costs_a_worker(shop: Shop, name: str) -> None:
    before = shop.workers()
    calls = [call for value in EXTREMES for call in list_ways(shop, PARAMETERS[name](value))]

    statuses = shop.statuses(calls)

    assert set(statuses) <= {200, 400, 414}
    assert shop.workers() == before
    assert shop.output.read_text() == ""


def test_the_page_of_a_search_with_clicks_is_refused_or_empty(shop: Shop) -> None:
    with shop.running.client(shop.running.searchKey) as client:
        refused = client.post(
            "/1/indexes/p/query",
            json={"query": "x", "page": 4611686018427387904, "clickAnalytics": True},
        )
        last = client.post("/1/indexes/p/query", json={"page": MAX_INTEGER, "clickAnalytics": True})

    assert refused.status_code == 400
    assert refused.json()["message"] == f"`page` must be a whole number, at most {MAX_INTEGER}"
    assert (last.json()["hits"], last.json()["page"]) == ([], MAX_INTEGER)


@pytest.mark.sampled(quick=2)
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    "text",
    ["page={}", "hitsPerPage={}", "validUntil={}", "offset={}&length=1", "aroundRadius={}",
     "filters=n>{}", "maxFacetHits={}", "minProximity={}", "distinct={}"],
)  # fmt: skip
def test_no_integer_of_a_secured_key_costs_a_worker(shop: Shop, text: str) -> None:
    before = shop.workers()
    for value in EXTREMES:
        embedded = text.format(quote(str(value)))
        signature = sign(shop.running.searchKey, embedded)
        key = base64.b64encode((signature + embedded).encode()).decode()
        calls = [SEARCH] * 4

        assert set(shop.statuses(calls, key)) <= {200, 400, 403}

    assert shop.workers() == before
    assert shop.output.read_text() == ""


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_no_integer_of_rules_settings_and_browses_is_a_fault(shop: Shop) -> None:
    before = shop.workers()
    rule = {"objectID": "r", "conditions": []}
    statuses = []
    for value in EXTREMES:
        consequences = [
            {"promote": [{"objectID": "1", "position": value}]},
            {"params": {"page": value}},
            {"params": {"aroundPrecision": [{"from": value, "value": value}]}},
            {"params": {"automaticFacetFilters": [{"facet": "brand", "score": value}]}},
            {"params": {"renderingContent": {"x": value}}},
            {"userData": {"x": value}},
        ]  # fmt: skip
        calls: list[Call] = [
            ("PUT", "/1/indexes/p/rules/r", {**rule, "consequence": consequence})
            for consequence in consequences
        ]
        validity = {"from": value, "until": value}
        hide = {"hide": [{"objectID": "1"}]}
        calls += [
            ("PUT", "/1/indexes/p/rules/r", {**rule, "consequence": hide, "validity": [validity]}),
            ("PUT", "/1/indexes/p/settings", {"userData": {"x": value}}),
            ("PUT", "/1/indexes/p/settings", {"minWordSizefor1Typo": value}),
            ("POST", "/1/indexes/p/browse", {"page": value, "hitsPerPage": 1000}),
            ("GET", f"/1/indexes/p/browse?page={value}", None),
            ("GET", f"/1/logs?offset={value}&length={value}", None),
            ("GET", f"/1/indexes/p/task/{value}", None),
            ("GET", f"/1/keys?page={value}", None),
            ("POST", "/1/keys", {"acl": ["search"], "validity": value}),
            ("POST", "/1/keys", {"acl": ["search"], "maxHitsPerQuery": value}),
            ("POST", "/1/keys", {"acl": ["search"], "maxQueriesPerIPPerHour": value}),
            ("POST", "/1/indexes/p/rules/search", {"page": value}),
            ("POST", "/1/indexes/p/synonyms/search", {"page": value}),
            ("POST", "/1/clusters/mapping/search", {"query": "", "page": value}),
            ("GET", f"/local/1/events?after={value}&since={value}", None),
            ("GET", f"/local/1/searches?after={value}&until={value}", None),
        ]  # fmt: skip
        for call in calls:
            statuses += shop.statuses([call], shop.running.adminKey)
            statuses += shop.statuses(
                [("POST", "/1/indexes/p/query", {"clickAnalytics": True})] * 2
            )

    assert max(statuses) < 500
    assert shop.workers() == before
    assert shop.output.read_text() == ""

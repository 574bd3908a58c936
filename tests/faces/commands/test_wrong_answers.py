"""Whatever a service returns, a function returns or raises an error of this package."""

from __future__ import annotations

import asyncio
import copy
import itertools
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from svc_notebook.core.api import ENDPOINTS, Endpoint, RequestSpec
from svc_notebook.core.api.shapes import Event, SearchImpression
from svc_notebook.core.api.shapes.crawlers import CrawledUrl
from svc_notebook.data.client import AsyncClient, ClientConfig, Secret
from svc_notebook.errors import SvcError
from svc_notebook.faces.functions import aio
from tests.faces.commands.samples import sample_of
from tests.faces.commands.test_endpoint_coverage import (
    CALLS,
    CASES,
    ENTRY,
    ON_SOMETHING,
    ROW,
    RULE,
    SYNONYM,
    WRITTEN,
)
from tests.looping import loop_over

# No key here is ever seen to change.
pytestmark = [
    pytest.mark.filterwarnings("ignore:the service accepted the call"),
    pytest.mark.filterwarnings("ignore::svc_notebook.errors.UnknownAttributeWarning"),
    pytest.mark.filterwarnings("ignore:.* of .* ids .* not in:UserWarning"),
]
ROWS = {row.name: row for row in ENDPOINTS}
HIT = {
    "objectID": "1", "name": "lamp", "size": {"width": 3},
    "_highlightResult": {"name": {"value": "lamp", "matchLevel": "none", "matchedWords": []}},
    "_rankingInfo": {"nbTypos": 0, "words": 1, "geoDistance": 0, "userScore": 1},
}  # fmt: skip
SEARCHED = {
    "hits": [HIT, {"objectID": "2"}], "nbHits": 2, "page": 0, "nbPages": 1, "hitsPerPage": 20,
    "processingTimeMS": 1, "query": "", "params": "", "facets": {"brand": {"Cobb": 2}},
    "facets_stats": {"price": {"min": 1, "max": 2, "avg": 1.5, "sum": 3}}, "queryID": "a" * 32,
}  # fmt: skip


PINNING = {
    "objectID": "2",
    "conditions": [{"pattern": "lamp", "anchoring": "is"}],
    "consequence": {
        "promote": [{"objectID": "1", "position": 0}],
        "hide": [{"objectID": "2"}],
    },
}
# Where a sample of the declared shape would not lead a function to its end.
SAMPLES: dict[str, Any] = {
    "search": SEARCHED,
    "get_search": SEARCHED,
    "browse": SEARCHED,
    "search_many": {"results": [SEARCHED]},
    "get_objects": {"results": [HIT]},
    "get_settings": {"hitsPerPage": 7, "searchableAttributes": ["name"]},
    "get_rule": RULE,
    "search_rules": {"hits": [RULE, PINNING], "nbHits": 2, "page": 0, "nbPages": 1},
    "list_crawled_urls": {"urls": [sample_of(CrawledUrl)]},
    "get_synonym": SYNONYM,
    "search_synonyms": {"hits": [SYNONYM], "nbHits": 1},
    "search_dictionary": {"hits": [ENTRY], "nbHits": 1, "page": 0, "nbPages": 1},
    "list_languages": {"en": {"stopwords": {"nbCustomEntries": 1}}},
    "get_task": {"status": "published", "pendingTask": False},
    "get_app_task": {"status": "published"},
    "batch": {"taskID": 1, "objectIDs": ["1"]},
    "get_crawler_task": {"pending": False},
    "get_click_positions": {"positions": [{"position": [1, 1], "clickCount": 1}]},
    "list_sources": [{"source": "192.0.2.0/24", "description": ""}],
    "list_events": {"events": [sample_of(Event)]},
    "list_searches": {"searches": [sample_of(SearchImpression)]},
    "list_crawlers": {"items": [{"id": "c", "name": "c"}], "total": 1},
    "get_crawler": {"name": "c", "blockingTaskId": "t", "config": {"rateLimit": 1}},
}
# A function that polls may go on polling where it is not told the end.
POLLS = ("get_task", "get_app_task", "get_crawler_task", "get_key", "get_index_key")
# As many records as a search has here, which is how those of a new index are counted.
REPLACING: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "replace_records": [(("x", pd.concat([ROW, ROW.assign(objectID="2")])), {})],
}
MORE_CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "search": [
        (("x",), {"highlight": True, "criteria": True, "columns": ["name", "size.width"]}),
        (("x",), {"flatten": True, "dtype_backend": "pyarrow"}),
    ],
    "search_many": [(("x", ["lamp"]), {"highlight": True, "criteria": True})],
    "read_browse": [(("x",), {"flatten": True}), (("x",), {"columns": ["name"]})],
    "read_keys": [((), {"reveal": True})],
    "read_facets": [(("x",), {"facets": ["brand"]})],
}
# What takes the place of a value; of lists and objects, empty ones and full ones.
WRONG: list[Any] = [None, [None], {"a": None}, "x", 10**18, 1.5, True, []]


def answer_of(row: Endpoint) -> Any:
    return copy.deepcopy(SAMPLES.get(row.name) or sample_of(row.types.get("return")))


def mutations(value: Any, depth: int = 5) -> Iterator[Callable[[Any], Any]]:
    """Yield functions that spoil a copy of a value in one place."""
    for wrong in WRONG:
        if type(wrong) is not type(value) or wrong != value:
            yield partial(_instead, wrong=wrong)
    if depth == 0 or not isinstance(value, (dict, list)):
        return
    places = list(value) if isinstance(value, dict) else list(range(min(len(value), 1)))
    for place in places:
        yield partial(_without, place=place)
        for spoil in mutations(value[place], depth - 1):
            yield partial(_with, place=place, spoil=spoil)


def _instead(_: Any, wrong: Any) -> Any:
    return copy.deepcopy(wrong)


def _without(whole: Any, place: Any) -> Any:
    spoilt = copy.copy(whole)
    del spoilt[place]
    return spoilt


def _with(whole: Any, place: Any, spoil: Callable[[Any], Any]) -> Any:
    spoilt = copy.copy(whole)
    spoilt[place] = spoil(whole[place])
    return spoilt


class Liar:
    """Answers as declared, but for one endpoint."""

    def __init__(self, name: str = "", lie: Any = None) -> None:
        self.name, self.lie = name, lie
        self.options: Any = None

    async def send(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        if endpoint.name == self.name:
            return copy.deepcopy(self.lie)
        if endpoint.name == "list_users" and parcel.query["page"] != "0":
            return {"userIDs": []}
        if endpoint.name == "search_many":
            return {"results": [copy.deepcopy(SEARCHED) for _ in parcel.body["requests"]]}
        return answer_of(endpoint)


def client_of(sender: Any) -> AsyncClient:
    connection = ClientConfig(app_id="X", url="http://127.0.0.1:9", api_key=Secret("k"))
    return AsyncClient(connection, sender)


def calls_of(function: str, folder: Path) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    if function == "export":
        return [(("x", folder / "out.ndjson"), {"include": ["settings", "synonyms", "rules"]})]
    if function in WRITTEN:
        return [(("stopwords", folder / "out.json"), {})]
    return (CALLS | REPLACING).get(function, [ON_SOMETHING]) + MORE_CALLS.get(function, [])


async def outcome_of(function: str, call: Any, row: str, lie: Any) -> str:
    """Call a function of a service that lies; returns what is wrong with how it ended."""
    # A busy machine needs longer than what never ends in the tests of polls.
    for seconds in (1, 20):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a wrong answer may be reason to warn
                await run(function, call, client_of(Liar(row, lie)), seconds)
        except SvcError as error:
            return "" if str(error) else "an error without a message"
        except TimeoutError:
            if row in POLLS:
                return ""
        except Exception as error:
            return f"{type(error).__name__}: {error}: {lie}"
        else:
            return ""
    return f"never ends: {lie}"


async def run(function: str, call: Any, client: AsyncClient, seconds: float = 20) -> None:
    if function == "read_writes":
        client.written.note(
            ROWS["clear_objects"], RequestSpec("POST", "/1/indexes/x/clear", {}), {"taskID": 1}
        )
    args, more = call
    async with asyncio.timeout(seconds):
        found = await getattr(aio, function)(*args, client=client, **more)
        if hasattr(found, "__aiter__"):
            async for _ in found:
                pass


@pytest.mark.sampled(15, quick=4)
@pytest.mark.parametrize(("row", "function"), CASES)
def test_no_answer_makes_a_function_fail_with_anything_but_our_errors(
    row: str, function: str, tmp_path: Path, without_key_checks: None
) -> None:
    truth = answer_of(ROWS[row])
    lies = [lie for spoil in mutations(truth) if isinstance(lie := spoil(truth), (dict, list))]

    async def tell_all() -> list[str]:
        calls = itertools.product(calls_of(function, tmp_path), lies)
        return [await outcome_of(function, call, row, lie) for call, lie in calls]

    assert not [*filter(None, asyncio.run(tell_all()))]


@pytest.mark.sampled(30)
@pytest.mark.parametrize("function", sorted({name for _, name in CASES}))
def test_as_declared_no_function_fails(
    function: str, tmp_path: Path, without_key_checks: None
) -> None:
    """Or the other test would show nothing."""
    for call in calls_of(function, tmp_path):
        asyncio.run(run(function, call, client_of(Liar())))


@loop_over("row", [row for row in ENDPOINTS if row.types.get("return") not in (None, type(None))])
def test_an_answer_of_another_kind_names_its_endpoint(row: Endpoint) -> None:
    other: Any = {"a": 1} if isinstance(answer_of(row), list) else [1]

    with pytest.raises(SvcError, match=f"^{row.name}: the response must be an? ") as caught:
        asyncio.run(client_of(Liar(row.name, other)).perform(row, RequestSpec(row.verb, "/", {})))

    assert caught.value.endpoint == row.name  # type: ignore[attr-defined]

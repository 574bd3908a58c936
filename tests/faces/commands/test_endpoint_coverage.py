"""Every endpoint is called by the functions and verbs that the table names."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from generators.endpoint_coverage import (
    accessors_of,
    declared_for,
    functions_of,
    instead_of,
    verbs_of,
)

import svc_notebook as svc
from svc_notebook.core.api import ENDPOINTS, Endpoint, RequestSpec
from svc_notebook.core.api.shapes.ab_tests import ABTest, VariantFigures
from svc_notebook.data.client import AsyncClient, ClientConfig, Secret
from svc_notebook.errors import NotFound
from svc_notebook.faces.accessors import FrameAccessor, SeriesAccessor
from svc_notebook.faces.commands.registry import VERBS
from svc_notebook.faces.functions import aio
from tests.faces.commands.samples import sample_of
from tests.looping import loop_over

# No key here is ever seen to change.
pytestmark = pytest.mark.filterwarnings("ignore:the service accepted the call")
ROW = pd.DataFrame({"objectID": ["1"], "name": ["lamp"]})
SYNONYM = {"objectID": "1", "type": "synonym", "synonyms": ["a", "b"]}
RULE = {"objectID": "1", "consequence": {"filterPromotes": True}}
ENTRY = {"objectID": "1", "language": "en", "word": "down"}
EVENT = {
    "eventType": "view", "eventName": "Viewed", "index": "x", "userToken": "u", "objectIDs": ["1"],
}  # fmt: skip
USER = {"userID": "u", "clusterName": "c", "nbRecords": 0, "dataSize": 0}
KEY = {"value": "k", "createdAt": 1, "acl": ["search"]}
# What any endpoint could answer, at once.
ANSWER: dict[str, Any] = {
    "hits": [{"objectID": "1"}], "nbHits": 1, "page": 0, "hitsPerPage": 20, "processingTimeMS": 1,
    "query": "", "params": "", "facetHits": [], "results": [{"objectID": "1"}], "items": [],
    "total": 0, "taskID": 1, "status": "published", "pendingTask": False, "objectIDs": ["1"],
    "updatedAt": "", "createdAt": "", "deletedAt": "", "keys": [KEY], "key": "k", **KEY,
    "disableStandardEntries": {"stopwords": {}}, "clusters": [], "topUsers": [], "userIDs": [],
    "pending": False, "logs": [], "events": [], "searches": [],
    "id": "c", "taskId": "t", "count": 0, "data": [], **USER,
    "ranking": ["custom"], "objectID": "1",
}  # fmt: skip
# Endpoints whose answers are made from their declared types.
DECLARED_PATHS = ("/2/", "/1/configs", "/1/logs/{index}")
CURATED = {
    "objectID": "1", "conditions": [{"pattern": "lamp", "anchoring": "is"}],
    "consequence": {"promote": [{"objectID": "1", "position": 0}], "hide": [{"objectID": "2"}]},
}  # fmt: skip
ANSWERS: dict[str, Any] = {
    "search_rules": {"hits": [CURATED], "nbHits": 1, "page": 0, "nbPages": 1},
    "search_many": {"results": [{"hits": [], "nbHits": 0}]},
    "list_indices": {
        "items": [{"name": "x", "entries": 1, "dataSize": 1, "updatedAt": "2026-01-01T00:00:00Z"}],
        "nbPages": 1,
    },
    "list_sources": [{"source": "192.0.2.0/24"}],
    "list_languages": {"en": {"stopwords": {"nbCustomEntries": 1}}},
    "get_settings": {"hitsPerPage": 7},
    "get_crawler": {"name": "c", "blockingTaskId": "t"},
    "list_crawlers": {"items": [{"id": "c", "name": "c"}], "total": 1},
    "search_dictionary": {"hits": [ENTRY], "nbHits": 1},
    **{name: {"key": "k", "createdAt": ""} for name in ("add_key", "add_index_key", "restore_key")},
    **{name: {"createdAt": ""} for name in ("assign_user", "assign_users", "append_source")},
    "pending_mappings": {"pending": False},
    "get_click_positions": {"positions": []},
    "get_ab_test": {
        **sample_of(ABTest),
        "createdAt": "2026-01-01T00:00:00Z",
        "endAt": "2026-01-08T00:00:00Z",
        "variants": [sample_of(VariantFigures)] * 2,
    },
    "push_events": {"status": 200, "message": "OK"},
    "delete_user_token": {"status": 200, "message": "OK"},
}


class Recorder:
    """Answers everything, and keeps what was called."""

    def __init__(self) -> None:
        self.called: list[str] = []

    async def send(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        self.called.append(endpoint.name)
        if endpoint.name == "update_suggestions_config" and "new" in parcel.path:
            raise NotFound("no such configuration", status=404)
        answer: Any = ANSWERS.get(endpoint.name, ANSWER)
        if endpoint.name not in ANSWERS and endpoint.path.startswith(DECLARED_PATHS):
            return sample_of(endpoint.types["return"])
        if endpoint.name == "search_many":
            return {**answer, "results": answer["results"] * len(parcel.body["requests"])}
        return list(answer) if isinstance(answer, list) else dict(answer)


# What to give each function, so that it comes to calling.
CALLS: dict[str, list[tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "search_many": [(("x", ["lamp"]), {})],
    "count_values": [(("x", "brand", ["a"]), {})],
    "diff_records": [((ROW, "x"), {}), ((ROW, "x"), {"missing": "report"})],
    "read_facet_values": [(("x", "name"), {})],
    "delete_records": [(("x", ["1"]), {}), (("x",), {"filters": "a:b"})],
    "push": [((ROW, "x"), {"replace_records": True})],
    "load": [((ROW, "x"), {"replace_records": True})],
    "replace_records": [(("x", ROW), {})],
    "read_records": [(("x", ["1"]), {})],
    "settings": [(("x",), {}), (("x",), {"hitsPerPage": 3})],
    "set_settings": [(("x",), {"hitsPerPage": 3})],
    "copy_index": [(("x", "y"), {})],
    "move_index": [(("x", "y"), {})],
    "get_synonym": [(("x", "1"), {})],
    "save_synonyms": [(("x", SYNONYM), {})],
    "replace_synonyms": [(("x", SYNONYM), {})],
    "delete_synonyms": [(("x", ["1"]), {})],
    "get_rule": [(("x", "1"), {})],
    "save_rules": [(("x", RULE), {})],
    "replace_rules": [(("x", RULE), {})],
    "delete_rules": [(("x", ["1"]), {})],
    "pin": [(("x", "lamp", "3"), {})],
    "hide": [(("x", "lamp", "3"), {})],
    "unpin": [(("x", "lamp", "1"), {})],
    "unhide": [(("x", "lamp", "2"), {})],
    "save_entries": [(("stopwords", ENTRY), {})],
    "replace_entries": [(("stopwords", ENTRY), {})],
    "delete_entries": [(("stopwords", ["1"]), {})],
    "clear_entries": [(("stopwords",), {})],
    "read_dictionary": [(("stopwords",), {})],
    "dictionary_settings": [(("stopwords",), {"off": ["fr"]})],
    "add_key": [((), {"acl": ["search"]}), ((), {"index": "x", "acl": ["search"]})],
    "update_key": [((Secret("k"),), {"acl": []}), ((Secret("k"),), {"index": "x", "acl": []})],
    "get_key": [((Secret("k"),), {}), ((Secret("k"),), {"index": "x"})],
    "delete_key": [((Secret("k"),), {}), ((Secret("k"),), {"index": "x"})],
    "restore_key": [((Secret("k"),), {})],
    "read_keys": [((), {}), (("x",), {}), (("*",), {})],
    "read_users": [((), {}), (("ann",), {})],
    "assign_users": [(("ann", "c"), {}), ((["ann", "ben"], "c"), {})],
    "move_user": [(("ann", "c"), {})],
    "add_source": [(("192.0.2.0/24",), {})],
    "replace_sources": [(([{"source": "192.0.2.0/24"}],), {})],
    "delete_source": [(("192.0.2.0/24",), {})],
    "read_tasks": [((1,), {"index": "x"}), ((1,), {})],
    "wait": [((1,), {"index": "x"}), ((1,), {})],
    "create_crawler": [(("new", {}), {})],
    "delete_crawler": [(("c",), {})],
    "configure_crawler": [(("c", {"rateLimit": 1}), {}), (("c", {}), {"whole": True})],
    "rename_crawler": [(("c", "d"), {})],
    **{
        name: [(("c",), {})]
        for name in (
            "get_crawler",
            "export_crawler",
            "run_crawler",
            "pause_crawler",
            "reindex_crawler",
            "read_crawled_urls",
            "read_crawler_urls",
            "cancel_crawler_task",
        )
    },
    "crawl_urls": [(("c", ["https://a"]), {})],
    "try_url": [(("c", "https://a"), {})],
    "crawler_task": [(("c", "t"), {})],
    "send_events": [((EVENT,), {})],
    "delete_user_events": [(("u",), {})],
    "save_suggestions_config": [(("suggested", "x"), {}), (("new", "x"), {})],
    "read_suggestions_configs": [((), {})],
    "add_ab_test": [(("x", "y"), {}), (("x", {"page": 1}), {})],
    "read_ab_tests": [((), {})],
    **{name: [((1,), {})] for name in ("read_ab_test", "stop_ab_test", "delete_ab_test")},
    "read_top_filters": [(("x",), {}), (("x", ["brand"]), {})],
    "read_indices": [((), {})],
    "read_languages": [((), {})],
    "read_top_users": [((), {})],
    "read_clusters": [((), {})],
    "read_sources": [((), {})],
    "read_status": [((), {})],
    "overview": [((), {})],
    "read_logs": [((), {})],
    "read_crawlers": [((), {})],
    "read_domains": [((), {})],
    "whoami": [((), {})],
    "pending_users": [((), {})],
    "read_writes": [((), {"status": True})],
}
ON_SOMETHING: tuple[tuple[Any, ...], dict[str, Any]] = (("x",), {})
WRITTEN = ("export", "export_synonyms", "export_rules", "export_entries")
ACCESSORS = {name for row in ENDPOINTS for name in accessors_of(row.name)}
# Functions that take a result of other functions; the tests of `data` call them.
OF_RESULTS = {"refresh", "next_page", "browse_all", "undo_load"}
CASES = [
    (row.name, each.name)
    for row in ENDPOINTS
    for each in declared_for(row.name)
    if each.name not in {"", *OF_RESULTS}
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.* is not among attributesForFaceting")
@loop_over("row, function", CASES)
def test_a_function_calls_what_the_table_says(
    row: str, function: str, tmp_path: Path, without_key_checks: None
) -> None:
    sender = Recorder()
    connection = ClientConfig(app_id="X", url="http://127.0.0.1:9", api_key=Secret("k"))
    client = AsyncClient(connection, sender)  # type: ignore[arg-type]
    calls = CALLS.get(function, [ON_SOMETHING])
    if function in WRITTEN:
        calls = [(("stopwords", tmp_path / "out.json"), {})]
    if function == "export":
        calls = [(("x", tmp_path / "out.ndjson"), {})]

    async def run() -> None:
        if function == "read_writes":
            await client.clear_objects("x")
            await client.batch_dictionary("stopwords", [])
        for args, more in calls:
            await getattr(aio, function)(*args, client=client, **more)

    asyncio.run(run())

    assert row in sender.called


def test_every_endpoint_is_reached_from_a_notebook() -> None:
    known = {verb.name for verb in VERBS}
    for row in ENDPOINTS:
        assert all(hasattr(svc, name) for name in functions_of(row.name))
        assert verbs_of(row.name)
        assert set(verbs_of(row.name)) <= known


@pytest.mark.parametrize("path", sorted(ACCESSORS))
def test_an_accessor_of_the_table_is_there(path: str) -> None:
    owner = FrameAccessor if path.startswith("df.") else SeriesAccessor

    assert callable(getattr(owner, path.rpartition(".")[2]))


def test_what_only_call_reaches_has_a_function_to_the_same_effect() -> None:
    alone = [row.name for row in ENDPOINTS if functions_of(row.name) == ["call"]]

    assert len(alone) == 16
    assert all(instead_of(name).partition("(")[0] in svc.__dir__() for name in alone)

"""The overview of a service: every part, what a key may not read, and the page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.data.frames.columns import typed
from svc_notebook.data.frames.schemas import DEFAULTS, KEYS, LOGS
from svc_notebook.errors import Unreachable
from svc_notebook.faces.functions import overview as parts
from svc_notebook.faces.functions.overview import SIZES
from tests.conftest import start_service, stop_service

NOW = datetime(2026, 11, 26, 8, tzinfo=UTC)
SCHEMAS = {
    "indices": parts.INDICES, "errors": parts.ERRORS, "keys": parts.KEYS,
    "crawlers": parts.CRAWLERS, "zero_results": parts.ZERO_RESULTS, "events": parts.EVENTS,
    "key_use": parts.KEY_USE, "sizes": SIZES,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _own_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def logged(hours: float, status: int, url: str, index: str = "") -> dict[str, object]:
    at = (NOW - timedelta(hours=hours)).isoformat()
    return {"timestamp": at, "answer_code": status, "method": "GET", "url": url, "index": index}


def test_errors_of_the_last_day_are_counted_the_most_frequent_first() -> None:
    rows = [
        logged(1, 404, "/1/indexes/a/9", "a"), logged(2, 404, "/1/indexes/a/8", "a"),
        logged(3, 429, "/1/indexes/b/query", "b"), logged(25, 500, "/1/indexes/b/query", "b"),
    ]  # fmt: skip

    counted = parts.count_errors(typed(rows, LOGS, DEFAULTS), NOW)

    assert counted[["status", "index", "count", "url"]].to_numpy().tolist() == [
        [404, "a", 2, "/1/indexes/a/9"],
        [429, "b", 1, "/1/indexes/b/query"],
    ]


def test_keys_without_end_and_those_that_last_are_left_out() -> None:
    days = {"never": 0, "soon": 2, "first": 1, "later": 8}
    rows = [{"value": name, "validity": day * 86_400} for name, day in days.items()]

    expiring = parts.find_expiring(typed(rows, KEYS, DEFAULTS), NOW)

    assert expiring["key"].tolist() == ["first", "soon"]
    assert expiring["expires"].iloc[0] == pd.Timestamp(NOW) + pd.Timedelta(days=1)


@pytest.mark.slow
def test_an_overview_of_a_service_has_every_part(tmp_path: Path) -> None:
    process, running = start_service(tmp_path / "data")
    config = ClientConfig(
        running.appId, Secret(running.adminKey), url=running.url,
        crawler_user_id=running.crawlerUserId, crawler_api_key=Secret(running.crawlerApiKey),
    )  # fmt: skip
    with Client(config) as client:
        empty = svc.overview(client=client)
        svc.push([{"objectID": "1", "name": "lamp"}], "<b>shop</b>", client=client, progress=False)
        for number, query in enumerate(("toaster", "toaster", "pan", "lamp")):
            client.search("<b>shop</b>", query, userToken=f"user-{number}")
        key = client.add_key(acl=["listIndexes"], validity=3600)["key"]
        full = svc.overview(client=client)
        weak = Client(ClientConfig(running.appId, Secret(key), url=running.url))
        partly = svc.overview(client=weak)
        weak.close()
        reader_key = client.add_key(acl=["listIndexes", "logs"])["key"]
        with Client(ClientConfig(running.appId, Secret(reader_key), url=running.url)) as reader:
            from_log = svc.overview(client=reader)
        stop_service(process)
        with pytest.raises(Unreachable):
            svc.overview(client=client)

    wrong = [
        f"{name} of {overview.at}"
        for overview in (empty, full, partly)
        for name, schema in SCHEMAS.items()
        if {c: str(t) for c, t in getattr(overview, name).dtypes.items()}
        != {c: str(pd.Series([], dtype=t).dtype) for c, t in schema.items()}
    ]
    assert not wrong
    assert not empty.notes
    assert full.zero_results[["query", "count"]].to_numpy().tolist() == [["toaster", 2], ["pan", 1]]
    assert from_log.zero_results["query"].tolist() == ["toaster", "pan"]
    assert full.indices[["index", "entries"]].to_numpy().tolist() == [["<b>shop</b>", 1]]
    assert len(full.keys) == 1
    assert full.key_use["count"].sum() > 4
    counts = full.to_frame().set_index("part")["count"]
    assert counts[["indices", "records", "zero-result queries", "keys that expire"]].tolist() == [
        1, 1, 2, 1,
    ]  # fmt: skip
    page = full._repr_html_()
    assert "&lt;b&gt;shop" in page
    assert "<b>shop" not in page
    assert "toaster in <b>shop</b>, 2 searches" in repr(full)
    assert {note.partition(":")[0] for note in partly.notes} >= {"searches", "errors", "keys"}
    assert partly.indices["entries"].tolist() == [1]
    assert partly.sizes["entries"].tolist() == [1, 1]
    assert "polyline" in partly._repr_html_()
    assert key not in page
    assert running.adminKey not in page

"""Searches are counted once each, kept for a while, and deleted with their user's events."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.analytics.search_counts import (
    CountedSearch,
    Retention,
    SearchCounter,
    is_refinement,
)
from svc_notebook.service.service import DATABASE
from svc_notebook.service.store import Store
from tests.conftest import Inside, start_service
from tests.service.past import Clock, connect_old
from tests.service.service_process import Outside
from tests.service.worker_calls import with_workers

LAMPS = [{"objectID": str(number), "title": "desk lamp", "brand": "Lumo"} for number in range(30)]


@pytest.fixture
def shop(inside: Inside) -> Inside:
    inside.fill("films", *LAMPS, attributesForFaceting=["brand"])
    return inside


def search(inside: Inside, query: str, user: str = "anna", **params: Any) -> Any:
    body = {"query": query, "userToken": user, **params}
    answer = inside.call("POST", "/1/indexes/films/query", body)
    assert answer.is_success, answer.text
    return answer.json()


def click(inside: Inside, query_id: str, *objects: str) -> None:
    event = {
        "eventType": "click", "eventName": "Opened", "index": "films", "userToken": "anna",
        "queryID": query_id, "objectIDs": list(objects), "positions": [1] * len(objects),
    }  # fmt: skip
    answer = inside.call("POST", "/1/events", {"events": [event]})
    assert answer.is_success, answer.text


def counted(inside: Inside) -> list[str]:
    service = inside.app.service
    service.search_counts.flush()
    rows = service.store.read("SELECT query FROM counted WHERE superseded = 0 ORDER BY number")
    return [query for (query,) in rows]


def test_each_search_counts_with_its_facts(shop: Inside) -> None:
    params: Any = {
        "filters": "NOT brand:Lumo",
        "numericFilters": ["price>=3"],
        "clickAnalytics": True,
    }
    query_id = search(shop, "  Desk  LAMP ", analyticsTags=["b", "a"], **params)["queryID"]
    search(shop, "shelf", user="", analyticsTags=["country:de"])
    search(shop, "not counted", analytics=False)
    shop.app.service.search_counts.flush()

    [first, second] = shop.app.service.store.read(
        "SELECT index_name, query, hits, user, query_id, filters, tags, country FROM counted"
    )

    filters = '[["brand",":","-Lumo"],["price",">=","3"]]'
    assert first == ("films", "desk lamp", 0, "anna", query_id, filters, '["a","b"]', None)
    user = second[3]
    assert second == ("films", "shelf", 0, user, None, None, '["country:de"]', "DE")
    assert user.startswith("address-")
    assert "127" not in user


def test_only_the_last_keystroke_of_a_user_counts(shop: Inside, clock: Clock) -> None:
    for query in ("", "l", "la", "lapm", "lamp", "lamp"):
        search(shop, query)
        search(shop, query, user="bob", clickAnalytics=True)
        if query == "la":
            counted(shop)  # what is on disk is replaced, too
    clock.seconds += 31
    search(shop, "lamps")
    search(shop, "")

    assert sorted(counted(shop)) == ["", "lamp", "lamp", "lamps"]


def test_a_keystroke_whose_hits_were_clicked_counts(shop: Inside) -> None:
    early = search(shop, "la", clickAnalytics=True)["queryID"]
    click(shop, early, "1")
    late = search(shop, "lam", clickAnalytics=True)["queryID"]
    search(shop, "lamp")
    assert counted(shop) == ["la", "lamp"]

    click(shop, late, "1", "2")

    assert counted(shop) == ["la", "lam", "lamp"]


def test_what_continues_the_typing_of_a_query() -> None:
    continues = [("", "a"), ("lamp", "lam"), ("lamp", "lamp desk"), ("lapm", "lamp"),
                 ("lamo", "lamp"), ("lmp", "lamp"), ("lampp", "lamp")]  # fmt: skip
    starts = [("lamp", ""), ("lamp", "chair"), ("a", "b"), ("lamp", "damo"), ("lamp", "clamps")]

    assert [pair for pair in continues if not is_refinement(*pair)] == []
    assert [pair for pair in starts if is_refinement(*pair)] == []


def test_deletion_of_a_users_events_deletes_the_counted_searches(shop: Inside) -> None:
    search(shop, "lamp")
    search(shop, "shelf", user="bob")

    assert shop.call("DELETE", "/1/usertokens/anna").status_code == 204
    shop.app.service.events.delete_due()

    assert counted(shop) == ["shelf"]


def test_old_searches_and_those_beyond_the_maximum_are_deleted(shop: Inside, clock: Clock) -> None:
    store = shop.app.service.store
    shop.app.service.search_counts = counts = SearchCounter(store, Retention(days=2, searches=3))
    search(shop, "old lamp")
    counts.flush()
    clock.seconds += 2 * 24 * 3600 + 1
    for number in range(5):
        search(shop, "lamp", user=f"user-{number}", hitsPerPage=10 + number)
    counts.flush()
    counts._cleanup_after = counts._prune_after = 0
    counts.flush()

    assert store.read("SELECT user FROM counted") == [("user-2",), ("user-3",), ("user-4",)]
    assert store.read("SELECT count(*) FROM counted_objects") == [(14,)]


def test_shown_searches_without_events_are_thinned_after_an_hour(
    shop: Inside, clock: Clock
) -> None:
    impressions, counts = shop.app.service.impressions, shop.app.service.search_counts
    params: Any = {"clickAnalytics": True, "hitsPerPage": 30, "highlightPreTag": "<b>"}
    search(shop, "des", **params)
    ignored = search(shop, "desk", filters="brand:Lumo", **params)["queryID"]
    clicked = search(shop, "lamp", **params)["queryID"]
    click(shop, clicked, "1")
    counts.flush()
    impressions.flush()
    clock.seconds += 3601
    for part in (counts, impressions):
        part._cleanup_after = 0
        part.flush()

    listed = shop.call("GET", "/local/1/searches").json()["searches"]

    assert [(one["queryID"], len(one["objectIDs"])) for one in listed] == [
        (ignored, 20), (clicked, 30)
    ]  # fmt: skip
    assert listed[0]["params"] == "query=desk&filters=brand%3ALumo&hitsPerPage=30"
    assert "highlightPreTag" in listed[1]["params"]


@pytest.mark.slow
def test_searches_in_worker_processes_count(tmp_path: Path) -> None:
    with with_workers(tmp_path) as inside:
        inside.fill("films", *LAMPS)
        facts = {"clickAnalytics": True, "userToken": "anna", "analyticsTags": ["shop"]}
        inside.compare("POST", "/1/indexes/films/query", {"query": "lamp", **facts})
        several = [{"indexName": "films", "query": f"{n} lamp", **facts} for n in range(9)]
        inside.compare("POST", "/1/indexes/*/queries", {"requests": several})
        inside.app.service.search_counts.flush()

        rows = inside.app.service.store.read(
            "SELECT query, hits, user, tags, hex(objects), count(*) FROM counted "
            "GROUP BY query, hits, user, tags, objects ORDER BY query DESC"
        )

    assert [row[-1] for row in rows] == [2] * 10  # from the service, and from a worker
    assert rows[0][:4] == ("lamp", 30, "anna", '["shop"]')
    assert len(bytes.fromhex(rows[0][4])) == 20 * 4


@pytest.mark.slow
def test_a_kill_loses_at_most_the_searches_of_the_last_second(tmp_path: Path) -> None:
    process, running = start_service(tmp_path)
    outside = Outside(running)
    try:
        outside.done("POST", "/1/indexes/films", {"objectID": "1", "title": "lamp"})
        for number in range(20):
            search(outside, f"{number}{number} lamp")
        time.sleep(1)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdout
        process.stdout.close()
        outside.close()

    store = Store(tmp_path / DATABASE)
    assert store.read("SELECT count(*) FROM counted") == [(20,)]
    store.close()


def test_outcomes_of_events_stored_before_are_added(tmp_path: Path) -> None:
    body = (
        '{"eventType":"conversion","queryID":"q","objectIDs":["1","2"],"value":"8",'
        '"currency":"eur","eventSubtype":"purchase",'
        '"objectData":[{"price":"2.5","quantity":2},{"queryID":"other"}]}'
    )
    with connect_old(tmp_path / DATABASE, version=7) as connection:
        connection.execute(
            "INSERT INTO events (time, index_name, kind, token, body) VALUES (1, 'a', ?, 'b', ?)",
            ("conversion", body.encode()),
        )
    with connect_old(tmp_path / DATABASE, version=10) as connection:
        connection.execute(
            "INSERT INTO counted (time, index_name, query, hits, user, query_id) "
            "VALUES (1, 'a', '', 1, 'b', 'q')"
        )

    store = Store(tmp_path / DATABASE)

    assert store.read("SELECT query_id, kind, object, currency, revenue FROM outcomes") == [
        ("q", "purchase", "1", "EUR", 5.0),
        ("other", "purchase", "2", "EUR", 4.0),
    ]
    assert store.read("SELECT clicks, conversions, purchases FROM counted") == [(0, 1, 1)]
    store.close()


def test_sums_of_outcomes_follow_events(shop: Inside) -> None:
    """An event may be stored before its search is, and is deleted with its user."""
    service = shop.app.service
    early = search(shop, "lamp", clickAnalytics=True)["queryID"]
    click(shop, early, "1", "2")
    service.search_counts.flush()
    late = search(shop, "shelf", clickAnalytics=True, user="bob")["queryID"]
    service.search_counts.flush()
    click(shop, late, "3")
    click(shop, late, "4")
    sums = "SELECT query, clicks, positions, conversions FROM counted ORDER BY number"
    assert service.store.read(sums) == [("lamp", 2, 2, 0), ("shelf", 2, 2, 0)]

    with service.store.writing() as connection:
        connection.execute("DELETE FROM events WHERE CAST(body AS TEXT) LIKE '%\"3\"%'")

    assert service.store.read(sums) == [("lamp", 2, 2, 0), ("shelf", 1, 1, 0)]


def test_lone_surrogates_are_counted_as_question_marks(shop: Inside) -> None:
    """JSON inside of a parameter can contain them; such a text must not stop the others."""
    filters = {"facetFilters": ["brand:\ud800"]}
    odd = CountedSearch(
        int(time.time() * 1000),
        "films",
        "a\ud800",
        1,
        "u\ud800",
        "",
        None,
        filters,
        ["t\ud800"],
        [],
    )
    shop.app.service.search_counts.add(odd)
    search(shop, "after")

    assert counted(shop) == ["a?", "after"]
    [[stored, user, tags]] = shop.app.service.store.read(
        "SELECT filters, user, tags FROM counted ORDER BY number LIMIT 1"
    )
    assert (stored, user, tags) == ('[["brand",":","?"]]', "u?", '["t?"]')

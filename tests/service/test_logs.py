"""The logs tell the last thousand requests, without their secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.logs import KEPT, SECONDS, Logged, Logs
from svc_notebook.service.service import Service
from tests.conftest import Inside


def read(inside: Inside, query: str = "") -> list[dict[str, Any]]:
    return list(inside.call("GET", f"/1/logs{query}").json()["logs"])


def test_a_request_is_told_with_its_answer(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})
    answer = inside.call("POST", "/1/indexes/films/query", {"query": "x"})

    [entry] = read(inside, "?length=1")

    assert (entry["method"], entry["url"]) == ("POST", "/1/indexes/films/query")
    assert (entry["answer_code"], entry["ip"]) == ("200", "127.0.0.1")
    assert entry["query_body"] == '{"query":"x"}'
    assert entry["answer"] == answer.text
    assert (entry["index"], entry["query_nb_hits"]) == ("films", "0")
    assert entry["timestamp"].endswith("Z")
    assert entry["processing_time_ms"].isdigit()
    assert len(entry["sha1"]) == 40


def test_the_newest_come_first_and_reading_is_not_logged(inside: Inside) -> None:
    for number in range(15):
        inside.call("GET", f"/1/indexes/i{number}")

    assert [e["index"] for e in read(inside)] == [f"i{n}" for n in range(14, 4, -1)]
    assert [e["index"] for e in read(inside, "?offset=13&length=5")] == ["i1", "i0"]


@pytest.mark.parametrize(
    ("query", "urls"),
    [
        ("?type=query", ["/1/indexes/a/query", "/1/indexes/films/query"]),
        ("?type=build", ["/1/indexes/films"]),
        ("?type=error", ["/nowhere", "/1/indexes/a/query"]),
        ("?indexName=films", ["/1/indexes/films/query", "/1/indexes/films"]),
        ("?indexName=films&type=query", ["/1/indexes/films/query"]),
    ],
)
def test_logs_are_chosen_by_type_and_index(inside: Inside, query: str, urls: list[str]) -> None:
    inside.done("POST", "/1/indexes/films", {"objectID": "1"})
    inside.call("POST", "/1/indexes/films/query", {})
    inside.call("POST", "/1/indexes/a/query", {})
    inside.call("GET", "/nowhere")

    assert [entry["url"] for entry in read(inside, query)] == urls


def test_no_secret_is_told(inside: Inside) -> None:
    key = inside.facts["searchKey"]
    inside.call("GET", "/1/indexes/films", key=key)
    inside.call("GET", f"/1/indexes/films?x-service-api-key={key}")
    inside.call("GET", "/1/indexes", headers={"X-Forwarded-API-Key": key})
    inside.call("GET", "/api/1/crawlers", headers={"Authorization": "Basic c2VjcmV0OnNlY3JldA=="})

    told = str(read(inside))

    assert key not in told
    assert inside.facts["adminKey"] not in told
    assert "c2VjcmV0OnNlY3JldA" not in told
    assert key[:4] in told


def test_bodies_are_cut(inside: Inside) -> None:
    inside.call("POST", "/1/indexes/films", {"text": "é" * 5000})

    [entry] = read(inside, "?length=1")

    assert len(entry["query_body"]) == 1000


@pytest.mark.parametrize("query", ["?length=1001", "?offset=-1", "?type=most", "?lenght=1"])
def test_what_cannot_be_asked_is_refused(inside: Inside, query: str) -> None:
    assert inside.call("GET", f"/1/logs{query}").status_code == 400


def test_logs_outlive_the_service(tmp_path: Path) -> None:
    for _ in range(2):
        service = Service(tmp_path)
        app = App(service)
        inside = Inside(app)
        inside.call("GET", "/1/indexes/a")
        told = read(inside)
        app.close()
        service.stop()

    assert len(told) == 2


def test_only_the_last_thousand_of_seven_days_are_kept(tmp_path: Path) -> None:
    service = Service(tmp_path)
    old = Logged("GET", "/old", {}, {}, "", b"", 200, b"", 0, time=1.0 + SECONDS / 1e9)
    service.logs.note(old)
    for number in range(KEPT + 50):
        service.logs.note(Logged("GET", f"/{number}", {}, {}, "", b"", 200, b"", 0))
        if number % 300 == 0:
            service.logs.flush()
    service.logs.flush()

    again = Logs(service.store)

    assert _count(service) == KEPT
    assert len(again.read(0, 5000, None, "all")) == KEPT
    assert again.read(0, 1, None, "all")[0]["url"] == f"/{KEPT + 49}"
    service.stop()


def _count(service: Service) -> int:
    return int(service.store.read("SELECT count(*) FROM logs")[0][0])

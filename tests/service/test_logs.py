"""The logs contain the last thousand requests, without their secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from svc_notebook.core.api.secured_keys import make_secured_key
from svc_notebook.service.app import App
from svc_notebook.service.logs import (
    MAX_LOGGED_REQUESTS,
    RETENTION_SECONDS,
    Logged,
    RequestLog,
    mask,
)
from svc_notebook.service.service import Service
from tests.conftest import Inside
from tests.looping import loop_over


def read(inside: Inside, query: str = "") -> list[dict[str, Any]]:
    return list(inside.call("GET", f"/1/logs{query}").json()["logs"])


def test_a_request_is_logged_with_its_response(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})
    answer = inside.call("POST", "/1/indexes/films/query", {"query": "x"})

    [entry] = read(inside, "?length=1")

    assert (entry["method"], entry["url"]) == ("POST", "/1/indexes/films/query")
    assert (entry["answer_code"], entry["ip"]) == ("200", "127.0.0.1")
    assert entry["query_body"] == '{"query":"x"}'
    assert entry["answer"] == answer.text
    assert (entry["index"], entry["query_nb_hits"]) == ("films", "0")
    assert entry["query_params"] == "query=x"
    assert entry["timestamp"].endswith("Z")
    assert entry["processing_time_ms"].isdigit()
    assert len(entry["sha1"]) == 40


def test_members_of_a_record_are_not_taken_for_those_of_an_answer(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1", "nbHits": "many", "params": {"a": 1}})

    answer = inside.call("GET", "/1/indexes/films/1?attributesToRetrieve=nbHits,params")

    assert answer.json() == {"objectID": "1", "nbHits": "many", "params": {"a": 1}}
    [entry] = read(inside, "?length=1")
    assert not entry.keys() & {"query_nb_hits", "query_params"}


def test_the_newest_come_first_and_reading_is_not_logged(inside: Inside) -> None:
    for number in range(15):
        inside.call("GET", f"/1/indexes/i{number}")

    assert [e["index"] for e in read(inside)] == [f"i{n}" for n in range(14, 4, -1)]
    assert [e["index"] for e in read(inside, "?offset=13&length=5")] == ["i1", "i0"]
    assert read(inside, f"?offset={10**15}") == []
    assert inside.call("GET", f"/1/logs?offset={10**20}").status_code == 400


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


def test_no_secret_is_logged(inside: Inside) -> None:
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


def test_a_created_or_read_key_is_masked_in_the_logs(inside: Inside) -> None:
    fields = {"acl": ["search"], "description": "d"}
    made = [
        inside.call("POST", path, fields).json()["key"]
        for path in ("/1/keys", "/1/indexes/films/keys")
    ]
    for key in (made[0], inside.facts["adminKey"]):
        inside.call("GET", f"/1/keys/{key}")
    inside.call("GET", "/1/keys")
    inside.call("PUT", f"/1/indexes/films/keys/{made[1]}", fields)
    inside.call("DELETE", f"/1/keys/{made[0]}")

    told = read(inside)

    assert not [
        key for key in (*made, *inside.facts.values()) if len(key) == 32 and key in str(told)
    ]
    assert told[0]["url"] == f"/1/keys/{made[0][:4]}{'*' * 28}"
    assert told[1]["url"].startswith("/1/indexes/films/keys/")


HEX = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/1/key/{key}"),
        ("GET", "/2/keys/{key}"),
        ("GET", "/1/keys/{key}/more"),
        ("PATCH", "/1/keys/{key}"),
        ("GET", "/1//keys/{key}"),
        ("GET", "//1/keys/{key}"),
        ("GET", "/1/keys/{key}.json"),
        ("GET", "/1/Keys/{key}"),
        ("GET", "/{key}"),
        ("PUT", "/1/indexes/films/key/{key}/restore/it"),
        ("GET", "/1/indexes/films;api-key={key}/a/b"),
        ("GET", "/nowhere?x-service-api-key={key}"),
        ("GET", "/nowhere?X-Other-API-Key={key}"),
        ("GET", "/nowhere?apiKey={key}"),
        ("GET", "/nowhere?url=https://a.example/?x-service-api-key={key}"),
        ("GET", "/1/indexes/films?x-service-api-key={key}"),
    ],
)
@loop_over("kind", ["hexadecimal", "admin", "secured", "encoded", "twice"])
def test_keys_in_urls_are_masked(inside: Inside, verb: str, path: str, kind: str) -> None:
    key = {
        "admin": inside.facts["adminKey"],
        "secured": make_secured_key(HEX, filters="a:b"),
        "encoded": "".join(f"%{ord(letter):02x}" for letter in HEX),
        "twice": "".join(f"%25{ord(letter):02x}" for letter in HEX),
    }.get(kind, HEX)
    inside.call(verb, path.replace("{key}", quote(key, safe="%")))

    [entry] = read(inside, "?length=1")

    plain = unquote(unquote(key))
    shown = unquote(unquote(entry["url"]))
    assert plain not in shown
    assert plain[12:24] not in shown


def test_a_short_admin_key_is_masked(tmp_path: Path) -> None:
    service = Service(tmp_path, {"adminKey": "hunter2"})
    app = App(service)
    inside = Inside(app)
    for path in ("/1/keys/hunter2", "/2/keys/hunter2", "/hunter2", "/1/indexes/hunter2"):
        inside.call("GET", path)

    told = str(read(inside))
    app.close()
    service.stop()

    assert "hunter2" not in told


def test_keys_in_bodies_and_headers_are_masked(inside: Inside) -> None:
    secrets = [inside.facts["adminKey"], inside.facts["searchKey"]]
    for secret in secrets:
        body = {"query": secret, "analyticsTags": [f"key={secret}"]}
        inside.call("POST", "/1/indexes/films/query", body)
        inside.call("POST", "/1/indexes/films", {"objectID": "1", "note": f"use {secret}"})
        inside.call("GET", "/1/indexes", headers={"Referer": f"https://a.example/?k={secret}"})
    inside.call("GET", "/1/indexes", headers={"Referer": f"https://a.example/?x-a-api-key={HEX}"})
    inside.call("POST", "/1/indexes/films/query", {"params": f"x-service-api-key={HEX}"})

    told = str(read(inside, "?length=100"))

    assert [secret for secret in (*secrets, HEX) if secret in told] == []


def test_no_key_is_stored_with_the_logs(inside: Inside, tmp_path: Path) -> None:
    service = inside.app.service
    inside.call("GET", "/1/indexes", key="given-away-by-mistake")
    inside.call("GET", f"/2/keys/{HEX}?x-service-api-key={HEX}")

    service.logs.flush()

    stored = b"".join(entry for [entry] in service.store.read("SELECT entry FROM logs"))
    assert b"/2/keys/" in stored
    assert b"given-away-by-mistake" not in stored
    assert HEX.encode() not in stored


def test_urls_without_a_key_are_logged_unchanged(inside: Inside) -> None:
    paths = ["/1/indexes/a%2Fb", "/1/indexes/caf%C3%A9", "/nowhere/%7Euser/keys"]
    for path in [*paths, f"/1/indexes/films/{HEX}"]:
        inside.call("GET", path)

    assert [entry["url"] for entry in read(inside)][::-1] == [*paths, f"/1/indexes/films/{HEX}"]


@pytest.mark.parametrize(
    ("secret", "shown"),
    [("a" * 32, "aaaa" + "*" * 28), ("abcdefgh", "ab******"), ("abc", "***"), ("", "")],
)
def test_of_a_short_secret_almost_nothing_is_shown(secret: str, shown: str) -> None:
    assert mask("X-Service-API-Key", secret) == shown


def test_several_searches_in_one_request_are_logged_one_by_one(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})
    inside.fill("songs", {"objectID": "1"})
    requests = [
        {"indexName": "films", "clickAnalytics": True},
        {"indexName": "songs", "params": "userToken=me"},
    ]
    answer = inside.call("POST", "/1/indexes/*/queries", {"requests": requests}).json()

    [entry] = read(inside, "?indexName=songs&type=query")

    assert entry["inner_queries"] == [
        {"index_name": "films", "query_id": answer["results"][0]["queryID"]},
        {"index_name": "songs", "user_token": "me"},
    ]


def test_a_key_of_some_indices_sees_their_requests_only(inside: Inside) -> None:
    fields = {"acl": ["logs"], "indexes": ["films"]}
    key = inside.call("POST", "/1/keys", fields).json()["key"]
    for index in ("films", "songs"):
        inside.call("GET", f"/1/indexes/{index}")
    both = {"requests": [{"indexName": "films"}, {"indexName": "songs"}]}
    inside.call("POST", "/1/indexes/*/queries", both)

    told = inside.call("GET", "/1/logs", key=key).json()["logs"]

    assert [entry["url"] for entry in told] == ["/1/indexes/films"]


def test_asking_for_a_task_is_a_request_like_any_other(inside: Inside) -> None:
    inside.done("POST", "/1/indexes/films", {"objectID": "1"})
    inside.call("GET", "/1/indexes/films/task/1")

    assert [entry["method"] for entry in read(inside)] == ["GET", "POST"]
    assert [entry["method"] for entry in read(inside, "?type=build")] == ["POST"]


def test_bodies_are_cut(inside: Inside) -> None:
    inside.call("POST", "/1/indexes/films", {"text": "é" * 5000})

    [entry] = read(inside, "?length=1")

    assert len(entry["query_body"]) == 1000


def test_logged_requests_are_limited_in_size(inside: Inside) -> None:
    headers = {f"X-{number}": "x" * 3000 for number in range(10)}
    inside.call("GET", f"/1/indexes/{'i' * 9000}?query={'q' * 9000}", headers=headers)

    [entry] = read(inside, "?length=1")

    assert len(str(entry)) < 20_000


@pytest.mark.parametrize("query", ["?length=1001", "?offset=-1", "?type=most", "?lenght=1"])
def test_invalid_log_parameters_are_refused(inside: Inside, query: str) -> None:
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
    old = Logged("GET", "/old", {}, {}, "", b"", 200, b"", 0, time=1.0 + RETENTION_SECONDS / 1e9)
    service.logs.add(old)
    for number in range(MAX_LOGGED_REQUESTS + 50):
        service.logs.add(Logged("GET", f"/{number}", {}, {}, "", b"", 200, b"", 0))
        if number % 300 == 0:
            service.logs.flush()
    service.logs.flush()

    again = RequestLog(service.store)

    assert _count(service) == MAX_LOGGED_REQUESTS
    assert len(again.read(0, 5000, None, "all")) == MAX_LOGGED_REQUESTS
    assert again.read(0, 1, None, "all")[0]["url"] == f"/{MAX_LOGGED_REQUESTS + 49}"
    service.stop()


def _count(service: Service) -> int:
    return int(service.store.read("SELECT count(*) FROM logs")[0][0])


def test_an_entry_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    service = Service(tmp_path)
    service.logs.add(Logged("GET", "/films", {}, {}, "", b"", 200, b"", 0))
    service.logs.flush()
    with service.store.writing() as connection:
        connection.execute("UPDATE logs SET entry = x'00'")
    service.logs.add(Logged("GET", "/books", {}, {}, "", b"", 200, b"", 0))
    service.stop()

    again = Service(tmp_path)

    assert [entry["url"] for entry in again.logs.read(0, 9, None, "all")] == ["/books"]
    again.stop()

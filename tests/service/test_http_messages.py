"""Compression, limits, CORS and methods of requests and responses."""

from __future__ import annotations

import gzip
import json
import socket

import httpx
import pytest

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.service import limits
from tests.conftest import Inside, Running
from tests.looping import loop_over
from tests.service.test_contract import path_of

PACKED = {"content-encoding": "gzip"}


def test_a_compressed_body_is_decompressed(inside: Inside) -> None:
    content = gzip.compress(json.dumps({"objectID": "1"}).encode())

    inside.done("POST", "/1/indexes/films", content=content, headers=PACKED)

    assert inside.ids("films") == ["1"]


@pytest.mark.parametrize(
    ("content", "encoding", "status"),
    [
        (b"not gzip", "gzip", 400),
        (gzip.compress(b'{"objectID": "1"}')[:-6], "gzip", 400),
        (gzip.compress(b'{"objectID": "1"}') + gzip.compress(b" "), "gzip", 400),
        (gzip.compress(b" " * (limits.MAX_BODY_BYTES + 1)), "gzip", 413),
        (b"{}", "br", 415),
        (b"{}", "identity", 201),
        (b" " * (limits.MAX_BODY_BYTES - 2) + b"{}", "", 201),
        (b" " * (limits.MAX_BODY_BYTES + 1), "", 413),
    ],
    ids=["garbage", "cut", "several", "bomb", "unknown", "plain", "just", "large"],
)
def test_an_invalid_or_too_large_compressed_body_is_refused(
    inside: Inside, content: bytes, encoding: str, status: int
) -> None:
    answer = inside.call(
        "POST", "/1/indexes/films", content=content, headers={"content-encoding": encoding}
    )

    assert answer.status_code == status
    assert "message" in answer.json() or status == 201


def test_a_large_response_is_compressed_on_request(service: Running) -> None:
    with service.client() as client:
        records = [{"objectID": str(n), "text": "word " * 50} for n in range(500)]
        requests = [{"action": "addObject", "body": record} for record in records]
        task = client.post("/1/indexes/wire/batch", json={"requests": requests}).json()["taskID"]
        while client.get(f"/1/task/{task}").json()["status"] != "published":
            pass

        plain = client.get("/1/indexes/wire/browse", headers={"accept-encoding": "identity"})
        packed = client.get("/1/indexes/wire/browse", headers={"accept-encoding": "gzip"})

    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json()["hits"] == plain.json()["hits"] == records


def test_a_large_body_is_refused_over_a_real_socket_without_breaking_it(service: Running) -> None:
    with service.client() as client:
        answer = client.post("/1/indexes/wire", content=b" " * (limits.MAX_BODY_BYTES + 1))

        assert answer.status_code == 413
        assert client.get("/1/indexes").status_code == 200


def test_an_endless_head_is_refused_at_the_limit(service: Running) -> None:
    port = httpx.URL(service.url).port
    with socket.create_connection(("127.0.0.1", port), timeout=10) as caller:
        caller.sendall(b"GET /1/indexes HTTP/1.1\r\nhost: x\r\nlong: ")

        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            caller.sendall(b"x" * 100_000_000)


def test_a_request_that_is_not_http_is_answered(service: Running) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as plug:
        plug.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        head, _, body = plug.recv(4096).partition(b"\r\n\r\n")

    assert b" 400 " in head
    assert json.loads(body)["status"] == 400


NAMED = "x-service-api-key, x-service-application-id, x-service-user-id, content-type"


@loop_over("row", ENDPOINTS, sample=20)
def test_a_preflight_needs_no_key(inside: Inside, row: Endpoint) -> None:
    headers = {
        "Origin": "http://shop.example",
        "Access-Control-Request-Method": row.verb,
        "Access-Control-Request-Headers": NAMED,
        "X-Service-API-Key": "",
        "X-Service-Application-Id": "",
    }
    url = f"{path_of(row)}?x-service-agent=shop&x-service-api-key=k"

    answer = inside.call("OPTIONS", url, headers=headers)

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert row.verb in answer.headers["access-control-allow-methods"].split(", ")
    assert answer.headers["access-control-allow-headers"] == NAMED
    assert int(answer.headers["access-control-max-age"]) > 600


def test_every_response_has_cors_headers(inside: Inside) -> None:
    answers = [
        inside.call("GET", "/1/indexes"),
        inside.call("GET", "/nowhere"),
        inside.call("TRACE", "/1/indexes"),
        inside.call("GET", "/1/indexes", key="wrong"),
        inside.call("POST", "/1/indexes/a", content=b"{"),
    ]

    assert {a.headers["access-control-allow-origin"] for a in answers} == {"*"}


def test_errors_for_invalid_requests_have_cors_headers(service: Running) -> None:
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as plug:
        plug.sendall(b"nonsense\r\n\r\n")

        assert b"\r\naccess-control-allow-origin: *\r\n" in plug.recv(4096)


def test_head_is_get_without_the_body(inside: Inside) -> None:
    whole, head = (inside.call(verb, "/1/indexes") for verb in ("GET", "HEAD"))

    assert head.content == b""
    assert head.headers["content-length"] == str(len(whole.content))


def test_a_query_string_that_is_not_utf8_is_refused(inside: Inside) -> None:
    answer = inside.call("GET", "/1/indexes/films?query=%ff")

    assert answer.status_code == 400
    assert "UTF-8" in answer.json()["message"]

"""Bodies and answers travel packed or plain, within limits, from any page."""

from __future__ import annotations

import gzip
import json
import socket

import httpx
import pytest

from svc_notebook.service import limits
from tests.conftest import Inside, Running

PACKED = {"content-encoding": "gzip"}


def test_a_packed_body_is_unpacked(inside: Inside) -> None:
    content = gzip.compress(json.dumps({"objectID": "1"}).encode())

    inside.done("POST", "/1/indexes/films", content=content, headers=PACKED)

    assert inside.ids("films") == ["1"]


@pytest.mark.parametrize(
    ("content", "encoding", "status"),
    [
        (b"not gzip", "gzip", 400),
        (gzip.compress(b'{"objectID": "1"}')[:-6], "gzip", 400),
        (gzip.compress(b" " * (limits.BODY + 1)), "gzip", 413),
        (b"{}", "br", 415),
        (b"{}", "identity", 201),
        (b" " * (limits.BODY - 2) + b"{}", "", 201),
        (b" " * (limits.BODY + 1), "", 413),
    ],
    ids=["garbage", "cut", "bomb", "unknown", "plain", "just", "large"],
)
def test_a_body_is_refused_when_it_cannot_or_must_not_be_unpacked(
    inside: Inside, content: bytes, encoding: str, status: int
) -> None:
    answer = inside.call(
        "POST", "/1/indexes/films", content=content, headers={"content-encoding": encoding}
    )

    assert answer.status_code == status
    assert "message" in answer.json() or status == 201


def test_a_large_answer_is_packed_for_those_who_accept_it(service: Running) -> None:
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
        answer = client.post("/1/indexes/wire", content=b" " * (limits.BODY + 1))

        assert answer.status_code == 413
        assert client.get("/1/indexes").status_code == 200


def test_a_head_that_does_not_end_is_refused_before_it_fills_the_memory(service: Running) -> None:
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


@pytest.mark.parametrize("path", ["/1/indexes/a/query", "/1/indexes", "/1/keys/x"])
def test_a_browser_may_ask_first_without_a_key(inside: Inside, path: str) -> None:
    headers = {
        "Origin": "http://shop.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-service-api-key, content-type",
        "X-Service-API-Key": "",
    }

    answer = inside.call("OPTIONS", path, headers=headers)

    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "GET" in answer.headers["access-control-allow-methods"]
    assert "x-service-api-key" in answer.headers["access-control-allow-headers"]


def test_every_answer_may_be_read_by_any_page(inside: Inside) -> None:
    answers = [inside.call("GET", "/1/indexes"), inside.call("GET", "/nowhere")]

    assert {a.headers["access-control-allow-origin"] for a in answers} == {"*"}


def test_head_is_get_without_the_body(inside: Inside) -> None:
    whole, head = (inside.call(verb, "/1/indexes") for verb in ("GET", "HEAD"))

    assert head.content == b""
    assert head.headers["content-length"] == str(len(whole.content))


def test_a_query_string_that_is_not_utf8_is_refused(inside: Inside) -> None:
    answer = inside.call("GET", "/1/indexes/films?query=%ff")

    assert answer.status_code == 400
    assert "UTF-8" in answer.json()["message"]

"""Slow, disconnecting or invalid callers block nothing and get a clear response."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from svc_notebook.core.api.secured_keys import make_secured_key
from svc_notebook.service import limits
from tests.conftest import ROOT, Running, stop_service

# A service with short timeouts; they are not options, so they are set before it starts.
SERVE = """
import sys
from pathlib import Path
from svc_notebook.service.http import connection
from svc_notebook.service import limits
connection.RATE_WINDOW_SECONDS, connection.MIN_WINDOW_BYTES = 1.0, 1000
connection.LINGER_SECONDS = 0.3
connection.MAX_CONNECTIONS, limits.MAX_HELD_BYTES = int(sys.argv[2]), 10_000_000
connection.REQUEST_SECONDS = 6.0
from svc_notebook.service.server import serve
serve(json=True, data=Path(sys.argv[1]), parent=int(sys.argv[3]))
"""
MOST = 30


@contextmanager
def serving(folder: Path, most: int) -> Iterator[Running]:
    command = [sys.executable, "-c", SERVE, str(folder), str(most), str(os.getpid())]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    try:
        yield Running(**json.loads(process.stdout.readline()))
    finally:
        stop_service(process)


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(tmp_path_factory.mktemp("hasty"), MOST) as running:
        yield running


@pytest.fixture
def plug(hasty: Running) -> Iterator[socket.socket]:
    with dial(hasty) as plug:
        yield plug


def dial(running: Running) -> socket.socket:
    url = httpx.URL(running.url)
    return socket.create_connection((url.host, url.port or 80), timeout=10)


def head(running: Running, verb: str = "GET", path: str = "/1/indexes", *headers: str) -> bytes:
    own = [f"X-Service-Application-Id: {running.appId}", f"X-Service-API-Key: {running.adminKey}"]
    lines = [f"{verb} {path} HTTP/1.1", "host: local", *own, *headers, "", ""]
    return "\r\n".join(lines).encode()


def hear(plug: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    heard = b""
    while part := plug.recv(65536):
        heard += part
    return heard


def codes(heard: bytes) -> list[int]:
    return [int(part[:3]) for part in heard.split(b"HTTP/1.1 ")[1:]]


def drip(plug: socket.socket, data: bytes) -> None:
    """Send a byte now and then, until the other side has enough."""
    with suppress(ConnectionError):
        for number in range(len(data)):
            plug.sendall(data[number : number + 1])
            time.sleep(0.05)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("part", ["head", "body", "chunk"])
def test_a_request_that_drips_in_is_refused(hasty: Running, plug: socket.socket, part: str) -> None:
    beginning = {
        "head": b"GET /1/indexes HTTP/1.1\r\nlong: ",
        "body": head(hasty, "POST", "/1/indexes/a", "content-length: 5000"),
        "chunk": head(hasty, "POST", "/1/indexes/a", "transfer-encoding: chunked"),
    }[part]

    plug.sendall(beginning)
    drip(plug, b"2\r\n{}\r\n" * 20 if part == "chunk" else b" " * 140)
    heard = hear(plug)

    assert codes(heard) == [408]
    assert json.loads(heard.partition(b"\r\n\r\n")[2])["status"] == 408


@pytest.mark.parametrize("wait", [0.5, 0.9])
def test_a_pause_within_patience_is_forgiven(
    hasty: Running, plug: socket.socket, wait: float
) -> None:
    request = head(hasty, "GET", "/1/indexes", "connection: close")

    time.sleep(wait)
    plug.sendall(request[:40])
    time.sleep(0.2)
    plug.sendall(request[40:])

    assert codes(hear(plug)) == [200]


def test_a_body_that_arrives_steadily_may_take_longer(hasty: Running, plug: socket.socket) -> None:
    body = json.dumps({"objectID": "1", "text": "x" * 25_000}).encode()
    size = f"content-length: {len(body)}"

    plug.sendall(head(hasty, "POST", "/1/indexes/steady", size, "connection: close"))
    for start in range(0, len(body), 1000):
        plug.sendall(body[start : start + 1000])
        time.sleep(0.1)

    assert codes(hear(plug)) == [201]


@pytest.mark.slow
def test_a_response_that_is_not_read_is_dropped(hasty: Running) -> None:
    records = [{"action": "addObject", "body": {"text": "x" * 9000}} for _ in range(500)]
    with hasty.client() as client:
        task = client.post("/1/indexes/large/batch", json={"requests": records}).json()["taskID"]
        while client.get(f"/1/task/{task}").json()["status"] != "published":
            time.sleep(0.02)
    plug = socket.socket()
    plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    url = httpx.URL(hasty.url)
    plug.connect((url.host, url.port))
    plug.settimeout(10)

    with plug:
        plug.sendall(head(hasty, "GET", "/1/indexes/large/browse") * 3)
        time.sleep(4)
        heard = 0
        with suppress(ConnectionError):
            while part := plug.recv(65536):
                heard += len(part)

    assert heard < 3 * 500 * 9000


def test_requests_before_invalid_input_are_answered_first(
    hasty: Running, plug: socket.socket
) -> None:
    plug.sendall(head(hasty) * 3 + b"nonsense\r\n\r\n" + head(hasty))

    assert codes(hear(plug)) == [200, 200, 200, 400]


def test_nonsense_inside_a_body_refuses_that_request_alone(
    hasty: Running, plug: socket.socket
) -> None:
    broken = head(hasty, "POST", "/1/indexes/a", "transfer-encoding: chunked") + b"zz\r\n"

    plug.sendall(head(hasty) + broken)

    assert codes(hear(plug)) == [200, 400]


def test_an_upgrade_request_is_answered_without_an_upgrade(
    hasty: Running, plug: socket.socket
) -> None:
    upgrade = ["connection: upgrade", "upgrade: h2c", "content-length: 16"]
    posted = head(hasty, "POST", "/1/indexes/a", *upgrade) + b'{"objectID":"1"}'

    plug.sendall(posted + head(hasty) + head(hasty, "GET", "/1/indexes", "connection: close"))

    assert codes(hear(plug)) == [201, 200, 200]


def test_trailers_are_ignored(hasty: Running, plug: socket.socket) -> None:
    posted = head(hasty, "POST", "/1/indexes/a", "transfer-encoding: chunked", "connection: close")

    plug.sendall(posted + b"2\r\n{}\r\n0\r\n" + b"X-Service-API-Key: other\r\n" * 50 + b"\r\n")

    assert codes(hear(plug)) == [201]


@pytest.mark.parametrize("rest", [0, 30], ids=["whole", "and a half"])
def test_a_half_closed_connection_still_receives_responses(
    hasty: Running, plug: socket.socket, rest: int
) -> None:
    plug.sendall(head(hasty) * 2 + head(hasty)[:rest])
    plug.shutdown(socket.SHUT_WR)

    assert codes(hear(plug)) == [200, 200]


@pytest.mark.parametrize("sent", [b"", b"\r\n", b"GET /1/ind", b"POST / HTTP/1.1\r\nhost: a\r\n"])
def test_a_caller_that_breaks_off_is_forgotten(plug: socket.socket, sent: bytes) -> None:
    plug.sendall(sent)
    plug.shutdown(socket.SHUT_WR)

    assert hear(plug) == b""


def test_a_refused_caller_that_continues_to_send_receives_the_error(
    hasty: Running, plug: socket.socket
) -> None:
    plug.sendall(b"nonsense\r\n\r\n" + b"x" * 200_000)
    plug.sendall(b"x" * 200_000)

    assert codes(hear(plug)) == [400]


def test_idle_connections_are_closed_for_new_ones(hasty: Running) -> None:
    with ExitStack() as stack:
        idle = [stack.enter_context(dial(hasty)) for _ in range(MOST + 10)]
        begun = [stack.enter_context(dial(hasty)) for _ in range(5)]
        for plug in begun:
            plug.sendall(b"GET /1/indexes HTTP/1.1\r\nhost:")
        with hasty.client() as client:
            served = [client.get("/1/indexes").status_code for _ in range(3)]
        closed = [plug for plug in idle if is_closed(plug)]

    assert served == [200] * 3
    assert closed == idle[: len(closed)]
    assert len(closed) >= 15


def is_closed(plug: socket.socket) -> bool:
    plug.setblocking(False)
    try:
        return plug.recv(1) == b""
    except BlockingIOError:
        return False


@pytest.mark.slow
def test_a_new_connection_is_refused_while_all_others_are_busy(tmp_path: Path) -> None:
    with serving(tmp_path, most=0) as running, running.client() as client:
        answer = client.get("/1/indexes")

    assert answer.status_code == 429
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["status"] == 429


def test_bodies_in_memory_are_limited_over_all_callers(hasty: Running) -> None:
    large = b'{"a": "' + b"x" * 4_000_000
    with dial(hasty) as plug, hasty.client() as client:
        plug.sendall(
            head(hasty, "POST", "/1/indexes/a", "content-length: 3000000") + b" " * 2_500_000
        )
        time.sleep(0.2)
        crowded = client.post("/1/indexes/a", content=large)
        plug.close()
        time.sleep(0.2)
        alone = client.post("/1/indexes/a", content=large)

    assert crowded.status_code == 429
    assert "too many bytes" in crowded.json()["message"]
    assert alone.status_code == 400


@pytest.mark.slow
def test_an_endless_request_is_refused_at_any_rate(hasty: Running, plug: socket.socket) -> None:
    plug.sendall(head(hasty, "POST", "/1/indexes/a", "content-length: 9000000"))
    with suppress(ConnectionError):
        for _ in range(200):
            plug.sendall(b" " * 2000)
            time.sleep(0.1)
            if is_readable(plug):
                break
    heard = hear(plug)

    assert codes(heard) == [408]
    assert b"within 6 s" in heard


def is_readable(plug: socket.socket) -> bool:
    return bool(select.select([plug], [], [], 0)[0])


def make_key(running: Running, **fields: object) -> str:
    with running.client() as client:
        return str(client.post("/1/keys", json=fields).json()["key"])


def secured(running: Running, **fields: object) -> str:
    return make_secured_key(make_key(running, **fields), userToken="me")


UNFINISHED = 26


@contextmanager
def unfinished(
    running: Running, key: str, size: int, path: str = "/1/indexes/a"
) -> Iterator[list[socket.socket]]:
    """Leave many bodies of a key unfinished, all but a byte of each sent."""
    start = replace(running, adminKey=key)
    request = head(start, "POST", path, f"content-length: {size}")
    with ExitStack() as stack:
        plugs = [stack.enter_context(dial(running)) for _ in range(UNFINISHED)]
        for plug in plugs:
            with suppress(ConnectionError):
                plug.sendall(request + b" " * (size - 1))
        yield plugs


@pytest.mark.parametrize("kind", [make_key, secured, None], ids=["key", "secured", "unknown"])
@pytest.mark.parametrize("path", ["/1/indexes/a", "/1/indexes/a/batch", "/1/indexes/*/batch"])
@pytest.mark.sampled(4)
def test_a_key_without_the_right_is_refused_before_its_body(
    service: Running, kind: Callable[..., str] | None, path: str
) -> None:
    key = kind(service, acl=["search"]) if kind else "unknown"
    size = limits.MAX_BODY_BYTES - 1000

    with unfinished(service, key, size, path) as plugs, service.client() as client:
        refused = [plug.recv(65536) for plug in plugs]
        other = client.post("/1/indexes/bodies/batch", content=LARGE)

    assert [codes(heard) for heard in refused] == [[403]] * UNFINISHED
    assert other.status_code == 200


def test_an_index_out_of_reach_is_refused_before_the_body(service: Running) -> None:
    key = make_key(service, acl=["addObject"], indexes=["other"])
    narrow = make_secured_key(make_key(service, acl=["addObject"]), restrictIndices="other")

    for one in (key, narrow):
        with unfinished(service, one, 1000) as plugs:
            assert [codes(plug.recv(65536)) for plug in plugs] == [[403]] * UNFINISHED


RECORDS = [{"action": "addObject", "body": {"objectID": "1", "text": "x" * 90_000}}] * 11
LARGE = json.dumps({"requests": RECORDS}).encode()


@pytest.mark.parametrize("kind", [make_key, secured], ids=["key", "secured"])
def test_a_permitted_key_leaves_memory_for_the_bodies_of_others(
    hasty: Running, kind: Callable[..., str]
) -> None:
    key = kind(hasty, acl=["addObject"])

    with unfinished(hasty, key, 1_000_000), hasty.client() as client:
        time.sleep(0.3)
        own = client.post("/1/indexes/a", content=b" " * 1_000_000, headers=own_key(key))
        others = [client.post("/1/indexes/a/batch", content=LARGE) for _ in range(3)]

    assert own.status_code == 429
    assert own.headers["retry-after"] == "1"
    assert [other.status_code for other in others] == [200] * 3


def test_one_secured_key_leaves_memory_for_another_of_the_same_parent(hasty: Running) -> None:
    parent = make_key(hasty, acl=["addObject"])
    greedy, modest = (make_secured_key(parent, userToken=name) for name in ("a", "b"))

    with unfinished(hasty, greedy, 1_000_000), hasty.client() as client:
        time.sleep(0.3)
        answer = client.post("/1/indexes/a/batch", content=LARGE, headers=own_key(modest))

    assert answer.status_code == 200


def own_key(key: str) -> dict[str, str]:
    return {"X-Service-API-Key": key}


def test_memory_of_an_unfinished_body_is_released_after_its_refusal(hasty: Running) -> None:
    key = make_key(hasty, acl=["addObject"])
    with unfinished(hasty, key, 1_000_000) as plugs:
        heard = [hear(plug) for plug in plugs]

        with hasty.client() as client:
            answer = client.post("/1/indexes/a/batch", content=LARGE, headers=own_key(key))

    assert {code for one in heard for code in codes(one)} <= {408, 429}
    assert [408] in [codes(one) for one in heard]
    assert answer.status_code == 200


def test_endless_heads_do_not_block_other_callers(hasty: Running) -> None:
    with ExitStack() as stack:
        for _ in range(MOST + 10):
            plug = stack.enter_context(dial(hasty))
            plug.sendall(head(hasty)[:-2] + b"slow: ")
        served = []
        for _ in range(5):
            with hasty.client() as client:
                served.append(client.get("/1/indexes").status_code)

    assert served == [200] * 5


@pytest.mark.parametrize("kind", ["close", "keep-alive"])
def test_an_error_is_received_while_the_body_is_still_being_sent(
    service: Running, kind: str
) -> None:
    size = 5_000_000
    with dial(service) as plug:
        start = replace(service, adminKey="unknown")
        plug.sendall(
            head(start, "POST", "/1/indexes/a", f"content-length: {size}", f"connection: {kind}")
        )
        for _ in range(50):
            plug.sendall(b" " * (size // 50))
            time.sleep(0.005)

        assert codes(plug.recv(65536)) == [403]


@pytest.mark.parametrize("kind", ["close", "keep-alive"])
@pytest.mark.parametrize("key", ["", "unknown"], ids=["admin", "unknown"])
def test_an_invalid_body_is_refused_at_once(service: Running, kind: str, key: str) -> None:
    caller = replace(service, adminKey=key or service.adminKey)
    own = [f"connection: {kind}", "content-encoding: gzip", "content-length: 8"]

    with dial(service) as plug:
        plug.sendall(head(caller, "POST", "/1/indexes/a", *own) + b"not gzip")

        assert codes(plug.recv(65536)) == [403 if key else 400]

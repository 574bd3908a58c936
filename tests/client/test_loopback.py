"""Loopback connections: complete requests and responses, and errors that name the cause."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import aclosing

import httpx
import pytest

from svc_notebook.api import SearchApi
from svc_notebook.client.config import ClientConfig
from svc_notebook.client.secret import Secret
from svc_notebook.client.transport.exchange import HttpReply, Keys, Request
from svc_notebook.client.transport.loopback import MAX_COALESCED_BYTES, READ_BUFFER_BYTES, Loopback
from tests.client.stub import Act, closed_port, drop, hang, raw, reset, serving

KEYS = Keys(ClientConfig("APP", Secret("k3y"), url="http://localhost:1"), SearchApi.search.endpoint)


def asking(url: str, content: bytes | None = b"{}", timeout: float = 5) -> Request:
    return Request("POST", url, "/1/x", {"accept": "*/*"}, content, KEYS, httpx.Timeout(timeout))


def call(url: str, content: bytes | None = b"{}", timeout: float = 5) -> HttpReply:
    async def post() -> HttpReply:
        async with aclosing(Loopback(httpx.Limits())) as loopback:
            return await loopback.exchange(asking(url, content, timeout))

    return asyncio.run(post())


@pytest.mark.parametrize("size", [0, 1, MAX_COALESCED_BYTES, MAX_COALESCED_BYTES + 1, 9_000_000])
def test_a_request_arrives_whole_whatever_its_size(size: int) -> None:
    with serving() as server:
        call(server.url, b"x" * size)

    assert server.requests[0].body == b"x" * size


@pytest.mark.parametrize("size", [0, 1, 5_000_000])
def test_an_answer_is_brought_whole(size: int) -> None:
    with serving(raw(b"y" * size, 201)) as server:
        response = call(server.url)

    assert (response.status, response.content) == (201, b"y" * size)


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (drop, httpx.RemoteProtocolError),
        (reset, httpx.ReadError),
        (hang, httpx.ReadTimeout),
        (raw(b"half", length=9), httpx.RemoteProtocolError),
        (raw(b"", 99), httpx.RemoteProtocolError),
    ],
    ids=["hung up", "reset", "silent", "cut short", "no HTTP"],
)
def test_what_goes_wrong_is_told_as_the_library_does(
    act: Act, error: type[httpx.TransportError]
) -> None:
    with serving(act) as server, pytest.raises(error):
        call(server.url, timeout=0.2)


def test_nobody_at_home_is_a_connect_error() -> None:
    with pytest.raises(httpx.ConnectError):
        call(closed_port())


def test_a_body_that_nobody_reads_is_a_time_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf, pytest.raises(httpx.WriteTimeout):
        call(f"http://127.0.0.1:{deaf.getsockname()[1]}", b"x" * 50_000_000, timeout=0.2)


def test_a_refusal_that_comes_before_all_was_sent_is_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=refuse, args=[listening])
        thread.start()
        response = call(f"http://127.0.0.1:{listening.getsockname()[1]}", b"x" * 50_000_000)
        thread.join()

    assert response.status == 403


def refuse(listening: socket.socket) -> None:
    """Hang up with most of the request unread."""
    connection, _ = listening.accept()
    with connection:
        connection.recv(100_000)
        connection.sendall(b"HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nno")


@pytest.mark.parametrize("size", [READ_BUFFER_BYTES - 1, 3 * READ_BUFFER_BYTES])
def test_an_answer_may_come_faster_than_it_is_read(size: int) -> None:
    with serving(raw(b"z" * size)) as server:
        assert len(call(server.url).content) == size


def test_connections_are_used_again() -> None:
    async def post() -> None:
        async with aclosing(Loopback(httpx.Limits())) as loopback:
            for _ in range(3):
                await loopback.exchange(asking(server.url))

    with serving() as server:
        asyncio.run(post())

    assert server.connections == 1


def test_a_connection_hung_up_while_the_loop_was_busy_is_not_used_again() -> None:
    async def post() -> None:
        async with aclosing(Loopback(httpx.Limits())) as loopback:
            await loopback.exchange(asking(server.url))
            server.loop.call_soon_threadsafe(server.writers[0].transport.abort)
            time.sleep(0.2)  # noqa: ASYNC251 - the loop is not to turn
            await loopback.exchange(asking(server.url))

    with serving() as server:
        asyncio.run(post())

    assert server.connections == 2


@pytest.mark.parametrize(("content", "length"), [(b"{}", "2"), (b"", "0"), (None, "0")])
def test_a_request_says_what_http_wants_to_know(content: bytes | None, length: str) -> None:
    with serving() as server:
        call(server.url + "/below", content)

    [request] = server.requests
    assert request.target == "/below/1/x"
    assert request.headers == {
        "host": server.url.removeprefix("http://"),
        "accept": "*/*",
        "x-service-application-id": "APP",
        "x-service-api-key": "k3y",
        "content-length": length,
    }

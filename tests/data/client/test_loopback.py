"""Loopback connections: complete requests and responses, and errors that name the cause."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import aclosing

import httpx
import pytest

from svc_notebook.core.api import SearchApi
from svc_notebook.data.client.config import ClientConfig
from svc_notebook.data.client.secret import Secret
from svc_notebook.data.client.transport.exchange import HttpReply, Keys, Request
from svc_notebook.data.client.transport.loopback_connection import (
    MAX_COALESCED_BYTES,
    READ_BUFFER_BYTES,
)
from svc_notebook.data.client.transport.pool import Loopback
from tests.data.client.stub import Act, closed_port, drop, hang, raw, reset, serving

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


def in_pieces(message: bytes, *, hang_up: bool = False) -> Act:
    """Answer with these bytes, cut at each `|`, and perhaps hang up."""

    async def act(writer: asyncio.StreamWriter) -> None:
        for piece in message.split(b"|"):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.01)
        if hang_up:
            writer.close()

    return act


HEAD = b"HTTP/1.1 200 OK\r\n"
FRAMES = {
    "length": HEAD + b"content-length: 5\r\n\r\nhello",
    "cut head": HEAD + b"content-le|ngth: 5\r\n\r|\nhel|lo",
    "cut after head": HEAD + b"content-length: 5\r\n\r\n|hello",
    "bare line ends": b"HTTP/1.1 200 OK\ncontent-length: 9\n\nhel|lo\r\n\r\n",
    "chunks": HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\nhe|\r\n3\r\nllo\r\n0\r\n|\r\n",
    "cut head of chunks": HEAD + b"transfer-encoding: chunked\r\n\r|\n5\r\nhello\r\n0\r\n\r\n",
    "early hints": b"HTTP/1.1 103 Early\r\n\r\n" + HEAD + b"content-length: 5\r\n\r\nhello",
    "cut early hints": b"HTTP/1.1 103 E\r\n\r\n|" + HEAD + b"content-length: 1\r\n\r\nh",
    "no content": b"HTTP/1.1 204 No\r\n\r\n",
    "no content with a length": b"HTTP/1.1 304 No\r\ncontent-length: 5\r\n\r\n",
    "empty": HEAD + b"content-length: 0\r\n\r\n",
}
LAST_FRAMES = {
    "until the end": HEAD + b"\r\nhel|lo",
    "old version": b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
    "close": HEAD + b"connection: close\r\ncontent-length: 5\r\n\r\nhello",
    "surplus": HEAD + b"content-length: 5\r\n\r\nhello, world",
    "late surplus": HEAD + b"content-length: 5\r\n\r\nhel|lo, world",
}


def read_as_library(url: str) -> tuple[int, bytes]:
    response = httpx.post(url + "/1/x", content=b"{}", trust_env=False)
    return response.status_code, response.content


@pytest.mark.parametrize("name", FRAMES)
def test_an_answer_is_read_as_the_library_reads_it(name: str) -> None:
    async def post() -> list[HttpReply]:
        async with aclosing(Loopback(httpx.Limits())) as loopback:
            return [await loopback.exchange(asking(server.url)) for _ in range(2)]

    with serving(in_pieces(FRAMES[name])) as server:
        replies = asyncio.run(post())
        connections = server.connections
        expected = read_as_library(server.url)

    assert [(reply.status, reply.content) for reply in replies] == [expected] * 2
    assert connections == 1


@pytest.mark.parametrize("name", LAST_FRAMES)
def test_an_answer_after_which_no_other_can_follow_ends_the_connection(name: str) -> None:
    async def post() -> list[HttpReply]:
        async with aclosing(Loopback(httpx.Limits())) as loopback:
            return [await loopback.exchange(asking(server.url)) for _ in range(2)]

    with serving(in_pieces(LAST_FRAMES[name], hang_up=name == "until the end")) as server:
        replies = asyncio.run(post())

    assert [(reply.status, reply.content) for reply in replies] == [(200, b"hello")] * 2
    assert server.connections == 2


def test_idle_connections_expire() -> None:
    async def post() -> None:
        async with aclosing(Loopback(httpx.Limits(keepalive_expiry=0.01))) as loopback:
            await loopback.exchange(asking(server.url))
            await asyncio.sleep(0.05)
            await loopback.exchange(asking(server.url))

    with serving() as server:
        asyncio.run(post())

    assert server.connections == 2


def test_requests_beyond_the_limit_wait_for_a_connection() -> None:
    async def post() -> list[HttpReply]:
        async with aclosing(Loopback(httpx.Limits(max_connections=2))) as loopback:
            calls = (loopback.exchange(asking(server.url)) for _ in range(6))
            return await asyncio.gather(*calls)

    with serving() as server:
        replies = asyncio.run(post())

    assert [reply.status for reply in replies] == [200] * 6
    assert server.connections == 2


def test_a_cancelled_request_ends_its_connection() -> None:
    async def post() -> HttpReply:
        async with aclosing(Loopback(httpx.Limits())) as loopback:
            await loopback.exchange(asking(server.url))
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await loopback.exchange(asking(server.url))
            return await loopback.exchange(asking(server.url))

    with serving(raw(b"1"), hang, raw(b"3")) as server:
        reply = asyncio.run(post())

    assert (reply.content, server.connections) == (b"3", 2)

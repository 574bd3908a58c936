"""Connection pools, one per event loop, because a connection belongs to the loop that opened it.

Calls to this machine have connections of their own.
"""

from __future__ import annotations

import asyncio
import encodings.idna  # noqa: F401 - asyncio would import it on the thread of a loop
import os
import ssl
import weakref
from collections import defaultdict
from collections.abc import AsyncGenerator
from functools import cache, cached_property

import h11
import httpx

from svc_notebook.data.client.hosts import is_loopback
from svc_notebook.data.client.secret import keep_keys_from_logs
from svc_notebook.data.client.transport.exchange import AnswerReader, HttpReply, Request
from svc_notebook.data.client.transport.loopback_connection import (
    LoopbackConnection,
    open_connection,
)

HTTP_PORT = 80
# Connections at one time if the limits name no number. Idle ones are limited by it, too.
MAX_CONNECTIONS = 100
# Methods that send `content-length` even for an empty body.
WITH_BODY = ("POST", "PUT", "PATCH")


class Loopback:
    """Send requests to this machine and return complete responses.

    What the HTTP library does for each request (cookies, redirects, proxies, copies of the body)
    takes longer than a small search.
    """

    def __init__(self, limits: httpx.Limits) -> None:
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.max_connections or MAX_CONNECTIONS)
        # The connections that no request uses, by address, and all.
        self._idle: dict[str, list[LoopbackConnection]] = defaultdict(list)
        self._open: set[LoopbackConnection] = set()

    async def exchange(self, request: Request) -> HttpReply:
        """Send a request and read its response to the end.

        Raises `httpx.RequestError`, and `TooLarge` for a response beyond its limit.
        """
        head = _make_head(request)
        async with self._slots:
            connection = self._take_idle(request.host) or await self._connect(request)
            try:
                return await connection.exchange(head, request)
            finally:
                self._put_back(connection, request.host)

    def _take_idle(self, host: str) -> LoopbackConnection | None:
        """Return the connection that was used last; those that cannot be used are closed."""
        now, idle = asyncio.get_running_loop().time(), self._idle[host]
        while idle:
            connection = idle.pop()
            if now <= connection.expires_at and not connection.is_readable():
                return connection
            self._discard(connection)
        return None

    async def _connect(self, request: Request) -> LoopbackConnection:
        base, seconds = _read_base(request.host), request.timeout.connect
        connection = await open_connection(base.host, base.port or HTTP_PORT, seconds)
        self._open.add(connection)
        return connection

    def _put_back(self, connection: LoopbackConnection, host: str) -> None:
        if not connection.is_reusable or connection not in self._open:
            self._discard(connection)
            return
        now, expiry = asyncio.get_running_loop().time(), self._limits.keepalive_expiry
        connection.expires_at = float("inf") if expiry is None else now + expiry
        idle = self._idle[host]
        # Only the oldest expire: those behind them were used later.
        while idle and idle[0].expires_at < now:
            self._discard(idle.pop(0))
        idle.append(connection)

    def _discard(self, connection: LoopbackConnection) -> None:
        # Not `close`, which waits for data that will not be read.
        connection.abort()
        self._open.discard(connection)

    async def aclose(self) -> None:
        """Close the connections."""
        self._idle.clear()
        for connection in [*self._open]:
            self._discard(connection)
        await asyncio.sleep(0)


@cache
def is_plain_loopback(host: str) -> bool:
    """Return whether an address is on this machine and does not need TLS."""
    return host.startswith("http://") and is_loopback(host)


def _make_head(request: Request) -> h11.Request:
    base = _read_base(request.host)
    headers = {"host": base.netloc.decode(), **request.headers, **request.keys.headers()}
    if request.content is not None or request.verb in WITH_BODY:
        headers["content-length"] = str(len(request.content or b""))
    target = base.raw_path.rstrip(b"/") + request.target.encode("ascii")
    try:
        return h11.Request(method=request.verb, target=target, headers=[*headers.items()])
    except h11.LocalProtocolError as error:
        raise httpx.LocalProtocolError(str(error)) from error


@cache
def _read_base(host: str) -> httpx.URL:
    return httpx.URL(host)


# Shorter than the 5 s after which many servers close an idle connection: a call on a closed
# connection cannot know whether its request arrived.
KEEP_ALIVE_SECONDS = 4.0
CLOSE_SECONDS = 0.2
LIMITS = httpx.Limits(max_connections=100, keepalive_expiry=KEEP_ALIVE_SECONDS)
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Channels:
    """The connection pools of a sender, created on first use per event loop."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        keep_keys_from_logs()
        self._transport = transport
        self._open: dict[asyncio.AbstractEventLoop, Channel] = {}
        # The finalizer also keeps connections from being collected unclosed together with this
        # object.
        weakref.finalize(self, _close_later, self._open).atexit = False

    async def here(self) -> Channel:
        """Return the pool of the running loop."""
        loop = asyncio.get_running_loop()
        channel = self._open.get(loop)
        if channel is None or channel.process != os.getpid():
            for closed in [loop for loop in self._open if loop.is_closed()]:
                del self._open[closed]
            channel = self._open[loop] = Channel(self._transport)
            await channel.watch_loop()
        return channel

    async def close(self) -> None:
        """Close the connections of the running loop; a later call opens new ones."""
        channel = self._open.pop(asyncio.get_running_loop(), None)
        if channel and channel.process == os.getpid():
            await channel.close()


async def _read_content(response: httpx.Response, max_bytes: int) -> bytes:
    """Read a response to its end or to the limit, because httpx decompresses without a limit."""
    if response.is_stream_consumed:  # a transport that returns complete responses
        reader = AnswerReader(max_bytes=max_bytes)
        reader.feed(response.content)
        return reader.finish()
    reader = AnswerReader(response.headers.get("content-encoding", ""), max_bytes=max_bytes)
    async for piece in response.aiter_raw():
        reader.feed(piece)
    return reader.finish()


@cache
def _trusted() -> ssl.SSLContext:
    """Return the trusted certificates of this machine; cached, because reading them is slow."""
    return httpx.create_ssl_context()


def _close_later(channels: dict[asyncio.AbstractEventLoop, Channel]) -> None:
    """Close pools with a delay: a loop that is ending closes its pool itself."""
    for loop, channel in channels.items():
        if channel.process == os.getpid() and not loop.is_closed():
            loop.call_soon_threadsafe(loop.call_later, CLOSE_SECONDS, channel.begin_close)


class Channel:
    """The connection pool of one loop, closed on request, when collected, or when the loop ends."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None) -> None:
        self.process = os.getpid()
        self._transport = transport
        self._loopback = None if transport else Loopback(LIMITS)
        self._closing: asyncio.Task[None] | None = None
        self._watch = self._close_with_loop()

    async def exchange(self, request: Request) -> HttpReply:
        """Send a request and return its response; raises `httpx.RequestError` and `TooLarge`."""
        if self._loopback and is_plain_loopback(request.host):
            return await self._loopback.exchange(request)
        async with self._httpx_client.stream(
            request.verb,
            request.host + request.target,
            content=request.content,
            headers=request.headers,
            auth=request.keys,
            timeout=request.timeout,
        ) as response:
            content = await _read_content(response, request.max_bytes)
        return HttpReply(response.status_code, response.headers, content)

    async def watch_loop(self) -> None:
        """Register the pool to be closed when the loop closes."""
        await anext(self._watch)

    async def _close_with_loop(self) -> AsyncGenerator[None, None]:
        """Stay suspended: a closing loop first finishes all generators that started in it."""
        try:
            yield
        finally:
            await self.close()

    def begin_close(self) -> asyncio.Task[None]:
        """Start to close, once."""
        self._closing = self._closing or asyncio.ensure_future(self._aclose())
        return self._closing

    @cached_property
    def _httpx_client(self) -> httpx.AsyncClient:
        """The HTTP client for other hosts, created on first use: loading certificates is slow."""
        # Calls to this machine use no proxy, even if the environment names one.
        mounts = {f"all://{name}": self._transport for name in LOOPBACK}
        return httpx.AsyncClient(
            limits=LIMITS, mounts=mounts, transport=self._transport, verify=_trusted()
        )

    async def _aclose(self) -> None:
        if "_httpx_client" in vars(self):
            await self._httpx_client.aclose()
        if self._loopback:
            await self._loopback.aclose()

    async def close(self) -> None:
        """Close the pool, or wait for a close that already started."""
        await asyncio.wait([self.begin_close()])

"""The pool of HTTP connections to this machine, below the HTTP library.

A loopback connection does not need TLS, proxies or other event loops, so this module omits them.
"""

from __future__ import annotations

import asyncio
import encodings.idna  # noqa: F401 - asyncio would import it on the thread of a loop
from collections import defaultdict
from functools import cache

import h11
import httpx

from svc_notebook.client.hosts import is_loopback
from svc_notebook.client.transport.exchange import HttpReply, Request
from svc_notebook.client.transport.loopback_connection import (
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

"""Calls to this machine: asyncio's own streams under the HTTP library, in half of the time.

What its usual streams bring (TLS, proxies, other event loops) a loopback has no use for.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncIterable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, cast

import httpcore
import httpx

# As much as a socket gives at once: a page of a browse in two pieces rather than five.
ROOM = 1 << 20
# A head and a body so small leave together.
SMALL = 1 << 16


class Loopback(httpx.AsyncBaseTransport):
    """Brings each answer whole."""

    def __init__(self, limits: httpx.Limits) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_Network(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read its answer to the end."""
        url = request.url
        sent = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
            ),
            headers=request.headers.raw,
            content=cast("AsyncIterable[bytes]", request.stream),
            extensions=request.extensions,
        )
        with _told_as_httpx():
            answer = await self._pool.handle_async_request(sent)
            try:
                content = await answer.aread()
            finally:
                await answer.aclose()
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=httpx.ByteStream(content),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        """Close its connections."""
        await self._pool.aclose()


@contextmanager
def _told_as_httpx() -> Iterator[None]:
    """Raise the errors of the one library as those of the other, which bear the same names."""
    try:
        yield
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
        kind: type[httpx.TransportError] = getattr(httpx, type(error).__name__)
        raise kind(str(error)) from error


class _Network(httpcore.AsyncNetworkBackend):
    """Opens connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        with _told(OSError, httpcore.ConnectError, httpcore.ConnectTimeout):
            async with asyncio.timeout(timeout):
                return _Stream(*await asyncio.open_connection(host, port, limit=ROOM))


class _Stream(httpcore.AsyncNetworkStream):
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._held: list[bytes] = []

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        with _told(OSError, httpcore.ReadError, httpcore.ReadTimeout):
            async with asyncio.timeout(timeout):
                if self._held:
                    await self._send_held()
                return await self._reader.read(ROOM)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self._held.append(buffer)
        if len(buffer) > SMALL:
            with _told(OSError, httpcore.WriteError, httpcore.WriteTimeout):
                async with asyncio.timeout(timeout):
                    await self._send_held()

    async def _send_held(self) -> None:
        held, self._held = self._held, []
        self._writer.writelines(held)
        await self._writer.drain()

    async def aclose(self) -> None:
        # Not `close`, which would wait for what nobody is going to read.
        self._writer.transport.abort()
        await asyncio.sleep(0)

    def get_extra_info(self, info: str) -> Any:
        return self._is_readable() if info == "is_readable" else None

    def _is_readable(self) -> bool:
        """Whether the other end hung up, even if the loop has not turned since."""
        if self._reader.at_eof() or self._writer.is_closing():
            return True
        with selectors.DefaultSelector() as selector:
            selector.register(self._writer.get_extra_info("socket"), selectors.EVENT_READ)
            return bool(selector.select(0))


@contextmanager
def _told(kind: type[Exception], broken: type[Exception], late: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except kind as error:
        raise broken(str(error)) from error

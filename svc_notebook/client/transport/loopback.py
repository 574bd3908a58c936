"""HTTP connections to this machine, on plain asyncio transports below the HTTP library.

A loopback connection does not need TLS, proxies or other event loops, so this module omits them.
"""

from __future__ import annotations

import asyncio
import selectors
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, cast

import httpcore
import httpx

from svc_notebook.client.hosts import is_loopback
from svc_notebook.client.transport.decompression import AnswerReader
from svc_notebook.client.transport.exchange import HttpReply, Request

# The size of one read from a socket: a page of a browse takes two reads rather than five.
READ_BUFFER_BYTES = 1 << 20
# A head and a body up to this size are sent together.
MAX_COALESCED_BYTES = 1 << 16
# Methods that send `content-length` even for an empty body.
WITH_BODY = ("POST", "PUT", "PATCH")
# Polling one socket takes one system call; the default selector takes four.
_QuickSelector = getattr(selectors, "PollSelector", selectors.DefaultSelector)


class Loopback:
    """Send requests to this machine and return complete responses.

    It uses the HTTP library's lower layer: what the upper layer does for each request (cookies,
    redirects, proxies) takes longer than a small search.
    """

    def __init__(self, limits: httpx.Limits) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            max_connections=limits.max_connections,
            max_keepalive_connections=limits.max_keepalive_connections,
            keepalive_expiry=limits.keepalive_expiry,
            network_backend=_Network(),
        )

    async def exchange(self, request: Request) -> HttpReply:
        """Send a request and read its response to the end.

        Raises `httpx.RequestError`, and `TooLarge` for a response beyond its limit.
        """
        sent = _make_request(request)
        with _httpx_errors():
            answer = await self._pool.handle_async_request(sent)
            try:
                headers = _read_headers(answer.headers)
                encoding = headers.get("content-encoding", "")  # sent although not requested
                reader = AnswerReader(encoding, max_bytes=request.max_bytes)
                async for piece in answer.aiter_stream():
                    reader.feed(piece)
                content = reader.finish()
            finally:
                await answer.aclose()
        return HttpReply(answer.status, headers, content)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


@cache
def is_plain_loopback(host: str) -> bool:
    """Return whether an address is on this machine and does not need TLS."""
    return host.startswith("http://") and is_loopback(host)


def _make_request(request: Request) -> httpcore.Request:
    base = _read_base(request.host)
    headers = {"host": base.netloc.decode(), **request.headers, **request.keys.headers()}
    if request.content is not None or request.verb in WITH_BODY:
        headers["content-length"] = str(len(request.content or b""))
    return httpcore.Request(
        request.verb,
        httpcore.URL(
            scheme=base.raw_scheme,
            host=base.raw_host,
            port=base.port,
            target=base.raw_path.rstrip(b"/") + request.target.encode("ascii"),
        ),
        headers=[*headers.items()],
        content=request.content,
        extensions={"timeout": request.timeout.as_dict()},
    )


@cache
def _read_base(host: str) -> httpx.URL:
    return httpx.URL(host)


def _read_headers(raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in raw}


@contextmanager
def _httpx_errors() -> Iterator[None]:
    """Raise httpcore errors as the httpx errors of the same names."""
    try:
        yield
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
        kind: type[httpx.TransportError] = getattr(httpx, type(error).__name__)
        raise kind(str(error)) from error


class _Network(httpcore.AsyncNetworkBackend):
    """The network backend that opens connections."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's own signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        loop = asyncio.get_running_loop()
        with _httpcore_errors(OSError, httpcore.ConnectError, httpcore.ConnectTimeout):
            async with asyncio.timeout(timeout):
                _, protocol = await loop.create_connection(_BufferedProtocol, host, port)
        return _Stream(protocol)


class _BufferedProtocol(asyncio.Protocol):
    """The protocol of a connection: buffers received pieces until they are read."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._error: Exception | None = None
        self._ended = False
        self._received = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()

    @property
    def is_readable(self) -> bool:
        """Whether data or the end of the stream was received."""
        return self._ended or bool(self._pieces)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        if self._size > READ_BUFFER_BYTES:
            self.transport.pause_reading()
        self._received.set()

    def eof_received(self) -> None:
        self._ended = True
        self._received.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._error = exc
        self._received.set()
        self._may_write.set()

    def pause_writing(self) -> None:
        self._may_write.clear()

    def resume_writing(self) -> None:
        self._may_write.set()

    async def read(self) -> bytes:
        """Return the next piece, or empty bytes at the end."""
        if not self._pieces and not self._ended:
            self._received.clear()
            await self._received.wait()
        if self._pieces:
            return self._take()
        if self._error:
            raise self._error
        return b""

    def _take(self) -> bytes:
        piece = self._pieces.popleft()
        self._size -= len(piece)
        if self._size <= READ_BUFFER_BYTES and not self._ended:
            self.transport.resume_reading()
        return piece

    async def write(self, data: bytes) -> None:
        """Send data, and wait while the send buffer is full."""
        self.transport.write(data)
        await self._may_write.wait()
        if self._error or self.transport.is_closing():
            raise self._error or ConnectionResetError("the connection was closed by the service")


class _Stream(httpcore.AsyncNetworkStream):
    """The httpcore stream of one connection; small writes are sent with the next, or on a read."""

    def __init__(self, protocol: _BufferedProtocol) -> None:
        self._protocol = protocol
        self._unsent = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        with _httpcore_errors(OSError, httpcore.ReadError, httpcore.ReadTimeout):
            async with asyncio.timeout(timeout):
                if self._unsent:
                    await self._flush()
                return await self._protocol.read()

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if len(self._unsent) + len(buffer) <= MAX_COALESCED_BYTES:
            self._unsent += buffer
            return
        with _httpcore_errors(OSError, httpcore.WriteError, httpcore.WriteTimeout):
            async with asyncio.timeout(timeout):
                await self._flush()
                await self._protocol.write(buffer)

    async def _flush(self) -> None:
        unsent, self._unsent = self._unsent, b""
        await self._protocol.write(unsent)

    async def aclose(self) -> None:
        # Not `close`, which waits for data that will not be read.
        self._protocol.transport.abort()
        await asyncio.sleep(0)

    def get_extra_info(self, info: str) -> Any:
        return self._is_readable() if info == "is_readable" else None

    def _is_readable(self) -> bool:
        """Return whether the peer closed the connection, even if the loop has not noticed yet."""
        transport = self._protocol.transport
        if self._protocol.is_readable or transport.is_closing():
            return True
        with _QuickSelector() as selector:
            selector.register(transport.get_extra_info("socket"), selectors.EVENT_READ)
            return bool(selector.select(0))


@contextmanager
def _httpcore_errors(
    kind: type[Exception], broken: type[Exception], late: type[Exception]
) -> Iterator[None]:
    """Raise timeouts as `late`, and errors of `kind` as `broken`."""
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except kind as error:
        raise broken(str(error)) from error

"""One HTTP/1.1 connection to this machine, on a plain asyncio transport.

A parser reads the head of a response. A body of a known length is read from the transport: the
parser would copy it several times, which takes longer than its transfer.
"""

from __future__ import annotations

import asyncio
import selectors
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import h11
import httpx

from svc_notebook.data.client.transport.exchange import AnswerReader, HttpReply, Request

# The received bytes that are kept until they are read; then the transport stops reading.
READ_BUFFER_BYTES = 1 << 20
# A head and a body up to this size are sent together.
MAX_COALESCED_BYTES = 1 << 16
MAX_HEAD_BYTES = 100 * 1024
END_OF_HEAD = b"\r\n\r\n"
# Statuses of responses without a body, whatever their headers say.
WITHOUT_BODY = (204, 304)
# Polling one socket takes one system call; the default selector takes four.
_QuickSelector = getattr(selectors, "PollSelector", selectors.DefaultSelector)


async def open_connection(host: str, port: int, seconds: float | None) -> LoopbackConnection:
    """Connect within a time; raises `httpx.ConnectError` and `httpx.ConnectTimeout`."""
    loop = asyncio.get_running_loop()
    with _httpx_errors(httpx.ConnectError, httpx.ConnectTimeout):
        async with asyncio.timeout(seconds):
            _, protocol = await loop.create_connection(_BufferedProtocol, host, port)
    return LoopbackConnection(protocol)


class LoopbackConnection:
    """A connection that sends one request after another; any error makes it unusable."""

    def __init__(self, protocol: _BufferedProtocol) -> None:
        self._protocol = protocol
        # Whether the next request can use it, and the time of the loop until which it can wait.
        self.is_reusable = False
        self.expires_at = 0.0

    async def exchange(self, head: h11.Request, request: Request) -> HttpReply:
        """Send a request and read its response to the end.

        Raises `httpx.RequestError`, and `TooLarge` for a response beyond its limit.
        """
        self.is_reusable = False
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        written = True
        try:
            await self._write(http, head, request.content, request.timeout.write)
        except httpx.WriteError:
            # A service can refuse a request before it has read all of it, and close.
            written = False
        with _protocol_errors():
            response, rest = await self._read_head(http, request.timeout.read)
            headers = {
                name.decode("latin-1").lower(): value.decode("latin-1")
                for name, value in response.headers.raw_items()
            }
            encoding = headers.get("content-encoding", "")  # sent although not requested
            reader = AnswerReader(encoding, max_bytes=request.max_bytes)
            length = _find_length(request.verb, response.status_code, headers)
            if length is None:
                whole = await self._read_events(http, rest, reader, request.timeout.read)
            else:
                whole = await self._read_body(length, rest, reader, request.timeout.read)
        self.is_reusable = written and whole and http.our_state is h11.DONE
        return HttpReply(response.status_code, headers, reader.finish())

    async def _write(
        self, http: h11.Connection, head: h11.Request, content: bytes | None, seconds: float | None
    ) -> None:
        try:
            first = http.send(head) or b""
            body = http.send(h11.Data(content)) or b"" if content else b""
            http.send(h11.EndOfMessage())
        except h11.LocalProtocolError as error:
            raise httpx.LocalProtocolError(str(error)) from error
        pieces = [first + body] if len(first) + len(body) <= MAX_COALESCED_BYTES else [first, body]
        with _httpx_errors(httpx.WriteError, httpx.WriteTimeout):
            async with asyncio.timeout(seconds):
                for piece in pieces:
                    await self._protocol.write(piece)

    async def _read_head(
        self, http: h11.Connection, seconds: float | None
    ) -> tuple[h11.Response | h11.InformationalResponse, bytes]:
        """Return the head of the response, and the bytes after it that were received with it."""
        rest = b""
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                if not rest:
                    rest = await self._read(seconds)
                    if not rest:
                        message = "Server disconnected without sending a response."
                        raise httpx.RemoteProtocolError(message)
                end = rest.find(END_OF_HEAD)
                end = len(rest) if end < 0 else end + len(END_OF_HEAD)
                http.receive_data(rest[:end])
                rest = rest[end:]
            elif isinstance(event, h11.Response):
                return event, http.trailing_data[0] + rest
            elif isinstance(event, h11.InformationalResponse) and event.status_code == 101:
                return event, b""

    async def _read_events(
        self, http: h11.Connection, rest: bytes, reader: AnswerReader, seconds: float | None
    ) -> bool:
        """Read a body that ends with its last chunk, or with the connection.

        Returns whether another response can follow.
        """
        taken = len(http.trailing_data[0])
        if len(rest) > taken:
            http.receive_data(rest[taken:])
        while True:
            event = http.next_event()
            if isinstance(event, h11.Data):
                reader.feed(bytes(event.data))
            elif event is h11.NEED_DATA:
                http.receive_data(await self._read(seconds))
            else:
                return http.their_state is h11.DONE and not http.trailing_data[0]

    async def _read_body(
        self, length: int, rest: bytes, reader: AnswerReader, seconds: float | None
    ) -> bool:
        """Read a body of this length; return whether it is all that was received."""
        received = len(rest)
        if rest:
            reader.feed(rest[:length])
        while received < length:
            piece = await self._read(seconds)
            if not piece:
                raise httpx.RemoteProtocolError(
                    "peer closed connection without sending complete message body "
                    f"(received {received} bytes, expected {length})"
                )
            reader.feed(piece[: length - received])
            received += len(piece)
        return received == length

    async def _read(self, seconds: float | None) -> bytes:
        with _httpx_errors(httpx.ReadError, httpx.ReadTimeout):
            if self._protocol.is_readable:
                return await self._protocol.read()
            async with asyncio.timeout(seconds):
                return await self._protocol.read()

    def abort(self) -> None:
        """Close the connection; data that was not read is lost."""
        self._protocol.transport.abort()

    def is_readable(self) -> bool:
        """Return whether the peer closed the connection, even if the loop has not noticed yet."""
        transport = self._protocol.transport
        if self._protocol.is_readable or transport.is_closing():
            return True
        with _QuickSelector() as selector:
            selector.register(transport.get_extra_info("socket"), selectors.EVENT_READ)
            return bool(selector.select(0))


def _find_length(verb: str, status: int, headers: dict[str, str]) -> int | None:
    """Return the length of a body that the headers name; None if the parser has to find its end."""
    if verb == "HEAD" or status in WITHOUT_BODY or "transfer-encoding" in headers:
        return None
    # The parser has checked the length.
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else None


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


@contextmanager
def _protocol_errors() -> Iterator[None]:
    """Raise what the parser says about a response as the error of the HTTP library."""
    try:
        yield
    except h11.RemoteProtocolError as error:
        raise httpx.RemoteProtocolError(str(error)) from error


@contextmanager
def _httpx_errors(
    broken: type[httpx.TransportError], late: type[httpx.TransportError]
) -> Iterator[None]:
    """Raise timeouts as `late`, and errors of the network as `broken`."""
    try:
        yield
    except TimeoutError as error:
        raise late(str(error)) from error
    except OSError as error:
        raise broken(str(error)) from error

"""One client connection: uvicorn's HTTP protocol with timeouts and a connection limit.

Input that is not HTTP is refused in JSON, after the responses to earlier requests. A caller that
sends or reads too slowly is disconnected. If there are too many connections, the connection that
has been idle longest is closed.
"""

from __future__ import annotations

import asyncio
from typing import cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from svc_notebook.service.http.messages import (
    CORS_HEADERS,
    Message,
    Receive,
    Send,
    error_response,
    send_response,
)

MAX_CONNECTIONS = 1000
MAX_HEADER_BYTES = 64 * 2**10
# The minimum rate of a request: this many seconds, and the bytes that must arrive in them.
RATE_WINDOW_SECONDS, MIN_WINDOW_BYTES = 20.0, 10_000
# The maximum seconds for a whole request, at any rate.
REQUEST_SECONDS = 300.0
# A caller that closed its sending side may be waiting for the response or be gone; only a write to
# it shows which. After this many seconds it counts as gone.
HALF_CLOSED_SECONDS = 2.0
# Seconds and bytes for which input is still read after an error response; otherwise the caller
# would see a broken connection instead of the response.
LINGER_SECONDS, MAX_DROPPED_BYTES = 2.0, 2**20


class Connection(HttpToolsProtocol):
    """One connection of a caller."""

    _in_head = False
    _head_size = 0
    _receiving = False
    _started = 0.0
    _was_receiving = False  # a request was already being received at the last check
    _received = 0
    _unsent = 0
    _pending = 0  # requests without a complete response, including the one being received
    _final_response: bytes | None = None
    _idle_since = 0.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection; close another one if there are too many."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._timer = self.loop.call_later(RATE_WINDOW_SECONDS, self._check_rate)
        self._arm_keepalive()
        if len(self.connections) > MAX_CONNECTIONS:
            self._evict_idle()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers of the connection."""
        if self._timer:
            self._timer.cancel()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Start to read the head of a request."""
        self._unset_keepalive_if_required()
        super().on_message_begin()
        self._in_head = self._receiving = True
        self._was_receiving = False
        self._started = self.loop.time()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header; trailers after a body are ignored."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start to read the body of a request."""
        if self._requests_upgrade():
            return
        super().on_headers_complete()
        self._in_head = False
        self._pending += 1

    def on_message_complete(self) -> None:
        """Record that a request is complete."""
        if self._in_head:
            return
        self._receiving = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Continue with the next request, or close after the last response."""
        self._pending -= 1
        self._idle_since = self.loop.time()
        super().on_response_complete()
        if self._final_response is not None and not self._pending:
            self._send_final_response()

    def data_received(self, data: bytes) -> None:
        """Parse received data; a head that exceeds the limit is refused."""
        self._received += len(data)
        if self._final_response is not None:
            if self._received > MAX_DROPPED_BYTES:
                self.transport.abort()
            return
        try:
            self._feed(data)
        except httptools.HttpParserError:
            self._refuse(400, "this is not a valid HTTP request")
            return
        self._head_size = self._head_size + len(data) if self._in_head else 0
        if self._head_size > MAX_HEADER_BYTES:
            self._refuse(431, "the headers are too large")

    def _feed(self, data: bytes) -> None:
        while data:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as upgrade:
                data = self._plain_head() + data[upgrade.args[0] :]
            else:
                return

    def _requests_upgrade(self) -> bool:
        return self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"

    def _plain_head(self) -> bytes:
        """Return the head of an upgrade request without its upgrade headers.

        The service does not upgrade, and the parser would treat the body as the other protocol.
        """
        if not self._in_head:
            return b""
        kept = [header for header in self.headers if header[0] not in (b"connection", b"upgrade")]
        lines = [b"%s %s HTTP/1.1" % (self.parser.get_method(), self.url)]
        lines += [b"%s: %s" % header for header in kept]
        self.parser = httptools.HttpRequestParser(self)
        return b"\r\n".join([*lines, b"", b""])

    def eof_received(self) -> bool:  # type: ignore[override]  # as asyncio requires
        """Respond to the received requests although the caller closed its sending side."""
        if self._final_response is not None:
            return False
        self._end(b"")
        if self._pending:
            self.loop.call_later(HALF_CLOSED_SECONDS, self._leave_half_closed)
        return bool(self._pending)

    def _leave_half_closed(self) -> None:
        """Close if no response has started: the caller has most likely disconnected."""
        if self._pending and not self.cycle.response_started and not self.transport.is_closing():
            self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, at once if the caller does not read its responses."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _arm_keepalive(self) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def _check_rate(self) -> None:
        """Disconnect a caller that sends or reads too slowly."""
        unsent = self.transport.get_write_buffer_size()
        if unsent and unsent == self._unsent:
            self.transport.abort()
            return
        waiting = self._receiving and not self.flow.read_paused
        slow = waiting and self._was_receiving and self._received < MIN_WINDOW_BYTES
        overdue = waiting and self.loop.time() - self._started > REQUEST_SECONDS
        self._unsent, self._received, self._was_receiving = unsent, 0, waiting
        self._timer = self.loop.call_later(RATE_WINDOW_SECONDS, self._check_rate)
        if (slow or overdue) and self._final_response is None:
            limit = REQUEST_SECONDS if overdue else RATE_WINDOW_SECONDS
            self._refuse(408, f"the request did not arrive within {limit:.0f} s; send it again")

    def _evict_idle(self) -> None:
        """Close the connection that has been idle longest; if none is idle, refuse this one."""
        others = [
            connection
            for connection in self.connections
            if connection is not self and not connection.transport.is_closing()
        ]
        waiting = [
            connection for connection in cast("list[Connection]", others) if connection._is_idle()
        ]
        if waiting:
            min(
                waiting, key=lambda connection: (connection._receiving, connection._idle_since)
            ).timeout_keep_alive_handler()
        else:
            self.app = refuse_connection

    def _is_idle(self) -> bool:
        return not self._pending or (self._pending == 1 and self._receiving and not self._in_head)

    def _refuse(self, status: int, message: str) -> None:
        response = error_response(status, message)
        fields = {"content-length": str(len(response.body)), "connection": "close"}
        headers = {**CORS_HEADERS, **response.headers, **fields}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._end(f"HTTP/1.1 {status} {REASONS[status]}\r\n{head}\r\n".encode() + response.body)

    def _end(self, final_response: bytes) -> None:
        """Stop reading; respond to complete requests, then send `final_response` and close."""
        self._final_response = final_response
        self._received = 0
        if self._receiving and not self._in_head:
            self._drop_unfinished()
        if not self._pending:
            self._send_final_response()

    def _drop_unfinished(self) -> None:
        """Discard a request whose body will not be complete."""
        if self.cycle.response_started:
            self._final_response = b""
            return
        self._pending -= 1
        self.cycle.disconnected = True
        self.cycle.message_event.set()
        if self.pipeline and self.pipeline[0][0] is self.cycle:
            self.pipeline.popleft()

    def _send_final_response(self) -> None:
        if self.transport.is_closing():
            return
        if not self._final_response:
            self.transport.close()
            return
        self.transport.write(self._final_response)
        self.transport.write_eof()
        self.loop.call_later(LINGER_SECONDS, self.transport.abort)


REASONS = {400: "Bad Request", 408: "Request Timeout", 431: "Request Header Fields Too Large"}


async def refuse_connection(scope: Message, receive: Receive, send: Send) -> None:
    """Respond with 429 in place of the service, because all connections are busy."""
    message = "too many open connections; try again"
    fields = {"retry-after": "1", "connection": "close"}
    await send_response(
        send, error_response(429, message, fields), head_only=scope["method"] == "HEAD"
    )

"""Connection pools, one per event loop, because a connection belongs to the loop that opened it."""

from __future__ import annotations

import asyncio
import os
import ssl
import weakref
from collections.abc import AsyncGenerator
from functools import cache, cached_property

import httpx

from svc_notebook.client.secret import keep_keys_from_logs
from svc_notebook.client.transport.decompression import AnswerReader
from svc_notebook.client.transport.exchange import HttpReply, Request
from svc_notebook.client.transport.loopback import Loopback, is_plain_loopback

# Shorter than the 5 s after which many servers drop an idle connection: a call that meets a
# dropped one could not tell whether it arrived.
KEEP_ALIVE_SECONDS = 4.0
CLOSE_SECONDS = 0.2
LIMITS = httpx.Limits(max_connections=100, keepalive_expiry=KEEP_ALIVE_SECONDS)
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Channels:
    """The HTTP clients of a sender, made when first needed on a loop."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None = None) -> None:
        keep_keys_from_logs()
        self._transport = transport
        self._open: dict[asyncio.AbstractEventLoop, Channel] = {}
        # It also keeps connections from being collected along with us, unclosed.
        weakref.finalize(self, _let_go, self._open).atexit = False

    async def here(self) -> Channel:
        """Return the running loop's."""
        loop = asyncio.get_running_loop()
        channel = self._open.get(loop)
        if channel is None or channel.process != os.getpid():
            for closed in [loop for loop in self._open if loop.is_closed()]:
                del self._open[closed]
            channel = self._open[loop] = Channel(self._transport)
            await channel.watch_loop()
        return channel

    async def close(self) -> None:
        """Close the running loop's connections; a later call opens new ones."""
        channel = self._open.pop(asyncio.get_running_loop(), None)
        if channel and channel.process == os.getpid():
            await channel.close()


async def _read_content(response: httpx.Response, max_bytes: int) -> bytes:
    """Read an answer to its end or to the limit: the library itself unpacks without one."""
    if response.is_stream_consumed:  # a transport that gives answers ready made
        reader = AnswerReader(max_bytes=max_bytes)
        reader.feed(response.content)
        return reader.finish()
    reader = AnswerReader(response.headers.get("content-encoding", ""), max_bytes=max_bytes)
    async for piece in response.aiter_raw():
        reader.feed(piece)
    return reader.finish()


@cache
def _trusted() -> ssl.SSLContext:
    """Whom this machine trusts; reading that takes longer than many a call."""
    return httpx.create_ssl_context()


def _let_go(channels: dict[asyncio.AbstractEventLoop, Channel]) -> None:
    """Close them a little later: a loop that ends now closes them itself, undisturbed."""
    for loop, channel in channels.items():
        if channel.process == os.getpid() and not loop.is_closed():
            loop.call_soon_threadsafe(loop.call_later, CLOSE_SECONDS, channel.begin_close)


class Channel:
    """One loop's connections: closed on request, when nobody holds them, or when the loop ends."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None) -> None:
        self.process = os.getpid()
        self._transport = transport
        self._near = None if transport else Loopback(LIMITS)
        self._closing: asyncio.Task[None] | None = None
        self._watch = self._close_with_loop()

    async def exchange(self, request: Request) -> HttpReply:
        """Send a request and bring its answer; raises `httpx.RequestError` and `TooLarge`."""
        if self._near and is_plain_loopback(request.host):
            return await self._near.exchange(request)
        async with self._far.stream(
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
        """Close when the loop does."""
        await anext(self._watch)

    async def _close_with_loop(self) -> AsyncGenerator[None, None]:
        """Stay suspended: a loop finishes every generator begun in it before it closes."""
        try:
            yield
        finally:
            await self.close()

    def begin_close(self) -> asyncio.Task[None]:
        """Begin to close, once."""
        self._closing = self._closing or asyncio.ensure_future(self._aclose())
        return self._closing

    @cached_property
    def _far(self) -> httpx.AsyncClient:
        """What reaches all else, made when first needed: its certificates take long to read."""
        # No proxy stands before this machine, whatever the environment says.
        mounts = {f"all://{name}": self._transport for name in LOOPBACK}
        return httpx.AsyncClient(
            limits=LIMITS, mounts=mounts, transport=self._transport, verify=_trusted()
        )

    async def _aclose(self) -> None:
        if "_far" in vars(self):
            await self._far.aclose()
        if self._near:
            await self._near.aclose()

    async def close(self) -> None:
        """Close, whoever began it."""
        await asyncio.wait([self.begin_close()])

"""A proxy before a real service that injects faults into connections."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
import socket
import struct
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
PAGE = b"<html><body>Bad gateway</body></html>"


class Request(NamedTuple):
    """What a client sent, whole."""

    verb: str
    path: str
    content: bytes


@dataclass
class Exchange:
    """One request on its way; a fault does with it as it likes, and says whether to go on."""

    proxy: Proxy
    request: Request
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self) -> bytes:
        """Let the service carry it out; returns the whole answer."""
        return await self.proxy.forward(self.request)

    async def answer(self, content: bytes) -> None:
        self.writer.write(content)
        await self.writer.drain()

    def reset(self) -> None:
        """Break the connection as a crash does."""
        own = self.writer.get_extra_info("socket")
        own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


def refusal(status: str, body: bytes = b'{"message":"not now"}', more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\n{more}content-type: application/json\r\n"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode() + body


async def pass_on(exchange: Exchange) -> bool:
    await exchange.answer(await exchange.ask())
    return True


async def delay(exchange: Exchange) -> bool:
    await asyncio.sleep(0.1)
    return await pass_on(exchange)


async def drop(exchange: Exchange) -> bool:
    exchange.reset()
    return False


async def lose_answer(exchange: Exchange) -> bool:
    await exchange.ask()
    exchange.reset()
    return False


async def truncate(exchange: Exchange) -> bool:
    answer = await exchange.ask()
    await exchange.answer(answer[: len(answer) // 2])
    exchange.writer.close()
    return False


async def answer_garbage(exchange: Exchange) -> bool:
    await exchange.ask()
    await exchange.answer(b"\x00\xff not a status line\r\n\r\n")
    exchange.writer.close()
    return False


async def answer_page(exchange: Exchange) -> bool:
    await exchange.answer(refusal("502 Bad Gateway", PAGE))
    return True


async def break_down(exchange: Exchange) -> bool:
    await exchange.ask()
    await exchange.answer(refusal("500 Internal Server Error"))
    return True


async def be_away(exchange: Exchange) -> bool:
    await exchange.answer(refusal("503 Service Unavailable"))
    return True


async def slow_down(exchange: Exchange) -> bool:
    await exchange.answer(refusal("429 Too Many Requests", more="retry-after: 0\r\n"))
    return True


Fault = Callable[[Exchange], Coroutine[Any, Any, bool]]
FAULTS: tuple[Fault, ...] = (
    delay, drop, lose_answer, truncate, answer_garbage, answer_page, break_down, be_away, slow_down,
)  # fmt: skip
# What is done before the service has seen the request; the rest may or may not be carried out.
HARMLESS: tuple[Fault, ...] = (delay, slow_down)


@dataclass
class Proxy:
    """Stands before a service; `choose` picks what becomes of each request."""

    upstream: str
    choose: Callable[[Proxy, Request], Fault]
    injected: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    busy: int = 0
    url: str = ""
    # A part of the requests is cut in the middle of the body, before anything is chosen.
    cut: Callable[[], bool] = lambda: False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Treat the requests of one connection, one after the other."""
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, OSError):
                while await self._one(reader, writer):
                    pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        found = LENGTH.search(head)
        length = int(found[1]) if found else 0
        verb, path, _ = head.split(b"\r\n", 1)[0].decode().split(" ")
        if length and self.cut():
            await reader.readexactly(length // 2)
            self.injected["cut in the body"] += 1
            Exchange(self, Request(verb, path, b""), reader, writer).reset()
            return False
        request = Request(verb, path, head + await reader.readexactly(length))
        fault = self.choose(self, request)
        self.requests += 1
        if fault is not pass_on:
            self.injected[fault.__name__] += 1
        self.busy += 1
        try:
            return await fault(Exchange(self, request, reader, writer))
        finally:
            self.busy -= 1

    async def forward(self, request: Request) -> bytes:
        """Send a request to the service on a connection of its own."""
        parts = urlsplit(self.upstream)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            writer.write(request.content)
            head = await reader.readuntil(b"\r\n\r\n")
            found = LENGTH.search(head)
            return head + await reader.readexactly(int(found[1]) if found else 0)
        finally:
            writer.close()


@contextmanager
def running(proxy: Proxy) -> Iterator[Proxy]:
    """Run a proxy in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(
        asyncio.start_server(proxy.serve, "127.0.0.1", 0, limit=1 << 24), loop
    ).result(5)
    proxy.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def _end(server: asyncio.Server) -> None:
    server.close()
    # The task of a connection that was just accepted has to begin: cancelled before, it would leave
    # the socket open.
    await asyncio.sleep(0.02)
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.02)  # what was closed is closed a turn of the loop later


def at_random(
    share: float, seed: int, faults: tuple[Fault, ...] = FAULTS
) -> Callable[[Proxy, Request], Fault]:
    """Choose a fault for that share of the requests."""
    dice = random.Random(seed)

    def choose(proxy: Proxy, request: Request) -> Fault:
        return dice.choice(faults) if dice.random() < share else pass_on

    return choose

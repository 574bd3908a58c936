"""A server on a real socket that answers each request with a given fault."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Act = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(frozen=True)
class Request:
    verb: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Stub:
    """Its acts come in turn, the last one again and again."""

    acts: list[Act]
    requests: list[Request] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    url: str = ""
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    @property
    def connections(self) -> int:
        return len(self.writers)

    async def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        try:
            while True:
                self.requests.append(await read_request(reader))
                act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
                await act(writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    verb, target, _ = first.split(" ")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(verb, target, headers, body)


@contextmanager
def serving(*acts: Act) -> Iterator[Stub]:
    """Serve in a thread of its own for as long as the block lasts."""
    stub = Stub(list(acts) or [answer()])
    loop = stub.loop
    server = loop.run_until_complete(asyncio.start_server(stub.meet, "127.0.0.1", 0))
    stub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield stub
    finally:
        asyncio.run_coroutine_threadsafe(end(server, stub), loop).result(5)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        loop.close()


async def end(server: asyncio.Server, stub: Stub) -> None:
    server.close()
    await asyncio.sleep(0.01)  # what was being accepted is met
    for writer in stub.writers:
        writer.transport.abort()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await asyncio.sleep(0.01)  # what was aborted is let go of


def answer(body: Any = None, status: int = 200, headers: Mapping[str, str] = {}) -> Act:
    """Answer in JSON."""
    content = json.dumps({"hits": [], "nbHits": 0} if body is None else body).encode()
    return raw(content, status, {"content-type": "application/json", **headers})


def raw(
    content: bytes,
    status: int = 200,
    headers: Mapping[str, str] = {},
    *,
    length: int | None = None,
) -> Act:
    """Answer with these bytes, claiming to be as long as `length`."""
    lines = [f"HTTP/1.1 {status} Whatever"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines += [f"content-length: {len(content) if length is None else length}", "", ""]
    head = "\r\n".join(lines).encode()

    async def act(writer: asyncio.StreamWriter) -> None:
        writer.write(head + content)
        if length is not None:
            await drop(writer)

    return act


async def drop(writer: asyncio.StreamWriter) -> None:
    """Take the request and hang up."""
    writer.close()
    await writer.wait_closed()


async def reset(writer: asyncio.StreamWriter) -> None:
    """Take the request and reset the connection."""
    own = writer.get_extra_info("socket")
    own.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await drop(writer)


async def babble(writer: asyncio.StreamWriter) -> None:
    """Answer in something that is not HTTP."""
    writer.write(b"\x16\x03 this is not HTTP\r\n\r\n")
    await drop(writer)


async def hang(writer: asyncio.StreamWriter) -> None:
    """Take the request and say nothing."""
    await asyncio.sleep(60)


async def trickle(writer: asyncio.StreamWriter) -> None:
    """Answer a byte at a time and never come to an end."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.005)


def closed_port() -> str:
    """An address at which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"

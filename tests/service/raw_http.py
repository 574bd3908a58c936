"""HTTP over bare sockets: many requests at once on few connections, and their outcomes."""

from __future__ import annotations

import asyncio
import gzip
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.service.attack import Shot

# So many connections, and so many requests on the way in each.
CONNECTIONS, AHEAD = 8, 12
# Generous: an answer takes milliseconds, the machine may be busy.
PATIENCE = 40


class Answer(NamedTuple):
    """One answer; status 0 stands for a connection that was closed without one."""

    status: int
    headers: dict[str, str]
    body: bytes


CLOSED = Answer(0, {}, b"")


class Pipes:
    """Sends shots to one service."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._place = parts.hostname, parts.port
        self.answered: list[tuple[Shot, Answer]] = []

    def send(self, shots: Iterable[Shot]) -> list[tuple[Shot, Answer]]:
        """Send all; returns each with its answer."""
        asyncio.run(self._send(iter(shots)))
        return self.answered

    async def _send(self, shots: Iterator[Shot]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(CONNECTIONS):
                group.create_task(self._work(shots))

    async def _work(self, shots: Iterator[Shot]) -> None:
        while chunk := list(islice(shots, AHEAD)):
            for shot in chunk:
                if not shot.whole:
                    self.answered.append((shot, await self.alone(shot)))
            await self._pipeline([shot for shot in chunk if shot.whole])

    async def _pipeline(self, shots: Sequence[Shot]) -> None:
        """Send shots in one go; those behind one that closed the connection are sent again."""
        while shots:
            reader, writer = await self._open()
            writer.write(b"".join(shot.raw for shot in shots))
            answers = [a async for a in _answers(reader, shots)] or [CLOSED]
            self.answered += zip(shots, answers, strict=False)
            shots = shots[len(answers) :]
            await _close(writer)

    async def alone(self, shot: Shot) -> Answer:
        """Send one shot as if nothing followed, and see what comes back before the end."""
        reader, writer = await self._open()
        writer.write(shot.raw)
        with suppress(ConnectionError):
            writer.write_eof()
        answer = await read_answer(reader, shot.verb)
        await _close(writer)
        return answer

    async def _open(self) -> tuple[StreamReader, StreamWriter]:
        return await asyncio.open_connection(*self._place)


async def _answers(reader: StreamReader, shots: Sequence[Shot]) -> AsyncIterator[Answer]:
    for shot in shots:
        answer = await read_answer(reader, shot.verb)
        if answer is CLOSED:
            return
        yield answer
        if answer.headers.get("connection") == "close":
            return


async def read_answer(reader: StreamReader, verb: str) -> Answer:
    """Read one answer; raises `TimeoutError` where none comes."""
    async with asyncio.timeout(PATIENCE):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return CLOSED
        status_line, *lines = head.decode("latin-1").split("\r\n")
        status = int(status_line.split(" ")[1])
        if status == 100:
            return await read_answer(reader, verb)
        headers = {n.lower(): v.strip() for n, _, v in (line.partition(":") for line in lines)}
        size = 0 if verb == "HEAD" else int(headers.get("content-length", 0))
        body = await reader.readexactly(size)
    if headers.get("content-encoding") == "gzip":
        body = gzip.decompress(body)
    return Answer(status, headers, body)


async def _close(writer: StreamWriter) -> None:
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()

"""Reader threads are shared between callers, and freed when a caller disconnects."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from svc_notebook.errors import TooMany
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.http.messages import ClientDisconnected, Message, ServiceResponse
from svc_notebook.service.http.reader_threads import (
    LARGE_REQUEST_BYTES,
    MAX_RUNNING_LARGE,
    MAX_RUNNING_SMALL,
    MAX_WAITING_REQUESTS,
    READER_THREADS,
    WATCH_AFTER_SECONDS,
    ReaderThreads,
)

LARGE = LARGE_REQUEST_BYTES + 1


class Visitor:
    """A caller that stays until told to leave."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()

    async def receive(self) -> Message:
        await self.gone.wait()
        return {"type": "http.disconnect"}


class Gate:
    """Work that begins, and ends when it is opened."""

    def __init__(self) -> None:
        self.begun = 0
        self.open = threading.Event()
        self._lock = threading.Lock()

    def work(self) -> ServiceResponse:
        with self._lock:
            self.begun += 1
        while not self.open.wait(0.005):
            check_time()
        return ServiceResponse(200)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - what is waited for happens in threads
        await asyncio.sleep(0.005)


def play(scene: Callable[[ReaderThreads], Any]) -> None:
    async def run() -> None:
        readers = ReaderThreads(seconds=30)
        try:
            await asyncio.wait_for(scene(readers), 20)
        finally:
            readers.close()

    asyncio.run(run())


@pytest.mark.parametrize(("size", "most"), [(10, MAX_RUNNING_SMALL), (LARGE, MAX_RUNNING_LARGE)])
def test_a_caller_does_not_get_all_threads(size: int, most: int) -> None:
    async def scene(readers: ReaderThreads) -> None:
        greedy, polite, visitor = Gate(), Gate(), Visitor()
        tasks = [
            asyncio.create_task(readers.run("greedy", size, visitor.receive, greedy.work))
            for _ in range(3 * READER_THREADS)
        ]
        await until(lambda: greedy.begun == most)

        polite.open.set()
        answer = await readers.run("polite", size, visitor.receive, polite.work)
        small = await readers.run("greedy", 10, visitor.receive, polite.work) if most == 1 else None

        assert answer.status == 200
        assert small is None or small.status == 200
        assert greedy.begun == most
        greedy.open.set()
        assert {reply.status for reply in await asyncio.gather(*tasks)} == {200}
        assert not readers._lanes

    play(scene)


def test_abandoned_work_ends_and_waiting_work_never_starts() -> None:
    async def scene(readers: ReaderThreads) -> None:
        gate, other, gone, stays = Gate(), Gate(), Visitor(), Visitor()
        tasks = [
            asyncio.create_task(readers.run("key", LARGE, gone.receive, gate.work))
            for _ in range(5)
        ]
        last = asyncio.create_task(readers.run("key", LARGE, stays.receive, other.work))
        await until(lambda: gate.begun == 1)
        await asyncio.sleep(2 * WATCH_AFTER_SECONDS)  # all are watched: none is told of it first

        gone.gone.set()
        other.open.set()

        assert (await last).status == 200
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(one) for one in ended} == {ClientDisconnected}
        assert gate.begun == 1
        assert not readers._lanes

    play(scene)


def test_a_caller_with_too_many_requests_is_refused() -> None:
    async def scene(readers: ReaderThreads) -> None:
        gate, visitor = Gate(), Visitor()
        tasks = [
            asyncio.create_task(readers.run("key", 10, visitor.receive, gate.work))
            for _ in range(MAX_RUNNING_SMALL + MAX_WAITING_REQUESTS)
        ]
        await until(lambda: gate.begun == MAX_RUNNING_SMALL)

        with pytest.raises(TooMany, match="256 requests with this key are waiting already"):
            await readers.run("key", 10, visitor.receive, gate.work)

        gate.open.set()
        await asyncio.gather(*tasks)

    play(scene)

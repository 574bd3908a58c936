"""Coroutines that run concurrently."""

from __future__ import annotations

import asyncio

import pytest

from svc_notebook.data.client.task_group import run_together
from svc_notebook.errors import NotFound


def test_the_first_failure_stops_the_others_and_comes_bare() -> None:
    ended: list[str] = []

    async def fail() -> None:
        await asyncio.sleep(0)
        raise NotFound("there is none", status=404)

    async def last() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("stopped")

    with pytest.raises(NotFound) as failure:
        asyncio.run(run_together([last(), fail()]))

    assert ended == ["stopped"]
    assert failure.value.__context__ is None


def test_all_are_run() -> None:
    done: list[int] = []

    async def work(number: int) -> None:
        await asyncio.sleep(0)
        done.append(number)

    asyncio.run(run_together(work(number) for number in range(3)))

    assert sorted(done) == [0, 1, 2]


def test_a_failure_leaves_no_request_to_cancel_the_task_behind_it() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise NotFound("there is none", status=404)

    async def work() -> None:
        with pytest.raises(NotFound):
            await run_together([fail(), asyncio.sleep(60)])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await asyncio.sleep(60)

    asyncio.run(work())

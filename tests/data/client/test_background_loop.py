"""Blocking calls on the event loop of a background thread."""

from __future__ import annotations

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

import pytest

from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.client.background_loop import Portal
from svc_notebook.errors import BadInput, Stopped
from tests.data.client.stub import answer, hang, serving


async def give(value: Any, after: float = 0) -> Any:
    await asyncio.sleep(after)
    return value


def interrupt_soon(after: float = 0.1) -> threading.Timer:
    timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_a_call_returns_the_result() -> None:
    assert background_loop.run(give(7)) == 7


def test_a_call_raises_what_the_work_raises() -> None:
    async def fail() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        background_loop.run(fail())


def test_an_answer_wakes_the_caller_at_once() -> None:
    def seconds() -> float:
        began = time.perf_counter()
        background_loop.run(give(0, after=0.001))
        return time.perf_counter() - began

    # One that nothing wakes never takes less than a look at the clock.
    assert min(seconds() for _ in range(40)) < background_loop.POLL_SECONDS


def test_it_may_be_called_where_a_loop_runs() -> None:
    async def cell() -> Any:
        return background_loop.run(give(7))

    assert asyncio.run(cell()) == 7


def test_work_sees_the_callers_context() -> None:
    who = contextvars.ContextVar("who", default="nobody")
    who.set("me")

    async def ask() -> str:
        return who.get()

    assert background_loop.run(ask()) == "me"


def test_progress_is_drawn_by_the_calling_thread_while_it_waits() -> None:
    threads: list[threading.Thread] = []

    background_loop.run(
        give(7, after=4 * background_loop.POLL_SECONDS), on_tick=lambda: threads.append(current())
    )

    assert len(threads) >= 2
    assert set(threads) == {current()}


def current() -> threading.Thread:
    return threading.current_thread()


def test_a_failing_drawing_ends_the_work() -> None:
    ended = threading.Event()

    def draw() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        background_loop.run(tell_end(ended), on_tick=draw)

    assert ended.wait(1)


async def tell_end(ended: threading.Event, cleaning: float = 0) -> None:
    try:
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(cleaning)
        ended.set()


def test_calling_it_from_its_own_loop_is_refused_with_advice() -> None:
    async def nested() -> None:
        background_loop.run(give(7))

    with pytest.raises(BadInput, match=r"client\.aio"):
        background_loop.run(nested())


def test_many_threads_call_at_once() -> None:
    with serving() as server, ThreadPoolExecutor(16) as pool:
        client = Client(ClientConfig(url=server.url, api_key=Secret("k")))
        answers = list(pool.map(lambda n: client.search("i", str(n)), range(200)))

    assert len(answers) == 200
    assert len({request.json["query"] for request in server.requests}) == 200


def test_an_interrupt_ends_the_work_after_its_clean_up() -> None:
    ended = threading.Event()
    before = signal.getsignal(signal.SIGINT)
    interrupt_soon()

    with pytest.raises(KeyboardInterrupt):
        background_loop.run(tell_end(ended, cleaning=0.2))

    assert ended.is_set()
    assert signal.getsignal(signal.SIGINT) is before


def test_work_that_stops_by_itself_leaves_the_portal_usable() -> None:
    async def stop() -> None:
        raise Stopped("stopped", result=3)

    async def stop_inside() -> None:
        await asyncio.create_task(stop())

    for work in (stop, stop_inside):
        with pytest.raises(Stopped):
            background_loop.run(work())

        assert background_loop.run(give(7)) == 7


def test_an_interrupt_brings_what_had_been_done() -> None:
    async def load() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise Stopped("stopped after 3 batches", result=3) from None

    interrupt_soon()

    with pytest.raises(Stopped, match="3 batches") as caught:
        background_loop.run(load())

    assert caught.value.result == 3
    assert isinstance(caught.value, KeyboardInterrupt)


@pytest.mark.parametrize("stubborn", [give, None], ids=["ends well", "fails"])
def test_an_interrupt_is_not_lost_on_work_that_ends_otherwise(
    stubborn: Callable[..., Any] | None,
) -> None:
    async def shrug() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if stubborn is None:
                raise ZeroDivisionError from None

    interrupt_soon()

    with pytest.raises(KeyboardInterrupt):
        background_loop.run(shrug())


def test_work_that_needs_more_than_a_second_to_end_tells_what_it_did() -> None:
    async def load() -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(1.2)
            raise Stopped("stopped after 3 batches") from None

    interrupt_soon()

    with pytest.raises(Stopped, match="3 batches"):
        background_loop.run(load())


@pytest.mark.parametrize("interrupts", [1, 2])
def test_work_that_will_not_end_does_not_hold_the_caller(interrupts: int) -> None:
    release = threading.Event()

    async def hold_on() -> None:
        while not release.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue

    for number in range(interrupts):
        interrupt_soon(0.2 + number * 0.3)
    before = time.monotonic()

    with pytest.raises(KeyboardInterrupt) as caught:
        background_loop.run(hold_on())

    is_early = time.monotonic() - before < background_loop.CANCEL_SECONDS
    assert is_early == (interrupts > 1)
    assert isinstance(caught.value, Stopped) == (interrupts == 1)
    release.set()


def test_an_interrupt_that_comes_as_the_work_ends_is_not_swallowed() -> None:
    async def interrupt_and_end() -> int:
        os.kill(os.getpid(), signal.SIGINT)
        return 7

    with pytest.raises(KeyboardInterrupt):
        background_loop.run(interrupt_and_end())


def test_a_handler_that_ignores_interrupts_is_left_alone() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        interrupt_soon(0.02)

        assert background_loop.run(give(7, after=0.1)) == 7
    finally:
        signal.signal(signal.SIGINT, before)


def test_another_thread_installs_no_handler() -> None:
    seen: list[Callable[[int, FrameType | None], Any] | int | None] = []

    async def look() -> None:
        await asyncio.sleep(0.01)

    def call() -> None:
        background_loop.run(look(), on_tick=None)
        seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=call)
    before = signal.getsignal(signal.SIGINT)
    thread.start()
    thread.join()

    assert seen == [before]


def test_a_closed_portal_begins_another_loop() -> None:
    own = Portal()
    own.run(give(1))
    own.close()
    own.close()

    assert own.run(give(7)) == 7
    own.close()


def test_closing_ends_what_is_open_on_the_loop() -> None:
    own, ended = Portal(), threading.Event()

    async def stand() -> AsyncIterator[None]:
        try:
            yield
        finally:
            ended.set()

    async def begin(generator: AsyncIterator[None]) -> None:
        await anext(generator)

    generator = stand()
    own.run(begin(generator))
    own.close()

    assert ended.is_set()


@pytest.mark.parametrize("end", [asyncio.CancelledError, Stopped], ids=["at once", "with a word"])
def test_closing_ends_work_that_is_under_way(end: type[BaseException]) -> None:
    own, begun, ended = Portal(), threading.Event(), threading.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise end("enough") from None
        finally:
            await asyncio.sleep(0)
            ended.set()

    async def begin() -> None:
        loop = asyncio.get_running_loop()
        loop.task = loop.create_task(work())  # type: ignore[attr-defined]

    own.run(begin())
    begun.wait(5)
    own.close()

    assert ended.is_set()


LEAVE = """
import threading
from svc_notebook.data.client import Client, ClientConfig, Secret

client = Client(ClientConfig(url={url!r}, app_id="app", api_key=Secret("k")))
pages = client.browse_pages("i")
next(pages)
threading.Thread(target=client.search, args=["i"], daemon=True).start()
"""


@pytest.mark.slow
@pytest.mark.parametrize("last", ["", "raise SystemExit(0)", "del pages"])
def test_a_process_ends_in_silence_while_calls_are_under_way(last: str) -> None:
    with serving(answer({"hits": [{"objectID": "1"}], "cursor": "next"}), hang) as server:
        script = LEAVE.format(url=server.url) + last
        ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_after_a_fork_both_processes_go_on() -> None:
    with serving() as server:
        client = Client(ClientConfig(url=server.url, api_key=Secret("k")))
        client.search("i", "before")
        child = os.fork()
        if child == 0:
            os._exit(search_in_child(client))
        _, status = os.waitpid(child, 0)
        for _ in range(3):
            client.search("i", "after")

    asked = [request.json["query"] for request in server.requests]
    assert os.waitstatus_to_exitcode(status) == 0
    assert asked == ["before", "child", "after", "after", "after"]


def search_in_child(client: Client) -> int:
    try:
        client.search("i", "child")
        client.close()
    except BaseException:
        return 1
    return 0


def test_the_running_loop_of_another_light_thread_is_not_the_callers() -> None:
    async def read_loop() -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    loop = background_loop.run(read_loop())
    asyncio._set_running_loop(loop)  # as threads of gevent see it, which share one system thread
    try:
        result = background_loop.run(give(7))
    finally:
        asyncio._set_running_loop(None)

    assert result == 7

"""Interrupts, queued cells and drawing in a real kernel."""

from __future__ import annotations

import time

import pytest

from tests.data.client.stub import hang, serving
from tests.faces.magics.kernel import Kernel
from tests.kernels.saved_notebook import save_notebook

SETUP = """
import asyncio, sys, time
from svc_notebook.data.client import (
    AsyncClient,
    ClientConfig,
    RetryPolicy,
    Progress,
    background_loop as portal,
)
from svc_notebook.errors import Stopped
state = {}

async def work(cleaning=0.0):
    state.clear()
    try:
        while True:
            state["turns"] = state.get("turns", 0) + 1
            await asyncio.sleep(0.02)
    finally:
        await asyncio.sleep(cleaning)
        state["end"] = "cleaned up"

async def load():
    try:
        await work()
    except asyncio.CancelledError:
        raise Stopped("stopped after 3 batches", result=3) from None

def running():
    return [t for t in asyncio.all_tasks(portal._PORTAL._loop) if not t.done()]
"""
KINDS = {"plain": "", "await": "await asyncio.sleep(0)\n"}


@pytest.fixture(autouse=True, scope="module")
def names(kernel: Kernel) -> None:
    kernel.good(SETUP)


def stop_in_the_middle(kernel: Kernel, code: str) -> tuple[str, str]:
    """Press Stop while a cell runs that never ends; return its status and its error."""
    request = kernel.start(code)
    time.sleep(0.5)
    kernel.stop()
    cell = kernel.finish(request)
    return cell.status, cell.error


@pytest.mark.parametrize("kind", KINDS)
def test_stop_ends_the_work_and_its_clean_up_and_leaves_nothing(kernel: Kernel, kind: str) -> None:
    status, error = stop_in_the_middle(kernel, KINDS[kind] + "portal.run(work(0.2))")

    assert (status, error) == ("error", "KeyboardInterrupt: ")
    assert kernel.good("state['end'], running()").result == "('cleaned up', [])"


@pytest.mark.parametrize("kind", KINDS)
def test_stop_tells_what_had_been_done(kernel: Kernel, kind: str) -> None:
    status, error = stop_in_the_middle(kernel, KINDS[kind] + "portal.run(load())")

    assert (status, error) == ("error", "Stopped: stopped after 3 batches")
    assert kernel.good("sys.last_value.result").result == "3"


@pytest.mark.parametrize("call", ["search('i')", "wait(7, index='i')"])
@pytest.mark.sampled(2)
def test_stop_ends_a_call_that_is_awaited_though_nothing_comes(kernel: Kernel, call: str) -> None:
    with serving(hang) as server:
        kernel.good(
            "policy = RetryPolicy(read=60)\n"
            f"client = AsyncClient(ClientConfig(url={server.url!r}, retry_policy=policy))"
        )
        status, error = stop_in_the_middle(kernel, f"await client.{call}")
        kernel.good("await client.close()")

    assert (status, error) == ("error", "CancelledError: ")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.sampled(2)
def test_stop_still_works_in_other_cells_afterwards(kernel: Kernel, kind: str) -> None:
    stop_in_the_middle(kernel, KINDS[kind] + "portal.run(work())")
    pause = "await asyncio.sleep(0.01)" if kind == "await" else "time.sleep(0.01)"
    wait = f"for _ in range(3000): {pause}"

    assert stop_in_the_middle(kernel, wait)[0] == "error"
    assert kernel.good("7").result == "7"


@pytest.mark.parametrize("kind", KINDS)
def test_every_queued_cell_runs(kernel: Kernel, kind: str) -> None:
    kernel.good("ran = []")
    call = f"{KINDS[kind]}ran.append(portal.run(asyncio.sleep(0.2, 'call')))"
    cells = [call, *(f"ran.append({n})" for n in range(5)), call, "ran.append('last')"]

    statuses = [kernel.finish(request).status for request in [kernel.start(c) for c in cells]]

    assert statuses == ["ok"] * len(cells)
    assert kernel.good("ran").result == "['call', 0, 1, 2, 3, 4, 'call', 'last']"


@pytest.mark.parametrize("kind", KINDS)
def test_progress_is_drawn_into_the_cell_that_waits(kernel: Kernel, kind: str) -> None:
    draw = "on_tick=lambda: print('tick {0}')"
    cells = [f"{KINDS[kind]}portal.run(asyncio.sleep(0.3), {draw.format(n)})" for n in (1, 2)]

    printed = [kernel.finish(request).printed for request in [kernel.start(c) for c in cells]]

    assert [set(text.split("\n")) - {""} for text in printed] == [{"tick 1"}, {"tick 2"}]


@pytest.mark.slow
def test_a_bar_shows_in_a_notebook_without_a_warning(kernel: Kernel) -> None:
    cell = kernel.good(
        "import warnings\n"
        "times = iter([0.0, 60, 60, 61])\n"
        "with warnings.catch_warnings(), "
        "Progress(10, unit='rows', label='sent', clock=lambda: next(times)) as bar:\n"
        "    warnings.simplefilter('error')\n"
        "    for done in (2, 3, 4):\n"
        "        bar.update(done)\n"
        "        bar.draw()"
    )

    [output] = save_notebook(kernel.heard).cells[-1].outputs
    assert output.data["text/plain"].startswith("sent:  40%|")
    assert "4/10" in output.data["text/plain"]
    assert (cell.printed, cell.warned) == ("", "")


def test_nesting_is_allowed_on_request_only(kernel: Kernel) -> None:
    kernel.good("assert not hasattr(asyncio, '_nest_patched')")

    kernel.good(
        "from svc_notebook.data.client.background_loop import allow_nesting\nallow_nesting()"
    )

    nested = "asyncio.get_event_loop().run_until_complete(asyncio.sleep(0.1, 7))"
    assert kernel.good(nested).result == "7"
    statuses = [kernel.finish(r).status for r in [kernel.start(nested) for _ in range(4)]]
    assert statuses == ["ok"] * 4
    assert kernel.good("portal.run(asyncio.sleep(0.1, 8))").result == "8"

"""Memory that was freed goes back to the system, and crawls see to it."""

from __future__ import annotations

import ctypes
import platform
import sys
from pathlib import Path

import pytest

from svc_notebook.service.crawlers import scheduler
from svc_notebook.service.heap import release_free_memory
from tests.service.crawlers.conftest import (  # noqa: F401 - fixtures
    Clock,
    Desk,
    Site,
    app,
    clock,
    configuration,
    desk,
    engines,
    site,
)

needs_glibc = pytest.mark.skipif(
    sys.platform != "linux" or platform.libc_ver()[0] != "glibc", reason="glibc alone is asked"
)
BLOCKS, BLOCK_BYTES = 3000, 60_000


def resident() -> int:
    """Return the bytes that this process has in memory and no file has."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    [line] = [line for line in lines if line.startswith("RssAnon")]
    return int(line.split()[1]) << 10


@needs_glibc
def test_freed_memory_below_what_is_in_use_is_given_back() -> None:
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    libc.free.argtypes = [ctypes.c_void_p]
    release_free_memory()
    blocks = [libc.malloc(BLOCK_BYTES) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK_BYTES)
    *freed, last = blocks
    for block in freed:
        libc.free(block)
    before = resident()

    assert release_free_memory()

    assert before - resident() > BLOCKS * BLOCK_BYTES * 0.8
    libc.free(last)


def test_memory_is_given_back_during_a_crawl_and_for_a_while_after(
    desk: Desk,  # noqa: F811
    site: Site,  # noqa: F811
    clock: Clock,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[float] = []
    monkeypatch.setattr(scheduler, "release_free_memory", lambda: calls.append(clock.ahead))
    site.fill(3)
    crawler = desk.make(configuration(site.url))
    desk.do(crawler, "reindex")
    assert calls == [0.0]

    for _ in range(10):
        clock.ahead += scheduler.LONGEST + 1
        desk.ask("POST", f"{crawler}/run")  # has the crawlers look at their clocks

    desk.until(lambda: len(calls) > 1)
    assert len(calls) <= 1 + scheduler.RELEASE_SECONDS / scheduler.LONGEST
    assert calls == sorted(set(calls))

"""Freed memory is returned to the system, also after crawls."""

from __future__ import annotations

import ctypes
import itertools
import platform
import subprocess
import sys
from functools import partial
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
# A thread fills one array after the other; the last line tells the pages that the system cleared.
FILL = """
import resource, sys, threading
import numpy as np
from svc_notebook.service.heap import keep_freed_arrays
assert sys.argv[1] == "plain" or keep_freed_arrays()
def fill(times):
    for _ in range(times):
        np.ones(10_000_000)
def count():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def work():
    fill(3)
    before = count()
    fill(20)
    print(count() - before)
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""


def resident() -> int:
    """Return the bytes that this process has in memory and no file has."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    [line] = [line for line in lines if line.startswith("RssAnon")]
    return int(line.split()[1]) << 10


@needs_glibc
def test_freed_memory_below_used_memory_is_returned() -> None:
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


@pytest.mark.slow
@needs_glibc
def test_arrays_of_threads_use_the_memory_of_freed_ones() -> None:
    def count_faults(how: str) -> int:
        command = [sys.executable, "-c", FILL, how]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert count_faults("kept") * 10 < count_faults("plain")


@pytest.mark.slow
def test_memory_is_given_back_during_a_crawl_and_for_a_while_after(
    desk: Desk,  # noqa: F811
    site: Site,  # noqa: F811
    clock: Clock,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    freed: list[None] = []
    checks: list[float] = []
    releases: list[float] = []
    release = scheduler.CrawlScheduler._release

    def record(self: scheduler.CrawlScheduler, now: float) -> None:
        """Note the time of a check after it, and whether it released memory."""
        before = len(freed)
        release(self, now)
        releases.extend([now] * (len(freed) - before))
        checks.append(now)

    def reached(then: float) -> bool:
        """Return whether a check has read a clock that was set forward."""
        return checks[-1] >= then

    monkeypatch.setattr(scheduler.CrawlScheduler, "_release", record)
    monkeypatch.setattr(scheduler, "release_free_memory", lambda: freed.append(None))
    site.fill(3)
    crawler = desk.make(configuration(site.url))
    desk.do(crawler, "reindex")
    assert len(freed) == 1

    for _ in range(10):
        clock.ahead += scheduler.MAX_CHECK_INTERVAL_SECONDS + 1
        then = clock()
        desk.ask("POST", f"{crawler}/run")  # has the crawlers look at their clocks
        desk.until(partial(reached, then))

    longest = scheduler.MAX_CHECK_INTERVAL_SECONDS
    assert 1 < len(releases) <= 1 + scheduler.RELEASE_SECONDS / longest
    gaps = [after - before for before, after in itertools.pairwise(releases)]
    assert all(gap >= longest for gap in gaps)

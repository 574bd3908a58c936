"""The moment of the service, which tests set, and databases of its earlier versions."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from svc_notebook.service import store
from svc_notebook.service.migrations import MIGRATIONS


class Clock:
    """The time of the service, which tests move."""

    def __init__(self) -> None:
        self.seconds = time.time()

    def time_ns(self) -> int:
        return int(self.seconds * 1e9)

    monotonic = staticmethod(time.monotonic)


@contextmanager
def settable_clock() -> Iterator[Clock]:
    """Let services of this process read the time from a clock that stands still."""
    with pytest.MonkeyPatch.context() as patch:
        clock = Clock()
        patch.setattr(store, "time", clock)
        yield clock


@contextmanager
def connect_old(path: Path, version: int) -> Iterator[sqlite3.Connection]:
    """Bring a database to an earlier version than today's, and connect to it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        [before] = connection.execute("PRAGMA user_version").fetchone()
        for script in MIGRATIONS[before:version]:
            connection.executescript(script)
        connection.execute(f"PRAGMA user_version = {version}")
        yield connection

"""Exports of unusual or hostile values."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[Inside]:
    """A service whose writer is not started yet: what it accepts is on the disk, not applied."""
    service = Service(tmp_path / "data")
    app = App(service)
    yield Inside(app)
    app.close()
    service.stop()


def put(inside: Inside, *names: str) -> None:
    for name in names:
        answer = inside.call("PUT", f"/1/indexes/x/{name}", {"t": "lamp " * 200})
        assert answer.status_code == 201


def settle(inside: Inside) -> None:
    tasks = inside.app.service.tasks
    deadline = time.monotonic() + 5
    while tasks.published < tasks.last and time.monotonic() < deadline:
        time.sleep(0.01)


def test_accepted_writes_outlive_a_lock_held_by_another_program(
    idle: Inside, tmp_path: Path
) -> None:
    service = idle.app.service
    put(idle, "a", "b")
    service.store._writer.execute("PRAGMA busy_timeout = 20")
    other = sqlite3.connect(tmp_path / "data" / "service.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    service.start()
    time.sleep(0.3)
    other.execute("ROLLBACK")
    other.close()
    settle(idle)

    assert sorted(idle.ids("x")) == ["a", "b"]


def test_accepted_writes_outlive_a_full_disk(idle: Inside) -> None:
    service = idle.app.service
    names = [f"r{n}" for n in range(40)]
    put(idle, *names)
    writer = service.store._writer
    [pages] = writer.execute("PRAGMA page_count").fetchone()
    writer.execute(f"PRAGMA max_page_count = {pages}")

    service.start()
    time.sleep(0.5)
    with service.store._lock:
        writer.execute("PRAGMA max_page_count = 1000000")
    settle(idle)

    assert sorted(idle.ids("x", hitsPerPage=100)) == sorted(names)


def test_a_browse_beyond_all_pages_is_no_fault(inside: Inside) -> None:
    inside.fill("x", {"objectID": "1"})

    answer = inside.call("POST", "/1/indexes/x/browse", {"page": 2**63 - 1, "hitsPerPage": 1000})

    assert answer.status_code < 500

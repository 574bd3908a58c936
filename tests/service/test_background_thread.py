"""What the service's background threads report of failing work."""

from __future__ import annotations

import errno
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from svc_notebook.service.background_thread import BackgroundThread
from svc_notebook.service.store import Store, advise_on_storage


@pytest.fixture
def thread(tmp_path: Path) -> BackgroundThread:
    store = Store(tmp_path / "service.sqlite")
    return BackgroundThread("svc-test", lambda: None, store, "work is paused")


def fail_with(error: Exception) -> Callable[[], None]:
    def work() -> None:
        raise error

    return work


def test_a_failing_disk_is_reported_once_until_the_work_succeeds_again(
    thread: BackgroundThread, capsys: pytest.CaptureFixture[str]
) -> None:
    failures = [OSError("disk full")] * 3

    def work() -> None:
        if failures:
            raise failures.pop()

    succeeded = [thread.attempt(work, retried=True) for _ in range(4)]
    failures.append(OSError("disk full"))
    thread.attempt(work, retried=True)

    assert succeeded == [False, False, False, True]
    report = "work is paused: disk full; free space on the disk, or look for faults of it\n"
    assert capsys.readouterr().err == report * 2


class FullStream:
    """A log on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_log_that_cannot_be_written_stops_no_work(
    thread: BackgroundThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [OSError("disk full"), OSError("disk full")]

    def work() -> None:
        if failures:
            raise failures.pop()

    for stream in (FullStream(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        assert not thread.attempt(work, retried=True)
        assert not thread.attempt(fail_with(ValueError("a fault")))
    assert thread.describe_failure(0).startswith("work is paused: disk full; free space")
    assert thread.describe_failure(3600) == ""
    assert thread.attempt(work, retried=True)
    assert thread.describe_failure(0) == ""


def test_the_remedy_follows_from_the_cause(tmp_path: Path) -> None:
    path = tmp_path / "held.sqlite"
    with sqlite3.connect(path) as holder:
        holder.execute("CREATE TABLE records (id)")
    holder.execute("BEGIN EXCLUSIVE")
    second = sqlite3.connect(path, timeout=0)
    with pytest.raises(sqlite3.OperationalError) as locked:
        second.execute("INSERT INTO records VALUES (1)")
    second.close()
    holder.close()
    with pytest.raises(sqlite3.OperationalError) as unopened:
        sqlite3.connect(tmp_path / "no" / "folder.sqlite").execute("SELECT 1")

    assert advise_on_storage(locked.value) == "another program has the database file open: close it"
    assert advise_on_storage(unopened.value) == "make the data folder writable"
    assert advise_on_storage(MemoryError()) == "close other programs that use much memory"
    assert advise_on_storage(OSError("disk full")).startswith("free space on the disk")


def test_damage_is_reported_with_the_way_out(
    thread: BackgroundThread, capsys: pytest.CaptureFixture[str]
) -> None:
    thread.attempt(fail_with(msgspec.DecodeError("malformed")))

    assert "put a backup of the folder in its place" in capsys.readouterr().err


def test_another_error_is_reported_with_its_traceback_unless_the_thread_stops(
    thread: BackgroundThread, capsys: pytest.CaptureFixture[str]
) -> None:
    thread.attempt(fail_with(KeyError("title")))
    reported = capsys.readouterr().err
    thread.stop()
    thread.attempt(fail_with(sqlite3.ProgrammingError("the store is closed")))

    assert "Traceback" in reported
    assert "KeyError: 'title'" in reported
    assert capsys.readouterr().err == ""

"""What the service's background threads report of failing work."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from svc_notebook.service.background_thread import BackgroundThread
from svc_notebook.service.store import Store


@pytest.fixture
def thread(tmp_path: Path) -> BackgroundThread:
    store = Store(tmp_path / "service.sqlite")
    return BackgroundThread("svc-test", lambda: None, store, "work is paused: {}; free space")


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
    assert capsys.readouterr().err == "work is paused: disk full; free space\n" * 2


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

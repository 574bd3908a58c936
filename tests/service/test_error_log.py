"""Repeated messages of a service are folded."""

from __future__ import annotations

import pytest

from svc_notebook.service.background_thread import FOLD_SECONDS, MAX_REMEMBERED_MESSAGES, ErrorLog


def test_a_repeated_message_is_written_once_a_minute_with_its_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    times = iter([0.0, 1.0, 2.0, 3.0, FOLD_SECONDS + 1])
    log = ErrorLog(lambda: next(times))

    for text in ("disk full\n", "disk full\n", "other", "disk full\n", "disk full\n"):
        log.write(text)

    assert capsys.readouterr().err.splitlines() == [
        "disk full",
        "other",
        "disk full (repeated 2 times since the last report)",
    ]


def test_the_same_failure_has_one_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    log = ErrorLog(lambda: 0.0)

    for _ in range(3):
        try:
            raise KeyError("title\x1b[2J")
        except KeyError as error:
            log.write_traceback(error)

    written = capsys.readouterr().err
    assert written.count("Traceback") == 1
    assert "\x1b" not in written


def test_many_different_messages_are_all_written(capsys: pytest.CaptureFixture[str]) -> None:
    log = ErrorLog(lambda: 0.0)

    for number in range(3 * MAX_REMEMBERED_MESSAGES):
        log.write(f"message {number}")

    assert len(capsys.readouterr().err.splitlines()) == 3 * MAX_REMEMBERED_MESSAGES

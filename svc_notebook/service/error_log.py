"""Error messages on the standard error, of which repetitions are folded."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable

from svc_notebook.core.terminal import escape_controls

# Repetitions of a message within this time are counted and not written.
FOLD_SECONDS = 60.0
MAX_REMEMBERED_MESSAGES = 100


class ErrorLog:
    """Writes messages; one that is repeated is written once a minute, with its count."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        # The time at which each message was written, and how often it was repeated since.
        self._written: dict[str, tuple[float, int]] = {}

    def write(self, text: str) -> None:
        """Write a message of one or several lines, unless it was written a moment ago."""
        with self._lock:
            now = self._clock()
            written, repeated = self._written.pop(text, (-FOLD_SECONDS, 0))
            if now - written < FOLD_SECONDS:
                self._written[text] = written, repeated + 1
                return
            count = f" (repeated {repeated:,} times since the last report)" if repeated else ""
            sys.stderr.write(f"{escape_controls(text.rstrip())}{count}\n")
            self._written[text] = now, 0
            if len(self._written) > MAX_REMEMBERED_MESSAGES:
                del self._written[next(iter(self._written))]

    def write_traceback(self, error: BaseException) -> None:
        """Write an unexpected error with its traceback."""
        self.write("".join(traceback.format_exception(error)))


ERROR_LOG = ErrorLog()

"""Background threads of the service, which report failing work and go on, and the log of errors."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable

from svc_notebook.core.terminal import escape_controls, write_log
from svc_notebook.service.store import Store, advise_on_storage, is_damage, is_storage_failure

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
            write_log(f"{escape_controls(text.rstrip())}{count}")
            self._written[text] = now, 0
            if len(self._written) > MAX_REMEMBERED_MESSAGES:
                del self._written[next(iter(self._written))]

    def write_traceback(self, error: BaseException) -> None:
        """Write an unexpected error with its traceback."""
        self.write("".join(traceback.format_exception(error)))


ERROR_LOG = ErrorLog()


class BackgroundThread:
    """A daemon thread that runs `work` until `stopping` is set.

    `paused` says what a failing disk stops; the failure and its remedy follow.
    """

    def __init__(self, name: str, work: Callable[[], None], store: Store, paused: str = "") -> None:
        self.stopping = threading.Event()
        self._store = store
        self._paused = paused
        self._failures: dict[Callable[[], object], str] = {}
        # What a failing disk stops now, with its remedy, and since when.
        self._failing: tuple[str, float] | None = None
        self._thread = threading.Thread(target=work, name=name, daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Let the thread end after its current work, without waiting for it."""
        self.stopping.set()

    def join(self, seconds: float) -> None:
        """Wait for the end of the thread, at most `seconds`, if it was started."""
        if self._thread.is_alive():
            self._thread.join(seconds)

    def attempt(self, work: Callable[[], object], *, retried: bool = False) -> bool:
        """Run a part of the work and return whether it succeeded; its error is reported.

        A failing disk is reported once for work that is `retried`.
        """
        try:
            work()
        except Exception as error:
            self.report(error, work if retried else None)
            return False
        self._failures.pop(work, None)
        if retried:
            self._failing = None
        return True

    def describe_failure(self, seconds: float) -> str:
        """Return what a disk that has failed for so long stops; empty if none has."""
        if self._failing is None or time.monotonic() - self._failing[1] < seconds:
            return ""
        return self._failing[0]

    def report(self, error: Exception, retried: Callable[[], object] | None = None) -> None:
        """Report an error; not while the thread stops, because the store is being closed."""
        if self.stopping.is_set():
            return
        if is_damage(error):
            self._store.report_damage(error)
        elif retried and (isinstance(error, OSError) or is_storage_failure(error)):
            failure = f"{self._paused}: {error}; {advise_on_storage(error)}"
            if self._failures.get(retried) != str(error):
                write_log(failure)
            self._failures[retried] = str(error)
            self._failing = (failure, self._failing[1] if self._failing else time.monotonic())
        else:
            ERROR_LOG.write_traceback(error)

"""A background thread of the service, which reports failing work and goes on."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from svc_notebook.service.error_log import ERROR_LOG
from svc_notebook.service.store import Store, advise_on_storage, is_damage, is_storage_failure


class BackgroundThread:
    """A daemon thread that runs `work` until `stopping` is set.

    `paused` says what a failing disk stops; the failure and its remedy follow.
    """

    def __init__(self, name: str, work: Callable[[], None], store: Store, paused: str = "") -> None:
        self.stopping = threading.Event()
        self._store = store
        self._paused = paused
        self._failures: dict[Callable[[], object], str] = {}
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
        return True

    def report(self, error: Exception, retried: Callable[[], object] | None = None) -> None:
        """Report an error; not while the thread stops, because the store is being closed."""
        if self.stopping.is_set():
            return
        if is_damage(error):
            self._store.report_damage(error)
        elif retried and (isinstance(error, OSError) or is_storage_failure(error)):
            if self._failures.get(retried) != str(error):
                sys.stderr.write(f"{self._paused}: {error}; {advise_on_storage(error)}\n")
            self._failures[retried] = str(error)
        else:
            ERROR_LOG.write_traceback(error)

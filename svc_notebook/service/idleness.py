"""When a service that was started for sessions ends: nobody uses it for a while."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from svc_notebook.files import FileLock
from svc_notebook.leases import is_leased

# In the data folder: leases of the processes that use its service, and the lock of a session that
# starts the service or attaches to it.
LEASES, STARTING_LOCK = "leases", "starting.lock"


class Idleness:
    """Watches the leases and requests of a service.

    - `last_request`: returns the time of the last request, by the monotonic clock.
    """

    def __init__(
        self, folder: Path, idle_seconds: float | None, last_request: Callable[[], float]
    ) -> None:
        self._leases = folder / LEASES
        self._starting = FileLock(folder / STARTING_LOCK)
        self._idle_seconds = idle_seconds
        self._last_request = last_request
        self._last_lease = time.monotonic()

    def is_over(self) -> bool:
        """Return whether the service ends now, because nobody has used it for long enough.

        Then no session can attach to it any more: they wait until this process has ended.
        """
        if self._idle_seconds is None or not self._is_unused(self._idle_seconds):
            return False
        if not self._starting.acquire():
            return False  # a session attaches now
        if self._is_unused(self._idle_seconds):
            return True  # the lock is held until this process ends
        self._starting.release()
        return False

    def _is_unused(self, idle_seconds: float) -> bool:
        if is_leased(self._leases):
            self._last_lease = time.monotonic()
            return False
        return time.monotonic() - max(self._last_lease, self._last_request()) > idle_seconds

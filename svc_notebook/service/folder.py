"""The data folder: locked by one service, private to its owner, with a note of the URL.

The folder contains all keys, so neither it nor its files are accessible to other users.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from svc_notebook.core.files import (
    OTHERS_PERMISSIONS,
    FileLock,
    lock_descriptor,
    write_atomically,
)
from svc_notebook.core.locked_folders import is_leased
from svc_notebook.errors import LocalServiceFailed

# In the data folder: leases of the processes that use its service, and the lock of a session that
# starts the service or attaches to it.
LEASES, STARTING_LOCK = "leases", "starting.lock"


class Idleness:
    """Watches the leases, requests and work of a service.

    - `last_request`: returns the time of the last request, by the monotonic clock.
    - `is_busy`: returns whether the service crawls or has writes to publish.
    """

    def __init__(
        self,
        folder: Path,
        idle_seconds: float | None,
        last_request: Callable[[], float],
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._leases = folder / LEASES
        self._starting = FileLock(folder / STARTING_LOCK)
        self._idle_seconds = idle_seconds
        self._last_request, self._is_busy = last_request, is_busy
        self._last_use = time.monotonic()

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
        if is_leased(self._leases) or self._is_busy():
            self._last_use = time.monotonic()
            return False
        return time.monotonic() - max(self._last_use, self._last_request()) > idle_seconds


NOTE = "service.json"
LOCK = "service.lock"
# Files that a service, or a session that starts one, creates in the folder; other files belong to
# the user.
FILES = {
    NOTE, f"{NOTE}.new", LOCK, "service.log", "starting.lock", "parent", "service.sqlite",
    "service.sqlite-wal", "service.sqlite-shm", "service.sqlite-journal",
    "embeddings.sqlite", "embeddings.sqlite-journal",
}  # fmt: skip
FOLDERS = {"engine", "leases"}


class Folder:
    """A data folder that this process locks from `lock` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._locks: list[int] = []
        self._created: list[Path] = []

    def lock(self) -> None:
        """Lock the folder and make it private to its owner.

        Raises `LocalServiceFailed` if another service uses it, or if it cannot be made private.
        """
        self._created = [path for path in (self.path, *self.path.parents) if not path.exists()]
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # The folder itself is locked, because a lock file may be deleted and created again. The
            # file is locked too, for services of earlier versions and for systems without folder
            # locks.
            taken = self._lock_one(os.O_RDONLY) if os.name == "posix" else True
            taken = taken and self._lock_one(os.O_RDWR | os.O_CREAT, LOCK)
            if taken:
                make_private(self.path)
        except OSError as error:
            self._unlock()
            raise LocalServiceFailed(
                f"the data folder {self.path} cannot be used: {error.strerror}"
            ) from error
        except LocalServiceFailed:
            self._unlock()
            raise
        if not taken:
            self._unlock()
            raise LocalServiceFailed(
                f"{self._describe_holder()} uses the data folder {self.path} already"
            )

    def _lock_one(self, flags: int, name: str = "") -> bool:
        """Lock the folder, or a file in it, until this process ends in any way."""
        self._locks.append(os.open(self.path / name, flags, 0o600))
        return _lock(self._locks[-1])

    def _unlock(self) -> None:
        for lock in self._locks:
            os.close(lock)
        self._locks.clear()

    def _describe_holder(self) -> str:
        note = read_note(self.path)
        return f"the service at {note['url']} (pid {note['pid']})" if note else "another service"

    def write_note(self, note: dict[str, Any]) -> None:
        """Write the note with the service's address, readable by its owner only."""
        draft = self.path / f"{NOTE}.new"
        write_atomically(self.path / NOTE, json.dumps(note), draft=draft, mode=0o600)

    def release(self) -> None:
        """Remove the note and unlock the folder."""
        (self.path / NOTE).unlink(missing_ok=True)
        self._unlock()

    def discard(self) -> None:
        """Unlock the folder; remove it, and its parents, if `lock` created them for nothing."""
        self._unlock()
        if self._created and {path.name for path in self.path.glob("*")} <= {LOCK}:
            (self.path / LOCK).unlink(missing_ok=True)
            for path in self._created:
                with suppress(OSError):  # another program put a file into it
                    path.rmdir()


def make_private(path: Path) -> None:
    """Make a data folder and the service's files in it private to the owner.

    Raises `LocalServiceFailed` for a folder that is open to other users and contains other files,
    because another user may need those.
    """
    if os.name != "posix":
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & OTHERS_PERMISSIONS:
        others = sorted(entry.name for entry in path.iterdir() if entry.name not in FILES | FOLDERS)
        if others:
            raise LocalServiceFailed(
                f"the data folder {path} is open to other users (mode {mode:04o}) and contains "
                f"other files, such as {others[0]}: use a separate folder with --data, or "
                f"make this one private: chmod 700 {shlex.quote(str(path))}"
            )
        path.chmod(0o700)
        if stat.S_IMODE(path.stat().st_mode) & OTHERS_PERMISSIONS:
            raise LocalServiceFailed(
                f"the data folder {path} is open to other users, and its file system does not "
                "allow a change: choose a folder on another file system with --data"
            )
    for entry in _own_entries(path):
        _make_one_private(entry)


def _own_entries(path: Path) -> Iterator[Path]:
    yield from (path / name for name in sorted(FILES | FOLDERS))
    for name in FOLDERS:
        yield from (path / name).rglob("*")


def _make_one_private(path: Path) -> None:
    with suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if mode & OTHERS_PERMISSIONS and not stat.S_ISLNK(mode):
            path.chmod(stat.S_IMODE(mode) & ~OTHERS_PERMISSIONS)


def read_note(path: Path) -> dict[str, Any] | None:
    """Return the note of the folder's service, or None if it cannot be read."""
    try:
        note: dict[str, Any] = json.loads((path / NOTE).read_text())
    except (OSError, ValueError):
        return None
    return note


def _lock(file: int) -> bool:
    """Lock an open file or folder; a folder that does not support locks counts as locked."""
    try:
        return lock_descriptor(file)
    except OSError:
        # Some network file systems support locks on files only.
        if stat.S_ISDIR(os.fstat(file).st_mode):
            return True
        raise

"""The data folder: one service at a time, and a note for those who look for it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import IO, Any

from svc_notebook.errors import LocalServiceFailed

NOTE = "service.json"


class Folder:
    """A folder held by this process, from `hold` to `release`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[bytes] | None = None

    def hold(self) -> None:
        """Take the folder; raises `LocalServiceFailed` where another service has it."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = (self.path / "service.lock").open("ab")
        except OSError as error:
            raise LocalServiceFailed(
                f"the data folder {self.path} cannot be used: {error.strerror}"
            ) from error
        if not _lock(self._lock):
            self._lock.close()
            raise LocalServiceFailed(f"{self._holder()} uses the data folder {self.path} already")

    def _holder(self) -> str:
        note = read_note(self.path)
        return f"the service at {note['url']} (pid {note['pid']})" if note else "another service"

    def announce(self, note: dict[str, Any]) -> None:
        """Write down where the service is, readable by its owner only."""
        aside = self.path / f"{NOTE}.new"
        aside.unlink(missing_ok=True)
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(note, file)
        aside.replace(self.path / NOTE)

    def release(self) -> None:
        """Take the note away and let others have the folder."""
        (self.path / NOTE).unlink(missing_ok=True)
        if self._lock:
            self._lock.close()


def read_note(path: Path) -> dict[str, Any] | None:
    """What the folder's service says of itself, None where there is nothing to read."""
    try:
        note: dict[str, Any] = json.loads((path / NOTE).read_text())
    except (OSError, ValueError):
        return None
    return note


def _lock(file: IO[bytes]) -> bool:
    """Lock a file until this process ends, however it ends."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return _lock_windows(file)
    except OSError:
        return False
    return True


def _lock_windows(file: IO[bytes]) -> bool:
    import msvcrt

    try:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True

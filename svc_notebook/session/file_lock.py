"""An exclusive lock on a file: one process holds it at a time."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

POLL_SECONDS = (
    0.02  # seconds between two attempts; a blocking wait for the lock could not be cancelled
)


@asynccontextmanager
async def take_turn(path: Path) -> AsyncIterator[None]:
    """Wait for the exclusive lock on a file; it is released however this process ends."""
    with path.open("ab") as file:
        while not _lock(file):  # noqa: ASYNC110 - another process sends no notification
            await asyncio.sleep(POLL_SECONDS)
        yield


def is_taken(path: Path) -> bool:
    """Return whether a living process holds the lock on a file."""
    try:
        with path.open("ab") as file:
            return not _lock(file)
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        try:
            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

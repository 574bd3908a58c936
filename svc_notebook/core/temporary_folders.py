"""Temporary folders, and the removal of those that killed processes left.

Each folder holds a file that its process locks. The system releases the lock however the process
ends, so that an abandoned folder is known without its age.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path

from svc_notebook.core.files import FileLock

PREFIX = "svc-load-"
OWNER = "owner.lock"


class TemporaryFolder:
    """A folder that lasts until `remove`, its collection, or the end of the process.

    If the process is killed, the first folder of a later process removes it.
    """

    def __init__(self) -> None:
        _remove_abandoned_once(Path(tempfile.gettempdir()))
        self.path, lock = _make_folder()
        self._finalizer = weakref.finalize(self, _finish, self.path, lock, os.getpid())

    def remove(self) -> None:
        """Delete the folder; a second call has no effect."""
        self._finalizer()


def _make_folder() -> tuple[Path, FileLock]:
    """Make a folder and lock its file.

    Before it is locked, another process may take the folder for an abandoned one and delete it.
    """
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = FileLock(folder / OWNER)
        try:
            if lock.acquire():
                return folder, lock
        except FileNotFoundError:
            continue
        except OSError:  # without locks in the file system the folder is never abandoned
            return folder, lock


@cache  # a full folder takes long to list
def _remove_abandoned_once(parent: Path) -> None:
    remove_abandoned(parent)


def remove_abandoned(parent: Path) -> None:
    """Delete the folders of this user in `parent` whose processes have ended."""
    with suppress(OSError):
        for folder in parent.glob(f"{PREFIX}*"):
            with suppress(OSError):
                if _is_mine(folder) and (folder / OWNER).is_file():
                    lock = FileLock(folder / OWNER)
                    if lock.acquire():
                        _delete(folder, lock)


def _is_mine(folder: Path) -> bool:
    """Return whether a folder, and not a link to one, belongs to this user."""
    facts = folder.lstat()
    return stat.S_ISDIR(facts.st_mode) and (os.name == "nt" or facts.st_uid == os.getuid())


def _finish(folder: Path, lock: FileLock, process: int) -> None:
    if os.getpid() == process:  # a forked child has a copy of the object
        _delete(folder, lock)


def _delete(folder: Path, lock: FileLock) -> None:
    # The lock goes last: while it is held, no other process deletes the folder.
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name == OWNER:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()
    lock.release(remove=True)
    with suppress(OSError):
        folder.rmdir()

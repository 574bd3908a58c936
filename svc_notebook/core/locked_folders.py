"""Leases of folders, and temporary folders: each has a file that its process locks.

The system releases the lock with the process, however it ends; processes that it forks hold it,
too. So an abandoned folder is known without its age.
"""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import stat
import tempfile
import threading
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path

from svc_notebook.core.files import FileLock, is_locked

SUFFIX = ".lock"
# A file without a holder, which counts as a lease until it is deleted.
PERMANENT = "stay"
_leases: dict[Path, FileLock] = {}
_changing = threading.Lock()
_process = os.getpid()


def take_lease(folder: Path) -> None:
    """Hold a lease in a folder until this process ends; a second call has no effect.

    Raises `OSError` if the folder cannot be used.
    """
    with _changing:
        _forget_after_fork()
        held = _leases.get(folder)
        if held and held.path.exists():
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        # Who looks for leases locks a file for a moment, and deletes one that is not locked yet.
        while not (lease := _make_lease(folder)).acquire():
            pass
        _leases[folder] = lease


def _make_lease(folder: Path) -> FileLock:
    return FileLock(folder / f"{os.getpid()}-{secrets.token_hex(4)}{SUFFIX}")


def drop_lease(folder: Path) -> None:
    """End this process's lease in a folder, if it has one."""
    with _changing:
        _forget_after_fork()
        if lease := _leases.pop(folder, None):
            lease.release(remove=True)


def take_permanent_lease(folder: Path) -> None:
    """Create the lease that stays without a process."""
    folder.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(folder / PERMANENT, os.O_WRONLY | os.O_CREAT, 0o600))


def is_leased(folder: Path) -> bool:
    """Return whether a process holds a lease; files of ended processes are deleted."""
    leased = (folder / PERMANENT).exists()
    for path in folder.glob(f"*{SUFFIX}"):
        if is_locked(path):
            leased = True
        else:
            _remove(path)
    return leased


def drop_permanent_lease(folder: Path) -> None:
    """Delete the lease that stays without a process, if there is one."""
    with suppress(OSError):
        (folder / PERMANENT).unlink()


def _remove(path: Path) -> None:
    lock = FileLock(path)
    with suppress(OSError):
        if lock.acquire():  # only the holder may delete the file
            lock.release(remove=True)


def _forget_after_fork() -> None:
    """Close the parent's leases in a forked child; the parent holds them still."""
    global _process
    if _process != os.getpid():
        _process = os.getpid()
        for lease in _leases.values():
            lease.release()
        _leases.clear()


def _reset_lock() -> None:
    global _changing
    _changing = threading.Lock()


if hasattr(os, "register_at_fork"):
    # Another thread can hold the lock at a fork, and does not exist in the child.
    os.register_at_fork(after_in_child=_reset_lock)


@atexit.register
def _drop_all() -> None:
    for folder in [*_leases]:
        drop_lease(folder)


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

"""Leases: a process that uses something holds a locked file in a folder until it ends.

The system releases the lock with the process, however it ends. Processes that it forks hold the
lock, too.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from contextlib import suppress
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


@atexit.register
def _drop_all() -> None:
    for folder in [*_leases]:
        drop_lease(folder)


if hasattr(os, "register_at_fork"):
    # Another thread can hold the lock at a fork, and does not exist in the child.
    os.register_at_fork(after_in_child=_reset_lock)

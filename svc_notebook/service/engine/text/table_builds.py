"""Form tables built in the background: a search does not wait for a table that was never built.

Building one takes 1 to 21 s of the processor and 0.1 to 1.9 GB of memory, so that a process of its
own does it, once for each language on a machine: this module, run with the language. It saves the
table in the user's cache directory.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from svc_notebook.core.child_process import python_command, start_process
from svc_notebook.core.files import FileLock
from svc_notebook.service.engine.text.word_forms import has_table, standard_table, table_path

LOCK_POLL_SECONDS = 0.2
# Added to the niceness of the process: searches come first.
LOW_PRIORITY = 10

_missing: ContextVar[set[str] | None] = ContextVar("missing", default=None)
_starting = threading.Lock()
_builds: dict[str, threading.Thread] = {}
_processes: set[subprocess.Popen[bytes]] = set()


@contextmanager
def without_missing_tables() -> Iterator[set[str]]:
    """Build missing tables in the background in this context; provides their languages.

    Without it, a table is built where it is first used.
    """
    missing: set[str] = set()
    token = _missing.set(missing)
    try:
        yield missing
    finally:
        _missing.reset(token)


def is_table_ready(language: str) -> bool:
    """Return whether a search may use the table of a language; if not, its build is started."""
    missing = _missing.get()
    if missing is None or has_table(language):
        return True
    missing.add(language)
    start_build(language)
    return False


def start_build(language: str) -> None:
    """Start to build the table of a language, unless that is under way."""
    with _starting:
        if language not in _builds or not _builds[language].is_alive():
            thread = threading.Thread(target=_build, args=[language], name="svc-table", daemon=True)
            _builds[language] = thread
            thread.start()


def count_finished() -> int:
    """Return the number of builds that have ended in this process."""
    return sum(not thread.is_alive() for thread in _builds.values())


def _build(language: str) -> None:
    with suppress(OSError):  # no process can be started
        process = start_process(
            python_command(__name__, language),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _processes.add(process)
        process.wait()
        _processes.discard(process)
    # Where the table cannot be saved, it is built once in each process.
    standard_table(language)


@atexit.register
def _end_builds() -> None:
    for process in [*_processes]:
        process.kill()


def main() -> None:
    """Build and save the table of a language, unless another process does."""
    [language] = sys.argv[1:]
    if hasattr(os, "nice"):
        os.nice(LOW_PRIORITY)
    path = table_path(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_suffix(".lock"))
    while not lock.acquire():
        time.sleep(LOCK_POLL_SECONDS)
    try:
        standard_table(language)
    finally:
        lock.release()


if __name__ == "__main__":
    main()

"""The thread that imports and prepares what first calls need, while the user writes the first call.

Two threads that import the same packages can wait for each other's module locks; Python then breaks
the cycle with a module that is not complete. So this thread holds the interpreter's import lock
until it ends. Another thread that needs a new module waits for that lock before it takes any other,
and finds complete modules; `os.fork` waits for it, too. Modules that are imported need no lock.
"""

from __future__ import annotations

import _imp
import concurrent.futures.thread  # noqa: F401 - registers functions that run around a fork
import sys
import threading
from collections.abc import Iterable
from importlib import import_module
from typing import Any

# The module that prepares the first calls when all is imported.
PREPARATION = "svc_notebook.functions.preparation"
# What loads and browses import; a package that fails to import fails again in the call.
MODULES = (
    "numpy",
    "pandas",
    "pyarrow",
    "duckdb",
    "anyio._backends._asyncio",
    "svc_notebook.functions.browse",
    "svc_notebook.functions.loads",
    PREPARATION,
)

_started = False


def start_imports(modules: Iterable[str] = MODULES) -> threading.Thread | None:
    """Start to import the modules that are missing, once per process; return the thread, if any."""
    global _started
    missing = [name for name in modules if name not in sys.modules]
    if _started or not missing:
        return None
    _started = True
    # Not a daemon: one that is stopped at the end of the process would keep the lock.
    thread = threading.Thread(target=_import, args=(missing,), name="svc-imports")
    thread.start()
    return thread


def _import(names: Iterable[str]) -> None:
    _imp.acquire_lock()
    try:
        if _is_importing():
            return
        for name in names:
            if not threading.main_thread().is_alive():
                return
            import_module(name)
        for _ in import_module(PREPARATION).prepare_calls():
            if not threading.main_thread().is_alive():
                return
    except Exception:
        return
    finally:
        _imp.release_lock()


def _is_importing() -> bool:
    """Return whether another thread is importing a module, which it would have to finish first."""
    locks: Any = getattr(sys.modules.get("importlib._bootstrap"), "_module_locks", None)
    return locks is None or bool(locks)

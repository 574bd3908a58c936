"""Let a running event loop be entered again: only on request, only where it is known to work."""

from __future__ import annotations

import asyncio
from importlib.metadata import PackageNotFoundError, version

from svc_notebook.errors import BadInput

OLDEST = (1, 7, 3)  # earlier ones lose the cells queued behind a nested call


def allow_nesting() -> None:
    """Patch asyncio so that `loop.run_until_complete` works inside a running loop.

    The patch holds for the whole process and cannot be taken back. Nothing here needs it: the
    blocking methods run on a loop of their own. It serves a coroutine or an iterator that is
    already bound to the caller's loop.
    """
    if reason := why_not():
        raise BadInput(f"nested event loops are not allowed here: {reason}")
    import nest_asyncio2

    nest_asyncio2.apply()


def why_not() -> str | None:
    """Say why nesting would break this process, if it would."""
    loop = asyncio._get_running_loop()
    if loop is not None and type(loop).__module__.partition(".")[0] == "uvloop":
        return "the running loop is uvloop's, which cannot be patched"
    if hasattr(asyncio, "_nest_patched") and not hasattr(asyncio, "_nest_asyncio2"):
        return (
            "nest_asyncio 1.x has patched this process; it loses queued cells. Restart without it"
        )
    try:
        found = version("nest-asyncio2")
    except PackageNotFoundError:
        return "nest-asyncio2 is not installed; pip install 'nest-asyncio2>=1.7.3'"
    if _numbers(found) < OLDEST:
        return f"nest-asyncio2 {found} loses queued cells; pip install -U nest-asyncio2"
    return None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())

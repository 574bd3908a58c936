"""Return freed memory to the operating system.

Short-lived allocations in many threads fragment the C library's heap. glibc keeps the free parts,
up to several times the memory in use, until `malloc_trim` returns them.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def release_free_memory() -> bool:
    """Return free memory to the system; takes milliseconds. Return whether memory was released.

    Only glibc needs the call; on other platforms nothing is done.
    """
    trim = _find_trim()
    return trim is not None and trim(0) == 1


@cache
def _find_trim() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        found = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError):  # musl has none
        return None
    found.argtypes, found.restype = [ctypes.c_size_t], ctypes.c_int
    return found

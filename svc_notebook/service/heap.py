"""What the C library does with freed memory: keep it for later arrays, or return it.

Short-lived allocations in many threads fragment the heap of glibc. It keeps the free parts, up to
several times the memory in use, until `malloc_trim` returns them. The memory of large arrays it
returns at once, and the system clears the pages of the next array, which takes about as long as
filling it.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

# Numbers of the options in `malloc.h`.
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8
# Larger arrays are returned to the system when they are freed.
MAX_KEPT_ARRAY_BYTES = 256 * 2**20
# More free memory at the end of the heap is returned.
MAX_FREE_BYTES = 512 * 2**20
# The pause of processes that search between two calls of `release_free_memory`.
RELEASE_INTERVAL_SECONDS = 30.0


def keep_freed_arrays() -> bool:
    """Let later arrays use the memory of freed ones; return whether the C library has the options.

    It must be called before other threads run: all of them use one heap from then on, for the
    heaps of threads have no room for large arrays. Memory is still returned by
    `release_free_memory`.
    """
    set_option = _find("mallopt")
    if set_option is None:
        return False
    set_option.argtypes, set_option.restype = [ctypes.c_int, ctypes.c_int], ctypes.c_int
    options = {
        M_ARENA_MAX: 1,
        M_MMAP_THRESHOLD: MAX_KEPT_ARRAY_BYTES,
        M_TRIM_THRESHOLD: MAX_FREE_BYTES,
    }
    accepted = [set_option(option, value) for option, value in options.items()]
    return all(accepted)


def release_free_memory() -> bool:
    """Return free memory to the system; takes milliseconds. Return whether memory was released.

    Only glibc needs the call; on other platforms nothing is done.
    """
    trim = _find("malloc_trim")
    if trim is None:
        return False
    trim.argtypes, trim.restype = [ctypes.c_size_t], ctypes.c_int
    return bool(trim(0) == 1)


@cache
def _find(function: str) -> Any:
    """Return a function of the C library, None where it is not glibc."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return getattr(ctypes.CDLL(None), function)
    except (AttributeError, OSError):  # musl has none
        return None

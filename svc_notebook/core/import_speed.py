"""Garbage collection around the first import of many modules."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def paused_collection() -> Iterator[None]:
    """Pause the garbage collector while modules are imported.

    Imported modules make hundreds of thousands of objects that all stay. The collector would walk
    through them again and again and free none: a tenth of the time of a script that loads a file.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():
            # Moves all objects to the oldest generation, which the next collections leave alone.
            gc.freeze()
            gc.unfreeze()
        gc.enable()

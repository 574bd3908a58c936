"""Imports of many modules, without the garbage collector."""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType


def import_quickly(name: str) -> ModuleType:
    """Import a module with all that it imports; the garbage collector pauses meanwhile.

    Imported modules make hundreds of thousands of objects that all stay. The collector would walk
    through them again and again and free none: a tenth of the time of a script that loads a file.
    Nothing pauses where the module is imported already.
    """
    if name in sys.modules or not gc.isenabled():
        return import_module(name)
    gc.disable()
    try:
        return import_module(name)
    finally:
        if not gc.get_freeze_count():
            # Moves all objects to the oldest generation, which the next collections leave alone.
            gc.freeze()
            gc.unfreeze()
        gc.enable()

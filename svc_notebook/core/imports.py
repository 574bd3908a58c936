"""Imports of heavy modules, and registration of the accessors `df.svc`, `series.svc`, `ddf.svc`.

pandas, Polars and Dask offer no way to announce accessors, and a hook in Python's import system
would run this package's code under the import locks of others. So the accessors are registered by
calls, in the thread that calls, once their package is imported.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module
from types import ModuleType

PANDAS_ACCESSORS = "svc_notebook.faces.accessors"
# The packages that accessors extend, and the modules that register them.
_ACCESSORS = {
    "pandas": PANDAS_ACCESSORS,
    "polars": "svc_notebook.faces.polars_accessor",
    "dask.dataframe": "svc_notebook.faces.dask_accessor",
}


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


def register_accessors() -> None:
    """Register the accessors of the packages that are imported; a second call has no effect."""
    for package, accessors in _ACCESSORS.items():
        if accessors not in sys.modules and _is_complete(package):
            import_module(accessors)


def import_accessors() -> None:
    """Import pandas and register its accessors, and those of the packages that are imported."""
    import_quickly(PANDAS_ACCESSORS)
    register_accessors()


def _is_complete(package: str) -> bool:
    """Return whether a package is imported, and not only begun in another thread."""
    spec = getattr(sys.modules.get(package), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)

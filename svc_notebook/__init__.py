"""A workbench for a hosted search service: pandas, magics, bulk loads, a local service.

Names are imported on first use, so that importing this package is cheap. The accessors `df.svc`,
`series.svc` and `ddf.svc` are registered when this package is imported after pandas and Dask, else
by the next use of a function. `aio` contains each function as a coroutine function.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from svc_notebook.core.imports import import_accessors, register_accessors
from svc_notebook.faces.functions import homes

if TYPE_CHECKING:
    from svc_notebook import errors, samples, tuning
    from svc_notebook.data.client import AsyncClient, Client
    from svc_notebook.faces.editors import Editors
    from svc_notebook.faces.functions import aio, blocking
    from svc_notebook.faces.functions.blocking import *

    __version__: str
    edit: Editors

__doc__ = f"""{__doc__}
`help(svc.load)` describes a function, `svc.tuning`, `svc.edit` and `svc.samples` have more.
{getattr(homes, "OVERVIEW", "")}"""

__all__ = [
    "AsyncClient",
    "Client",
    "aio",
    "connect",
    "current",
    "edit",
    "errors",
    "load",
    "local",
    "plan",
    "push",
    "read_browse",
    "read_records",
    "samples",
    "search",
    "settings",
    "tuning",
    "use",
    "wait",
    "whoami",
]

_CLIENTS = ("AsyncClient", "Client")
# Names that need no pandas; the others import it for the accessors.
_LIGHT = {*_CLIENTS, "errors", "tuning"}
_MODULES = {
    "aio": "svc_notebook.faces.functions.aio",
    "edit": "svc_notebook.faces.editors",
    "errors": "svc_notebook.errors",
    "samples": "svc_notebook.samples",
    "tuning": "svc_notebook.tuning",
}


if TYPE_CHECKING:
    # With `__getattr__`, a misspelt name would be an attribute of any type to type checkers.
    __all__ += blocking.__all__
else:

    def __getattr__(name: str) -> Any:
        from svc_notebook.errors import lacking_attribute

        if name == "__version__":
            from svc_notebook.core.release import read_version

            return read_version()
        if name in _MODULES:
            value: Any = import_module(_MODULES[name])
        elif name in _CLIENTS:
            value = getattr(import_module("svc_notebook.data.client"), name)
        elif name in __dir__():
            value = getattr(import_module("svc_notebook.faces.functions.blocking"), name)
        else:
            raise lacking_attribute(f"module {__name__!r}", name, __dir__(), _suggest)
        if name in _LIGHT:
            register_accessors()
        else:
            import_accessors()
        # Not kept: each use registers the accessors of packages that were imported since.
        return value


def _suggest(name: str) -> str:
    """Return `; use X` for a name of `tuning`, of the official client or of another tool."""
    from svc_notebook import tuning
    from svc_notebook.core.foreign_names import suggest_function

    if name in dir(tuning):
        return f"; use `svc.tuning.{name}`"
    return suggest_function(name)


def __dir__() -> list[str]:
    from svc_notebook.faces.functions.homes import COROUTINES, FUNCTIONS

    return sorted({"__version__", *_MODULES, *_CLIENTS, *COROUTINES, *FUNCTIONS})


def load_ipython_extension(shell: Any) -> None:
    """Register `%svc` and its completion in a notebook."""
    from svc_notebook.faces.magics.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove `%svc` and its completion from a notebook."""
    from svc_notebook.faces.magics.extension import unload

    unload(shell)


def _extend_shell() -> None:
    """Extend a running IPython: completion inside calls, accessors after cells, tables."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    if (shell := get_shell()) is not None:
        hooks = import_module("svc_notebook.faces.magics.shell_hooks")
        hooks.add_matcher(shell, _make_matcher)
        hooks.register_after_cells(shell)
        hooks.show_compact_tables(shell)


def _make_matcher(shell: Any) -> Any:
    from svc_notebook.faces.magics.extension import make_matcher

    return make_matcher(shell)


register_accessors()
_extend_shell()

"""A workbench for a hosted search service: pandas, magics, bulk loads, a local service.

Names are imported on first use, so that importing this package is cheap; the accessors `df.svc` and
`series.svc` are registered when pandas is imported. `aio` contains each function as a coroutine
function.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svc_notebook import errors, samples, tuning
    from svc_notebook.client import AsyncClient, Client
    from svc_notebook.editors import Editors
    from svc_notebook.functions import aio
    from svc_notebook.functions.blocking import *

    edit: Editors

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
_MODULES = {
    "aio": "svc_notebook.functions.aio",
    "edit": "svc_notebook.editors",
    "errors": "svc_notebook.errors",
    "samples": "svc_notebook.samples",
    "tuning": "svc_notebook.tuning",
}


def __getattr__(name: str) -> Any:
    from svc_notebook.errors import lacking_attribute

    if name in _MODULES:
        found: Any = import_module(_MODULES[name])
    elif name in _CLIENTS:
        found = getattr(import_module("svc_notebook.client"), name)
    elif name in __dir__():
        found = getattr(import_module("svc_notebook.functions.blocking"), name)
    else:
        from svc_notebook.official_names import suggest_function

        raise lacking_attribute(f"module {__name__!r}", name, __dir__(), suggest_function)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    from svc_notebook.functions.homes import COROUTINES, FUNCTIONS

    return sorted({*_MODULES, *_CLIENTS, *COROUTINES, *FUNCTIONS})


def load_ipython_extension(shell: Any) -> None:
    """Register `%svc` and its completion in a notebook."""
    from svc_notebook.magics.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove `%svc` and its completion from a notebook."""
    from svc_notebook.magics.extension import unload

    unload(shell)


class _AccessorHook:
    """An import hook that registers accessors when the package that they extend is imported."""

    def __init__(self, name: str, accessors: str) -> None:
        self._name, self._accessors = name, accessors

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _register_after_import(spec.loader, self._accessors)
        return spec


def _register_after_import(loader: Any, accessors: str) -> None:
    execute = loader.exec_module

    def execute_and_register(module: ModuleType) -> None:
        execute(module)
        import_module(accessors)

    loader.exec_module = execute_and_register


for _name, _accessors in {
    "pandas": "svc_notebook.accessors",
    "dask.dataframe": "svc_notebook.dask_accessor",
}.items():
    if _name in sys.modules:
        import_module(_accessors)
    else:
        sys.meta_path.insert(0, _AccessorHook(_name, _accessors))


def _complete_calls() -> None:
    """Register completion of names inside calls if IPython runs."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    if (shell := get_shell()) is not None:
        import_module("svc_notebook.magics.import_hook").add_matcher(shell, _make_matcher)


def _make_matcher(shell: Any) -> Any:
    from svc_notebook.magics.extension import make_matcher

    return make_matcher(shell)


_complete_calls()

"""The workbench for a hosted search service: pandas, magics, bulk loads, a local service.

Names load when first used, so that importing this package costs next to nothing; the accessors
`df.svc` and `series.svc` come with pandas. Every function has its coroutine twin in `aio`.
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
    from svc_notebook import errors
    from svc_notebook.client import AsyncClient, Client
    from svc_notebook.verbs import aio
    from svc_notebook.verbs.blocking import clear_index as clear_index
    from svc_notebook.verbs.blocking import copy_index as copy_index
    from svc_notebook.verbs.blocking import delete_records as delete_records
    from svc_notebook.verbs.blocking import drop_index as drop_index
    from svc_notebook.verbs.blocking import (
        load,
        plan,
        push,
        read_browse,
        read_records,
        search,
        settings,
        wait,
        whoami,
    )
    from svc_notebook.verbs.blocking import move_index as move_index
    from svc_notebook.verbs.blocking import read_clusters as read_clusters
    from svc_notebook.verbs.blocking import read_dictionary as read_dictionary
    from svc_notebook.verbs.blocking import read_facet_values as read_facet_values
    from svc_notebook.verbs.blocking import read_facets as read_facets
    from svc_notebook.verbs.blocking import read_indices as read_indices
    from svc_notebook.verbs.blocking import read_keys as read_keys
    from svc_notebook.verbs.blocking import read_languages as read_languages
    from svc_notebook.verbs.blocking import read_logs as read_logs
    from svc_notebook.verbs.blocking import read_rules as read_rules
    from svc_notebook.verbs.blocking import read_settings as read_settings
    from svc_notebook.verbs.blocking import read_sources as read_sources
    from svc_notebook.verbs.blocking import read_synonyms as read_synonyms
    from svc_notebook.verbs.blocking import read_top_users as read_top_users
    from svc_notebook.verbs.blocking import read_users as read_users
    from svc_notebook.verbs.blocking import search_many as search_many
    from svc_notebook.verbs.connecting import connect, current, local, use
    from svc_notebook.verbs.connecting import profiles as profiles
    from svc_notebook.verbs.connecting import stop as stop

__all__ = [
    "AsyncClient",
    "Client",
    "aio",
    "connect",
    "current",
    "errors",
    "load",
    "local",
    "plan",
    "push",
    "read_browse",
    "read_records",
    "search",
    "settings",
    "use",
    "wait",
    "whoami",
]

_HOMES = {
    "svc_notebook.client": ("AsyncClient", "Client"),
    "svc_notebook.verbs.blocking": (
        "clear_index", "copy_index", "delete_records", "drop_index", "load", "move_index",
        "plan", "push", "read_browse", "read_clusters", "read_dictionary", "read_facet_values",
        "read_facets", "read_indices", "read_keys", "read_languages", "read_logs",
        "read_records", "read_rules", "read_settings", "read_sources", "read_synonyms",
        "read_top_users", "read_users", "search", "search_many", "settings", "wait", "whoami",
    ),
    "svc_notebook.verbs.connecting": ("connect", "current", "local", "profiles", "stop", "use"),
}  # fmt: skip
_MODULES = {"aio": "svc_notebook.verbs.aio", "errors": "svc_notebook.errors"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = import_module(_MODULES[name])
    else:
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*_MODULES, *(name for names in _HOMES.values() for name in names)})


def load_ipython_extension(shell: Any) -> None:
    """Put `%svc` and its completion into a notebook."""
    from svc_notebook.magics.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Take them out again."""
    from svc_notebook.magics.extension import unload

    unload(shell)


class _WithPandas:
    """An import hook that registers the accessors once anyone has imported pandas."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "pandas":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _follow(spec.loader)
        return spec


def _follow(loader: Any) -> None:
    execute = loader.exec_module

    def execute_and_register(module: ModuleType) -> None:
        execute(module)
        _register()

    loader.exec_module = execute_and_register


def _register() -> None:
    import_module("svc_notebook.accessors")


if "pandas" in sys.modules:
    _register()
else:
    sys.meta_path.insert(0, _WithPandas())

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
    from svc_notebook import editors as edit
    from svc_notebook import errors, samples, tuning
    from svc_notebook.client import AsyncClient, Client
    from svc_notebook.functions import aio
    from svc_notebook.functions.blocking import *  # noqa: F403 - all of it is at the face
    from svc_notebook.functions.blocking import browse_all as browse_all
    from svc_notebook.functions.blocking import count_values as count_values
    from svc_notebook.functions.blocking import diff_records as diff_records
    from svc_notebook.functions.blocking import (
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
    from svc_notebook.functions.blocking import next_page as next_page
    from svc_notebook.functions.blocking import read_crawled_urls as read_crawled_urls
    from svc_notebook.functions.blocking import read_crawler_urls as read_crawler_urls
    from svc_notebook.functions.blocking import read_crawlers as read_crawlers
    from svc_notebook.functions.blocking import read_domains as read_domains
    from svc_notebook.functions.blocking import read_events as read_events
    from svc_notebook.functions.blocking import read_searches as read_searches
    from svc_notebook.functions.blocking import read_tasks as read_tasks
    from svc_notebook.functions.blocking import refresh as refresh
    from svc_notebook.functions.connection import connect, current, local, use
    from svc_notebook.functions.connection import profiles as profiles
    from svc_notebook.functions.connection import stop as stop
    from svc_notebook.functions.plots import plot_clusters as plot_clusters
    from svc_notebook.functions.plots import plot_crawl as plot_crawl
    from svc_notebook.functions.plots import plot_facets as plot_facets
    from svc_notebook.functions.plots import plot_logs as plot_logs

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

_HOMES = {
    "svc_notebook.client": ("AsyncClient", "Client"),
    "svc_notebook.functions.blocking": (
        "add_key", "add_source", "assign_users", "browse_all", "call", "cancel_crawler_task",
        "clear_entries", "clear_index", "clear_rules", "clear_synonyms", "configure_crawler",
        "copy_index", "count_values", "crawl_urls", "crawler_task", "create_crawler",
        "delete_entries", "delete_key", "delete_records", "delete_rules", "delete_source",
        "delete_synonyms", "delete_user_events", "dictionary_settings", "diff_records",
        "diff_settings", "drop_index", "explain", "explain_key", "export", "export_entries",
        "export_rules", "export_synonyms", "get_crawler", "get_key", "get_remaining_validity",
        "get_rule", "get_synonym",
        "get_user", "hide", "load", "move_index", "move_user", "next_page", "pause_crawler",
        "pending_users", "pin", "plan", "push", "read_browse", "read_clusters", "read_crawled_urls",
        "read_crawler_urls",
        "read_crawlers", "read_dask", "read_dictionary", "read_domains", "read_events",
        "read_facet_values",
        "read_facets", "read_indices", "read_keys", "read_languages", "read_logs",
        "read_records", "read_rules", "read_searches", "read_settings", "read_sources",
        "read_synonyms",
        "read_tasks", "read_top_users", "read_users", "read_writes", "refresh",
        "reindex_crawler", "remove_user", "rename_crawler", "replace_entries",
        "replace_records", "replace_rules", "replace_sources", "replace_synonyms",
        "reset_settings", "restore_key", "run_crawler", "save_entries", "save_rules",
        "save_synonyms", "search", "search_many", "secured_key", "send_events", "set_settings",
        "settings", "show", "show_search", "try_url", "unhide", "unpin", "update_key", "wait",
        "whoami",
    ),
    "svc_notebook.functions.connection": ("connect", "current", "local", "profiles", "stop", "use"),
    "svc_notebook.functions.plots": ("plot_clusters", "plot_crawl", "plot_facets", "plot_logs"),
}  # fmt: skip
_MODULES = {
    "aio": "svc_notebook.functions.aio",
    "edit": "svc_notebook.editors",
    "errors": "svc_notebook.errors",
    "samples": "svc_notebook.samples",
    "tuning": "svc_notebook.tuning",
}


def __getattr__(name: str) -> Any:
    from svc_notebook.errors import lacking_attribute, unchained_function

    if name in _MODULES:
        found: Any = import_module(_MODULES[name])
    else:
        home = next((module for module, names in _HOMES.items() if name in names), None)
        if home is None:
            raise lacking_attribute(__name__, name, __dir__())
        found = unchained_function(getattr(import_module(home), name))
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


class _Following:
    """An import hook that registers accessors once anyone has imported what they are for."""

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
            _follow(spec.loader, self._accessors)
        return spec


def _follow(loader: Any, accessors: str) -> None:
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
        sys.meta_path.insert(0, _Following(_name, _accessors))


def _complete_calls() -> None:
    """Let Tab know indices and attributes inside calls, where there is a shell of IPython."""
    get_shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)
    if (shell := get_shell()) is not None:
        import_module("svc_notebook.magics.import_hook").add_matcher(shell, _make_matcher)


def _make_matcher(shell: Any) -> Any:
    from svc_notebook.magics.extension import make_matcher

    return make_matcher(shell)


_complete_calls()

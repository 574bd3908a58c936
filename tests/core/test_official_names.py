"""Hints for the names of the official client."""

from __future__ import annotations

import inspect
import re
import traceback
from typing import Any

import pytest
from algoliasearch.search.client import SearchClient, SearchClientSync

import svc_notebook as svc
from svc_notebook import AsyncClient, Client, tuning
from svc_notebook.core.foreign_names import OFFICIAL_NAMES
from svc_notebook.data.client import ClientConfig, Secret
from svc_notebook.errors import deletes
from tests.looping import loop_over

CONNECTION = ClientConfig(app_id="APP", api_key=Secret("k"), url="http://127.0.0.1:9")
CLIENTS = [Client(CONNECTION), AsyncClient(CONNECTION)]
# A name in a hint of ours, or of Python.
SUGGESTED = re.compile(r"(?:use|mean|mean:) [`'](?:svc\.|client\.)?(\w+)[`']")


def official_methods(client: type) -> set[str]:
    members = {name for name, _ in inspect.getmembers(client, callable) if name[0] != "_"}
    return {name for name in members if not name.endswith("_with_http_info")}


def message_of(owner: Any, name: str) -> str:
    """Everything that a user sees of the error for a name."""
    try:
        getattr(owner, name)
    except AttributeError as error:
        return "".join(traceback.format_exception_only(error))
    return ""


@pytest.mark.parametrize("client", [SearchClient, SearchClientSync])
def test_every_method_of_the_official_client_has_a_row(client: type) -> None:
    assert official_methods(client) == set(OFFICIAL_NAMES)


@loop_over("name", OFFICIAL_NAMES)
def test_rows_name_what_exists(name: str) -> None:
    function, method = OFFICIAL_NAMES[name]

    assert function is None or callable(getattr(svc, function))
    assert method is None or all(hasattr(client, method) for client in CLIENTS)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("save_objects", "use `svc.push` for the official client's `save_objects`"),
        ("search_single_index", "use `svc.search` for"),
        ("get_settings", "use `svc.read_settings` for"),
        ("delete_by", "docs/coming-from/python-client.md lists"),
    ],
)
@pytest.mark.parametrize("module", [svc, svc.aio], ids=["svc", "svc.aio"])
def test_functions_are_suggested(module: Any, name: str, hint: str) -> None:
    assert hint in message_of(module, name)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda one: type(one).__name__)
def test_methods_are_suggested(client: Any) -> None:
    assert message_of(client, "save_objects") == (
        f"AttributeError: '{type(client).__name__}' object has no attribute 'save_objects'; use "
        "`client.batch` for the official client's `save_objects`\n"
    )
    assert "did you mean `get_settings`?" in message_of(client, "get_setings")
    assert "did you mean" not in message_of(client, "_repr_html_")


@pytest.mark.slow
@pytest.mark.parametrize("owner", [svc, svc.aio, svc.edit, tuning, *CLIENTS], ids=str)
@pytest.mark.sampled(2)
def test_no_hint_names_what_deletes(owner: Any) -> None:
    known = {name for client in CLIENTS for name in dir(client)} | set(dir(svc)) | set(dir(tuning))
    names = known | set(OFFICIAL_NAMES)
    misspelt = {name[:place] + name[place + 1 :] for name in names for place in range(len(name))}

    hints = {name: message_of(owner, name) for name in names | misspelt if name[:1] != "_"}

    assert len([hint for hint in hints.values() if hint]) > 1000
    assert not [hint for hint in hints.values() if any(map(deletes, SUGGESTED.findall(hint)))]

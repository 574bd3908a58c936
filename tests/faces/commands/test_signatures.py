"""`help` lists the keyword members that a function declares."""

from __future__ import annotations

import inspect
import pydoc
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.core.api.parameters import SearchOptions, Settings
from svc_notebook.core.api.validation import hints
from svc_notebook.data.declarations.signatures import describe_member
from svc_notebook.data.loading.options import RowOptions
from svc_notebook.faces.functions import aio, blocking

SPREAD: dict[str, Any] = {
    "search": SearchOptions, "search_many": SearchOptions, "read_browse": SearchOptions,
    "read_facets": SearchOptions, "explain": SearchOptions, "show_search": SearchOptions,
    "export": SearchOptions, "set_settings": Settings, "settings": Settings, "load": RowOptions,
    "push": RowOptions, "plan": RowOptions,
}  # fmt: skip


@pytest.mark.parametrize("name", SPREAD)
def test_help_lists_each_parameter_once_with_its_meaning(name: str) -> None:
    text = pydoc.plain(pydoc.render_doc(getattr(svc, name)))
    signature = inspect.signature(getattr(svc, name))

    for one in hints(SPREAD[name]):
        assert one in signature.parameters
        if f"    {one} : " not in text:
            assert SPREAD[name] is SearchOptions  # it is an argument of the function's own
            continue
        assert text.count(f"    {one} : ") == 1
        words = " ".join(text.split())
        assert " ".join(describe_member(one, SPREAD[name]).split()) in words
    assert not [p for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]


@pytest.mark.parametrize("module", [aio, blocking])
def test_every_function_lists_its_parameters(module: Any) -> None:
    for name in set(module.__all__) - {"call"}:
        parameters = inspect.signature(getattr(module, name)).parameters.values()
        hidden = [p.name for p in parameters if p.kind is p.VAR_KEYWORD]
        assert hidden == [], name


def test_types_and_defaults_are_documented() -> None:
    doc = inspect.getdoc(svc.search) or ""

    assert "hitsPerPage : integer ≥ 0 ≤ 1000, default 20\n    The number of hits per page." in doc
    assert 'queryType : `prefixLast` `prefixAll` `prefixNone`, default "prefixLast"' in doc
    assert "batch : integer, default 10000\n" in (inspect.getdoc(svc.load) or "")


def test_a_wrong_name_is_refused_as_ever(admin: svc.Client) -> None:
    with pytest.raises(svc.errors.BadInput, match="did you mean `hitsPerPage`"):
        svc.search("films", hitsPerPge=3)  # type: ignore[call-arg]

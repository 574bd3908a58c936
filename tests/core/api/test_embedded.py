"""A parameter accepts the same values in every shape that embeds it, and names no shape."""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

from svc_notebook.core import api
from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.endpoint import Endpoint
from svc_notebook.core.api.parameters import PARAMETERS, SearchParams, Settings, Shared
from svc_notebook.core.api.secured_keys import Restrictions, make_secured_key
from svc_notebook.core.api.validation import hints
from svc_notebook.errors import BadInput
from tests.core.api.representative import VALUES
from tests.looping import loop_over

FOLDER = Path(api.__file__).parent
MODULES = [import_module(one.name) for one in walk_packages(api.__path__, "svc_notebook.core.api.")]
OF_A_SEARCH = sorted(name for name, one in PARAMETERS.items() if one.scope != "setting")
# A rule's own `query` also takes edits of the query's words.
MORE_IN_A_RULE = {"query"}


def defined(tree: ast.Module) -> Iterator[str]:
    """Name the public classes and the aliases of types that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [one.id for one in targets if isinstance(one, ast.Name)]
            yield from (name for name in names if not name.isupper() and name[0] != "_")


def test_no_shape_and_no_alias_has_the_name_of_another() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(FOLDER.rglob("*.py")):
        for name in defined(ast.parse(path.read_text(encoding="utf-8"))):
            places.setdefault(name, []).append(str(path.relative_to(FOLDER)))

    assert {name: own for name, own in places.items() if len(own) > 1} == {}


def heirs() -> Iterator[tuple[Any, Any]]:
    """Pair each shape with each shape that it inherits; Python 3.11 keeps no bases of theirs."""
    for module in MODULES:
        for node in ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")).body:
            bases = node.bases if isinstance(node, ast.ClassDef) else []
            shapes = [vars(module).get(base.id) for base in bases if isinstance(base, ast.Name)]
            yield from (
                (vars(module)[node.name], base)  # type: ignore[attr-defined]
                for base in shapes
                if typing.is_typeddict(base)
            )


HEIRS = {f"{heir.__name__}-{base.__name__}": (heir, base) for heir, base in heirs()}


@loop_over("name", sorted(HEIRS))
def test_a_shape_inherits_members_as_they_are(name: str) -> None:
    heir, base = HEIRS[name]
    wanted = dict(hints(base))
    own = {key: hints(heir)[key] for key in wanted}

    assert own == wanted


def taken(method: str, name: str, value: Any) -> bool:
    """Whether a client sends a search parameter, and the service reads what was sent."""
    row = next(row for row in SearchApi.endpoints.values() if row.name == method)
    try:
        parcel = row.encode(*ARGUMENTS[method](name, value), **KEYWORDS[method](name, value))
    except BadInput:
        return False
    read(row, parcel)
    return True


def read(row: Endpoint, parcel: Any) -> None:
    """Read a request as the service does; raises where it refuses what a client sent."""
    path = {key: "i" for key, place in row.places.items() if place == "path"}
    row.decode(path, parcel.query, parcel.body, parcel.headers)


ARGUMENTS: dict[str, Any] = {
    "search": lambda name, value: ("i",),
    "get_search": lambda name, value: ("i",),
    "browse": lambda name, value: ("i",),
    "get_browse": lambda name, value: ("i",),
    "search_facet": lambda name, value: ("i", "brand"),
    "delete_by": lambda name, value: ("i",),
    "search_many": lambda name, value: ([{"indexName": "i", name: value}],),
    "save_rule": lambda name, value: ("i", "r", rule_of(name, value)),
    "save_rules": lambda name, value: ("i", [rule_of(name, value)]),
    "set_settings": lambda name, value: ("i", {name: value}),
}
KEYWORDS: dict[str, Any] = {
    method: (
        (lambda name, value: {})
        if method in ("search_many", "save_rule", "save_rules", "set_settings")
        else (lambda name, value: {name: value})
    )
    for method in ARGUMENTS
}


def rule_of(name: str, value: Any) -> dict[str, Any]:
    return {"objectID": "r", "consequence": {"params": {name: value}}}


def embeds(name: str, value: Any) -> bool:
    try:
        make_secured_key("parent", **{name: value})
    except BadInput:
        return False
    return True


@pytest.mark.slow
@loop_over("name", OF_A_SEARCH)
def test_a_value_is_taken_everywhere_or_nowhere(name: str) -> None:
    methods = [one for one in ARGUMENTS if one != "set_settings" or name in hints(Shared)]
    for value in VALUES:
        verdicts = {method: taken(method, name, value) for method in methods}
        verdicts["secured key"] = embeds(name, value)
        if name in MORE_IN_A_RULE and isinstance(value, dict):
            verdicts = {one: verdicts[one] for one in verdicts if not one.startswith("save_rule")}

        assert set(verdicts.values()) in ({True}, {False}), (name, value, verdicts)


@loop_over("name", sorted(PARAMETERS))
def test_each_parameter_takes_its_default_and_refuses_something(name: str) -> None:
    shape = Settings if PARAMETERS[name].scope == "setting" else SearchParams
    method = "set_settings" if shape is Settings else "search"
    verdicts = {repr(value): taken(method, name, value) for value in VALUES}

    assert taken(method, name, PARAMETERS[name].default)
    assert True in verdicts.values()
    assert False in verdicts.values() or name == "userData"
    assert name in hints(Restrictions) or shape is Settings

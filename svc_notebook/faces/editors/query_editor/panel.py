"""The parameter panel: every search parameter with its meaning, valid values and current value."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from typing import Any, Literal, TypedDict, get_args, get_origin

from svc_notebook.core.api.parameter_meanings import MEANINGS
from svc_notebook.core.api.parameters import PARAMETERS, Parameter
from svc_notebook.faces.functions.text_values import read_word

Kind = Literal["switch", "number", "choice", "words", "text", "json"]


class PanelRow(TypedDict):
    """One parameter and the control that sets it."""

    name: str
    meaning: str
    kind: Kind
    choices: list[str]
    default: Any
    effect: str
    group: str
    scope: str


def list_parameters(settings: Mapping[str, Any], *, with_settings: bool = False) -> list[PanelRow]:
    """List the search parameters by group; a setting of the index replaces the default.

    With `with_settings`, settings that are not search parameters are listed, too.
    """
    parameters = (PARAMETERS[name] for name in MEANINGS)
    return [
        describe(parameter, settings.get(parameter.name, parameter.default))
        for parameter in parameters
        if (with_settings or parameter.scope != "setting") and parameter.name != "query"
    ]


def read_parameter(name: str, text: str) -> Any:
    """Parse the typed value of a parameter."""
    return read_word(text, PARAMETERS[name].type, name)


def describe(parameter: Parameter, default: Any) -> PanelRow:
    """Describe one parameter, and the control that sets it."""
    kind = _kind(parameter.type)
    return {
        "name": parameter.name, "meaning": parameter.meaning, "kind": kind,
        "choices": _choices(parameter, kind), "default": default, "effect": parameter.effect,
        "group": parameter.group, "scope": parameter.scope,
    }  # fmt: skip


def _choices(parameter: Parameter, kind: Kind) -> list[str]:
    if kind == "choice" and bool in _alternatives(parameter.type):
        return list(dict.fromkeys(["true", "false", *parameter.choices]))
    return list(parameter.choices)


def _kind(expected: Any) -> Kind:
    kinds = {*_alternatives(expected)} - {type(None)}
    choices = {kind for kind in kinds if get_origin(kind) is Literal}
    if choices:
        return "choice" if kinds - choices <= {bool} else "json"
    if len(kinds) > 1:
        return "words" if kinds <= {str, list[str]} else "json"
    [only] = kinds
    if get_origin(only) is list and get_origin(get_args(only)[0]) is not list:
        return "words"
    return {bool: "switch", int: "number", str: "text"}.get(only, "json")  # type: ignore[return-value]


def _alternatives(expected: Any) -> list[Any]:
    if get_origin(expected) is typing.Annotated:
        return _alternatives(get_args(expected)[0])
    members = get_args(expected) if get_origin(expected) is not None else ()
    if members and get_origin(expected) not in (list, dict, Literal):
        return [kind for member in members for kind in _alternatives(member)]
    return [expected]

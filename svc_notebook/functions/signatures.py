"""Name each key of `**params: Unpack[Shape]` in a function's signature and docstring.

For `help` and completion in a kernel; a type checker reads the shape itself.
"""

from __future__ import annotations

import inspect
import textwrap
import typing
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from functools import cache
from inspect import Parameter
from typing import Any, get_args

import msgspec

from svc_notebook.api.parameters import PARAMETERS
from svc_notebook.api.validation import hints, type_name
from svc_notebook.commands.options import FORWARD, LOADING
from svc_notebook.commands.verb import MEANINGS
from svc_notebook.loading.options import LoadSettings

LINE_WIDTH = 96
_HEADS = {
    "params": "Search parameters; one that is not given is as the index has it, else the default",
    "changes": "Settings; None resets one to its default",
    "more": "Settings; None resets one to its default",
}


def spell_out(function: Callable[..., Any]) -> None:
    """List what a function takes by name, with type, default and meaning."""
    # A twin has both from the function that it wraps, where nothing is left to do then.
    signature = inspect.signature(function)
    spread = [p for p in signature.parameters.values() if p.kind is Parameter.VAR_KEYWORD]
    shape = _shape_of(function, spread[0]) if spread else None
    if shape is None:
        return
    own = [p for p in signature.parameters.values() if p not in spread]
    taken = {parameter.name for parameter in own}
    names = [name for name in hints(shape) if name.isidentifier() and name not in taken]
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    function.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    doc = inspect.getdoc(function) or ""
    head = _HEADS.get(spread[0].name, spread[0].name.capitalize())
    function.__doc__ = f"{doc}\n\n{head}:\n\n{_listed(shape, tuple(names))}"


def _shape_of(function: Any, spread: Parameter) -> Any:
    kind = spread.annotation
    if isinstance(kind, str):
        kind = eval(kind, inspect.unwrap(function).__globals__)  # our own annotation, postponed
    shape = next(iter(get_args(kind)), None)
    return shape if typing.is_typeddict(shape) else None


@cache
def _listed(shape: Any, names: tuple[str, ...]) -> str:
    return "\n".join(line for name in names for line in _lines(name, hints(shape)[name]))


def _lines(name: str, kind: Any) -> Iterator[str]:
    default, meaning = _known(name)
    yield f"  {name} : {_type(kind)}{f', default {default}' if default else ''}"
    if meaning:
        yield from textwrap.wrap(
            meaning, LINE_WIDTH, initial_indent="      ", subsequent_indent="      "
        )


def _type(kind: Any) -> str:
    try:
        return type_name(kind)
    except (TypeError, IndexError):
        return str(kind)


def _known(name: str) -> tuple[str, str]:
    """Return what a parameter is when nobody gives it, and what it means."""
    if name in PARAMETERS:
        one = PARAMETERS[name]
        default = "" if one.default is None else msgspec.json.encode(one.default).decode()
        return default, one.meaning
    told = next((option.help for option in (*LOADING, FORWARD) if option.parameter == name), "")
    return DEFAULTS.get(name, ""), told or MEANINGS.get(name, "")


DEFAULTS = {
    field.name: repr(field.default)
    for field in fields(LoadSettings)
    if field.default is not MISSING and field.default is not None
}

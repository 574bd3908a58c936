"""Parameters of functions: members of `**params: Unpack[Shape]`, and former names.

For `help` and completion in a kernel; a type checker reads the shape itself.
"""

from __future__ import annotations

import inspect
import textwrap
import typing
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache, wraps
from inspect import Parameter
from typing import Any, cast, get_args

import msgspec

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.core.api.validation import hints, type_name
from svc_notebook.data.declarations.docstrings import add_entries, read_entries, replace_entry
from svc_notebook.data.declarations.members import describe_member
from svc_notebook.errors import BadInput

LINE_WIDTH = 96
ROWS_SHAPE = "RowOptions"
_SPELLED, _WRITTEN_DOC = "__spelled_out__", "__written_doc__"

ABOVE_COROUTINE, ABOVE_BLOCKING = 3, 4  # frames from the warning to the caller


def spell_out(function: Callable[..., Any]) -> None:
    """List what a function takes by name, with type, default and description."""
    if vars(function).get(_SPELLED):
        return
    # Another thread can run this at the same time. Both read the docstring as it is written, which
    # is kept, and the signature is set last, so that it is never new beside an old docstring.
    doc = inspect.cleandoc(vars(function).setdefault(_WRITTEN_DOC, function.__doc__) or "")
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is Parameter.VAR_KEYWORD and (shape := shape_of(function, parameter)):
            _spell_members(function, doc, parameter, shape)
    function.__dict__[_SPELLED] = True


def _spell_members(function: Callable[..., Any], doc: str, spread: Parameter, shape: Any) -> None:
    """List the members of a shape instead of the parameter `**spread`."""
    signature = inspect.signature(function)
    named = [p for p in signature.parameters.values() if p.name != spread.name]
    names = _member_names(shape, {parameter.name for parameter in named})
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    entries = _entries(shape, names)
    described = spread.name in read_entries(doc)
    function.__doc__ = (
        replace_entry(doc, spread.name, entries) if described else add_entries(doc, entries)
    )
    function.__signature__ = signature.replace(parameters=[*named, *more])  # type: ignore[attr-defined]


def _member_names(shape: Any, taken: set[str]) -> tuple[str, ...]:
    """Return the members of a TypedDict that can be parameters, besides those taken."""
    return tuple(name for name in hints(shape) if name.isidentifier() and name not in taken)


def shape_of(function: Callable[..., Any], spread: Parameter) -> Any:
    """Return the TypedDict of `**params: Unpack[Shape]`; None for other annotations."""
    kind = spread.annotation
    if isinstance(kind, str):
        kind = eval(kind, inspect.unwrap(function).__globals__)  # our own annotation, postponed
    shape = next(iter(get_args(kind)), None)
    return shape if typing.is_typeddict(shape) else None


@cache
def _entries(shape: Any, names: tuple[str, ...]) -> str:
    return "\n".join(line for name in names for line in _lines(shape, name, hints(shape)[name]))


def _lines(shape: Any, name: str, kind: Any) -> Iterator[str]:
    default, text = describe_default(shape, name), describe_member(name, shape)
    yield f"{name} : {_type(kind)}{f', default {default}' if default else ''}"
    if text:
        yield from textwrap.wrap(text, LINE_WIDTH, initial_indent="    ", subsequent_indent="    ")


def _type(kind: Any) -> str:
    try:
        return type_name(kind)
    except (TypeError, IndexError):
        return str(kind)


def describe_default(shape: Any, name: str) -> str:
    """Return the default of a member of a shape as text, empty if there is none."""
    if shape.__name__ == ROWS_SHAPE:
        return _row_defaults().get(name, "")
    parameter = PARAMETERS.get(name)
    if parameter is None or parameter.default is None or shape.__name__ == "LogOptions":
        return ""
    return msgspec.json.encode(parameter.default).decode()


@cache
def _row_defaults() -> dict[str, str]:
    from svc_notebook.data.loading.options import LoadSettings  # it imports pandas

    return {
        field.name: repr(field.default)
        for field in fields(LoadSettings)
        if field.default is not MISSING and field.default is not None
    }


def accept_former_names(
    function: Callable[..., Awaitable[Any]], renamed: Mapping[str, str]
) -> Callable[..., Awaitable[Any]]:
    """Return a coroutine function that accepts former names of its parameters."""

    @wraps(function)
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await function(*args, **present_names(kwargs, renamed, ABOVE_COROUTINE))

    return cast(Callable[..., Awaitable[Any]], call)


def present_names(given: dict[str, Any], renamed: Mapping[str, str], frames: int) -> dict[str, Any]:
    """Return arguments by their present names; raise `BadInput` for one given by both names."""
    for old in renamed.keys() & given.keys():
        new = renamed[old]
        if new in given:
            raise BadInput(f"`{old}` is the former name of `{new}`; give one of them")
        message = f"the parameter `{old}` is now called `{new}`"
        warnings.warn(message, DeprecationWarning, stacklevel=frames)
        given = {**{name: value for name, value in given.items() if name != old}, new: given[old]}
    return given

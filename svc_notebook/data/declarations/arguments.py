"""Arguments of calls that do not fit a signature or its types: errors that name what was meant."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, Signature, iscoroutinefunction, signature
from typing import Any, NoReturn, TypeVar, cast

from svc_notebook.core.api.plain_types import PlainType, plain_type
from svc_notebook.core.api.validation import hints
from svc_notebook.core.foreign_names import suggest_argument
from svc_notebook.errors import BadArgument, BadInput, CallFailed, SvcError

Adviser = Callable[[SvcError, Mapping[str, Any]], Awaitable[None]]
MAX_LISTED_NAMES = 12
SELF = "self"
# The kinds of dtypes of booleans, integers, floats and texts; an interval would be a bare number.
SCALAR_KINDS = frozenset("biufU")

# Sessions are a layer above declarations. A call runs in the background thread, which imports
# nothing: a user's thread may hold the lock of a module.
_advisers: list[Adviser] = []

F = TypeVar("F", bound=Callable[..., Any])


def check_arguments(function: F, *, advises: bool = False) -> F:
    """Return a function that raises `BadArgument` for arguments that its signature does not have.

    The members of `**params: Unpack[Shape]` are arguments, too. Numbers and texts of numpy, such as
    cells of a DataFrame, are passed as those of Python. Raises `BadInput` for a value that does not
    have the type of its parameter, where that is a plain type. With `advises`, the error of a
    refused call has a note of what was probably meant.
    """
    if iscoroutinefunction(function):

        @wraps(function)
        async def call_later(*args: Any, **kwargs: Any) -> Any:
            try:
                check_names(function, kwargs)
                args, kwargs = _unwrap(args, kwargs)
                _check_types(function, args, kwargs)
                return await function(*args, **kwargs)
            except TypeError as error:
                _refuse(function, args, kwargs, error)
            except (CallFailed, BadInput) as error:
                if advises:
                    await _advise(function, args, kwargs, error)
                raise

        return cast(F, call_later)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            check_names(function, kwargs)
            args, kwargs = _unwrap(args, kwargs)
            _check_types(function, args, kwargs)
            return function(*args, **kwargs)
        except TypeError as error:
            _refuse(function, args, kwargs, error)

    return cast(F, call)


def _unwrap(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return arguments with numbers and texts of numpy as those of Python."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return args, kwargs

    def unwrap(value: Any) -> Any:
        scalar = isinstance(value, numpy.generic) and value.dtype.kind in SCALAR_KINDS
        return value.item() if scalar else value

    return tuple(map(unwrap, args)), {name: unwrap(value) for name, value in kwargs.items()}


def _check_types(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Raise `BadInput` for a value of another type than its parameter has."""
    placed, types = _plain_types(function)
    if len(args) > len(placed):  # the call reports it
        return
    for name, value in (*zip(placed, args, strict=False), *kwargs.items()):
        if plain := types.get(name):
            plain.check(value, name)


@cache
def _plain_types(function: Callable[..., Any]) -> tuple[tuple[str, ...], Mapping[str, PlainType]]:
    """Return the parameters that can be given without a name, and the types that are checked."""
    parameters = signature(function).parameters.values()
    placed = tuple(p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD)
    types = {p.name: plain_type(str(p.annotation), optional=p.default is None) for p in parameters}
    return placed, {name: plain for name, plain in types.items() if plain}


def register_adviser(advise: Adviser) -> Adviser:
    """Let a function add notes of what was probably meant to the errors of calls."""
    _advisers.append(advise)
    return advise


def check_names(function: Callable[..., Any], kwargs: Mapping[str, Any]) -> None:
    """Raise `BadArgument` for a name that is not an argument of a function."""
    if kwargs and (accepted := _accepted_names(function)):
        for name in kwargs.keys() - accepted:
            raise BadArgument(f"{function.__name__}: {_unknown(name, accepted, function.__name__)}")


@cache
def _accepted_names(function: Callable[..., Any]) -> frozenset[str]:
    """Return all names of arguments; none if a function takes any."""
    from svc_notebook.data.declarations.signatures import shape_of  # it imports the parameters

    parameters = signature(function).parameters.values()
    names = {p.name for p in parameters if p.kind is not Parameter.VAR_KEYWORD}
    for spread in parameters:
        if spread.kind is Parameter.VAR_KEYWORD:
            try:
                shape = shape_of(function, spread)
            except NameError:  # a name that is imported for type checkers only
                shape = None
            if shape is None:
                return frozenset()
            names |= {*hints(shape)}
    return frozenset(names - {SELF})


def _refuse(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], error: TypeError
) -> NoReturn:
    """Raise `BadArgument` if arguments do not fit a function, else the error itself."""
    accepted = signature(function)
    try:
        accepted.bind(*args, **kwargs)
    except TypeError:
        problem = describe_misfit(accepted, args, kwargs)
        raise BadArgument(f"{function.__name__}: {problem}") from None
    raise error


async def _advise(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], error: SvcError
) -> None:
    """Add a note of what was probably meant to the error of a call, unless it has one."""
    if not getattr(error, "__notes__", ()):
        given = dict(zip(_plain_types(function)[0], args, strict=False))
        for advise in _advisers:
            await advise(error, {**given, **kwargs})


def _unknown(name: str, accepted: Iterable[str], function: str) -> str:
    advice = suggest_argument(name, accepted, function=function)
    names = sorted(accepted)
    if not advice and len(names) <= MAX_LISTED_NAMES:
        advice = f"; the arguments are {', '.join(names)}"
    if "extra" in accepted:
        advice += "; to send it unchecked, use extra={...}"
    return f"there is no argument `{name}`{advice}"


def describe_misfit(accepted: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """Describe the first argument that does not fit a signature."""
    parameters = [*accepted.parameters.values()]
    if parameters and parameters[0].name == SELF:
        parameters, args = parameters[1:], args[1:]
    placed = [p for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    if unknown := _describe_unknown(parameters, kwargs):
        return unknown
    if len(args) > len(placed):
        return _describe_surplus(placed, parameters, len(args))
    given = [p.name for p in placed[: len(args)]]
    if twice := next(filter(kwargs.__contains__, given), None):
        return f"`{twice}` is given twice"
    return _describe_missing(parameters, {*given, *kwargs})


def _describe_unknown(parameters: Sequence[Parameter], kwargs: Iterable[str]) -> str:
    """Describe the first argument that no parameter has; empty if each has one."""
    names = [p.name for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
    unknown = [name for name in kwargs if name not in names]
    return _unknown(unknown[0], names, "") if unknown and len(names) == len(parameters) else ""


def _describe_missing(parameters: Sequence[Parameter], given: Collection[str]) -> str:
    missing = [f"`{p.name}`" for p in parameters if _is_required(p) and p.name not in given]
    verb = "is" if len(missing) == 1 else "are"
    return f"{' and '.join(missing)} {verb} missing"


def _describe_surplus(
    placed: Sequence[Parameter], parameters: Sequence[Parameter], count: int
) -> str:
    listed = ", ".join(f"`{p.name}`" for p in placed)
    accepted = f"only {listed}" if placed else "none"
    named = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    examples = [f", as in `{name}=...`" for name in named if name != "client"]
    return (
        f"{accepted} can be given without a name, not {count} arguments; "
        f"name the others{''.join(examples[:1])}"
    )


def _is_required(parameter: Parameter) -> bool:
    collects = parameter.kind in (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return parameter.default is Parameter.empty and not collects

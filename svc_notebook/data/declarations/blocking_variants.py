"""The blocking variant of a coroutine function, and modules that load such variants on first use.

A blocking variant runs on the background loop.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack
from functools import cache, wraps
from inspect import Parameter, Signature
from typing import Any

from svc_notebook.core.foreign_names import suggest_function
from svc_notebook.core.imports import import_quickly, register_accessors
from svc_notebook.data.declarations.arguments import check_names, describe_misfit
from svc_notebook.data.declarations.declaration import Declaration, declaration_of
from svc_notebook.data.declarations.signatures import (
    ABOVE_BLOCKING,
    present_names,
    replace_entry,
    spell_out,
)
from svc_notebook.errors import BadArgument, lacking_attribute, unchained

CALLBACK, SWITCH = "on_progress", "progress"
SWITCH_ENTRY = (
    "progress : bool, default None\n"
    "    Draw a progress bar; None draws one in notebooks and terminals."
)
_SWITCH = Parameter(SWITCH, Parameter.KEYWORD_ONLY, default=None, annotation="bool | None")


@cache
def blocking_variant(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that blocks: the variant of a coroutine function, else the function.

    A switch `progress` for a progress bar takes the place of the callback `on_progress`. An
    asynchronous iterator becomes an iterator. A stream of records is read in the caller's thread.
    """
    spell_out(function)
    if not inspect.iscoroutinefunction(function):
        return unchained(function)
    declared = declaration_of(function)
    if declared and declared.bar:
        return unchained(_with_bar(declared, function))
    return unchained(_plain(function))


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    from svc_notebook.data.client import background_loop  # it imports HTTP; not in a call at exit

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        register_accessors()
        result = background_loop.run(function(*args, **kwargs))
        return background_loop.iterate(result) if isinstance(result, AsyncIterator) else result

    return call


def _with_bar(declared: Declaration, function: Callable[..., Any]) -> Callable[..., Any]:
    from svc_notebook.data.client import Progress, background_loop  # it imports HTTP

    accepted = _without_callback(declared.signature)

    @wraps(function)
    def call(*args: Any, progress: bool | None = None, **kwargs: Any) -> Any:
        register_accessors()
        kwargs = present_names(kwargs, declared.renamed, ABOVE_BLOCKING)
        check_names(function, kwargs)
        try:
            bound = accepted.bind(*args, **kwargs)
        except TypeError:
            problem = describe_misfit(accepted, args, kwargs)
            raise BadArgument(f"{declared.name}: {problem}") from None
        given = bound.arguments
        bar = Progress(unit=declared.bar, label=_label(declared, given), shown=progress)
        with ExitStack() as stack:
            if declared.stream:
                given[declared.stream] = stack.enter_context(_records(declared, given))
            return background_loop.behind_bar(
                lambda tell: function(*bound.args, **bound.kwargs, on_progress=tell), bar
            )

    shown = inspect.signature(function)
    parameters = [_SWITCH if name == CALLBACK else p for name, p in shown.parameters.items()]
    call.__signature__ = shown.replace(parameters=parameters)  # type: ignore[attr-defined]
    call.__doc__ = replace_entry(inspect.getdoc(function) or "", CALLBACK, SWITCH_ENTRY)
    return call


def _without_callback(signature: Signature) -> Signature:
    kept = [p for name, p in signature.parameters.items() if name != CALLBACK]
    return signature.replace(parameters=kept)


def _label(declared: Declaration, given: dict[str, Any]) -> str:
    if declared.label in declared.signature.parameters:
        value = given.get(declared.label)
        return value if isinstance(value, str) and value else declared.name
    return declared.label


def _records(declared: Declaration, given: dict[str, Any]) -> Any:
    """Return the context in which a source is read, if it is a stream of records."""
    from svc_notebook.data.loading.sources.python_records import at_hand  # it imports pandas

    spread = [p for p in declared.signature.parameters.values() if p.kind is p.VAR_KEYWORD]
    options = given.get(spread[0].name, {}) if spread else {}
    look, resume = given.get("dry_run", False), given.get("resume", False)
    return at_hand(given[declared.stream], options, look=look, resume=resume)


def lazy_attribute(
    module: str, homes: Mapping[str, str], adapt: Callable[[Any], Any]
) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module: it imports a name from its path in `homes`."""

    def load(name: str) -> Any:
        if name not in homes:
            raise lacking_attribute(f"module {module!r}", name, homes, suggest_function)
        home, attribute = homes[name].rsplit(".", 1)
        return adapt(getattr(import_quickly(home), attribute))

    return load

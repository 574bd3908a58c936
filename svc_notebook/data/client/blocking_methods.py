"""Methods of the blocking client that are made from those of the asynchronous one."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from svc_notebook.data.client import background_loop

if TYPE_CHECKING:
    from svc_notebook.data.client.client import AsyncClient, Client

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
SWITCH_ENTRY = (
    "progress : bool, default None\n"
    "    Draw a progress bar; None draws one in notebooks and terminals.\n"
)
_SWITCH = Parameter("progress", Parameter.KEYWORD_ONLY, default=None, annotation="bool | None")
_CALLBACK_ENTRY = re.compile(r"^on_progress : .*\n(?:    .*\n)+", re.M)


def blocking_method(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[Client, P], T]:
    """Return the method of a `Client` that waits for the result of a coroutine function."""

    @wraps(method)
    def call(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return background_loop.run(method(client.aio, *args, **kwargs))

    return call


def blocking_iterator(
    method: Callable[Concatenate[AsyncClient, P], AsyncIterator[T]],
) -> Callable[Concatenate[Client, P], Iterator[T]]:
    """Return the method of a `Client` that iterates over what an asynchronous iterator yields."""

    @wraps(method)
    def call(client: Client, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return background_loop.iterate(method(client.aio, *args, **kwargs))

    accepted = inspect.signature(method)
    returned = accepted.return_annotation.replace("AsyncIterator", "Iterator")
    call.__signature__ = accepted.replace(return_annotation=returned)  # type: ignore[attr-defined]
    return call


def documented_by(method: Callable[..., Any]) -> Callable[[F], F]:
    """Give a method of a `Client` the docstring and the parameters of the asynchronous one.

    A switch `progress` for a progress bar takes the place of the callback `on_progress`.
    """

    def describe(function: F) -> F:
        doc = _CALLBACK_ENTRY.sub(SWITCH_ENTRY, inspect.cleandoc(method.__doc__ or ""))
        function.__doc__ = doc.replace("AsyncClient", "Client")
        accepted = inspect.signature(method)
        parameters = [
            _SWITCH if name == "on_progress" else p for name, p in accepted.parameters.items()
        ]
        function.__signature__ = accepted.replace(parameters=parameters)  # type: ignore[attr-defined]
        return function

    return describe

"""Former names of parameters: accepted, with a `DeprecationWarning` that names the present one."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any, cast

from svc_notebook.errors import BadInput

ABOVE_COROUTINE, ABOVE_BLOCKING = 3, 4  # frames from the warning to the caller


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

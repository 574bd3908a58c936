"""Coroutine functions for those who do not await."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from svc_notebook.client import portal

P = ParamSpec("P")
R = TypeVar("R")


def blocking(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """Make the twin of a coroutine function that returns when the result is there."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return portal.run(function(*args, **kwargs))

    return call

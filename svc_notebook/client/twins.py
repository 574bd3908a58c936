"""Coroutine functions for those who do not await."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from svc_notebook.client import Progress, portal
from svc_notebook.client.waiting import OnProgress

P = ParamSpec("P")
R = TypeVar("R")


def blocking(function: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """Make the twin of a coroutine function that returns when the result is there."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return portal.run(function(*args, **kwargs))

    return call


def behind_bar(begin: Callable[[OnProgress], Coroutine[Any, Any, R]], bar: Progress) -> R:
    """Run what tells how far it is, and draw that."""
    with bar:
        return portal.run(begin(bar.tell), on_tick=bar.draw)

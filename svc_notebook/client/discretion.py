"""Keys stay out of what is told about calls: the HTTP library's log, the values in tracebacks."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import httpx

P = ParamSpec("P")
R = TypeVar("R")
Asynchronous = Callable[P, Coroutine[Any, Any, R]]

_KEY_IN_PATH = re.compile(r"(/1/(?:indexes/[^/?]+/)?keys/)[^/?]+")


def keep_keys_from_logs() -> None:
    """Mask them from now on; doing so twice changes nothing."""
    logging.getLogger("httpx").addFilter(_mask_record)


def _mask_record(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(_mask(each) for each in record.args)
    return True


def _mask(value: object) -> object:
    if not isinstance(value, httpx.URL):
        return value
    return _KEY_IN_PATH.sub(r"\1***", str(value))


def discreet(function: Asynchronous[P, R]) -> Asynchronous[P, R]:
    """Let a coroutine function that handles keys forget its values if it fails.

    A traceback keeps its lines, but tools that show the values of its frames find none.
    """

    @wraps(function)
    async def forget_after(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await function(*args, **kwargs)
        except BaseException as error:
            _forget_values(error)
            raise

    return forget_after


def _forget_values(error: BaseException) -> None:
    below: BaseException | None = error
    while below:
        traceback.clear_frames(below.__traceback__)
        below = below.__cause__ or below.__context__

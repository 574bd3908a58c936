"""API keys as values that do not print their text, and redaction of keys in logs and tracebacks."""

from __future__ import annotations

import hmac
import logging
import re
import traceback
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, NoReturn, ParamSpec, Self, TypeVar

import httpx

from svc_notebook.core.redaction import show_address
from svc_notebook.errors import BadInput


class Secret:
    """A key whose text is returned only by `reveal`."""

    __slots__ = ("__text",)

    def __init__(self, text: str = "") -> None:
        self.__text = text

    def reveal(self) -> str:
        """Return the text; call it only where the text is sent, and do not store the result."""
        return self.__text

    def __repr__(self) -> str:
        return "Secret(...)" if self.__text else "Secret('')"

    def __format__(self, spec: str) -> str:
        return format(repr(self), spec)

    def __bool__(self) -> bool:
        return bool(self.__text)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self.__text.encode(), other.__text.encode())

    def __hash__(self) -> int:
        return hash((Secret, self.__text))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise BadInput(
            "an API key cannot be pickled; connect by profile in the process that needs it"
        )


NO_SECRET = Secret()


P = ParamSpec("P")
R = TypeVar("R")
Asynchronous = Callable[P, Coroutine[Any, Any, R]]

_API = re.compile(r"(?:/api)?/\d/")
_KEY_IN_PATH = re.compile(r"(/1/(?:indexes/[^/?]+/)?keys/)[^/?]+")


def keep_keys_from_logs() -> None:
    """Mask keys in the log messages of httpx from now on; further calls have no effect.

    Of other addresses than those of the API, credentials and queries are masked.
    """
    logging.getLogger("httpx").addFilter(_mask_record)


def _mask_record(record: logging.LogRecord) -> bool:
    if isinstance(record.args, tuple):
        record.args = tuple(_mask(argument) for argument in record.args)
    return True


def _mask(value: object) -> object:
    if not isinstance(value, httpx.URL):
        return value
    text = str(value)
    # Requests of a client are of this API; others download a source.
    return _KEY_IN_PATH.sub(r"\1***", text) if _API.match(value.path) else show_address(text)


def discreet(function: Asynchronous[P, R]) -> Asynchronous[P, R]:
    """Clear the local variables of a coroutine function that handles keys when it fails.

    The traceback keeps its lines, but tools that display the variables of its frames find none.
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

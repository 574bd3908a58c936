"""Decode the JSON of a request body; errors name the position."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import msgspec

from svc_notebook.api.validation import place
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.http.body import MalformedBody

_CONTAINERS = (dict, list)
# Maps all digits to one, so that one substring search finds a number too long for 64 bits.
_DIGITS = bytes(ord("1") if 48 <= byte < 58 else byte for byte in range(256))
_LONG = b"1" * 19


def read_json(raw: bytes) -> Any:
    """Decode a body, None if it is empty; raises `BadInput` with the position of an error."""
    if not raw.strip():
        return None
    try:
        body = msgspec.json.decode(raw)
    except RecursionError:
        raise nested_too_deeply() from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise _explain(raw, error) from None
    if raw.count(b"[") + raw.count(b"{") > limits.MAX_JSON_DEPTH:
        _refuse_depth(body)
    if _LONG in raw.translate(_DIGITS):
        _refuse_long_numbers(body)
    return body


def nested_too_deeply() -> MalformedBody:
    """Return the error for a body that is nested too deeply."""
    return MalformedBody(
        f"the body is nested too deeply; the maximum is {limits.MAX_JSON_DEPTH} levels"
    )


def _explain(raw: bytes, error: Exception) -> MalformedBody:
    """Return the error with its position, which the slower standard parser finds."""
    text = str(error)
    try:
        body = json.loads(raw.decode("utf-8"), parse_int=float, parse_constant=_refuse_constant)
    except UnicodeDecodeError as wrong:
        text = f"byte {wrong.start} is not UTF-8"
    except json.JSONDecodeError as wrong:
        text = f"{wrong.msg} at line {wrong.lineno} column {wrong.colno}"
    except (ValueError, RecursionError):
        pass
    else:
        huge = [at for at, leaf in _leaves(body, "") if leaf in (math.inf, -math.inf)]
        if huge:
            return MalformedBody(f"`{huge[0]}`: the number does not fit in 64 bits")
        text = "a \\u escape encodes half a character"
    return MalformedBody(f"the body is not valid JSON: {text}")


def _refuse_constant(word: str) -> None:
    raise ValueError(word)


def _refuse_depth(body: Any) -> None:
    level = [body]
    for _ in range(limits.MAX_JSON_DEPTH):
        level = [
            inner
            for outer in level
            if type(outer) in _CONTAINERS
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return
    raise nested_too_deeply()


def _refuse_long_numbers(body: Any) -> None:
    for at, leaf in _leaves(body, ""):
        if type(leaf) is int and leaf not in limits.INTEGERS:
            raise BadInput(f"`{at}`: the number {str(leaf)[:40]} does not fit in 64 bits")


def _leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    if type(value) is dict:
        for name, inner in value.items():
            yield from _leaves(inner, place(at, name))
    elif type(value) is list:
        for position, inner in enumerate(value):
            yield from _leaves(inner, f"{at}[{position}]")
    else:
        yield at, value

"""Numbers of requests, and the bounds of integers in every way by which they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from msgspec import Meta

from svc_notebook.errors import BadInput

# Maximum of an argument that is an integer: all readers of JSON keep it exact, and a page times the
# hits of a page fits in 64 bits.
MAX_INTEGER = 2**53 - 1
# Integers of records and other free values: those that fit in 64 bits.
INTEGERS = range(-(2**63), 2**64)

Integer = Annotated[int, Meta(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Natural = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]
Positive = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]


def is_number(value: Any) -> bool:
    """Return whether a value is a number, and no boolean."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def refuse_long_integers(value: Any, at: str) -> None:
    """Raise `BadInput` for an integer that does not fit in 64 bits, anywhere in a JSON value."""
    for position, leaf in list_leaves(value, at):
        if type(leaf) is int and leaf not in INTEGERS:
            raise BadInput(f"`{position}`: the number {str(leaf)[:40]} does not fit in 64 bits")


def list_leaves(value: Any, at: str) -> Iterator[tuple[str, Any]]:
    """Yield the values inside lists and objects, each with its position."""
    if type(value) is dict:
        for name, inner in value.items():
            yield from list_leaves(inner, f"{at}.{name}" if at else name)
    elif type(value) is list:
        for number, inner in enumerate(value):
            yield from list_leaves(inner, f"{at}[{number}]")
    else:
        yield at, value

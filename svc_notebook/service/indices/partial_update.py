"""Partial updates of a record: set attributes, or apply one of seven operations to them.

Decisions where api.md is silent: an operation on a missing attribute starts from 0 or from an
empty array; an operation on an attribute of another type does not change that attribute; if the
condition of a conditional operation fails, the whole record is unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from svc_notebook.core.api.integers import INTEGERS
from svc_notebook.core.api.shapes import Record
from svc_notebook.core.api.validation import place
from svc_notebook.errors import BadInput, did_you_mean

_OPERATION_MEMBER = "_operation"


class _ConditionFailed(Exception):
    """The condition of a conditional operation fails."""


def update_record(record: Record | None, changes: Record, *, create: bool) -> Record | None:
    """Return the changed record, or None if the update has no effect."""
    if record is None and not create:
        return None
    changed = dict(record or {})
    try:
        for name, value in changes.items():
            _change(changed, name, value)
    except _ConditionFailed:
        return None
    return changed


def check_changes(changes: Record, at: str) -> None:
    """Raise `BadInput` for an unknown operation, or a value of the wrong type."""
    for name, value in changes.items():
        if _is_operation(value):
            _check_operation(value, place(at, name))


def _is_operation(value: Any) -> bool:
    return isinstance(value, dict) and _OPERATION_MEMBER in value


def _check_operation(operation: Record, at: str) -> None:
    word = operation[_OPERATION_MEMBER]
    if not isinstance(word, str) or word not in OPERATIONS:
        advice = did_you_mean(str(word), OPERATIONS)
        raise BadInput(f"`{at}._operation`: {str(word)[:40]!r} is not an operation{advice}")
    if extra := operation.keys() - {_OPERATION_MEMBER, "value"}:
        raise BadInput(f"`{at}.{sorted(extra)[0]}` is not part of an operation")
    if "value" not in operation:
        raise BadInput(f"`{at}.value` is missing")
    kinds, words, _ = OPERATIONS[word]
    if type(operation["value"]) not in kinds:
        raise BadInput(f"`{at}.value`: {word} takes {words}")


def _change(record: Record, name: str, value: Any) -> None:
    if not _is_operation(value):
        record[name] = value
        return
    _, _, operate = OPERATIONS[value[_OPERATION_MEMBER]]
    result = operate(record.get(name), value["value"])
    if result is not None:
        record[name] = result


def _increment(current: Any, value: float) -> float | None:
    if current is not None and type(current) not in _NUMBERS:
        return None
    total = (current or 0) + value
    fits = total in INTEGERS if isinstance(total, int) else math.isfinite(total)
    return total if fits else None


def _decrement(current: Any, value: float) -> float | None:
    return _increment(current, -value)


def _add(current: Any, value: Any) -> list[Any] | None:
    return [*current, value] if isinstance(current, list) else _first_list(current, [value])


def _remove(current: Any, value: Any) -> list[Any] | None:
    return [item for item in current if not _equal(item, value)] if _is_flat(current) else None


def _add_unique(current: Any, value: Any) -> list[Any] | None:
    if not _is_flat(current):
        return _first_list(current, [value])
    return None if any(_equal(item, value) for item in current) else [*current, value]


def _increment_from(current: Any, value: int) -> float | None:
    if _number(current) != value:
        raise _ConditionFailed
    return _increment(current, 1)


def _increment_set(current: Any, value: int) -> int:
    if not value > _number(current):
        raise _ConditionFailed
    return value


def _number(current: Any) -> float:
    if current is not None and type(current) not in _NUMBERS:
        raise _ConditionFailed
    return current or 0


def _is_flat(current: Any) -> bool:
    return isinstance(current, list) and not any(isinstance(i, (dict, list)) for i in current)


def _first_list(current: Any, first: list[Any]) -> list[Any] | None:
    return first if current is None else None


def _equal(item: Any, value: Any) -> bool:
    """Compare as in JSON: 1 and 1.0 are equal, 1 and true are not."""
    return isinstance(item, bool) == isinstance(value, bool) and bool(item == value)


_NUMBERS = (int, float)
_ITEMS = (int, float, str)
# For each operation: the types of its value, their description, and the function that computes the
# new value; None leaves the attribute unchanged.
OPERATIONS: dict[str, tuple[tuple[type, ...], str, Callable[[Any, Any], Any]]] = {
    "Increment": (_NUMBERS, "a number", _increment),
    "Decrement": (_NUMBERS, "a number", _decrement),
    "Add": (_ITEMS, "a number or a string", _add),
    "Remove": (_ITEMS, "a number or a string", _remove),
    "AddUnique": (_ITEMS, "a number or a string", _add_unique),
    "IncrementFrom": ((int,), "an integer", _increment_from),
    "IncrementSet": ((int,), "an integer", _increment_set),
}

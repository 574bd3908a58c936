"""Operations of a batch: validated when accepted, resolved to record changes when applied."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from svc_notebook.core.api.shapes import BatchRequest, Record
from svc_notebook.core.api.validation import place
from svc_notebook.core.api.values import INTEGERS
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.service import limits
from svc_notebook.service.limits import read_object_id

_OPERATION_MEMBER = "_operation"

_ENCODER = msgspec.json.Encoder()
# An objectID with at most so many characters is not too long in any script.
MAX_SHORT_ID_CHARACTERS = limits.MAX_OBJECT_ID_BYTES // 4


class BatchOperation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One operation on a record (`id`) or on the whole index; `body` is compact JSON."""

    action: str
    id: str = ""
    body: bytes = b""


class RecordTooBig(BadInput):
    """A record exceeds the limit; `members` locate it in the request (docs/differences.md)."""

    def __init__(self, position: int, object_id: Any, size: int) -> None:
        named = {} if object_id is None else {"objectID": str(object_id)}
        words = f" objectID={named['objectID'][:80]}" if named else ""
        super().__init__(
            f"Record at the position {position}{words} is too big "
            f"size={size}/{limits.MAX_RECORD_BYTES} bytes. Leave out attributes that no search "
            "needs, or split the record into several"
        )
        self.members = {"position": position, **named}


def check_operations(requests: Sequence[BatchRequest]) -> list[BatchOperation]:
    """Validate the operations of a batch; raises `BadInput` with the position of an invalid one."""
    return _write_records(requests) or [
        check_operation(request["action"], request.get("body"), f"requests[{number}].body", number)
        for number, request in enumerate(requests)
    ]


def _write_records(requests: Sequence[BatchRequest]) -> list[BatchOperation]:
    """Return the operations of a batch that only writes records with texts as objectIDs.

    Empty if it does something else, or one of them is invalid. Thousands of records are validated
    in a third of the time that they take one by one.
    """
    actions: list[str] = [request["action"] for request in requests]
    records = [request.get("body", {}) for request in requests]
    ids: list[Any] = [record.get("objectID") for record in records]
    if not {*actions} <= WRITE_ACTIONS or {*map(type, ids)} != {str} or not all(ids):
        return []
    bodies = [*map(_ENCODER.encode, records)]
    if max(map(len, bodies)) > limits.MAX_RECORD_BYTES:
        return []
    if max(map(len, ids)) > MAX_SHORT_ID_CHARACTERS or "\0" in "".join(ids):
        return []
    return [*map(BatchOperation, actions, ids, bodies)]


def check_operation(action: str, body: Any, at: str, position: int = 0) -> BatchOperation:
    """Validate one operation of a batch; raises `BadInput` with its position."""
    if action in INDEX_ACTIONS:
        return BatchOperation(action)
    if not isinstance(body, dict):
        raise BadInput(f"`{at}` must be an object")
    object_id = _object_id(body, at) if action != "addObject" else _object_id_or_new(body, at)
    if action == "deleteObject":
        return BatchOperation(action, object_id)
    if action.startswith("partial"):
        check_changes(body, at)
    packed = _packed(body, object_id)
    if len(packed) > limits.MAX_RECORD_BYTES:
        raise RecordTooBig(position, body.get("objectID"), len(packed))
    return BatchOperation(action, object_id, packed)


def _object_id(body: Record, at: str) -> str:
    if "objectID" not in body:
        raise BadInput(f"`{at}.objectID` is missing" if at else "`objectID` is missing")
    return read_object_id(body["objectID"], f"{at}.objectID" if at else "objectID")


def _object_id_or_new(body: Record, at: str) -> str:
    return _object_id(body, at) if "objectID" in body else secrets.token_hex(20)


def _packed(body: Record, object_id: str) -> bytes:
    same = body.get("objectID") == object_id  # a record with a number as id is copied
    return _ENCODER.encode(body if same else {**body, "objectID": object_id})


def encode_operations(operations: Iterable[BatchOperation]) -> bytes:
    """Encode operations as the body of a task."""
    return msgspec.msgpack.encode(list(operations))


_DECODER = msgspec.msgpack.Decoder(list[BatchOperation])


def decode_operations(body: bytes) -> list[BatchOperation]:
    """Decode operations."""
    return _DECODER.decode(body)


@dataclass
class RecordsChange:
    """The net effect of operations: optionally empty the index, then set or delete records.

    `makes` is true if a record was written, even if deleted again, because that creates the index.
    """

    emptied: str = ""
    makes: bool = False
    records: dict[str, bytes | None] = field(default_factory=dict)

    @cached_property
    def put(self) -> list[tuple[str, bytes]]:
        """The records to store."""
        return [(name, body) for name, body in self.records.items() if body is not None]

    @cached_property
    def deleted(self) -> list[str]:
        """The objectIDs of the records to delete."""
        return [name for name, body in self.records.items() if body is None]


ReadRecords = Callable[[Sequence[str]], Mapping[str, bytes]]


def resolve_operations(
    operations: Sequence[BatchOperation], current: ReadRecords
) -> list[RecordsChange]:
    """Compute the net effect of operations; `current` reads the records before them.

    An operation that empties the index starts a new change, because earlier ones do not affect
    later ones.
    """
    changes = [RecordsChange()]
    partial = [s.id for s in operations if s.action in PARTIAL_ACTIONS]
    stored: Mapping[str, bytes] = current(partial) if partial else {}
    for operation in operations:
        if operation.action in WRITE_ACTIONS:
            changes[-1].records[operation.id] = operation.body
            changes[-1].makes = True
        elif operation.action in INDEX_ACTIONS:
            changes.append(RecordsChange(emptied=operation.action))
            stored = {}
        else:
            _resolve(operation, changes[-1], stored)
    return changes


def _resolve(operation: BatchOperation, change: RecordsChange, stored: Mapping[str, bytes]) -> None:
    if operation.action == "deleteObject":
        change.records[operation.id] = None
        return
    # A record deleted by an earlier operation is None here, so it is not read from `stored`.
    body = _updated(change.records.get(operation.id, stored.get(operation.id)), operation)
    if body is not None:
        change.records[operation.id] = body
        change.makes = True


def _updated(before: bytes | None, operation: BatchOperation) -> bytes | None:
    changed = update_record(
        None if before is None else msgspec.json.decode(before),
        msgspec.json.decode(operation.body),
        create=PARTIAL_ACTIONS[operation.action],
    )
    return None if changed is None else msgspec.json.encode(changed)


# The right that each batched action needs; api.md, Batch actions and Authentication.
ACTION_RIGHTS = {
    "addObject": "addObject",
    "updateObject": "addObject",
    "partialUpdateObject": "addObject",
    "partialUpdateObjectNoCreate": "addObject",
    "deleteObject": "deleteObject",
    "delete": "deleteIndex",
    "clear": "deleteIndex",
}
INDEX_ACTIONS = ("delete", "clear")
# The actions that write a whole record.
WRITE_ACTIONS = frozenset({"addObject", "updateObject"})
# Whether the action creates a missing record.
PARTIAL_ACTIONS = {"partialUpdateObject": True, "partialUpdateObjectNoCreate": False}


class _ConditionFailed(Exception):
    """The condition of a conditional operation fails."""


def update_record(record: Record | None, changes: Record, *, create: bool) -> Record | None:
    """Return the changed record, or None if the partial update has no effect.

    Decisions where api.md is silent: an operation on a missing attribute starts from 0 or from an
    empty array; an operation on an attribute of another type does not change that attribute; if the
    condition of a conditional operation fails, the whole record is unchanged.
    """
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

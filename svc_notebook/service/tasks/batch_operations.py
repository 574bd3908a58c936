"""Operations of a batch: validated when accepted, resolved to record changes when applied."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import msgspec

from svc_notebook.core.api.shapes import BatchRequest, Record
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.indices.partial_update import check_changes, update_record
from svc_notebook.service.limits import read_object_id

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

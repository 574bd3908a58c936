"""The operations of an encoded batch, read back."""

from __future__ import annotations

from typing import Any

import msgspec


class SentOperation(msgspec.Struct):
    """One operation of a batch."""

    action: str
    body: dict[str, Any]


class _SentOperations(msgspec.Struct):
    requests: list[SentOperation]


class _NamedBody(msgspec.Struct):
    object_id: str = msgspec.field(name="objectID")


class _NamedOperation(msgspec.Struct):
    body: _NamedBody


class _NamedOperations(msgspec.Struct):
    requests: list[_NamedOperation]


def operations_of(body: bytes) -> list[SentOperation]:
    """Decode the operations of a batch."""
    return msgspec.json.decode(body, type=_SentOperations).requests


def ids_of(body: bytes) -> list[str]:
    """Return the ids of a batch; the rest of it is not decoded."""
    requests = msgspec.json.decode(body, type=_NamedOperations).requests
    return [operation.body.object_id for operation in requests]

"""Stored entries: synonyms and rules of an index, and words of the dictionaries.

The owner of an entry is the number of its index, or 0 for the application.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from svc_notebook.service.store import Store

APPLICATION_ID = 0
Entry = dict[str, Any]


class EntriesChange(msgspec.Struct, frozen=True):
    """A change of entries of one kind: optionally clear all, then save and delete some.

    With `forward`, the change also applies to the replicas of the index.
    """

    kind: str
    clear: bool = False
    save: Sequence[Entry] = ()
    delete: Sequence[str] = ()
    forward: bool = False


def apply_change(connection: sqlite3.Connection, owner: int, change: EntriesChange) -> None:
    """Apply a change in a transaction."""
    if change.clear:
        connection.execute("DELETE FROM entries WHERE owner = ? AND kind = ?", (owner, change.kind))
    connection.executemany(
        "INSERT OR REPLACE INTO entries VALUES (?, ?, ?, ?)",
        [(owner, change.kind, e["objectID"], msgspec.json.encode(e)) for e in change.save],
    )
    connection.executemany(
        "DELETE FROM entries WHERE owner = ? AND kind = ? AND id = ?",
        [(owner, change.kind, name) for name in change.delete],
    )


def copy_entries(
    connection: sqlite3.Connection, source: int, target: int, kinds: Iterable[str]
) -> None:
    """Replace one owner's entries by those of another."""
    for kind in kinds:
        connection.execute("DELETE FROM entries WHERE owner = ? AND kind = ?", (target, kind))
        connection.execute(
            "INSERT INTO entries SELECT ?, kind, id, body FROM entries "
            "WHERE owner = ? AND kind = ?",
            (target, source, kind),
        )


def drop_entries(connection: sqlite3.Connection, owner: int) -> None:
    """Delete all entries of an owner."""
    connection.execute("DELETE FROM entries WHERE owner = ?", [owner])


def read_entry(store: Store, owner: int, kind: str, name: str) -> Entry | None:
    """Return one entry, or None."""
    rows = store.read(
        "SELECT body FROM entries WHERE owner = ? AND kind = ? AND id = ?", owner, kind, name
    )
    return dict(msgspec.json.decode(rows[0][0])) if rows else None


def read_entries(store: Store, owner: int, kind: str) -> list[Entry]:
    """Return all entries of a kind, sorted by objectID."""
    rows = store.read(
        "SELECT body FROM entries WHERE owner = ? AND kind = ? ORDER BY id", owner, kind
    )
    return [msgspec.json.decode(body) for [body] in rows]


def take_page(hits: Sequence[Entry], page: int, size: int) -> Mapping[str, Any]:
    """Return one page of hits with the counts of the API."""
    return {
        "hits": list(hits[page * size : (page + 1) * size]),
        "nbHits": len(hits),
        "page": page,
        "nbPages": -(-len(hits) // size) if size else 0,
    }

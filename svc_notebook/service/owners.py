"""Whose each index is: the user's that a write named last."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from svc_notebook.service.entries import APPLICATION, Change, apply_change, read_entries
from svc_notebook.service.store import Store

KIND = "owners"


class Owners:
    """Indices and their users, in the store; an index that nobody named belongs to nobody."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        entries = read_entries(store, APPLICATION, KIND)
        self._by_index = {entry["objectID"]: str(entry["userID"]) for entry in entries}

    def of(self, index: str) -> str:
        """The user an index belongs to, `""` for nobody."""
        return self._by_index.get(index, "")

    def indices(self, user: str) -> list[str]:
        """A user's indices by name."""
        return sorted(index for index, owner in self._by_index.items() if owner == user)

    def give(self, indices: Iterable[str], user: str) -> None:
        """Make indices a user's, `""` for nobody's; on the disk when this returns."""
        with self._lock:
            changed = [index for index in indices if self.of(index) != user]
            if changed:
                self._write(changed, user)

    def _write(self, indices: list[str], user: str) -> None:
        saved = [{"objectID": index, "userID": user} for index in indices] if user else []
        gone = [] if user else indices
        with self._store.writing() as connection:
            apply_change(connection, APPLICATION, Change(KIND, save=saved, delete=gone))
        self._by_index.update(dict.fromkeys(indices, user) if user else {})
        for index in gone:
            self._by_index.pop(index, None)


def named_indices(given: Mapping[str, Any]) -> set[str]:
    """The indices a call's arguments name: in the path, and in each of several requests."""
    named = {given["index"]} if "index" in given else set()
    for request in given.get("requests") or ():
        named |= {request[name] for name in ("indexName", "index_name") if name in request}
    return named

"""The cluster of each user.

All clusters are on this machine: when a user is assigned to a cluster, the mapping changes at once
for the user and for each index written in the user's name, and no data moves.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Mapping as AnyMapping
from typing import Any

from svc_notebook.errors import BadInput, NotFound, did_you_mean
from svc_notebook.service.resources.entries import (
    APPLICATION_ID,
    EntriesChange,
    Entry,
    apply_change,
    read_entries,
    read_entry,
)
from svc_notebook.service.store import Store

OWNER_ENTRIES = "owners"


class Owners:
    """The users of indices, in the store; an index may have none."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        entries = read_entries(store, APPLICATION_ID, OWNER_ENTRIES)
        self._by_index = {entry["objectID"]: str(entry["userID"]) for entry in entries}

    def owner_of(self, index: str) -> str:
        """Return the user of an index, `""` if it has none."""
        return self._by_index.get(index, "")

    def indices(self, user: str) -> list[str]:
        """Return the names of a user's indices, sorted."""
        return sorted(index for index, owner in self._by_index.items() if owner == user)

    def set_owner(self, indices: Iterable[str], user: str) -> None:
        """Set the user of indices, `""` for none; on disk when this returns."""
        with self._lock:
            changed = [index for index in indices if self.owner_of(index) != user]
            if changed:
                self._write(changed, user)

    def _write(self, indices: list[str], user: str) -> None:
        saved = [{"objectID": index, "userID": user} for index in indices] if user else []
        gone = [] if user else indices
        with self._store.writing() as connection:
            apply_change(
                connection, APPLICATION_ID, EntriesChange(OWNER_ENTRIES, save=saved, delete=gone)
            )
        self._by_index.update(dict.fromkeys(indices, user) if user else {})
        for index in gone:
            self._by_index.pop(index, None)


def named_indices(given: Mapping[str, Any]) -> set[str]:
    """Return the indices in the arguments of a call: the one of the path, or of each request."""
    if "index" in given:
        return {given["index"]}
    named: set[str] = set()
    for request in given.get("requests") or ():
        named |= {request[name] for name in ("indexName", "index_name") if name in request}
    return named


Arguments = AnyMapping[str, Any]
USER_ENTRIES = "users"
_USER = re.compile(r"[a-zA-Z0-9 \-*.]+")


class UserRegistry:
    """The users and their clusters; changes take effect at once."""

    def __init__(self, store: Store, clusters: int) -> None:
        self._store = store
        self.clusters = [f"local-{number}" for number in range(1, clusters + 1)]
        self.owners = Owners(store)
        # Removed users: their former cluster, and the task after which their data is deleted.
        self.removed: dict[str, tuple[str, int]] = {}

    def assign(self, user: str, cluster: str) -> None:
        """Assign a user to a cluster, or move the user to it."""
        self._write([user], cluster)

    def assign_new(self, users: Sequence[str], cluster: str) -> None:
        """Assign users to a cluster; raises `BadInput` if a user is on another cluster."""
        for user in users:
            entry = read_entry(self._store, APPLICATION_ID, USER_ENTRIES, user)
            if entry and entry["clusterName"] != cluster:
                raise BadInput(
                    f"`users`: {user} is on {entry['clusterName']}; assign it separately"
                )
        self._write(users, cluster)

    def get(self, user: str) -> Entry:
        """Return one user; raises `NotFound`."""
        entry = read_entry(self._store, APPLICATION_ID, USER_ENTRIES, user)
        if entry is None:
            raise NotFound(f"the user {user} has no cluster", status=404)
        return entry

    def note_write(self, name: str, given: Arguments, user: str) -> None:
        """Record the user for whom a write was made, if any."""
        if "destination" in given:
            self.owners.set_owner(
                [given["destination"]], user or self.owners.owner_of(given["index"])
            )
        elif name == "delete_index":
            self.owners.set_owner([given["index"]], "")
        elif user:
            self.owners.set_owner(named_indices(given), user)

    def all(self) -> list[Entry]:
        """Return the users, sorted by name."""
        return read_entries(self._store, APPLICATION_ID, USER_ENTRIES)

    def remove(self, user: str) -> None:
        """Remove a user from its cluster."""
        with self._store.writing() as connection:
            apply_change(connection, APPLICATION_ID, EntriesChange(USER_ENTRIES, delete=[user]))

    def check_cluster(self, cluster: str) -> None:
        """Raise `BadInput` for an unknown cluster."""
        if cluster not in self.clusters:
            advice = did_you_mean(cluster, self.clusters) or "; GET /1/clusters lists the clusters"
            raise BadInput(f"`cluster`: {cluster[:80]} does not exist{advice}")

    def _write(self, users: Iterable[str], cluster: str) -> None:
        self.check_cluster(cluster)
        for user in users:
            if not _USER.fullmatch(user):
                raise BadInput(
                    f"the user id {user[:80]!r} may contain only letters, digits, spaces and - * ."
                )
        saved = [{"objectID": user, "clusterName": cluster} for user in users]
        with self._store.writing() as connection:
            apply_change(connection, APPLICATION_ID, EntriesChange(USER_ENTRIES, save=saved))

"""Which cluster each user is on.

One machine is all the clusters there are: a user, and with it each index that was written in its
name, is where the mapping says from that moment on, and nothing has to move.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Mapping as AnyMapping
from typing import Any

from svc_notebook.errors import BadInput, NotFound, did_you_mean
from svc_notebook.service.entries import (
    APPLICATION,
    Change,
    Entry,
    apply_change,
    read_entries,
    read_entry,
)
from svc_notebook.service.owners import Owners, named_indices
from svc_notebook.service.store import Store

Arguments = AnyMapping[str, Any]
KIND = "users"
_USER = re.compile(r"[a-zA-Z0-9 \-*.]+")


class Mapping:
    """The users and their clusters; a change holds at once."""

    def __init__(self, store: Store, clusters: int) -> None:
        self._store = store
        self.clusters = [f"local-{number}" for number in range(1, clusters + 1)]
        self.owners = Owners(store)
        # Users that were removed: from which cluster, and the task after which their data is gone.
        self.leaving: dict[str, tuple[str, int]] = {}

    def assign(self, user: str, cluster: str) -> None:
        """Put a user on a cluster, or move it there."""
        self._write([user], cluster)

    def assign_new(self, users: Sequence[str], cluster: str) -> None:
        """Put users on a cluster; raises `BadInput` for one that is on another already."""
        for user in users:
            found = read_entry(self._store, APPLICATION, KIND, user)
            if found and found["clusterName"] != cluster:
                raise BadInput(f"`users`: {user} is on {found['clusterName']}; move it by itself")
        self._write(users, cluster)

    def one(self, user: str) -> Entry:
        """One user; raises `NotFound`."""
        found = read_entry(self._store, APPLICATION, KIND, user)
        if found is None:
            raise NotFound(f"the user {user} is on no cluster", status=404)
        return found

    def note_write(self, name: str, given: Arguments, user: str) -> None:
        """Remember in whose name a write was made, if in any user's."""
        if "destination" in given:
            self.owners.give([given["destination"]], user or self.owners.of(given["index"]))
        elif name == "delete_index":
            self.owners.give([given["index"]], "")
        elif user:
            self.owners.give(named_indices(given), user)

    def all(self) -> list[Entry]:
        """The users by name."""
        return read_entries(self._store, APPLICATION, KIND)

    def remove(self, user: str) -> None:
        """Take a user off its cluster."""
        with self._store.writing() as connection:
            apply_change(connection, APPLICATION, Change(KIND, delete=[user]))

    def check_cluster(self, cluster: str) -> None:
        """Raise `BadInput` for a cluster that is not there."""
        if cluster not in self.clusters:
            advice = (
                did_you_mean(cluster, self.clusters) or "; GET /1/clusters lists those there are"
            )
            raise BadInput(f"`cluster`: there is no {cluster[:80]}{advice}")

    def _write(self, users: Iterable[str], cluster: str) -> None:
        self.check_cluster(cluster)
        for user in users:
            if not _USER.fullmatch(user):
                raise BadInput(
                    f"the user id {user[:80]!r} may hold letters, digits, spaces and - * . only"
                )
        saved = [{"objectID": user, "clusterName": cluster} for user in users]
        with self._store.writing() as connection:
            apply_change(connection, APPLICATION, Change(KIND, save=saved))

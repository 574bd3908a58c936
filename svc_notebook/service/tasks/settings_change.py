"""Apply changes of settings to an index and to its replicas."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from svc_notebook.service.indices.published_index import PublishedIndex, insert_index
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.indices.replica_group import (
    ReplicaGroup,
    inherit,
    set_engines,
    store_group,
    without_replicas,
)
from svc_notebook.service.indices.replica_setting import apply_links, separate_engines
from svc_notebook.service.tasks.queue import QueuedTask

# Runs after the commit and makes committed changes visible to readers.
Publish = Callable[[], None]


def apply_settings(
    connection: sqlite3.Connection, catalog: IndexRegistry, run: Sequence[QueuedTask]
) -> Publish:
    """Change settings; may link, unlink or change replicas."""
    [task] = run
    request = msgspec.json.decode(task.body)
    index = catalog.get(task.index_name) or insert_index(connection, task.index_name)
    group = catalog.replica_group(index)
    forward = request["forward"] and not index.primary_id
    changed = _change(group, index.id, request["settings"], forward=forward)
    freed: ReplicaGroup = ()
    if "replicas" in request["settings"] and not index.primary_id:
        changed, freed = apply_links(connection, catalog, changed)
    touched = {index.id} | {member.id for member in changed if member not in group}
    return configure(connection, catalog, task.id, changed, freed, touched)


def configure(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    task: int,
    group: ReplicaGroup,
    freed: ReplicaGroup = (),
    touched: set[int] | None = None,
) -> Publish:
    """Apply the present settings to a replica group and to the indices that left it."""
    group = store_group(connection, inherit(group), task, touched or ())
    freed = store_group(connection, freed, task)

    def publish() -> None:
        separate_engines(freed)
        set_engines(group, lambda: catalog.chunks(group[0].id))
        catalog.publish(*group, *freed)

    return publish


def _change(
    group: ReplicaGroup, id: int, changes: Mapping[str, Any], *, forward: bool
) -> list[PublishedIndex]:
    """Change the settings of one index of a group; if forwarded, also of the others."""
    passed = without_replicas(changes) if forward else {}
    return [
        replace(
            member, settings=merge_settings(member.settings, changes if member.id == id else passed)
        )
        for member in group
    ]


def merge_settings(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with some changed; null resets a setting."""
    merged = {**before, **changes}
    return {name: value for name, value in merged.items() if value is not None}

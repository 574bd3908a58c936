"""Apply changes of settings to an index and to its replicas."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from svc_notebook.service.indices.published_index import PublishedIndex, insert_shelf
from svc_notebook.service.indices.registry import Catalog
from svc_notebook.service.indices.replica_group import (
    Family,
    arrange,
    inherit,
    mark,
    without_replicas,
)
from svc_notebook.service.indices.replica_setting import part, relink
from svc_notebook.service.tasks.queue import QueuedTask

# Run after the commit: lets readers see what was committed.
Publish = Callable[[], None]


def apply_settings(
    connection: sqlite3.Connection, catalog: Catalog, run: Sequence[QueuedTask]
) -> Publish:
    """Change settings; replicas may come, go, or be changed with their primary."""
    [task] = run
    order = msgspec.json.decode(task.body)
    shelf = catalog.get(task.index_name) or insert_shelf(connection, task.index_name)
    family = catalog.family(shelf)
    forward = order["forward"] and not shelf.leader
    changed = _change(family, shelf.id, order["settings"], forward=forward)
    freed: Family = ()
    if "replicas" in order["settings"] and not shelf.leader:
        changed, freed = relink(connection, catalog, changed)
    touched = {shelf.id} | {one.id for one in changed if one not in family}
    return configure(connection, catalog, task.id, changed, freed, touched)


def configure(
    connection: sqlite3.Connection,
    catalog: Catalog,
    task: int,
    family: Family,
    freed: Family = (),
    touched: set[int] | None = None,
) -> Publish:
    """Let a family go by the settings it now has, and those that left it go their own way."""
    family = mark(connection, inherit(family), task, touched or ())
    freed = mark(connection, freed, task)

    def publish() -> None:
        part(freed)
        arrange(family, lambda: catalog.chunks(family[0].id))
        catalog.publish(*family, *freed)

    return publish


def _change(
    family: Family, id: int, changes: Mapping[str, Any], *, forward: bool
) -> list[PublishedIndex]:
    """Change the settings of one of a family; forwarded, those of the others, too."""
    passed = without_replicas(changes) if forward else {}
    return [
        replace(one, settings=merge_settings(one.settings, changes if one.id == id else passed))
        for one in family
    ]


def merge_settings(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change the settings named; null resets one."""
    merged = {**before, **changes}
    return {name: value for name, value in merged.items() if value is not None}

"""Apply each kind of task: change the store in a transaction, then publish to readers.

A change of settings also applies to the replicas of the index.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec

from svc_notebook.service.engine import Index
from svc_notebook.service.indices import records
from svc_notebook.service.indices.published_index import (
    LazyEngine,
    PublishedIndex,
    delete_index,
    insert_index,
)
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.indices.replica_group import (
    ReplicaGroup,
    inherit,
    segment_stores_of,
    set_engines,
    store_group,
    without_replicas,
)
from svc_notebook.service.indices.replica_setting import (
    ENTRIES,
    apply_links,
    delete_primary,
    separate_engines,
)
from svc_notebook.service.keyring import copy_keys, drop_keys
from svc_notebook.service.resources.entries import APPLICATION_ID, apply_change, copy_entries
from svc_notebook.service.resources.entries import EntriesChange as EntriesChange
from svc_notebook.service.tasks.batch_operations import (
    RecordsChange,
    decode_operations,
    resolve_operations,
)
from svc_notebook.service.tasks.queue import QueuedTask

# Runs after the commit and makes committed changes visible to readers.
Publish = Callable[[], None]
Applier = Callable[[sqlite3.Connection, IndexRegistry, Sequence[QueuedTask]], Publish]
PreparedRun = Callable[[sqlite3.Connection], Publish]


def select_run(catalog: IndexRegistry, run: Sequence[QueuedTask]) -> Sequence[QueuedTask]:
    """Return the first of some consecutive tasks that are applied in one transaction.

    They change one index, or several that have no replicas and are none: a change of one index then
    leaves the others as they are. New indices are created together, because each transaction that
    creates a table makes every connection read the tables of all indices again.
    """
    first = run[0].index_name
    count = next((n for n, task in enumerate(run) if task.index_name != first), len(run))
    if not _stands_alone(catalog, first):
        return run[:count]
    alone = {first: True}
    for task in run[count:]:
        name = task.index_name
        if name not in alone:
            alone[name] = _stands_alone(catalog, name)
        if not alone[name]:
            break
        count += 1
    return run[:count]


def _stands_alone(catalog: IndexRegistry, name: str) -> bool:
    index = catalog.get(name)
    return index is None or (not index.primary_id and len(catalog.replica_group(index)) == 1)


def prepare_run(catalog: IndexRegistry, run: Sequence[QueuedTask]) -> PreparedRun:
    """Prepare consecutive tasks of one kind; return the function that applies them.

    That function runs in a transaction, in which it also deletes the tasks. Slow work is done
    before the transaction, so that readers see a write as soon as it is stored.
    """
    kind = run[0].kind
    prepared_run = _prepare_each(catalog, run) if kind == "steps" else None

    def apply(connection: sqlite3.Connection) -> Publish:
        publish = (
            prepared_run(connection) if prepared_run else APPLIERS[kind](connection, catalog, run)
        )
        connection.execute("DELETE FROM tasks WHERE id BETWEEN ? AND ?", (run[0].id, run[-1].id))
        return publish

    return apply


def _prepare_each(catalog: IndexRegistry, run: Sequence[QueuedTask]) -> PreparedRun:
    """Prepare the writes on each index of a run."""
    by_index: dict[str, list[QueuedTask]] = {}
    for task in run:
        by_index.setdefault(task.index_name, []).append(task)
    prepared = [_prepare_operations(catalog, tasks) for tasks in by_index.values()]

    def apply(connection: sqlite3.Connection) -> Publish:
        publications = [apply_one(connection) for apply_one in prepared]

        def publish() -> None:
            for publish_one in publications:
                publish_one()

        return publish

    return apply


def _prepare_operations(catalog: IndexRegistry, run: Sequence[QueuedTask]) -> PreparedRun:
    index = catalog.get(run[0].index_name)
    if index and index.primary_id:  # it became a replica after the write was accepted
        return lambda connection: _nothing
    group: ReplicaGroup = catalog.replica_group(index) if index else ()
    operations = [operation for task in run for operation in decode_operations(task.body)]
    changes = resolve_operations(
        operations, lambda ids: records.read_bodies(catalog.store, index.id, ids) if index else {}
    )
    prepared = [(change, _prepare_change(group, change)) for change in changes]
    return partial(_apply_operations, catalog=catalog, task=run[-1], group=group, prepared=prepared)


def _prepare_change(group: ReplicaGroup, change: RecordsChange) -> Publish:
    """Index a change ahead; return the function that makes it visible to readers."""
    segment_stores = segment_stores_of(group)
    put = [msgspec.json.decode(body) for _, body in change.put] if segment_stores else []
    emptied = bool(change.emptied)
    publications = [
        segment_store.prepare(put, change.deleted, emptied=emptied)
        for segment_store in segment_stores
    ]

    def publish() -> None:
        for publish_one in publications:
            publish_one()

    return publish


def _apply_operations(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    task: QueuedTask,
    group: ReplicaGroup,
    prepared: Sequence[tuple[RecordsChange, Publish]],
) -> Publish:
    publications: list[Publish] = []
    before = group
    for change, publish in prepared:
        if group and change.emptied == "delete":
            freed = store_group(connection, delete_primary(connection, group), task.id)
            drop_keys(connection, task.index_name)
            publications.append(partial(_publish_freed, catalog, freed))
            group = ()
        if change.makes and not group:
            group = [insert_index(connection, task.index_name)]
        if group:
            _store_change(connection, catalog, group[0].id, change, task.id)
            publications.append(
                publish if group is before else partial(_publish_change, group, change)
            )
    return _finish(connection, catalog, task, group, publications)


def _store_change(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    records_id: int,
    change: RecordsChange,
    task: int,
) -> None:
    catalog.in_flight_writes.begin(records_id, None if change.emptied else change.records)
    if change.emptied == "clear":
        records.clear_table(connection, records_id)
    records.put_bodies(connection, records_id, change.put, task)
    records.delete_bodies(connection, records_id, change.deleted)


def _finish(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    task: QueuedTask,
    group: ReplicaGroup,
    publications: Sequence[Publish],
) -> Publish:
    """Store that records changed; return the function that publishes the changes in order."""
    marked = store_group(connection, group, task.id)

    def publish() -> None:
        for act in publications:
            act()
        if marked:
            catalog.publish(*marked)
        else:
            catalog.withdraw(task.index_name)

    return publish


def _publish_change(group: ReplicaGroup, change: RecordsChange) -> None:
    _prepare_change(group, change)()


def _publish_freed(catalog: IndexRegistry, freed: ReplicaGroup) -> None:
    separate_engines(freed)
    catalog.publish(*freed)


def _apply_delete_by(
    connection: sqlite3.Connection, catalog: IndexRegistry, run: Sequence[QueuedTask]
) -> Publish:
    [task] = run
    index = catalog.get(task.index_name)
    if index is None or index.primary_id:
        return _nothing
    ids = index.engine.get().matching(msgspec.json.decode(task.body))
    group, change = catalog.replica_group(index), RecordsChange(records=dict.fromkeys(ids))
    _store_change(connection, catalog, index.id, change, task.id)
    return _finish(connection, catalog, task, group, [partial(_publish_change, group, change)])


def _apply_entries(
    connection: sqlite3.Connection, catalog: IndexRegistry, run: Sequence[QueuedTask]
) -> Publish:
    [task] = run
    changes = msgspec.json.decode(task.body, type=list[EntriesChange])
    index = catalog.get(task.index_name)
    if task.index_name and index is None and any(change.save for change in changes):
        index = insert_index(connection, task.index_name)
    if task.index_name and index is None:
        return _nothing
    replicas = catalog.replicas_of(index)
    forwarded = [change for change in changes if change.forward]
    owners = {index.id if index else APPLICATION_ID: changes}
    owners |= {replica.id: forwarded for replica in replicas if forwarded}
    for owner, owned in owners.items():
        for change in owned:
            apply_change(connection, owner, change)

    def publish() -> None:
        for owner, owned in owners.items():
            catalog.resources.apply_changes(owner, owned)
        if index:
            catalog.publish(index)

    return publish


def _nothing() -> None:
    """Publish nothing, because the task has no effect."""


def apply_copy(
    connection: sqlite3.Connection, catalog: IndexRegistry, run: Sequence[QueuedTask]
) -> Publish:
    """Replace an index by a copy of another, or copy parts of one."""
    [task] = run
    request = msgspec.json.decode(task.body)
    source, target = catalog.get(task.index_name), catalog.get(request["destination"])
    if request["scope"] is not None:
        return _copy_scope(connection, catalog, task, source, target)
    if target:
        if len(catalog.replica_group(target)) > 1:  # it had no replicas when the copy was accepted
            return _nothing
        delete_index(connection, target)
    settings = without_replicas(source.settings) if source else {}
    made = insert_index(connection, request["destination"], settings)
    if source:
        records.copy_table(connection, source.records_id, made.id)
        copy_entries(connection, source.id, made.id, ENTRIES)
        copy_keys(connection, source.name, made.name)
    [made] = store_group(connection, [made], task.id)

    def publish() -> None:
        if source:
            made.engine.set(source.engine.get().copy())
        catalog.publish(made)

    return publish


def _copy_scope(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    task: QueuedTask,
    source: PublishedIndex | None,
    target: PublishedIndex | None,
) -> Publish:
    request = msgspec.json.decode(task.body)
    group = (
        catalog.replica_group(target)
        if target
        else [insert_index(connection, request["destination"])]
    )
    target = target or group[0]
    for member in group:
        member.engine.get()  # an open engine need not be rebuilt
    if source:
        copy_entries(connection, source.id, target.id, ENTRIES & {*request["scope"]})
    if source and "settings" in request["scope"]:
        kept = {name: value for name, value in target.settings.items() if name == "replicas"}
        changed = replace(target, settings=without_replicas(source.settings) | kept)
        group = [changed if member.id == target.id else member for member in group]
    configured = configure(connection, catalog, task.id, group, touched={target.id})

    def publish() -> None:
        catalog.resources.forget(target.id)
        configured()

    return publish


def apply_move(
    connection: sqlite3.Connection, catalog: IndexRegistry, run: Sequence[QueuedTask]
) -> Publish:
    """Replace an index by another one, which takes over its replicas."""
    [task] = run
    source, name = catalog.get(task.index_name), msgspec.json.decode(task.body)["destination"]
    target = catalog.get(name)
    if source is None or source.primary_id or (target and target.primary_id):
        return _nothing
    orphans = catalog.replicas_of(target)
    if target:
        delete_index(connection, target)
    copy_keys(connection, source.name, name)
    drop_keys(connection, source.name)
    group = [_take_over(source, name, target), *catalog.replicas_of(source)]
    group += [_adopt(source, orphan) for orphan in orphans]
    configured = configure(connection, catalog, task.id, group)

    def publish() -> None:
        configured()
        catalog.withdraw(task.index_name)

    return publish


def _take_over(source: PublishedIndex, name: str, target: PublishedIndex | None) -> PublishedIndex:
    left = target.settings.get("replicas") if target else None
    replicas = {"replicas": [*source.settings.get("replicas", ()), *left]} if left else {}
    return replace(source, name=name, settings=source.settings | replicas)


def _adopt(primary: PublishedIndex, orphan: PublishedIndex) -> PublishedIndex:
    """Link a replica to another primary; the contents of its engine become obsolete."""
    settings = orphan.settings
    return replace(orphan, primary_id=primary.id, engine=LazyEngine(lambda: Index(settings)))


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


APPLIERS: dict[str, Applier] = {
    "deleteBy": _apply_delete_by,
    "settings": apply_settings,
    "copy": apply_copy,
    "move": apply_move,
    "entries": _apply_entries,
}

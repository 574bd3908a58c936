"""Apply copies and moves of indices to the store, and then publish them to readers."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

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
from svc_notebook.service.indices.replica_group import store_group, without_replicas
from svc_notebook.service.indices.replica_setting import ENTRIES
from svc_notebook.service.keyring import copy_keys, drop_keys
from svc_notebook.service.resources.entries import copy_entries
from svc_notebook.service.tasks.queue import QueuedTask
from svc_notebook.service.tasks.settings_change import Publish, configure


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
    orphans = catalog.replica_group(target)[1:] if target else []
    if target:
        delete_index(connection, target)
    copy_keys(connection, source.name, name)
    drop_keys(connection, source.name)
    group = [_take_over(source, name, target), *catalog.replica_group(source)[1:]]
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


def _nothing() -> None:
    """Publish nothing, because the task has no effect."""

"""Apply each kind of task: change the store in a transaction, then publish to readers."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from svc_notebook.service.indices import records
from svc_notebook.service.indices.copy_move import apply_copy, apply_move
from svc_notebook.service.indices.published_index import insert_shelf
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.indices.replica_group import ReplicaGroup, mark, stocks_of
from svc_notebook.service.indices.replica_setting import delete_primary, part
from svc_notebook.service.indices.settings import Publish, apply_settings
from svc_notebook.service.keyring import drop_keys
from svc_notebook.service.resources.entries import APPLICATION_ID, apply_change
from svc_notebook.service.resources.entries import EntriesChange as EntriesChange
from svc_notebook.service.tasks.batch_operations import RecordsChange, resolve_steps, unpack_steps
from svc_notebook.service.tasks.queue import QueuedTask

Effect = Callable[[sqlite3.Connection, IndexRegistry, Sequence[QueuedTask]], Publish]
InTransaction = Callable[[sqlite3.Connection], Publish]


def prepare_run(catalog: IndexRegistry, run: Sequence[QueuedTask]) -> InTransaction:
    """Prepare consecutive tasks of one kind; return the function that applies them.

    That function runs in a transaction, in which it also deletes the tasks. Slow work is done
    before
    the transaction, so that readers see a write as soon as it is stored.
    """
    kind = run[0].kind
    effect = _prepare_steps(catalog, run) if kind == "steps" else None

    def apply(connection: sqlite3.Connection) -> Publish:
        publish = effect(connection) if effect else EFFECTS[kind](connection, catalog, run)
        connection.execute("DELETE FROM tasks WHERE id BETWEEN ? AND ?", (run[0].id, run[-1].id))
        return publish

    return apply


def _prepare_steps(catalog: IndexRegistry, run: Sequence[QueuedTask]) -> InTransaction:
    shelf = catalog.get(run[0].index_name)
    if shelf and shelf.leader:  # it became a replica after the write was accepted
        return lambda connection: _nothing
    family: ReplicaGroup = catalog.family(shelf) if shelf else ()
    steps = [step for task in run for step in unpack_steps(task.body)]
    changes = resolve_steps(
        steps, lambda ids: records.read_bodies(catalog.store, shelf.id, ids) if shelf else {}
    )
    prepared = [(change, _prepare_change(family, change)) for change in changes]
    return partial(_apply_steps, catalog=catalog, task=run[-1], family=family, prepared=prepared)


def _prepare_change(family: ReplicaGroup, change: RecordsChange) -> Publish:
    """Index a change ahead; return the function that makes it visible to readers."""
    stocks = stocks_of(family)
    put = [msgspec.json.decode(body) for _, body in change.put] if stocks else []
    emptied = bool(change.emptied)
    shows = [stock.prepare(put, change.deleted, emptied=emptied) for stock in stocks]

    def publish() -> None:
        for show in shows:
            show()
        for stock in stocks:
            stock.merge_small_segments()

    return publish


def _apply_steps(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    task: QueuedTask,
    family: ReplicaGroup,
    prepared: Sequence[tuple[RecordsChange, Publish]],
) -> Publish:
    todo: list[Publish] = []
    before = family
    for change, publish in prepared:
        if family and change.emptied == "delete":
            freed = mark(connection, delete_primary(connection, family), task.id)
            drop_keys(connection, task.index_name)
            todo.append(partial(_publish_freed, catalog, freed))
            family = ()
        if change.makes and not family:
            family = [insert_shelf(connection, task.index_name)]
        if family:
            _store_change(connection, catalog, family[0].id, change, task.id)
            todo.append(publish if family is before else partial(_publish_change, family, change))
    return _finish(connection, catalog, task, family, todo)


def _store_change(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    home: int,
    change: RecordsChange,
    task: int,
) -> None:
    catalog.changes.begin(home, None if change.emptied else change.records)
    if change.emptied == "clear":
        records.clear_table(connection, home)
    records.put_bodies(connection, home, change.put, task)
    records.delete_bodies(connection, home, change.deleted)


def _finish(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    task: QueuedTask,
    family: ReplicaGroup,
    todo: Sequence[Publish],
) -> Publish:
    """Store that records changed; return the function that publishes the changes in order."""
    marked = mark(connection, family, task.id)

    def publish() -> None:
        for one in todo:
            one()
        if marked:
            catalog.publish(*marked)
        else:
            catalog.withdraw(task.index_name)

    return publish


def _publish_change(family: ReplicaGroup, change: RecordsChange) -> None:
    _prepare_change(family, change)()


def _publish_freed(catalog: IndexRegistry, freed: ReplicaGroup) -> None:
    part(freed)
    catalog.publish(*freed)


def _apply_delete_by(
    connection: sqlite3.Connection, catalog: IndexRegistry, run: Sequence[QueuedTask]
) -> Publish:
    [task] = run
    shelf = catalog.get(task.index_name)
    if shelf is None or shelf.leader:
        return _nothing
    ids = shelf.engine.get().matching(msgspec.json.decode(task.body))
    family, change = catalog.family(shelf), RecordsChange(records=dict.fromkeys(ids))
    _store_change(connection, catalog, shelf.id, change, task.id)
    return _finish(connection, catalog, task, family, [partial(_publish_change, family, change)])


def _apply_entries(
    connection: sqlite3.Connection, catalog: IndexRegistry, run: Sequence[QueuedTask]
) -> Publish:
    [task] = run
    changes = msgspec.json.decode(task.body, type=list[EntriesChange])
    shelf = catalog.get(task.index_name)
    if task.index_name and shelf is None and any(change.save for change in changes):
        shelf = insert_shelf(connection, task.index_name)
    if task.index_name and shelf is None:
        return _nothing
    replicas = catalog.family(shelf)[1:] if shelf and not shelf.leader else []
    forwarded = [change for change in changes if change.forward]
    owners = {shelf.id if shelf else APPLICATION_ID: changes}
    owners |= {replica.id: forwarded for replica in replicas if forwarded}
    for owner, own in owners.items():
        for change in own:
            apply_change(connection, owner, change)

    def publish() -> None:
        for owner, own in owners.items():
            catalog.library.revise(owner, own)
        if shelf:
            catalog.publish(shelf)

    return publish


def _nothing() -> None:
    """Publish nothing, because the task has no effect."""


EFFECTS: dict[str, Effect] = {
    "deleteBy": _apply_delete_by,
    "settings": apply_settings,
    "copy": apply_copy,
    "move": apply_move,
    "entries": _apply_entries,
}

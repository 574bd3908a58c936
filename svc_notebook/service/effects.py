"""What each kind of task does: to the store, in a transaction, and then to what readers see."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import msgspec

from svc_notebook.service import records
from svc_notebook.service.catalog import Catalog, Lazy, Shelf
from svc_notebook.service.engine import Index
from svc_notebook.service.entries import APPLICATION, apply_change, copy_entries, drop_entries
from svc_notebook.service.entries import Change as EntriesChange
from svc_notebook.service.keyring import copy_keys, drop_keys
from svc_notebook.service.steps import Change, resolve_steps, unpack_steps
from svc_notebook.service.tasks import Task

# The parts of an index that are entries, by the names a copy's scope has for them.
SCOPES = {"rules", "synonyms"}
# Run after the commit: lets readers see what was committed.
Publish = Callable[[], None]
Effect = Callable[[sqlite3.Connection, Catalog, Sequence[Task]], Publish]


def apply_run(connection: sqlite3.Connection, catalog: Catalog, run: Sequence[Task]) -> Publish:
    """Apply neighbouring tasks of one kind; they are struck off in the same transaction."""
    publish = EFFECTS[run[0].kind](connection, catalog, run)
    connection.execute("DELETE FROM tasks WHERE id BETWEEN ? AND ?", (run[0].id, run[-1].id))
    return publish


def stamp_now() -> str:
    """The present moment as the API writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _apply_steps(connection: sqlite3.Connection, catalog: Catalog, run: Sequence[Task]) -> Publish:
    name = run[0].index_name
    shelf = catalog.get(name)
    steps = [step for task in run for step in unpack_steps(task.body)]
    changes = resolve_steps(
        steps, lambda ids: records.select_bodies(connection, shelf.id, ids) if shelf else {}
    )
    todo: list[tuple[Lazy, Change]] = []
    for change in changes:
        shelf = _apply_change(connection, name, shelf, change)
        if shelf:
            todo.append((shelf.engine, change))
    if shelf:
        shelf = _stamp(connection, shelf, run[-1].id)
    return lambda: _publish_steps(catalog, name, shelf, todo)


def _apply_change(
    connection: sqlite3.Connection, name: str, shelf: Shelf | None, change: Change
) -> Shelf | None:
    if shelf and change.emptied == "delete":
        _remove(connection, shelf)
        drop_keys(connection, name)
        shelf = None
    elif shelf and change.emptied == "clear":
        records.clear_table(connection, shelf.id)
    if change.makes and shelf is None:
        shelf = _create(connection, name)
    if shelf:
        records.put_bodies(connection, shelf.id, change.put)
        records.delete_bodies(connection, shelf.id, change.deleted)
    return shelf


def _publish_steps(
    catalog: Catalog, name: str, shelf: Shelf | None, todo: Iterable[tuple[Lazy, Change]]
) -> None:
    for engine, change in todo:
        _publish_change(engine.get(), change)
    if shelf:
        catalog.publish(shelf)
    else:
        catalog.withdraw(name)


def _publish_change(index: Index, change: Change) -> None:
    if change.emptied:
        index.clear()
    if change.deleted:
        index.delete(change.deleted)
    if change.put:
        index.put([msgspec.json.decode(body) for _, body in change.put])


def _apply_delete_by(
    connection: sqlite3.Connection, catalog: Catalog, run: Sequence[Task]
) -> Publish:
    [task] = run
    shelf = catalog.get(task.index_name)
    if shelf is None:
        return _nothing
    ids = shelf.engine.get().matching(msgspec.json.decode(task.body))
    change = Change(records=dict.fromkeys(ids))
    records.delete_bodies(connection, shelf.id, ids)
    shelf = _stamp(connection, shelf, task.id)
    return lambda: _publish_steps(catalog, task.index_name, shelf, [(shelf.engine, change)])


def _apply_settings(
    connection: sqlite3.Connection, catalog: Catalog, run: Sequence[Task]
) -> Publish:
    [task] = run
    shelf = catalog.get(task.index_name) or _create(connection, task.index_name)
    merged = merge_settings(shelf.settings, msgspec.json.decode(task.body))
    return _configure(connection, catalog, shelf, merged, task.id)


def merge_settings(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change the settings named; null resets one."""
    merged = {**before, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def _configure(
    connection: sqlite3.Connection,
    catalog: Catalog,
    shelf: Shelf,
    settings: dict[str, Any],
    task: int,
) -> Publish:
    connection.execute(
        "UPDATE indices SET settings = ? WHERE id = ?", (msgspec.json.encode(settings), shelf.id)
    )
    configured = replace(_stamp(connection, shelf, task), settings=settings)

    def publish() -> None:
        shelf.engine.get().configure(settings, lambda: catalog.chunks(shelf.id))
        catalog.publish(configured)

    return publish


def _apply_copy(connection: sqlite3.Connection, catalog: Catalog, run: Sequence[Task]) -> Publish:
    [task] = run
    order = msgspec.json.decode(task.body)
    source, target = catalog.get(task.index_name), catalog.get(order["destination"])
    if order["scope"] is not None:
        return _copy_scope(connection, catalog, run, source, target)
    if target:
        _remove(connection, target)
    own = _without_replicas(source.settings) if source else {}
    made = _create(connection, order["destination"], own)
    if source:
        records.copy_table(connection, source.id, made.id)
        copy_entries(connection, source.id, made.id, SCOPES)
        copy_keys(connection, source.name, made.name)
    made = _stamp(connection, made, task.id)

    def publish() -> None:
        if source:
            made.engine.settle(source.engine.get().copy())
        catalog.publish(made)

    return publish


def _copy_scope(
    connection: sqlite3.Connection,
    catalog: Catalog,
    run: Sequence[Task],
    source: Shelf | None,
    target: Shelf | None,
) -> Publish:
    [task] = run
    order = msgspec.json.decode(task.body)
    target = target or _create(connection, order["destination"])
    if source:
        copy_entries(connection, source.id, target.id, SCOPES & {*order["scope"]})
    settings = target.settings
    if source and "settings" in order["scope"]:
        kept = {name: value for name, value in settings.items() if name == "replicas"}
        settings = _without_replicas(source.settings) | kept
    return _configure(connection, catalog, target, settings, task.id)


def _without_replicas(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is an index's own: a replica follows one primary only."""
    return {name: value for name, value in settings.items() if name != "replicas"}


def _apply_move(connection: sqlite3.Connection, catalog: Catalog, run: Sequence[Task]) -> Publish:
    [task] = run
    source = catalog.get(task.index_name)
    if source is None:
        return _nothing
    name = msgspec.json.decode(task.body)["destination"]
    if target := catalog.get(name):
        _remove(connection, target)
    connection.execute("UPDATE indices SET name = ? WHERE id = ?", (name, source.id))
    copy_keys(connection, source.name, name)
    drop_keys(connection, source.name)
    moved = replace(_stamp(connection, source, task.id), name=name)

    def publish() -> None:
        catalog.publish(moved)
        catalog.withdraw(task.index_name)

    return publish


def _apply_entries(
    connection: sqlite3.Connection, catalog: Catalog, run: Sequence[Task]
) -> Publish:
    [task] = run
    changes = msgspec.json.decode(task.body, type=list[EntriesChange])
    shelf = catalog.get(task.index_name)
    if task.index_name and shelf is None and any(change.save for change in changes):
        shelf = _create(connection, task.index_name)
    if shelf or not task.index_name:
        for change in changes:
            apply_change(connection, shelf.id if shelf else APPLICATION, change)
    return partial(catalog.publish, shelf) if shelf else _nothing


def _create(
    connection: sqlite3.Connection, name: str, settings: Mapping[str, Any] | None = None
) -> Shelf:
    own = dict(settings or {})
    now = stamp_now()
    row = connection.execute(
        "INSERT INTO indices (name, settings, created, updated, stamp) VALUES (?, ?, ?, ?, 0) "
        "RETURNING id",
        (name, msgspec.json.encode(own), now, now),
    ).fetchone()
    records.create_table(connection, row[0])
    return Shelf(row[0], name, own, now, now, 0, Lazy(lambda: Index(own)))


def _remove(connection: sqlite3.Connection, shelf: Shelf) -> None:
    connection.execute("DELETE FROM indices WHERE id = ?", [shelf.id])
    drop_entries(connection, shelf.id)
    records.drop_table(connection, shelf.id)


def _stamp(connection: sqlite3.Connection, shelf: Shelf, task: int) -> Shelf:
    now = stamp_now()
    connection.execute(
        "UPDATE indices SET updated = ?, stamp = ? WHERE id = ?", (now, task, shelf.id)
    )
    return replace(shelf, updated=now, stamp=task)


def _nothing() -> None:
    """Publish nothing: the task had nothing to act on."""


EFFECTS: dict[str, Effect] = {
    "steps": _apply_steps,
    "deleteBy": _apply_delete_by,
    "settings": _apply_settings,
    "copy": _apply_copy,
    "move": _apply_move,
    "entries": _apply_entries,
}

"""Writes that are applied in one transaction have the effect of writes one after the other."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from svc_notebook.service.engine.index.segment_store import MERGE_FACTOR
from svc_notebook.service.indices.records import (
    STATEMENT_RECORDS,
    create_table,
    put_bodies,
    read_chunks,
)
from svc_notebook.service.service import Service
from svc_notebook.service.tasks.appliers import select_run
from svc_notebook.service.tasks.batch_operations import check_operation, encode_operations
from svc_notebook.service.tasks.queue import NewTask, QueuedTask
from tests.conftest import wait_published

NAMES = ["a", "b", "c", "a by price", "d"]


def make_task(chance: random.Random, number: int) -> NewTask:
    """Make a write: mostly records of some index, sometimes settings with replicas."""
    if chance.random() < 0.08:
        replicas = chance.choice([[], ["a by price"], ["virtual(a by price)"]])
        settings = {"settings": {"replicas": replicas}, "forward": False}
        return NewTask("a", "settings", msgspec.json.encode(settings))
    action = chance.choice(["addObject"] * 5 + ["deleteObject", "clear", "delete"])
    body = {"objectID": str(chance.randrange(6)), "title": f"turn{number}"}
    # Writes on a replica, too: an index may become one after its write was accepted.
    return make_records_task(chance.choice(NAMES), action, body)


def make_records_task(name: str, action: str, body: dict[str, Any]) -> NewTask:
    return NewTask(name, "steps", encode_operations([check_operation(action, body, "")]))


def state(service: Service) -> dict[str, Any]:
    """Return the records of every index, as stored and as searched."""
    found = {}
    for index in service.catalog.all():
        stored = [r for chunk in read_chunks(service.store, index.records_id) for r in chunk]
        searched = sorted(index.engine.get().matching({}))
        found[index.name] = (
            sorted((one["objectID"], one.get("title")) for one in stored),
            searched,
            bool(index.primary_id),
        )
    return found


@contextmanager
def running(folder: Path) -> Iterator[Service]:
    service = Service(folder)
    service.start()
    try:
        yield service
    finally:
        service.stop()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.sampled(6, quick=2)
def test_tasks_applied_together_and_one_by_one_end_in_the_same_state(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    tasks = [make_task(chance, number) for number in range(80)]

    with running(tmp_path / "one") as service:
        for task in tasks:
            wait_published(service, *service.tasks.submit(task))
        expected = state(service)
    together = Service(tmp_path / "together")
    numbers = together.tasks.submit(*tasks)
    together.start()
    wait_published(together, *numbers)
    found = state(together)
    together.stop()

    assert found == expected
    with running(tmp_path / "together") as again:
        assert state(again) == expected


def test_a_run_is_of_one_index_or_of_indices_without_replicas(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        settings = msgspec.json.encode({"settings": {"replicas": ["r"]}, "forward": False})
        wait_published(service, *service.tasks.submit(NewTask("a", "settings", settings)))
        for name in "brca":
            record = make_records_task(name, "addObject", {"objectID": "1"})
            wait_published(service, *service.tasks.submit(record))

        def count(names: str) -> int:
            run = [QueuedTask(n, name, "steps", b"") for n, name in enumerate(names)]
            return len(select_run(service.catalog, run))

        assert count("bcbnew") == 6
        assert [count("bba"), count("bbr"), count("aab"), count("rrb")] == [2, 2, 2, 2]


@pytest.mark.slow
def test_many_new_indices_are_created_in_few_transactions(tmp_path: Path) -> None:
    service = Service(tmp_path)
    count = 300
    tasks = [make_records_task(f"i{n}", "addObject", {"objectID": "1"}) for n in range(count)]
    numbers = service.tasks.submit(*tasks)
    transactions = 0

    def count_one(statement: str) -> None:
        nonlocal transactions
        transactions += statement == "COMMIT"

    with service.store.writing() as connection:
        connection.set_trace_callback(count_one)

    service.start()
    wait_published(service, *numbers)
    service.stop()

    assert len(service.catalog.all()) == count
    assert transactions < count / 10


def test_records_stored_together_replace_those_before_them(tmp_path: Path) -> None:
    service = Service(tmp_path)
    for count, turn in ((STATEMENT_RECORDS * 2 + 7, 1), (STATEMENT_RECORDS + 1, 2)):
        rows = [(str(n % count), b'{"n":%d,"t":%d}' % (n, turn)) for n in range(count + 3)]
        with service.store.writing() as connection:
            if turn == 1:
                create_table(connection, 9)
            put_bodies(connection, 9, iter(rows), turn)

    found = service.store.read("SELECT id, stamp, body FROM records_9 ORDER BY place")

    total, changed = STATEMENT_RECORDS * 2 + 7, STATEMENT_RECORDS + 1
    assert found == [
        (str(n), turn, b'{"n":%d,"t":%d}' % (n if n >= 3 else count + n, turn))
        for n in range(total)
        for count, turn in [(changed, 2) if n < changed else (total, 1)]
    ]
    service.stop()


def test_small_segments_are_merged_after_their_writes_are_published(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        for number in range(9):
            body = {"objectID": str(number)}
            wait_published(
                service, *service.tasks.submit(make_records_task("a", "addObject", body))
            )
        store = service.catalog.find("a").engine.get().segment_store

        while len(store.readers) >= MERGE_FACTOR:
            time.sleep(0.01)

        assert len(store) == 9

"""Tasks are numbered over all indices, share a flush, and are applied in order."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from svc_notebook.service.service import Service
from svc_notebook.service.store import Store
from svc_notebook.service.tasks.batch_operations import BatchOperation, encode_operations
from svc_notebook.service.tasks.queue import MAX_RUN_TASKS, NewTask, TaskQueue
from tests.conftest import Inside, wait_published


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(tmp_path / "service.sqlite")
    yield store
    store.close()


def test_a_write_is_on_the_disk_before_it_is_acknowledged(store: Store, tmp_path: Path) -> None:
    [number] = TaskQueue(store).submit(NewTask("films", "steps", b"body"))

    with sqlite3.connect(tmp_path / "service.sqlite") as other:
        rows = other.execute("SELECT id, index_name, kind, body FROM tasks").fetchall()
    other.close()
    assert rows == [(number, "films", "steps", b"body")]


def test_a_thread_opens_its_connection_while_it_writes(store: Store) -> None:
    def read_while_writing() -> list[tuple[int]]:
        with store.writing():
            return store.read("SELECT count(*) FROM tasks")

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(read_while_writing).result(60) == [(0,)]


def test_a_thread_opens_no_connection_after_the_close(tmp_path: Path) -> None:
    store = Store(tmp_path / "service.sqlite")
    store.close()

    with ThreadPoolExecutor(1) as late, pytest.raises(sqlite3.ProgrammingError, match="closed"):
        late.submit(store.read, "SELECT 1").result()


@pytest.mark.slow
def test_closing_waits_for_those_who_read(tmp_path: Path) -> None:
    # SQLite dies when a connection is closed under a statement, so this would end the process.
    for turn in range(20):
        store = Store(tmp_path / f"{turn}.sqlite")

        def read(store: Store = store) -> None:
            while True:
                store.read("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n "
                           "LIMIT 3000) SELECT i FROM n")  # fmt: skip

        with ThreadPoolExecutor(6) as pool:
            readers = [pool.submit(read) for _ in range(6)]
            time.sleep(0.02)
            store.close()
            for one in readers:
                with pytest.raises((sqlite3.ProgrammingError, sqlite3.OperationalError)):
                    one.result()


def test_many_writers_at_once_get_a_number_each_in_one_row(store: Store) -> None:
    tasks = TaskQueue(store)

    def write(one: int) -> list[int]:
        return tasks.submit(NewTask(f"i{one}", "steps", b""), NewTask("b", "steps", b""))

    with ThreadPoolExecutor(16) as pool:
        numbers = [number for ids in pool.map(write, range(200)) for number in ids]

    assert sorted(numbers) == list(range(1, 401))
    assert tasks.last == 400


def test_a_write_that_cannot_be_stored_fails_for_everyone_who_waited(store: Store) -> None:
    tasks = TaskQueue(store)

    with store.writing() as connection:
        connection.execute("DROP TABLE tasks")
    with pytest.raises(sqlite3.OperationalError):
        tasks.submit(NewTask("films", "steps", b""))


def test_neighbouring_writes_of_records_are_taken_together(store: Store) -> None:
    tasks = TaskQueue(store)
    drafts = [
        *[NewTask("a", "steps", b"x")] * 3,
        NewTask("a", "settings", b"x"),
        NewTask("a", "settings", b"x"),
        NewTask("b", "steps", b"x"),
        *[NewTask("c", "steps", b"x")] * (MAX_RUN_TASKS + 1),
    ]
    tasks.submit(*drafts)

    runs = []
    while run := tasks.next_run():
        runs.append(len(run))
        tasks.published = run[-1].id

    assert runs == [3, 1, 1, MAX_RUN_TASKS, 2]


def test_numbers_go_on_after_a_restart(tmp_path: Path) -> None:
    numbers = []
    for _ in range(3):
        service = Service(tmp_path)
        numbers.append(
            service.accept("films", "steps", encode_operations([BatchOperation("clear")]))
        )
        service.start()
        wait_published(service, numbers[-1])
        service.stop()

    assert numbers == [1, 2, 3]


def test_accepted_tasks_are_applied_at_the_next_start(tmp_path: Path) -> None:
    service = Service(tmp_path)
    body = encode_operations([BatchOperation("addObject", "1", b'{"objectID":"1"}')])
    number = service.accept("films", "steps", body)
    service.stop()

    again = Service(tmp_path)
    before = again.tasks.published
    again.start()
    wait_published(again, number)

    assert before == number - 1
    assert len(again.catalog.find("films").engine.get()) == 1
    again.stop()


def test_a_task_body_is_dropped_once_it_is_applied(inside: Inside) -> None:
    inside.fill("films", {"objectID": "1"})

    assert inside.app.service.store.read("SELECT count(*) FROM tasks") == [(0,)]


def test_a_task_that_cannot_be_applied_does_not_block_the_others(
    inside: Inside, capsys: pytest.CaptureFixture[str]
) -> None:
    service = inside.app.service
    service.tasks.submit(
        NewTask(
            "films",
            "steps",
            encode_operations([BatchOperation("addObject", "1", b'{"objectID":"1"}')]),
        ),
        NewTask("films", "steps", b"garbage"),
    )

    inside.fill("films", {"objectID": "2"})

    assert inside.ids("films") == ["1", "2"]
    assert "ValidationError" in capsys.readouterr().err


@pytest.mark.parametrize("path", ["/1/indexes/films/task/1", "/1/indexes/gone/task/1", "/1/task/1"])
def test_a_known_task_is_reported_for_any_index(inside: Inside, path: str) -> None:
    inside.fill("films", {"objectID": "1"})

    assert inside.call("GET", path).json() == {"status": "published", "pendingTask": False}


@pytest.mark.parametrize(("number", "status"), [("2", 404), ("0", 404), ("x", 400), ("-1", 400),
                                                (str(2**64), 400)])  # fmt: skip
def test_an_unknown_task_is_not_found(inside: Inside, number: str, status: int) -> None:
    inside.fill("films", {"objectID": "1"})

    assert inside.call("GET", f"/1/task/{number}").status_code == status


def test_a_task_is_not_published_before_it_is_visible(inside: Inside) -> None:
    service = inside.app.service
    seen = []
    for number in range(50):
        body = encode_operations(
            [BatchOperation("addObject", str(number), b'{"objectID":"%d"}' % number)]
        )
        task = service.accept("films", "steps", body)
        wait_published(service, task)
        seen.append(len(service.catalog.find("films").engine.get()))

    assert seen == list(range(1, 51))

"""Waiting for one task and for hundreds."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.core.api.shapes import Task
from svc_notebook.data.client.tasks import sort_tasks, wait
from svc_notebook.errors import BadInput, KeyRefused, NotFound, TaskFailed
from tests.data.client.clock import Clock


class Queue:
    """A service that publishes a task every so many seconds, in order."""

    def __init__(self, clock: Clock, seconds_each: float = 0) -> None:
        self.clock = clock
        self.began = clock()
        self.seconds_each = seconds_each
        self.looks: list[tuple[str | None, int]] = []
        self.at_once = self.most_at_once = 0

    async def get_task(self, index: str | None, task_id: int, /) -> Task:
        self.looks.append((index, task_id))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        done = self.clock() - self.began >= task_id * self.seconds_each
        return {"status": "published" if done else "notPublished", "pendingTask": not done}

    async def get_app_task(self, task_id: int, /) -> Task:
        return await self.get_task(None, task_id)


def wait_on(queue: Queue, tasks: Any, **more: Any) -> int:
    clock = queue.clock
    return asyncio.run(wait(queue, tasks, sleep=clock.sleep, clock=clock, **more))


@pytest.mark.parametrize(
    ("tasks", "index", "sorted_"),
    [
        (5, "i", {"i": [5]}),
        (5, None, {None: [5]}),
        ({"taskID": 5, "updatedAt": "now"}, "i", {"i": [5]}),
        ({"taskID": 5, "indexName": "j"}, "i", {"j": [5]}),
        ({"taskID": 5, "index": "j"}, None, {"j": [5]}),
        ({"taskID": {"i": 5, "j": 6}, "objectIDs": []}, None, {"i": [5], "j": [6]}),
        ({"i": 5, "j": 6}, None, {"i": [5], "j": [6]}),
        (("i", 5), None, {"i": [5]}),
        ([("i", 9), {"i": 5}, {"taskID": 7}, 8], "i", {"i": [5, 7, 8, 9]}),
        ([5, 5, [6]], "i", {"i": [5, 6]}),
        ((n for n in (6, 5)), "i", {"i": [5, 6]}),
        ([], "i", {}),
    ],
)
def test_tasks_are_accepted_in_many_forms(
    tasks: Any, index: str | None, sorted_: dict[str | None, list[int]]
) -> None:
    assert sort_tasks(tasks, index) == sorted_


@pytest.mark.parametrize(
    "tasks",
    ["5", None, True, {"createdAt": "now"}, 5.0, [{"taskID": None}], object()],
    ids=["text", "nothing", "truth", "answer", "fraction", "task", "object"],
)
def test_a_value_that_is_not_a_task_is_refused(tasks: Any) -> None:
    with pytest.raises(BadInput, match=r"is not a task|no taskID"):
        sort_tasks(tasks, "i")


def test_hundreds_of_tasks_need_few_polls() -> None:
    queue = Queue(Clock())

    assert wait_on(queue, list(range(500)), index="i") == 500
    assert queue.looks == [("i", 499)]


def test_a_task_without_an_index_is_the_applications() -> None:
    queue = Queue(Clock())

    wait_on(queue, 5)

    assert queue.looks == [(None, 5)]


def test_the_pauses_grow() -> None:
    queue = Queue(Clock(), seconds_each=1)

    wait_on(queue, 60, index="i")

    pauses = queue.clock.slept
    assert pauses[0] == 0.01
    assert max(pauses) == 2
    assert pauses == sorted(pauses)
    assert len(queue.looks) < 60


def test_progress_is_reported_from_none_to_all() -> None:
    queue, told = Queue(Clock(), seconds_each=0.05), []

    wait_on(queue, list(range(1, 201)), index="i", on_progress=lambda *news: told.append(news))

    assert told[0] == (0, 200)
    assert told[-1] == (200, 200)
    assert told == sorted(told)
    assert len(told) > 3
    assert len(queue.looks) < 60


def test_indices_are_polled_a_few_at_a_time() -> None:
    queue = Queue(Clock())

    assert wait_on(queue, {f"index {n}": n for n in range(100)}) == 100
    assert queue.most_at_once == 8


def test_nothing_to_wait_for_is_no_call() -> None:
    queue = Queue(Clock())

    assert wait_on(queue, [], index="i") == 0
    assert not queue.looks


def test_the_error_at_the_timeout_names_the_pending_tasks() -> None:
    queue = Queue(Clock(), seconds_each=1)

    with pytest.raises(TaskFailed, match="of 100 tasks were not published within 30 s") as caught:
        wait_on(queue, list(range(100)), index="i", timeout=30)

    left = caught.value.tasks
    assert left[-1] == 99
    assert 15 < min(left) < 40
    assert list(left) == list(range(min(left), 100))


@pytest.mark.parametrize("timeout", [None, 1e9])
def test_it_waits_as_long_as_it_takes(timeout: float | None) -> None:
    assert wait_on(Queue(Clock(), seconds_each=3600), 24, index="i", timeout=timeout) == 1


def test_a_failed_poll_ends_the_wait() -> None:
    class Lost(Queue):
        async def get_task(self, index: str | None, task_id: int, /) -> Task:
            if index == "b":
                raise NotFound("no such task", status=404)
            return await super().get_task(index, task_id)

    with pytest.raises(NotFound, match="no such task"):
        wait_on(Lost(Clock(), seconds_each=1e6), {"a": 1, "b": 2, "c": 3})


@given(
    tasks=st.dictionaries(st.sampled_from("abc"), st.sets(st.integers(0, 300), min_size=1)),
    seconds_each=st.sampled_from([0, 0.01, 0.3]),
)
def test_it_returns_when_the_last_is_published_and_not_before(
    tasks: dict[str, set[int]], seconds_each: float
) -> None:
    queue = Queue(Clock(), seconds_each)
    listed = [(index, number) for index, numbers in tasks.items() for number in numbers]

    assert wait_on(queue, listed) == len(listed)

    newest = max((number for _, number in listed), default=0)
    assert queue.clock() - queue.began >= newest * seconds_each


def test_a_key_that_may_not_read_tasks_gets_a_note_that_the_write_was_accepted() -> None:
    class Closed(Queue):
        async def get_task(self, index: str | None, task_id: int, /) -> Task:
            raise KeyRefused("not this key", status=403)

    with pytest.raises(KeyRefused) as caught:
        wait_on(Closed(Clock()), [5], index="i")

    assert "the write itself was accepted" in caught.value.__notes__[0]

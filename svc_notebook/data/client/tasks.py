"""Tasks: the history of writes, and the wait until tasks are published, with few calls."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

from svc_notebook.core.api import Endpoint, RequestSpec, shapes
from svc_notebook.data.client.task_group import run_together
from svc_notebook.errors import BadInput, KeyRefused, TaskFailed

MAX_WRITES = 10_000


@dataclass(frozen=True)
class Write:
    """One task that a call created; a task without an index belongs to the application."""

    at: float
    call: str
    index: str | None
    task: int


class WriteHistory:
    """The last writes of a client, the oldest first."""

    def __init__(self) -> None:
        self._writes: deque[Write] = deque(maxlen=MAX_WRITES)

    def note(self, endpoint: Endpoint, spec: RequestSpec, answer: Any) -> None:
        """Store the tasks in a response; the response of a reading call has none."""
        task = answer.get("taskID") if isinstance(answer, dict) and not endpoint.reads else None
        index = _index_in(endpoint, spec)
        by_index = task if isinstance(task, dict) else {index: task}
        for name, number in by_index.items():
            if type(number) is int:
                self._writes.append(Write(time.time(), endpoint.name, name, number))

    def __iter__(self) -> Iterator[Write]:
        return iter(list(self._writes))


def _index_in(endpoint: Endpoint, spec: RequestSpec) -> str | None:
    parts = endpoint.path.split("/")
    return unquote(spec.path.split("/")[parts.index("{index}")]) if "{index}" in parts else None


# A task's number, the response to a write, `(index, number)`, `{index: number}`, or several of
# these.
Tasks = int | Mapping[str, Any] | Iterable[Any]
# Called with a number of things that are done, and the number of all.
OnProgress = Callable[[int, int], None]


def publishing_of(on_progress: OnProgress | None) -> OnProgress | None:
    """Return the `publish` of a callback, which takes the tasks of sent work; None if none."""
    report: OnProgress | None = getattr(on_progress, "publish", None)
    return report


# The time between two polls of one index: the first, the longest, and the factor of the increase.
FIRST_POLL_SECONDS, MAX_POLL_SECONDS, POLL_GROWTH = 0.01, 2.0, 1.5
MAX_PARALLEL_INDICES = 8  # indices that are polled at the same time
MAX_LISTED_TASKS = 10  # tasks named in a message


class TaskReader(Protocol):
    """A client that can read tasks."""

    def get_task(self, index: str, task_id: int, /) -> Coroutine[Any, Any, shapes.Task]:
        """Read a task of an index."""
        ...

    def get_app_task(self, task_id: int, /) -> Coroutine[Any, Any, shapes.Task]:
        """Read a task of the application."""
        ...


async def wait(
    client: TaskReader,
    tasks: Tasks,
    *,
    index: str | None = None,
    timeout: float | None = 600,  # noqa: ASYNC109 - the error at the timeout names the pending tasks
    on_progress: OnProgress | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Wait until tasks are published, and return their number.

    `index` is the index of tasks that do not name one; tasks without an index belong to the
    application, such as those of dictionaries. `on_progress` is called with the numbers of
    published tasks and of all. Raises `TaskFailed` with the pending tasks at `timeout`.
    """
    queues = sort_tasks(tasks, index)
    poll = _Poll(client, queues, on_progress, sleep, clock)
    await poll.run(clock() + timeout if timeout is not None else None)
    if left := poll.left():
        few = ", ".join(map(str, left[:MAX_LISTED_TASKS])) + (
            ", ..." if len(left) > MAX_LISTED_TASKS else ""
        )
        raise TaskFailed(
            f"{len(left)} of {poll.total} tasks were not published within {timeout:g} s: {few}; "
            "they may still be published: wait for them again",
            tasks=left,
        )
    return poll.total


def sort_tasks(tasks: Tasks, index: str | None = None) -> dict[str | None, list[int]]:
    """Group tasks by their index, the oldest task first."""
    queues: dict[str | None, set[int]] = defaultdict(set)
    for name, number in _flatten(tasks, index):
        queues[name].add(number)
    return {name: sorted(numbers) for name, numbers in queues.items()}


def _flatten(tasks: Any, index: str | None) -> Iterator[tuple[str | None, int]]:
    match tasks:
        case bool() | str() | bytes() | None:
            raise BadInput(f"{tasks!r} is not a task; pass its number or the response to a write")
        case int():
            yield index, tasks
        case {"taskID": int(number)}:
            yield tasks.get("indexName", tasks.get("index", index)), number
        case {"taskID": Mapping() as numbers}:
            yield from _by_index(numbers)
        case Mapping():
            yield from _by_index(tasks)
        case (str(name), int(number)) if isinstance(tasks, tuple):
            yield name, number
        case Iterable():
            for task in tasks:
                yield from _flatten(task, index)
        case _:
            raise BadInput(f"{type(tasks).__name__} is not a task; pass the response to a write")


def _by_index(numbers: Mapping[Any, Any]) -> Iterator[tuple[str, int]]:
    for name, number in numbers.items():
        if type(number) is not int:
            listed = ", ".join(map(str, numbers))
            raise BadInput(f"no taskID in {listed}: pass the response to a write")
        yield str(name), number


@dataclass
class _Poll:
    """The pending tasks by index, and the calls that check them."""

    client: TaskReader
    queues: dict[str | None, list[int]]
    on_progress: OnProgress | None
    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.total = len(self.left())
        self._slots = asyncio.Semaphore(MAX_PARALLEL_INDICES)

    def left(self) -> list[int]:
        return [number for queue in self.queues.values() for number in queue]

    async def run(self, deadline: float | None) -> None:
        self._report_progress()
        await run_together(self._drain(name, deadline) for name in self.queues)

    async def _drain(self, name: str | None, deadline: float | None) -> None:
        """Poll the tasks of one index until they are published.

        An index applies its tasks in order, so each poll reads the newest task, and an earlier one
        for progress: the middle one, or an older one each time the chosen one was pending.
        """
        queue, delay, share = self.queues[name], FIRST_POLL_SECONDS, 0.5
        while queue:
            async with self._slots:
                if await self._check(name, queue, len(queue) - 1):
                    return
                position = int((len(queue) - 1) * share)
                if position < len(queue) - 1:
                    share = 0.5 if await self._check(name, queue, position) else share / 2
            if deadline is not None and self.clock() >= deadline:
                return
            await self.sleep(delay)
            delay = min(delay * POLL_GROWTH, MAX_POLL_SECONDS)

    async def _check(self, name: str | None, queue: list[int], position: int) -> bool:
        """Remove a published task and those before it; return False if the task is pending."""
        if not await self._is_published(name, queue[position]):
            return False
        del queue[: position + 1]
        self._report_progress()
        return True

    async def _is_published(self, name: str | None, number: int) -> bool:
        try:
            if name is None:
                task = await self.client.get_app_task(number)
            else:
                task = await self.client.get_task(name, number)
        except KeyRefused as error:
            error.add_note("the write itself was accepted; this key may not read tasks")
            raise
        return task["status"] == "published"

    def _report_progress(self) -> None:
        if self.on_progress:
            self.on_progress(self.total - len(self.left()), self.total)

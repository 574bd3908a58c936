"""Wait until tasks are published: one, or hundreds over many indices, in few calls."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

from svc_notebook.api import Endpoint, RequestSpec, shapes
from svc_notebook.client.task_group import run_together
from svc_notebook.errors import BadInput, KeyRefused, TaskFailed

MAX_WRITES = 10_000


@dataclass(frozen=True)
class Write:
    """One task that a call made; one without an index is the application's."""

    at: float
    call: str
    index: str | None
    task: int


class WriteHistory:
    """The newest writes, the oldest first."""

    def __init__(self) -> None:
        self._held: deque[Write] = deque(maxlen=MAX_WRITES)

    def note(self, endpoint: Endpoint, parcel: RequestSpec, answer: Any) -> None:
        """Keep what an answer says was written; a reading call's says nothing."""
        task = answer.get("taskID") if isinstance(answer, dict) and not endpoint.reads else None
        index = _index_in(endpoint, parcel)
        by_index = task if isinstance(task, dict) else {index: task}
        for name, number in by_index.items():
            if type(number) is int:
                self._held.append(Write(time.time(), endpoint.name, name, number))

    def __iter__(self) -> Iterator[Write]:
        return iter(list(self._held))


def _index_in(endpoint: Endpoint, parcel: RequestSpec) -> str | None:
    parts = endpoint.path.split("/")
    return unquote(parcel.path.split("/")[parts.index("{index}")]) if "{index}" in parts else None


# A task's number, a write's answer, `(index, number)`, `{index: number}`, or several of these.
Tasks = int | Mapping[str, Any] | Iterable[Any]
OnProgress = Callable[[int, int], None]

SHORTEST, LONGEST, GROWTH = 0.01, 2.0, 1.5  # seconds between two looks at one index
MAX_PARALLEL_INDICES = 8  # indices looked at at the same time
MAX_LISTED_TASKS = 10  # tasks named in a message


class Looker(Protocol):
    """Who can look at a task."""

    def get_task(self, index: str, task_id: int, /) -> Coroutine[Any, Any, shapes.Task]:
        """Look at a task of an index."""
        ...

    def get_app_task(self, task_id: int, /) -> Coroutine[Any, Any, shapes.Task]:
        """Look at a task of the application."""
        ...


async def wait(
    client: Looker,
    tasks: Tasks,
    *,
    index: str | None = None,
    timeout: float | None = 600,  # noqa: ASYNC109 - what is left is told when it passes
    on_progress: OnProgress | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Return how many tasks were published; raises `TaskFailed` with those left at `timeout`.

    `index` is where tasks belong that do not say so themselves; those that belong to no index
    are the application's, as a dictionary's are. `on_progress` is told how many of how many.
    """
    queues = sort_tasks(tasks, index)
    watch = _Watch(client, queues, on_progress, sleep, clock)
    await watch.run(clock() + timeout if timeout is not None else None)
    if left := watch.left():
        few = ", ".join(map(str, left[:MAX_LISTED_TASKS])) + (
            ", ..." if len(left) > MAX_LISTED_TASKS else ""
        )
        raise TaskFailed(
            f"{len(left)} of {watch.total} tasks not published after {timeout:g} s: {few}; "
            "they may still be, wait for them again",
            tasks=left,
        )
    return watch.total


def sort_tasks(tasks: Tasks, index: str | None = None) -> dict[str | None, list[int]]:
    """Sort tasks by the index they belong to, the oldest first."""
    queues: dict[str | None, set[int]] = defaultdict(set)
    for name, number in _flatten(tasks, index):
        queues[name].add(number)
    return {name: sorted(numbers) for name, numbers in queues.items()}


def _flatten(tasks: Any, index: str | None) -> Iterator[tuple[str | None, int]]:
    match tasks:
        case bool() | str() | bytes() | None:
            raise BadInput(f"{tasks!r} is no task; give its number or the answer of a write")
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
            raise BadInput(f"{type(tasks).__name__} is no task; give the answer of a write")


def _by_index(numbers: Mapping[Any, Any]) -> Iterator[tuple[str, int]]:
    for name, number in numbers.items():
        if type(number) is not int:
            raise BadInput(f"no taskID in {', '.join(map(str, numbers))}: this was not a write")
        yield str(name), number


@dataclass
class _Watch:
    """The tasks that are left, by index."""

    client: Looker
    queues: dict[str | None, list[int]]
    on_progress: OnProgress | None
    sleep: Callable[[float], Awaitable[None]]
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self.total = len(self.left())
        self._turns = asyncio.Semaphore(MAX_PARALLEL_INDICES)

    def left(self) -> list[int]:
        return [number for queue in self.queues.values() for number in queue]

    async def run(self, deadline: float | None) -> None:
        self._tell()
        await run_together(self._drain(name, deadline) for name in self.queues)

    async def _drain(self, name: str | None, deadline: float | None) -> None:
        """Look at the newest task, for an index applies its tasks in order, and at one before.

        Which one, settles where the index has got to, for progress: half way, or nearer the
        oldest each time it was too near the newest.
        """
        queue, delay, share = self.queues[name], SHORTEST, 0.5
        while queue:
            async with self._turns:
                if await self._look(name, queue, len(queue) - 1):
                    return
                place = int((len(queue) - 1) * share)
                if place < len(queue) - 1:
                    share = 0.5 if await self._look(name, queue, place) else share / 2
            if deadline is not None and self.clock() >= deadline:
                return
            await self.sleep(delay)
            delay = min(delay * GROWTH, LONGEST)

    async def _look(self, name: str | None, queue: list[int], place: int) -> bool:
        if not await self._is_published(name, queue[place]):
            return False
        del queue[: place + 1]
        self._tell()
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

    def _tell(self) -> None:
        if self.on_progress:
            self.on_progress(self.total - len(self.left()), self.total)

"""Run several coroutines concurrently as one step that succeeds or fails as a whole."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any


async def run_together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all coroutines; the first failure cancels the others and is raised without a group.

    It is raised outside the handler: a notebook prints the whole exception group behind an error,
    and early 3.11 wraps an exception raised in a handler of groups into another group.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    failed = None
    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in work:
                group.create_task(coroutine)
    except BaseExceptionGroup as failures:
        failed = next(_leaves(failures))
        # Before 3.13 a group leaves its own request to cancel this task in place, and in early 3.11
        # `asyncio.timeout` around a later call then raises CancelledError for a time-out.
        if sys.version_info < (3, 13) and task and task.cancelling() > before:
            task.uncancel()
    if failed:
        raise failed


def _leaves(failures: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    for failure in failures.exceptions:
        yield from _leaves(failure) if isinstance(failure, BaseExceptionGroup) else (failure,)

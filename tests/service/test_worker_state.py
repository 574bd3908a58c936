"""What the service records of a worker's state stays what the worker has, in every order."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.workers.messages import (
    CallerFacts,
    SearchCall,
    WorkerReply,
    frame,
)
from svc_notebook.service.workers.pool import SearchWorkers, WorkerConnection
from tests.service.worker_calls import with_workers


class NextSearch:
    """A search that takes the worker before the one that was answered resumes."""

    def release(self, worker: WorkerConnection) -> None:
        self.sent = dict(worker.sent)


class ReplacedIndices:
    """A registry in which every index is replaced after it was looked up once."""

    def __init__(self, registry: IndexRegistry) -> None:
        self.registry = registry
        self.names: set[str] = set()

    def get(self, name: str) -> PublishedIndex | None:
        if name in self.names:
            return None
        self.names.add(name)
        return self.registry.get(name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.registry, name)


@pytest.mark.parametrize(
    ("reply", "count"),
    [
        (WorkerReply("outdated"), 0),
        (WorkerReply("declined", reason="error: OSError", fault="Traceback"), 0),
        (WorkerReply("answered"), 1),
    ],
    ids=["outdated", "failed", "answered"],
)
def test_the_next_search_sends_what_a_failed_one_did_not_open(
    reply: WorkerReply, count: int
) -> None:
    following = NextSearch()
    worker = WorkerConnection(cast(Any, None), cast(Any, following))
    worker.sent[1] = cast(Any, "state")

    worker.data_received(frame(reply))

    assert len(following.sent) == count


@pytest.mark.slow
def test_an_index_that_is_replaced_while_it_is_sent_stays_for_this_search(tmp_path: Path) -> None:
    with with_workers(tmp_path) as inside:
        inside.fill("films", {"objectID": "1"})
        inside.fill("books", {"objectID": "1"})
        pool: SearchWorkers = inside.workers
        worker = WorkerConnection(cast(Any, None), cast(Any, NextSearch()))
        caller = CallerFacts([], True, "127.0.0.1", None)
        call = SearchCall("search_many", {}, caller, ["films", "books"], {}, 4)
        pool._encode(worker, call)
        numbers = set(worker.sent)
        inside.fill("books", {"objectID": "2"})
        pool._catalog = cast(Any, ReplacedIndices(pool._catalog))

        pool._encode(worker, call)

        assert set(worker.sent) == numbers
        assert len(numbers) == 2

"""Segments are searched by several threads with the same result as by one."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from math import inf
from random import Random
from typing import Any

import pytest

from svc_notebook.errors import Refused
from svc_notebook.service.engine import Index, execution
from svc_notebook.service.engine.execution import (
    Deadline,
    SearchCancelled,
    SegmentThreads,
    limit_time,
)
from svc_notebook.service.engine.ranking.ranking import MIN_SORTED_BY_COLUMN
from tests.service.engine import cases

NAME: ContextVar[str] = ContextVar("name", default="")
ENOUGH = 10 * execution.MIN_PARALLEL_RECORDS


@pytest.mark.parametrize("most", [1, 2, 5])
def test_results_are_in_order_and_threads_have_the_context(most: int) -> None:
    threads = SegmentThreads(most)
    token = NAME.set("search")

    found = threads.map(lambda item: (NAME.get(), item), range(20), ENOUGH)

    NAME.reset(token)
    assert found == [("search", item) for item in range(20)]


def test_items_are_worked_at_at_the_same_time() -> None:
    meeting = threading.Barrier(2, timeout=20)

    assert SegmentThreads(2).map(lambda _: meeting.wait() >= 0, [1, 2], ENOUGH) == [True, True]


def test_few_records_are_searched_by_the_caller() -> None:
    found = SegmentThreads(4).map(lambda _: threading.get_ident(), range(9), 1000)

    assert found == [threading.get_ident()] * 9


@pytest.mark.parametrize("most", [1, 2, 5])
def test_the_error_of_any_thread_is_raised_and_the_others_stop(most: int) -> None:
    worked: list[int] = []

    def act(item: int) -> None:
        worked.append(item)
        if item >= 2:
            raise IndexError(item)

    with pytest.raises(IndexError):
        SegmentThreads(most).map(act, range(1000), ENOUGH)

    assert len(worked) < 20


def test_callers_share_the_threads_without_waiting_for_each_other() -> None:
    threads = SegmentThreads(2)
    blocked, free = threading.Event(), threading.Event()

    def block(_: int) -> None:
        blocked.set()
        assert free.wait(20)

    other = threading.Thread(target=threads.map, args=(block, [1, 2], ENOUGH))
    other.start()
    assert blocked.wait(20)

    assert threads.map(lambda item: item, [1, 2, 3], ENOUGH) == [1, 2, 3]
    free.set()
    other.join(20)


@pytest.fixture
def index(threads_for_few_records: None) -> Index:
    """An index of four segments, which several threads search."""
    random = Random(1)
    index = Index(cases.make_settings(random))
    for part in range(4):
        index.put([cases.make_record(random, part * 50 + number) for number in range(50)])
    return index


def test_a_deadline_and_a_cancelled_search_stop_all_threads(index: Index) -> None:
    over, cancelled = Deadline(-1), Deadline(60)
    cancelled.cancel()
    for deadline, error in ((over, Refused), (cancelled, SearchCancelled)):
        with limit_time(deadline), pytest.raises(error):
            index.search({"query": "a"}, lambda ids: [{"objectID": name} for name in ids])


@pytest.mark.parametrize("parts", [1, 3])
def test_many_records_are_browsed_in_order(parts: int) -> None:
    random = Random(parts)
    records = [
        {"objectID": f"{n % 7}-{n}", "rank": random.choice([None, 1, 2.5, -3]), "same": 1}
        for n in range(2 * MIN_SORTED_BY_COLUMN)
    ]
    index = Index({"customRanking": ["desc(same)", "asc(rank)"]})
    for part in range(parts):
        index.put(records[part::parts])

    def place(record: dict[str, Any]) -> tuple[float, str]:
        return inf if record["rank"] is None else record["rank"], record["objectID"]

    expected = [record["objectID"] for record in sorted(records, key=place)]
    assert index.order({})[:] == expected

"""Cached orders of browses are small, expire, and reference no segments."""

from __future__ import annotations

import gc
import weakref
from random import Random
from typing import Any

import pytest

from svc_notebook.service.engine import Index
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.indices import cursors
from svc_notebook.service.indices.cursors import (
    CONTINUED_SECONDS,
    MAX_CACHED_BYTES,
    ORDER_OVERHEAD_BYTES,
    UNUSED_SECONDS,
    Cursors,
    IdList,
    read_cursor,
)
from tests.conftest import Inside

NAMES = ["", "a", "é", "漢字", "x" * 300, "\ud800"]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def make_index(count: int) -> Index:
    draw = Random(4)
    names = [f"{draw.choice(NAMES)}{number}" for number in range(count)]
    records = [{"objectID": name, "n": draw.randrange(9), "text": "lamp"} for name in names]
    index = Index({"customRanking": ["asc(n)"]})
    for start in range(0, count, 70):
        index.put(records[start : start + 70])
    return index


def make_ids(count: int = 10) -> IdList:
    return IdList.of(make_index(count).order({}))


def live_segments() -> int:
    gc.collect()
    return sum(isinstance(one, Segment) for one in gc.get_objects())


@pytest.mark.parametrize(
    "params", [{}, {"query": "lamp"}, {"filters": "n > 4"}, {"filters": "n > 9"}]
)
def test_a_list_of_ids_is_the_order_it_was_made_of(params: dict[str, Any]) -> None:
    order = make_index(500).order(params)
    whole = order[0 : len(order)]

    ids = IdList.of(order)

    assert len(ids) == len(whole)
    for start in range(0, 510, 37):
        assert ids[start : start + 50] == whole[start : start + 50]
    assert [ids.find(name) for name in whole[::29]] == list(range(0, len(whole), 29))
    assert ids.find("nobody") == -1


@pytest.mark.slow
def test_a_list_of_ids_references_no_segment() -> None:
    index = make_index(200)
    order = index.order({})
    segments = [weakref.ref(segment) for segment in order.segments]

    ids = IdList.of(order)
    del order, index
    gc.collect()

    assert [one() for one in segments] == [None] * len(segments)
    assert len(ids[0:200]) == 200


def test_an_unused_order_expires() -> None:
    clock = Clock()
    kept = Cursors(clock)
    never, once = kept.cache(make_ids(), 1, {}), kept.cache(make_ids(), 1, {})
    assert kept.get(once, 1, {})

    clock.now += UNUSED_SECONDS + 1
    kept.drop_expired()
    assert kept.get(never, 1, {}) is None
    assert kept.get(once, 1, {})

    clock.now += CONTINUED_SECONDS - 1
    kept.drop_expired()
    assert kept.get(once, 1, {})

    clock.now += CONTINUED_SECONDS + 1
    kept.drop_expired()
    assert kept.get(once, 1, {}) is None
    assert kept.nbytes == 0


@pytest.mark.slow
def test_orders_are_bounded_in_bytes_and_the_oldest_go_first() -> None:
    kept, ids = Cursors(), make_ids(500)
    room = MAX_CACHED_BYTES // (ids.nbytes + ORDER_OVERHEAD_BYTES)
    names = [kept.cache(ids, 1, {}) for _ in range(room)]
    assert kept.get(names[0], 1, {})

    kept.cache(ids, 1, {})

    assert kept.nbytes <= MAX_CACHED_BYTES
    assert kept.get(names[0], 1, {})
    assert kept.get(names[1], 1, {}) is None


def test_an_order_is_returned_only_for_the_same_parameters() -> None:
    kept = Cursors()
    name = kept.cache(make_ids(), 1, {"query": "a", "hitsPerPage": 3})

    assert kept.get(name, 1, {"hitsPerPage": 9, "query": "a"})
    assert kept.get(name, 1, {"query": "b"}) is None
    assert kept.get(name, 2, {"query": "a"}) is None


@pytest.mark.slow
def test_browses_keep_no_replaced_segments(inside: Inside) -> None:
    records = [{"objectID": str(n), "text": "lamp"} for n in range(50)]
    inside.fill("p", *records, customRanking=["asc(text)"])
    answer = inside.call("POST", "/1/indexes/p/browse", {"hitsPerPage": 10}).json()
    found = [hit["objectID"] for hit in answer["hits"]]
    inside.ids("p", "lamp")
    before = live_segments()

    for number in range(40):
        inside.done("PUT", f"/1/indexes/p/new{number}", {"text": "lamp"})
        inside.call("POST", "/1/indexes/p/browse", {"hitsPerPage": 10, "query": "lamp"})

    # As many as small writes leave beside each other; each browse held four or more of its own.
    assert live_segments() < before + 10
    while "cursor" in answer:
        answer = inside.call("POST", "/1/indexes/p/browse", {"cursor": answer["cursor"]}).json()
        found += [hit["objectID"] for hit in answer["hits"]]
    assert sorted(found) == sorted(record["objectID"] for record in records)


def test_the_order_of_a_browse_is_dropped_with_its_last_page(inside: Inside) -> None:
    inside.fill("p", *[{"objectID": str(n), "text": "lamp"} for n in range(25)])
    kept = inside.app.service.cursors
    answer = inside.call("POST", "/1/indexes/p/browse", {"query": "lamp", "hitsPerPage": 10}).json()
    assert kept.nbytes

    name = read_cursor(answer["cursor"]).order
    while "cursor" in answer:
        assert read_cursor(answer["cursor"]).order == name
        answer = inside.call("POST", "/1/indexes/p/browse", {"cursor": answer["cursor"]}).json()

    assert kept.nbytes == 0


def test_a_browse_of_one_page_caches_nothing(inside: Inside) -> None:
    inside.fill("p", *[{"objectID": str(n), "text": "lamp"} for n in range(25)])

    inside.call("POST", "/1/indexes/p/browse", {"query": "lamp"})

    assert inside.app.service.cursors.nbytes == 0


def test_a_browse_with_an_expired_order_resumes_at_its_position(inside: Inside) -> None:
    inside.fill("p", *[{"objectID": f"{n:03}", "text": "lamp"} for n in range(95)])
    body = {"query": "lamp", "hitsPerPage": 10}
    answer = inside.call("POST", "/1/indexes/p/browse", body).json()
    found = [hit["objectID"] for hit in answer["hits"]]

    while "cursor" in answer:
        inside.app.service.cursors.drop(read_cursor(answer["cursor"]).order)
        answer = inside.call("POST", "/1/indexes/p/browse", {"cursor": answer["cursor"]}).json()
        found += [hit["objectID"] for hit in answer["hits"]]

    assert sorted(found) == [f"{n:03}" for n in range(95)]
    assert cursors.UNUSED_SECONDS < cursors.CONTINUED_SECONDS

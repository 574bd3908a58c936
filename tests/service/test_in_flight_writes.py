"""No hit has other values than those by which it was found."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from svc_notebook.service.indices.published_index import InFlightWrites
from tests.conftest import Inside, wait_published

CHEAP = {"objectID": "1", "title": "lamp", "price": 1}
DEAR = {"objectID": "1", "title": "lamp", "price": 100}


@pytest.fixture
def shop(inside: Inside) -> Inside:
    inside.fill("shop", CHEAP, {"objectID": "2", "title": "desk", "price": 2})
    return inside


@contextmanager
def nothing_shown(shop: Inside) -> Iterator[None]:
    """Keep what is stored from being seen by searches."""
    stock = shop.app.service.catalog.find("shop").engine.get().segment_store
    with stock._publishing:
        yield


def wait_stored(shop: Inside, verb: str, path: str, body: Any) -> int:
    """Send a write and wait until the records themselves are changed."""
    before = shop.call("GET", "/1/indexes/shop/1").text
    task = shop.call(verb, path, body).json()["taskID"]
    while shop.call("GET", "/1/indexes/shop/1").text == before:
        pass
    return int(task)


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("PUT", "/1/indexes/shop/1", DEAR),
        ("DELETE", "/1/indexes/shop/1", None),
        ("POST", "/1/indexes/shop/clear", None),
        ("POST", "/1/indexes/shop/deleteByQuery", {"filters": "price < 2"}),
    ],
    ids=["overwritten", "deleted", "cleared", "deleted by query"],
)
def test_a_hit_that_is_overwritten_meanwhile_is_not_returned_for_its_old_content(
    shop: Inside, verb: str, path: str, body: Any
) -> None:
    changes = shop.app.service.catalog.in_flight_writes
    with ThreadPoolExecutor(1) as pool:
        with nothing_shown(shop):
            task = wait_stored(shop, verb, path, body)
            cheap = {"filters": "price < 2"}
            searching = pool.submit(shop.call, "POST", "/1/indexes/shop/query", cheap)
            while not (changes.waiting or searching.done()):
                pass
        wait_published(shop.app.service, task)
        answer = searching.result().json()

    assert (answer["hits"], answer["nbHits"]) == ([], 0)


def test_a_search_ignores_changes_of_other_records() -> None:
    changes = InFlightWrites()
    moment = changes.last_visible()

    changes.begin(1, ["a"])

    assert changes.may_have_changed(moment, 1, ["b", "a"])
    assert not changes.may_have_changed(moment, 1, ["b"])
    assert not changes.may_have_changed(moment, 2, ["a"])
    changes.mark_visible()
    assert not changes.may_have_changed(changes.last_visible(), 1, ["a"])


def test_emptying_an_index_changes_all_its_records() -> None:
    changes = InFlightWrites()

    changes.begin(1, None)

    assert changes.may_have_changed(changes.last_visible(), 1, ["a"])

"""Operations of several calls, on a real service."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest

from svc_notebook.data.client import Client, ClientConfig, Secret, operations
from svc_notebook.errors import BadInput, CursorRepeated, KeyRefused, NotFound, Refused, SvcError
from tests.conftest import Running
from tests.data.client import stub
from tests.data.client.stub import serving


@pytest.fixture(scope="module")
def client(service: Running) -> Client:
    return Client(ClientConfig(service.appId, Secret(service.adminKey), url=service.url))


def records(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"objectID": str(n), "n": n, **more} for n in range(count)]


def fill(client: Client, index: str, count: int, **more: Any) -> None:
    requests = [{"action": "addObject", "body": record} for record in records(count, **more)]
    client.wait(client.batch(index, requests), index=index)  # type: ignore[arg-type]


def temporary(client: Client) -> list[str]:
    """Return the temporary indices of this module's indices; the service has others' too."""
    names = [entry["name"] for entry in client.list_indices()["items"]]
    return [name for name in names if name.startswith("flow-") and "_tmp_" in name]


def gone(client: Client) -> bool:
    """Wait until no temporary index is left: its deletion was accepted, not waited for."""
    deadline = time.monotonic() + 10
    while temporary(client) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not temporary(client)


def browse(client: Client, index: str) -> list[dict[str, Any]]:
    return [hit for page in client.browse_pages(index) for hit in page["hits"]]


def test_a_write_is_found_once_it_is_waited_for(client: Client) -> None:
    answer = client.add_object("flow-write", {"title": "a green lamp"})

    assert client.wait(answer, index="flow-write") == 1
    assert client.search("flow-write", "lmap")["hits"][0]["title"] == "a green lamp"


def test_hundreds_of_tasks_over_many_indices_are_waited_for_at_once(client: Client) -> None:
    tasks = [
        (index, client.put_object(index, str(n), {"n": n})["taskID"])
        for index in ("flow-many-a", "flow-many-b", "flow-many-c")
        for n in range(30)
    ]

    assert client.wait(tasks) == 90
    assert client.search("flow-many-c")["nbHits"] == 30


def test_a_whole_index_is_browsed_page_by_page(client: Client) -> None:
    fill(client, "flow-browse", 2500)

    pages = list(client.browse_pages("flow-browse"))

    assert [len(page["hits"]) for page in pages] == [1000, 1000, 500]
    assert {hit["n"] for page in pages for hit in page["hits"]} == set(range(2500))


def test_parameters_hold_on_every_page(client: Client) -> None:
    fill(client, "flow-params", 30)

    pages = client.browse_pages(
        "flow-params", hitsPerPage=4, filters="n < 10", attributesToRetrieve=["n"]
    )

    hits = [page["hits"] for page in pages]
    assert [len(page) for page in hits] == [4, 4, 2]
    assert sorted(hit["n"] for page in hits for hit in page) == list(range(10))


def test_a_browse_goes_on_from_a_cursor(client: Client) -> None:
    fill(client, "flow-cursor", 10)
    first = next(client.browse_pages("flow-cursor", hitsPerPage=4))

    rest = list(client.browse_pages("flow-cursor", cursor=first["cursor"], hitsPerPage=4))

    seen = [hit["n"] for page in [first, *rest] for hit in page["hits"]]
    assert sorted(seen) == list(range(10))


def test_a_browse_left_early_leaves_nothing_behind(client: Client) -> None:
    fill(client, "flow-early", 10)
    pages = client.browse_pages("flow-early", hitsPerPage=2)

    next(pages)
    pages.close()  # type: ignore[attr-defined]

    assert list(pages) == []


def test_one_page_and_no_more_is_fetched_ahead() -> None:
    with serving(stub.answer({"hits": [], "cursor": "next"})) as server:
        pages = Client(ClientConfig("APP", Secret("k3y"), url=server.url)).browse_pages("i")

        next(pages)

        deadline = time.monotonic() + 10
        while len(server.requests) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        assert [request.json.get("cursor") for request in server.requests] == [None, "next"]


def test_a_page_that_fails_is_told_of_after_those_before_it() -> None:
    page = stub.answer({"hits": [{"objectID": "1"}], "cursor": "next"})
    refusal = stub.answer({"message": "the cursor is too old"}, status=400)

    with serving(page, refusal) as server:
        pages = Client(ClientConfig("APP", Secret("k3y"), url=server.url)).browse_pages("i")

        assert next(pages)["hits"] == [{"objectID": "1"}]
        with pytest.raises(Refused, match="too old"):
            next(pages)


def test_an_index_exists_or_not(client: Client) -> None:
    fill(client, "flow-exists", 1)

    assert client.index_exists("flow-exists")
    assert not client.index_exists("flow-exists-not")


def test_a_key_that_may_not_ask_is_not_taken_for_a_missing_index(service: Running) -> None:
    searcher = Client(ClientConfig(service.appId, Secret(service.searchKey), url=service.url))

    with pytest.raises(KeyRefused, match="`settings`"):
        searcher.index_exists("flow-exists")


def test_all_records_are_replaced_and_settings_stay(client: Client) -> None:
    fill(client, "flow-replace", 20, old=True)
    settings = {"searchableAttributes": ["title"], "attributesForFaceting": ["n"]}
    client.wait(client.set_settings("flow-replace", settings), index="flow-replace")  # type: ignore[arg-type]

    assert client.replace_all("flow-replace", records(15, title="new")) == 15

    assert sorted(hit["n"] for hit in browse(client, "flow-replace")) == list(range(15))
    assert not any(hit.get("old") for hit in browse(client, "flow-replace"))
    assert client.get_settings("flow-replace")["attributesForFaceting"] == ["n"]
    assert gone(client)


def test_replacing_makes_an_index_that_is_not_there(client: Client) -> None:
    assert client.replace_all("flow-new", ({"n": n} for n in range(3))) == 3

    assert len(browse(client, "flow-new")) == 3


def test_many_records_are_replaced_in_batches(client: Client) -> None:
    assert client.replace_all("flow-large", records(2300)) == 2300

    assert len(browse(client, "flow-large")) == 2300


def test_records_are_counted_whatever_the_settings_group(client: Client) -> None:
    fill(client, "flow-groups", 10, brand="one")
    settings = {"attributeForDistinct": "brand", "distinct": True}
    client.wait(client.set_settings("flow-groups", settings), index="flow-groups")  # type: ignore[arg-type]

    assert client.replace_all("flow-groups", records(8, brand="one")) == 8


def test_too_few_records_replace_nothing(client: Client) -> None:
    fill(client, "flow-guard", 20)

    with pytest.raises(BadInput, match="has 20 records and would have 3; nothing was replaced"):
        client.replace_all("flow-guard", records(3))

    assert len(browse(client, "flow-guard")) == 20
    assert gone(client)
    assert client.replace_all("flow-guard", records(3), min_share=0) == 3


def test_a_record_that_cannot_be_sent_replaces_nothing(client: Client) -> None:
    fill(client, "flow-bad", 5)

    with pytest.raises(BadInput, match=r"`requests\[1\].body.n` is nan"):
        client.replace_all("flow-bad", [{"n": 1}, {"n": float("nan")}])

    assert len(browse(client, "flow-bad")) == 5
    assert gone(client)


def test_a_source_that_fails_half_way_replaces_nothing(client: Client) -> None:
    def fail() -> Iterator[dict[str, Any]]:
        yield from records(1500)
        raise ZeroDivisionError

    fill(client, "flow-fail", 5)

    with pytest.raises(ZeroDivisionError):
        client.replace_all("flow-fail", fail())

    assert len(browse(client, "flow-fail")) == 5
    assert gone(client)


def test_a_stop_half_way_replaces_nothing(client: Client) -> None:
    fill(client, "flow-stop", 5)

    async def stop() -> None:
        async with asyncio.timeout(0.3), client.aio.replacing("flow-stop"):
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        asyncio.run(stop())

    assert len(browse(client, "flow-stop")) == 5
    assert gone(client)


def test_an_error_of_the_service_says_what_it_said(client: Client) -> None:
    with pytest.raises(NotFound, match="flow-missing"):
        client.search("flow-missing")
    with pytest.raises(SvcError):
        client.get_object("flow-exists", "no such record")


def page(number: int, cursor: str | None) -> stub.Act:
    return stub.answer({"hits": [{"objectID": str(number)}], "nbHits": 9, "cursor": cursor})


def lying(*cursors: str | None) -> list[stub.Act]:
    """A service whose pages have these cursors; the last page comes again and again."""
    return [page(number, cursor) for number, cursor in enumerate(cursors)]


@pytest.mark.parametrize(
    ("cursors", "records", "last"),
    [(["a", "a"], 2, "a"), (["a", "b", "c", "a"], 4, "c"), (["a", "b", "c", "b"], 4, "c")],
)
def test_a_cursor_that_comes_again_ends_a_browse(
    cursors: list[str], records: int, last: str
) -> None:
    with serving(*lying(*cursors)) as server:
        pages = Client(ClientConfig("APP", Secret("k3y"), url=server.url)).browse_pages("i")
        seen = [next(pages)["hits"][0]["objectID"] for _ in range(records)]
        with pytest.raises(CursorRepeated, match=f"after {records} records") as caught:
            next(pages)

    assert seen == [str(number) for number in range(records)]
    assert (caught.value.records, caught.value.cursor) == (records, last)
    assert len(server.requests) == len(cursors)


def test_the_cursor_that_a_browse_began_with_may_not_come_again() -> None:
    with serving(*lying("a")) as server, pytest.raises(CursorRepeated, match="after 1 record,"):
        list(
            Client(ClientConfig("APP", Secret("k3y"), url=server.url)).browse_pages("i", cursor="a")
        )


def test_pages_without_a_record_do_not_go_on_for_ever() -> None:
    empty = [stub.answer({"hits": [], "cursor": str(number)}) for number in range(200)]
    with serving(*empty) as server, pytest.raises(CursorRepeated, match="no record"):
        list(Client(ClientConfig("APP", Secret("k3y"), url=server.url)).browse_pages("i"))

    assert len(server.requests) == operations.MAX_EMPTY_PAGES


def test_an_empty_page_on_the_way_is_passed() -> None:
    acts = [page(1, "a"), stub.answer({"hits": [], "cursor": "b"}), page(2, None)]
    with serving(*acts) as server:
        pages = list(Client(ClientConfig("APP", Secret("k3y"), url=server.url)).browse_pages("i"))

    assert [hit["objectID"] for each in pages for hit in each["hits"]] == ["1", "2"]

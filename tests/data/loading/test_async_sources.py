"""Asynchronous iterators of dicts as sources."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from tests.data.loading.conftest import buffer_of


@pytest.fixture
def index() -> str:
    return f"awaited-{uuid4().hex[:8]}"


@pytest.fixture
def folder(temporary_files_in: Callable[[Path], None], tmp_path: Path) -> Iterator[Path]:
    """The folder to which each record is written."""
    temporary_files_in(tmp_path)
    with buffer_of(1):
        yield tmp_path


async def films(count: int) -> AsyncIterator[dict[str, Any]]:
    for n in range(count):
        await asyncio.sleep(0)
        yield {"objectID": f"{n}", "title": f"film {n}"}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["load", "push", "replace_records"])
def test_an_asynchronous_stream_is_read_in_the_loop_that_awaits(
    client: Client, index: str, name: str
) -> None:
    svc.push({"objectID": "0"}, index, client=client)
    loops = []

    async def watched() -> AsyncIterator[dict[str, Any]]:
        loops.append(asyncio.get_running_loop())
        async for film in films(9):
            yield film

    async def send() -> Any:
        given = (index, watched()) if name == "replace_records" else (watched(), index)
        result = await getattr(svc.aio, name)(*given, client=client)
        return result, asyncio.get_running_loop()

    result, loop = asyncio.run(send())

    assert (result.published, result.complete) == (9, True)
    assert loops == [loop]
    assert client.get_object(index, "8")["title"] == "film 8"


def test_no_more_items_are_read_than_the_limit(client: Client, index: str) -> None:
    async def send() -> Any:
        stream = films(9)
        result = await svc.aio.load(stream, index, client=client, limit=3)
        return result.sent, await anext(stream)

    sent, following = asyncio.run(send())

    assert (sent, following["objectID"]) == (3, "3")


def test_what_it_raises_is_raised_and_nothing_is_left_or_sent(
    client: Client, index: str, folder: Path
) -> None:
    async def broken() -> AsyncIterator[Any]:
        async for film in films(3):
            yield film
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        asyncio.run(svc.aio.replace_records(index, broken(), client=client))

    assert "after record 3 of the source; nothing was sent" in caught.value.__notes__[0]
    assert names_like(index, client) == []
    assert list(folder.iterdir()) == []


def test_a_load_that_is_stopped_while_it_waits_leaves_nothing(
    client: Client, index: str, folder: Path
) -> None:
    async def stop() -> None:
        waiting = asyncio.Event()

        async def endless() -> AsyncIterator[Any]:
            yield {"objectID": "1"}
            waiting.set()
            await asyncio.Event().wait()

        load = asyncio.create_task(svc.aio.load(endless(), index, client=client))
        await waiting.wait()
        load.cancel()
        await load

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(stop())

    assert names_like(index, client) == []
    assert list(folder.iterdir()) == []


def names_like(index: str, client: Client) -> list[str]:
    """The index, and temporary ones beside it."""
    names = [entry["name"] for entry in client.list_indices()["items"]]
    return [name for name in names if name.startswith(index)]


@pytest.mark.parametrize("options", [{"dry_run": True}, {"resume": True}, {"batch": 0}], ids=str)
def test_a_refused_stream_is_not_consumed(client: Client, index: str, options: Any) -> None:
    async def refused() -> list[str]:
        stream = films(1)
        with pytest.raises(BadInput):
            await svc.aio.load(stream, index, client=client, **options)
        return [film["objectID"] async for film in stream]

    assert asyncio.run(refused()) == ["0"]


def test_a_source_without_dicts_is_refused(client: Client, index: str) -> None:
    async def letters() -> AsyncIterator[str]:
        for letter in "abc":
            yield letter

    with pytest.raises(BadInput, match="a record is a dict"):
        asyncio.run(svc.aio.load(letters(), index, client=client))


@pytest.mark.parametrize("use", [svc.load, svc.push])
def test_a_blocking_function_refuses_an_asynchronous_stream(
    client: Client, index: str, use: Any
) -> None:
    with pytest.raises(BadInput, match=r"await svc\.aio\.load"):
        use(films(1), index, client=client)

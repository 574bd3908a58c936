"""Types of a client's methods; checked by mypy, never run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import assert_type

from svc_notebook.core.api.parameters import ReadSettings
from svc_notebook.core.api.shapes import (
    Added,
    Batched,
    CrawlerTask,
    CrawlerTaskState,
    IndexList,
    Received,
    SearchAnswer,
    Task,
    Updated,
)
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret, background_loop


def blocking(client: Client) -> None:
    assert_type(client.search("products", "lamp", hitsPerPage=3), SearchAnswer)
    assert_type(client.add_object("products", {"title": "lamp"}), Added)
    assert_type(client.batch("products", [{"action": "clear"}]), Batched)
    assert_type(client.get_settings("products"), ReadSettings)
    assert_type(client.set_settings("products", {"ranking": ["typo"]}), Updated)
    assert_type(client.list_indices(), IndexList)
    assert_type(client.get_task("products", 7), Task)
    assert_type(client.run_crawler("c"), CrawlerTask)
    assert_type(client.push_events([]), Received)
    assert_type(client.browse_pages("products"), Iterator[SearchAnswer])
    assert_type(client.wait(client.clear_objects("products"), index="products"), int)
    assert_type(client.index_exists("products"), bool)
    assert_type(client.replace_all("products", [{"objectID": "1"}]), int)
    assert_type(client.aio, AsyncClient)


async def awaited(client: AsyncClient) -> None:
    assert_type(await client.search("products", "lamp", hitsPerPage=3), SearchAnswer)
    assert_type(await client.add_object("products", {"title": "lamp"}), Added)
    assert_type(await client.get_crawler_task("c", "t"), CrawlerTaskState)
    assert_type(client.browse_pages("products"), AsyncIterator[SearchAnswer])
    assert_type(await client.wait([1, 2], index="products"), int)
    async with client.replacing("products") as scratch:
        assert_type(scratch, str)


def mistakes(client: Client) -> None:
    """Each line is wrong; mypy complains if one of these comments is not needed."""
    client.search(1)  # type: ignore[arg-type]
    client.search("products", hitsPerPge=3)  # type: ignore[call-arg]
    client.search("products", hitsPerPage="3")  # type: ignore[arg-type]
    client.set_settings("products", {"ranknig": []})  # type: ignore[typeddict-unknown-key]
    client.no_such_method()  # type: ignore[attr-defined]
    ClientConfig(api_key="text")  # type: ignore[arg-type]


def running(client: Client) -> None:
    assert_type(background_loop.run(client.aio.search("products")), SearchAnswer)
    assert_type(Secret("k").reveal(), str)

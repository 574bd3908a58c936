"""Crawlers and their URL statistics as DataFrames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from svc_notebook.data import frames
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret, background_loop
from svc_notebook.data.frames.schemas import CRAWLED_URLS, CRAWLER_URLS, CRAWLERS, DOMAINS
from svc_notebook.errors import BadInput, NotFound
from tests.data.client.stub import Stub, answer, serving

CRAWLER = {
    "name": "shop", "createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-03T03:04:05Z",
    "running": True, "reindexing": False, "blocked": False,
    "lastReindexStartAt": "2026-01-03T00:00:00Z", "lastReindexEndedAt": None,
}  # fmt: skip
URLS = [
    {"reason": "success", "status": "DONE", "category": "success", "readable": "", "count": 9},
    {"reason": "gone", "status": "FAILED", "category": "fetch", "readable": "404", "count": 1},
]  # fmt: skip

C1, C2 = (f"5a0c7f3e-0000-4000-8000-00000000000{number}" for number in (1, 2))


def asked(stub: Stub, read: Any, *args: Any, **options: Any) -> pd.DataFrame:
    connection = ClientConfig(
        url=stub.url, app_id="A", api_key=Secret("k"), crawler_user_id="me",
        crawler_api_key=Secret("c"),
    )  # fmt: skip
    with Client(connection) as client:
        return background_loop.run(read(client.aio, *args, **options))  # type: ignore[no-any-return]


def page(items: list[Any], total: int) -> Any:
    return answer({"items": items, "itemsPerPage": 1, "page": 1, "total": total})


def test_crawlers_are_read_page_by_page_with_their_states() -> None:
    pages = [page([{"id": f"c{n}", "name": "shop"}], 2) for n in (1, 2)]
    with serving(*pages, answer(CRAWLER)) as stub:
        found = asked(stub, frames.read_crawlers)

    assert found["id"].tolist() == ["c1", "c2"]
    assert found["lastReindexStartedAt"].notna().tolist() == [True, True]
    assert [request.target.split("?")[0] for request in stub.requests[2:]] == [
        "/api/1/crawlers/c1",
        "/api/1/crawlers/c2",
    ]


def test_warnings_of_a_service_are_in_the_row_of_the_crawler() -> None:
    warned = {**CRAWLER, "warnings": ["the crawler a writes to docs, too", "so does b"]}
    items = [{"id": "c1", "name": "shop"}, {"id": "c2", "name": "shop"}]
    with serving(page(items, 2), answer(warned), answer(CRAWLER)) as stub:
        found = asked(stub, frames.read_crawlers)

    assert found["warnings"][0] == "the crawler a writes to docs, too; so does b"
    assert found["warnings"].isna().tolist() == [False, True]


def test_how_urls_ended_is_read_of_several_crawlers() -> None:
    with serving(answer({"count": 10, "data": URLS})) as stub:
        found = asked(stub, frames.read_crawler_urls, [C1, C2])

    assert found[["crawler", "status", "count"]].to_numpy().tolist() == [
        [C1, "DONE", 9], [C1, "FAILED", 1], [C2, "DONE", 9], [C2, "FAILED", 1],
    ]  # fmt: skip


ENDED = {
    "url": "https://a.test/", "kind": "page", "status": "FAILED", "category": "fetch",
    "reason": "http_404", "message": "The server answers 404 (Not Found)", "depth": 2,
    "time": "2026-01-03T00:00:00.125+00:00", "referrer": None,
}  # fmt: skip


def test_how_each_url_ended_is_read_page_by_page() -> None:
    other = {**ENDED, "url": "https://a.test/b", "referrer": "https://a.test/"}
    pages = [answer({"urls": [ENDED], "cursor": 7}), answer({"urls": [other]})]
    with serving(*pages) as stub:
        found = asked(stub, frames.read_crawled_urls, C1, status="FAILED")

    assert found["url"].tolist() == ["https://a.test/", "https://a.test/b"]
    assert found["referrer"].isna().tolist() == [True, False]
    assert found["time"][0] == pd.Timestamp("2026-01-03T00:00:00.125Z")
    assert found["crawler"].tolist() == [C1, C1]
    assert [request.target.partition("?")[0] for request in stub.requests] == [
        f"/local/1/crawlers/{C1}/urls"
    ] * 2
    assert "after=7" in stub.requests[1].target
    assert "status=FAILED" in stub.requests[1].target


@pytest.mark.parametrize("status", [404, 405])
def test_a_service_that_only_counts_urls_is_recognized(status: int) -> None:
    with (
        serving(answer({"message": "no such path"}, status)) as stub,
        pytest.raises(
            NotFound, match=r"`svc.read_crawler_urls` counts them, and a local service lists them"
        ),
    ):
        asked(stub, frames.read_crawled_urls, C1)


def test_domains_are_read_under_either_name_of_their_state() -> None:
    items = [
        {"appId": "A", "domain": "a.example", "verified": True},
        {"appId": "A", "domain": "b.example", "validated": True},
    ]
    with serving(page(items, 2)) as stub:
        found = asked(stub, frames.read_domains)

    assert found["verified"].tolist() == [True, True]


@pytest.mark.parametrize(
    ("read", "schema", "body"),
    [
        (frames.read_crawlers, CRAWLERS, {"items": [], "total": 0}),
        (frames.read_domains, DOMAINS, {"items": [], "total": 0}),
        (lambda aio: frames.read_crawled_urls(aio, C1), CRAWLED_URLS, {"urls": []}),
        (lambda aio: frames.read_crawler_urls(aio, C1), CRAWLER_URLS, {"count": 0, "data": []}),
    ],
)
def test_nothing_has_the_schema_too(read: Any, schema: dict[str, str], body: Any) -> None:
    with serving(answer(body)) as stub:
        found = asked(stub, read)

    assert found.dtypes.to_dict() == {
        name: pd.Series(dtype=kind).dtype for name, kind in schema.items()
    }


@pytest.fixture
def aio() -> Iterator[AsyncClient]:
    with Client(ClientConfig(url="http://127.0.0.1:9", app_id="A")) as client:
        yield client.aio


def test_an_invalid_name_of_a_crawler_is_refused_before_it_is_sent(aio: AsyncClient) -> None:
    wrong: Any = [3]
    with pytest.raises(BadInput, match="must be the name or the id of a crawler"):
        background_loop.run(frames.read_crawler_urls(aio, wrong))

"""The limits of what a page loads hold for requests that are made at one time."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

from svc_notebook.service.crawl.rendering.page_requests import (
    MAX_PAGE_TOTAL_BYTES,
    PageRequests,
    ScriptCache,
)
from svc_notebook.service.crawl.transport.fetcher import FetchResponse

URL = "https://shop.example/"


def test_the_limit_of_a_request_is_not_negative_because_of_another_at_the_same_time() -> None:
    limits: list[int] = []

    async def load(request: Any, *, limit: int) -> FetchResponse:
        limits.append(limit)
        return FetchResponse(request.url, 200, {}, b"x" * MAX_PAGE_TOTAL_BYTES)

    async def read_cookies(url: str) -> list[Any]:
        if url.endswith("slow"):
            await asyncio.sleep(0.05)  # meanwhile the other request loads all that a page may load
        return []

    page: Any = SimpleNamespace(context=SimpleNamespace(cookies=read_cookies))
    fetcher: Any = SimpleNamespace(load=load)
    rendering: Any = SimpleNamespace(blocks_ads=False)
    requests = PageRequests(page, None, URL, (fetcher, ScriptCache()), rendering)

    async def load_both() -> None:
        await asyncio.gather(*(requests._answer(make_request(path)) for path in ("slow", "fast")))

    asyncio.run(load_both())

    assert len(limits) == 2
    assert min(limits) > 0, limits


def make_request(path: str) -> Any:
    return SimpleNamespace(
        url=URL + path, method="GET", resource_type="script", headers={}, post_data_buffer=None,
        is_navigation_request=lambda: False,
    )  # fmt: skip

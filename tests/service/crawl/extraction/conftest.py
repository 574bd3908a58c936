from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import pytest

from svc_notebook.service.crawl.extraction import Document, Extractors, FetchedPage

Read = Callable[..., Document]
Run = Callable[..., Any]


@pytest.fixture(scope="session")
def extractors() -> Iterator[Extractors]:
    """One engine for all: it has to stand whatever the tests do to it."""
    with Extractors(seconds=20, processes=1) as extractors:
        yield extractors


@pytest.fixture(scope="session")
def read(extractors: Extractors) -> Read:
    """Read HTML, or a file of another type, in the engine's process."""

    def read(
        body: str | bytes,
        content_type: str = "text/html; charset=utf-8",
        url: str = "https://shop.test/lamps/desk?page=2#top",
        **headers: str,
    ) -> Document:
        data = body.encode() if isinstance(body, str) else body
        return extractors.read(FetchedPage(url, data, content_type, headers))

    return read


@pytest.fixture(scope="session")
def run(extractors: Extractors, read: Read) -> Run:
    """Return what an expression over `$`, `url`, `helpers` comes to on a page."""
    read = lru_cache(read)

    def run(expression: str, html: str = "", **sources: Any) -> Any:
        source = (
            "({ $, url, helpers, dataSources, fileType, contentLength }) =>"
            f" [{{ value: {expression} }}]"
        )
        extraction = extractors.extract(read(html), source, sources=sources)
        assert extraction.error is None, extraction.error
        return extraction.records[0].get("value")

    return run

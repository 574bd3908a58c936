"""Lists of several pages are read to their end; a repeated page ends in an error."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from svc_notebook.data.client.operations import every_entry
from svc_notebook.errors import UnexpectedAnswer


def read(pages: list[dict[str, Any]], **told: Any) -> tuple[list[Any], int]:
    """Read all entries of a service whose last page comes again and again; returns the calls."""
    asked: list[int] = []

    async def fetch(number: int) -> dict[str, Any]:
        asked.append(number)
        return pages[min(len(asked), len(pages)) - 1]

    return asyncio.run(every_entry(fetch, "hits", **told)), len(asked)


def test_pages_are_read_to_the_number_told() -> None:
    pages = [{"hits": [1, 2], "nbHits": 3}, {"hits": [3], "nbHits": 3}]

    assert read(pages) == ([1, 2, 3], 2)


def test_pages_without_a_number_are_read_to_an_empty_one() -> None:
    assert read([{"hits": [1]}, {"hits": [2]}, {"hits": []}]) == ([1, 2], 3)


@pytest.mark.parametrize(
    "pages",
    [
        [{"hits": [{"objectID": "1"}]}],
        [{"hits": [1]}, {"hits": [2]}, {"hits": [1]}],
        [{"hits": [1], "nbHits": 10**9}],
    ],
)
def test_a_page_that_comes_again_ends_the_reading(pages: list[dict[str, Any]]) -> None:
    with pytest.raises(UnexpectedAnswer, match="earlier page"):
        read(pages)

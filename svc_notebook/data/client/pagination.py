"""Iteration over the pages of a list until its total or an empty page is reached."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from hashlib import blake2b
from typing import Any

import msgspec

from svc_notebook.errors import UnexpectedAnswer

DIGEST_BYTES = 16


class Seen:
    """Digests of values already seen, which detect a service that repeats pages."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def note(self, value: Any) -> bool:
        """Store a value and return whether it is new."""
        digest = blake2b(msgspec.json.encode(value), digest_size=DIGEST_BYTES).digest()
        is_repeated = digest in self._digests
        self._digests.add(digest)
        return not is_repeated


async def each_page(
    fetch: Callable[[int], Awaitable[Any]],
    member: str,
    *,
    total: str = "nbHits",
    first: int = 0,
) -> AsyncIterator[list[Any]]:
    """Yield the list `member` of each page, until `total` entries or an empty page.

    Raises `UnexpectedAnswer` for a repeated page, because the service then ignores page numbers.
    """
    seen, read = Seen(), 0
    for number in itertools.count(first):
        answer = await fetch(number)
        page = answer[member]
        if not page:
            return
        if not seen.note(page):
            endpoint = getattr(answer, "endpoint", "")
            raise UnexpectedAnswer(
                f"{endpoint}: page {number} repeats an earlier page after {read:,} entries, so the "
                "list would not end; check that the address is a search service of this API",
                endpoint=endpoint,
            )
        yield page
        read += len(page)
        if read >= answer.get(total, float("inf")):
            return


async def every_entry(
    fetch: Callable[[int], Awaitable[Any]],
    member: str,
    *,
    total: str = "nbHits",
    first: int = 0,
) -> list[Any]:
    """Read all pages into one list; see `each_page`."""
    pages = each_page(fetch, member, total=total, first=first)
    return [entry async for page in pages for entry in page]

"""The interface of the store in which a crawl keeps its known URLs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from svc_notebook.service.crawl.outcomes import Remembered, VisitOutcome

Kind = Literal["page", "sitemap"]


@dataclass(frozen=True)
class PendingUrl:
    """A URL to visit; `depth` is the number of links from a start URL.

    A seed comes from the configuration or a sitemap and may be deeper than `maxDepth`. `hops` is
    the number of consecutive redirects to it; `referrer` is the URL that named it first.
    """

    url: str
    depth: int = 0
    kind: Kind = "page"
    seed: bool = False
    hops: int = 0
    referrer: str | None = None


class UrlLedger(Protocol):
    """The URLs of one crawl: each is either waiting or settled for good.

    A URL is identified by its text alone; a sitemap and a page never have the same URL.
    """

    def waiting(self, n: int) -> list[PendingUrl]:
        """Return the first `n` unsettled URLs, by depth, then in insertion order."""
        ...

    def add(self, new_urls: Iterable[PendingUrl], *, limit: int | None = None) -> None:
        """Queue unknown URLs while fewer than `limit` pages are known."""
        ...

    def settle(
        self,
        outcomes: Sequence[VisitOutcome],
        new_urls: Iterable[PendingUrl],
        *,
        limit: int | None = None,
    ) -> None:
        """Store outcomes with their records, and queue the URLs they found, atomically.

        A settled URL is not changed.
        """
        ...

    def remembered(self, url: str) -> Remembered | None:
        """Return what the last whole crawl kept for revalidating a URL, None if nothing."""
        ...

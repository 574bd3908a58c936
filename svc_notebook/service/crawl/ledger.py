"""The interface of the store in which a crawl keeps its known URLs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from svc_notebook.service.crawl.outcomes import Remembered, VisitOutcome

Kind = Literal["page", "sitemap"]


@dataclass(frozen=True)
class Waiting:
    """A URL to visit; `depth` counts the links from a start to it.

    A seed was named by the configuration or a sitemap: it is visited whatever it matches. `hops`
    counts the URLs that led on to it, one after another; `referrer` is the URL that named it first.
    """

    url: str
    depth: int = 0
    kind: Kind = "page"
    seed: bool = False
    hops: int = 0
    referrer: str | None = None


class UrlLedger(Protocol):
    """The URLs of one crawl: each is waiting, or settled once and for all.

    A URL is known by its text alone; a sitemap and a page are never the same URL.
    """

    def waiting(self, n: int) -> list[Waiting]:
        """Return the first `n` unsettled URLs, by depth, then in the order they came."""
        ...

    def add(self, found: Iterable[Waiting], *, limit: int | None = None) -> None:
        """Queue those that are unknown, as long as fewer than `limit` pages are known."""
        ...

    def settle(
        self,
        outcomes: Sequence[VisitOutcome],
        found: Iterable[Waiting],
        *,
        limit: int | None = None,
    ) -> None:
        """Keep how visits ended with their records, and queue what they found: all or nothing.

        A URL that is settled already stays as it is.
        """
        ...

    def remembered(self, url: str) -> Remembered | None:
        """Return what the last whole crawl kept of a URL, if it had anything to remember."""
        ...

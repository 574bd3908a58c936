"""How the visit of one URL ended, and in which words it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["DONE", "SKIPPED", "FAILED"]
Category = Literal["fetch", "extraction", "indexing", "success"]


@dataclass(frozen=True)
class Yielded:
    """What one action made of a page; `action` is its place in the configuration."""

    action: int
    index: str  # the full name: indexPrefix + indexName
    records: list[dict[str, Any]] = field(default_factory=list)
    logs: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Remembered:
    """What an earlier crawl kept of a URL, so that a page that did not change is not read again.

    `fingerprint` stands for all that shapes the records besides the page itself.
    """

    etag: str | None
    modified: str | None
    fingerprint: str
    found: tuple[str, ...] = ()
    yielded: tuple[Yielded, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How the visit of one URL ended.

    `found` are the URLs to visit next, `remember` is what the next crawl wants to know.
    """

    url: str
    depth: int
    status: Status
    category: Category
    reason: str
    readable: str
    yielded: tuple[Yielded, ...] = ()
    found: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()  # further sitemaps, where the URL was one
    logs: tuple[str, ...] = ()
    remember: Remembered | None = None
    external: Mapping[str, Any] = field(default_factory=dict)  # the page's `dataSources`

    @property
    def records(self) -> dict[str, list[dict[str, Any]]]:
        """The records to keep, by the full name of their index: none of a page that failed.

        `yielded` shows what its extractors made all the same.
        """
        if self.status != "DONE":
            return {}
        by_index: dict[str, list[dict[str, Any]]] = {}
        for yielded in self.yielded:
            by_index.setdefault(yielded.index, []).extend(yielded.records)
        return by_index

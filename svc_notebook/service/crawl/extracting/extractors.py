"""Extractor functions, run in a process of their own that may fail without harm."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from svc_notebook.service.crawl.extracting.document import Document


@dataclass(frozen=True)
class Extraction:
    """What an extractor made of a page; `error` is why there is nothing."""

    records: list[dict[str, Any]] = field(default_factory=list)
    logs: list[str] = field(default_factory=list)
    error: str | None = None


class Extractors:
    """One isolated engine, reused over pages, replaced when it runs out of time or memory."""

    def __init__(self, *, seconds: float = 30, memory: int = 256 << 20) -> None:
        self.seconds = seconds
        self.memory = memory

    def check(self, source: str) -> None:
        """Refuse a source that is no function, with the line and column; raises BadInput."""
        raise NotImplementedError

    def extract(
        self, document: Document, source: str, *, sources: Mapping[str, Any] | None = None
    ) -> Extraction:
        """Run a `recordExtractor` over a document; what goes wrong there is `error`."""
        raise NotImplementedError

    def links(self, document: Document, source: str) -> list[str]:
        """Run a `linkExtractor` over a document."""
        raise NotImplementedError

    def close(self) -> None:
        """End the engine's process."""

"""Bring pages over HTTP: politely, within limits, and from public addresses only."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from svc_notebook.service.crawl.configuration import Configuration


class Fetcher:
    """The connections of one crawl; `async with` opens and closes them."""

    def __init__(self, configuration: Configuration, *, allow_private: bool = False) -> None:
        self._configuration = configuration
        self._allow_private = allow_private

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""

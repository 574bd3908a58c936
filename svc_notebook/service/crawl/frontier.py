"""Crawl: visit what waits in a ledger until nothing does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from svc_notebook.service.crawl.configuration import Configuration
from svc_notebook.service.crawl.fetcher import Fetcher
from svc_notebook.service.crawl.ledger import Ledger

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extracting.extractors import Extractors


async def crawl(
    configuration: Configuration,
    ledger: Ledger,
    *,
    fetcher: Fetcher,
    extractors: Extractors,
    stopped: asyncio.Event,
    whole: bool = True,
) -> None:
    """Visit all that waits; a whole crawl begins with the configuration's own URLs.

    Without `whole` only what is in the ledger is visited, and no link is followed. It may be
    killed at any moment and called again on the same ledger.
    """
    raise NotImplementedError

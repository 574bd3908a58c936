"""Visit one URL: fetch it, read it, extract records, gather what it links to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svc_notebook.service.crawl.configuration import Configuration
from svc_notebook.service.crawl.fetcher import Fetcher
from svc_notebook.service.crawl.ledger import Waiting
from svc_notebook.service.crawl.outcome import Outcome, Remembered

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extracting.extractors import Extractors


async def visit(
    configuration: Configuration,
    waiting: Waiting,
    *,
    fetcher: Fetcher,
    extractors: Extractors,
    remembered: Remembered | None = None,
) -> Outcome:
    """Visit one URL; whatever goes wrong on the way is told by the outcome."""
    raise NotImplementedError

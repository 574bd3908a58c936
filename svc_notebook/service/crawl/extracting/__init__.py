"""From a page to records: documents of many kinds, and JavaScript that reads them in isolation."""

from __future__ import annotations

from svc_notebook.service.crawl.extracting.document import Document, read_document
from svc_notebook.service.crawl.extracting.extractors import Extraction, Extractors
from svc_notebook.service.crawl.extracting.links import Link
from svc_notebook.service.crawl.extracting.page import (
    Page,
    Unreadable,
    file_type,
    sniff_media_type,
)

__all__ = [
    "Document",
    "Extraction",
    "Extractors",
    "Link",
    "Page",
    "Unreadable",
    "file_type",
    "read_document",
    "sniff_media_type",
]

"""Extract records from pages: document parsers and sandboxed JavaScript extractors."""

from __future__ import annotations

from svc_notebook.service.crawl.extraction.document import Document, Link, read_document
from svc_notebook.service.crawl.extraction.extractors import Extraction, Extractors
from svc_notebook.service.crawl.extraction.page import (
    FetchedPage,
    Unreadable,
    file_type,
    sniff_media_type,
)

__all__ = [
    "Document",
    "Extraction",
    "Extractors",
    "FetchedPage",
    "Link",
    "Unreadable",
    "file_type",
    "read_document",
    "sniff_media_type",
]

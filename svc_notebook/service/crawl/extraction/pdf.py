"""Extract the text of PDF files, page by page."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from svc_notebook.service.crawl.extraction.internal_errors import own_place
from svc_notebook.service.crawl.extraction.markup import paragraph, write_page
from svc_notebook.service.crawl.extraction.page import Unreadable

if TYPE_CHECKING:
    from pypdf import PdfReader

MAX_PAGES = 5000
# A blank line, or the end of a sentence before a line that begins a new one.
BREAK = re.compile(r"\n\s*\n|(?<=[.!?:])\n(?=\s*[A-Z0-9•])")
HYPHENATED = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
FIELDS = {"author": "author", "subject": "description", "keywords": "keywords"}


def read_pdf(body: bytes) -> str:
    """Convert a PDF file to HTML with a `div.page` of paragraphs per page; raises `Unreadable`."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it is protected by a password", reason="protected")
        return write_pdf(reader)
    except (Unreadable, MemoryError):
        raise
    except (PyPdfError, Exception) as error:  # pypdf raises any exception for broken files
        if own_place(error):
            raise
        text = f"it is no PDF file that can be read: {error}"
        raise Unreadable(text, reason="broken_file") from error


def write_pdf(reader: PdfReader) -> str:
    """Convert the pages of an opened PDF file to HTML."""
    about = {key.lower().lstrip("/"): str(value) for key, value in (reader.metadata or {}).items()}
    said = {FIELDS[name]: about[name] for name in FIELDS if name in about}
    return write_page(pages(reader), title=about.get("title", ""), said=said)


def pages(reader: PdfReader) -> Iterator[str]:
    """Yield the paragraphs of each page."""
    for number, page in enumerate(reader.pages):
        if number == MAX_PAGES:
            raise Unreadable(f"it has more than {MAX_PAGES} pages", reason="too_large")
        text = HYPHENATED.sub("", page.extract_text())
        yield f'<div class="page">{"".join(map(paragraph, BREAK.split(text)))}</div>'

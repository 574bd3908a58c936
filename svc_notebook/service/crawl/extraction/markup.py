"""Generate HTML for files that are not HTML, so that extractors read them as any other page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from svc_notebook.service.crawl.extraction.page import Unreadable

# No real document has more text: the file is a decompression bomb.
MAX_TEXT_CHARACTERS = 64 << 20


def write_page(
    blocks: Iterable[str], *, title: str = "", meta: Mapping[str, str] | None = None
) -> str:
    """Write an HTML page of blocks; raises `Unreadable` if it grows too large."""
    tags = [
        f'<meta name="{escape(name)}" content="{escape(value)}">'
        for name, value in (meta or {}).items()
        if value
    ]
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title>{"".join(tags)}</head>'
    return f"<!DOCTYPE html><html>{head}<body>{''.join(limited(blocks))}</body></html>"


def limited(blocks: Iterable[str]) -> Iterable[str]:
    """Yield blocks up to the total size limit."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > MAX_TEXT_CHARACTERS:
            raise Unreadable(
                f"it contains more than {MAX_TEXT_CHARACTERS >> 20} MB of text", reason="too_large"
            )
        yield block


def paragraph(text: str, name: str = "p") -> str:
    """Write a text as an element, empty if the text is blank."""
    text = " ".join(text.split())
    return f"<{name}>{escape(text)}</{name}>" if text else ""


def table(rows: Iterable[Iterable[str]]) -> str:
    """Write rows of texts as a table, empty without rows."""
    written = [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    ]
    return f"<table>{''.join(written)}</table>" if written else ""

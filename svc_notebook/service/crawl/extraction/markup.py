"""Generate HTML for files that are not HTML, so that extractors read them as any other page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from svc_notebook.service.crawl.extraction.page import Unreadable

# More text than that nobody wrote: the file was made to be large.
MAX_TEXT_CHARACTERS = 64 << 20


def write_page(
    blocks: Iterable[str], *, title: str = "", said: Mapping[str, str] | None = None
) -> str:
    """Write a page of blocks in HTML; raises Unreadable when it grows too large."""
    meta = [
        f'<meta name="{escape(name)}" content="{escape(value)}">'
        for name, value in (said or {}).items()
        if value
    ]
    head = f'<head><meta charset="utf-8"><title>{escape(title)}</title>{"".join(meta)}</head>'
    return f"<!DOCTYPE html><html>{head}<body>{''.join(limited(blocks))}</body></html>"


def limited(blocks: Iterable[str]) -> Iterable[str]:
    """Pass blocks on as long as they are not too much together."""
    size = 0
    for block in blocks:
        size += len(block)
        if size > MAX_TEXT_CHARACTERS:
            raise Unreadable(
                f"it holds more than {MAX_TEXT_CHARACTERS >> 20} MB of text", reason="too_large"
            )
        yield block


def paragraph(text: str, name: str = "p") -> str:
    """Write a text as an element, or nothing where there is none."""
    text = " ".join(text.split())
    return f"<{name}>{escape(text)}</{name}>" if text else ""


def table(rows: Iterable[Iterable[str]]) -> str:
    """Write rows of texts as a table, or nothing where there are none."""
    written = [
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    ]
    return f"<table>{''.join(written)}</table>" if written else ""

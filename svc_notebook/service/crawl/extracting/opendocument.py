"""OpenDocument files as pages: texts, spreadsheets and presentations alike."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from xml.etree.ElementTree import Element

from svc_notebook.service.crawl.extracting.archive import Archive
from svc_notebook.service.crawl.extracting.markup import paragraph, table

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
LINK = "{http://www.w3.org/1999/xlink}"

# A cell that says it is repeated a million times is there to be empty.
MOST_REPEATED = 100


def read_open(archive: Archive) -> Iterator[str]:
    """Yield what an OpenDocument file holds, whichever of its kinds it is."""
    tree = archive.tree("content.xml")
    yield from open_blocks(tree) if tree is not None else ()


def open_blocks(part: Element) -> Iterator[str]:
    """Yield headings, paragraphs, tables and slides below an element."""
    for child in part:
        if child.tag == f"{TEXT}h":
            level = child.get(f"{TEXT}outline-level", "1")
            yield open_paragraph(child, f"h{level if level in '123456' else 6}")
        elif child.tag == f"{TEXT}p":
            yield open_paragraph(child, "p")
        elif child.tag == f"{TABLE}table":
            yield paragraph(child.get(f"{TABLE}name", ""), "h2") + table(open_rows(child))
        elif child.tag == f"{DRAW}page":
            yield f'<div class="page">{"".join(open_blocks(child))}</div>'
        else:
            yield from open_blocks(child)


def open_paragraph(part: Element, name: str) -> str:
    """Write a paragraph, and what stands in frames within it after it."""
    inner = open_inline(part).strip()
    # Frames with texts of their own stand within paragraphs.
    framed = "".join(open_blocks(part))
    return (f"<{name}>{inner}</{name}>" if inner else "") + framed


def open_inline(part: Element) -> str:
    """Write the text of a paragraph with its links."""
    text = escape(part.text or "")
    for child in part:
        if child.tag == f"{TEXT}a":
            text += f'<a href="{escape(child.get(f"{LINK}href", ""))}">{open_inline(child)}</a>'
        elif child.tag in (f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break"):
            text += " "
        elif child.tag.startswith(TEXT) and child.tag not in (f"{TEXT}p", f"{TEXT}h"):
            text += open_inline(child)
        text += escape(child.tail or "")
    return text


def open_rows(part: Element) -> Iterator[list[str]]:
    """Yield the rows of a table that say anything."""
    for row in part.iter(f"{TABLE}table-row"):
        cells: list[str] = []
        for cell in row:
            repeated = cell.get(f"{TABLE}number-columns-repeated", "1")
            text = " ".join(" ".join(cell.itertext()).split())
            cells += [text] * min(int(repeated) if repeated.isdigit() else 1, MOST_REPEATED)
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells

"""Convert Word, Excel and PowerPoint files to pages: texts, tables and slides."""

from __future__ import annotations

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from html import escape
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from svc_notebook.service.crawl.extraction.page import Unreadable, paragraph, table, write_page

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
LINK = "{http://www.w3.org/1999/xlink}"

# Cells with very high repeat counts are empty padding.
MAX_REPEATED_CELLS = 100

# The uncompressed size of one member, and of all members that are read.
MAX_MEMBER_BYTES = 64 << 20
MAX_ARCHIVE_BYTES = 256 << 20
MAX_XML_DEPTH = 500
# The errors that Python's zip reader raises for broken archives.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError),
    *(KeyError, OSError, RuntimeError, ValueError),
)


def read_open(archive: Archive) -> Iterator[str]:
    """Yield the blocks of an OpenDocument file of any kind."""
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
    """Write a paragraph, followed by the contents of its frames."""
    inner = open_inline(part).strip()
    # Frames with texts are nested in paragraphs.
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
    """Yield the non-empty rows of a table."""
    for row in part.iter(f"{TABLE}table-row"):
        cells: list[str] = []
        for cell in row:
            repeated = cell.get(f"{TABLE}number-columns-repeated", "1")
            text = " ".join(" ".join(cell.itertext()).split())
            cells += [text] * min(int(repeated) if repeated.isdigit() else 1, MAX_REPEATED_CELLS)
        while cells and not cells[-1]:
            cells.pop()
        if cells:
            yield cells


OLD_FORMAT_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
DUBLIN = "{http://purl.org/dc/elements/1.1/}"

SHAPES = (f"{SLIDE}sp", f"{DRAWING}tbl")
HEADING = re.compile(r"(?:heading|überschrift|titre)\s*([1-6])\Z", re.IGNORECASE)


def read_office(body: bytes) -> str:
    """Convert an office file to HTML; raises `Unreadable` if it is old, broken or unknown."""
    if body.startswith(OLD_FORMAT_SIGNATURE):
        text = "it is of Office's old binary format: save it as .docx, .xlsx or .pptx"
        raise Unreadable(text, reason="unsupported_file_format")
    archive = Archive(body)
    for part, read in READERS.items():
        if part in archive.names:
            return write_page(read(archive), title=title_of(archive))
    raise Unreadable("it is an unknown kind of office file", reason="unsupported_file_format")


def title_of(archive: Archive) -> str:
    """Return the title from the metadata of any kind of office file."""
    for part in ("docProps/core.xml", "meta.xml"):
        tree = archive.tree(part)
        title = tree.find(f".//{DUBLIN}title") if tree is not None else None
        if title is not None and title.text:
            return title.text.strip()
    return ""


def read_word(archive: Archive) -> Iterator[str]:
    """Yield a Word file's headings, paragraphs and tables."""
    tree = archive.tree("word/document.xml")
    relations = read_relations(archive, "word/_rels/document.xml.rels")
    body = tree.find(f"{WORD}body") if tree is not None else None
    for block in body if body is not None else ():
        if block.tag == f"{WORD}tbl":
            yield table(
                [
                    [text_of(cell, WORD) for cell in row.iter(f"{WORD}tc")]
                    for row in block.iter(f"{WORD}tr")
                ]
            )
        else:
            yield from (word_paragraph(part, relations) for part in block.iter(f"{WORD}p"))


def word_paragraph(part: Element, relations: dict[str, str]) -> str:
    """Write one paragraph or heading, by its style, with its links."""
    style = part.find(f"{WORD}pPr/{WORD}pStyle")
    named = (style.get(f"{WORD}val") or "") if style is not None else ""
    level = HEADING.match(named)
    name = f"h{level[1]}" if level else "h1" if named.lower() == "title" else "p"
    inner = "".join(word_run(child, relations) for child in part).strip()
    return f"<{name}>{inner}</{name}>" if inner else ""


def word_run(part: Element, relations: dict[str, str]) -> str:
    """Write a part of a paragraph."""
    text = escape(text_of(part, WORD))
    address = (
        relations.get(part.get(f"{RELATION}id", "")) if part.tag == f"{WORD}hyperlink" else None
    )
    return f'<a href="{escape(address)}">{text}</a>' if address else text


def text_of(part: Element, space: str) -> str:
    """Return the text below an element of an Office file."""
    signs = {f"{space}tab": "\t", f"{space}br": "\n", f"{space}cr": "\n", f"{space}p": " "}
    texts = [
        node.text or "" if node.tag == f"{space}t" else signs.get(node.tag, "")
        for node in part.iter()
    ]
    return "".join(texts).strip(" ") if part.tag == f"{space}tc" else "".join(texts)


def read_relations(archive: Archive, name: str) -> dict[str, str]:
    """Return the targets of a part's relationship ids."""
    tree = archive.tree(name)
    return {part.get("Id", ""): part.get("Target", "") for part in tree} if tree is not None else {}


def read_slides(archive: Archive) -> Iterator[str]:
    """Yield a PowerPoint file's slides, each a `div.page`."""
    matches = [re.fullmatch(r"ppt/slides/slide(\d+)\.xml", name) for name in archive.names]
    for slide in sorted(filter(None, matches), key=lambda match: int(match[1])):
        tree = archive.tree(slide[0])
        shapes = [part for part in tree.iter() if part.tag in SHAPES] if tree is not None else []
        yield f'<div class="page">{"".join(slide_shape(shape) for shape in shapes)}</div>'


def slide_shape(shape: Element) -> str:
    """Write the lines of one shape of a slide."""
    placeholder = shape.find(f"{SLIDE}nvSpPr/{SLIDE}nvPr/{SLIDE}ph")
    name = (
        "h2"
        if placeholder is not None and placeholder.get("type") in ("title", "ctrTitle")
        else "p"
    )
    lines = [text_of(line, DRAWING) for line in shape.iter(f"{DRAWING}p")]
    return "".join(paragraph(line, name) for line in lines)


def read_sheets(archive: Archive) -> Iterator[str]:
    """Yield an Excel file's sheets, each a heading and a table."""
    book = archive.tree("xl/workbook.xml")
    targets = read_relations(archive, "xl/_rels/workbook.xml.rels")
    strings = archive.tree("xl/sharedStrings.xml")
    shared = [text_of(item, SHEET) for item in strings] if strings is not None else []
    for sheet in book.iter(f"{SHEET}sheet") if book is not None else ():
        target = targets.get(sheet.get(f"{RELATION}id", ""), "")
        tree = archive.tree(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
        if tree is not None:
            yield paragraph(sheet.get("name", ""), "h2")
            yield table(sheet_rows(tree, shared))


def sheet_rows(tree: Element, shared: list[str]) -> Iterator[list[str]]:
    """Yield the non-empty rows of a sheet."""
    for row in tree.iter(f"{SHEET}row"):
        cells = [cell_text(cell, shared) for cell in row.iter(f"{SHEET}c")]
        if any(cells):
            yield cells


def cell_text(cell: Element, shared: list[str]) -> str:
    """Return the text of a cell, or its raw value."""
    value = cell.findtext(f"{SHEET}v") or ""
    if cell.get("t") == "s":
        return shared[int(value)] if value.isdigit() and int(value) < len(shared) else ""
    return text_of(cell, SHEET) if cell.get("t") == "inlineStr" else value


# By the member that identifies the file type.
READERS: dict[str, Callable[[Archive], Iterator[str]]] = {
    "word/document.xml": read_word,
    "xl/workbook.xml": read_sheets,
    "ppt/presentation.xml": read_slides,
    "content.xml": read_open,
}


class Archive:
    """A zip file whose members are read one by one."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except BROKEN as error:
            raise Unreadable(f"it is broken: {error}", reason="broken_file") from error
        self.names = frozenset(self._zip.namelist())
        self._left = MAX_ARCHIVE_BYTES

    def read(self, name: str) -> bytes:
        """Decompress one member; raises `Unreadable` if it is broken or too large."""
        most = min(MAX_MEMBER_BYTES, self._left)
        try:
            with self._zip.open(name) as part:
                data = part.read(most + 1)
        except BROKEN as error:
            raise Unreadable(
                f"its member {name} is broken: {error}", reason="broken_file"
            ) from error
        if len(data) > most:
            raise Unreadable("it is too large when decompressed", reason="too_large")
        self._left -= len(data)
        return data

    def tree(self, name: str) -> Element | None:
        """Parse one member as XML; None if it does not exist."""
        return parse_xml(self.read(name)) if name in self.names else None


def parse_xml(data: bytes) -> Element:
    """Parse XML without a DOCTYPE, with names as `{namespace}name`; raises `Unreadable`."""
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_XML_DEPTH:
            raise Unreadable("its XML is nested too deeply", reason="too_large")
        builder.start(braced(name), {braced(key): value for key, value in attributes.items()})

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(braced(name))

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.buffer_text = True
    try:
        parser.Parse(data, True)
        return builder.close()
    except (expat.ExpatError, AssertionError, ValueError) as error:
        raise Unreadable(f"its XML is broken: {error}", reason="broken_file") from error


def braced(name: str) -> str:
    """Return a name in ElementTree's form."""
    return "{" + name if "}" in name else name


def refuse(*_: object) -> None:
    """Raise for a DOCTYPE declaration: office files have none, and entities allow XML bombs."""
    raise Unreadable("its XML declares a document type", reason="broken_file")

"""Tables of HTML pages and of spreadsheets in XML, as delimited text whose types are inferred."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_file import open_delimited
from svc_notebook.data.loading.sources.csv_lines import show_lines
from svc_notebook.data.loading.sources.encoding import fresh, sniff_encoding
from svc_notebook.data.loading.sources.read_limits import CELL_BYTES, ReadingBudget
from svc_notebook.data.loading.table import SourceTable
from svc_notebook.data.loading.text_cells.header_names import join_columns, pad_rows
from svc_notebook.data.loading.text_cells.header_score import is_header
from svc_notebook.errors import BadInput

SPREADSHEET_SPACE = "urn:schemas-microsoft-com:office:spreadsheet"
MAX_SPAN = 1000
ADVICE = "its cells span too many columns and rows; save the table as .csv, and load that"
CHARSET = re.compile(rb"<meta[^>]{1,200}charset", re.I)
# Stands before a superscript; one after a digit would change the number: `12.5` with a note 1.
RAISED = "\ue000"
EXPONENT = re.compile(rf"(?<=\d){RAISED}(?=[-+\u2212]?\d)")
SECTIONS = ("thead", "tbody", "tfoot")
CHARSET_BYTES = 4096
Rows = list[list[str]]


def import_lxml(name: str) -> Any:
    """Import the XML library; raises `BadInput` with the command that installs it."""
    try:
        from lxml import etree
    except ImportError as error:
        raise BadInput(
            f'{name} is XML or HTML, which needs lxml: pip install "svc-notebook[formats]"'
        ) from error
    return etree


def open_html(paths: Sequence[Path], name: str, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of the largest table of an HTML page, or of the one that `path` numbers."""
    if len(paths) > 1:
        raise BadInput(f"{name} are several pages; load each separately")
    etree = import_lxml(name)
    read_tables = _read_tables(paths[0], etree, ReadingBudget.of_files(paths, name, ADVICE))
    tables = [table for table in read_tables if len(table.rows) > 1]
    if not tables:
        raise BadInput(
            f"{name} is an HTML page without a table, which is not read; a crawler reads the texts "
            "of pages"
        )
    number = _choose([table.rows for table in tables], name, options.path)
    table = open_table(tables[number].rows, name, options, db)
    notes = []
    if len(tables) > 1:
        which, other = f"table {number + 1} of {len(tables)}", "1" if number else "2"
        notes.append(f"{which} of the page is read; path={other!r} loads another")
    if titles := tables[number].titles:
        notes.append(f"the title of the table left out: {show_lines(titles)}")
    return replace(table, notes=(*notes, *table.notes))


def open_table(rows: Rows, name: str, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of rows of texts, the first of which has the names of the columns."""
    names, *others = pad_rows(rows)
    target = fresh(db.folder, "table.csv")
    with target.open("w", encoding="utf-8", newline="") as sink:
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(text or f"column{number}" for number, text in enumerate(names))
        writer.writerows(others)
    settings = replace(
        options, separator=",", quote='"', header=True, skip=0, encoding="utf-8", path=None
    )
    return open_delimited([target], name, settings, db)


def is_spreadsheet(path: Path, etree: Any) -> bool:
    """Return whether an XML file is a workbook of Excel 2003."""
    with path.open("rb") as file:
        events = etree.iterparse(file, events=("start",), resolve_entities=False, no_network=True)
        _, root = next(iter(events))
        return bool(root.tag == f"{{{SPREADSHEET_SPACE}}}Workbook")


def read_spreadsheet(path: Path, etree: Any) -> Rows:
    """Return the rows of the first sheet of a workbook of Excel 2003 in XML."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    space = {"s": SPREADSHEET_SPACE}
    root = etree.parse(str(path), parser).getroot()
    rows: Rows = []
    for row in root.findall("s:Worksheet", space)[0].iterfind("s:Table/s:Row", space):
        cells: list[str] = []
        for cell in row.iterfind("s:Cell", space):
            index = cell.get(f"{{{SPREADSHEET_SPACE}}}Index")
            if index and index.isdigit():
                cells += [""] * (min(int(index), MAX_SPAN) - 1 - len(cells))
            data = cell.find("s:Data", space)
            cells.append("" if data is None else "".join(data.itertext()).strip())
        if any(cells):
            rows.append(cells)
    if len(rows) < 2:
        raise BadInput(f"{path.name} has no sheet with rows")
    return rows


def _choose(tables: Sequence[Rows], name: str, asked: str | None) -> int:
    if asked:
        if not asked.isdigit() or not 1 <= int(asked) <= len(tables):
            raise BadInput(
                f"{name} has {len(tables):,} tables with rows; `path` is the number of one, "
                f"path='1'"
            )
        return int(asked) - 1
    return max(range(len(tables)), key=lambda number: sum(map(len, tables[number])))


def _read_tables(path: Path, etree: Any, budget: ReadingBudget) -> list[_PageTable]:
    content = path.read_bytes()
    parser = etree.HTMLParser(
        encoding=_encoding_of(content), no_network=True, remove_comments=True, huge_tree=False
    )
    root = etree.fromstring(content, parser)
    if root is None:
        return []
    return [_read_table(table, budget) for table in root.iter("table")]


def _encoding_of(content: bytes) -> str | None:
    """Return the encoding of a page; None if the page names another one than UTF-8."""
    encoding = sniff_encoding(content)
    if encoding == "cp1252" and CHARSET.search(content[:CHARSET_BYTES]):
        return None
    return "utf-8" if encoding == "utf-8-sig" else encoding


@dataclass(frozen=True)
class _PageTable:
    """The rows of a table of a page, and the titles above them: rows of one cell over columns."""

    rows: Rows
    titles: Sequence[str]


def _read_table(table: Any, budget: ReadingBudget) -> _PageTable:
    """Return the texts of a table, with the names of a header of several rows joined."""
    held: dict[int, tuple[str, int]] = {}
    rows: list[tuple[bool, list[str]]] = []
    titles = 0
    # Browsers read the cells of a section without a row as one.
    for row in table.iter("tr", *SECTIONS):
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        if next(row.iterancestors("table")) is not table or (row.tag in SECTIONS and not cells):
            continue
        in_head = "thead" in (row.tag, row.getparent().tag) or all(
            cell.tag == "th" for cell in cells
        )
        texts = _spread(cells, held, is_header=in_head)
        budget.add(CELL_BYTES * len(texts))
        if any(texts):
            titles += titles == len(rows) and len(cells) == 1 < len(texts) and not held
            rows.append((in_head, texts))
    below = rows[titles:]
    if len(below) < 2 or not (below[0][0] or is_header([texts for _, texts in below])):
        return _PageTable(_join_header(rows), ())
    return _PageTable(_join_header(below), [texts[0] for _, texts in rows[:titles]])


def _join_header(rows: Sequence[tuple[bool, list[str]]]) -> Rows:
    """Return rows, those of the header as one; with each is whether it is in the header."""
    depth = next((n for n, (in_head, _) in enumerate(rows) if not in_head), len(rows))
    if depth < 2 or depth == len(rows):
        return [texts for _, texts in rows]
    header = join_columns(pad_rows([texts for _, texts in rows[:depth]]))
    return [header, *(texts for _, texts in rows[depth:])]


def _spread(
    cells: Sequence[Any], held: dict[int, tuple[str, int]], *, is_header: bool
) -> list[str]:
    """Return the texts of a row by column; cells over several rows are held for the next ones."""
    texts: list[str] = []
    waiting = list(cells)
    while waiting or len(texts) in held:
        column = len(texts)
        if column in held:
            text, rows = held.pop(column)
            if rows > 1:
                held[column] = text, rows - 1
            texts.append(text)
            continue
        cell = waiting.pop(0)
        raw = EXPONENT.sub("^", "".join(_texts_of(cell))).replace(RAISED, "")
        text = " ".join(raw.split())
        columns, rows = _span(cell, "colspan"), _span(cell, "rowspan")
        for number in range(columns):
            shown = text if number == 0 or is_header else ""
            if rows > 1:
                held[len(texts)] = shown, rows - 1
            texts.append(shown)
    return texts


def _texts_of(cell: Any) -> Iterator[str]:
    """Yield the texts of a cell, without those of scripts and styles; line breaks are blanks.

    A mark is before each superscript.
    """
    if cell.tag in ("script", "style", "template"):
        return
    if cell.tag in ("br", "p", "div", "li", "tr"):
        yield " "
    if cell.tag == "sup":
        yield RAISED
    yield cell.text or ""
    for child in cell:
        yield from _texts_of(child)
        yield child.tail or ""


def _span(cell: Any, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(max(int(value), 1), MAX_SPAN) if value.isdigit() else 1

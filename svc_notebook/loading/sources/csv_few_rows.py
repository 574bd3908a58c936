"""A delimited file of a few rows, read in Python: starting a scan takes longer than reading it.

Only what a scan reads without a doubt is read: valid UTF-8, one kind of line ends, no line end
inside a cell, quotes around whole cells, and the same number of cells in every row.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from pathlib import Path

from svc_notebook.loading.sources.csv_cells import is_well_quoted, read_cell, split_cells
from svc_notebook.loading.sources.csv_dialect import Dialect

MAX_FILE_BYTES = 1_000_000
# The cells of a column, None where a cell is empty.
Texts = list[str | None]


def read_few_rows(path: Path, dialect: Dialect, max_cells: int) -> list[Texts] | None:
    """Return the cells of each column, or None for a file that a scan must read."""
    width = len(dialect.names)
    if width < 2 or not dialect.quote or path.stat().st_size > MAX_FILE_BYTES:
        return None
    lines = _read_lines(path)
    if lines is None or (len(lines) - dialect.header) * width > max_cells:
        return None
    rows: list[Texts] = []
    for line in lines[int(dialect.header) :]:
        if not line:
            continue  # a scan of several columns skips blank lines, too
        cells = _read_row(line, dialect)
        if cells is None or len(cells) != width:
            return None
        rows.append(cells)
    return [list(column) for column in zip(*rows, strict=True)] or None


def _read_lines(path: Path) -> list[str] | None:
    """Return the lines without their ends; None if they have several kinds of ends."""
    try:
        text = path.read_bytes().removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    if "\r" in text:
        text, ends = text.replace("\r\n", "\n"), text.count("\r\n")
        if "\r" in text or text.count("\n") != ends:
            return None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _read_row(line: str, dialect: Dialect) -> Texts | None:
    """Return the cells of a row, or None if one has a quote that does not enclose all of it."""
    quote = dialect.quote
    if quote not in line:
        return [cell or None for cell in line.split(dialect.separator)]
    row: Texts = []
    for cell in split_cells(line, dialect):
        if quote not in cell:
            row.append(cell or None)
        elif cell.startswith(quote) and is_well_quoted(cell, dialect):
            row.append(read_cell(cell, dialect))
        else:
            return None
    return row

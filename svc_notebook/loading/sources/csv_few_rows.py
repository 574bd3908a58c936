"""A delimited file of a few rows, read in Python: starting a scan takes longer than reading it.

Only what a scan reads without a doubt is read: valid UTF-8, one kind of line ends, no line end
inside a cell, quotes around whole cells, and the same number of cells in every row.
"""

from __future__ import annotations

import csv
import re
from codecs import BOM_UTF8
from functools import lru_cache
from pathlib import Path

from svc_notebook.loading.sources.csv_dialect import Dialect

MAX_FILE_BYTES = 1_000_000
# The cells of a column, None where a cell is empty.
Texts = list[str | None]


def read_few_rows(path: Path, dialect: Dialect, max_cells: int) -> list[Texts] | None:
    """Return the cells of each column, or None for a file that a scan must read."""
    width = len(dialect.names)
    if width < 2 or {len(dialect.separator), len(dialect.quote)} != {1}:
        return None
    if path.stat().st_size > MAX_FILE_BYTES:
        return None
    lines = _read_lines(path)
    if lines is None or (len(lines) - dialect.header) * width > max_cells:
        return None
    # A scan of several columns skips blank lines, too.
    rows = [line for line in lines[int(dialect.header) :] if line]
    well_quoted = _row_pattern(dialect.separator, dialect.quote).fullmatch
    if not all(well_quoted(row) for row in rows if dialect.quote in row):
        return None
    reader = csv.reader(rows, delimiter=dialect.separator, quotechar=dialect.quote, strict=True)
    try:
        cells = list(reader)
    except csv.Error:  # a cell beyond the module's limit
        return None
    if any(len(row) != width for row in cells):
        return None
    return [[cell or None for cell in column] for column in zip(*cells, strict=True)] or None


@lru_cache
def _row_pattern(separator: str, quote: str) -> re.Pattern[str]:
    """Return the pattern of a row in which each cell has no quote, or is enclosed in quotes.

    A quoted cell begins and ends at a separator or at an end of the row. Each repeat ends at one
    place, so that a row that does not match is rejected in linear time.
    """
    separator, quote = re.escape(separator), re.escape(quote)
    inside = f"{quote}[^{quote}]*(?:{quote}{quote}[^{quote}]*)*{quote}"
    quoted = f"(?<![^{separator}]){inside}(?![^{separator}])"
    return re.compile(f"[^{quote}]*(?:{quoted}[^{quote}]*)*")


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

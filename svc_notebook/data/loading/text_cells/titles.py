"""Titles of tables: the lines above a header that are no rows, found by the rows below them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from svc_notebook.data.loading.text_cells.cell_kinds import YEAR
from svc_notebook.data.loading.text_cells.header_names import count_description_rows
from svc_notebook.data.loading.text_cells.header_score import WHOLE_NUMBER, is_header, score_header
from svc_notebook.data.loading.text_cells.signals import Signal

MAX_PREAMBLE_LINES, MIN_TITLED_WIDTH = 100, 2
# A cell of a row of metadata, such as `Version=2023`.
METADATA = re.compile(r"[A-Za-z][\w.-]*=[^=\s]")
# The share of the cells of a header that are filled.
FULL_SHARE = 0.8


def find_titles(rows: Sequence[tuple[int, list[str]]], width: int) -> tuple[int, list[Signal]]:
    """Return the line of a table's header or first row, and the signals for titles above it.

    `rows` are those with a value, each with its line.
    """
    texts, width = _without_empty_ends([row for _, row in rows], width)
    number, reason = _count_titles(texts, width)
    if number is None:
        return 0, []
    line = rows[number][0]
    return line, [*_rate_titles(texts[number:], width, reason)] if line else []


def _without_empty_ends(
    rows: Sequence[Sequence[str]], width: int
) -> tuple[list[Sequence[str]], int]:
    """Return rows without the last cells, if these are empty in all rows of a width, and it."""
    filled = [max((n for n, cell in enumerate(row, 1) if cell.strip()), default=0) for row in rows]
    regular = [count for row, count in zip(rows, filled, strict=True) if len(row) == width]
    most = max(regular, default=width)
    if most < MIN_TITLED_WIDTH or most == width:
        return [*rows], width
    return [row[: max(n, most if len(row) == width else 1)]
            for row, n in zip(rows, filled, strict=True)], most  # fmt: skip


def _count_titles(texts: Sequence[Sequence[str]], width: int) -> tuple[int | None, str]:
    """Return the number of first rows that are titles, and why they are if no header is below.

    Lines above are titles if they have a single cell, or are padded with separators. A line of one
    cell above rows of two can be a header without a name for the first column, and a padded one a
    row with gaps: they are titles only above a header. So are rows of another form. A row of a few
    cells with a number, such as the size of the table, names no columns.
    """
    if _has_counts(texts, width):
        return 1, "the line above counts rows or columns"
    first = texts[:MAX_PREAMBLE_LINES]
    full = next((n for n, row in enumerate(first) if _is_full(row, width)), 0)
    above_header = full > 0 and is_certain_header(texts[full:], width)
    single = True
    for number, row in enumerate(first if width > 1 else ()):
        if len(row) in (1, width) and _is_title(row) and number < len(texts) - 1:
            single = single and len(row) == 1 and width > 2
        elif above_header and number < full and (len(row) != width or _has_metadata(row)):
            single = False
        else:
            return number, "the lines above have one cell" if single else ""
    return None, ""


def _has_counts(texts: Sequence[Sequence[str]], width: int) -> bool:
    """Return whether the first row has counts: of the rows and columns, or it is narrower.

    A narrower row has a whole number.
    """
    first, others = texts[0] if texts else [], texts[1:]
    if first[:2] == [str(len(others)), str(width - 1)] and not YEAR.fullmatch(first[0]):
        return True
    return (
        1 < len(first) < width - 1
        and len(others) > 1
        and all(len(row) == width for row in others)
        and any(WHOLE_NUMBER.fullmatch(cell) and not YEAR.fullmatch(cell) for cell in first)
    )


def _rate_titles(below: Sequence[Sequence[str]], width: int, reason: str) -> Iterator[Signal]:
    """Yield the signals for titles above the first of regular rows."""
    row = below[0]
    if reason:
        yield Signal(reason, 1)
    short_header = len(row) == width - 1 and len(below) == 2
    long_header = len(row) == width + 1 and not row[-1].strip()
    if len(row) != width and not short_header and not long_header:
        yield Signal("the line below them has another number of cells", -9)
    elif not reason and is_header(_without_descriptions(below)):
        yield Signal("a header is below lines of another form", 1)


def _is_full(row: Sequence[str], width: int) -> bool:
    filled = sum(map(bool, map(str.strip, row)))
    return len(row) == width and filled >= FULL_SHARE * width and not _has_metadata(row)


def _has_metadata(row: Sequence[str]) -> bool:
    return any(map(METADATA.match, row))


def is_certain_header(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return whether signals say that the first of regular rows is a header."""
    while rows and len(rows[-1]) == 1 < width:  # remarks below the table
        rows = rows[:-1]
    regular = sum(len(row) == width for row in rows) >= FULL_SHARE * len(rows)
    if not regular or len(rows) < 2:
        return False
    rows = _without_descriptions(rows)
    if not is_header(rows):
        return False
    return sum(signal.points for signal in score_header(rows)) > 0


def _without_descriptions(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [rows[0], *rows[1 + count_description_rows(rows) :]]


def _is_title(row: Sequence[str]) -> bool:
    return sum(bool(cell.strip()) for cell in row) <= 1

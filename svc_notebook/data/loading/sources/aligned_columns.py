"""Columns of printed lines: the places at which they begin, with blanks between them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from svc_notebook.data.loading.text_cells.cell_kinds import MOMENT, NUMBER, column_kind

# The minimum gap; of columns without names, the minimum rows, and columns of numbers.
MIN_GAP, MIN_ROWS_WITHOUT_NAMES, MIN_NUMERIC_COLUMNS = 2, 5, 2


def find_name_starts(rows: Sequence[str]) -> list[int]:
    """Return the places at which columns begin: after blanks in all rows.

    One such blank is sufficient if the header, which is the first row, has several there, after a
    column of right-aligned values with digits, or if most rows have several between two cells.
    """
    blank = _find_blanks(rows)
    in_header = {
        n
        for match in re.finditer(rf" {{{MIN_GAP},}}", rows[0].ljust(len(blank)))
        for n in range(*match.span())
    }
    starts, narrow, run = [0], set(), 0
    for position, is_blank in enumerate(blank):
        if is_blank:
            run += 1
        elif run:
            certain = run >= MIN_GAP or position - 1 in in_header
            span = starts[-1], position - 1
            if certain or _is_right_aligned(rows, *span) or _are_apart(rows, *span):
                starts.append(position)
                narrow |= {position} if run < MIN_GAP else set()
            run = 0
    # All values of a column can have a blank at the same place, where no name begins.
    ends = [*starts[1:], len(blank)]
    return [
        start
        for start, end in zip(starts, ends, strict=True)
        if start not in narrow or rows[0][start:end].strip()
    ]


def _is_right_aligned(rows: Sequence[str], start: int, end: int) -> bool:
    """Return whether the cells between two places are one word each, and end at the second one."""
    header, *cells = [row[start:end] for row in rows]
    words = [cell.split() for cell in cells]
    return (
        bool(header.strip())
        and all(cell[-1:].strip() for cell in (header, *cells))
        and all(len(word) == 1 and any(map(str.isdigit, word[0])) for word in words)
    )


def _are_apart(rows: Sequence[str], start: int, end: int) -> bool:
    """Return whether rows have cells on both sides of a blank, and most of them several blanks."""
    header, *others = rows
    name = header[end + 1 :].split(" ")[0]
    spans = (start, end), (end + 1, end + 1 + len(name))
    wide = sum("  " in row[end - 1 : end + 2] for row in others)
    return 2 * wide > len(others) and all(
        row[first:last].strip() for row in rows for first, last in spans
    )


def find_value_starts(rows: Sequence[str]) -> list[int]:
    """Return the places at which columns without names begin; none if fewer than two are numbers.

    One blank is sufficient beside a column of numbers or dates.
    """
    if len(rows) < MIN_ROWS_WITHOUT_NAMES:
        return []
    blank = _find_blanks(rows)
    starts = [0, *(n for n in range(1, len(blank)) if blank[n - 1] and not blank[n])]
    numbers = [*map(_are_values, zip(*split_at(rows, starts), strict=True))]
    kept = [0, *(
        start for n, start in enumerate(starts[1:], 1)
        if numbers[n - 1] or numbers[n] or all(blank[max(start - MIN_GAP, 0) : start])
    )]  # fmt: skip
    columns = list(zip(*split_at(rows, kept), strict=True))
    complete = sum(all(column) and _are_values(column) for column in columns)
    return kept if complete >= MIN_NUMERIC_COLUMNS and all(columns[0]) else []


def _are_values(column: Sequence[str]) -> bool:
    return column_kind(column) in (NUMBER, MOMENT)


def split_at(rows: Sequence[str], starts: Sequence[int]) -> list[list[str]]:
    """Return the cells of lines, which begin at the same places."""
    ends = [*starts[1:], max(map(len, rows))]
    return [[row[start:end].strip() for start, end in zip(starts, ends, strict=True)]
            for row in rows]  # fmt: skip


def _find_blanks(rows: Sequence[str]) -> list[bool]:
    """Return for each place whether all rows have a blank there."""
    return [all(row[n : n + 1] in ("", " ") for row in rows) for n in range(max(map(len, rows)))]

"""The header of a sheet: its first row, its depth, and the names of the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.sheet_cells import (
    TEXT,
    Row,
    SheetFacts,
    count_filled,
    is_filled,
    show_row,
    texts_of,
)
from svc_notebook.data.loading.text_cells.header_names import (
    count_description_rows,
    make_unique,
    merge_header_rows,
)
from svc_notebook.data.loading.text_cells.header_score import is_header

# The maximum number of rows of a header, and of one with a cell that is merged over more rows.
MAX_HEADER_ROWS, MAX_MERGED_ROWS = 3, 8
# The cells of a row above the table that has a name and its value.
MAX_PROPERTY_CELLS = 2
# The minimum number of rows of a sheet that is read without a header.
MIN_ROWS_WITHOUT_NAMES = 3
NUMBERS = ("n", "d", "b")


@dataclass
class SheetHeader:
    """The names of the columns, the number of rows up to them, and the notes on both."""

    names: list[str]
    rows: int
    notes: list[str] = field(default_factory=list)


def find_header(
    rows: Sequence[Row], facts: SheetFacts, options: LoadSettings
) -> SheetHeader | None:
    """Find the first row that is as wide as most rows; headers with groups have several rows."""
    if not any(map(count_filled, rows)):
        return None
    skipped = _find_first_row(rows, facts) if options.skip is None else options.skip
    header = SheetHeader([], skipped, _note_above(rows[:skipped]))
    if options.header is False:
        return replace(header, names=_number_columns(rows))
    if skipped >= len(rows):
        return None
    is_asked = (options.header, options.header_rows) != (None, None)
    if is_asked or _is_named(rows, skipped, facts):
        return _name_columns(header, rows, facts, options.header_rows)
    note = "no header was found: columns are named column0, column1, …"
    return replace(header, names=_number_columns(rows), notes=[*header.notes, note])


def _note_above(rows: Sequence[Row]) -> list[str]:
    """Return a note with the rows above the table; none if they are blank."""
    above = [show_row(row) for row in rows if count_filled(row)]
    note = f"row{'s' if len(rows) > 1 else ''} above the table: not sent ({'; '.join(above)})"
    return [note] if above else []


def _number_columns(rows: Sequence[Row]) -> list[str]:
    return [f"column{number}" for number in range(max(map(len, rows)))]


def _find_first_row(rows: Sequence[Row], facts: SheetFacts) -> int:
    """Return the first row that is at least half as wide as most rows."""
    widths = [*map(count_filled, rows)]
    usual = Counter(width for width in widths if width > 1).most_common(1)
    most = usual[0][0] if usual else 1
    enough = max(2, most / 2) if usual else 1
    first = next(n for n, width in enumerate(widths) if width and width >= enough)
    return _include_groups(rows, _skip_properties(rows, widths, first, most), facts)


def _skip_properties(rows: Sequence[Row], widths: Sequence[int], first: int, usual: int) -> int:
    """Return the row of the header below rows of names and values, such as `Valid from: 2023`.

    These are narrower than the table, and a blank row is below them, or their names end in a colon.
    Those of a form have several names in a row, and the names of columns are below a blank row.
    """
    below = next((n for n in range(first, len(widths)) if widths[n] >= usual), first)
    above = [rows[n] for n in range(first, below) if widths[n]]
    named = all(next(filter(None, texts_of(row))).endswith(":") for row in above)
    follows_blank = below > 0 and not widths[below - 1]
    narrow = all(count_filled(row) <= MAX_PROPERTY_CELLS < usual for row in above)
    is_form = follows_blank and _is_table(rows[below:], len(above))
    return below if is_form or (above and narrow and (named or follows_blank)) else first


def _is_table(rows: Sequence[Row], above: int) -> bool:
    """Return whether rows have a header, and are more than those above."""
    texts = [texts_of(row) for row in rows if count_filled(row)]
    return len(texts) > above and is_header(texts)


def _is_named(rows: Sequence[Row], first: int, facts: SheetFacts) -> bool:
    """Return whether a row has the names of the columns, as the header of a text file has."""
    if any(cells[0] <= first + 1 for cells in facts.merged):
        return True
    texts = [texts_of(row) for row in rows[first:] if count_filled(row)]
    return len(texts) < MIN_ROWS_WITHOUT_NAMES or is_header(texts)


def _include_groups(rows: Sequence[Row], first: int, facts: SheetFacts) -> int:
    """Return the row of groups above a header, whose cells are merged over some of its columns."""
    width = len(rows[first])
    above = first - 1
    across = [cells for cells in _across(facts, above + 1) if cells[3] - cells[1] + 1 < width]
    is_group = above >= 0 and len(across) > 0 and count_filled(rows[above]) > 1
    return above if is_group else first


def _name_columns(
    header: SheetHeader, rows: Sequence[Row], facts: SheetFacts, depth: int | None
) -> SheetHeader:
    top = header.rows
    asked = depth is not None
    if depth is None:
        depth = _count_header_rows(rows, top, facts)
    levels = [texts_of(row) for row in rows[top : top + depth]]
    width = max(map(len, levels))
    levels = [level + [""] * (width - len(level)) for level in levels]
    groups: list[str] = []
    for number, level in enumerate(levels[:-1]):
        groups += _fill_right(level, levels[number + 1], _across(facts, top + number + 1))
    names = [" ".join(dict.fromkeys(filter(None, parts))) for parts in zip(*levels, strict=True)]
    if depth > 1 and not asked:
        shown = f", because {', '.join(f'`{name}`' for name in groups)} is over several columns"
        header.notes.append(
            f"the header has {depth} rows{shown if groups else ''}: names are joined with a blank; "
            "header_rows=1 takes the first"
        )
    if depth == 1 and not asked:
        names, depth = _name_below_descriptions(names, [*map(texts_of, rows[top:])], header.notes)
    named = [name or f"column{n}" for n, name in enumerate(names)]
    unique, changed = make_unique(named)
    return replace(header, names=unique, rows=top + depth, notes=[*header.notes, *changed])


def _name_below_descriptions(
    names: list[str], rows: Sequence[list[str]], notes: list[str]
) -> tuple[list[str], int]:
    """Return the names of columns and the rows of the header, with units below the names."""
    described = count_description_rows(rows)
    if described:
        names, more = merge_header_rows(rows[described], rows[:described])
        notes += more
    return names, described + 1


def _across(facts: SheetFacts, row: int) -> list[tuple[int, int, int, int]]:
    """Return the cells of a row that are merged over several columns."""
    return [cells for cells in facts.merged if cells[0] == row == cells[2] and cells[3] > cells[1]]


def _count_header_rows(rows: Sequence[Row], top: int, facts: SheetFacts) -> int:
    depth = 1
    most = _max_header_rows(facts, top)
    while depth < most and top + depth < len(rows) - 1:
        merged = bool(_across(facts, top + depth))
        down = any(cells[0] <= top + depth < cells[2] for cells in facts.merged if cells[0] > top)
        has_names = _are_texts(rows[top + depth])
        if not has_names or not (merged or down or _is_group_row(rows, top + depth - 1)):
            break
        depth += 1
    return depth


def _max_header_rows(facts: SheetFacts, top: int) -> int:
    """Return the maximum number of rows of a header: those of its merged cells, if they are more.

    `top` is the number of rows above it.
    """
    spans = (cells[2] - top for cells in facts.merged if cells[0] == top + 1)
    return max(MAX_HEADER_ROWS, min(max(spans, default=0), MAX_MERGED_ROWS))


def _are_texts(row: Row) -> bool:
    filled = [cell for cell in row if is_filled(cell)]
    return bool(filled) and all(cell.data_type == TEXT for cell in filled)


def _is_group_row(rows: Sequence[Row], number: int) -> bool:
    """Return whether a row names groups of the columns that the next row names.

    It has gaps, the next row has distinct texts that fill them, and some column below such a text
    has numbers or dates only.
    """
    group, names, data = rows[number], rows[number + 1], rows[number + 2 :]
    below = texts_of(names)
    gaps = [n for n in range(max(len(group), len(below))) if not _cell_at(group, n)]
    filled = [text for text in below if text]
    return (
        bool(gaps)
        and count_filled(group) > 1
        and all(_cell_at(names, n) for n in gaps)
        and len(set(filled)) == len(filled)
        and any(text and _has_numbers(data, column) for column, text in enumerate(below))
    )


def _cell_at(row: Row, column: int) -> Any:
    """Return the cell of a column; None if it has no value."""
    return row[column] if column < len(row) and is_filled(row[column]) else None


def _has_numbers(rows: Sequence[Row], column: int) -> bool:
    cells = [cell for row in rows if (cell := _cell_at(row, column))]
    return bool(cells) and all(cell.data_type in NUMBERS for cell in cells)


def _fill_right(
    level: list[str], below: Sequence[str], across: Sequence[tuple[int, int, int, int]]
) -> list[str]:
    """Repeat the names of groups over their columns; return the names that are repeated."""
    groups = _fill_merged(level, across) if across else _fill_gaps(level, below)
    return [*dict.fromkeys(filter(None, groups))]


def _fill_merged(level: list[str], across: Sequence[tuple[int, int, int, int]]) -> Iterator[str]:
    """Repeat the names of merged cells; yield the names."""
    for _, left, _, right in across:
        for column in range(left, min(right, len(level)) + 1):
            level[column - 1] = level[left - 1]
        yield level[left - 1]


def _fill_gaps(level: list[str], below: Sequence[str]) -> Iterator[str]:
    """Repeat the name on the left where the next row has a name; yield the names."""
    for column in range(1, len(level)):
        if not level[column] and below[column]:
            level[column] = level[column - 1]
            yield level[column]

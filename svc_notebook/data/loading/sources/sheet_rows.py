"""The rows of a sheet: its header, and the rows below it.

The header has a first row, a depth and the names of the columns. Below it merged cells are filled,
totals and remarks are left out.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

from svc_notebook.core.display import format_count
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.sheet_cells import (
    TEXT,
    PlainCell,
    Row,
    SheetFacts,
    count_filled,
    is_filled,
    show_row,
    texts_of,
)
from svc_notebook.data.loading.text_cells.footers import count_footer_rows, is_subtotal
from svc_notebook.data.loading.text_cells.header_names import (
    NO_HEADER,
    count_description_rows,
    join_columns,
    make_unique,
    merge_header_rows,
    pad_rows,
)
from svc_notebook.data.loading.text_cells.header_score import is_header

# The maximum number of rows of a header, and of one with a cell that is merged over more rows.
MAX_HEADER_ROWS, MAX_MERGED_ROWS = 3, 8
# The cells of a row above the table that has a name and its value.
MAX_PROPERTY_CELLS = 2
# The minimum number of rows of a sheet that is read without a header.
MIN_ROWS_WITHOUT_NAMES = 3
NUMBERS = frozenset(("n", "d", "b"))
# The last rows, by which a footer is found.
MAX_LAST_ROWS = 60
MAX_SHOWN_ROWS = 5
# The levels of groups that have subtotals, and the maximum difference of a sum.
MAX_LEVELS, SUM_TOLERANCE = 3, 0.011


class _Tail(NamedTuple):
    row: Row
    after_blank: bool
    is_subtotal: bool


@dataclass
class SheetRows:
    """The rows of a sheet that are sent, and what was left out or filled."""

    facts: SheetFacts
    names: list[str]
    blank: int = 0
    filled: dict[int, int] = field(default_factory=dict)
    footer: list[str] = field(default_factory=list)
    subtotals: list[str] = field(default_factory=list)

    def iterate(self, rows: Iterator[tuple[int, Row]]) -> Iterator[Row]:
        """Yield the rows of the table; `rows` are all below the header, with numbers from 1."""
        tail: deque[_Tail] = deque()
        sums = _GroupSums()
        gaps, whole = 0, True
        for row in self._fill(rows):
            if not count_filled(row):
                gaps += 1
                continue
            self.blank += gaps
            tail.append(_Tail(row, gaps > 0, sums.take(row)))
            gaps = 0
            if len(tail) > MAX_LAST_ROWS:
                whole = False
                yield from self._without_subtotals([tail.popleft()])
        kept = _count_table_rows(tail, whole=whole)
        below = list(tail)[kept:]
        self.footer = [show_row(row_below.row) for row_below in below]
        self.blank -= sum(row_below.after_blank for row_below in below)
        yield from self._without_subtotals(list(tail)[:kept])

    def _without_subtotals(self, rows: Sequence[_Tail]) -> Iterator[Row]:
        for row, _, is_sum in rows:
            if is_sum:
                self.subtotals.append(show_row(row))
            else:
                yield row

    def notes(self) -> Iterator[str]:
        """Yield the notes about rows that are left out, and cells that are filled."""
        if self.blank > 0:
            yield f"{format_count(self.blank, 'blank row')} of the sheet: not sent"
        for left_out, what in ((self.subtotals, "of subtotals"), (self.footer, "below the table")):
            if left_out:
                more = "; …" if len(left_out) > MAX_SHOWN_ROWS else ""
                shown = "; ".join(left_out[:MAX_SHOWN_ROWS]) + more
                yield f"{format_count(len(left_out), 'row')} {what}: not sent ({shown})"
        for column, count in self.filled.items():
            name = self.names[column] if column < len(self.names) else f"column{column}"
            yield f"`{name}`: merged cells hold for all their rows, {count:,} cells filled"

    def _fill(self, rows: Iterator[tuple[int, Row]]) -> Iterator[Row]:
        """Give the value of cells that are merged over several rows to each of these rows."""
        by_top: dict[int, list[tuple[int, int]]] = {}
        for top, left, bottom, right in self.facts.merged:
            if bottom > top and left == right:
                by_top.setdefault(top, []).append((left - 1, bottom))
        if not by_top:
            yield from (row for _, row in rows)
            return
        held: dict[int, tuple[Any, int]] = {}
        for number, row in rows:
            for column, bottom in by_top.pop(number, ()):
                if column < len(row) and is_filled(row[column]):
                    held[column] = row[column], bottom
            held = {column: cell for column, cell in held.items() if cell[1] >= number}
            yield self._with_held(row, held) if held and count_filled(row) else row

    def _with_held(self, row: Row, held: dict[int, tuple[Any, int]]) -> Row:
        missing = max(held) + 1 - len(row)
        cells = [*row, *[PlainCell(None)] * missing]
        for column, (cell, _) in held.items():
            if not is_filled(cells[column]):
                cells[column] = cell
                self.filled[column] = self.filled.get(column, 0) + 1
        return cells


@dataclass
class _GroupSums:
    """The sums of the numbers of each column since the last subtotal of each level."""

    levels: list[Counter[int]] = field(
        default_factory=lambda: [Counter() for _ in range(MAX_LEVELS)]
    )
    width: int = 0

    def take(self, row: Row) -> bool:
        """Return whether a row has the subtotals of the rows before it; add up any other row."""
        numbers = {n: cell.value for n, cell in enumerate(row) if type(cell.value) in (int, float)}
        filled = count_filled(row)
        if numbers and filled < self.width and self._is_subtotal(row, numbers):
            return True
        self.width = max(self.width, filled)
        for level in self.levels:
            level.update(numbers)
        return False

    def _is_subtotal(self, row: Row, numbers: dict[int, Any]) -> bool:
        label = next((cell.value for cell in row if is_filled(cell)), None)
        if not isinstance(label, str) or not is_subtotal(label):
            return False
        for number, level in enumerate(self.levels):
            if any(level.values()) and all(
                abs(level[n] - value) <= SUM_TOLERANCE for n, value in numbers.items()
            ):
                for lower in self.levels[: number + 1]:
                    lower.clear()
                return True
        return False


def _count_table_rows(tail: Sequence[_Tail], *, whole: bool) -> int:
    """Return the number of the last rows that belong to the table; below are totals and remarks."""
    texts: list[list[str]] = []
    for row, after_blank, is_sum in tail:
        if not is_sum:
            texts += [[]] * after_blank + [texts_of(row)]
    below = sum(map(any, texts[len(texts) - count_footer_rows(texts, texts, whole=whole) :]))
    kept = len(tail)
    while kept and (tail[kept - 1].is_subtotal or below):
        kept -= 1
        below -= not tail[kept].is_subtotal
    # Totals and remarks alone are not a table.
    return kept or len(tail)


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
    return replace(header, names=_number_columns(rows), notes=[*header.notes, NO_HEADER])


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
    levels = pad_rows([texts_of(row) for row in rows[top : top + depth]])
    groups: list[str] = []
    for number, (level, below) in enumerate(pairwise(levels), top + 1):
        across = _across(facts, number)
        repeated = _fill_merged(level, across) if across else _fill_gaps(level, below)
        groups += dict.fromkeys(filter(None, repeated))
    names = join_columns(levels)
    if depth > 1 and not asked:
        shown = f", because {', '.join(f'`{name}`' for name in groups)} is over several columns"
        header.notes.append(
            f"the header has {depth} rows{shown if groups else ''}: names are joined with a blank; "
            "header_rows=1 takes the first"
        )
    texts = [*map(texts_of, rows[top:])]
    if depth == 1 and not asked and (described := count_description_rows(texts)):
        names, more = merge_header_rows(texts[described], texts[:described])
        header.notes.extend(more)
        depth += described
    named = [name or f"column{n}" for n, name in enumerate(names)]
    unique, changed = make_unique(named)
    return replace(header, names=unique, rows=top + depth, notes=[*header.notes, *changed])


def _across(facts: SheetFacts, row: int) -> list[tuple[int, int, int, int]]:
    """Return the cells of a row that are merged over several columns."""
    return [cells for cells in facts.merged if cells[0] == row == cells[2] and cells[3] > cells[1]]


def _count_header_rows(rows: Sequence[Row], top: int, facts: SheetFacts) -> int:
    depth = 1
    most = _max_header_rows(facts, top)
    while depth < most and top + depth < len(rows) - 1:
        merged = bool(_across(facts, top + depth))
        down = any(cells[0] <= top + depth < cells[2] for cells in facts.merged if cells[0] > top)
        are_texts = _types_of(rows[top + depth]) == {TEXT}
        if not are_texts or not (merged or down or _is_group_row(rows, top + depth - 1)):
            break
        depth += 1
    return depth


def _max_header_rows(facts: SheetFacts, top: int) -> int:
    """Return the maximum number of rows of a header: those of its merged cells, if they are more.

    `top` is the number of rows above it.
    """
    spans = (cells[2] - top for cells in facts.merged if cells[0] == top + 1)
    return max(MAX_HEADER_ROWS, min(max(spans, default=0), MAX_MERGED_ROWS))


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
    types = _types_of([cell for row in rows if (cell := _cell_at(row, column))])
    return bool(types) and types <= NUMBERS


def _types_of(cells: Row) -> set[str]:
    """Return the types of cells that have a value."""
    return {cell.data_type for cell in cells if is_filled(cell)}


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

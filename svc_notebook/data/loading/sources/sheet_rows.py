"""The rows of a sheet below its header: merged cells filled, totals and remarks left out."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from svc_notebook.data.loading.sources.sheet_cells import (
    PlainCell,
    Row,
    SheetFacts,
    count_filled,
    is_filled,
    show_row,
    texts_of,
)
from svc_notebook.data.loading.text_cells.footers import count_footer_rows, is_subtotal

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
            yield f"{self.blank:,} blank row{'' if self.blank == 1 else 's'} of the sheet: not sent"
        for left_out, what in ((self.subtotals, "of subtotals"), (self.footer, "below the table")):
            if left_out:
                more = "; …" if len(left_out) > MAX_SHOWN_ROWS else ""
                shown = "; ".join(left_out[:MAX_SHOWN_ROWS]) + more
                plural = "" if len(left_out) == 1 else "s"
                yield f"{len(left_out):,} row{plural} {what}: not sent ({shown})"
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

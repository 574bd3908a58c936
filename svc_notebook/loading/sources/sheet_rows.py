"""The rows of a sheet below its header: merged cells filled, totals and remarks left out."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from svc_notebook.loading.sources.sheet_cells import (
    TEXT,
    PlainCell,
    Row,
    SheetFacts,
    count_filled,
    is_filled,
    show_row,
    texts_of,
)

# The rows among which the end of the table is searched.
MAX_FOOTER_ROWS = 20
MAX_SHOWN_ROWS = 5
# The label of a row of totals: alone, or followed by what it is the sum of.
TOTAL = re.compile(
    r"(grand |sub|sub-|overall )?totals?|sum|summe|zwischensumme|endsumme"
    r"|gesamt(summe|betrag|ergebnis)?|insgesamt|total (général|generale|general)|sous-total|totale"
    r"|totaal|eindtotaal|suma|razem|celkem|summa|yhteensä|всего|итого|合計|总计"
    r"|合计|total geral|subtotale",
    re.I,
)
REMARK = re.compile(
    r"\s*(\*|\(|©|†|\d\)|(source|quelle|note|notes|hinweis|anmerkung|stand|erstellt|created|generated"
    r"|exported|exportiert|printed|confidential|vertraulich|fuente|nota)\b)",
    re.I,
)
MAX_REMARK_SHARE = 1 / 3


class _Tail(NamedTuple):
    row: Row
    after_blank: bool


@dataclass
class SheetRows:
    """The rows of a sheet that are sent, and what was left out or filled."""

    facts: SheetFacts
    names: list[str]
    blank: int = 0
    filled: dict[int, int] = field(default_factory=dict)
    footer: list[str] = field(default_factory=list)

    def iterate(self, rows: Iterator[tuple[int, Row]]) -> Iterator[Row]:
        """Yield the rows of the table; `rows` are all below the header, with numbers from 1."""
        tail: deque[_Tail] = deque()
        gaps = usual = 0
        first_is_complete = True
        for row in self._fill(rows):
            width = count_filled(row)
            if not width:
                gaps += 1
                continue
            self.blank += gaps
            tail.append(_Tail(row, gaps > 0))
            gaps = 0
            if len(tail) > MAX_FOOTER_ROWS:
                passed = tail.popleft().row
                usual = max(usual, count_filled(passed))
                first_is_complete &= is_filled(passed[0])
                yield passed
        usual = max([usual, *(count_filled(each.row) for each in tail)])
        kept = _count_table_rows(list(tail), usual, first_is_complete=first_is_complete)
        self.footer = [show_row(each.row) for each in list(tail)[kept:]]
        self.blank -= sum(each.after_blank for each in list(tail)[kept:])
        yield from (each.row for each in list(tail)[:kept])

    def notes(self) -> Iterator[str]:
        """Yield the notes about rows that are left out, and cells that are filled."""
        if self.blank > 0:
            yield f"{self.blank:,} blank row{'' if self.blank == 1 else 's'} of the sheet: not sent"
        if self.footer:
            more = "; …" if len(self.footer) > MAX_SHOWN_ROWS else ""
            shown = "; ".join(self.footer[:MAX_SHOWN_ROWS]) + more
            plural = "" if len(self.footer) == 1 else "s"
            yield f"{len(self.footer)} row{plural} below the table: not sent ({shown})"
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
            held = {column: each for column, each in held.items() if each[1] >= number}
            yield self._with_held(row, held) if held and count_filled(row) else row

    def _with_held(self, row: Row, held: dict[int, tuple[Any, int]]) -> Row:
        missing = max(held) + 1 - len(row)
        cells = [*row, *[PlainCell(None)] * missing]
        for column, (cell, _) in held.items():
            if not is_filled(cells[column]):
                cells[column] = cell
                self.filled[column] = self.filled.get(column, 0) + 1
        return cells


def _count_table_rows(tail: list[_Tail], usual: int, *, first_is_complete: bool) -> int:
    """Return the number of the last rows that belong to the table; below are totals and remarks."""
    kept = len(tail)
    while kept and _is_footer(tail, kept - 1, usual, first_is_complete=first_is_complete):
        kept -= 1
    # Remarks alone are not a table.
    return kept or len(tail)


def _is_footer(tail: list[_Tail], number: int, usual: int, *, first_is_complete: bool) -> bool:
    row, after_blank = tail[number]
    filled = [cell for cell in row if is_filled(cell)]
    label = next((text for text in texts_of(row) if text), "")
    if TOTAL.fullmatch(label.rstrip(" :")) or (TOTAL.match(label) and len(filled) < usual):
        return filled[0].data_type == TEXT and usual > 1
    if len(filled) == 1 and usual > 2 and REMARK.match(label):
        return True
    if not after_blank:
        return False
    if len(filled) <= max(1, usual * MAX_REMARK_SHARE) and usual > 1:
        return True
    complete = first_is_complete and all(is_filled(each.row[0]) for each in tail[:number])
    return complete and not is_filled(row[0]) and all(cell.data_type == "n" for cell in filled)

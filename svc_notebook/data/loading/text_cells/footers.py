"""Footers of tables: totals, counts of rows and remarks after the last row.

Each signal adds points to a row. A row whose points reach the limit is not part of the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from svc_notebook.data.loading.text_cells.cell_kinds import (
    MOMENT,
    NUMBER,
    cell_kind,
    is_missing_text,
)
from svc_notebook.data.loading.text_cells.text_forms import find_amount_forms

TOTAL_WORD = (
    r"(?:grand |sub|sub-|sub |running |overall )?totals?|sums?|overall"
    r"|(?:zwischen|end)?summen?|gesamt(?:summe|betrag|ergebnis)?|insgesamt"
    r"|(?:konto|end)?saldo|(?:alter |neuer )?kontostand"
    r"|(?:opening |closing |ending |final )?balance"
    r"|total (?:g[ée]n[ée]ral|generale|geral)|sous-total|somme|totale(?: generale)?|subtotale"
    r"|totales|suma(?: total)?|(?:eind)?totaal|razem|celkem|summa|yhteensä|összesen|toplam"
    r"|итого|всего|合计|总计|合計|総計|小计|\u03a3|\u2211"
)
# A total, with what it is the sum of: `Total: Desks`, `Summe Möbel`.
TOTAL = re.compile(rf"(?:{TOTAL_WORD})(?:[ :-].{{0,40}})?", re.I)
ONLY_TOTAL = re.compile(TOTAL_WORD, re.I)
SUBTOTAL = re.compile(
    rf"(?:{TOTAL_WORD})(?:[ :-].{{0,40}})?|.{{1,60}} (?:{TOTAL_WORD}|ergebnis)", re.I
)
COUNT = re.compile(
    r"\(?\d[\d,. ]* ?(?:rows?|records?|record\(s\)|zeilen?|datens[äa]tze?|lignes?|filas?"
    r"|registros?|righe)(?!\w).*",
    re.I,
)
REMARK = re.compile(
    r"(?:source|notes?|quellen?|hinweis|anmerkung|stand|confidential|vertraulich|generated|created"
    r"|printed|exported|exportiert|erstellt|fuente|notas?|remarque|copyright|fonte|bron|kilde|källa"
    r"|źródło|uwag[ai]|zdroj|poznámk[ay]|kaynak|источник|примечани[ея]|出典|注記?|資料|资料来源|자료)\b.*"
    r"|[_=*~-]{3,}|(?:©|\*|†|¹|\(|\d\) ).*",
    re.I,
)
# A name and its value in one cell.
PROPERTY = re.compile(r"[^\W\d][\w ]{1,30} ?: .+")
# A line below a table.
SIGNS = re.compile(r"[_=*~-]{5,}")
MAX_FOOTER_ROWS, MIN_BODY_ROWS = 12, 3
# A table with more rows than this share of one filled cell has no remarks.
MAX_SPARSE_SHARE = 0.02
MIN_WIDTH_OF_REMARKS = 3
# The minimum number of full rows above short ones, and of these, and their largest share of cells.
MIN_FULL_ROWS, MIN_SHORT_ROWS, MAX_SHORT_SHARE = 10, 2, 0.5
TOLERANCE = Decimal("0.011")
# The points of the signals, and those that a footer has.
POINTS = {
    "counts the rows": 3,
    "is the sum of the rows": 2,
    "begins with the word of a total": 2,
    "is a total whose sum is not known": 2,
    "lacks cells that the rows have": 1,
    "has all cells of a row": -1,
    "is one of short rows below rows that are all full": 2,
    "has one cell": 1,
    "is one text in a line": 1,
    "follows a blank row": 1,
    "is one of the lines of one cell below a blank row": 1,
    "is a line of signs, or below one": 2,
    "has numbers without a name": 1,
    "begins as a remark does": 1,
    "names a value": 1,
    "is a row as others with one cell": -2,
    "has more cells than a row": -9,
}
MIN_POINTS = 3

Rows = Sequence[Sequence[str]]


def may_be_footer(row: Sequence[str], width: int) -> bool:
    """Return whether a row can be a footer: it lacks a cell, or begins with a total's word."""
    texts = [cell.strip() for cell in row]
    return len(row) < width or not all(map(_is_given, texts)) or is_total(row[0])


def is_total(cell: str) -> bool:
    """Return whether a cell is the word of a total, such as `Summe:` or `Grand Total`."""
    return TOTAL.fullmatch(_label(cell)) is not None


def is_subtotal(cell: str) -> bool:
    """Return whether a cell names a total, or that of a group, such as `North Total`."""
    return SUBTOTAL.fullmatch(_label(cell)) is not None


def count_footer_rows(body: Rows, tail: Rows, *, whole: bool, in_lines: bool = True) -> int:
    """Return how many of the last rows are no rows of the table.

    `body` are rows of the table without its header; `tail` its last rows, blank ones included; both
    end with the same row if `body` is the `whole` table. `in_lines` says that each of the last rows
    is one line; otherwise some are parts of a row.
    """
    texts = [[cell.strip() for cell in row] for row in body]
    rows = [row for row in texts if any(row)]
    last = [[cell.strip() for cell in row] for row in tail]
    width = max(map(len, rows), default=0)
    for start in range(max(len(last) - MAX_FOOTER_ROWS, 0), len(last)):
        filled = sum(any(row) for row in last[start:])
        before = rows[: len(rows) - filled] if whole else rows
        if len(before) < MIN_BODY_ROWS or not any(last[start]):
            continue
        short_end = in_lines and _are_short(before, last[start:], width)
        table = _Body(before, width, whole, short_end)
        if table.ends_before(last, start):
            blanks = next((n for n, row in enumerate(reversed(last[:start])) if any(row)), start)
            return len(last) - start + blanks
    return 0


def _are_short(rows: Rows, last: Rows, width: int) -> bool:
    """Return whether some last rows have few cells each, and all rows before have all."""
    lengths = [len(row) for row in last if any(row)]
    return (
        len(rows) >= MIN_FULL_ROWS
        and len(lengths) >= MIN_SHORT_ROWS
        and max(lengths) <= MAX_SHORT_SHARE * width
        and all(len(row) == width for row in rows)
    )


@dataclass(frozen=True)
class _Body:
    """The rows before a footer.

    `whole` says that they are all rows of the table, and `short_end` that all of them are full, and
    the last ones of the file short.
    """

    rows: Rows
    width: int
    whole: bool
    short_end: bool = False

    def ends_before(self, last: Rows, start: int) -> bool:
        """Return whether all of the last rows from `start` have the points of a footer."""
        numbers = [n for n in range(start, len(last)) if any(last[n])]
        return all(self._score(last, start, n) >= MIN_POINTS for n in numbers)

    def _score(self, last: Rows, start: int, number: int) -> int:
        """Return the points of a row for being a footer, if the last rows from `start` are one."""
        row, follows_blank = last[number], number > 0 and not any(last[number - 1])
        observed = [*self._observe(row, follows_blank), *_observe_block(last, start, number)]
        return sum(POINTS[what] for what in observed)

    def _observe(self, row: Sequence[str], follows_blank: bool) -> Iterator[str]:
        given = [cell for cell in row if cell]
        is_short = len(given) < MIN_WIDTH_OF_REMARKS or len(row) <= MAX_SHORT_SHARE * self.width
        if is_short and COUNT.fullmatch(" ".join(given)):
            yield "counts the rows"
            return
        if len(row) > self.width:
            yield "has more cells than a row"
        lacking = self._lacks_cells(row)
        yield "lacks cells that the rows have" if lacking else "has all cells of a row"
        yield from self._observe_total(row, given[0], lacking=lacking)
        if follows_blank:
            yield "follows a blank row"
        if self.short_end:
            yield "is one of short rows below rows that are all full"
        named_first = any(row[self._first : self._first + 1])
        if not named_first and all(cell_kind(cell) == NUMBER for cell in given):
            yield "has numbers without a name"
        if len(given) == 1 and self.width >= MIN_WIDTH_OF_REMARKS and named_first:
            yield from self._observe_remark(row)

    def _observe_total(self, row: Sequence[str], label: str, *, lacking: bool) -> Iterator[str]:
        named = is_total(label)
        if named:
            yield "begins with the word of a total"
        of_sum = label if is_subtotal(label) else ""
        if self.whole and (named or lacking) and self._is_sum(row, of_sum):
            yield "is the sum of the rows"
        elif named and not self.whole and not lacking and ONLY_TOTAL.fullmatch(_label(label)):
            yield "is a total whose sum is not known"

    def _observe_remark(self, row: Sequence[str]) -> Iterator[str]:
        text = row[self._first]
        is_remark = REMARK.fullmatch(text) is not None
        is_text = cell_kind(text) not in (NUMBER, MOMENT) and any(map(str.isalpha, text))
        sparse = self._count_sparse(in_line=len(row) == 1)
        if not (is_text or is_remark) or sparse > MAX_SPARSE_SHARE * len(self.rows):
            yield "is a row as others with one cell"
            return
        yield "has one cell"
        if len(row) == 1 and " " in text:
            yield "is one text in a line"
        if is_remark:
            yield "begins as a remark does"
        elif PROPERTY.fullmatch(text):
            yield "names a value"

    @cached_property
    def _first(self) -> int:
        """The place of the first column with a value; a sheet can begin with an empty one."""
        return min(next(n for n, cell in enumerate(row) if cell) for row in self.rows)

    def _count_sparse(self, *, in_line: bool) -> int:
        """Return the number of rows with one value; of lines without a separator, if it is one."""
        sparse = (other for other in self.rows if sum(map(bool, other)) == 1)
        return sum(len(other) == 1 or not in_line for other in sparse)

    def _lacks_cells(self, row: Sequence[str]) -> bool:
        """Return whether a cell is missing that nearly all rows before have."""
        most = (1 - MAX_SPARSE_SHARE) * len(self.rows)
        return any(
            sum(len(other) > n and _is_given(other[n]) for other in self.rows) >= most
            for n in range(max(map(len, self.rows)))
            if n >= len(row) or not _is_given(row[n])
        )

    def _is_sum(self, row: Sequence[str], label: str) -> bool:
        """Return whether a cell is the sum of the numbers above it, and other cells are numbers."""
        sums = 0
        for n, cell in enumerate(row):
            if not _is_given(cell) or (cell == label and not sums):
                continue
            column = [other[n] for other in self.rows if len(other) > n and _is_given(other[n])]
            forms = find_amount_forms([*column, cell])
            if not forms and cell_kind(cell) == MOMENT:  # a duration
                continue
            if not forms or len(column) < MIN_BODY_ROWS:
                return False
            values = [Decimal(forms[0].convert(text)) for text in column]
            total = Decimal(forms[0].convert(cell))
            sums += total != 0 and abs(sum(values) - total) <= TOLERANCE
        return sums > 0


def _observe_block(last: Rows, start: int, number: int) -> Iterator[str]:
    """Yield what the rows around a row say about it."""
    if any(len(row) == 1 and SIGNS.fullmatch(row[0]) for row in last[: number + 1]):
        yield "is a line of signs, or below one"
    follows_blank = start > 0 and not any(last[start - 1])
    if follows_blank and all(len(row) == 1 for row in last[start:] if any(row)):
        yield "is one of the lines of one cell below a blank row"


def _is_given(cell: str) -> bool:
    return bool(cell) and not is_missing_text(cell)


def _label(cell: str) -> str:
    return cell.strip().rstrip(" :.*")

"""Footers of tables: totals, counts of rows and remarks after the last row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from svc_notebook.loading.text_cells.amounts import find_amount_forms
from svc_notebook.loading.text_cells.cell_kinds import MOMENT, NUMBER, cell_kind

TOTAL = re.compile(
    r"(?:grand |sub|sub-|sub |running )?totals?(?:[ :-].{0,40})?|sums?|overall"
    r"|gesamt(?:summe|betrag)?"
    r"|(?:zwischen|end)?summen?|insgesamt|(?:konto|end)?saldo|kontostand"
    r"|(?:closing |final )?balance"
    r"|total g[ée]n[ée]ral|somme|totale(?: generale)?|totales|suma(?: total)?|totaal|razem|celkem"
    r"|összesen|toplam|итого|всего|合计|总计|合計|総計|小计|\u03a3|\u2211",
    re.I,
)
COUNT = re.compile(
    r"\(?\d[\d,. ]* ?(?:rows?|records?|zeilen?|datens[äa]tze?|lignes?|filas?|registros?|righe)\b.*",
    re.I,
)
REMARK = re.compile(
    r"(?:source|notes?|quellen?|hinweis|confidential|vertraulich|generated|exported|erstellt|fuente"
    r"|nota|remarque|copyright|©|\*|†|¹|\().*",
    re.I,
)
MAX_FOOTER_ROWS, MIN_BODY_ROWS = 12, 3
# A table with more rows than this share of one filled cell has no remarks.
MAX_SPARSE_SHARE = 0.02
MIN_WIDTH_OF_REMARKS = 3
TOLERANCE = Decimal("0.011")

Rows = Sequence[Sequence[str]]


def may_be_footer(row: Sequence[str], width: int) -> bool:
    """Return whether a row can be a footer: it has an empty cell, or begins with a total's word."""
    return len(row) < width or not all(map(str.strip, row)) or is_total(row[0])


def is_total(cell: str) -> bool:
    """Return whether a cell is the word of a total, such as `Summe:` or `Grand Total`."""
    return TOTAL.fullmatch(cell.strip().rstrip(" :.*")) is not None


def count_footer_rows(body: Rows, tail: Rows, *, whole: bool) -> int:
    """Return how many of the last rows are no rows of the table.

    `body` are rows of the table without its header; `tail` its last rows, blank ones included; both
    end with the same row if `body` is the `whole` table. A total is known by its word, or because
    it is the sum of the column above it.
    """
    width = max((len(row) for row in body), default=0)
    texts = [[cell.strip() for cell in row] for row in body]
    rows = [row for row in texts if any(row)]
    first = [[cell.strip() for cell in row] for row in tail]
    for start in range(max(len(first) - MAX_FOOTER_ROWS, 0), len(first)):
        after = first[start:]
        filled = [row for row in after if any(row)]
        before = rows[: len(rows) - len(filled)] if whole else rows
        if len(before) < MIN_BODY_ROWS or not filled or not any(first[start]):
            continue
        follows_blank = start > 0 and not any(first[start - 1])
        if all(_is_footer(row, before, width, follows_blank, whole=whole) for row in filled):
            blanks = len(first[:start]) - len(_without_blanks_at_end(first[:start]))
            return len(after) + blanks
    return 0


def _without_blanks_at_end(rows: Rows) -> Rows:
    end = len(rows)
    while end and not any(rows[end - 1]):
        end -= 1
    return rows[:end]


def _is_footer(
    row: Sequence[str], before: Rows, width: int, follows_blank: bool, *, whole: bool
) -> bool:
    filled = [cell for cell in row if cell]
    head = filled[0]
    if len(filled) == 1 and COUNT.fullmatch(head):
        return True
    if len(row) > width:
        return False
    if is_total(head) and (_lacks_cells(row, before) or (whole and _is_sum(row[1:], before, 1))):
        return True
    if len(filled) == 1 and width >= MIN_WIDTH_OF_REMARKS and row[0]:
        sparse = sum(sum(map(bool, other)) == 1 for other in before)
        is_text = cell_kind(head) not in (NUMBER, MOMENT) and any(map(str.isalpha, head))
        alone = len(row) == 1 and " " in head
        remark = follows_blank or alone or REMARK.fullmatch(head) is not None
        return sparse <= MAX_SPARSE_SHARE * len(before) and is_text and remark
    return whole and _lacks_cells(row, before) and _is_sum(row, before)


def _lacks_cells(row: Sequence[str], before: Rows) -> bool:
    """Return whether a cell is empty that nearly all rows before have, or a text is a total."""
    width = max(map(len, before))
    for place in range(width):
        if place < len(row) and row[place]:
            continue
        present = sum(len(other) > place and bool(other[place]) for other in before)
        if present >= (1 - MAX_SPARSE_SHARE) * len(before):
            return True
    return False


def _is_sum(row: Sequence[str], before: Rows, first: int = 0) -> bool:
    """Return whether a cell is the sum of the numbers above it, and other cells are numbers.

    `first` is the place of the row's first cell.
    """
    sums = 0
    for place, cell in enumerate(row, first):
        if not cell:
            continue
        column = [other[place] for other in before if len(other) > place and other[place]]
        forms = find_amount_forms([*column, cell])
        if not forms and cell_kind(cell) == MOMENT:  # a duration
            continue
        if not forms or len(column) < MIN_BODY_ROWS:
            return False
        values = [Decimal(forms[0].convert(text)) for text in column]
        total = Decimal(forms[0].convert(cell))
        sums += total != 0 and abs(sum(values) - total) <= TOLERANCE
    return sums > 0

"""The forms of the values of each column, and rows that have an empty cell too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from svc_notebook.loading.text_cells.cell_kinds import cell_form

# A column has a form if at least so many values, and this share of them, have it.
MIN_VALUES, FORM_SHARE = 5, 0.9

# The form of the values of each column; empty for a column whose values have none in common.
ColumnForms = Sequence[str]


def find_forms(rows: Sequence[Sequence[str]], width: int) -> ColumnForms:
    """Return the form of the values of each column, from rows that have `width` cells."""
    usual = [row for row in rows if len(row) == width]
    return [_common_form(column) for column in zip(*usual, strict=True)] or [""] * width


def find_stray_cell(cells: Sequence[str], forms: ColumnForms) -> int | None:
    """Return the place of the empty cell without which a row with one cell too many is regular.

    With it, some cell does not have the form of its column; without it, all cells have, and no
    other empty cell makes that true.
    """
    if len(cells) != len(forms) + 1 or _fits(cells[:-1], forms):
        return None
    places = [place for place, cell in enumerate(cells) if not cell]
    without = {place: (*cells[:place], *cells[place + 1 :]) for place in places}
    fitting = {row: place for place, row in without.items() if _fits(row, forms)}
    return next(iter(fitting.values())) if len(fitting) == 1 else None


def fits_shifted(cells: Sequence[str], forms: ColumnForms) -> bool:
    """Return whether a row with one cell too many can have it at its end."""
    return _fits(cells[: len(forms)], forms)


def _common_form(column: Sequence[str]) -> str:
    values = [value for value in column if value]
    form, number = Counter(map(cell_form, values)).most_common(1)[0] if values else ("", 0)
    is_text = "9" not in form or ("a" in form and " " in form)
    return "" if is_text or number < max(MIN_VALUES, FORM_SHARE * len(values)) else form


def _fits(cells: Sequence[str], forms: ColumnForms) -> bool:
    return all(
        not form or not cell or cell_form(cell) == form
        for cell, form in zip(cells, forms, strict=True)
    )

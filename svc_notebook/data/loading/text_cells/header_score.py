"""The score of a first row as a header, and the titles above a header.

The whole row is compared with the rows below it. A word, a number or a date in the row is a
signal with points, never a reason by itself: `No`, `NA` and `2021` are names of columns in many
files. Titles are the lines above a header that are no rows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from svc_notebook.data.loading.text_cells.cell_kinds import (
    EMPTY,
    MISSING,
    MOMENT,
    NUMBER,
    TEXT,
    TRUTH,
    YEAR,
    cell_kind,
    column_kind,
    value_form,
    value_forms,
)
from svc_notebook.data.loading.text_cells.header_names import count_description_rows
from svc_notebook.data.loading.text_cells.signals import Signal, total_points

MAX_PREAMBLE_LINES, MIN_TITLED_WIDTH = 100, 2
# A cell of a row of metadata, such as `Version=2023`.
METADATA = re.compile(r"[A-Za-z][\w.-]*=[^=\s]")
# The share of the cells of a header that are filled.
FULL_SHARE = 0.8
# A column consists of codes if so many values, and this share of them, have the same form.
MIN_CODES, CODE_SHARE = 2, 0.9
# A cell of the first row is a category if so many values, and this share of them, are equal to it.
MIN_REPEATS, REPEAT_SHARE = 2, 0.05
# The minimum number of numbers in a row that count up, such as sizes and years.
MIN_COUNTED_CELLS = 2
DIGIT = re.compile(r"\d")
WHOLE_NUMBER = re.compile(r"\d{1,9}")
NAME_ABOVE_NUMBERS, VALUE_AMONG_ITS_KIND, WEAK_POINTS = 2.0, -2.0, 0.5

Rows = Sequence[Sequence[str]]


def is_header(rows: Rows) -> bool:
    """Return whether the first row names the columns."""
    return total_points(rate_header(rows)) > 0


def rate_header(rows: Rows) -> list[Signal]:
    """Return the signals for and against the first row being a header, those of the rows included.

    Without a signal for or against, it is one, unless it contains a number or a date.
    """
    first, *others = [[cell.strip() for cell in row] for row in rows] if rows else [[]]
    if sum(map(bool, first)) <= len(first) // 3:
        return [Signal("most columns have no name in it", -1)]
    kinds = [*map(cell_kind, first)]
    has_values = NUMBER in kinds or MOMENT in kinds
    if not others:
        return [Signal("it is the only row", 1 if not has_values and TEXT in kinds else -1)]
    if first in others and first != others[0] and not has_values and TEXT in kinds:
        return [Signal("the row occurs again, as in files that were joined", 1)]
    # A row that is repeated at once can be a header, or a row like the next.
    undecided = has_values or first == others[0]
    no_value = [] if undecided else [Signal("no cell of it is a number or a date", WEAK_POINTS / 2)]
    return [*score_header([first, *others]), *no_value]


def score_header(rows: Rows) -> list[Signal]:
    """Return the signals for and against the first row being a header."""
    first, *others = [[cell.strip() for cell in row] for row in rows]
    others = [row for row in others if row != first]
    columns = [[row[n] for row in others if len(row) > n] for n in range(len(first))]
    counted = find_counted_cells(first, columns)
    signals: list[Signal] = []
    for number, (cell, column) in enumerate(zip(first, columns, strict=True)):
        if number in counted:
            continue
        signals += _compare(cell, [*filter(None, column)], first_column=number == 0)
    if counted:
        shown = ", ".join(first[number] for number in sorted(counted)[:3])
        points = _rate_counted(first, columns, counted)
        signals.append(Signal(f"`{shown}` are a sequence, and the cells below are not", points))
    return signals


def find_counted_cells(first: Sequence[str], columns: Sequence[Sequence[str]]) -> set[int]:
    """Return the positions of numbers in a row that are a sequence of names, as years and sizes.

    The numbers below must not be such a sequence too, or must be other numbers in every column.
    """
    numbers = {n: int(cell) for n, cell in enumerate(first) if WHOLE_NUMBER.fullmatch(cell)}
    years = {n: number for n, number in numbers.items() if YEAR.fullmatch(first[n])}
    order = [*years.values()]
    is_sorted = order in (sorted({*order}), sorted({*order}, reverse=True))
    if len(years) >= MIN_COUNTED_CELLS and is_sorted:
        return set() if _are_mostly_years([v for n in years for v in columns[n]]) else {*years}
    if len(numbers) < MIN_COUNTED_CELLS or not _is_even([*numbers.values()]):
        return set()
    cells, below = [first[n] for n in numbers], [columns[n] for n in numbers]
    return {*numbers} if _differs_below(cells, below) else set()


def _differs_below(cells: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Return whether most rows below a sequence are none, or all of their numbers are others."""
    rows = list(zip(*columns, strict=False))
    numbers = [[*map(int, row)] for row in rows if all(map(WHOLE_NUMBER.fullmatch, row))]
    if 2 * sum(map(_is_even, numbers)) <= len(rows):
        return True
    if any(cell in column for cell, column in zip(cells, columns, strict=True)):
        return False
    below = zip(cells, zip(*numbers, strict=True), strict=True)
    return all(not min(column) <= int(cell) <= max(column) for cell, column in below)


def _are_mostly_years(values: Sequence[str]) -> bool:
    return 2 * sum(map(bool, map(YEAR.fullmatch, values))) > len(values)


def _rate_counted(
    first: Sequence[str], columns: Sequence[Sequence[str]], counted: set[int]
) -> float:
    """Return the points of a sequence beside a name; two numbers can be one by chance."""
    if not any(cell_kind(cell) == TEXT for cell in first):
        return 0
    if all(YEAR.fullmatch(first[n]) for n in counted):
        return 2 * WEAK_POINTS
    again = sum(first[n] in columns[n] for n in counted)
    return len(counted) - MIN_COUNTED_CELLS - again * WEAK_POINTS


def _is_even(numbers: Sequence[int]) -> bool:
    steps = {other - number for number, other in pairwise(numbers)}
    return len(steps) == 1 and 0 not in steps


def _compare(cell: str, values: Sequence[str], *, first_column: bool) -> Iterator[Signal]:
    """Yield the signals of a cell against the values below it."""
    kind, below = cell_kind(cell), column_kind(values)
    if below == EMPTY:
        return
    if kind == EMPTY:
        if first_column and len(set(values)) == len(values) > 1:
            yield Signal("no name above the first column, whose values are unique", WEAK_POINTS)
        return
    repeats = values.count(cell)
    if repeats >= max(MIN_REPEATS, REPEAT_SHARE * len(values)) or (repeats and kind != TEXT):
        yield Signal(f"`{cell}` occurs again in its column", VALUE_AMONG_ITS_KIND)
    elif kind in (NUMBER, MOMENT) and below in (NUMBER, MOMENT, TEXT, MISSING, TRUTH):
        yield from _compare_value(cell, kind, below, values)
    elif below in (NUMBER, MOMENT, TRUTH, MISSING) and kind != below:
        points = {TEXT: NAME_ABOVE_NUMBERS, TRUTH: 2 * WEAK_POINTS, MISSING: 0}[kind]
        yield Signal(f"`{cell}` is above a column of {below}s", points)
    elif below == TEXT and kind == TEXT:
        yield from _compare_forms(cell, values)


def _compare_value(cell: str, kind: str, below: str, values: Sequence[str]) -> Iterator[Signal]:
    """Yield the signal of a number or a date."""
    if kind == MOMENT and below == NUMBER:
        yield Signal(f"the date `{cell}` is above numbers", 2 * WEAK_POINTS)
    elif YEAR.fullmatch(cell) and not _are_mostly_years(values):
        yield Signal(f"the year `{cell}` is above other values", 0)
    elif kind == below or (kind == NUMBER and below == MOMENT):
        yield Signal(f"`{cell}` is a {kind} above {kind}s", VALUE_AMONG_ITS_KIND)
    elif kind == NUMBER or any(cell_kind(value) == MOMENT for value in values):
        yield Signal(f"`{cell}` is a {kind}", -2 * WEAK_POINTS)


def _compare_forms(cell: str, values: Sequence[str]) -> Iterator[Signal]:
    """Yield the signal of a text above codes such as `A-12`."""
    least = max(MIN_CODES, CODE_SHARE * len(values))
    if len(list(filter(DIGIT.search, values))) < least:
        return
    form, count = Counter(map(_without_plus, value_forms(values))).most_common(1)[0]
    if "9" not in form or count < least:
        return
    if _without_plus(value_form(cell)) == form:
        yield Signal(f"`{cell}` has the form of the codes below it", VALUE_AMONG_ITS_KIND)
    else:
        yield Signal(f"`{cell}` is above codes of another form", NAME_ABOVE_NUMBERS)


def _without_plus(form: str) -> str:
    """Return the form of a value whatever its signs are: `+42-71` is one like `-42+71`."""
    return form.replace("+", "-")


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
    return is_header(rows) and total_points(score_header(rows)) > 0


def _without_descriptions(rows: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [rows[0], *rows[1 + count_description_rows(rows) :]]


def _is_title(row: Sequence[str]) -> bool:
    return sum(bool(cell.strip()) for cell in row) <= 1

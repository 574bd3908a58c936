"""The names of columns: the rows of a header, their cells as names, and names that are unique."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice, pairwise

from svc_notebook.core.display import list_names, shorten
from svc_notebook.data.loading.text_cells.cell_kinds import (
    EMPTY,
    MISSING,
    MOMENT,
    NO_NUMBER,
    NUMBER,
    TEXT,
    VALUE,
    YEAR,
    cell_kind,
    column_kind,
)
from svc_notebook.data.loading.text_cells.footers import is_subtotal
from svc_notebook.data.loading.text_cells.text_forms import find_amount_forms
from svc_notebook.errors import BadInput

MAX_HEADER_ROWS = 3
# A second row without a number above numbers is a header if it has names in so many such columns.
MIN_NUMERIC_COLUMNS = 2
# The minimum number of rows below two rows of names that fill each other's gaps.
MIN_ROWS_BELOW = 2
# The beginning of the cells that describe the columns of a survey, in the last row of its header.
IMPORT_ID = '{"ImportId"'
# The maximum number of rows below the names that describe the columns, with units for example, and
# the columns of values by which such rows are recognized.
MAX_DESCRIPTION_ROWS, MAX_DESCRIBED_COLUMNS = 8, 100
# A cell of a row of formats below the names, as hydrological services write it: `15s`, `14n`; or of
# types, as databases and libraries of tables print them.
FORMAT = re.compile(
    r"\d{1,3}[sdn]|(?i:u?(?:tiny|small|big|huge)?int(?:eger|\d+)?|double|float\d*|real|uuid|json|blob"
    r"|(?:var)?char(?:\(\d+\))?|text|str(?:ing)?|bool(?:ean)?|date|(?:date)?time(?:(?:stamp|\d|\().*)?"
    r"|[iu](?:8|16|32|64)|f(?:32|64)|number|list\[.*\]|.+\[\]|---"
    r"|(?:decimal|numeric|enum\d*|struct|nullable|array|map|lowcardinality|fixedstring)\(.*\))"
)
# Units of measurement: those that can have a prefix, such as the k of km, and others.
SCALABLE_UNITS = (
    *("m", "g", "s", "A", "V", "W", "Wh", "VA", "VAr", "J", "Hz", "Pa", "bar", "l", "L", "mol"),
    *("K", "\u2126", "ohm", "lx", "N", "T", "S", "eV", "B", "bit", "Bq", "Sv"),
)
OTHER_UNITS = (
    *("%", "%RH", "% RH", "\u2030", "\u00b0", "\u00b0C", "\u00b0F", "\u00b0K", "C", "F", "Celsius"),
    *(
        "Fahrenheit",
        "deg",
        "degC",
        "degF",
        "degK",
        "degree",
        "degrees",
        "rad",
        "h",
        "hour",
        "hours",
    ),
    *("d", "day", "days", "min", "minute", "minutes", "sec", "second", "seconds", "yr", "yrs"),
    *("year", "years", "ha", "t", "lb", "lbs", "oz", "ft", "in", "inches", "mi", "gal", "psi"),
    *("mph", "kn", "kt", "kts", "knot", "knots", "rpm", "dB", "dBA", "dBm", "ppm", "ppmv", "ppb"),
    *("ppbv", "pH", "mmHg", "inHg", "lux", "cells", "count", "counts", "NTU", "PSU", "Anzahl"),
    *("EUR", "USD", "GBP", "CHF", "\u20ac", "$", "\u00a3"),
)
PREFIXES = "\u00b5\u03bcumknMGcdh"
# Units in words, as metres, kilowatts and degrees_north.
_WORD_UNIT = (
    r"(?i:(?:nano|micro|milli|centi|deci|hecto|kilo|mega|giga)?(?:met(?:er|re)|gram(?:me)?|"
    r"lit(?:er|re)|volt|watt|amp(?:ere)?|joule|pascal|hertz|kelvin|newton|bar|second|siemens|tonne)s?"
    r"|percent|ohms?|psu|dbar|degrees?[_ ](?:north|south|east|west|true|c|f|celsius|fahrenheit))"
)
_UNIT = (
    f"[{PREFIXES}]?(?:{'|'.join(SCALABLE_UNITS)})|{'|'.join(map(re.escape, OTHER_UNITS))}"
    f"|{_WORD_UNIT}"
)
_POWER = r"(?:\^?-?[123]|[\u00b2\u00b3])?"
_PRODUCT = rf"(?:{_UNIT}){_POWER}(?:[ \u00b7*/.](?:{_UNIT}|100 ?ml){_POWER}){{0,3}}"
# A unit, or a product or quotient of units, alone or in brackets, as a cell below a name has it.
UNIT = re.compile(rf"{_PRODUCT}|\[(?:{_PRODUCT}|-)?\]|\((?:{_PRODUCT}|-)?\)")
# What stands in a row of units below the names of columns without one.
NO_UNIT = re.compile(
    r"-|n/a|none|text|string|code|name|id|date|time|utc|local|yyyy-?mm-?dd.*|dd\.mm\.yyyy.*|hh:mm.*"
    r"|unit(?:s|less)?|\[(?:text|name|id|date|utc|unitless)\]",
    re.I,
)
MIN_UNITS_COUNT = 2
MAX_SHOWN_CHARACTERS = 40
NO_HEADER = "no header was found: columns are named column0, column1, …"
# A quoted name in a header can extend over several lines.
MAX_HEADER_LINES = 10


@dataclass(frozen=True)
class Names:
    """The names of the columns, and a note for each that differs from the header."""

    names: list[str]
    notes: list[str]
    # Whether each row ends with a separator that the header does not have.
    trailing: bool = False


def name_columns(
    first: Sequence[str], rows: Sequence[Sequence[str]], upper: Sequence[Sequence[str]]
) -> Names:
    """Return the names of a header, which can have a cell less, or more, than the rows."""
    others = rows[1:]
    cells, notes = merge_header_rows(first, upper) if upper else ([*first], [])
    empty = [number for number, cell in enumerate(cells) if not cell.strip()]
    if len(empty) == 1 and others and all(len(row) == len(cells) - 1 for row in others):
        del cells[empty[0]]
        notes.append(f"the header has one separator too many: name {empty[0] + 1} is left out")
    names, changed = make_unique(cells)
    wide = [row for row in others if len(row) == len(cells) + 1]
    most_are_wide = len(wide) > len(others) / 2
    trailing = most_are_wide and all(row[-1] == "" for row in wide)
    if trailing:
        notes.append("every row ends with one separator more than the header; it is ignored")
    elif most_are_wide:
        names.insert(0, free_name("column0", names))
        notes.append(
            "rows have one cell more than the header: the first column is assumed to have no "
            f"name, and is sent as `{names[0]}`"
        )
    return Names(names, [*changed, *notes], trailing)


def merge_header_rows(
    first: Sequence[str], upper: Sequence[Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Return the cells of a header of several rows, and the note that says what became of them."""
    if _are_descriptions(upper[0], [*upper[1:], first]):
        rows_left = [", ".join(filter(None, row)) for row in (*upper[1:], first)]
        shown = list_names([shorten(row, MAX_SHOWN_CHARACTERS) for row in rows_left])
        count = "1 row" if len(upper) == 1 else f"{len(upper)} rows"
        left = f"{count} below the names left out, for they describe the columns: {shown}"
        return [*upper[0]], [left]
    cells = join_names([*upper, first])
    shown = list_names(cells, MAX_HEADER_ROWS)
    return cells, [f"the header has {len(upper) + 1} rows; names are joined: {shown}"]


def free_name(name: str, taken: Collection[str], first: int = 2) -> str:
    """Return a name that is not taken: `name`, or with a number from `first` after it."""
    numbered = (f"{name}_{number}" for number in count(first))
    return next(free for free in chain([name], numbered) if free not in taken)


def make_unique(header: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return a unique name for every column, and a note for each that differs from the header."""
    names: dict[str, None] = {}
    uses: Counter[str] = Counter()
    notes: list[str] = []
    for number, cell in enumerate(header):
        text = cell.strip()
        if text.count("\n") > MAX_HEADER_LINES:
            raise BadInput(f"the header has an unclosed quote before `{text.split()[0]}`; close it")
        name = text or f"column{number}"
        uses[name] += 1
        free = free_name(name, names, max(2, uses[name]))
        if free != text:
            what = f"the name of column {number + 1} is `{text}`"
            what = what if text else f"column {number + 1} has no name"
            notes.append(f"{what}: sent as `{free}`")
        names[free] = None
    return [*names], notes


def join_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Join the cells of each column of a header of several rows.

    An empty cell above a name belongs to the cell before it, as merged cells of a spreadsheet do,
    unless that one has no name below it.
    """
    full = pad_rows([[cell.strip() for cell in row] for row in rows])
    for row, below in pairwise(full):
        group = ""
        for number in range(len(row)):
            if row[number]:
                group = row[number] if below[number] else ""
            elif below[number]:
                row[number] = group
    return join_columns(full)


def pad_rows(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return rows of equal length, with empty cells at their ends."""
    width = max(map(len, rows))
    return [[*row, *[""] * (width - len(row))] for row in rows]


def join_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the distinct texts of each column of rows of equal length, joined with blanks."""
    columns = zip(*rows, strict=True)
    return [" ".join(dict.fromkeys(filter(None, column))) for column in columns]


def count_tall_header(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows of a header of several rows; 0 for any other header.

    A header has more than one row only if all columns of numbers have text in each of its rows, and
    a row above has gaps or the last is a full one.
    """
    cells = [[cell.strip() for cell in row] for row in rows]
    described = count_description_rows(cells)
    if described and _are_units(cells[1]):
        return described + 1
    for number in range(MAX_HEADER_ROWS, 1, -1):
        if len(cells) > number + 1 and _is_tall_header(cells[:number], cells[number:]):
            return number
    return described + 1 if described else 0


def count_description_rows(rows: Sequence[Sequence[str]]) -> int:
    """Return the number of rows between the names and the values that describe the columns.

    They have units or remarks in columns that only have numbers or dates below. A single one needs
    a gap above a column of values; without a gap, it can be a row of the table. Units are certain:
    also above one column of numbers, and below names that are numbers.
    """
    names, *others = rows or [()]
    full = [row for row in others if len(row) == len(names)]
    if len(full) <= MIN_ROWS_BELOW:
        return 0
    units = _are_units(others[0])
    are_names = any if units else all
    if not are_names(map(_is_name, filter(None, names))):
        return 0
    min_columns = 1 if units else MIN_NUMERIC_COLUMNS
    count, values = _find_values_below(full, min_columns)
    if len(values) < min_columns or not all(
        _is_description(row, names, values) for row in others[:count]
    ):
        return 0
    certain = count > 1 or is_format(others[0]) or not all(others[0][n] for n in values) or units
    return count if certain else 0


def _find_values_below(
    rows: Sequence[Sequence[str]], min_columns: int
) -> tuple[int, dict[int, str]]:
    """Return the number of first rows below which most columns are values, and their kinds.

    There are none with fewer columns than `min_columns`.
    """
    likely = [*islice(_likely_values(rows), MAX_DESCRIBED_COLUMNS)]
    count, values = 0, dict[int, str]()
    most = min(MAX_DESCRIPTION_ROWS, len(rows) - MIN_ROWS_BELOW)
    for number in range(1, most + 1 if len(likely) >= min_columns else 0):
        kinds = {n: column_kind([row[n] for row in rows[number:]]) for n in likely}
        below = {n: kind for n, kind in kinds.items() if kind in (NUMBER, MOMENT)}
        if len(below) > len(values):
            count, values = number, below
    return count, values


def _likely_values(rows: Sequence[Sequence[str]]) -> Iterator[int]:
    """Yield the columns that end with a value and begin with none."""
    for n, (cell, last) in enumerate(zip(rows[0], rows[-1], strict=True)):
        if cell_kind(last) in (NUMBER, MOMENT) and cell_kind(cell) in (TEXT, EMPTY, MISSING):
            yield n


def _is_description(row: Sequence[str], names: Sequence[str], values: Mapping[int, str]) -> bool:
    """Return whether a row has other texts than names where the rows below have values."""
    if len(row) != len(names) or [*row] == [*names]:
        return False
    kinds = [
        (TEXT if UNIT.fullmatch(row[n]) else cell_kind(row[n]), kind) for n, kind in values.items()
    ]
    texts = sum(kind in (TEXT, MOMENT) for kind, _ in kinds)
    missing = sum(kind == MISSING for kind, _ in kinds)
    return texts > missing and all(kind not in (below, NUMBER) for kind, below in kinds)


def is_format(row: Sequence[str]) -> bool:
    """Return whether a row has the format or the type of each column."""
    return all(map(FORMAT.fullmatch, row))


def _are_units(row: Sequence[str]) -> bool:
    """Return whether a row has units of measurement, and nothing else but words for no unit.

    A single unit has empty cells beside it: otherwise it can be a value of a row.
    """
    filled = [*filter(None, map(str.strip, row))]
    others = [cell for cell in filled if not UNIT.fullmatch(cell)]
    units = len(filled) - len(others)
    enough = units >= MIN_UNITS_COUNT or 0 < units == len(filled) < len(row)
    return enough and all(map(NO_UNIT.fullmatch, others))


def _are_descriptions(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows below the names are no parts of the names: several, or of one form."""
    last = rows[-1]
    if all(cell.startswith(IMPORT_ID) for cell in last) or is_format(last) or _are_units(last):
        return True
    # Facts of a series have a name in the first column, above which there can be none.
    facts = all(names[1:]) and any(row[0] and any(row[1:]) for row in rows)
    return len(rows) > 1 and (all(names) or facts)


def _is_tall_header(header: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    widths = {*map(len, header)}
    are_names = all(_is_name(cell) for row in header for cell in row if cell)
    return (
        len(widths) == 1 < max(widths)
        and are_names
        and (
            all(cell.startswith(IMPORT_ID) for cell in header[-1])
            or _fills_gaps(header, others)
            or _has_index_names(header, others)
            or _is_above_numbers(header, others)
        )
    )


def _is_above_numbers(header: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    """Return whether the last row has texts above columns of numbers, and those above have gaps.

    Without gaps, each column of numbers has another text in the last row.
    """
    *upper, last = header
    numeric = _find_number_columns([row for row in others if len(row) == len(last)])
    texts = [last[number] for number in numeric if last[number]]
    if len(texts) < MIN_NUMERIC_COLUMNS or any(map(NO_NUMBER.fullmatch, texts)):
        return False
    if any(map(VALUE.fullmatch, last)) or any(sum(map(bool, row)) < 2 for row in upper):
        return False
    if all(
        any(name and not cell for cell, name in zip(row, below, strict=True))
        for row, below in pairwise(header)
    ):
        return len({*filter(None, last)}) > 1
    distinct = len({*texts}) == len(texts) > MIN_NUMERIC_COLUMNS
    return len(texts) == len(numeric) and distinct and header[0] != last


def _find_number_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns of which all values are numbers, and at least two."""
    columns = [
        [cell for cell in column if cell and (cell.isalnum() or not NO_NUMBER.fullmatch(cell))]
        for column in zip(*rows, strict=True)
    ]
    return [
        number
        for number, column in enumerate(columns)
        if len(column) > 1 and all(map(VALUE.fullmatch, column))
    ]


def _fills_gaps(header: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    """Return whether the second of two rows has names where the first has none, and gaps.

    The columns of these gaps have a value in every row, so that it is no row itself.
    """
    first, second, *more = header
    gaps = [n for n, cell in enumerate(first) if not cell]
    empty = [n for n, cell in enumerate(second) if not cell]
    whole = [row for row in others if len(row) == len(first)]
    complete = [n for n in empty if all(row[n] for row in whole)]
    return (
        not more
        and bool(gaps and complete and first[0])
        and len(whole) >= MIN_ROWS_BELOW
        and len(complete) == len(empty)
        and all(second[n] and not VALUE.fullmatch(second[n]) for n in gaps)
    )


def _has_index_names(header: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    """Return whether the last row only names the first columns, which have no name above.

    pandas writes the names of an index so, below the levels of the names of the other columns. The
    heading of a group is such a row, too, and its total follows.
    """
    *upper, last = header
    named = sum(map(bool, last))
    return (
        0 < named < len(last)
        and all(last[:named])
        and all(not any(row[:named]) and all(row[named:]) for row in upper)
        and all(len(row) == len(last) and all(row[:named]) for row in others)
        and not _has_total(last[0], others)
    )


def _has_total(name: str, rows: Sequence[Sequence[str]]) -> bool:
    """Return whether a row is the total of a group with a name."""
    return any(name in row[0] and is_subtotal(row[0]) for row in rows)


def _is_name(cell: str) -> bool:
    if find_amount_forms([cell]):
        return YEAR.fullmatch(cell) is not None
    return not VALUE.fullmatch(cell)

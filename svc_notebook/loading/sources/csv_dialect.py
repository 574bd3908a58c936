"""The dialect of a delimited file: separator, quote, escape and header, inferred from a sample."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, starmap
from pathlib import Path

from svc_notebook.errors import BadInput
from svc_notebook.loading.options import LoadSettings

SNIFFED_ROWS = 200
Row = tuple[int, list[str]]
# A quoted name in a header can extend over several lines.
MAX_HEADER_LINES = 10
# A cell that is a number, a date or a word for a missing value is not the name of a column.
VALUE = re.compile(
    r"[-+]?[\d.,:/ -]*\d[\d.,:/ -]*(?:e[-+]?\d+)?%?|true|false|yes|no|null|nan|n/?a", re.I
)
YEAR = re.compile(r"(1[5-9]|20|21)\d\d")
# A column consists of codes if so many values, and this share of them, have the same form.
MIN_CODES, CODE_SHARE = 2, 0.9
# A cell of the first row is a category if so many values, and this share of them, are equal to it.
MIN_REPEATS, REPEAT_SHARE = 2, 0.05


@dataclass(frozen=True)
class Dialect:
    """The dialect that DuckDB reads a file with."""

    separator: str
    quote: str
    escape: str
    header: bool
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    # Whether each row ends with a separator that the header does not have.
    trailing: bool = False


def sniff_dialect(text: str, separator: str, options: LoadSettings) -> Dialect:
    """Infer the dialect from the beginning of a table; options take precedence."""
    quote = options.quote or quote_of(text)
    rows = [row for _, row in parse_rows(text, separator, quote)]
    first = rows[0] if rows else []
    header = is_header(rows) if options.header is None else options.header
    names, notes = _named(first) if header else ([f"column{n}" for n, _ in enumerate(first)], [])
    if not header and options.header is None and first:
        notes.append("no header was found: columns are named column0, column1, …")
    trailing = False
    if header and (wide := _wider_by_one(rows)):
        trailing = all(row[-1] == "" for row in wide)
        if trailing:
            notes.append("every row ends with one separator more than the header; it is ignored")
        else:
            names.insert(0, next(n for n in _variants("column0") if n not in names))
            notes.append(
                "rows have one cell more than the header: the first column is assumed to have no "
                f"name, and is sent as `{names[0]}`"
            )
    escape = escape_of(text, quote)
    return Dialect(separator, quote, escape, header, tuple(names), tuple(notes), trailing)


def longest_record(path: Path, dialect: Dialect) -> int:
    """Return the bytes of a file's longest record; a record ends at a line end outside quotes."""
    quote, escaped = dialect.quote.encode(), f"\\{dialect.quote}".encode()
    longest = length = quotes = 0
    with path.open("rb") as file:
        for line in file:
            length += len(line)
            quotes += line.count(quote)
            quotes -= line.count(escaped) if dialect.escape == "\\" else 0
            if quotes % 2 == 0:
                longest, length = max(longest, length), 0
    return max(longest, length)


def quote_of(text: str) -> str:
    """Return the character around values in a text: `"`, unless there is none and `'` is used."""
    single = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n])", text, re.M))
    return "'" if single > 1 and '"' not in text else '"'


def escape_of(text: str, quote: str) -> str:
    """Return the character before a quote inside of a value: a backslash, or the quote itself."""
    return "\\" if f"\\{quote}" in text and quote * 2 not in text else quote


def parse_rows(text: str, separator: str, quote: str) -> list[Row]:
    """Return the first rows of a text that are not blank, each with the line on which it begins."""
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, quotechar=quote,
        skipinitialspace=separator == " ",
    )  # fmt: skip
    rows: list[Row] = []
    line = 0
    try:
        for row in reader:
            if row:
                rows.append((line, row))
            line = reader.line_num
            if len(rows) > SNIFFED_ROWS:
                return rows
    except csv.Error:
        return rows
    # The sample can end inside its last row.
    return rows[:-1] if len(rows) > 2 and not text.endswith(("\n", "\r")) else rows


def usual_width(rows: Sequence[Row]) -> int:
    """Return the most frequent number of cells; of equally frequent ones, the largest."""
    widths = Counter(len(row) for _, row in rows)
    return max(widths, key=lambda width: (widths[width], width), default=0)


def _wider_by_one(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows with one cell more than the header, if most rows have that."""
    first, *others = rows
    wide = [row for row in others if len(row) == len(first) + 1]
    return wide if len(wide) > len(others) / 2 else []


def is_header(rows: list[list[str]]) -> bool:
    """Return whether the first row names the columns.

    A header has names in more than a third of its cells. A value such as a number in it says no,
    unless it is one of several years above values that are no years. A cell says no if it occurs
    again below, or if it has the form that codes below it have, and yes if numbers or codes are
    below it. Where nothing says either, the first row is a header.
    """
    first, *others = [[cell.strip() for cell in row] for row in rows] if rows else [[]]
    if sum(map(bool, first)) <= len(first) // 3:
        return False
    if not others:
        return not any(map(VALUE.fullmatch, first))
    columns = [[row[place] for row in others if len(row) > place] for place in range(len(first))]
    years = [cell for cell in first if YEAR.fullmatch(cell)]
    names = [cell for cell in first if cell and not VALUE.fullmatch(cell)]
    below = [columns[place] for place, cell in enumerate(first) if cell in years]
    are_names = not any(map(YEAR.fullmatch, chain(*below)))
    if len(years) > 1 and years == sorted({*years}) and are_names:
        return bool(names) and len(names) + len(years) >= len(first) - 1
    if any(map(VALUE.fullmatch, first)):
        return False
    if first in others:  # files with the same header, one after the other
        return first != others[0]
    votes = sum(starmap(_vote_for_header, zip(first, columns, strict=True)))
    return votes >= 0


def _vote_for_header(cell: str, column: list[str]) -> int:
    """Return 1 if a column's values differ in kind from its first cell, -1 if they do not."""
    values = [value for value in column if value]
    if not cell or not values:
        return 0
    if all(map(VALUE.fullmatch, values)):
        return 1
    if values.count(cell) >= max(MIN_REPEATS, REPEAT_SHARE * len(values)):
        return -1
    forms = Counter(map(_form, values))
    form, count = forms.most_common(1)[0]
    if "9" not in form or count < max(MIN_CODES, CODE_SHARE * len(values)):
        return 0
    return -1 if _form(cell) == form else 1


def _form(value: str) -> str:
    """Return a value with every letter as `a` and every run of digits as `9`."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", value))


def _named(header: list[str]) -> tuple[list[str], list[str]]:
    """Return a unique name for every column, and a note for each that differs from the header."""
    names: list[str] = []
    notes: list[str] = []
    for number, cell in enumerate(header):
        found = cell.strip()
        if found.count("\n") > MAX_HEADER_LINES:
            raise BadInput(
                f"the header has an unclosed quote before `{found.split()[0]}`; close it"
            )
        wanted = found or f"column{number}"
        free = next(n for n in _variants(wanted) if n not in names)
        if free != found:
            notes.append(f"the name of column {number + 1} is `{found}`: sent as `{free}`")
        names.append(free)
    return names, notes


def _variants(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(2))

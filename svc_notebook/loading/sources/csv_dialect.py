"""The dialect of a delimited file: separator, quote, escape and header, inferred from a sample."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from svc_notebook.errors import BadInput
from svc_notebook.loading.options import LoadSettings

SEPARATORS = (",", ";", "\t", "|")
SNIFFED_ROWS = 200
# A quoted name in a header can extend over several lines.
MAX_HEADER_LINES = 10
# A cell that is a number, a date or a word for a missing value is not the name of a column.
VALUE = re.compile(r"[-+]?[\d.,:/ -]*\d[\d.,:/ -]*%?|true|false|yes|no|null|nan|n/?a", re.I)


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


def sniff_dialect(text: str, options: LoadSettings) -> Dialect:
    """Infer the dialect from a file's beginning; options take precedence."""
    quote = options.quote or _quote_of(text)
    separator = options.separator or max(SEPARATORS, key=lambda s: _fit(text, s, quote))
    rows = _rows(text, separator, quote)
    first = rows[0] if rows else []
    header = _is_header(rows) if options.header is None else options.header
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
    escape = "\\" if f"\\{quote}" in text and quote * 2 not in text else quote
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


def _quote_of(text: str) -> str:
    single = len(re.findall(r"(?:^|[,;\t|])'[^'\n]*'(?=[,;\t|\r\n])", text, re.M))
    return "'" if single > 1 and '"' not in text else '"'


def _fit(text: str, separator: str, quote: str) -> tuple[float, int]:
    """Rate a separator by the share of rows that have the most frequent width, and by the width."""
    widths = Counter(len(row) for row in _rows(text, separator, quote))
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
    return (count / widths.total(), width) if width > 1 else (0, 0)


def _rows(text: str, separator: str, quote: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, quotechar=quote)
    rows: list[list[str]] = []
    try:
        for row in reader:
            if row:
                rows.append(row)
            if len(rows) > SNIFFED_ROWS:
                return rows
    except csv.Error:
        return rows
    # The sample can end inside its last row.
    return rows[:-1] if len(rows) > 2 and not text.endswith("\n") else rows


def _wider_by_one(rows: list[list[str]]) -> list[list[str]]:
    """Return the rows with one cell more than the header, if most rows have that."""
    first, *others = rows
    wide = [row for row in others if len(row) == len(first) + 1]
    return wide if len(wide) > len(others) / 2 else []


def _is_header(rows: list[list[str]]) -> bool:
    first = [cell.strip() for cell in rows[0]] if rows else []
    if not first or any(VALUE.fullmatch(cell) for cell in first):
        return False
    return len(rows) == 1 or (any(first) and first != [cell.strip() for cell in rows[1]])


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

"""The dialect of a delimited file: separator, quote and escape, inferred from a sample."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, count, takewhile
from pathlib import Path

from svc_notebook.loading.text_cells.cell_kinds import VALUE

SNIFFED_ROWS = 200
# Separators in the order of preference; the others occur in text too, so they need more evidence.
USUAL_SEPARATORS = (",", ";", "\t", "|")
UNUSUAL_SEPARATORS = ("^", "~", ":", " ")
ALL_SEPARATORS = (*USUAL_SEPARATORS, *UNUSUAL_SEPARATORS)
# Cells inside single quotes for each line that make them the quote of a file.
SINGLE_QUOTE_SHARE = 0.5
# The minimum number of lines, and of quotes, that say that quotes are characters of values.
MIN_LITERAL_LINES, MIN_LITERAL_QUOTES = 3, 2
# The quote of a file without quotes: a character that no text contains.
NO_QUOTE = "\x1d"
# The first rows that are a table although most lines have one cell, and their cells.
MIN_FIRST_ROWS, MIN_WIDE_CELLS = 4, 3
# The share of rows with the most frequent width that needs no comparison with a run of wider rows,
# the minimum rows of such a run, and the rows that one of another width inside of it outweighs.
REGULAR_SHARE, MIN_RUN_ROWS, OTHER_ROW_COST = 0.8, 3, 2
Row = tuple[int, list[str]]
# A quoted name in a header can extend over several lines.
MAX_HEADER_LINES = 10


@dataclass(frozen=True)
class Dialect:
    """The dialect that DuckDB reads a file with."""

    separator: str
    quote: str
    escape: str
    header: bool
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    # The cells of the header, or of its last row, as they are in the file.
    cells: tuple[str, ...] = ()
    # Whether each row ends with a separator that the header does not have.
    trailing: bool = False
    # The cells of the first row, if no header was found.
    first_row: tuple[str, ...] = ()
    # The columns whose quoted values are values, whatever their lines look like.
    texts: frozenset[int] = frozenset()


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
    """Return the character around values in a text: `"`, unless only `'` is used as a quote.

    A cell that begins with `'` but does not end with it shows that `'` is an apostrophe.
    """
    if "'" not in text or _enclosed('"').search(text):
        return '"'
    singles = len(_enclosed("'").findall(text))
    all_names = re.match(r"\s*'[^'\r\n]*'(?:[,;\t|^~: ] *'[^'\r\n]*')+ *(?:[\r\n]|\Z)", text)
    if all_names:
        return "'"
    apostrophe = re.search(r"(?:^|[,;\t|^~:]) ?'", _enclosed("'").sub("", text), re.M)
    enough = singles > max(1, SINGLE_QUOTE_SHARE * text.count("\n"))
    return "'" if enough and not apostrophe else '"'


def has_literal_quotes(text: str) -> bool:
    """Return whether `"` is a character of values and encloses none of them.

    Then every line has the same number of cells if quotes are ignored, and some cell begins with a
    quote that it does not end with. A cell with a separator or a doubled quote is enclosed.
    """
    if '"' not in text:
        return False
    lines = [line for line in text.splitlines()[:SNIFFED_ROWS] if line.strip()]
    lines = lines if text.endswith(("\n", "\r")) else lines[:-1] or lines
    for separator in USUAL_SEPARATORS:
        counts = {line.count(separator) for line in lines}
        if len(counts) != 1 or counts == {0}:
            continue
        cells = [
            cell for line in lines[1:] if '"' in line
            for cell in line.split(separator) if '"' in cell
        ]  # fmt: skip
        begun = [cell for cell in cells if cell.startswith('"')]
        closed = [cell for cell in begun if len(cell) > 1 and cell.endswith('"')]
        torn = [cell for cell in begun if len(cell) < 2 or not cell.endswith('"')]
        numbers = any(VALUE.fullmatch(cell[1:]) for cell in torn)
        if not torn or numbers or any('""' in cell[1:-1] for cell in closed):
            return False
        # Between tabs, values of several lines are rare.
        loose = len(cells) - len(begun) if separator == "\t" else 0
        several = len(torn) + loose >= MIN_LITERAL_QUOTES and len(closed) <= len(torn)
        return several and len(lines) > MIN_LITERAL_LINES
    return False


def _enclosed(quote: str) -> re.Pattern[str]:
    """Return the pattern of a cell inside quotes; between blanks, of a line of such cells."""
    cell = rf"{quote}(?:[^{quote}\r\n]|{quote}{quote}|\\{quote})*{quote}"
    return re.compile(
        rf"(?:^|(?<=[,;\t|^~:])) ?{cell} *(?=[,;\t|^~:\r\n]|\Z)|^{cell}(?: +{cell})+ *$", re.M
    )


def escape_of(text: str, quote: str) -> str:
    """Return the character before a quote inside of a value: a backslash, or the quote itself.

    Doubled quotes that are a whole cell, or follow a backslash, do not count.
    """
    if f"\\{quote}" not in text:
        return quote
    between = re.escape("".join((*ALL_SEPARATORS, "\r", "\n")))
    whole = re.compile(rf"(?:^|(?<=[{between}])){quote}{quote}(?=[{between}]|\Z)", re.M)
    rest = whole.sub("", text)
    doubled = len(re.findall(rf"(?<!\\){quote}{quote}|\\{quote}{quote}(?![{between}]|\Z)", rest))
    escaped = len(re.findall(rf"\\{quote}(?=[^{quote}{between}])", rest))
    return "\\" if escaped > doubled else quote


def parse_rows(text: str, separator: str, quote: str, *, padded: bool = False) -> list[Row]:
    """Return the first rows of a text that are not blank, each with the line on which it begins.

    If `padded`, blanks after a separator do not hide a quote.
    """
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=separator, quotechar=quote,
        skipinitialspace=padded or separator == " ",
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


def parse_line(line: str, dialect: Dialect) -> list[str]:
    """Return the cells of a line by itself."""
    blanks = dialect.separator == " "
    reader = csv.reader(
        [line.strip() + "\n" if blanks else line],
        delimiter=dialect.separator, quotechar=dialect.quote, skipinitialspace=blanks,
    )  # fmt: skip
    try:
        return next(reader, [])
    except csv.Error:
        return line.split(dialect.separator)


def free_name(wanted: str, taken: Collection[str], first: int = 2) -> str:
    """Return a name that is not taken: the wanted one, or with a number from `first` after it."""
    numbered = (f"{wanted}_{number}" for number in count(first))
    return next(name for name in chain([wanted], numbered) if name not in taken)


def usual_width(rows: Sequence[Row]) -> int:
    """Return the number of cells of the table's rows.

    It is the most frequent one; of equally frequent ones, the largest. A table can have fewer rows
    than the lines above and below it: then they follow each other, and have more cells in total.
    """
    widths = Counter(len(row) for _, row in rows)
    usual = max(widths, key=lambda width: (widths[width], width), default=0)
    if not rows or widths[usual] >= REGULAR_SHARE * len(rows):
        return usual
    first = len(rows[0][1])
    if usual == 1 and first >= MIN_WIDE_CELLS:
        run = sum(1 for _ in takewhile(lambda row: len(row[1]) == first, rows))
        if run >= MIN_FIRST_ROWS and run == widths[first]:
            return first
    if usual >= MIN_WIDE_CELLS:  # another table, not remarks
        return usual
    wide = [width for width in widths if width >= MIN_WIDE_CELLS]
    cells, width = max(((_count_run_cells(rows, width), width) for width in wide), default=(0, 0))
    return width if cells > usual * widths[usual] else usual


def _count_run_cells(rows: Sequence[Row], width: int) -> int:
    """Return the cells of the longest run of rows of a width, less those of rows between them."""
    cells = most = 0
    for _, row in rows:
        cells = max(0, cells + (width if len(row) == width else -OTHER_ROW_COST * width))
        most = max(most, cells)
    return most if most >= MIN_RUN_ROWS * width else 0

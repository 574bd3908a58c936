r"""Lines that programs print, other than those of a table with separators.

Records with a line for each value, as database clients print them: `\G` of MySQL, `\x` of psql.
Tables of statistics offices, as Eurostat writes them: the first line is `freq,geo\TIME_PERIOD`,
a tab and the periods; values are `6.5 b` or `: c`, with flags for provisional and other data.
Columns that begin at the same places, with blanks between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from svc_notebook.data.loading.sources.csv_candidates import FULL_POINTS
from svc_notebook.data.loading.text_cells.cell_kinds import MOMENT, NUMBER, column_kind
from svc_notebook.data.loading.text_cells.signals import Decision, state

# The minimum gap; of columns without names, the minimum rows, and columns of numbers.
MIN_GAP, MIN_ROWS_WITHOUT_NAMES, MIN_NUMERIC_COLUMNS = 2, 5, 2
# The names of the dimensions, that of the time, and the first period.
HEADER = re.compile(r"(?P<dimensions>[\w.-]+(?:,[\w.-]+)*)\\[\w.-]+ *\t\d{4}")
# A value or the sign for none, and its flags.
FLAGGED = re.compile(r"(?P<value>[-+]?[\d.]+(?:[eE][-+]?\d+)?|:)(?: +[a-zA-Z]+)?")
MISSING = ":"
# The line before each record, and a name with its value.
FORMS = (
    (re.compile(r"\*{5,} \d+\. row \*{5,}"), re.compile(r" *([^\s:][^:]*): ?(.*)", re.S)),
    (re.compile(r"-\[ RECORD \d+ \][-+]*"), re.compile(r"([^\s|][^|]*?) *\| ?(.*)", re.S)),
)
END = re.compile(r"\d+ rows? in set.*|\(\d+ rows?\)")
# Between the lines of a record that are joined.
LINE_END = "\x1e"
# From the lines of a file to its rows; None for a line that is not one.
ReadLine = Callable[[str], list[str] | None]


@dataclass(frozen=True)
class PrintedTable:
    """How the lines of a printed table become rows."""

    note: str
    read: ReadLine
    # The lines before the header.
    titles: int = 0
    # The names of the columns if no line has them.
    names: tuple[str, ...] = ()
    # Joins the lines of a record.
    join: Callable[[Iterable[str]], Iterable[str]] = iter

    @property
    def decision(self) -> Decision:
        """The decision to read the file in this way; all lines agree, so no other one is rated."""
        return state("reading", "a printed table", self.note, FULL_POINTS + 1)


def find_printed_records(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find records that database clients print with a line for each value."""
    first = next((line.strip() for line in lines if line.strip()), "")
    for start, pair in FORMS:
        if start.fullmatch(first):
            _, *values = next(_join(start, lines)).split(LINE_END)
            names = dict.fromkeys(match[1] for line in values if (match := pair.fullmatch(line)))
            read = partial(_read_record, start, pair, (*names,))
            note = "each record is printed with a line for each value"
            join = partial(_join, start)
            return PrintedTable(note, read, names=(*names,), join=join) if names else None
    return None


def _read_record(
    start: re.Pattern[str], pair: re.Pattern[str], names: Sequence[str], record: str
) -> list[str] | None:
    """Return the values of a record in the order of the names; None for another line.

    A line without a name belongs to the value before it.
    """
    first, *lines = record.split(LINE_END)
    values: list[list[str]] = []
    for line in lines:
        match = pair.fullmatch(line)
        if match and len(values) < len(names) and match[1] == names[len(values)]:
            values.append([match[2]])
        elif values:
            values[-1].append(line)
    complete = start.fullmatch(first.strip()) and len(values) == len(names)
    # A blank line after the last record does not belong to the last value.
    return ["\n".join(value).rstrip("\n") for value in values] if complete else None


def _join(start: re.Pattern[str], lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of each record as one line, and other lines by themselves."""
    record: list[str] = []
    for line in lines:
        body = line.rstrip("\r\n")
        if start.fullmatch(body.strip()):
            yield from [LINE_END.join(record)] if record else []
            record = [body]
        elif record and not END.fullmatch(body.strip()):
            record.append(body)
        elif body.strip():
            yield body
    yield from [LINE_END.join(record)] if record else []


def find_sdmx_table(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find a table of a statistics office with several dimensions in the first column."""
    header = HEADER.match(lines[0]) if lines else None
    if header is None:
        return None
    dimensions = header["dimensions"].split(",")
    periods = [cell.strip() for cell in lines[0].split("\t")[1:]]

    def read(line: str) -> list[str] | None:
        first, *cells = line.split("\t")
        if HEADER.match(line):
            return [*dimensions, *periods]
        keys = [key.strip() for key in first.split(",")]
        if len(keys) != len(dimensions) or len(cells) != len(periods):
            return None
        return [*keys, *map(_read_value, cells)]

    # Flags can be in any line, also after the lines that were looked at.
    return PrintedTable(
        f"the first column has the dimensions {', '.join(dimensions)}, each of which becomes a "
        "column; `:` is a missing value, and flags after values, as in `6.5 b`, are left out",
        read,
    )


def _read_value(cell: str) -> str:
    match = FLAGGED.fullmatch(cell.strip())
    value = match["value"] if match else cell.strip()
    return "" if value == MISSING else value


def find_name_starts(rows: Sequence[str]) -> list[int]:
    """Return the places at which columns begin: after blanks in all rows.

    One such blank is sufficient if the header, which is the first row, has several there, after a
    column of right-aligned values with digits, or if most rows have several between two cells.
    """
    blank = _find_blanks(rows)
    in_header = {
        n
        for match in re.finditer(rf" {{{MIN_GAP},}}", rows[0].ljust(len(blank)))
        for n in range(*match.span())
    }
    starts, narrow, run = [0], set(), 0
    for position, is_blank in enumerate(blank):
        if is_blank:
            run += 1
        elif run:
            certain = run >= MIN_GAP or position - 1 in in_header
            span = starts[-1], position - 1
            if certain or _is_right_aligned(rows, *span) or _are_apart(rows, *span):
                starts.append(position)
                narrow |= {position} if run < MIN_GAP else set()
            run = 0
    # All values of a column can have a blank at the same place, where no name begins.
    ends = [*starts[1:], len(blank)]
    return [
        start
        for start, end in zip(starts, ends, strict=True)
        if start not in narrow or rows[0][start:end].strip()
    ]


def _is_right_aligned(rows: Sequence[str], start: int, end: int) -> bool:
    """Return whether the cells between two places are one word each, and end at the second one."""
    header, *cells = [row[start:end] for row in rows]
    words = [cell.split() for cell in cells]
    return (
        bool(header.strip())
        and all(cell[-1:].strip() for cell in (header, *cells))
        and all(len(word) == 1 and any(map(str.isdigit, word[0])) for word in words)
    )


def _are_apart(rows: Sequence[str], start: int, end: int) -> bool:
    """Return whether rows have cells on both sides of a blank, and most of them several blanks."""
    header, *others = rows
    name = header[end + 1 :].split(" ")[0]
    spans = (start, end), (end + 1, end + 1 + len(name))
    wide = sum("  " in row[end - 1 : end + 2] for row in others)
    return 2 * wide > len(others) and all(
        row[first:last].strip() for row in rows for first, last in spans
    )


def find_value_starts(rows: Sequence[str]) -> list[int]:
    """Return the places at which columns without names begin; none if fewer than two are numbers.

    One blank is sufficient beside a column of numbers or dates.
    """
    if len(rows) < MIN_ROWS_WITHOUT_NAMES:
        return []
    blank = _find_blanks(rows)
    starts = [0, *(n for n in range(1, len(blank)) if blank[n - 1] and not blank[n])]
    numbers = [*map(_are_values, zip(*split_at(rows, starts), strict=True))]
    kept = [0, *(
        start for n, start in enumerate(starts[1:], 1)
        if numbers[n - 1] or numbers[n] or all(blank[max(start - MIN_GAP, 0) : start])
    )]  # fmt: skip
    columns = list(zip(*split_at(rows, kept), strict=True))
    complete = sum(all(column) and _are_values(column) for column in columns)
    return kept if complete >= MIN_NUMERIC_COLUMNS and all(columns[0]) else []


def _are_values(column: Sequence[str]) -> bool:
    return column_kind(column) in (NUMBER, MOMENT)


def split_at(rows: Sequence[str], starts: Sequence[int]) -> list[list[str]]:
    """Return the cells of lines, which begin at the same places."""
    ends = [*starts[1:], max(map(len, rows))]
    return [[row[start:end].strip() for start, end in zip(starts, ends, strict=True)]
            for row in rows]  # fmt: skip


def _find_blanks(rows: Sequence[str]) -> list[bool]:
    """Return for each place whether all rows have a blank there."""
    return [all(row[n : n + 1] in ("", " ") for row in rows) for n in range(max(map(len, rows)))]

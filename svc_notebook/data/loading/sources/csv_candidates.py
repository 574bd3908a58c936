"""Candidates for the quote and the separator of a delimited file, rated by signals."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from io import StringIO
from itertools import islice, repeat, takewhile
from typing import NamedTuple

from svc_notebook.data.loading.sources.csv_cells import (
    LINE_ENDS,
    NO_QUOTE,
    Dialect,
    split_cells,
    split_records,
)
from svc_notebook.data.loading.text_cells.cell_kinds import (
    MOMENT,
    NUMBER,
    TEXT,
    TRUTH,
    VALUE,
    cell_kind,
    column_kind,
    is_missing_text,
)
from svc_notebook.data.loading.text_cells.signals import Decision, Hypothesis, Signal, decide

SAMPLE_ROWS = 200
# Words that programs write without quotes for a missing value when texts are inside quotes.
BARE_WORDS = ("NA", "NULL")
BARE_WORD = re.compile(r"\b(?:NA|NULL)\b")
# Separators in the order of preference; the others occur in text too, so they need more evidence.
USUAL_SEPARATORS = (",", ";", "\t", "|", "\x01", "\x1f")
UNUSUAL_SEPARATORS = ("^", "~", ":", " ")
ALL_SEPARATORS = (*USUAL_SEPARATORS, *UNUSUAL_SEPARATORS)
SHOWN = {"\t": "tab", " ": "blank", "\x01": "Ctrl-A", "\x1f": "Ctrl-_", NO_QUOTE: "none"}
# The points of a reading in which all rows have the same number of cells, and those of a usual
# separator above which unusual ones are not rated, because that takes time.
FULL_POINTS, CERTAIN_POINTS = 10, 7.5
# The minimum share of rows with the most frequent width, and number of rows, of unusual separators.
UNUSUAL_SHARE, MIN_UNUSUAL_ROWS = 0.95, 3
# The minimum number of rows of a table between blanks that has no header, and a number in it. Two
# columns of fractions need fewer.
MIN_ALIGNED_ROWS, MIN_FRACTION_ROWS = 5, 3
GROUP_DIGITS = 3
PLAIN_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", re.I)
# A comma that separates cells: neither a decimal comma nor one of a sentence.
CLOSED_CELL = re.compile(r'".*"', re.S)
COMMA_BETWEEN_CELLS = re.compile(r"(?<!\d),(?! )|,(?![\d ])")
# The minimum number of cells inside single quotes per line, if these are the quote of a file.
SINGLE_QUOTE_SHARE = 0.5
QUOTED_NAMES = re.compile(r"\s*'[^'\r\n]*'(?:[,;\t|^~: ] *'[^'\r\n]*')+ *(?:[\r\n]|\Z)")
# The minimum number of lines, and of quotes, if quotes are characters of values.
MIN_LITERAL_LINES, MIN_LITERAL_QUOTES = 3, 2
# The minimum number of first rows, and of their cells, of a table in a file whose other lines have
# one cell.
MIN_FIRST_ROWS, MIN_WIDE_CELLS = 4, 3
# The share of rows with the most frequent width that needs no comparison with a run of wider rows,
# the minimum rows of such a run, and the rows that are subtracted for one of another width in it.
REGULAR_SHARE, MIN_RUN_ROWS, OTHER_ROW_COST = 0.8, 3, 2
# Blanks belong to the separator if they follow at least this share of the separators.
PADDED_SHARE = 0.95
# They also do if they precede at least this share of them, or fill up a column of at least this
# number of rows.
ENDING_SHARE, MIN_FILLED_ROWS = 0.5, 3

# A row, and the line on which it begins.
Row = tuple[int, list[str]]


class Sample:
    """The first lines of a file, and its rows by the separator and the quote, each read once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._rows: dict[tuple[str, str], list[Row]] = {}

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends."""
        return StringIO(self.text, newline="").readlines()

    def rows(self, separator: str, quote: str) -> list[Row]:
        """Return the rows that are not blank."""
        key = separator, quote
        if key not in self._rows:
            self._rows[key] = parse_rows(self.text, separator, quote)
        return self._rows[key]

    def with_lines(self, lines: Sequence[str]) -> Sample:
        """Return the sample of a part of the lines: itself if that is all of them."""
        return self if len(lines) == len(self.lines) and lines == self.lines else Sample(
            "".join(lines)
        )  # fmt: skip


class LineRow(NamedTuple):
    """A row, the line on which it begins, and the line after it."""

    first: int
    end: int
    cells: list[str]


def read_rows(
    lines: Iterable[str], separator: str, quote: str, escape: str = "", *, padded: bool = False
) -> Iterator[LineRow]:
    """Yield rows, blank ones included, up to one that the csv module cannot read.

    If `padded`, blanks after a separator do not hide a quote.
    """
    other_escape = escape if escape != quote else ""
    reader = csv.reader(
        lines, delimiter=separator, quotechar=quote, escapechar=other_escape or None,
        doublequote=not other_escape, skipinitialspace=padded or separator == " ",
    )  # fmt: skip
    first = 0
    with suppress(csv.Error):
        for cells in reader:
            yield LineRow(first, reader.line_num, cells)
            first = reader.line_num


def parse_rows(text: str, separator: str, quote: str, *, padded: bool = False) -> list[Row]:
    """Return the first rows of a text that are not blank, each with the line on which it begins."""
    source = read_rows(StringIO(text, newline=""), separator, quote, padded=padded)
    rows = list(islice(((row.first, row.cells) for row in source if row.cells), SAMPLE_ROWS + 1))
    # The sample can end inside its last row.
    incomplete = 2 < len(rows) <= SAMPLE_ROWS and not text.endswith(("\n", "\r"))
    return rows[:-1] if incomplete else rows


def parse_line(line: str, dialect: Dialect) -> list[str]:
    """Return the cells of a line by itself."""
    body = line.strip(None if dialect.separator == " " else LINE_ENDS)
    rows = parse_rows(body + "\n", dialect.separator, dialect.quote)
    return rows[0][1] if rows else []


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
    filled = max(sum(map(bool, row)) for _, row in rows if len(row) == usual)
    if filled >= MIN_WIDE_CELLS:  # another table, not remarks
        return usual
    wide = [width for width in widths if width >= MIN_WIDE_CELLS or _has_values(rows, width)]
    cells, width = max(((_count_run_cells(rows, width), width) for width in wide), default=(0, 0))
    return width if cells > filled * widths[usual] else usual


def _has_values(rows: Sequence[Row], width: int) -> bool:
    """Return whether rows of several cells, unlike those of a text, have a column of values."""
    below = [row for _, row in rows if len(row) == width > 1][1:]
    columns = zip(*below[-MIN_RUN_ROWS:], strict=True)
    return any(column_kind(column) in (NUMBER, MOMENT) for column in columns)


def _count_run_cells(rows: Sequence[Row], width: int) -> int:
    """Return the cells of the longest run of rows of a width, less those of rows between them."""
    cells = most = 0
    for _, row in rows:
        cells = max(0, cells + (width if len(row) == width else -OTHER_ROW_COST * width))
        most = max(most, cells)
    return most if most >= MIN_RUN_ROWS * width else 0


def find_quote(text: str, separator: str | None = None) -> Decision:
    """Decide on the character around values: `"`, `'`, `~`, or none.

    It is not the separator that is given.
    """
    signals = {'"': [Signal("is the usual quote", 1)]}
    if separator != "~":
        signals["~"] = [*_rate_tildes(text)]
    if '"' in text and NO_QUOTE not in text and _has_literal_quotes(text):
        signals[NO_QUOTE] = [Signal('`"` begins values that it does not end', 10)]
    elif "'" in text and '"' in text and _enclosed('"').search(text):
        signals['"'].append(Signal("encloses values", 9))
    elif "'" in text:
        signals["'"] = [*_rate_single_quotes(text)]
    return decide(
        "quote", [Hypothesis(quote, SHOWN.get(quote, quote), (*what,))
                  for quote, what in signals.items()]
    )  # fmt: skip


def _rate_tildes(text: str) -> Iterator[Signal]:
    """Yield the signal of `~`, which is a separator in other files."""
    if text.startswith("~") and len(_enclosed("~").findall(text)) > text.count("\n"):
        yield Signal("encloses values of all lines", 9)


def _rate_single_quotes(text: str) -> Iterator[Signal]:
    """Yield the signals of `'`; a cell that begins with it only has an apostrophe."""
    if QUOTED_NAMES.match(text):
        yield Signal("encloses all names", 5)
    values = _enclosed("'").findall(text)
    if len(values) > max(1, SINGLE_QUOTE_SHARE * text.count("\n")):
        yield Signal("encloses a value in most lines", 2)
    if re.search(r"(?:^|[,;\t|^~:]) ?'", _enclosed("'").sub("", text), re.M):
        yield Signal("begins a value that it does not end", -3)


def _has_literal_quotes(text: str) -> bool:
    """Return whether `"` is a character of values and encloses none of them.

    Then every line has the same number of cells if quotes are ignored, and some cell begins with a
    quote that it does not end with. A cell with a separator or a doubled quote is enclosed.
    """
    lines = [line for line in text.splitlines()[:SAMPLE_ROWS] if line.strip()]
    lines = lines if text.endswith(("\n", "\r")) else lines[:-1] or lines
    for separator in USUAL_SEPARATORS:
        counts = {line.count(separator) for line in lines}
        if len(counts) == 1 and counts != {0}:
            return _are_literal_quotes(lines, separator)
    return False


def _are_literal_quotes(lines: Sequence[str], separator: str) -> bool:
    """Return whether cells begin with a quote that they do not end with, in enough lines."""
    quoted = [line.split(separator) for line in lines[1:] if '"' in line]
    cells = [cell for row in quoted for cell in row if '"' in cell]
    begun = [cell for cell in cells if cell.startswith('"')]
    closed = [*filter(CLOSED_CELL.fullmatch, begun)]
    torn = [cell for cell in begun if not CLOSED_CELL.fullmatch(cell)]
    has_doubled = any('""' in cell[1:-1] for cell in closed)
    if has_doubled or any(VALUE.fullmatch(cell[1:]) for cell in torn):
        return False
    # Between tabs, values of several lines are rare.
    loose = len(cells) - len(begun) if separator == "\t" else 0
    several = len(torn) + loose >= MIN_LITERAL_QUOTES and len(closed) <= len(torn)
    return bool(torn) and several and len(lines) > MIN_LITERAL_LINES


def _enclosed(quote: str) -> re.Pattern[str]:
    """Return the pattern of a cell inside quotes; between blanks, of a line of such cells."""
    cell = rf"{quote}(?:[^{quote}\r\n]|{quote}{quote}|\\{quote})*{quote}"
    return re.compile(
        rf"(?:^|(?<=[,;\t|^~:])) ?{cell} *(?=[,;\t|^~:\r\n]|\Z)|^{cell}(?: +{cell})+ *$", re.M
    )


def find_bare_words(lines: Sequence[str], dialect: Dialect) -> tuple[str, ...]:
    """Return the words for missing values that are outside of quotes in a column of quoted texts.

    All texts of the table are inside of quotes: otherwise such a word can be one of them.
    """
    columns = _distinct_cells(lines, dialect) if any(map(BARE_WORD.search, lines)) else []
    bare = [{cell for cell in column if cell[0] != dialect.quote} for column in columns]
    others = set[str]().union(*bare) - {*BARE_WORDS}
    if not all(map(VALUE.fullmatch, others)):
        return ()
    of_texts = (cells for cells, column in zip(bare, columns, strict=True) if column > cells)
    words = set[str]().union(*(cells for cells in of_texts if cells <= {*BARE_WORDS}))
    return tuple(filter(words.__contains__, BARE_WORDS))


def _distinct_cells(lines: Sequence[str], dialect: Dialect) -> list[set[str]]:
    """Return the cells of each column with their quotes; not empty ones, nor the header's."""
    _, *rows = map(split_cells, split_records(lines[:SAMPLE_ROWS], dialect), repeat(dialect))
    width = max(map(len, rows), default=0)
    regular = (row for row in rows if len(row) == width)
    return [{*filter(None, column)} for column in zip(*regular, strict=True)]


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


def find_separator(sample: Sample, quote: str) -> Decision:
    """Decide on the character between cells, by the rows that each candidate gives.

    The quote is no candidate: the csv module of Python 3.13 refuses one character for both.
    """
    marks = {*sample.text, ","} - {quote}
    usual = [mark for mark in USUAL_SEPARATORS if mark in marks]
    rated = [_as_hypothesis(mark, rate_separator(sample, mark, quote)) for mark in usual]
    if max(hypothesis.points for hypothesis in rated) < CERTAIN_POINTS:
        rated += [_as_hypothesis(mark, _rate_unusual(sample, mark, quote))
                  for mark in UNUSUAL_SEPARATORS if mark in marks]  # fmt: skip
    return decide("separator", rated)


def _as_hypothesis(mark: str, signals: Iterator[Signal]) -> Hypothesis:
    return Hypothesis(mark, SHOWN.get(mark, mark), tuple(signals))


def rate_separator(sample: Sample, separator: str, quote: str) -> Iterator[Signal]:
    """Yield the signals of a separator.

    A cell with one quote inside is a part of a value. Of separators with nearly the same share of
    regular rows, that of lists in a column is worse: it does not split the first rows as the
    others, or its cells contain another separator.
    """
    text, rows = sample.text, sample.rows(separator, quote)
    if any(cell.startswith(" ") for _, row in rows for cell in row):
        rows = parse_rows(text, separator, quote, padded=True)
    width = usual_width(rows)
    if width < 2:
        yield Signal("rows have one cell", 0)
        return
    cells = [cell for _, row in rows if len(row) == width for cell in row]
    share = len(cells) / width / len(rows)
    halves = sum(cell.count(quote) % 2 for cell in cells if quote in cell) / len(cells)
    what = f"{share:.0%} of the rows have {width:,} cells"
    what += f"; {halves:.0%} of the cells have one quote" if halves else ""
    # Rounded, because small differences say nothing; the width is for equal ones.
    yield Signal(what, FULL_POINTS * round(share - halves, 1) + width / 1e6)
    if any(len(row) != width for _, row in rows[:2]):
        yield Signal("the first rows have another number of cells", -0.5)
    if separator != "\t" and _have_equal_tabs(rows):
        yield Signal("all rows contain as many tabs", -1)
    if torn := _share_torn_cells(cells, separator, text):
        yield Signal(f"{torn:.0%} of the cells contain another separator", -0.4 * torn)


def _have_equal_tabs(rows: Sequence[Row]) -> bool:
    """Return whether several tabs are in each row, as if they separated its cells."""
    counts = {sum(cell.count("\t") for cell in row) for _, row in rows}
    return len(rows) > 1 and len(counts) == 1 and min(counts) > 1


def _share_torn_cells(cells: Sequence[str], separator: str, text: str) -> float:
    """Return the share of cells that contain another separator of the text."""
    others = [mark for mark in USUAL_SEPARATORS if mark not in (separator, ",") and mark in text]
    patterns = [re.escape(mark) for mark in others]
    if separator != "," and "," in text:
        patterns.append(COMMA_BETWEEN_CELLS.pattern)
    torn = re.compile("|".join(patterns)) if patterns else None
    return sum(map(bool, map(torn.search, cells))) / len(cells) if torn else 0.0


def _rate_unusual(sample: Sample, separator: str, quote: str) -> Iterator[Signal]:
    """Yield the signals of a separator that occurs in text, too, and so needs evidence."""
    text = sample.text
    if separator == " ":
        text = re.sub(r"(?<! ) +(?=[\r\n]|\Z)", "", text)
    rows = [[cell.strip() for cell in row] for _, row in parse_rows(text, separator, quote)]
    width = max(Counter(map(len, rows)).items(), key=lambda item: item[1], default=(0, 0))[0]
    usual = [row for row in rows if len(row) == width]
    # As R writes it, a header has no name for the first column.
    short_header = separator == " " and bool(rows) and len(rows[0]) == width - 1 > 1
    yield Signal("occurs in texts, too", -1)
    if width < 2 or len(usual) < max(MIN_UNUSUAL_ROWS, UNUSUAL_SHARE * (len(rows) - short_header)):
        yield Signal("rows have different numbers of cells", 0)
        return
    header = ["", *rows[0]] if short_header else usual[0]
    if evidence := _find_evidence(separator, header, usual[not short_header :], "  " in text):
        yield Signal(f"{len(usual):,} of {len(rows):,} rows have {width:,} cells", FULL_POINTS)
        yield Signal(evidence, 0)
    else:
        yield Signal("no column has numbers or dates below a name", 0)


def _find_evidence(
    separator: str, header: Sequence[str], others: Sequence[Sequence[str]], several_blanks: bool
) -> str:
    """Return the evidence that regular rows are a table, not texts; empty without any.

    Some column must contain numbers or dates below a name, for a list of names or of times has
    neither; a table of numbers alone has three columns. Without a header, at least two columns of
    numbers must be between blanks; digits of one number can be in groups of three, and then have
    neither a point nor several blanks.
    """
    if separator in "^~":
        return "separates the cells of all rows"
    columns = list(zip(header, *others, strict=True))
    if separator == " " and (evidence := _find_numbers(columns, several_blanks)):
        return evidence
    named = any(
        cell_kind(name) == TEXT and column_kind(column) in (NUMBER, MOMENT, TRUTH)
        for name, *column in columns
    )
    return "numbers or dates are below a name" if named else ""


def _find_numbers(columns: Sequence[Sequence[str]], several_blanks: bool) -> str:
    """Return the evidence that columns between blanks are numbers; empty without any."""
    if len(columns) > 2 and all(VALUE.fullmatch(cell) for row in columns for cell in row):
        return "all cells are numbers or dates"
    numeric = [column for column in columns if all(map(PLAIN_NUMBER.fullmatch, column))]
    fractions = [column for column in numeric if all("." in cell for cell in column)]
    # Two numbers with points are not one number in groups.
    is_certain = len(fractions) == len(columns) and len(columns[0]) >= MIN_FRACTION_ROWS
    if len(numeric) < 2 or not (is_certain or len(columns[0]) >= MIN_ALIGNED_ROWS):
        return ""
    ungrouped = any(len(cell) != GROUP_DIGITS for column in numeric[1:] for cell in column)
    aligned = fractions or ungrouped or (several_blanks and len(numeric) == len(columns))
    return "several columns are numbers" if aligned else ""


def is_padded(lines: Sequence[str], rows: Sequence[Row], dialect: Dialect) -> bool:
    """Return whether blanks around separators, outside of quotes, belong to them.

    A blank follows nearly every separator, or precedes most, or fills up the cells of some column,
    or a tab ends them, which keeps a spreadsheet from reading them as numbers.
    `rows` are what the csv module finds in the lines, with these blanks.
    """
    if all(cell == cell.strip(dialect.blanks) for _, row in rows for cell in row):
        return False
    first = lines[:SAMPLE_ROWS]
    records = [
        split_cells(record, dialect)
        for record in split_records(first, dialect)
        if record.strip(LINE_ENDS)
    ]
    begins = [cell.startswith(" ") for record in records for cell in record[1:] if cell]
    ends = [cell[-1] in dialect.blanks for record in records for cell in record[1:-1] if cell]
    return (
        (len(begins) > 1 and sum(begins) >= PADDED_SHARE * len(begins))
        or (len(ends) > 1 and sum(ends) >= ENDING_SHARE * len(ends))
        or _has_filled_column(records[1:], dialect.blanks)
        or _are_signs_padded(records)
    )


def _are_signs_padded(records: Sequence[Sequence[str]]) -> bool:
    """Return whether blanks fill up words for missing numbers, such as `.`, and no other texts."""
    padded = [cell for record in records for cell in record if cell != cell.strip(" ")]
    words = [cell.rstrip(LINE_ENDS) for cell in padded if not VALUE.fullmatch(cell.strip())]
    return any(not is_missing_text(word) for word in words) and all(
        word.startswith("  ") and is_missing_text(word.lstrip(" ")) for word in words
    )


def _has_filled_column(records: Sequence[Sequence[str]], blanks: str) -> bool:
    """Return whether blanks fill up the cells of a column to one length, or a tab ends them all."""
    if len(records) < MIN_FILLED_ROWS or len({*map(len, records)}) > 1:
        return False
    return any(
        (len({*map(len, column)}) == 1 or all(cell.endswith("\t") for cell in column))
        and len({cell.strip(blanks) for cell in column}) > 1
        and 2 * sum(cell != cell.strip(blanks) for cell in column) >= len(column)
        for column in list(zip(*records, strict=True))[:-1]
    )

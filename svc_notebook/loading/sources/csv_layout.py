"""The layout of a delimited file: lines that are not rows, and separators with blanks around them.

DuckDB reads a table that begins with its header and has one character between cells. A file of
another layout is copied in that form.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from io import StringIO
from itertools import islice
from pathlib import Path

from svc_notebook.display import shorten
from svc_notebook.loading.notes import Advice
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.csv_cells import end_of_quote, is_open, split_cells
from svc_notebook.loading.sources.csv_dialect import (
    NO_QUOTE,
    SNIFFED_ROWS,
    UNUSUAL_SEPARATORS,
    Dialect,
    Row,
    escape_of,
    has_literal_quotes,
    parse_line,
    parse_rows,
    quote_of,
    usual_width,
)
from svc_notebook.loading.sources.csv_header import KnownRows, count_header_rows
from svc_notebook.loading.sources.csv_separator import find_separator, is_padded
from svc_notebook.loading.sources.csv_tables import FoundTable, find_tables
from svc_notebook.loading.sources.encoding import fresh
from svc_notebook.loading.text_cells.footers import count_footer_rows, may_be_footer
from svc_notebook.loading.text_cells.header_score import is_header, score_header

MAX_PREAMBLE_LINES = 100
# The last lines among which a footer is looked for.
MAX_END_LINES, MIN_END_LINES = 30, 4
# Skipped lines that a note contains, and their length.
MAX_SHOWN_LINES, MAX_SHOWN_CHARACTERS = 3, 60
DEFAULT_COMMENT = "#"
# A cell of a row of metadata, such as `Version=2023`.
METADATA = re.compile(r"[A-Za-z][\w.-]*=[^=\s]")
# The share of the cells of a header that are filled.
FULL_SHARE = 0.8
SEPARATOR_LINE = re.compile(r'"?sep=(?P<separator>[^"\r\n])"?\r?\n', re.IGNORECASE)


@dataclass
class SkippedLines:
    """The lines that a reading left out: the number of comments and the first, and the others."""

    comments: int = 0
    first: list[str] = field(default_factory=list)
    others: int = 0

    def add_comment(self, line: str) -> None:
        """Count a comment."""
        self.comments += 1
        if len(self.first) <= MAX_SHOWN_LINES:
            self.first.append(line)


@dataclass(frozen=True)
class PlainCopy:
    """A copy of a table that DuckDB can read."""

    path: Path
    # Lines that are neither blank nor a part of the table, and a note on its comments.
    skipped_lines: int
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """The lines of a file that are not rows, and its separator.

    - `dialect`: the separator, the quote and the escape; names are not known yet.
    - `width`: the usual number of cells of a row.
    - `skipped`: the number of lines that are skipped first.
    - `comment`: the first character of lines that are skipped; empty if there are none.
    - `all_comments`: whether lines that have as many cells as a row are comments, too.
    - `preamble`: the number of other lines before the table, or before the last row of its header.
    - `upper`: the rows of its header before the last one.
    - `length`: the number of its lines, if other lines follow.
    - `footer`: the number of lines at the end of the file that are no rows.
    - `padded`: whether blanks after a separator belong to it.
    - `notes`: what was decided, for the plan.
    """

    dialect: Dialect
    width: int
    skipped: int = 0
    comment: str = ""
    all_comments: bool = False
    preamble: int = 0
    upper: tuple[tuple[str, ...], ...] = ()
    length: int | None = None
    footer: int = 0
    padded: bool = False
    notes: tuple[str, ...] = ()
    # The first rows of a file that is read as it is.
    known: KnownRows | None = field(default=None, compare=False)

    @property
    def separator(self) -> str:
        """The character between cells."""
        return self.dialect.separator

    @property
    def is_plain(self) -> bool:
        """Whether the file can be read as it is."""
        others = self.skipped or self.preamble or self.footer or self.length is not None
        return not (others or self.comment or self.padded)

    def read_lines(self, lines: Iterable[str], skipped: SkippedLines) -> Iterator[str]:
        """Yield the lines of the table without padding; those that are left out are counted.

        A line inside a quoted value is never a comment.
        """
        rest = self._without_footer(lines, skipped) if self.footer else iter(lines)
        skipped.others -= len(self.upper)
        for line in islice(rest, self.skipped):
            skipped.others += self._has_text(line)
        end = None if self.length is None else self.preamble + self.length
        for number, line in enumerate(self._clean(rest, skipped)):
            if number >= self.preamble and (end is None or number < end):
                yield line
            else:
                skipped.others += self._has_text(line)

    def _without_footer(self, lines: Iterable[str], skipped: SkippedLines) -> Iterator[str]:
        last: deque[str] = deque()
        for line in lines:
            last.append(line)
            if len(last) > self.footer:
                yield last.popleft()
        skipped.others += sum(map(self._has_text, last))

    def _has_text(self, line: str) -> bool:
        return bool(line.strip(f"\ufeff \r\n{self.separator}{self.dialect.quote}"))

    def _clean(self, lines: Iterable[str], skipped: SkippedLines) -> Iterator[str]:
        if not self.comment and not self.padded and self.separator != " ":
            yield from lines  # nothing is removed from a line
            return
        inside = False
        for line in lines:
            if not inside and self._is_comment(line):
                skipped.add_comment(line)
            elif not inside and self._is_clean(line):
                yield line
            else:
                clean, inside = self._clean_line(line, inside)
                yield clean

    def _is_clean(self, line: str) -> bool:
        """Return whether a line has no padding, and quotes only around whole cells."""
        if self.padded:
            return False
        return self.dialect.quote not in line or self._quoted_line.fullmatch(line) is not None

    @cached_property
    def _quoted_line(self) -> re.Pattern[str]:
        """The pattern of a line whose quotes are only around whole cells, or doubled in them."""
        quote, separator = re.escape(self.dialect.quote), re.escape(self.separator)
        if self.dialect.escape != self.dialect.quote:
            return re.compile(r"(?!)")
        cell = f"(?:{quote}[^{quote}]*(?:{quote}{quote}[^{quote}]*)*{quote}"
        cell += rf"|[^{quote}{separator}\r\n]*)"
        return re.compile(rf"{cell}(?:{separator}{cell})*[\r\n]*")

    def _is_comment(self, line: str) -> bool:
        if not self.comment or not line.startswith(self.comment):
            return False
        if self.all_comments:
            return True
        cells = split_cells(line, self.dialect)
        # A value that continues on the next line is a part of a row.
        return len(cells) != self.width and not is_open(cells[-1], self.dialect)

    def _clean_line(self, line: str, inside: bool) -> tuple[str, bool]:
        """Return a line without padding, and whether a quote is open at its end.

        `inside` is whether one is open at its beginning.
        """
        separator, quote = self.separator, self.dialect.quote
        body = line.rstrip(" \r\n") if separator == " " else line
        cells: list[str] = []
        at = 0
        while at >= 0:
            start = end = at
            if not inside:
                while self.padded and body.startswith(" ", start):
                    start += 1
                inside = body.startswith(quote, start)
                end = start + inside
            if inside:
                end = end_of_quote(body, end, self.dialect)
                inside = end < 0
            found = -1 if inside else body.find(separator, end)
            cell = body[start:found] if found >= 0 else body[start:]
            if self.padded and not inside:
                filled = cell.rstrip("\r\n")
                cell = filled.rstrip(" ") + cell[len(filled) :]
            cells.append(cell)
            at = found + 1 if found >= 0 else -1
        tail = line[len(body) :]
        return separator.join(cells) + (tail if inside else tail.lstrip(" ")), inside


def find_layout(
    text: str, options: LoadSettings, *, whole: bool = True, end: Sequence[str] = ()
) -> Layout:
    """Infer the layout from a file's beginning, or `whole` text; options take precedence.

    `end` are the last lines of a file that is longer.
    """
    literal = options.quote is None and NO_QUOTE not in text and has_literal_quotes(text)
    quote = NO_QUOTE if literal else options.quote or quote_of(text)
    lines = StringIO(text, newline="").readlines()
    notes: list[str] = []
    if literal:
        notes.append(
            "`\"` is a character of the values and encloses none; quote='\"' reads it as one"
        )
    elif quote != '"' and options.quote is None:
        notes.append(f"values are inside the quotes `{quote}`")
    skipped, separator = options.skip or 0, options.separator
    named = SEPARATOR_LINE.fullmatch(lines[0]) if lines and options.skip is None else None
    if named:
        skipped, separator = 1, separator or named["separator"]
        notes.append(f"line 1 names the separator: {named[0].strip()}")
    comment = options.comment or DEFAULT_COMMENT
    if not any(line.startswith(comment) for line in lines):
        comment = ""
    likely = (
        list(_without_comments(lines[skipped:], comment, quote)) if comment else lines[skipped:]
    )
    if separator is not None:
        likely_rows = parse_rows("".join(likely), separator, quote)
    else:
        separator, found_rows = find_separator("".join(likely or lines[skipped:]), quote)
        likely_rows = found_rows if likely else []
        if separator in UNUSUAL_SEPARATORS:
            shown = "blanks" if separator == " " else f"`{separator}`"
            notes.append(f"cells are separated by {shown}")
    width = usual_width(likely_rows)
    escape = escape_of(text, quote)
    if escape != quote:
        notes.append(f"`{escape}{quote}` inside of values is read as `{quote}`")
    dialect = Dialect(separator, quote, escape, header=True, names=())
    layout = Layout(
        dialect, width, skipped, comment, options.comment is not None,
        padded=separator == " " or (width > 1 and is_padded(likely, likely_rows, dialect)),
    )  # fmt: skip
    comments = SkippedLines()
    table = lines if layout.is_plain else list(layout.read_lines(lines, comments))
    rows = likely_rows if table == likely else parse_rows("".join(table), separator, quote)
    if not comments.comments:
        layout = replace(layout, comment="")
    elif options.comment is None and (width < 2 or _has_tags(rows)):
        layout = replace(layout, comment="")
        table = list(layout.read_lines(lines, SkippedLines()))
        rows = parse_rows("".join(table), separator, quote)
    if layout.padded and separator != " ":
        notes.append(f"blanks around `{separator}` are removed")
    if width > 1 and (tables := find_tables(table, dialect, whole=whole)):
        layout, found = _choose_table(layout, lines, tables, options)
    else:
        layout, found = _skip_titles(layout, table, rows, options)
    if layout.preamble or layout.length is not None:
        table = list(layout.read_lines(lines, SkippedLines()))
        rows = parse_rows("".join(table), separator, quote)
    layout = _find_upper(layout, rows, options)
    layout, footer = _find_footer(layout, table, rows, options, whole=whole, end=end)
    blanks = _advise_blanks(layout, rows, options)
    return replace(layout, notes=(*notes, *found, *footer, *blanks))


def _advise_blanks(layout: Layout, rows: Sequence[Row], options: LoadSettings) -> list[str]:
    """Return the advice to separate a single column at blanks, if all rows have as many."""
    texts = [row[0].strip() for _, row in rows if len(row) == 1]
    counts = {text.count(" ") for text in texts}
    if options.separator is not None or layout.width != 1 or len(texts) != len(rows):
        return []
    if len(texts) < MIN_END_LINES or len(counts) != 1 or counts == {0}:
        return []
    cells = counts.pop() + 1
    return [Advice(f"each line is one value; separator=' ' reads {cells:,} values between blanks")]


def _find_footer(
    layout: Layout,
    table: Sequence[str],
    rows: Sequence[Row],
    options: LoadSettings,
    *,
    whole: bool,
    end: Sequence[str],
) -> tuple[Layout, list[str]]:
    """Find the lines after the last row of a table, with a note that holds them."""
    last = [*(table if whole or layout.length is not None else end)][-MAX_END_LINES:]
    complete = whole and len(rows) <= SNIFFED_ROWS
    body = [row for _, row in rows[1:]]
    if options.strict or layout.width < 2 or len(last) < MIN_END_LINES:
        return layout, []
    final = next((line for line in reversed(last) if line.strip()), "")
    if not may_be_footer(parse_line(final, layout.dialect), max(map(len, body), default=0)):
        return layout, []
    tail = [parse_line(line, layout.dialect) for line in last]
    count = count_footer_rows(body, tail, whole=complete)
    quote = layout.dialect.quote
    # With an odd number of quotes, these lines begin inside of a value of the last row.
    if not count or (quote and "".join(last[-count:]).count(quote) % 2):
        return layout, []
    shown = _show(last[-count:])
    lines = sum(bool(line.strip()) for line in last[-count:])
    note = f"{_count(lines)} after the last row left out: {shown}; strict=True loads such lines"
    if layout.length is not None:
        return replace(layout, length=layout.length - count, known=None), [note]
    return replace(layout, footer=count, known=None), [note]


def _without_comments(lines: Sequence[str], comment: str, quote: str) -> Iterator[str]:
    """Leave out comments before the separator is known; not lines inside of quoted values."""
    quotes = 0
    for line in lines:
        if quotes % 2 or not line.startswith(comment):
            quotes += line.count(quote)
            yield line


def write_plain(path: Path, folder: Path, layout: Layout) -> PlainCopy:
    """Copy the table of a file of UTF-8, without lines and blanks that are not part of it."""
    target = fresh(folder, path.name)
    skipped = SkippedLines()
    with (
        path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as source,
        target.open("w", encoding="utf-8", errors="surrogateescape", newline="") as sink,
    ):
        sink.writelines(layout.read_lines(source, skipped))
    lines = skipped.others + skipped.comments
    if not skipped.comments:
        return PlainCopy(target, lines, ())
    shown = _show(skipped.first)
    note = f"{_count(skipped.comments)} with `{layout.comment}` skipped: {shown}"
    return PlainCopy(target, lines, (note,))


def _skip_titles(
    layout: Layout, table: Sequence[str], rows: Sequence[Row], options: LoadSettings
) -> tuple[Layout, list[str]]:
    """Skip the lines before a table, with a note."""
    if (options.skip, options.header, options.header_rows) != (None, None, None):
        return layout, []
    preamble = table[: _find_table(rows, layout.width)]
    return replace(layout, preamble=len(preamble)), _describe_titles(preamble)


def _describe_titles(titles: Sequence[str]) -> list[str]:
    if not any(line.strip() for line in titles):
        return []
    return [f"{_count(len(titles))} before the table skipped: {_show(titles)}"]


def _choose_table(
    layout: Layout, lines: Sequence[str], tables: Sequence[FoundTable], options: LoadSettings
) -> tuple[Layout, list[str]]:
    """Choose the largest of several tables, or the first after the option `skip`.

    A table that goes on after the lines that are known is assumed to be the largest.
    """
    explicit = options.skip is not None
    chosen = tables[0] if explicit else max(tables, key=lambda one: (one.goes_on, len(one.rows)))
    numbered = list(_number_lines(layout, lines))
    numbers = [number for number, _ in numbered]
    before = max((table.end for table in tables if table.end <= chosen.first), default=0)
    titles = [line for _, line in numbered[before : chosen.first]]
    notes = [*_describe_titles(titles)]
    others = [table for table in tables if table is not chosen]
    notes += [table.describe(numbers) for table in others]
    following = [table for table in tables if table.first >= chosen.end]
    length = chosen.end - chosen.first if following else None
    return replace(layout, preamble=chosen.first, length=length), notes


def _number_lines(layout: Layout, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a table with their numbers in the file, from 0."""
    last = -1

    def read() -> Iterator[str]:
        nonlocal last
        for last, line in enumerate(lines):  # noqa: B007
            yield line

    for line in layout.read_lines(read(), SkippedLines()):
        yield last, line


def _find_upper(layout: Layout, rows: Sequence[Row], options: LoadSettings) -> Layout:
    """Find the rows of a header above its last one."""
    number = count_header_rows(rows, options)
    if number < 2 or len(rows) < number:
        given = (options.header, options.header_rows) != (None, None)
        texts = [row for _, row in rows]
        known = KnownRows(texts, layout.dialect, None if given else bool(number))
        return replace(layout, known=known) if layout.is_plain and rows else layout
    upper = tuple(tuple(row) for _, row in rows[: number - 1])
    first = rows[number - 1][0]
    length = None if layout.length is None else layout.length - first
    return replace(layout, preamble=layout.preamble + first, upper=upper, length=length)


def _has_tags(rows: Sequence[Row]) -> bool:
    """Return whether rows below the first begin with `#` and a character, as `#red,1` does."""
    return any(row[0].startswith(DEFAULT_COMMENT) and row[0][1:2].strip() for _, row in rows[1:])


def _find_table(rows: Sequence[Row], width: int) -> int:
    """Return the line on which a table begins: that of its header, or of its first row.

    Lines above are titles if they have a single cell, or are padded with separators. A line of one
    cell above rows of two can be a header without a name for the first column, and a padded one a
    row with gaps: they are titles only above a header.
    """
    if width < 2:
        return 0
    certain = True
    texts = [row for _, row in rows]
    for place, (line, row) in enumerate(rows[:MAX_PREAMBLE_LINES]):
        if len(row) in (1, width) and _is_title(row) and place < len(rows) - 1:
            certain = certain and len(row) == 1 and width > 2
            continue
        if _is_above_header(texts[place:], width):
            certain = False
            continue
        is_short_header = len(row) == width - 1 and len(rows[place + 1 : place + 2]) == 1
        is_long_header = len(row) == width + 1 and not row[-1].strip()
        if len(row) != width and not is_short_header and not is_long_header:
            return 0
        return line if certain or is_header(texts[place:]) else 0
    return 0


def _is_above_header(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return whether the first row has another form than the table, which has a header below it."""
    first = rows[0]
    if len(first) == width and not any(map(METADATA.match, first)):
        return False
    for place, row in enumerate(rows[1 : MAX_PREAMBLE_LINES + 1], 1):
        full = sum(map(bool, map(str.strip, row))) >= FULL_SHARE * width
        if len(row) == width and full and not any(map(METADATA.match, row)):
            below = rows[place:]
            regular = sum(len(other) == width for other in below) >= FULL_SHARE * len(below)
            signals = score_header(below) if regular and len(below) > 1 else []
            return is_header(below) and sum(signal.points for signal in signals) > 0
    return False


def _is_title(row: Sequence[str]) -> bool:
    return sum(bool(cell.strip()) for cell in row) <= 1


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines:,} lines"


def _show(lines: Sequence[str]) -> str:
    """Return the first lines that are not blank, shortened."""
    filled = [line.strip() for line in lines if line.strip()]
    shown = ", ".join(
        f"`{shorten(line, MAX_SHOWN_CHARACTERS)}`" for line in filled[:MAX_SHOWN_LINES]
    )
    return shown + (", …" if len(filled) > MAX_SHOWN_LINES else "")

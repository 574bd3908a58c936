"""The lines of a delimited file that are rows, and those that are left out.

DuckDB reads a table that begins with its header and has one character between cells. A file with
other lines, or with blanks around its cells, is copied in that form. Of several tables in a file,
one is loaded.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import dropwhile, groupby, islice
from pathlib import Path

from svc_notebook.core.display import format_count, list_names, shorten
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_candidates import LineRow, read_rows
from svc_notebook.data.loading.sources.csv_cells import Dialect, end_of_quote, is_open, split_cells
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.text_cells.cell_kinds import NO_NUMBER, VALUE
from svc_notebook.data.loading.text_cells.signals import Decision, state

# Skipped lines that a note contains, and their length.
MAX_SHOWN_LINES, MAX_SHOWN_LINE_CHARACTERS = 3, 60
# Names of another table that a note contains, and their length.
MAX_SHOWN_NAMES, MAX_NAME_CHARACTERS = 3, 30


@dataclass
class SkippedLines:
    """The lines that a reading left out: number of comments, the first ones, and other lines."""

    comments: int = 0
    first: list[str] = field(default_factory=list)
    others: int = 0
    # Whether a comment has the names of the columns.
    names: bool = False

    def add_comment(self, line: str) -> None:
        """Count a comment."""
        self.comments += 1
        if len(self.first) <= MAX_SHOWN_LINES:
            self.first.append(line)


@dataclass(frozen=True)
class Layout:
    """The lines of a file that are not rows, and its separator.

    - `dialect`: the separator, the quote, the escape, and the names of the columns.
    - `width`: the usual number of cells of a row.
    - `skipped`: the number of lines that are skipped first.
    - `comment`: the first character of lines that are skipped; empty if there are none.
    - `all_comments`: whether lines that have as many cells as a row are comments, too.
    - `preamble`: the number of other lines before the table, or before the last row of its header.
    - `upper`: the rows of its header before the last one.
    - `length`: the number of its lines, if other lines follow.
    - `footer`: the number of lines at the end of the file that are not rows.
    - `padded`: whether blanks after a separator belong to it.
    - `bare_words`: words that are missing values outside of quotes.
    - `notes`: what was decided, for the plan; `decisions` by which signals.
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
    bare_words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    decisions: tuple[Decision, ...] = field(default=(), compare=False)

    def with_decision(self, decision: Decision) -> Layout:
        """Return the layout with one more decision."""
        return replace(self, decisions=(*self.decisions, decision))

    @property
    def separator(self) -> str:
        """The character between cells."""
        return self.dialect.separator

    @property
    def is_plain(self) -> bool:
        """Whether the file can be read as it is."""
        others = self.skipped or self.preamble or self.footer or self.length is not None
        return not (others or self.comment or self._changes_cells)

    @property
    def _changes_cells(self) -> bool:
        return self.padded or bool(self.bare_words)

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
        in_cells = self._changes_cells
        if not (self.comment or in_cells or self.separator == " "):
            yield from lines  # nothing is removed from a line
            return
        inside = False
        for line in self._read_names(iter(lines), skipped):
            if not inside and self._is_comment(line):
                skipped.add_comment(line)
            elif not (inside or in_cells or self.dialect.quote in line):
                yield line
            else:
                clean, inside = self._clean_line(line, inside)
                yield clean

    def _read_names(self, lines: Iterator[str], skipped: SkippedLines) -> Iterator[str]:
        """Yield lines, without the mark of a comment above rows that has as many words as they."""
        mark = f"{self.comment} " if self.comment and self.separator == " " else "\n"
        last = ""
        for line in lines:
            if not line.startswith(mark):
                names = last.removeprefix(mark).split()
                skipped.names = len(names) == self.width and not last.rstrip().endswith((".", ":"))
                yield from filter(None, (" ".join(names) + "\n" if skipped.names else last, line))
                break
            yield from filter(None, [last])
            last = line
        yield from lines

    def _is_comment(self, line: str) -> bool:
        if not self.comment or not line.startswith(self.comment):
            return False
        if self.all_comments:
            return True
        cells = split_cells(line, self.dialect)
        # A value that continues on the next line is a part of a row.
        is_row = len(cells) == self.width or is_open(cells[-1], self.dialect)
        return not (is_row or has_marks(cells, self.comment))

    def _clean_line(self, line: str, inside: bool) -> tuple[str, bool]:
        """Return a line without padding and bare words, and whether a quote is open at its end.

        `inside` is whether one is open at its beginning.
        """
        separator, quote, blanks = self.separator, self.dialect.quote, (*self.dialect.blanks,)
        body = line.rstrip(" \r\n") if separator == " " else line
        cells: list[str] = []
        at = 0
        while at >= 0:
            start = end = at
            if not inside:
                while self.padded and body.startswith(blanks, start):
                    start += 1
                inside = body.startswith(quote, start)
                end = start + inside
            if inside:
                end = end_of_quote(body, end, self.dialect)
                inside = end < 0
            stop = -1 if inside else body.find(separator, end)
            cell = body[start:stop] if stop >= 0 else body[start:]
            if self.padded and not inside:
                filled = cell.rstrip("\r\n")
                cell = filled.rstrip(self.dialect.blanks) + cell[len(filled) :]
            if self.bare_words and not inside and (word := cell.rstrip("\r\n")) in self.bare_words:
                cell = cell[len(word) :]
            cells.append(cell)
            at = stop + 1 if stop >= 0 else -1
        tail = line[len(body) :]
        return separator.join(cells) + (tail if inside else tail.lstrip(" ")), inside


def has_marks(cells: Sequence[str], mark: str) -> bool:
    """Return whether several cells begin with the mark of a comment, as names can in a header."""
    return sum(cell.startswith(mark) for cell in cells) > 1


def without_comments(lines: Sequence[str], comment: str, quote: str) -> Iterator[str]:
    """Leave out comments before the separator is known; not lines inside of quoted values."""
    quotes = 0
    for line in lines:
        if quotes % 2 or not line.startswith(comment):
            quotes += line.count(quote)
            yield line


@dataclass(frozen=True)
class PlainCopy:
    """A copy of a table that DuckDB can read."""

    path: Path
    # Lines that are neither blank nor a part of the table, and a note on its comments.
    skipped_lines: int
    notes: tuple[str, ...]


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
    shown = show_lines(skipped.first)
    note = f"{format_count(skipped.comments, 'line')} with `{layout.comment}` skipped: {shown}"
    return PlainCopy(target, lines, (note,))


def show_lines(lines: Sequence[str]) -> str:
    """Return the first lines that are not blank, shortened."""
    filled = [line.strip() for line in lines if line.strip()]
    return list_names([shorten(s, MAX_SHOWN_LINE_CHARACTERS) for s in filled], MAX_SHOWN_LINES)


def describe_titles(titles: Sequence[str]) -> list[str]:
    """Return the note on the lines before a table, unless they are blank."""
    if not any(line.strip() for line in titles):
        return []
    return [f"{format_count(len(titles), 'line')} before the table skipped: {show_lines(titles)}"]


@dataclass(frozen=True)
class FileTable:
    """A table among others: its rows, of which the first is its header."""

    rows: Sequence[LineRow]
    # Whether the file continues after these rows.
    goes_on: bool = False

    @property
    def first(self) -> int:
        """The line of the header, from 0."""
        return self.rows[0].first

    @property
    def end(self) -> int:
        """The line after the last row."""
        return self.rows[-1].end

    def describe(self, numbers: Sequence[int]) -> str:
        """Return the note of a table that is not loaded, given the file's number of each line."""
        names = [shorten(name, MAX_NAME_CHARACTERS) for name in self.rows[0].cells if name]
        first, last = numbers[self.first], numbers[self.end - 1]
        to = "the last" if self.goes_on else f"{last + 1:,}"
        rows = f"{len(self.rows) - 1:,}{' or more' if self.goes_on else ''} rows"
        return (
            f"lines {first + 1:,} to {to} are another table and are not loaded "
            f"({list_names(names, MAX_SHOWN_NAMES)}; {rows}): skip={first} loads it"
        )


def find_tables(lines: Sequence[str], dialect: Dialect, *, whole: bool) -> list[FileTable]:
    """Return the tables of a file; none if it has one, or if it is in doubt.

    Tables have blank lines between them, different names, and values below their names. If the
    lines are not the `whole` file, the last row can be incomplete, and is left out.
    """
    blank = re.compile(rf"[\s{re.escape(dialect.separator + dialect.quote)}]*")
    if not any(map(blank.fullmatch, lines)):
        return []
    rows = [
        row._replace(cells=[cell.strip() for cell in row.cells])
        for row in read_rows(lines, dialect.separator, dialect.quote, dialect.escape)
    ]
    tables: list[FileTable] = []
    for filled, group in groupby(rows if whole else rows[:-1], lambda row: any(row.cells)):
        # The first lines of one cell are titles.
        block = [*dropwhile(lambda row: sum(map(bool, row.cells)) < 2, group)]
        if not filled or not block:
            continue
        if _has_header(block) and not (tables and block[0].cells == tables[-1].rows[0].cells):
            tables.append(FileTable(block))
        elif tables and len(block[0].cells) == len(tables[-1].rows[0].cells):
            tables[-1] = FileTable([*tables[-1].rows, *block])
        else:
            return []
    return [*tables[:-1], replace(tables[-1], goes_on=not whole)] if len(tables) > 1 else []


def _has_header(block: Sequence[LineRow]) -> bool:
    """Return whether the first row of a block has names, some of them above values only."""
    first, *others = block
    if not others or any(len(row.cells) != len(first.cells) for row in block):
        return False
    names = [cell for cell in first.cells if cell]
    if len(names) < 2 or any(map(VALUE.fullmatch, names)) or len(set(names)) < len(names):
        return False
    columns = zip(*(row.cells for row in others), strict=True)
    return any(
        name and not NO_NUMBER.fullmatch(name) and any(column)
        and all(map(VALUE.fullmatch, filter(None, column)))
        for name, column in zip(first.cells, columns, strict=True)
    )  # fmt: skip


def choose_table(
    layout: Layout, lines: Sequence[str], tables: Sequence[FileTable], options: LoadSettings
) -> tuple[Layout, list[str]]:
    """Choose the largest of several tables, or the first after the option `skip`.

    A table that goes on after the sample is assumed to be the largest.
    """
    explicit = options.skip is not None
    chosen = (
        tables[0] if explicit else max(tables, key=lambda table: (table.goes_on, len(table.rows)))
    )
    numbered = list(_number_lines(layout, lines))
    before = max((table.end for table in tables if table.end <= chosen.first), default=0)
    titles = [line for _, line in numbered[before : chosen.first]]
    numbers = [number for number, _ in numbered]
    notes = [table.describe(numbers) for table in tables if table is not chosen]
    length = chosen.end - chosen.first if chosen is not tables[-1] else None
    layout = replace(layout, preamble=chosen.first, length=length)
    what = f"{len(chosen.rows) - 1:,} rows, of {len(tables):,} tables the most"
    decision = state("table", f"line {numbers[chosen.first] + 1:,}", what)
    return layout.with_decision(decision), [*describe_titles(titles), *notes]


def _number_lines(layout: Layout, lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines of a table with their numbers in the file, from 0."""
    last = -1

    def read() -> Iterator[str]:
        nonlocal last
        for last, line in enumerate(lines):  # noqa: B007
            yield line

    for line in layout.read_lines(read(), SkippedLines()):
        yield last, line

"""The lines of a delimited file that are rows, and those that are left out.

DuckDB reads a table that begins with its header and has one character between cells. A file with
other lines, or with blanks around its cells, is copied in that form.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from svc_notebook.core.display import shorten
from svc_notebook.data.loading.sources.csv_cells import Dialect, end_of_quote, is_open, split_cells
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.text_cells.signals import Decision

# Skipped lines that a note contains, and their length.
MAX_SHOWN_LINES, MAX_SHOWN_LINE_CHARACTERS = 3, 60


@dataclass
class SkippedLines:
    """The lines that a reading left out: number of comments, the first ones, and other lines."""

    comments: int = 0
    first: list[str] = field(default_factory=list)
    others: int = 0

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
            elif not (inside or self.padded or self.dialect.quote in line):
                yield line
            else:
                clean, inside = self._clean_line(line, inside)
                yield clean

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
            stop = -1 if inside else body.find(separator, end)
            cell = body[start:stop] if stop >= 0 else body[start:]
            if self.padded and not inside:
                filled = cell.rstrip("\r\n")
                cell = filled.rstrip(" ") + cell[len(filled) :]
            cells.append(cell)
            at = stop + 1 if stop >= 0 else -1
        tail = line[len(body) :]
        return separator.join(cells) + (tail if inside else tail.lstrip(" ")), inside


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
    note = f"{count_lines(skipped.comments)} with `{layout.comment}` skipped: {shown}"
    return PlainCopy(target, lines, (note,))


def count_lines(lines: int) -> str:
    """Return a number of lines with its noun."""
    return "1 line" if lines == 1 else f"{lines:,} lines"


def show_lines(lines: Sequence[str]) -> str:
    """Return the first lines that are not blank, shortened."""
    filled = [line.strip() for line in lines if line.strip()]
    shown = ", ".join(
        f"`{shorten(line, MAX_SHOWN_LINE_CHARACTERS)}`" for line in filled[:MAX_SHOWN_LINES]
    )
    return shown + (", …" if len(filled) > MAX_SHOWN_LINES else "")


def describe_titles(titles: Sequence[str]) -> list[str]:
    """Return the note on the lines before a table, unless they are blank."""
    if not any(line.strip() for line in titles):
        return []
    return [f"{count_lines(len(titles))} before the table skipped: {show_lines(titles)}"]

"""The layout of a delimited file: lines that are no rows, and separators with blanks around them.

DuckDB reads a table that begins with its header and has one character between cells. A file of
another layout is copied in that form.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from svc_notebook.display import shorten
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.csv_dialect import (
    SNIFFED_ROWS,
    VALUE,
    Dialect,
    Row,
    escape_of,
    parse_rows,
    quote_of,
    usual_width,
)
from svc_notebook.loading.sources.csv_quotes import end_of_quote
from svc_notebook.loading.sources.encoding import fresh

# Separators in the order of preference; the others occur in text too, so they need more evidence.
USUAL_SEPARATORS = (",", ";", "\t", "|")
UNUSUAL_SEPARATORS = ("^", "~", ":", " ")
# The share of rows with the most frequent width: of a usual separator that is not questioned, and
# of an unusual one, which needs a minimum number of rows as well.
CERTAIN_SHARE, UNUSUAL_SHARE, MIN_UNUSUAL_ROWS = 0.8, 0.95, 3
# Blanks belong to the separator if they follow at least this share of the separators.
PADDED_SHARE = 0.95
MAX_PREAMBLE_LINES = 100
# Skipped lines that a note contains, and their length.
MAX_SHOWN_LINES, MAX_SHOWN_CHARACTERS = 3, 60
DEFAULT_COMMENT = "#"
SEPARATOR_LINE = re.compile(r'"?sep=(?P<separator>[^"\r\n])"?\r?\n', re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """The lines of a file that are no rows, and its separator.

    - `skipped`: the number of lines that are skipped first.
    - `comment`: the first character of lines that are skipped; empty if there are none.
    - `preamble`: the number of other lines before the table.
    - `padded`: whether blanks after a separator belong to it.
    - `notes`: what was decided, for the plan.
    """

    separator: str
    skipped: int = 0
    comment: str = ""
    preamble: int = 0
    padded: bool = False
    notes: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether the file can be read as it is."""
        return not (self.skipped or self.comment or self.preamble or self.padded)

    def select_lines(self, lines: Iterable[str]) -> Iterator[str]:
        """Yield the lines of the table."""
        rest = islice(lines, self.skipped, None)
        kept = (line for line in rest if not (self.comment and line.startswith(self.comment)))
        return islice(kept, self.preamble, None)


def find_layout(text: str, options: LoadSettings) -> Layout:
    """Infer the layout from a file's beginning; options take precedence."""
    quote = options.quote or quote_of(text)
    lines = text.splitlines(keepends=True)
    notes: list[str] = []
    skipped, separator = options.skip or 0, options.separator
    if options.skip is None and (
        named := SEPARATOR_LINE.fullmatch(text, 0, len(lines[0]) if lines else 0)
    ):
        skipped, separator = 1, separator or named["separator"]
        notes.append(f"line 1 names the separator: {named[0].strip()}")
    lines = lines[skipped:]
    likely = [line for line in lines if not line.startswith(options.comment or DEFAULT_COMMENT)]
    if separator is None:
        separator = _find_separator("".join(likely or lines), quote)
        if separator in UNUSUAL_SEPARATORS:
            shown = "blanks" if separator == " " else f"`{separator}`"
            notes.append(f"cells are separated by {shown}")
    width = usual_width(parse_rows("".join(likely), separator, quote))
    comment, found = _find_comments(lines, separator, width, options)
    if found:
        notes.append(f"{_count(found)} with `{comment}` skipped: {_show(found)}")
        lines = [line for line in lines if not line.startswith(comment)]
    preamble: list[str] = []
    if options.skip is None and options.header is None:
        rows = parse_rows("".join(lines), separator, quote)
        preamble = lines[: _find_table(rows, width)]
    if any(line.strip() for line in preamble):
        notes.append(f"{_count(preamble)} before the table skipped: {_show(preamble)}")
    padded = _is_padded(lines[len(preamble) :], separator, quote)
    if padded and separator != " ":
        notes.append(f"blanks after `{separator}` are removed")
    return Layout(separator, skipped, comment, len(preamble), padded, tuple(notes))


def write_plain(path: Path, folder: Path, layout: Layout, options: LoadSettings) -> Path:
    """Copy the table of a file of UTF-8, without the lines and blanks that are no part of it."""
    target = fresh(folder, path.name)
    with (
        path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as source,
        target.open("w", encoding="utf-8", errors="surrogateescape", newline="") as sink,
    ):
        lines = layout.select_lines(source)
        sink.writelines(_strip_padding(lines, layout, options) if layout.padded else lines)
    return target


def _find_separator(text: str, quote: str) -> str:
    best, share = max(
        ((separator, _rate(text, separator, quote)) for separator in USUAL_SEPARATORS),
        key=lambda rated: rated[1],
    )
    if share[0] >= CERTAIN_SHARE:
        return best
    unusual = (one for one in UNUSUAL_SEPARATORS if _is_evident(text, one, quote))
    return next(unusual, best)


def _rate(text: str, separator: str, quote: str) -> tuple[float, float, int]:
    """Rate a separator by the share of rows with the most frequent width, and by that width.

    A cell with one quote inside is a part of a value. Of separators with nearly the same share, the
    one is worse whose cells contain another separator.
    """
    rows = parse_rows(text, separator, quote)
    width = usual_width(rows)
    if width < 2:
        return 0, 0, 0
    cells = [cell for _, row in rows if len(row) == width for cell in row]
    others = [other for other in USUAL_SEPARATORS if other not in (separator, ",")]
    halves = sum(cell.count(quote) % 2 for cell in cells) / len(cells)
    torn = sum(any(other in cell for other in others) for cell in cells) / len(cells)
    share = len(cells) / width / len(rows)
    return round(share - halves, 1), -torn, width


def _is_evident(text: str, separator: str, quote: str) -> bool:
    """Return whether a character that occurs in text, too, separates cells.

    Nearly all rows must have the same width, and some column must contain numbers or dates below a
    name, for a list of names or of times has neither; a table of numbers alone has three columns.
    """
    rows = [[cell.strip() for cell in row] for _, row in parse_rows(text, separator, quote)]
    if separator == " ":
        rows = [row[:-1] if row[-1] == "" else row for row in rows]
    width = max(Counter(map(len, rows)).items(), key=lambda item: item[1], default=(0, 0))[0]
    usual = [row for row in rows if len(row) == width]
    if width < 2 or len(usual) < max(MIN_UNUSUAL_ROWS, UNUSUAL_SHARE * len(rows)):
        return False
    if separator in "^~" or (
        separator == " "
        and width > 2
        and all(VALUE.fullmatch(cell) for row in usual for cell in row)
    ):
        return True
    first, *others = usual
    return any(
        name and not VALUE.fullmatch(name) and all(map(VALUE.fullmatch, column))
        for name, *column in zip(first, *others, strict=True)
    )


def _find_comments(
    lines: Sequence[str], separator: str, width: int, options: LoadSettings
) -> tuple[str, list[str]]:
    """Return the character that begins comments, and the comments.

    Without the option, a line that begins with `#` is a comment if it has not as many cells as a
    row, for `#id,name` is a header.
    """
    if options.comment:
        return options.comment, [line for line in lines if line.startswith(options.comment)]
    found = [line for line in lines if line.startswith(DEFAULT_COMMENT)]
    if width < 2 or any(line.count(separator) == width - 1 for line in found):
        return "", []
    return (DEFAULT_COMMENT, found) if found else ("", [])


def _find_table(rows: Sequence[Row], width: int) -> int:
    """Return the line on which a table begins: with the first row of the usual width.

    If row names follow, the header has one cell less. A row with one filled cell is a title, even
    if it is padded with separators.
    """
    if width < 2:
        return 0
    for place, (line, row) in enumerate(rows[:MAX_PREAMBLE_LINES]):
        following = [len(other) for _, other in rows[place + 1 : place + 2]]
        if _is_title(row, width) and following:
            continue
        is_header = len(row) == width - 1 and following == [width]
        return line if len(row) == width or is_header else 0
    return 0


def _is_title(row: Sequence[str], width: int) -> bool:
    """Return whether a row has at most one filled cell, in a table of at least three columns."""
    filled = sum(bool(cell.strip()) for cell in row)
    return len(row) == 1 < width if width == 2 else filled <= 1


def _is_padded(lines: Sequence[str], separator: str, quote: str) -> bool:
    """Return whether a blank follows nearly every separator outside of quotes."""
    if separator == " ":
        return True
    text = "".join(lines[:SNIFFED_ROWS])
    outside = re.sub(f"{re.escape(quote)}[^{re.escape(quote)}]*{re.escape(quote)}", quote, text)
    ends = re.findall(f"{re.escape(separator)}( ?)[^\r\n]", outside)
    return len(ends) > 1 and sum(map(bool, ends)) >= PADDED_SHARE * len(ends)


def _strip_padding(lines: Iterable[str], layout: Layout, options: LoadSettings) -> Iterator[str]:
    """Yield lines without blanks after separators, and at both ends if blanks are separators."""
    separator = layout.separator
    text = "".join(head := list(islice(lines := iter(lines), SNIFFED_ROWS)))
    quote = options.quote or quote_of(text)
    dialect = Dialect(separator, quote, escape_of(text, quote), header=True, names=())
    inside = False
    for line in chain(head, lines):
        body = line.rstrip(" \r\n") if separator == " " else line
        cells: list[str] = []
        at = 0
        while at >= 0:
            start = end = at
            if not inside:
                start = end = len(body) - len(body[at:].lstrip(" "))
                inside = body.startswith(quote, start)
                end += inside
            if inside:
                end = end_of_quote(body, end, dialect)
                inside = end < 0
            found = -1 if inside else body.find(separator, end)
            cells.append(body[start:found] if found >= 0 else body[start:])
            at = found + 1 if found >= 0 else -1
        yield separator.join(cells) + line[len(body) :].lstrip("" if inside else " ")


def _count(lines: Sequence[str]) -> str:
    return "1 line" if len(lines) == 1 else f"{len(lines):,} lines"


def _show(lines: Sequence[str]) -> str:
    """Return the first lines that are not blank, shortened."""
    filled = [line.strip() for line in lines if line.strip()]
    shown = ", ".join(
        f"`{shorten(line, MAX_SHOWN_CHARACTERS)}`" for line in filled[:MAX_SHOWN_LINES]
    )
    return shown + (", …" if len(filled) > MAX_SHOWN_LINES else "")

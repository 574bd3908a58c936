"""Tables as programs print them, which are copied as delimited files.

Boxes of psql, MySQL and SAP, Markdown, columns of fixed width, separators of several characters,
and values with the escapes of MySQL.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path

from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_candidates import USUAL_SEPARATORS
from svc_notebook.data.loading.sources.csv_lines import MAX_SHOWN_LINES, PlainCopy, show_lines
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.sources.printed_lines import (
    PrintedTable,
    find_name_starts,
    find_printed_records,
    find_sdmx_table,
    find_value_starts,
    split_at,
)
from svc_notebook.data.loading.text_cells.cell_kinds import TEXT, VALUE, column_kind
from svc_notebook.data.loading.text_cells.header_names import is_format

# The first lines among which a rule is looked for, the lines that are compared with it, and the
# share of them that must agree.
MAX_TITLE_LINES, MAX_CHECKED_LINES, MIN_AGREEING_SHARE = 40, 200, 0.9
RULE = re.compile(r"(?=.*(?:--|==|\u2500\u2500|\u2550\u2550|:-|-:))[-+=:|\u2500-\u257f\s]+")
WIDTH_RULE = re.compile(r"\s*(?:-+(?: +-+)+|=+(?: +=+)+)\s*")
# The prompt of a database client, before a statement or at the end of its output.
PROMPT = re.compile(r"\s*[A-Za-z][\w.@-]*(?:>|=[>#])(?:\s.*)?")
PIPES = "|\u2502\u2551\u2506"
# Separators of several characters.
LONG_SEPARATORS = ("::", "||", "|~|", "~|~", "^^", "~~", ";;", "@@", "\u00a6\u00a6")
MIN_ROWS, MIN_ALIGNED_ROWS, MAX_ALIGNED_TITLES = 2, 3, 5
# Blanks between the names of columns in which quotes are characters, and how many there must be.
ENCLOSED = re.compile(r'\A"([^"]*)"\Z')
WIDE_GAP, MIN_WIDE_GAPS = re.compile(r"\S {3,}(?=\S)"), 2
# A line of a log that names its columns, as the extended log format of W3C has it.
FIELDS = re.compile(r"#[Ff]ields:?[ \t]+(\S.*)")
# A name and its value, and a line of them.
_PAIR = r'([A-Za-z_][\w.@-]*)=("(?:[^"\\]|\\.)*"|[^\s"=]*)'
PAIR, PAIRS, MIN_PAIRS = re.compile(_PAIR), re.compile(rf"{_PAIR}(?:\s+{_PAIR})+"), 3
# The rows of types below the names of a box.
MAX_TYPE_ROWS = 2
# The minimum number of cells between blanks and tabs; all but one must be numbers.
MIN_MIXED_CELLS = 3
TOKEN = re.compile(r'"[^"]*"|\S+')
ESCAPE = re.compile(r"\\(.)", re.S)
ESCAPED = {"t": "\t", "n": "\n", "r": "\r", "0": "\0", "\\": "\\", "b": "\b", "Z": "\x1a"}
DRIVE = re.compile(r"(?:^|[\t\s])[A-Za-z]:\\[A-Za-z]")

QUOTED = re.compile(r'(?:^|\t)"', re.M)


def find_printed_table(text: str, options: LoadSettings) -> PrintedTable | None:
    """Return how to read a printed table; None for a file that is not one, or has options."""
    named = (options.separator, options.quote, options.skip, options.comment, options.header_rows)
    if any(option is not None for option in named):
        return None
    lines = text.splitlines()[: MAX_TITLE_LINES + MAX_CHECKED_LINES]
    tables = (find(text, lines) for find in FINDERS)
    return next((table for table in tables if table is not None), None)


def copy_printed_table(path: Path, folder: Path, table: PrintedTable) -> PlainCopy:
    """Copy a printed table of UTF-8 as a comma-separated file."""
    target, skipped = fresh(folder, path.with_suffix(".csv").name), 0
    others: list[str] = []
    header: list[str] | None = None
    left_out = 0
    with (
        path.open(encoding="utf-8-sig", errors="surrogateescape", newline=None) as source,
        target.open("w", encoding="utf-8", errors="surrogateescape", newline="") as sink,
    ):
        writer = csv.writer(sink, lineterminator="\n")
        if table.names:
            writer.writerow(table.names)
        for number, line in enumerate(table.join(source)):
            line = line.rstrip("\n")
            cells = table.read(line) if number >= table.titles else None
            if cells is None:
                skipped += bool(line.strip())
                if line.strip() and not RULE.fullmatch(line):
                    left_out += 1
                    others += [line.strip()] if len(others) <= MAX_SHOWN_LINES else []
            elif cells == header:
                skipped += 1
            else:
                header = header or cells
                writer.writerow(cells)
    what = "line that is not a row" if left_out == 1 else "lines that are not rows"
    note = f"{left_out:,} {what} left out: {show_lines(others)}"
    return PlainCopy(target, skipped, (table.note, note) if others else (table.note,))


def _split_all(note: str, split: Callable[[str], list[str]], width: int) -> PrintedTable:
    """Return the table whose rows are the lines that a function splits into as many cells."""

    def read(line: str) -> list[str] | None:
        cells = split(line) if line.strip() else []
        return cells if len(cells) == width else None

    return PrintedTable(note, read)


def _find_log(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find rows between blanks or tabs below a line `#Fields:` with their names."""
    named = [match[1].split() for line in lines if (match := FIELDS.fullmatch(line.rstrip()))]
    if not named or not lines[0].startswith("#"):
        return None

    def split(line: str) -> list[str]:
        if match := FIELDS.fullmatch(line.rstrip()):
            return match[1].split()
        if line.startswith("#"):
            return []
        return line.split("\t") if "\t" in line else next(csv.reader([line], delimiter=" "), [])

    note = "the names of the columns are those of the line `#Fields:`"
    return _split_all(note, split, len(named[0]))


def _find_pairs(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find lines of pairs such as `level=info msg="slow query"`."""
    filled = [line.strip() for line in lines if line.strip()]
    if len(filled) < MIN_ALIGNED_ROWS or not all(map(PAIRS.fullmatch, filled)):
        return None
    names = tuple(dict.fromkeys(name for line in filled for name, _ in PAIR.findall(line)))
    if len(names) < MIN_PAIRS:
        return None

    def read(line: str) -> list[str] | None:
        pairs = dict(PAIR.findall(line))
        if not PAIRS.fullmatch(line.strip()) or not pairs.keys() <= {*names}:
            return None
        cells = (pairs.get(name, "") for name in names)
        return [cell[1:-1].replace('\\"', '"') if cell.startswith('"') else cell for cell in cells]

    return PrintedTable("each line is a list of pairs `name=value`", read, names=names)


def _find_box(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find rows between pipes with a rule above or below the header."""
    for number, line in enumerate(lines[:MAX_TITLE_LINES]):
        if not RULE.fullmatch(line) or WIDTH_RULE.fullmatch(line):
            continue
        before = lines[number - 1] if number else ""
        start = number - 1 if _has_pipe(before) else number + 1
        header = lines[start] if start < len(lines) else ""
        if not _has_pipe(header) or RULE.fullmatch(header):
            continue
        return _read_box(header, lines, start)
    return None


def _read_box(header: str, lines: Sequence[str], start: int) -> PrintedTable | None:
    """Return the table whose header is at a line, if enough rows have as many cells."""
    framed = header.strip()[0] in PIPES
    width = len(_split_pipes(header, framed))
    rows = [_split_pipes(row, framed) for row in lines[start + 1 :] if _is_box_row(row)]
    if not rows or not _agree([len(row) for row in rows], width):
        return None
    note = "the file is a printed table with rows between `|`"
    types = list(takewhile(is_format, rows[:MAX_TYPE_ROWS]))

    def split(line: str) -> list[str]:
        cells = _split_pipes(line, framed) if _is_box_row(line) else []
        return [] if cells in types else cells

    return replace(_split_all(note, split, width), titles=start)


def _has_pipe(line: str) -> bool:
    return any(pipe in line for pipe in PIPES)


def _is_box_row(line: str) -> bool:
    return _has_pipe(line) and not RULE.fullmatch(line)


def _split_pipes(line: str, framed: bool) -> list[str]:
    """Split a row at pipes, not at escaped ones; `framed` rows have outer pipes."""
    for pipe in PIPES[1:]:
        line = line.replace(pipe, "|")
    if framed:
        line = line.strip().removeprefix("|")
        line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]


def _agree(widths: Sequence[int], width: int) -> bool:
    return sum(count == width for count in widths) >= MIN_AGREEING_SHARE * len(widths)


def _find_fixed_width(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find columns whose places are given by groups of dashes below the header."""
    for number, rule in enumerate(lines[:MAX_TITLE_LINES]):
        if not number or not WIDTH_RULE.fullmatch(rule) or not lines[number - 1].strip():
            continue
        spans = [match.span() for match in re.finditer("[-=]+", rule)]
        first = [row for row in lines[number + 1 : number + 1 + MAX_CHECKED_LINES] if row.strip()]
        # A blank is between the columns of a row.
        gaps = [end for _, end in spans[:-1]]
        rows = [row for row in first if _has_gaps(row, gaps) and len(row) > gaps[0]]
        if not rows or not _has_gaps(lines[number - 1], gaps):
            continue

        return replace(_split_at_widths([start for start, _ in spans], gaps), titles=number - 1)
    return None


def _split_at_widths(starts: Sequence[int], gaps: Sequence[int]) -> PrintedTable:
    """Return the table whose columns begin at fixed positions, with blanks between them."""

    def split(line: str) -> list[str]:
        is_row = len(line.rstrip()) > gaps[0] and _has_gaps(line, gaps)
        is_other = WIDTH_RULE.fullmatch(line) or PROMPT.fullmatch(line)
        cells = split_at([line], starts)[0] if is_row and not is_other else []
        return [ENCLOSED.sub(r"\1", cell) for cell in cells]

    return _split_all("columns are separated by their width", split, len(starts))


def _has_gaps(line: str, gaps: Iterable[int]) -> bool:
    return all(line[gap : gap + 1] in ("", " ") for gap in gaps)


def _find_long_separator(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find a separator of several characters that occurs as often in every line."""
    filled = [line for line in lines if line.strip()]
    if len(filled) < MIN_ROWS:
        return None
    for separator in LONG_SEPARATORS:
        if _is_between_cells(separator, filled):
            split = partial(str.split, sep=separator)
            width = filled[0].count(separator) + 1
            return _split_all(f"cells are separated by `{separator}`", split, width)
    return None


def _is_between_cells(separator: str, lines: Sequence[str]) -> bool:
    if separator not in lines[0] or len({line.count(separator) for line in lines}) > 1:
        return False
    mark = separator[0]
    cells = [cell for line in lines for cell in line.split(separator)]
    # Empty cells between single characters look like a separator of two.
    if len({*separator}) == 1 and any(cell.startswith(mark) for cell in cells):
        return False
    if len({line.count(mark) for line in lines}) == 1 and any(mark in cell for cell in cells):
        return False
    return sum(map(bool, cells)) >= len(cells) / 2


def _find_mixed_blanks(text: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find numbers between any number of blanks and tabs, with one column of text at most."""
    if "\t" not in text or not re.search(r"[ \t]{2}", text):
        return None
    rows = [TOKEN.findall(line) for line in lines if line.strip()]
    width = len(rows[0]) if rows else 0
    if width < MIN_MIXED_CELLS or any(len(row) != width for row in rows):
        return None
    if {line.count("\t") for line in lines if line.strip()} == {width - 1}:
        return None  # tabs alone separate the cells
    if sum(column_kind(column) == TEXT for column in zip(*rows, strict=True)) > 1:
        return None

    def split(line: str) -> list[str]:
        return [cell.strip('"') for cell in TOKEN.findall(line)]

    return _split_all("cells are separated by any number of blanks and tabs", split, width)


def _find_aligned(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find columns between blanks that are at the same places of all lines, below their names.

    Titles and comments can be above them, and the names be in the last comment.
    """
    above = [*takewhile(_is_title, lines[:MAX_ALIGNED_TITLES])]
    rows = [line.rstrip() for line in lines[len(above) :] if line.strip()]
    if len(rows) < max(MIN_ALIGNED_ROWS, len(above)) or not _may_be_aligned(rows, above):
        return None
    marked = rows[0].startswith("# ")
    rows[0] = " " * marked + rows[0][marked:]
    starts = _find_columns(rows, bare=not (above or marked))
    if not starts:
        return None
    table = _split_at_widths(starts, [start - 1 for start in starts[1:]])
    names = (*split_at(rows, starts)[0],) * marked
    return replace(table, titles=len(above) + marked, names=names)


def _find_columns(rows: Sequence[str], *, bare: bool) -> list[int]:
    """Return the places of columns below their names; of columns without names, if `bare`."""
    starts = find_name_starts(rows)
    names, *cells = split_at(rows, starts)
    if _are_column_names(names):
        return starts if all(sum(map(bool, row)) > 1 for row in cells) else []
    return find_value_starts(rows) if bare else []


def _is_title(line: str) -> bool:
    """Return whether a line has no wide gap, as between the names of columns."""
    return "  " not in line.strip() and "\t" not in line


def _may_be_aligned(rows: Sequence[str], above: Sequence[str]) -> bool:
    """Return whether blanks, and no usual separator, are between the cells of the first row."""
    first = rows[0]
    if "  " not in first.strip() or any("\t" in row for row in rows):
        return False
    if any('"' in row for row in rows) and len(WIDE_GAP.findall(first)) < MIN_WIDE_GAPS:
        return False
    return not any(mark in first and _is_in_all(mark, rows, above) for mark in USUAL_SEPARATORS)


def _is_in_all(mark: str, rows: Sequence[str], above: Sequence[str]) -> bool:
    """Return whether a separator is as often in all rows, or is in them and in all lines above."""
    counts = {row.count(mark) for row in rows}
    return len(counts) == 1 or (0 not in counts and any(above) and all(mark in x for x in above))


def _are_column_names(cells: Sequence[str]) -> bool:
    if len(cells) < MIN_ROWS or not all(cells[1:]) or len({*cells}) < len(cells):
        return False
    return not any(VALUE.fullmatch(cell) or "  " in cell for cell in cells)


def _find_wiki(_: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find rows between `|` below names between `||`, as wikis write them."""
    header, *rows = [line.strip() for line in lines if line.strip()] or [""]
    names = header.split("||")[1:-1] if header.startswith("||") and header.endswith("||") else []
    width = len(names)
    if width < MIN_ROWS or not rows or not all(row.startswith("|") for row in rows):
        return None

    def split(line: str) -> list[str]:
        return _split_pipes(line.replace("||", "|") if line.startswith("||") else line, True)

    if not _agree([len(split(row)) for row in rows], width):
        return None
    return _split_all("the file is a printed table with rows between `|`", split, width)


def _find_escapes(text: str, lines: Sequence[str]) -> PrintedTable | None:
    """Find cells between tabs in which tabs, line ends and backslashes are escaped as by MySQL."""
    if not _has_escapes(text):
        return None
    widths = [line.count("\t") + 1 for line in lines if line]
    width = widths[0]
    if width < 2 or len({*widths}) > 1:
        return None

    note = "tabs, line ends and backslashes inside of values are escaped as by MySQL"
    return _split_all(note, lambda line: [*map(_unescape, line.split("\t"))], width)


def _has_escapes(text: str) -> bool:
    if "\t" not in text or "\\" not in text or QUOTED.search(text) or DRIVE.search(text):
        return False
    escapes = {*ESCAPE.findall(text.partition("\n")[2])}  # `geo\\time` is the name of a column
    return escapes <= {*ESCAPED, "N"} and not escapes.isdisjoint(("t", "n", "\\"))


def _unescape(cell: str) -> str:
    if "\\" not in cell or cell == "\\N":
        return cell
    return ESCAPE.sub(lambda match: ESCAPED.get(match[1], match[0]), cell)


# Each returns how to read a kind of printed table; the most certain kinds are first.
FINDERS: Sequence[Callable[[str, Sequence[str]], PrintedTable | None]] = (
    find_sdmx_table, find_printed_records, _find_log, _find_pairs, _find_box, _find_wiki,
    _find_fixed_width, _find_long_separator, _find_escapes, _find_mixed_blanks, _find_aligned,
)  # fmt: skip

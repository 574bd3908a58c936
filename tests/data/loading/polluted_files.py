"""Polluted copies of one clean delimited file, and the score of what a reader makes of them.

Pollutions, measures and weights follow the published recipe of the Pollock benchmark (Vitagliano et
al., "Pollock: A Data Loading Benchmark", VLDB 2023): each file has one deviation from RFC 4180; a
reader is scored by success and by precision, recall and F1 of header, records and cells, 10 points
in all; weights are the numbers of real files in which a survey found the pollution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

COLUMNS = 9
ROWS = 83
NAMES = ("day", "time", "qty", "product", "price", "kind", "description", "url", "comments")
KINDS = ("Lamp", "Table", "Men's chair", "Shelf, oak")
COMMENTS = ("", "ok", 'he said "fine"', "see page 4, line 2", "O'Hara's")
Row = Sequence[str]


@dataclass(frozen=True)
class PollutedFile:
    """A file, and what a reader should find in it."""

    name: str
    kind: str
    content: bytes
    header: Row
    rows: Sequence[Row]
    weight: float


@dataclass(frozen=True)
class Loaded:
    """What a reader found in a file."""

    header: Row
    rows: Sequence[Sequence[object]]


def clean_row(number: int) -> list[str]:
    """Return a row of the clean file."""
    return [
        f"{number % 28 + 1:02}/11/2018",
        f"{number % 24:02}:{number * 7 % 60:02}",
        str(number % 5 + 1),
        f"P{number * 37 % 1000:04}",
        f"{number * 13 % 90 + 1}.{number % 10}5",
        KINDS[number % len(KINDS)],
        f"{KINDS[number * 3 % len(KINDS)]} number {number}",
        f"http://shop.example/p/{number}",
        COMMENTS[number % len(COMMENTS)],
    ]


TABLE = (NAMES, *(tuple(clean_row(number)) for number in range(ROWS)))


@dataclass(frozen=True)
class Dialect:
    """How a table is written; the source has quotes around every cell."""

    separator: str = ","
    quote: str = '"'
    escape: str = '"'
    end: str = "\r\n"

    def cell(self, text: str) -> str:
        """Write a cell."""
        return self.quote + text.replace(self.quote, self.escape + self.quote) + self.quote

    def line(self, row: Row) -> str:
        """Write a row."""
        return self.separator.join(map(self.cell, row)) + self.end

    def text(self, table: Sequence[Row] = TABLE) -> str:
        """Write a table."""
        return "".join(map(self.line, table))


CLEAN = Dialect()


def polluted_files(places: Sequence[int] = range(ROWS + 1)) -> Iterator[PollutedFile]:
    """Yield every file of the benchmark, with pollutions of the rows at some places."""
    yield from _file_pollutions()
    yield from _table_pollutions()
    yield from _row_pollutions(places)


def more_files() -> Iterator[PollutedFile]:
    """Yield pollutions that the benchmark does not contain."""
    text = CLEAN.text()
    for encoding in ("utf-16", "utf-8-sig", "cp1252"):
        yield _made(f"file_encoding_{encoding}", text, encoding=encoding)
    for separator in "|^~:":
        yield _made(f"file_separator_{ord(separator)}", Dialect(separator).text())
    lines = text.splitlines(keepends=True)
    comments = "# made by x\r\n" + "".join(lines[:9]) + "# in the middle\r\n" + "".join(lines[9:])
    yield _made("file_comments", comments)
    yield _made("file_sep_line", "sep=;\r\n" + Dialect(";").text())
    yield _made("file_titles", "Sales\r\nof 2018\r\n\r\n" + text)
    yield _made("file_mixed_ends", "".join(lines[:5]) + "".join(lines[5:]).replace("\r\n", "\n"))
    yield _made("file_blank_lines", "\r\n".join(lines))
    names = ("day", *NAMES[:-1])
    renamed = [*names[:1], "day_2", *names[2:]]
    yield _made("file_duplicate_name", CLEAN.text((names, *TABLE[1:])), header=renamed)
    short = [("column0", *NAMES[1:]), *TABLE[1:]]
    yield _made("file_row_names", CLEAN.text((NAMES[1:], *TABLE[1:])), header=short[0])
    yield _made("file_header_again", text + text, rows=TABLE[1:] * 2)


def _made(
    name: str,
    text: str,
    *,
    header: Row = NAMES,
    rows: Sequence[Row] = TABLE[1:],
    weight: float = 1,
    kind: str = "",
    encoding: str = "utf-8",
) -> PollutedFile:
    return PollutedFile(
        f"{name}.csv", kind or name, text.encode(encoding), header, rows, weight
    )  # fmt: skip


def _file_pollutions() -> Iterator[PollutedFile]:
    text = CLEAN.text()
    yield _made("source", text)
    yield _made("file_no_payload", "", header=(), rows=(), weight=15)
    yield _made("file_no_trailing_newline", text[:-2], weight=184)
    yield _made("file_double_trailing_newline", text + "\r\n", weight=5)
    yield _made("file_record_delimiter_lf", Dialect(end="\n").text(), weight=1691)
    yield _made("file_record_delimiter_cr", Dialect(end="\r").text(), weight=7)
    for separator, name, weight in (
        ("\t", "tab", 4), (";", "semicolon", 834), (" ", "blank", 4), (", ", "comma_blank", 101)
    ):  # fmt: skip
        yield _made(f"file_field_delimiter_{name}", Dialect(separator).text(), weight=weight)
    yield _made("file_quotation_char", Dialect(quote="'", escape="'").text(), weight=11)
    yield _made("file_escape_char_backslash", Dialect(escape="\\").text(), weight=1)
    yield _made("file_escape_char_none", Dialect(escape="").text(), weight=7)


def _table_pollutions() -> Iterator[PollutedFile]:
    text, header = CLEAN.text(), CLEAN.line(NAMES)
    yield _made("file_no_header", CLEAN.text(TABLE[1:]), header=(), weight=470)
    yield _made("file_header_only", header, rows=(), weight=3)
    yield _made("file_one_data_row", CLEAN.text(TABLE[:2]), rows=TABLE[1:2], weight=4)
    for count in (2, 3):
        name = f"file_header_multirow_{count}"
        yield _made(name, header * (count - 1) + text, header=NAMES * count, weight=47)
    title = CLEAN.line(("PREAMBLE", *[""] * (COLUMNS - 1))) + CLEAN.line([""] * COLUMNS)
    yield _made("file_preamble", title + text, weight=282)
    for name, width in (("less", 8), ("same", 9), ("more", 10)):
        other = [[*row, row[-1]][:width] for row in TABLE[: ROWS - 1]]
        other[0] = [*NAMES, "col1"][:width]
        made = _made(
            f"file_multitable_{name}", text + CLEAN.text(other), weight=188 / 3,
            header=(*NAMES, *other[0]), rows=(*TABLE[1:], *other[1:]),
        )  # fmt: skip
        yield made


def _row_pollutions(places: Sequence[int]) -> Iterator[PollutedFile]:
    lines = [CLEAN.line(row) for row in TABLE]
    for place in places:
        cells = list(map(CLEAN.cell, TABLE[place]))
        for column in range(COLUMNS):
            more = [*cells[:column], "", *cells[column:]]
            yield _with_line(lines, place, ",".join(more), f"row_more_sep_{column}", 0.3678)
            quoted = [*cells]
            quoted[column] = '"' + quoted[column]
            made = _with_line(lines, place, ",".join(quoted), f"row_extra_quote_{column}", 0.0093)
            yield _with_cell(made, place, column, '"' + TABLE[place][column])
            if column:
                less = [*cells[: column - 1], cells[column - 1] + cells[column]]
                less += cells[column + 1 :]
                yield _with_line(lines, place, ",".join(less), f"row_less_sep_{column}", 0.3678)
        yield _with_line(lines, place, " ".join(cells), "row_field_delimiter", 0.1429)


def _with_line(
    lines: Sequence[str], place: int, line: str, name: str, weight: float
) -> PollutedFile:
    text = "".join((*lines[:place], line + "\r\n", *lines[place + 1 :]))
    kind = name.rstrip("_0123456789") if name[-1].isdigit() else name
    return _made(f"{name}_of_{place}", text, weight=weight, kind=kind)


def _with_cell(made: PollutedFile, place: int, column: int, text: str) -> PollutedFile:
    """Change a cell of what should be found, of the header or of a row."""
    table = [list(row) for row in TABLE]
    table[place][column] = text
    return replace(made, header=table[0], rows=table[1:])


def score(file: PollutedFile, loaded: Loaded | None) -> tuple[float, ...]:
    """Return success, then precision, recall and F1 of header, records and cells."""
    if loaded is None:
        return (0.0,) * 10
    wanted, found = list(map(_cells, file.rows)), list(map(_cells, loaded.rows))
    return (
        1.0,
        *_measures(_cells(file.header), _cells(loaded.header)),
        *_measures(map("\0".join, wanted), map("\0".join, found)),
        *_measures(chain(*wanted), chain(*found)),
    )


def _cells(row: Sequence[object]) -> list[str]:
    """Return the cells in one form; missing cells at the end do not count."""
    cells = list(map(_normal, row))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _normal(value: object) -> str:
    text = "" if value is None or value != value else str(value)
    try:
        return f"{float(text):g}"
    except ValueError:
        return text


def _measures(wanted: Iterable[str], found: Iterable[str]) -> tuple[float, float, float]:
    one, other = Counter(wanted), Counter(found)
    if not one:
        return 1.0, 1.0, 1.0
    same = (one & other).total()
    if not same:
        return 0.0, 0.0, 0.0
    first, second = same / one.total(), same / other.total()
    return first, second, 2 * first * second / (first + second)


Reader = Callable[[PollutedFile], Loaded | None]


def score_files(files: Sequence[PollutedFile], read: Reader) -> Mapping[str, tuple[float, float]]:
    """Return by kind of pollution the mean score of its files, up to 10, and their weight."""
    scores: dict[str, list[tuple[float, float]]] = {}
    for file in files:
        scores.setdefault(file.kind, []).append((sum(score(file, read(file))), file.weight))
    return {
        kind: (sum(points for points, _ in each) / len(each), sum(weight for _, weight in each))
        for kind, each in scores.items()
    }

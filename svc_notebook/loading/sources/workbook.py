"""Sheets of Excel workbooks as tables: stored values, dates, merged headers, error cells."""

from __future__ import annotations

import datetime as dt
import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.loading.database import Database, ReadingStopped
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.archives import OLD_WORKBOOK
from svc_notebook.loading.sources.dataframe import check_unique
from svc_notebook.loading.sources.python_records import RecordStream
from svc_notebook.loading.table import RowError, SourceTable

# Rows from which the header is found.
SAMPLE_ROWS = 100
MERGED = re.compile(rb'<mergeCell ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
# A formula that was never calculated has no stored value.
UNCALCULATED = re.compile(rb"</f>\s*(?:<v\s*/>|<v></v>|</c>)")
CHUNK_BYTES, OVERLAP_BYTES = 1 << 20, 200
MAX_SHOWN_CHARACTERS = 100
TIME_FORMAT = re.compile(r"[hs]", re.I)
Row = tuple[Any, ...]


@dataclass
class _Header:
    """The names of the columns, the number of rows up to them, and the notes on both."""

    names: list[str]
    rows: int
    notes: list[str] = field(default_factory=list)


def open_workbook(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of one sheet of a workbook."""
    if len(paths) > 1:
        raise BadInput(f"{name} are several workbooks; load each separately")
    book = _open(paths[0], name)
    try:
        sheet, notes = _choose(book, name, options)
        facts = _SheetFacts.read(paths[0], sheet)
        rows = (tuple(row) for row in sheet.iter_rows())
        records, more = _gather(rows, facts, f"sheet `{sheet.title}` of {name}", options, db)
    finally:
        book.close()
    table = records.open(db)
    return replace(table, name=f"{name}, sheet `{sheet.title}`", notes=(*notes, *more))


def _open(path: Path, name: str) -> Any:
    with path.open("rb") as file:
        if file.read(len(OLD_WORKBOOK)) == OLD_WORKBOOK:
            raise BadInput(f"{name} is a workbook of Excel 97 or has a password; save it as .xlsx")
    try:
        import openpyxl
    except ImportError as error:
        raise BadInput(
            f'{name} is a workbook, which needs openpyxl: pip install "svc-notebook[excel]"'
        ) from error
    try:
        return openpyxl.load_workbook(path, read_only=True, data_only=True)
    except Exception as error:  # a damaged file raises errors of several libraries
        raise BadInput(
            f"{name} cannot be read as a workbook: {error}; save it as .xlsx in a spreadsheet"
        ) from error


def _choose(book: Any, name: str, options: LoadSettings) -> tuple[Any, list[str]]:
    """Return the sheet that `sheet` names, else the first visible one, and a note on the others."""
    titles = [sheet.title for sheet in book.worksheets]
    if not titles:
        raise BadInput(f"{name} has no sheet with cells")
    if options.sheet is not None:
        if options.sheet not in titles:
            raise BadInput(
                f"{name} has no sheet `{options.sheet}`{did_you_mean(options.sheet, titles)}; its "
                f"sheets: {_enumerate(titles)}"
            )
        return book[options.sheet], []
    visible = [each for each in book.worksheets if each.sheet_state == "visible"]
    chosen = (visible or book.worksheets)[0]
    others = [title for title in titles if title != chosen.title]
    if not others:
        return chosen, []
    note = (
        f"sheet `{chosen.title}` is read; sheet={others[0]!r} loads another: {_enumerate(others)}"
    )
    return chosen, [note]


def _enumerate(titles: Sequence[str]) -> str:
    return ", ".join(f"`{title}`" for title in titles)


@dataclass
class _SheetFacts:
    """What a streamed sheet does not say of its cells."""

    # The rows and columns of merged cells, from 1: first row, first column, last row, last column.
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    uncalculated: int = 0

    @classmethod
    def read(cls, path: Path, sheet: Any) -> _SheetFacts:
        """Scan the XML of a sheet."""
        from openpyxl.utils import column_index_from_string

        facts, left = cls(), b""
        inside = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
        with suppress(KeyError), zipfile.ZipFile(path) as archive, archive.open(inside) as xml:
            while piece := xml.read(CHUNK_BYTES):
                text = left + piece
                # What could be the beginning of a match is searched with the next piece.
                cut = text.rfind(b"<c ", max(len(text) - OVERLAP_BYTES, 0))
                cut = len(text) - OVERLAP_BYTES if cut < 0 else cut
                cut = max(cut, 0) if len(piece) == CHUNK_BYTES else len(text)
                facts._add(text[:cut], column_index_from_string)
                left = text[cut:]
            facts._add(left, column_index_from_string)
        return facts

    def _add(self, text: bytes, number_of: Any) -> None:
        self.uncalculated += len(UNCALCULATED.findall(text))
        for first, top, last, bottom in MERGED.findall(text):
            left, right = number_of(first.decode()), number_of(last.decode())
            self.merged.append((int(top), left, int(bottom), right))


def _gather(
    rows: Iterator[Row], facts: _SheetFacts, name: str, options: LoadSettings, db: Database
) -> tuple[RecordStream, list[str]]:
    first = list(islice(rows, SAMPLE_ROWS))
    header = _find_header(first, facts, options)
    if header is None:
        raise BadInput(f"{name} has no cells with values")
    check_unique(header.names)
    records = db.ends.enter_context(RecordStream(options.timezone))
    records.begin_columns(header.names)
    blank = 0
    for row in chain(first[header.rows :], rows):
        if db.stopped:
            raise ReadingStopped
        if not any(cell.value is not None for cell in row):
            blank += 1
            continue
        if records.are_enough(options.limit):
            break
        _add(records, header.names, row)
    if not records.rows:
        raise BadInput(f"{name} has a header but no rows")
    notes = header.notes
    if blank:
        notes.append(f"{blank:,} blank row{'' if blank == 1 else 's'} of the sheet: not sent")
    if facts.uncalculated:
        notes.append(
            f"{facts.uncalculated:,} formulas have no stored value: their cells are missing; open "
            "and save the workbook in a spreadsheet to calculate them"
        )
    return records, notes


def _find_header(rows: Sequence[Row], facts: _SheetFacts, options: LoadSettings) -> _Header | None:
    """Find the first row that is as wide as most rows; headers that are merged have two rows."""
    widths = [sum(cell.value is not None for cell in row) for row in rows]
    filled = [width for width in widths if width]
    if not filled:
        return None
    skipped = options.skip
    if skipped is None:
        usual = Counter(width for width in filled if width > 1).most_common(1)
        enough = max(2, usual[0][0] / 2) if usual else 1
        skipped = next(n for n, width in enumerate(widths) if width and width >= enough)
    above = [_shown(row) for row in rows[:skipped] if any(c.value is not None for c in row)]
    notes = [f"row{'s' if skipped > 1 else ''} above the table: not sent ({'; '.join(above)})"]
    header = _Header([], skipped, notes if above else [])
    if options.header is False:
        columns = max(len(row) for row in rows)
        return replace(header, names=[f"column{n}" for n in range(columns)])
    if skipped >= len(rows):
        return None
    return _name_columns(header, rows, facts)


def _name_columns(header: _Header, rows: Sequence[Row], facts: _SheetFacts) -> _Header:
    top = header.rows + 1
    names = _texts(rows[header.rows])
    across = [each for each in facts.merged if each[0] == top == each[2] and each[3] > each[1]]
    depth = 1
    if across and top < len(rows):
        below, depth = _texts(rows[top]), 2
        for _, left, _, right in across:
            for column in range(left, min(right, len(names)) + 1):
                names[column - 1] = names[left - 1]
        names = [" ".join(filter(None, pair)) for pair in _pairs(names, below)]
        merged = ", ".join(f"`{_texts(rows[header.rows])[left - 1]}`" for _, left, _, _ in across)
        header.notes.append(
            f"the header has two rows, because {merged} is merged over several columns: names are "
            "joined with a blank"
        )
    named = [name or f"column{n}" for n, name in enumerate(names)]
    return replace(header, names=named, rows=header.rows + depth)


def _pairs(above: Sequence[str], below: Sequence[str]) -> Iterator[tuple[str, str]]:
    for n in range(max(len(above), len(below))):
        yield above[n] if n < len(above) else "", below[n] if n < len(below) else ""


def _texts(row: Row) -> list[str]:
    return ["" if cell.value is None else str(_value(cell)).strip() for cell in row]


def _shown(row: Row) -> str:
    return " ".join(filter(None, _texts(row)))[:MAX_SHOWN_CHARACTERS]


def _add(records: RecordStream, names: list[str], row: Row) -> None:
    """Add one row; a cell with an error such as #N/A is an error of its row."""
    record: dict[str, Any] = {}
    for number, cell in enumerate(row):
        if number == len(names):
            names.append(f"column{number}")
        if cell.value is None:
            continue
        if cell.data_type == "e":
            reason = "is an error of a formula; correct it in the workbook"
            records.errors.append(RowError(records.rows + 1, names[number], cell.value, reason))
            record[names[number]] = None
        else:
            record[names[number]] = _value(cell)
    records.add(record)


def _value(cell: Any) -> Any:
    """Return the value of a cell; a time without a format for hours is a date."""
    value = cell.value
    if isinstance(value, dt.datetime) and not TIME_FORMAT.search(str(cell.number_format)):
        return value.date()
    return value

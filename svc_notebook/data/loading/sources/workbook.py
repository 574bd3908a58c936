"""Sheets of workbooks as tables: stored values, dates, headers of several rows, totals left out."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

from svc_notebook.core.display import list_names
from svc_notebook.data.loading.database import Database, ReadingStopped
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import check_unique
from svc_notebook.data.loading.sources.encoding import read_part
from svc_notebook.data.loading.sources.given_files import ZIP_MARK, is_open_document
from svc_notebook.data.loading.sources.python_records import RecordStream
from svc_notebook.data.loading.sources.read_limits import CELL_BYTES, ReadingBudget, try_reading
from svc_notebook.data.loading.sources.sheet_cells import (
    ERROR,
    TEXT,
    PlainCell,
    Row,
    SheetFacts,
    ValueReader,
    count_filled,
    is_filled,
)
from svc_notebook.data.loading.sources.sheet_rows import SheetRows, find_header
from svc_notebook.data.loading.table import SourceTable
from svc_notebook.errors import BadInput, did_you_mean

# Rows from which the header is found, and by which a sheet without a table is known.
SAMPLE_ROWS = 100
MIN_TABLE_COLUMNS, MIN_TABLE_ROWS = 2, 2
MAX_COVER_COLUMNS = 2
ADVICE = "save the sheet as .csv in a spreadsheet, and load that"
# Reads all sheets; a cell far from the others takes the memory of all cells between.
READ_SHEETS = """from python_calamine import CalamineWorkbook
    book = CalamineWorkbook.from_filelike(open(path, "rb"))
    for name in book.sheet_names: book.get_sheet_by_name(name).to_python()"""


@dataclass(frozen=True)
class _Sheet:
    """A sheet: its name, whether it is visible, its rows, and what its cells do not say."""

    title: str
    visible: bool
    rows: Callable[[], Iterator[Row]]
    facts: Callable[[], SheetFacts]


def open_workbook(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of one sheet of a workbook."""
    if len(paths) > 1:
        raise BadInput(f"{name} are several workbooks; load each separately")
    sheets, close = _open(paths[0], name)
    budget = ReadingBudget.of_files(paths, name, ADVICE)
    try:
        sheet, notes = _choose(sheets, name, options)
        records, more = _gather(sheet, f"sheet `{sheet.title}` of {name}", options, db, budget)
    finally:
        close()
    table = records.open(db)
    name = f"{name}, sheet `{sheet.title}`"
    return replace(table, name=name, notes=(*notes, *more), text_amounts=True)


def _open(path: Path, name: str) -> tuple[list[_Sheet], Callable[[], None]]:
    is_zipped = read_part(path, len(ZIP_MARK)) == ZIP_MARK
    needed, open_sheets = (
        ("openpyxl", _open_new) if is_zipped and not is_open_document(path) else
        ("python-calamine", _open_other)
    )  # fmt: skip
    try:
        if open_sheets is _open_other:
            try_reading(READ_SHEETS, path, name, ADVICE)
        return open_sheets(path)
    except BadInput:
        raise
    except ImportError as error:
        raise BadInput(
            f'{name} is a workbook, which needs {needed}: pip install "svc-notebook[excel]"'
        ) from error
    except Exception as error:  # a damaged file raises errors of several libraries
        raise BadInput(
            f"{name} cannot be read as a workbook: {error}; if it has a password, remove it; else "
            "save it as .xlsx in a spreadsheet"
        ) from error


def _open_new(path: Path) -> tuple[list[_Sheet], Callable[[], None]]:
    import openpyxl

    # openpyxl refuses the path of a file whose name has another suffix, such as that of a download.
    file = path.open("rb")
    try:
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    except BaseException:
        file.close()
        raise
    sheets = []
    for sheet in book.worksheets:
        # The stated size can be that of all rows and columns, which would be filled with cells.
        sheet.reset_dimensions()
        inside = str(getattr(sheet, "_worksheet_path", "")).lstrip("/")
        facts = partial(SheetFacts.read, path, inside)
        is_visible = sheet.sheet_state == "visible"
        sheets.append(_Sheet(sheet.title, is_visible, sheet.iter_rows, facts))

    def close() -> None:
        book.close()
        file.close()

    return sheets, close


def _open_other(path: Path) -> tuple[list[_Sheet], Callable[[], None]]:
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    with path.open("rb") as file:  # a path would decide the format by its suffix
        book = CalamineWorkbook.from_filelike(file)
    sheets = [
        _Sheet(
            facts.name,
            facts.visible == SheetVisibleEnum.Visible,
            partial(_read_rows, book, facts.name),
            partial(_read_facts, book, facts.name),
        )
        for facts in book.sheets_metadata
        if facts.typ == SheetTypeEnum.WorkSheet
    ]
    return sheets, book.close


def _read_rows(book: Any, title: str) -> Iterator[Row]:
    for row in book.get_sheet_by_name(title).to_python(skip_empty_area=False):
        yield [_plain_cell(value) for value in row]


def _plain_cell(value: Any) -> PlainCell:
    if value == "":
        return PlainCell(None)
    if isinstance(value, str):
        return PlainCell(value, TEXT)
    if isinstance(value, (dt.date, dt.time, dt.timedelta)):
        return PlainCell(value, "d", "d" if type(value) is dt.date else "h:mm")
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53:
        return PlainCell(int(value))
    return PlainCell(value)


def _read_facts(book: Any, title: str) -> SheetFacts:
    ranges = book.get_sheet_by_name(title).merged_cell_ranges or []
    return SheetFacts([(t + 1, left + 1, b + 1, r + 1) for (t, left), (b, r) in ranges])


def _choose(sheets: Sequence[_Sheet], name: str, options: LoadSettings) -> tuple[_Sheet, list[str]]:
    """Return the sheet that `sheet` names, else the first visible one with a table, and a note."""
    titles = [sheet.title for sheet in sheets]
    if not titles:
        raise BadInput(f"{name} has no sheet with cells")
    if options.sheet is not None:
        if options.sheet not in titles:
            raise BadInput(
                f"{name} has no sheet `{options.sheet}`{did_you_mean(options.sheet, titles)}; its "
                f"sheets: {list_names(titles)}"
            )
        return sheets[titles.index(options.sheet)], []
    chosen = _find_sheet_with_table(sheets)
    others = [title for title in titles if title != chosen.title]
    if not others:
        return chosen, []
    note = (
        f"sheet `{chosen.title}` is read; sheet={others[0]!r} loads another: {list_names(others)}"
    )
    return chosen, [note]


def _find_sheet_with_table(sheets: Sequence[_Sheet]) -> _Sheet:
    """Return the first visible sheet with a table, else the first visible one."""
    visible = [candidate for candidate in sheets if candidate.visible] or sheets
    if len(visible) == 1:
        return visible[0]
    return next(filter(_has_table, visible), visible[0])


def _has_table(sheet: _Sheet) -> bool:
    """Return whether the first rows contain a table, and not a title page or a few remarks."""
    widths = [count_filled(row) for row in islice(sheet.rows(), SAMPLE_ROWS)]
    wide = [width for width in widths if width >= MIN_TABLE_COLUMNS]
    if len(wide) < MIN_TABLE_ROWS:
        return False
    # Two columns of names and values, between titles and blank rows, describe the workbook.
    is_description = max(wide) <= MAX_COVER_COLUMNS and (0 in widths or 1 in widths)
    return not is_description


def _gather(
    sheet: _Sheet, name: str, options: LoadSettings, db: Database, budget: ReadingBudget
) -> tuple[RecordStream, list[str]]:
    facts = sheet.facts()
    rows = sheet.rows()
    first = list(islice(rows, SAMPLE_ROWS))
    header = find_header(first, facts, options)
    if header is None:
        raise BadInput(f"{name} has no cells with values")
    names = header.names
    check_unique(names)
    records = db.ends.enter_context(RecordStream(options.timezone))
    records.begin_columns(names)
    reader, table = ValueReader(options.timezone), SheetRows(facts, names)
    numbered = enumerate(chain(first[header.rows :], rows), header.rows + 1)
    for row in table.iterate(numbered):
        if db.stopped:
            raise ReadingStopped
        if records.are_enough(options.limit):
            break
        budget.add(CELL_BYTES * len(row))
        _add(records, names, row, reader)
    if not records.rows:
        raise BadInput(f"{name} has a header but no rows")
    notes = [*header.notes, *table.notes(), *reader.notes()]
    if facts.uncalculated:
        notes.append(
            f"{facts.uncalculated:,} formulas have no stored value: their cells are missing; open "
            "and save the workbook in a spreadsheet to calculate them"
        )
    return records, notes


def _add(records: RecordStream, names: list[str], row: Row, reader: ValueReader) -> None:
    """Add one row; a cell with an error such as #DIV/0! is a missing value."""
    record: dict[str, Any] = {}
    for number, cell in enumerate(row):
        if number == len(names):
            names.append(f"column{number}")
        if not is_filled(cell):
            continue
        name = names[number]
        if cell.data_type == ERROR:
            reader.formula_errors[str(cell.value)] += 1
            continue
        record[name] = reader.read(cell, name)
    records.add(record)

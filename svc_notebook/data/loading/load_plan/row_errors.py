"""Row errors: rows that cannot be sent, with reasons; looked up only if the profile has some.

Plans and results show them as a table whose rows can be fixed and sent again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt
import pandas as pd

from svc_notebook.data.loading.encoding.json_sql import as_text
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile, operation_overhead
from svc_notebook.data.loading.load_plan.ids import Ids
from svc_notebook.data.loading.load_plan.profile import INVALID_IDS, Profile
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import RowError, SourceTable
from svc_notebook.data.loading.text_cells.cell_kinds import MISSING_WORDS
from svc_notebook.data.loading.text_cells.header_names import free_name
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.loading.database import Database

Positions = npt.NDArray[np.int64]
Digests = npt.NDArray[np.uint64]
# Rows that are listed for each reason; the others are only counted.
MAX_LISTED_ROWS = 10_000
MAX_SHOWN_CHARACTERS = 200
# JSON escapes a character in at most six bytes; the SQL of a member adds at most about 100 bytes.
MAX_ESCAPE_BYTES, MAX_MEMBER_BYTES = 6, 100
MARK_CHUNK_ROWS = 100_000


@dataclass(frozen=True)
class MarkedRows:
    """Rows that are dropped or get a numbered id: their positions, ascending, and digests.

    A scan that finds a row with another digest at one of these positions is in another order.
    """

    positions: Positions
    digests: Digests

    @classmethod
    def of(cls, results: Sequence[tuple[Positions, Digests]]) -> MarkedRows:
        """Merge the results of several scans; each row occurs once."""
        if not results:
            return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64))
        positions, at = np.unique(
            np.concatenate([result[0] for result in results]), return_index=True
        )
        return cls(positions, np.concatenate([result[1] for result in results])[at])

    def agree(self, first: int, digests: Digests) -> bool:
        """Return whether the rows from position `first` on have the digests of the marked rows."""
        low, high = np.searchsorted(self.positions, (first, first + len(digests)))
        expected = digests[self.positions[low:high] - first]
        return bool(np.array_equal(expected, self.digests[low:high]))


@dataclass
class RowErrors:
    """The rows that are not sent, and those whose hashed ids are numbered."""

    dropped: list[tuple[Positions, Digests]] = field(default_factory=list)
    # The number of dropped rows that have the id of another row.
    duplicates: int = 0
    listed: list[RowError] = field(default_factory=list)
    # Equal rows have one hash; from the position of each later one to its number, from 2 on.
    repeats: dict[int, int] = field(default_factory=dict)
    repeated: list[tuple[Positions, Digests]] = field(default_factory=list)


def find_row_errors(
    table: SourceTable, profile: Profile, ids: Ids, operation: str, options: LoadSettings
) -> RowErrors:
    """Find the rows with each kind of error that the profile counted."""
    errors = RowErrors()
    numbers = RowNumbers(table, profile.skipped)
    for column, bad, shown, reason in _conditions(profile, ids, operation, options):
        rows = f"{_numbered(table, f'{shown} AS v, {bad} AS bad')} WHERE bad"
        marks = _read_marks(table.db, f"SELECT pos, digest FROM {rows}")
        if len(marks[0]):
            errors.dropped.append(marks)
            listed = f"SELECT pos, v FROM {rows} ORDER BY pos LIMIT {MAX_LISTED_ROWS}"
            matching = table.db.rows(listed)
            errors.listed += [numbers.error(pos, column, v, reason) for pos, v in matching]
    for error in table.errors:
        errors.listed.append(numbers.error(error.row - 1, error.column, error.value, error.reason))
    if table.errors:
        positions = sorted({error.row - 1 for error in table.errors})
        chosen = f"pos IN (SELECT unnest({positions}::BIGINT[]))"
        query = f"SELECT pos, {table.digest} FROM {table.numbered} WHERE {chosen}"
        errors.dropped.append(_read_marks(table.db, query))
    if ids.faulty:
        _add_duplicates(errors, table, ids, options, numbers)
    errors.listed += profile.skipped[:MAX_LISTED_ROWS]
    errors.listed.sort(key=lambda error: (error.file or "", error.row))
    return errors


class RowNumbers:
    """Maps positions among the rows that were read to row numbers of the file.

    Row numbers count the skipped rows, too.
    """

    def __init__(self, table: SourceTable, skipped: Sequence[RowError]) -> None:
        self._table, self._skipped = table, skipped
        self._files: tuple[str | None, ...] = table.files or (None,)

    @cached_property
    def _starts(self) -> Positions:
        rows = self._table.rows_of_files() if self._table.files else [0]
        return np.cumsum([0, *rows[:-1]])

    @cached_property
    def _good_before(self) -> list[Positions]:
        return [_good_before(self._skipped, file) for file in self._files]

    def of(self, position: int) -> tuple[int, str | None]:
        """Return the row's number, counted from 1, and its file if there are several."""
        number = int(np.searchsorted(self._starts, position, side="right")) - 1
        inside = int(position) - int(self._starts[number])
        before = int(np.searchsorted(self._good_before[number], inside, side="right"))
        return inside + 1 + before, self._files[number]

    def error(self, position: int, column: str | None, value: object, reason: str) -> RowError:
        """Return the error of the row at a position."""
        row, file = self.of(position)
        return RowError(row, column, value, reason, int(position), file)

    def name(self, position: int) -> str:
        """Return the name of a row in a message."""
        row, file = self.of(position)
        return f"row {row:,} of {file}" if file else f"row {row:,}"


def _good_before(skipped: Sequence[RowError], file: str | None) -> Positions:
    """Return, for each skipped row of a file, the number of read rows before it."""
    rows = [error.row for error in skipped if file is None or error.file == file]
    broken = np.unique(np.array(rows, dtype=np.int64))
    return broken - np.arange(len(broken)) - 1


Condition = tuple[str | None, str, str, str]


def _conditions(
    profile: Profile, ids: Ids, operation: str, options: LoadSettings
) -> Iterator[Condition]:
    """Yield the column, the condition of the error, the SQL of the shown value, and the reason."""
    for column in profile.columns:
        shown = f"left({column.field.column}::VARCHAR, {MAX_SHOWN_CHARACTERS})"
        for check, _ in column.failing:
            yield column.name, check.bad, shown, check.reason
        if column.missing and options.nulls_of(column.name) == "error":
            yield column.name, f"({column.sql.json}) IS NULL", "NULL", "is missing"
    if ids.faulty and not ids.hashed:
        for condition, reason in INVALID_IDS:
            shown = f"left({ids.sql}, {MAX_SHOWN_CHARACTERS})"
            yield ids.column, condition.format(ids.sql), shown, reason
    largest = profile.largest_row_bytes * MAX_ESCAPE_BYTES + MAX_MEMBER_BYTES * len(profile.columns)
    if largest > options.record_bytes:
        size = f"strlen({operation}) - {operation_overhead(options)}"
        reason = f"is larger than {options.record_bytes:,} bytes; services refuse such records"
        yield None, f"{size} > {options.record_bytes}", size, reason


def _numbered(table: SourceTable, columns: str) -> str:
    return f"(SELECT pos, {table.digest} AS digest, {columns} FROM {table.numbered})"


def _add_duplicates(
    errors: RowErrors, table: SourceTable, ids: Ids, options: LoadSettings, numbers: RowNumbers
) -> None:
    """Find the rows that share an id: hashed ids are numbered, other duplicates are dropped.

    A row that is dropped for another reason does not count as a duplicate.
    """
    if not ids.hashed and options.duplicates == "keep":
        return
    numbered = _numbered(table, f"{ids.sql} AS id")
    sendable = _is_sendable(table.db, errors.dropped)
    valid = f"(SELECT * FROM {numbered} WHERE coalesce(id, '') <> '' AND {sendable})"
    shared = f"SELECT hash(id) FROM {valid} GROUP BY hash(id) HAVING count(*) > 1"
    order = "DESC" if options.duplicates == "last" else "ASC"
    ranked = (
        f"SELECT pos, digest, id, row_number() OVER (PARTITION BY id ORDER BY pos {order}) AS nth, "
        f"first_value(pos) OVER (PARTITION BY id ORDER BY pos {order}) AS other "
        f"FROM {valid} WHERE hash(id) IN ({shared})"
    )
    later = f"FROM ({ranked}) WHERE nth > 1 ORDER BY pos"
    if ids.hashed:
        _number_repeats(errors, table.db.rows(f"SELECT pos, nth, digest {later}"))
        return
    duplicates = table.db.rows(f"SELECT pos, id, other {later} LIMIT {MAX_LISTED_ROWS}")
    if duplicates and options.duplicates == "error":
        pos, shown, other = duplicates[0]
        raise BadInput(
            f"{numbers.name(other)} and {numbers.name(pos)} both have the id {shown!r}; "
            "duplicates='reject' or 'last' sends one of them"
        )
    marks = _read_marks(table.db, f"SELECT pos, digest {later}")
    errors.dropped.append(marks)
    errors.duplicates = len(marks[0])
    errors.listed += [
        numbers.error(pos, ids.column, shown, f"duplicate objectID (same as {numbers.name(other)})")
        for pos, shown, other in duplicates
    ]


def _number_repeats(errors: RowErrors, repeats: Sequence[tuple[int, int, int]]) -> None:
    """Add the rows with the hash of an earlier row: position, number and digest."""
    errors.repeats = {pos: number for pos, number, _ in repeats}
    positions = np.array([pos for pos, _, _ in repeats], dtype=np.int64)
    digests = np.array([digest for _, _, digest in repeats], dtype=np.uint64)
    errors.repeated = [(positions, digests)]


def _is_sendable(db: Database, dropped: Sequence[tuple[Positions, Digests]]) -> str:
    """Return the condition that a row is not dropped."""
    if not dropped:
        return "true"
    import pyarrow as pa

    db.register("dropped_rows", pa.table({"pos": MarkedRows.of(dropped).positions}))
    return "pos NOT IN (SELECT pos FROM dropped_rows)"


def _read_marks(db: Database, query: str) -> tuple[Positions, Digests]:
    """Read the positions and digests that a query returns, in any order."""
    positions, digests = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.uint64)]
    for chunk in db.chunks(query, MARK_CHUNK_ROWS):
        positions.append(chunk.column(0).to_numpy(zero_copy_only=False).astype(np.int64))
        digests.append(chunk.column(1).to_numpy(zero_copy_only=False).astype(np.uint64))
    return np.concatenate(positions), np.concatenate(digests)


# The columns that describe an error, as plans and results print them.
ERROR_COLUMNS = ["row", "column", "value", "reason"]
OBJECTS = ["column", "value"]
# All columns that are not the source's.
ADDED_COLUMNS = [*ERROR_COLUMNS, "file", "partition"]

# The position of a row that was read, or the file and row number of a skipped one.
Key = int | tuple[str | None, int]
Cells = dict[Key, Any]


def describe_rejected(
    table: SourceTable, columns: Sequence[ColumnProfile], ids: Ids, errors: Sequence[RowError]
) -> pd.DataFrame:
    """Return each rejected row once: its errors, then its cells as far as they are known.

    Cells are as they would be sent; a cell that cannot be sent is the text of the source.
    """
    several = ["file"] if len(table.files) > 1 else []
    contents = _contents(table, columns, ids, errors)
    if not errors:
        return _no_rows(tuple(several), tuple(contents)).copy()
    return _make_frame(several, contents, errors)


@lru_cache
def _no_rows(several: Sequence[str], names: Sequence[str]) -> pd.DataFrame:
    """Return the table of a load without rejected rows, which most loads are."""
    return _make_frame(several, {name: {} for name in names}, ())


def _make_frame(
    several: Sequence[str], contents: Mapping[str, Cells], errors: Sequence[RowError]
) -> pd.DataFrame:
    rejected = [*_merge_by_row(errors)]
    shown = {name: _free_name(name, contents) for name in contents}
    cells = {name: [getattr(error, name) for error in rejected] for name in (*several, *OBJECTS)}
    cells |= {
        shown[name]: [by_row.get(_key(error)) for error in rejected]
        for name, by_row in contents.items()
    }
    frame = pd.DataFrame(cells, dtype="object")
    frame.insert(0, "row", np.array([error.row for error in rejected], dtype=np.int64))
    reasons = pd.Series([error.reason for error in rejected], dtype="str")
    frame.insert(len(several) + len(ERROR_COLUMNS) - 1, "reason", reasons)
    renamed = {free: name for name, free in shown.items() if free != name}
    frame.attrs["svc"] = {"rejected": {"renamed": renamed}}
    return frame


def restore_rejected(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert fixed rejected rows to rows of their source; other DataFrames are unchanged."""
    origin = frame.attrs.get("svc")
    facts = origin.get("rejected") if isinstance(origin, Mapping) else None
    if not isinstance(facts, Mapping):
        return frame
    kept = frame.drop(columns=[name for name in ADDED_COLUMNS if name in frame.columns])
    return kept.rename(columns=facts["renamed"])


def _merge_by_row(errors: Sequence[RowError]) -> Iterator[RowError]:
    """Yield one error for each row."""
    for _, (first, *others) in groupby(errors, lambda error: (error.file, error.row)):
        more = [f"{e.column}: {e.reason}" if e.column else e.reason for e in others]
        yield first._replace(reason="; ".join([first.reason, *more]))


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    free = name
    while free in ADDED_COLUMNS or (free != name and free in taken):
        free += "_"
    return free


def _key(error: RowError) -> Key:
    return (error.file, error.row) if error.position is None else error.position


def _contents(
    table: SourceTable, columns: Sequence[ColumnProfile], ids: Ids, errors: Sequence[RowError]
) -> dict[str, Cells]:
    """Read the cells of the rejected rows again, by column and row position."""
    selected = _select_cells(table, columns, ids)
    cells: dict[str, Cells] = {name: {} for name in selected}
    bad = {(error.position, error.column): error.value for error in errors}
    positions = sorted({error.position for error in errors if error.position is not None})
    for position, *row in _read_rows(table, [*chain(*selected.values())], positions):
        for i, name in enumerate(selected):
            json, text = row[2 * i : 2 * i + 2]
            if (position, name) in bad:
                cells[name][position] = bad[position, name] if text is None else text
            else:
                cells[name][position] = _decode(json, text)
    _add_skipped(cells, table, columns, errors)
    return cells


def _select_cells(
    table: SourceTable, columns: Sequence[ColumnProfile], ids: Ids
) -> dict[str, tuple[str, str]]:
    """Return the SQL of the JSON and of the text of each column, that of the id first."""
    selected = {c.name: (f"({c.sql.json})", f"{c.field.column}::VARCHAR") for c in columns}
    for column in table.fields:
        if column.name == ids.column and column.name not in selected:
            text = as_text(column)
            selected = {column.name: (f"(to_json({text})::VARCHAR)", text), **selected}
    return selected


def _add_skipped(
    cells: dict[str, Cells],
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    errors: Sequence[RowError],
) -> None:
    """Add the cells of rows that could not be read, as far as they can be separated."""
    sent_as = {column.name: column.sql.sent_as for column in columns}
    columns_read = [field.name for field in table.fields]
    more = max((len(error.cells) for error in errors), default=0) - len(columns_read)
    for number in range(len(columns_read), len(columns_read) + more):
        columns_read.append(free_name(f"column{number}", columns_read))
        cells[columns_read[-1]] = {}
    for error in errors:
        for name, text in zip(columns_read, error.cells, strict=False):
            if name in cells:
                cells[name][_key(error)] = _parse(text, sent_as.get(name, "text"))


def _parse(text: str | None, sent_as: str) -> Any:
    """Convert a text to the type its column is sent as; a text of another type is unchanged."""
    if text is None or sent_as not in ("integer", "number", "boolean"):
        return text
    if text in MISSING_WORDS:
        return None
    value = _decode(text.lower() if sent_as == "boolean" else text.strip(), text)
    return value if isinstance(value, (int, float)) else text


def _read_rows(
    table: SourceTable, expressions: Sequence[str], positions: Sequence[int]
) -> list[tuple[Any, ...]]:
    if not positions or not expressions:
        return []
    picked = ", ".join(f"{expression} AS p{n}" for n, expression in enumerate(expressions))
    rows = f"(SELECT unnest({list(positions)}::BIGINT[]))"
    return table.db.rows(
        f"SELECT pos, {picked} FROM {table.numbered} WHERE pos IN {rows} ORDER BY pos"
    )


def _decode(json: str | None, text: str | None) -> Any:
    try:
        return None if json is None else msgspec.json.decode(json)
    except msgspec.DecodeError:
        return text

"""Row errors: rows that cannot be sent, with reasons; looked up only if the profile has some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from svc_notebook.data.loading.encoding.record_sql import operation_overhead
from svc_notebook.data.loading.load_plan.ids import Ids
from svc_notebook.data.loading.load_plan.profile import INVALID_IDS, Profile
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import RowError, SourceTable
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
        inner = _numbered(table, f"{shown} AS v, {bad} AS bad")
        _add_matching(errors, table, inner, column, reason, numbers)
    for error in table.errors:
        errors.listed.append(numbers.error(error.row - 1, error.column, error.value, error.reason))
    if table.errors:
        positions = sorted({error.row - 1 for error in table.errors})
        chosen = f"pos IN (SELECT unnest({positions}::BIGINT[]))"
        marks = f"SELECT pos, {table.digest} FROM {table.numbered} WHERE {chosen}"
        errors.dropped.append(_read_marks(table.db, marks))
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


def _add_matching(
    errors: RowErrors,
    table: SourceTable,
    inner: str,
    column: str | None,
    reason: str,
    numbers: RowNumbers,
) -> None:
    marks = _read_marks(table.db, f"SELECT pos, digest FROM {inner} WHERE bad")
    if not len(marks[0]):
        return
    errors.dropped.append(marks)
    matching = table.db.rows(
        f"SELECT pos, v FROM {inner} WHERE bad ORDER BY pos LIMIT {MAX_LISTED_ROWS}"
    )
    errors.listed += [numbers.error(pos, column, value, reason) for pos, value in matching]


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

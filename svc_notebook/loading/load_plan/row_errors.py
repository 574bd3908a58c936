"""Row errors: which rows cannot be sent, and why. It runs only if the profile counted some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from svc_notebook.errors import BadInput
from svc_notebook.loading.encoding.record_sql import wrapping
from svc_notebook.loading.load_plan.ids import Ids
from svc_notebook.loading.load_plan.profile import BAD_IDS, Profile
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.table import RowError, SourceTable

if TYPE_CHECKING:
    from svc_notebook.loading.database import Database

Positions = npt.NDArray[np.int64]
Digests = npt.NDArray[np.uint64]
# So many are told one by one for each reason; the rest are counted.
MAX_LISTED_ROWS = 10_000


@dataclass(frozen=True)
class MarkedRows:
    """Rows that are not sent as they are: their positions, ascending, and what tells each row.

    Whoever finds another row at one of these positions reads the rows in another order.
    """

    positions: Positions
    digests: Digests

    @classmethod
    def of(cls, found: Sequence[tuple[Positions, Digests]]) -> MarkedRows:
        """Join what several scans found, each row once."""
        if not found:
            return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64))
        positions, at = np.unique(np.concatenate([each[0] for each in found]), return_index=True)
        return cls(positions, np.concatenate([each[1] for each in found])[at])

    def agree(self, first: int, digests: Digests) -> bool:
        """Tell whether the rows from a position on are those that were marked there."""
        low, high = np.searchsorted(self.positions, (first, first + len(digests)))
        found = digests[self.positions[low:high] - first]
        return bool(np.array_equal(found, self.digests[low:high]))


@dataclass
class Faults:
    """Rows that stay behind, and what is told of them."""

    dropped: list[tuple[Positions, Digests]] = field(default_factory=list)
    told: list[RowError] = field(default_factory=list)
    # Rows that are equal, hence of one hash, told apart by a number: position -> which.
    repeats: dict[int, int] = field(default_factory=dict)
    repeated: list[tuple[Positions, Digests]] = field(default_factory=list)


def find_faults(
    table: SourceTable, profile: Profile, ids: Ids, step: str, options: LoadSettings
) -> Faults:
    """Look for every kind of fault the profile gives reason to look for."""
    faults = Faults()
    places = RowNumbers(table, profile.skipped)
    for column, bad, shown, reason in _conditions(table, profile, ids, step, options):
        _add(
            faults,
            table,
            _numbered(table, f"{shown} AS v, {bad} AS bad"),
            column,
            reason,
            places,
        )
    for fault in table.faults:
        faults.told.append(places.fault(fault.row - 1, fault.column, fault.value, fault.reason))
    if table.faults:
        wanted = sorted({fault.row - 1 for fault in table.faults})
        chosen = f"pos IN (SELECT unnest({wanted}::BIGINT[]))"
        marks = f"SELECT pos, {table.digest} FROM {table.numbered} WHERE {chosen}"
        faults.dropped.append(_marked(table.db, marks))
    if ids.faulty:
        _add_repeated(faults, table, ids, options, places)
    faults.told += profile.skipped[:MAX_LISTED_ROWS]
    faults.told.sort(key=lambda fault: (fault.file or "", fault.row))
    return faults


class RowNumbers:
    """From positions among the rows read to rows of the file, broken ones counted in."""

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
        """Give the row's number, counted from 1, and the file where there are several."""
        number = int(np.searchsorted(self._starts, position, side="right")) - 1
        inside = int(position) - int(self._starts[number])
        before = int(np.searchsorted(self._good_before[number], inside, side="right"))
        return inside + 1 + before, self._files[number]

    def fault(self, position: int, column: str | None, value: object, reason: str) -> RowError:
        """Tell what is wrong at a position."""
        row, file = self.of(position)
        return RowError(row, column, value, reason, int(position), file)

    def name(self, position: int) -> str:
        """Name a row in a message."""
        row, file = self.of(position)
        return f"row {row:,} of {file}" if file else f"row {row:,}"


def _good_before(skipped: Sequence[RowError], file: str | None) -> Positions:
    rows = [fault.row for fault in skipped if file is None or fault.file == file]
    broken = np.unique(np.array(rows, dtype=np.int64))
    return broken - np.arange(len(broken)) - 1


Condition = tuple[str | None, str, str, str]


def _conditions(
    table: SourceTable, profile: Profile, ids: Ids, step: str, options: LoadSettings
) -> Iterator[Condition]:
    """Yield column, condition, what to show of the value, reason."""
    for column in profile.columns:
        shown = f"left({column.field.column}::VARCHAR, 200)"
        for check, _ in column.failing:
            yield column.name, check.bad, shown, check.reason
        if column.missing and options.nulls_of(column.name) == "error":
            yield column.name, f"({column.rendering.json}) IS NULL", "NULL", "is missing"
    if ids.faulty and not ids.hashed:
        for condition, reason in BAD_IDS:
            yield ids.column, condition.format(ids.sql), f"left({ids.sql}, 200)", reason
    # JSON writes a character in six bytes at most.
    if profile.longest * 6 + 100 * len(profile.columns) > options.record_bytes:
        size = f"strlen({step}) - {wrapping(options)}"
        reason = f"is larger than {options.record_bytes:,} bytes; services refuse such records"
        yield None, f"{size} > {options.record_bytes}", size, reason


def _numbered(table: SourceTable, what: str) -> str:
    return f"(SELECT pos, {table.digest} AS digest, {what} FROM {table.numbered})"


def _add(
    faults: Faults,
    table: SourceTable,
    inner: str,
    column: str | None,
    reason: str,
    places: RowNumbers,
) -> None:
    marked = _marked(table.db, f"SELECT pos, digest FROM {inner} WHERE bad")
    if not len(marked[0]):
        return
    faults.dropped.append(marked)
    told = table.db.rows(
        f"SELECT pos, v FROM {inner} WHERE bad ORDER BY pos LIMIT {MAX_LISTED_ROWS}"
    )
    faults.told += [places.fault(pos, column, value, reason) for pos, value in told]


def _add_repeated(
    faults: Faults, table: SourceTable, ids: Ids, options: LoadSettings, places: RowNumbers
) -> None:
    """Find the rows that share an id: told apart where it is a hash, else left behind.

    Rows that stay behind for another reason stand in nobody's way.
    """
    if not ids.hashed and options.duplicates == "keep":
        return
    numbered = _numbered(table, f"{ids.sql} AS id")
    sendable = _sendable(table.db, faults.dropped)
    held = f"(SELECT * FROM {numbered} WHERE coalesce(id, '') <> '' AND {sendable})"
    shared = f"SELECT hash(id) FROM {held} GROUP BY hash(id) HAVING count(*) > 1"
    order = "DESC" if options.duplicates == "last" else "ASC"
    ranked = (
        f"SELECT pos, digest, id, row_number() OVER (PARTITION BY id ORDER BY pos {order}) AS nth, "
        f"first_value(pos) OVER (PARTITION BY id ORDER BY pos {order}) AS other "
        f"FROM {held} WHERE hash(id) IN ({shared})"
    )
    later = f"FROM ({ranked}) WHERE nth > 1 ORDER BY pos"
    if ids.hashed:
        found = table.db.rows(f"SELECT pos, nth, digest {later}")
        faults.repeats = {pos: nth for pos, nth, _ in found}
        positions = np.array([pos for pos, _, _ in found], dtype=np.int64)
        faults.repeated = [(positions, np.array([d for _, _, d in found], dtype=np.uint64))]
        return
    told = table.db.rows(f"SELECT pos, id, other {later} LIMIT {MAX_LISTED_ROWS}")
    if told and options.duplicates == "error":
        pos, shown, other = told[0]
        raise BadInput(
            f"{places.name(other)} and {places.name(pos)} both have the id {shown!r}; "
            "duplicates='reject' or 'last' sends one of them"
        )
    faults.dropped.append(_marked(table.db, f"SELECT pos, digest {later}"))
    faults.told += [
        places.fault(pos, ids.column, shown, f"has the id of {places.name(other)}")
        for pos, shown, other in told
    ]


def _sendable(db: Database, dropped: Sequence[tuple[Positions, Digests]]) -> str:
    """Write the condition that a row is none of those that stay behind."""
    if not dropped:
        return "true"
    import pyarrow as pa

    db.register("staying_behind", pa.table({"pos": MarkedRows.of(dropped).positions}))
    return "pos NOT IN (SELECT pos FROM staying_behind)"


def _marked(db: Database, query: str) -> tuple[Positions, Digests]:
    """Read the positions and digests a query finds, in any order."""
    positions, digests = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.uint64)]
    for chunk in db.chunks(query, 100_000):
        positions.append(chunk.column(0).to_numpy(zero_copy_only=False).astype(np.int64))
        digests.append(chunk.column(1).to_numpy(zero_copy_only=False).astype(np.uint64))
    return np.concatenate(positions), np.concatenate(digests)

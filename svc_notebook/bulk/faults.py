"""Find the rows that cannot be sent, and say why; run only where a profile counted some."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from svc_notebook.bulk.ids import Ids
from svc_notebook.bulk.options import Options
from svc_notebook.bulk.profile import BAD_IDS, Profile
from svc_notebook.bulk.record import wrapping
from svc_notebook.bulk.table import Fault, Table
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.bulk.database import Database

Positions = npt.NDArray[np.int64]
# So many are told one by one for each reason; the rest are counted.
TOLD = 10_000
COLUMNS = ["row", "column", "value", "reason"]


@dataclass
class Faults:
    """Positions that stay behind, and what is told of them."""

    positions: list[Positions] = field(default_factory=list)
    told: list[Fault] = field(default_factory=list)
    # Rows that are equal, hence of one hash, told apart by a number: position -> which.
    repeats: dict[int, int] = field(default_factory=dict)


def find_faults(table: Table, profile: Profile, ids: Ids, step: str, options: Options) -> Faults:
    """Look for every kind of fault the profile gives reason to look for."""
    faults = Faults()
    numbers = RowNumbers(profile.skipped)
    for column, bad, shown, reason in _conditions(table, profile, ids, step, options):
        _add(
            faults,
            table.db,
            _numbered(table, f"{shown} AS v, {bad} AS bad"),
            column,
            reason,
            numbers,
        )
    if ids.faulty:
        _add_repeated(faults, table, ids, options, numbers)
    for fault in table.faults:
        faults.positions.append(np.array([fault.row - 1]))
        faults.told.append(fault)
    faults.told += profile.skipped
    faults.told.sort(key=lambda fault: fault.row)
    return faults


def frame_of(faults: Sequence[Fault]) -> pd.DataFrame:
    """Show faults as a table."""
    rows = {name: [getattr(fault, name) for fault in faults] for name in COLUMNS}
    frame = pd.DataFrame({name: pd.Series(rows[name], dtype="object") for name in COLUMNS})
    return frame.astype({"row": "int64", "reason": "str"})


class RowNumbers:
    """From positions among the rows read to row numbers in the file, broken rows counted in."""

    def __init__(self, skipped: Sequence[Fault]) -> None:
        broken = np.unique(np.array([fault.row for fault in skipped], dtype=np.int64))
        self._good_before = broken - np.arange(len(broken)) - 1

    def of(self, position: int) -> int:
        """Give the number, counted from 1."""
        before = int(np.searchsorted(self._good_before, position, side="right"))
        return int(position) + 1 + before


Condition = tuple[str | None, str, str, str]


def _conditions(
    table: Table, profile: Profile, ids: Ids, step: str, options: Options
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


def _numbered(table: Table, what: str) -> str:
    return f"(SELECT row_number() OVER () - 1 AS pos, {what} FROM {table.sql})"


def _add(
    faults: Faults, db: Database, inner: str, column: str | None, reason: str, numbers: RowNumbers
) -> None:
    positions = _positions(db, f"SELECT pos FROM {inner} WHERE bad ORDER BY pos")
    if not len(positions):
        return
    faults.positions.append(positions)
    told = db.rows(f"SELECT pos, v FROM {inner} WHERE bad ORDER BY pos LIMIT {TOLD}")
    faults.told += [Fault(numbers.of(pos), column, value, reason) for pos, value in told]


def _add_repeated(
    faults: Faults, table: Table, ids: Ids, options: Options, numbers: RowNumbers
) -> None:
    """Find the rows that share an id: told apart where it is a hash, else left behind."""
    if not ids.hashed and options.duplicates == "keep":
        return
    held = f"(SELECT * FROM {_numbered(table, f'{ids.sql} AS id')} WHERE coalesce(id, '') <> '')"
    shared = f"SELECT hash(id) FROM {held} GROUP BY hash(id) HAVING count(*) > 1"
    order = "DESC" if options.duplicates == "last" else "ASC"
    ranked = (
        f"SELECT pos, id, row_number() OVER (PARTITION BY id ORDER BY pos {order}) AS nth, "
        f"first_value(pos) OVER (PARTITION BY id ORDER BY pos {order}) AS other "
        f"FROM {held} WHERE hash(id) IN ({shared})"
    )
    later = f"FROM ({ranked}) WHERE nth > 1 ORDER BY pos"
    if ids.hashed:
        faults.repeats = dict(table.db.rows(f"SELECT pos, nth {later}"))
        return
    told = table.db.rows(f"SELECT pos, id, other {later} LIMIT {TOLD}")
    if told and options.duplicates == "error":
        pos, shown, other = told[0]
        raise BadInput(
            f"rows {numbers.of(other):,} and {numbers.of(pos):,} have both the id {shown!r}; "
            "duplicates='reject' or 'last' sends one of them"
        )
    faults.positions.append(_positions(table.db, f"SELECT pos {later}"))
    faults.told += [
        Fault(numbers.of(pos), ids.column, shown, f"has the id of row {numbers.of(other):,}")
        for pos, shown, other in told
    ]


def _positions(db: Database, query: str) -> Positions:
    chunks = [chunk.column(0).to_numpy(zero_copy_only=False) for chunk in db.chunks(query, 100_000)]
    return np.concatenate(chunks).astype(np.int64) if chunks else np.empty(0, dtype=np.int64)

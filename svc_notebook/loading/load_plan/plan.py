"""The plan of a load: columns, ids, a sample, and the rows that cannot be sent."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from svc_notebook.display import write_frame
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.loading.database import Database
from svc_notebook.loading.encoding.fast_path import NeedsDatabase, open_small, write_small
from svc_notebook.loading.encoding.record_sql import step_sql
from svc_notebook.loading.load_plan.ids import find_ids
from svc_notebook.loading.load_plan.profile import ColumnProfile, Profile, absent, study
from svc_notebook.loading.load_plan.rejected_rows import TOLD, describe
from svc_notebook.loading.load_plan.row_errors import (
    Faults,
    MarkedRows,
    Positions,
    RowNumbers,
    find_faults,
)
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.python_records import are_records, gather
from svc_notebook.loading.sources.source import Source, open_source
from svc_notebook.loading.table import SourceTable

PREVIEW_ROWS = 3
SAMPLE_ROWS = 100


@dataclass(frozen=True, repr=False)
class LoadPlan:
    """The plan of a load, before anything is sent."""

    source: str
    index: str
    rows: int
    ids: str
    columns: pd.DataFrame
    sample: tuple[Mapping[str, Any], ...]
    rejected: pd.DataFrame
    rejected_rows: int
    notes: tuple[str, ...]

    @property
    def sendable(self) -> int:
        """The number of rows that will be sent."""
        return self.rows - self.rejected_rows

    def __repr__(self) -> str:
        parts = [
            self._headline(),
            self.columns.to_string(index=False),
            *(f"note: {note}" for note in self.notes),
            *(msgspec.json.encode(record).decode() for record in self.sample[:1]),
        ]
        if len(self.rejected):
            parts.append(self.rejected[TOLD].head(10).to_string(index=False))
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        rejected = write_frame(self.rejected[TOLD].head(10)) if len(self.rejected) else ""
        sample = "\n".join(msgspec.json.encode(record).decode() for record in self.sample)
        return (
            f"<p>{html.escape(self._headline())}</p>{write_frame(self.columns)}"
            f"<ul>{notes}</ul><pre>{html.escape(sample)}</pre>{rejected}"
        )

    def _headline(self) -> str:
        refused = f", {self.rejected_rows:,} cannot be sent" if self.rejected_rows else ""
        return f"{self.source} -> {self.index}: {self.rows:,} rows{refused}; ids: {self.ids}"


@dataclass(frozen=True)
class Prepared:
    """A plan, and what its execution needs."""

    plan: LoadPlan
    table: SourceTable
    step: str
    dropped: Positions
    repeats: Mapping[int, int]
    options: LoadSettings
    # Whether the ids are hashes of rows.
    hashed: bool = False
    # The operations themselves, for few rows.
    steps: Sequence[str] | None = None
    # Digests of dropped and repeated rows, to check that they are at the same positions.
    marks: MarkedRows = field(default_factory=lambda: MarkedRows.of(()))


def prepare(source: Source, index: str, options: LoadSettings, db: Database) -> Prepared:
    """Profile a source completely; nothing is sent."""
    if are_records(source):
        source = db.ends.enter_context(gather(source, options, lambda: db.stopped))
    with suppress(NeedsDatabase):
        return prepare_small(source, index, options, db)
    return prepare_any(source, index, options, db)


def prepare_small(source: Source, index: str, options: LoadSettings, db: Database) -> Prepared:
    """Encode a few rows without DuckDB; raises `NeedsDatabase` for unsupported rows."""
    table, cells, rows = open_small(source, db)
    small = write_small(table, cells, rows, options)
    plan = LoadPlan(
        source=table.name,
        index=index,
        rows=len(small.steps),
        ids=small.ids.origin,
        columns=_columns_frame(small.columns),
        sample=tuple(_record_of(step) for step in small.steps[:PREVIEW_ROWS]),
        rejected=describe(table, small.columns, small.ids, ()),
        rejected_rows=0,
        notes=small.ids.notes,
    )
    return Prepared(plan, table, "", _NONE, {}, options, small.ids.hashed, small.steps)


def prepare_any(source: Source, index: str, options: LoadSettings, db: Database) -> Prepared:
    """Profile a source completely with DuckDB."""
    table = open_source(source, options, db)
    db.make_room(len(table.fields))
    if options.timezone:
        db.rows(f"SET TimeZone = '{options.timezone}'")
    table, profile = _studied(table, options)
    ids = find_ids(table, profile, options)
    step = step_sql(ids.sql, profile.columns, options)
    faults = find_faults(table, profile, ids, step, options)
    dropped = MarkedRows.of(faults.dropped).positions
    rejected = describe(table, profile.columns, ids, faults.told)
    many = len(dropped) + len(profile.skipped)
    untold = many - len(rejected)
    plan = LoadPlan(
        source=table.name,
        index=index,
        rows=profile.rows + len(profile.skipped),
        ids=ids.origin,
        columns=_columns_frame(profile.columns),
        sample=_sample(table, step, dropped),
        rejected=rejected,
        rejected_rows=many,
        notes=(
            *table.notes,
            *ids.notes,
            *_notes(table, options, faults, untold),
            *_nearly_notes(table, profile),
        ),
    )
    marks = MarkedRows.of([*faults.dropped, *faults.repeated])
    return Prepared(plan, table, step, dropped, faults.repeats, options, ids.hashed, marks=marks)


_NONE: Positions = np.empty(0, dtype=np.int64)


def _limited(table: SourceTable, limit: int | None) -> SourceTable:
    if limit is None:
        return table
    first = f"WHERE pos < {limit} LIMIT {limit}"
    watched = replace(table, sql=table.scan, numbered_sql="").numbered
    rows = f"(SELECT * FROM {table.numbered} {first})"
    return replace(
        table,
        sql=rows,
        numbered_sql=rows,
        watched_sql=f"(SELECT * FROM {watched} {first})" if table.watched_sql else "",
        faults=tuple(fault for fault in table.faults if fault.row <= limit),
    )


def _studied(table: SourceTable, options: LoadSettings) -> tuple[SourceTable, Profile]:
    """Profile a table; if that fails, or rows are skipped, try the other ways to read it."""
    while True:
        table = _limited(table, options.limit)
        try:
            profile = study(table, options)
        except BadInput:
            other = table.otherwise(None)
            if other is None:
                raise
        else:
            table.refuse_lost(profile.longest, profile.rows, profile.skipped)
            other = table.otherwise(list(profile.skipped)) if profile.skipped else None
            if other is None:
                return table, profile
        table = other


def _sample(table: SourceTable, step: str, dropped: Positions) -> tuple[Mapping[str, Any], ...]:
    first = f"(SELECT * FROM {table.numbered} WHERE pos < {SAMPLE_ROWS} LIMIT {SAMPLE_ROWS})"
    rows = table.db.rows(f"SELECT pos, {step} FROM {first} ORDER BY pos")
    kept = [step for position, step in rows if position not in dropped]
    return tuple(_record_of(step) for step in kept[:PREVIEW_ROWS])


def _record_of(step: str) -> Mapping[str, Any]:
    """Return the record of an operation, which begins with a comma."""
    record: Mapping[str, Any] = msgspec.json.decode(step[1:])["body"]
    return record


def _columns_frame(columns: Sequence[ColumnProfile]) -> pd.DataFrame:
    rows = [
        (c.name, c.type, c.sends, c.missing, sum(n for _, n in c.failing), c.note) for c in columns
    ]
    return pd.DataFrame(rows, columns=["column", "type", "sent as", "missing", "refused", "note"])


def _notes(table: SourceTable, options: LoadSettings, faults: Faults, untold: int) -> Iterator[str]:
    known = [field.name for field in table.fields]
    for name in absent(table, options):
        yield f"no document has `{name}`{did_you_mean(name, known)}"
    if many := len(faults.repeats):
        yield f"{many:,} rows are equal to an earlier one: told apart by a number"
    if untold > 0:
        yield f"{untold:,} more rows are rejected than `rejected` tells of"


def _nearly_notes(table: SourceTable, profile: Profile) -> Iterator[str]:
    places = RowNumbers(table, profile.skipped)
    for each in profile.nearly:
        others = each.held - each.fitting - 1
        more = f", nor {others:,} more" if others else ""
        yield (
            f"`{each.column}` is sent as text: {each.fitting:,} of {each.held:,} values are "
            f"{each.what}; {places.name(each.position)} `{each.value}` is not{more}. "
            f"dtype={{'{each.column}': '{each.dtype}'}} rejects what is not"
        )

"""The preparation of a load: its source is read to the end, and the plan is made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile, operation_sql
from svc_notebook.data.loading.load_plan.derived_columns import derive_columns, split_texts
from svc_notebook.data.loading.load_plan.fast_path import (
    NeedsDatabase,
    SmallTable,
    may_be_small_file,
    open_small,
    read_texts,
    write_small,
)
from svc_notebook.data.loading.load_plan.ids import find_ids
from svc_notebook.data.loading.load_plan.plan import ColumnRow, LoadPlan
from svc_notebook.data.loading.load_plan.profile import (
    Profile,
    absent_columns,
    describe_readings,
    profile_table,
)
from svc_notebook.data.loading.load_plan.row_errors import (
    MarkedRows,
    Positions,
    RowErrors,
    RowNumbers,
    describe_rejected,
    find_row_errors,
    restore_rejected,
)
from svc_notebook.data.loading.options import FILES, LoadCursor, LoadSettings
from svc_notebook.data.loading.sources.python_records import are_records, gather
from svc_notebook.data.loading.sources.source import Source, open_source
from svc_notebook.data.loading.sql import text
from svc_notebook.data.loading.table import WRITTEN, Advice, SourceTable, TableColumn
from svc_notebook.errors import BadInput, did_you_mean

# What texts of a cursor column are compared as, if all of them can be.
TEXT_TYPES = ("HUGEINT", "DOUBLE", "TIMESTAMP")
NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(.*\)|DOUBLE|FLOAT)$")
TIMES = re.compile(r"(DATE|TIMESTAMP.*)$")
PREVIEW_ROWS = 3
# Rows that are read for the preview, because some of them may be rejected.
PREVIEW_SCAN_ROWS = 100
_NO_ROWS: Positions = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Prepared:
    """A plan, with the table and the SQL that carry it out."""

    plan: LoadPlan
    table: SourceTable
    # The SQL of a row's operation.
    operation: str
    dropped: Positions
    repeats: Mapping[int, int]
    options: LoadSettings
    # Whether the ids are hashes of rows.
    hashed: bool = False
    # The encoded operations, on the fast path for a few rows.
    operations: Sequence[str] | None = None
    # Digests of dropped and repeated rows, to check that later scans have the same order.
    marks: MarkedRows = field(default_factory=lambda: MarkedRows.of(()))
    # The number of dropped rows that have the id of another row.
    duplicates: int = 0


def prepare(source: Source, index: str, options: LoadSettings, db: Database) -> Prepared:
    """Profile a source completely; nothing is sent."""
    if are_records(source):
        source = db.ends.enter_context(gather(source, options, lambda: db.stopped))
    elif isinstance(source, pd.DataFrame):
        source = restore_rejected(source)
    elif may_be_small_file(source) and not options.cursor:
        table = open_source(source, options, db)
        with suppress(NeedsDatabase):
            return _prepare_cells(read_texts(table, options), index, options)
        return _prepare_table(table, index, options, db)
    if not options.cursor:
        with suppress(NeedsDatabase):
            return prepare_small(source, index, options, db)
    return prepare_any(source, index, options, db)


def prepare_small(source: Source, index: str, options: LoadSettings, db: Database) -> Prepared:
    """Encode a few rows without DuckDB; raises `NeedsDatabase` for unsupported rows."""
    is_file = may_be_small_file(source)
    opened = (
        read_texts(open_source(source, options, db), options) if is_file else open_small(source, db)
    )
    return _prepare_cells(opened, index, options)


def _prepare_cells(opened: SmallTable, index: str, options: LoadSettings) -> Prepared:
    table = opened.table
    operations, columns, ids = write_small(opened, options)
    plan = LoadPlan(
        source=table.name,
        index=index,
        rows=len(operations),
        ids=ids.origin,
        column_rows=_column_rows(columns),
        sample=tuple(map(record_of, operations[:PREVIEW_ROWS])),
        rejected=describe_rejected(table, columns, ids, ()),
        rejected_rows=0,
        notes=(*table.notes, *describe_readings(columns, len(operations)), *ids.notes),
        skipped_lines=table.skipped_lines,
        reading=table.reading,
        options=options.to_save(),
    )
    return Prepared(plan, table, "", _NO_ROWS, {}, options, ids.hashed, operations)


def prepare_any(source: Source, index: str, options: LoadSettings, db: Database) -> Prepared:
    """Profile a source completely with DuckDB."""
    return _prepare_table(open_source(source, options, db), index, options, db)


def _prepare_table(table: SourceTable, index: str, options: LoadSettings, db: Database) -> Prepared:
    db.grant_for_columns(len(table.fields))
    if options.timezone:
        db.rows(f"SET TimeZone = '{options.timezone}'")
    saved = options.to_save()
    table, profile = _profile(table, options)
    options = _of_records(options)
    ids = find_ids(table, profile, options)
    operation = operation_sql(ids.sql, profile.columns, options)
    errors = find_row_errors(table, profile, ids, operation, options)
    dropped = MarkedRows.of(errors.dropped).positions
    rejected = describe_rejected(table, profile.columns, ids, errors.listed)
    rejected_rows = len(dropped) + len(profile.skipped)
    on_request = errors.duplicates if options.duplicates == "last" else 0
    unlisted = rejected_rows - len(rejected)
    plan = LoadPlan(
        source=table.name,
        index=index,
        rows=profile.rows + len(profile.skipped),
        ids=ids.origin,
        column_rows=_column_rows(profile.columns),
        sample=_preview(table, operation, dropped),
        rejected=rejected,
        rejected_rows=rejected_rows,
        notes=(
            *table.notes,
            *describe_readings(profile.columns, profile.rows),
            *ids.notes,
            *_notes(table, options, errors, unlisted),
            *_cursor_notes(options, rejected_rows - on_request),
            *_mixed_column_notes(table, profile),
        ),
        skipped_lines=table.skipped_lines,
        reading=table.reading,
        options=saved,
    )
    marks = MarkedRows.of([*errors.dropped, *errors.repeated])
    return Prepared(
        plan, table, operation, dropped, errors.repeats, options, ids.hashed, marks=marks,
        duplicates=errors.duplicates,
    )  # fmt: skip


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
        errors=tuple(error for error in table.errors if error.row <= limit),
    )


def _profile(table: SourceTable, options: LoadSettings) -> tuple[SourceTable, Profile]:
    """Profile a table; if that fails, or rows are skipped, try the other ways to read it."""
    cursor = table.cursor or options.cursor
    while True:
        table = _limited(table, options.limit)
        try:
            part = _select_increment(table, cursor) if cursor else table
            derived = split_texts(derive_columns(part, options), options)
            profile = profile_table(derived, _of_records(options))
        except BadInput:
            other = table.alternative(None)
            if other is None:
                raise
        else:
            (derived if options.split else part).check_lost_rows(
                profile.largest_row_bytes, profile.rows, profile.skipped
            )
            other = table.alternative(list(profile.skipped)) if profile.skipped else None
            if other is None:
                return derived, profile
        table = other


def _of_records(options: LoadSettings) -> LoadSettings:
    """Return the options of the records, whose ids are those of parts if texts are split."""
    return replace(options, id=options.part_id) if options.split else options


def _preview(
    table: SourceTable, operation: str, dropped: Positions
) -> tuple[Mapping[str, Any], ...]:
    limit = f"WHERE pos < {PREVIEW_SCAN_ROWS} LIMIT {PREVIEW_SCAN_ROWS}"
    first = f"(SELECT * FROM {table.numbered} {limit})"
    rows = table.db.rows(f"SELECT pos, {operation} FROM {first} ORDER BY pos")
    sendable = [row for position, row in rows if position not in dropped]
    return tuple(record_of(row) for row in sendable[:PREVIEW_ROWS])


def record_of(operation: str) -> Mapping[str, Any]:
    """Return the record of an encoded operation, which begins with a comma."""
    record: Mapping[str, Any] = msgspec.json.decode(operation[1:])["body"]
    return record


def _column_rows(columns: Sequence[ColumnProfile]) -> tuple[ColumnRow, ...]:
    return tuple(
        ColumnRow(c.name, c.type, c.sent_as, c.missing, sum(n for _, n in c.failing), c.note)
        for c in columns
    )


def _notes(
    table: SourceTable, options: LoadSettings, errors: RowErrors, unlisted: int
) -> Iterator[str]:
    names = [field.name for field in table.fields]
    for name in absent_columns(table, options):
        yield f"no document has `{name}`{did_you_mean(name, names)}"
    if repeats := len(errors.repeats):
        what = "1 row equals" if repeats == 1 else f"{repeats:,} rows equal"
        ids = "its id" if repeats == 1 else "their ids"
        yield f"{what} an earlier row; a number at the end makes {ids} unique"
    if unlisted > 0:
        yield f"`rejected` lists only some of the rejected rows: {unlisted:,} more are rejected"


def _cursor_notes(options: LoadSettings, rejected_rows: int) -> Iterator[str]:
    """Yield the note that rejected rows are below the cursor of the next load."""
    cursor = options.cursor
    if rejected_rows > 0 and cursor and cursor.column != FILES:
        yield (
            "the next load begins after the rejected rows: one that is corrected is sent if its "
            f"`{cursor.column}` rises, or with reset_cursor=True"
        )


def _mixed_column_notes(table: SourceTable, profile: Profile) -> Iterator[str]:
    numbers = RowNumbers(table, profile.skipped)
    for column in profile.mixed:
        if column.holds_codes:
            continue
        others = column.values - column.fitting - 1
        verb = f"and {others:,} more are" if others else "is"
        yield Advice(
            f"`{column.column}` is sent as text: {column.fitting:,} of {column.values:,} values "
            f"are {column.what}; `{column.value}` in {numbers.name(column.position)} {verb} not. "
            f"dtype={{'{column.column}': '{column.dtype}'}} rejects such rows"
        )


def _select_increment(table: SourceTable, cursor: LoadCursor) -> SourceTable:
    """Return the rows at or beyond the cursor, and those without a value, with the new cursor.

    Rows with the highest value are sent again, because more of them may have been added since.
    """
    if cursor.column == FILES:
        if cursor.has_new_files:
            return replace(table, cursor=cursor)
        # DuckDB does not scan for this condition, so that no row is skipped.
        return replace(_keep_rows(table, "false", cursor), skipped=list, errors=())
    column = table.find_field(cursor.column, " for `cursor`")
    values = (
        f"json_extract_string({column.column}, '$')" if column.type == WRITTEN else column.column
    )
    type_ = _comparable_type(table, column, values)
    _check_kind(cursor, type_)
    common = {"numbers": "DOUBLE", "times": "TIMESTAMP"}.get(_kind_of(type_), "VARCHAR")
    compared = type_ if cursor.type in ("", type_) else common
    since = f"CAST({text(cursor.value)} AS {compared})"
    beyond = f"CAST({values} AS {compared}) >= {since} OR {values} IS NULL"
    kept = _keep_rows(table, beyond if cursor.type else "true", cursor)
    highest = f"CAST(max(CAST({values} AS {type_})) AS VARCHAR)"
    ((newest,),) = table.db.rows(f"SELECT {highest} FROM {kept.sql}")
    if newest is None:
        return kept
    return replace(kept, cursor=cursor._replace(type=type_, value=str(newest)))


def _keep_rows(table: SourceTable, condition: str, cursor: LoadCursor) -> SourceTable:
    """Store the rows of an increment, so that each scan reads the same ones."""
    names = ", ".join(field.column for field in table.fields)
    kept = table.db.keep(f"SELECT {names} FROM {table.scan} WHERE {condition}", "increment")
    return replace(table.with_stored_rows(kept), cursor=cursor)


def _comparable_type(table: SourceTable, column: TableColumn, values: str) -> str:
    """Return the type that the values of a cursor are compared as."""
    if NUMBERS.match(column.type) or TIMES.match(column.type):
        return column.type
    if column.type not in ("VARCHAR", WRITTEN):
        raise _not_comparable(column, column.type)
    casts = ", ".join(f"count(TRY_CAST({values} AS {kind}))" for kind in TEXT_TYPES)
    nested = f"count(*) FILTER ({column.column} LIKE '{{%' OR {column.column} LIKE '[%')"
    query = f"SELECT count({values}), {nested}, {casts} FROM {table.scan}"
    ((total, objects, *counts),) = table.db.rows(query)
    if objects and column.type == WRITTEN:
        raise _not_comparable(column, "JSON")
    return next(
        (kind for kind, count in zip(TEXT_TYPES, counts, strict=True) if count == total), "VARCHAR"
    )


def _not_comparable(column: TableColumn, type_: str) -> BadInput:
    return BadInput(
        f"the column `{column.name}` cannot be a cursor: it has values of the type {type_}; name "
        "one of numbers, dates, times or texts"
    )


def _kind_of(type_: str) -> str:
    return "numbers" if NUMBERS.match(type_) else "times" if TIMES.match(type_) else "texts"


def _check_kind(cursor: LoadCursor, type_: str) -> None:
    before, now = _kind_of(cursor.type), _kind_of(type_)
    if cursor.type and before != now:
        raise BadInput(
            f"the column `{cursor.column}` has {now}, but the last load ended at {cursor.value!r} "
            f"({before}): correct the column, or load all rows with reset_cursor=True"
        )

"""The rows of a source that are beyond the cursor of the last load."""

from __future__ import annotations

import re
from dataclasses import replace

from svc_notebook.data.loading.cursor import FILES, LoadCursor
from svc_notebook.data.loading.sql import text
from svc_notebook.data.loading.table import WRITTEN, SourceTable, TableColumn
from svc_notebook.errors import BadInput, did_you_mean

# What texts of a cursor column are compared as, if all of them can be.
TEXT_TYPES = ("HUGEINT", "DOUBLE", "TIMESTAMP")
NUMBERS = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DECIMAL\(.*\)|DOUBLE|FLOAT)$")
TIMES = re.compile(r"(DATE|TIMESTAMP.*)$")


def select_increment(table: SourceTable, cursor: LoadCursor) -> SourceTable:
    """Return the rows at or beyond the cursor, and those without a value, with the new cursor.

    Rows with the highest value are sent again, because more of them may have been added since.
    """
    if cursor.column == FILES:
        if cursor.has_new_files:
            return replace(table, cursor=cursor)
        # DuckDB does not scan for this condition, so that no row is skipped.
        return replace(_keep(table, "false", cursor), skipped=list, errors=())
    column = _find_column(table, cursor.column)
    values = (
        f"json_extract_string({column.column}, '$')" if column.type == WRITTEN else column.column
    )
    type_ = _comparable_type(table, column, values)
    _check_kind(cursor, type_)
    compared = type_ if cursor.type in ("", type_) else _common_type(type_)
    since = f"CAST({text(cursor.value)} AS {compared})"
    beyond = f"CAST({values} AS {compared}) >= {since} OR {values} IS NULL"
    kept = _keep(table, beyond if cursor.type else "true", cursor)
    highest = f"CAST(max(CAST({values} AS {type_})) AS VARCHAR)"
    ((newest,),) = table.db.rows(f"SELECT {highest} FROM {kept.sql}")
    if newest is None:
        return kept
    return replace(kept, cursor=cursor._replace(type=type_, value=str(newest)))


def _keep(table: SourceTable, condition: str, cursor: LoadCursor) -> SourceTable:
    """Store the rows of an increment, so that each scan reads the same ones."""
    names = ", ".join(field.column for field in table.fields)
    kept = table.db.keep(f"SELECT {names} FROM {table.scan} WHERE {condition}", "increment")
    return replace(
        table, sql=kept, numbered_sql=f"(SELECT *, rowid AS pos FROM {kept})", watched_sql="",
        few_rows=lambda _: None, check_lost_rows=lambda *_: None, cursor=cursor, files=(),
    )  # fmt: skip


def _find_column(table: SourceTable, name: str) -> TableColumn:
    for field in table.fields:
        if field.name == name:
            return field
    names = [field.name for field in table.fields]
    raise BadInput(f"{table.name} has no column `{name}` for `cursor`{did_you_mean(name, names)}")


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


def _kind(type_: str) -> str:
    return "numbers" if NUMBERS.match(type_) else "times" if TIMES.match(type_) else "texts"


def _check_kind(cursor: LoadCursor, type_: str) -> None:
    before, now = _kind(cursor.type), _kind(type_)
    if cursor.type and before != now:
        raise BadInput(
            f"the column `{cursor.column}` has {now}, but the last load ended at {cursor.value!r} "
            f"({before}): correct the column, or load all rows with reset_cursor=True"
        )


def _common_type(type_: str) -> str:
    return {"numbers": "DOUBLE", "times": "TIMESTAMP"}.get(_kind(type_), "VARCHAR")

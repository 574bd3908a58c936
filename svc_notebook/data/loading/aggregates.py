"""Aggregates over a table's columns; for a wide table, one query for all columns of one kind.

An aggregate of each column by itself is compiled for each column, and DuckDB computes a few hundred
in one pass, each of which reads the whole table: the time would grow with the square of the number
of columns. Aggregates that differ only in their column are computed together, from one row for each
cell, so that the time grows with the number of cells.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from svc_notebook.data.loading.table import SourceTable

# The name of a table's column in SQL.
COLUMN = re.compile(r"\bc\d+\b")
POSITION = re.compile(r"\bpos\b")
# Fewer columns are computed faster side by side.
MIN_COLUMNS = 64
# Columns of one query that counts distinct values, which are in memory.
MAX_DISTINCT_COLUMNS = 256
# The value of each cell in a template.
VALUE = "v"


def aggregate(
    table: SourceTable, expressions: Iterable[str], source: str, *, always: Sequence[str] = ()
) -> dict[str, Any]:
    """Compute aggregates of a table's columns over `source`; the keys are the SQL expressions.

    `always` is computed, too, in every pass over columns side by side.
    """
    unique = list(dict.fromkeys(expressions))
    if len(table.fields) < MIN_COLUMNS:
        return table.db.aggregates(unique, source, always=always)
    alike, others = _group_columns(table, unique)
    values: dict[str, Any] = {}
    for columns, by_template in alike:
        distinct = any("DISTINCT" in template for template in by_template)
        most = MAX_DISTINCT_COLUMNS if distinct else len(columns)
        for start in range(0, len(columns), most):
            some = columns[start : start + most]
            values |= _aggregate_cells(table, some, by_template, source)
    return values | table.db.aggregates([*others, *always], source, always=always)


# Aggregates by template and column, or by column and template.
Templates = dict[str, dict[str, str]]


def _group_columns(
    table: SourceTable, expressions: Iterable[str]
) -> tuple[list[tuple[list[str], Templates]], list[str]]:
    """Return groups of columns with the same type and the same templates, and other aggregates."""
    types = {field.column: field.type for field in table.fields}
    of_column, others = _find_templates(expressions, types)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for column, by_template in of_column.items():
        groups[types[column], *by_template].append(column)
    alike = []
    for (_, *templates), columns in groups.items():
        if len(columns) < MIN_COLUMNS:
            for column in columns:
                others += of_column[column].values()
        else:
            shared = {t: {c: of_column[c][t] for c in columns} for t in templates}
            alike.append((columns, shared))
    return alike, others


def _find_templates(
    expressions: Iterable[str], columns: Collection[str]
) -> tuple[Templates, list[str]]:
    """Return the aggregates of single columns, by column and template, and the others."""
    of_column: Templates = defaultdict(dict)
    others = []
    for expression in expressions:
        names = set(COLUMN.findall(expression))
        column = names.pop() if len(names) == 1 else ""
        if column in columns:
            of_column[column][COLUMN.sub(VALUE, expression)] = expression
        else:
            others.append(expression)
    return of_column, others


def _aggregate_cells(
    table: SourceTable, columns: Sequence[str], by_template: Templates, source: str
) -> dict[str, Any]:
    """Compute the templates for each column, from one row for each cell."""
    # The scan of a delimited file skips, and reports, only broken rows of the columns it reads.
    read = [field.column for field in table.fields] if table.untyped else columns
    number_of = {column: number for number, column in enumerate(read)}
    numbers = [number_of[column] for column in columns]
    among = f" WHERE i IN (SELECT unnest({numbers}))" if len(numbers) < len(read) else ""
    position = ", pos" if any(map(POSITION.search, by_template)) else ""
    cells = (
        f"SELECT unnest(range({len(read)})) AS i, unnest([{', '.join(read)}]) AS {VALUE}{position} "
        f"FROM {source}"
    )
    rows = table.db.rows(f"SELECT i, {', '.join(by_template)} FROM ({cells}){among} GROUP BY i")
    by_column = {read[number]: row for number, *row in rows}
    # A table without rows has no groups.
    nothing = [*map(_aggregate_nothing, by_template)]
    return {
        expressions[column]: by_column.get(column, nothing)[n]
        for n, expressions in enumerate(by_template.values())
        for column in columns
    }


def _aggregate_nothing(template: str) -> int | None:
    return 0 if template.startswith("count(") else None

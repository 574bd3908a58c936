"""The rejected rows of a load, as a table whose rows can be fixed and sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import msgspec
import numpy as np
import pandas as pd

from svc_notebook.data.loading.encoding.json_sql import as_text
from svc_notebook.data.loading.encoding.record_sql import ColumnProfile
from svc_notebook.data.loading.load_plan.ids import Ids
from svc_notebook.data.loading.table import RowError, SourceTable
from svc_notebook.data.loading.text_cells.header_names import free_name
from svc_notebook.data.loading.text_cells.missing_words import MISSING_WORDS

# The columns that describe an error, as plans and results print them.
ERROR_COLUMNS = ["row", "column", "value", "reason"]
OBJECTS = ["column", "value"]
# All columns that are not the source's.
ADDED_COLUMNS = [*ERROR_COLUMNS, "file", "partition"]

# The position of a row that was read, or the file and row number of a skipped one.
Key = int | tuple[str | None, int]
Cells = dict[Key, Any]


def describe(
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
    rejected = _merge_by_row(errors)
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


def restore(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert fixed rejected rows to rows of their source; other DataFrames are unchanged."""
    origin = frame.attrs.get("svc")
    facts = origin.get("rejected") if isinstance(origin, Mapping) else None
    if not isinstance(facts, Mapping):
        return frame
    kept = frame.drop(columns=[name for name in ADDED_COLUMNS if name in frame.columns])
    return kept.rename(columns=facts["renamed"])


def _merge_by_row(errors: Sequence[RowError]) -> list[RowError]:
    """Return one error for each row."""
    return [_merge(list(group)) for _, group in groupby(errors, lambda e: (e.file, e.row))]


def _merge(errors: list[RowError]) -> RowError:
    first, *others = errors
    more = [f"{e.column}: {e.reason}" if e.column else e.reason for e in others]
    return first._replace(reason="; ".join([first.reason, *more]))


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
    for position, *row in _rows(table, [*selected.values()], positions):
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
    for field in table.fields:
        if field.name == ids.column and field.name not in selected:
            text = as_text(field)
            selected = {field.name: (f"(to_json({text})::VARCHAR)", text), **selected}
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


def _rows(
    table: SourceTable, pairs: Sequence[tuple[str, str]], positions: Sequence[int]
) -> list[tuple[Any, ...]]:
    if not positions or not pairs:
        return []
    picked = [
        f"{expression} AS p{n}"
        for n, expression in enumerate(expression for pair in pairs for expression in pair)
    ]
    some = f"(SELECT unnest({list(positions)}::BIGINT[]))"
    return table.db.rows(
        f"SELECT pos, {', '.join(picked)} FROM {table.numbered} WHERE pos IN {some} ORDER BY pos"
    )


def _decode(json: str | None, text: str | None) -> Any:
    try:
        return None if json is None else msgspec.json.decode(json)
    except msgspec.DecodeError:
        return text

"""The rejected rows of a load, as a table whose rows can be fixed and sent again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec
import pandas as pd

from svc_notebook.loading.encoding.json_sql import as_text
from svc_notebook.loading.load_plan.ids import Ids
from svc_notebook.loading.load_plan.profile import MISSING, ColumnProfile
from svc_notebook.loading.table import RowError, SourceTable

# The columns that describe a rejected row; all others are the source's.
TOLD = ["row", "column", "value", "reason"]
ABOUT = [*TOLD, "file", "partition"]


def describe(
    table: SourceTable, columns: Sequence[ColumnProfile], ids: Ids, faults: Sequence[RowError]
) -> pd.DataFrame:
    """Return each rejected row once: its errors, then its content as far as it is known.

    Cells are as they would be sent; one that cannot be sent is the text of the source.
    """
    told = [_joined(list(group)) for _, group in groupby(faults, lambda f: (f.file, f.row))]
    frame = pd.DataFrame(
        {name: pd.Series([getattr(f, name) for f in told], dtype="object") for name in TOLD}
    ).astype({"row": "int64", "reason": "str"})
    if len(table.files) > 1:
        frame.insert(1, "file", pd.Series([fault.file for fault in told], dtype="object"))
    contents = _contents(table, columns, ids, faults)
    shown = {name: _free_name(name, contents) for name in contents}
    rows = {
        shown[name]: pd.Series([cells.get(_key(f)) for f in told], dtype="object")
        for name, cells in contents.items()
    }
    frame = pd.concat([frame, pd.DataFrame(rows, index=frame.index)], axis=1)
    renamed = {free: name for name, free in shown.items() if free != name}
    frame.attrs["svc"] = {"rejected": {"renamed": renamed}}
    return frame


def restore(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert fixed rejected rows to rows of their source; other DataFrames are unchanged."""
    origin = frame.attrs.get("svc")
    facts = origin.get("rejected") if isinstance(origin, Mapping) else None
    if not isinstance(facts, Mapping):
        return frame
    own = frame.drop(columns=[name for name in ABOUT if name in frame.columns])
    return own.rename(columns=facts["renamed"])


def _joined(faults: list[RowError]) -> RowError:
    """Combine all errors of one row."""
    first, *others = faults
    also = [f"{f.column}: {f.reason}" if f.column else f.reason for f in others]
    return first._replace(reason="; ".join([first.reason, *also]))


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    free = name
    while free in ABOUT or (free != name and free in taken):
        free += "_"
    return free


# Where a row stands among those that were read, or the file and row of one that was not.
Key = int | tuple[str | None, int]
Cells = dict[Key, Any]


def _key(fault: RowError) -> Key:
    return (fault.file, fault.row) if fault.position is None else fault.position


def _contents(
    table: SourceTable, columns: Sequence[ColumnProfile], ids: Ids, faults: Sequence[RowError]
) -> dict[str, Cells]:
    """Read the cells of the rejected rows again, by column and row position."""
    texts = {column.name: f"{column.field.column}::VARCHAR" for column in columns}
    written = {column.name: column.rendering.json for column in columns}
    for field in table.fields:
        if field.name == ids.column and field.name not in texts:
            texts = {field.name: as_text(field), **texts}
            written = {field.name: f"to_json({as_text(field)})::VARCHAR", **written}
    found: dict[str, Cells] = {name: {} for name in texts}
    bad = {(fault.position, fault.column): fault.value for fault in faults}
    wanted = sorted({fault.position for fault in faults if fault.position is not None})
    pairs = [(f"({written[name]})", text) for name, text in texts.items()]
    for position, *row in _rows(table, pairs, wanted):
        for i, name in enumerate(texts):
            json, text = row[2 * i : 2 * i + 2]
            if (position, name) in bad:
                found[name][position] = bad[position, name] if text is None else text
            else:
                found[name][position] = _decoded(json, text)
    _add_unread(found, table, columns, faults)
    return found


def _add_unread(
    found: dict[str, Cells],
    table: SourceTable,
    columns: Sequence[ColumnProfile],
    faults: Sequence[RowError],
) -> None:
    """Add the cells of rows that could not be read, as far as they can be told apart."""
    sends = {column.name: column.rendering.sends for column in columns}
    for fault in faults:
        for field, text in zip(table.fields, fault.cells, strict=False):
            if field.name in found:
                found[field.name][_key(fault)] = _value_of(text, sends.get(field.name, "text"))


def _value_of(text: str | None, sends: str) -> Any:
    """Read a text as the kind its column is sent as; one that is not of it stays text."""
    if text is None or sends not in ("integer", "number", "boolean"):
        return text
    if text in MISSING:
        return None
    value = _decoded(text.lower() if sends == "boolean" else text.strip(), text)
    return value if isinstance(value, (int, float)) else text


def _rows(
    table: SourceTable, pairs: Sequence[tuple[str, str]], positions: Sequence[int]
) -> list[tuple[Any, ...]]:
    if not positions or not pairs:
        return []
    picked = [f"{each} AS p{n}" for n, each in enumerate(each for pair in pairs for each in pair)]
    some = f"(SELECT unnest({list(positions)}::BIGINT[]))"
    return table.db.rows(
        f"SELECT pos, {', '.join(picked)} FROM {table.numbered} WHERE pos IN {some} ORDER BY pos"
    )


def _decoded(json: str | None, text: str | None) -> Any:
    try:
        return None if json is None else msgspec.json.decode(json)
    except msgspec.DecodeError:
        return text

"""The notes of a plan on columns of text whose values are sent otherwise than they are written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from svc_notebook.loading.encoding.record_sql import ColumnProfile
from svc_notebook.loading.notes import Advice

MAX_NAMED_COLUMNS = 5


def describe_readings(columns: Sequence[ColumnProfile], rows: int) -> Iterator[str]:
    """Yield the notes; columns that are read in the same way share one."""
    alike: dict[str, list[str]] = defaultdict(list)
    for column in columns:
        reading = column.reading
        if reading is None:
            continue
        if reading.form:
            alike[f"{rows - column.missing:,} {column.note}"].append(column.name)
        elif reading.kind == "string" and reading.missing:
            alike[column.note].append(column.name)
        elif reading.doubt:
            yield Advice(f"`{column.name}` is {reading.doubt}")
    for note, names in alike.items():
        yield f"{_name(names)}: {note}"


def _name(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in names[:MAX_NAMED_COLUMNS])
    others = len(names) - MAX_NAMED_COLUMNS
    return f"{shown} and {others:,} more columns" if others > 0 else shown

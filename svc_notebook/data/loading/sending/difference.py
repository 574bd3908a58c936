"""The difference between the rows of a merge or a synchronization and the stored records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pandas as pd

from svc_notebook.core.display import shorten
from svc_notebook.data.loading.encoding.canonical_json import canonical
from svc_notebook.data.loading.load_plan.plan import LoadDifference
from svc_notebook.data.loading.sending.batches import Batch
from svc_notebook.data.loading.sending.unchanged import StoredRecords, records_of

MAX_SAMPLES, MAX_SAMPLE_CHARACTERS = 3, 40
ABSENT = "absent"


@dataclass
class _ColumnChanges:
    changed: int = 0
    samples: list[str] = field(default_factory=list)


def compare_batches(
    batches: Iterable[Batch], stored: StoredRecords, *, deletes: bool
) -> LoadDifference:
    """Compare the records of batches with whole stored records, by column."""
    columns: dict[str, _ColumnChanges] = {}
    new = changed = unchanged = 0
    for batch in batches:
        records = records_of(batch)
        bodies = stored.take([record["objectID"] for record in records])
        for record in records:
            body = bodies.get(record["objectID"])
            if body is None:
                new += 1
            elif _compare(record, msgspec.json.decode(body), columns):
                changed += 1
            else:
                unchanged += 1
    vanished = stored.count_vanished() if deletes else 0
    rows = [(name, c.changed, "; ".join(c.samples)) for name, c in columns.items()]
    frame = pd.DataFrame(rows, columns=["column", "changed", "samples"])
    frame = frame.astype({"column": "str", "changed": "int64", "samples": "str"})
    in_order = frame.sort_values("changed", ascending=False, kind="stable", ignore_index=True)
    return LoadDifference(new, changed, unchanged, vanished, in_order)


def _compare(
    record: dict[str, Any], stored: dict[str, Any], columns: dict[str, _ColumnChanges]
) -> bool:
    """Count the columns whose values differ; return whether there are some."""
    differs = False
    for name in dict.fromkeys([*stored, *record]):
        before, after = _write(stored, name), _write(record, name)
        if before == after:
            continue
        differs = True
        column = columns.setdefault(name, _ColumnChanges())
        column.changed += 1
        if len(column.samples) < MAX_SAMPLES:
            shown = f"{_show(before)} → {_show(after)}"
            column.samples.append(f"{record['objectID']}: {shown}")
    return differs


def _write(record: dict[str, Any], name: str) -> str:
    return canonical(msgspec.json.encode(record[name]).decode()) if name in record else ABSENT


def _show(text: str) -> str:
    return shorten(text, MAX_SAMPLE_CHARACTERS)

"""The records that a load of a CSV file should send, by Python's csv module and plain loops."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MISSING = {"NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-"}
WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")


@dataclass
class Expected:
    """The records in the order of the file, and the numbers of the rows that cannot be sent."""

    records: list[dict[str, Any]] = field(default_factory=list)
    rejected: set[int] = field(default_factory=set)


def expect(
    path: Path,
    *,
    key: str,
    dtype: Mapping[str, str] | None = None,
    nulls: Mapping[str, str] | None = None,
    duplicates: str = "reject",
) -> Expected:
    """Read a file whose columns are text, but for whole numbers in a column `rating`."""
    with path.open(newline="", encoding="utf-8") as file:
        names, *rows = [row for row in csv.reader(file) if row]
    width = len(names)
    filled = [
        dict(zip(names, row + [""] * width, strict=False))
        | {f"column{place}": row[place] for place in range(width, len(row))}
        for row in rows
    ]
    typed = "rating" in (dtype or {}) or all(_fits(row["rating"]) for row in filled)
    found = Expected()
    sendable = []
    for n in range(len(rows)):
        record = _record(filled[n], typed=typed)
        lacking = [name for name, what in (nulls or {}).items() if what == "error"]
        bad = isinstance(record.get("rating"), str) and typed
        if bad or not record.get(key) or any(name not in record for name in lacking):
            found.rejected.add(n + 1)
        else:
            sendable.append((n, record | {"objectID": filled[n][key]}))
    found.records = _without_duplicates(sendable, duplicates, found.rejected)
    return found


def _fits(text: str) -> bool:
    return not text or text in MISSING or bool(WHOLE.fullmatch(text))


def _record(row: Mapping[str, str], *, typed: bool) -> dict[str, Any]:
    record: dict[str, Any] = {name: text for name, text in row.items() if text}
    if typed and "rating" in record:
        text = record.pop("rating")
        if text not in MISSING:
            record["rating"] = int(text) if WHOLE.fullmatch(text) else text
    return record


def _without_duplicates(
    rows: list[tuple[int, dict[str, Any]]], duplicates: str, rejected: set[int]
) -> list[dict[str, Any]]:
    kept: dict[str, int] = {}
    for n, record in rows:
        name = record["objectID"]
        if name not in kept or duplicates == "last":
            if name in kept:
                rejected.add(kept[name] + 1)
            kept[name] = n
        else:
            rejected.add(n + 1)
    return [record for n, record in rows if kept[record["objectID"]] == n]

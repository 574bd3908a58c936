"""The text of a record for an embedder: its searchable attributes, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.service.engine.index.flatten import Record, number_text, read_leaves
from svc_notebook.service.engine.index.schema import INTERNAL, covers, read_searched


def read_texts(records: Sequence[Record], settings: Mapping[str, Any]) -> list[str]:
    """Return the text of each record, a line for each value; empty if it has none.

    Without `searchableAttributes`, these are all texts of a record, as in a search.
    """
    leaves = read_leaves(records)
    entries = read_searched(settings)
    kinds: tuple[type, ...] = (str, int, float) if entries else (str,)
    lines: list[list[str]] = [[] for _ in records]
    for path in _order_paths(list(leaves), [entry.path for entry in entries]):
        for row, value in zip(leaves[path].rows, leaves[path].values, strict=True):
            if type(value) in kinds:
                lines[row].append(value if type(value) is str else number_text(value))
    return ["\n".join(line for line in record_lines if line.strip()) for record_lines in lines]


def first_attributes(settings: Mapping[str, Any]) -> list[str]:
    """Return the attributes that `searchableAttributes` has first; none if there are no others."""
    entries = read_searched(settings)
    first = [entry.path for entry in entries if not entry.rank]
    return first if len(first) < len(entries) else []


def _order_paths(paths: Sequence[str], entries: Sequence[str]) -> list[str]:
    if not entries:
        return [path for path in paths if path not in INTERNAL]
    ordered = [path for entry in entries for path in paths if covers(entry, path)]
    return list(dict.fromkeys(ordered))

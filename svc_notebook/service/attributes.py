"""Which attributes of a record a caller gets to see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from svc_notebook.api.shapes import Record
from svc_notebook.service.access import Caller


def withheld(caller: Caller, settings: Mapping[str, Any]) -> list[str]:
    """The attributes an index's settings keep from this caller."""
    if caller.may("seeUnretrievableAttributes"):
        return []
    return list(settings.get("unretrievableAttributes", ()))


def select_attributes(
    record: Record, wanted: Sequence[str] | None, hidden: Sequence[str]
) -> Record:
    """Keep the attributes wanted, dotted names reaching inside, and drop the hidden ones.

    `*` stands for all, `-name` for all but that; the objectID always stays.
    """
    names = ["*"] if wanted is None else list(wanted)
    dropped = [*hidden, *(name[1:] for name in names if name.startswith("-"))]
    kept = [name for name in names if not name.startswith("-")]
    chosen = record if "*" in kept or (dropped and not kept) else _only(record, kept)
    for name in dropped:
        chosen = drop_attribute(chosen, name)
    return {**chosen, "objectID": record["objectID"]}


def drop_attribute(value: Any, path: str) -> Any:
    """Leave out one attribute, by its dotted name, also from the items of arrays."""
    if isinstance(value, list):
        return [drop_attribute(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: drop_attribute(inner, path[len(name) + 1 :]) if path.startswith(f"{name}.") else inner
        for name, inner in value.items()
        if name != path
    }


def _only(value: Any, paths: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_only(item, paths) for item in value if isinstance(item, (dict, list))]
    if not isinstance(value, dict):
        return value
    return {
        name: inner if name in paths else _only(inner, below)
        for name, inner in value.items()
        if name in paths or ((below := _below(name, paths)) and isinstance(inner, (dict, list)))
    }


def _below(name: str, paths: Sequence[str]) -> list[str]:
    return [path[len(name) + 1 :] for path in paths if path.startswith(f"{name}.")]

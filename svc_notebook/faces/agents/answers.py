"""Answers of tools: rows and texts with a limited number of characters."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from pandas import DataFrame

from svc_notebook.core.display import format_count
from svc_notebook.faces.functions.output import with_unique_columns

MAX_ANSWER_CHARACTERS = 20_000
MAX_CELL_CHARACTERS = 2_000
# Members of `attrs["svc"]` that a reader of the rows needs.
FACTS = ("nbHits", "message", "missing", "absent", "change_id", "request", "code")


def shape_answer(value: Any, limit: int = MAX_ANSWER_CHARACTERS) -> dict[str, Any]:
    """Return a result as an object of JSON, cut to this number of characters.

    A DataFrame becomes `rows`, `total` and `left_out`; other results become `summary`, with their
    tables as members of the same form.
    """
    if isinstance(value, DataFrame):
        return _shape_frame(value, limit)
    if isinstance(value, Mapping):
        return _shape_mapping(value, limit)
    answer: dict[str, Any] = {"summary": _cut(str(value), limit // 2)}
    tables = _list_tables(value)
    for name, table in tables:
        answer[name] = _shape_frame(table, limit // 2 // len(tables))
    return answer


def _list_tables(value: Any) -> list[tuple[str, DataFrame]]:
    """Return the tables of a result that are members, except runs, which have a row per hit."""
    if not dataclasses.is_dataclass(value):
        return []
    names = dict.fromkeys([*(item.name for item in dataclasses.fields(value)), "queries"])
    tables = ((name, getattr(value, name, None)) for name in names)
    return [
        (name, table)
        for name, table in tables
        if isinstance(table, DataFrame) and name not in ("before", "after")
    ]


def _shape_frame(frame: DataFrame, limit: int) -> dict[str, Any]:
    named = frame if frame.index.name is None else frame.reset_index()
    rows = _cut_rows(_read_rows(named), limit)
    answer: dict[str, Any] = {"rows": rows, "total": len(frame)}
    if len(rows) < len(frame):
        answer["left_out"] = (
            f"{format_count(len(frame) - len(rows), 'row')}: ask for fewer columns or rows"
        )
    facts = frame.attrs.get("svc", {})
    return answer | {name: facts[name] for name in FACTS if facts.get(name)}


def _read_rows(frame: DataFrame) -> Iterable[dict[str, Any]]:
    text = with_unique_columns(frame).to_json(orient="records", date_format="iso")
    rows: list[dict[str, Any]] = msgspec.json.decode(text)
    # A record without an attribute and one with `null` look the same in a table.
    return ({k: v for k, v in row.items() if v is not None} for row in rows)


def _cut_rows(rows: Iterable[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = []
    for row in rows:
        cut = {name: _cut_value(value) for name, value in row.items()}
        limit -= len(msgspec.json.encode(cut))
        if limit < 0 and shown:
            break
        shown.append(cut)
    return shown


def _shape_mapping(value: Mapping[str, Any], limit: int) -> dict[str, Any]:
    members = msgspec.json.decode(msgspec.json.encode(dict(value), enc_hook=str))
    [shown] = _cut_rows([members], limit)
    if len(msgspec.json.encode(shown)) <= limit:
        return shown
    names = list(shown)
    return {"left_out": f"too large; its members are {_cut(', '.join(names), MAX_CELL_CHARACTERS)}"}


def _cut_value(value: Any) -> Any:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return value if len(text) <= MAX_CELL_CHARACTERS else _cut(text, MAX_CELL_CHARACTERS)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters)"

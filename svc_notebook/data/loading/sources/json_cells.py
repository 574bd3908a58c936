"""Rows of cells beside a schema, as the APIs of BigQuery and of Google's charts write a table."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from svc_notebook.data.loading.sources.json_orientations import Turned
from svc_notebook.data.loading.sources.json_wrappers import Members, decode

# The member of a row that has its cells, that of a cell with its value, and the lists of columns.
ROWS, BIGQUERY_CELLS, CHART_CELLS, VALUE = "rows", "f", "c", "v"
NUMBERS = frozenset(("INTEGER", "INT64", "FLOAT", "FLOAT64", "NUMERIC", "BIGNUMERIC"))
BOOLEANS = frozenset(("BOOLEAN", "BOOL"))
STRUCTS = frozenset(("RECORD", "STRUCT"))
JSON_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
# A date of a chart, whose months count from 0.
CHART_DATE = re.compile(r"Date\((\d{4}), ?(\d{1,2}), ?(\d{1,2})((?:, ?\d{1,3})*)\)")
MICROSECONDS = re.compile(r"-?\d{14,}")

Field = Mapping[str, Any]
Cell = dict[str, Any]


def turn_cells(document: Members) -> Turned | None:
    """Return the records of a table of cells; `None` for any other document."""
    if ROWS not in document:
        table = decode(bytes(document["table"])) if "table" in document else None
        return turn_cells(table) if table and ROWS in table else None
    schema = decode(bytes(document["schema"])) if "schema" in document else None
    if schema is not None and "fields" in schema:
        fields = _read_fields(schema["fields"])
        return _turn(document, BIGQUERY_CELLS, fields, _read_bigquery, "schema.fields")
    if "cols" in document:
        fields = _read_fields(document["cols"])
        return _turn(document, CHART_CELLS, fields, _read_chart, "cols")
    return None


def _read_fields(text: msgspec.Raw) -> Sequence[Field]:
    """Return the fields of a schema, with unique names; none if they have no names."""
    try:
        return _name_fields(msgspec.json.decode(text, type=list[dict[str, Any]]))
    except msgspec.MsgspecError:
        return []


def _name_fields(fields: Any) -> Sequence[Field]:
    """Return fields, each with its name, label or id as the name; none if a name is missing
    or occurs twice.
    """
    if not isinstance(fields, list) or not all(isinstance(field, dict) for field in fields):
        return []
    named = [
        {**field, "name": field.get("name") or field.get("label") or field.get("id")}
        for field in fields
    ]
    names = [field["name"] for field in named]
    is_named = all(isinstance(name, str) and name for name in names)
    return named if is_named and len({*names}) == len(names) else []


def _turn(
    document: Members,
    cells: str,
    fields: Sequence[Field],
    read: Callable[[Field, Any], Any],
    named_by: str,
) -> Turned | None:
    try:
        rows = msgspec.json.decode(document[ROWS], type=list[dict[str, list[Cell | None] | None]])
    except msgspec.MsgspecError:
        return None
    if not fields or any(len(row.get(cells) or ()) != len(fields) for row in rows):
        return None
    records = (msgspec.json.encode(_read_row(row[cells] or (), fields, read)) for row in rows)
    return Turned(records, f"the cells of `{ROWS}`, named by `{named_by}`")


def _read_row(
    cells: Sequence[Cell | None], fields: Sequence[Field], read: Callable[[Field, Any], Any]
) -> dict[str, Any]:
    return {
        field["name"]: read(field, (cell or {}).get(VALUE))
        for field, cell in zip(fields, cells, strict=True)
    }


def _read_bigquery(field: Field, value: Any) -> Any:
    """Return the value of a cell: BigQuery writes numbers, truth values and times as texts."""
    kind = str(field.get("type", "")).upper()
    if value is None:
        return None
    if str(field.get("mode", "")).upper() == "REPEATED" and isinstance(value, list):
        single = {**field, "mode": ""}
        return [
            _read_bigquery(single, item.get(VALUE)) if isinstance(item, dict) else item
            for item in value
        ]
    if kind in STRUCTS and isinstance(value, dict):
        return _read_struct(_name_fields(field.get("fields")), value)
    text = str(value)
    if kind in BOOLEANS:
        return {"true": True, "false": False}.get(text.lower(), value)
    if kind in NUMBERS and JSON_NUMBER.fullmatch(text):
        return msgspec.Raw(text.encode())
    return _read_moment(text) if kind == "TIMESTAMP" else value


def _read_struct(fields: Sequence[Field], value: Cell) -> Any:
    """Return the object of a struct; a value of another form as it is."""
    cells = value.get(BIGQUERY_CELLS)
    if not isinstance(cells, list) or len(cells) != len(fields) or not fields:
        return value
    is_row = all(cell is None or isinstance(cell, dict) for cell in cells)
    return _read_row(cells, fields, _read_bigquery) if is_row else value


def _read_moment(text: str) -> str:
    """Return a time in UTC, which is in seconds or in microseconds since 1970."""
    if not JSON_NUMBER.fullmatch(text):
        return text
    scale = 1_000_000 if MICROSECONDS.fullmatch(text) else 1
    try:
        moment = dt.datetime.fromtimestamp(0, dt.UTC) + dt.timedelta(seconds=float(text) / scale)
    except OverflowError:
        return text
    return moment.isoformat().replace("+00:00", "Z")


def _read_chart(_: Field, value: Any) -> Any:
    match = CHART_DATE.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return value
    year, month, day, time = match.groups()
    parts = [int(part) for part in time.split(",") if part.strip()]
    hour, minute, second = [*parts, 0, 0, 0][:3]
    try:
        moment = dt.datetime(int(year), int(month) + 1, int(day), hour, minute, second)
    except ValueError:
        return value
    return moment.isoformat() if parts else moment.date().isoformat()

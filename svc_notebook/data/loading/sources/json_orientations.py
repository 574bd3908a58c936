"""Documents whose members are the records or the columns: objects by id, arrays of columns.

Also rows of cells beside a schema, as the APIs of BigQuery and of Google's charts write a table.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import msgspec

from svc_notebook.core.display import shorten
from svc_notebook.data.loading.sources.json_wrappers import (
    JSON_NUMBER,
    Members,
    add_id,
    decode,
    is_object,
)
from svc_notebook.data.loading.text_cells.header_score import is_header

# The member of a row that has its cells, that of a cell with its value, and the lists of columns.
ROWS, BIGQUERY_CELLS, CHART_CELLS, VALUE = "rows", "f", "c", "v"
NUMBERS = frozenset(("INTEGER", "INT64", "FLOAT", "FLOAT64", "NUMERIC", "BIGNUMERIC"))
BOOLEANS = frozenset(("BOOLEAN", "BOOL"))
STRUCTS = frozenset(("RECORD", "STRUCT"))
# A date of a chart, whose months count from 0.
CHART_DATE = re.compile(r"Date\((\d{4}), ?(\d{1,2}), ?(\d{1,2})((?:, ?\d{1,3})*)\)")
MICROSECONDS = re.compile(r"-?\d{14,}")

Field = Mapping[str, Any]
Cell = dict[str, Any]
# Larger documents are not turned: their members would not fit in memory.
MAX_TURNED_BYTES = 100_000_000
MAX_SAMPLE_MEMBERS = 100
MAX_SHOWN_CHARACTERS = 60
# The share of the objects of one shape that have the most frequent member.
MIN_COMMON_SHARE = 0.8
List = list[msgspec.Raw]
# Names of lists of the names of columns, in the order of preference.
COLUMN_NAMES = ("columns", "fields", "header", "headers", "names", "meta", "rowtype", "schema")


class Turned(NamedTuple):
    """The records of a document as JSON, and what they are in the words of a note."""

    records: Iterator[bytes]
    what: str


def have_one_shape(objects: Sequence[Members]) -> bool:
    """Return whether objects are rows of one table: most of them have some member in common."""
    counts = Counter(name for members in objects for name in members)
    (_, count), *_ = counts.most_common(1) or [("", 0)]
    return count >= max(1, MIN_COMMON_SHARE * len(objects))


def turn(document: Members) -> Turned | None:
    """Return the records of a document that contains its columns, or an object for each id."""
    return turn_lists(document) or turn_objects(document)


def turn_keyed(document: Members) -> Turned | None:
    """Return the objects inside a document as records; their names are the ids."""
    objects = _as_objects(document)
    return None if objects is None else _keyed(document)


def turn_arrays(rows: Sequence[List]) -> Turned | None:
    """Return the records of a list of rows, whose first one can have the names.

    Rows can be shorter than the first. None if cells are lists or objects.
    """
    if len(rows) < 2 or max(map(len, rows)) > len(rows[0]):
        return None
    texts = [[*map(_cell_text, row)] for row in rows[:MAX_SAMPLE_MEMBERS]]
    if any(map(_is_nested, texts[1:])):
        return None
    first = texts[0]
    if all(first) and len({*first}) == len(first) and is_header(texts):
        return Turned(_write_rows(first, rows[1:]), "the arrays, with names from the first one")
    return Turned(_write_rows([], rows), "the arrays, in columns column0, column1, …")


def _is_nested(row: Sequence[str]) -> bool:
    """Return whether a row of several cells has a list or an object."""
    return len(row) > 1 and any(cell.startswith(("[", "{")) for cell in row)


def turn_pages(items: List) -> Turned | None:
    """Return the objects of the arrays inside an array, of which each is a page of a response.

    A response can begin with one object that describes it.
    """
    pages = [page for item in items if (page := _as_list(item)) is not None]
    described = items[: len(items) - len(pages)]
    if not pages or not all(map(is_object, (item for page in pages for item in page))):
        return None
    if len(described) > 1 or not (all(map(is_object, described)) and any(pages)):
        return None
    what = "the objects of the arrays inside"
    if described:
        text = bytes(described[0]).decode("utf-8", "replace")
        what += f"; `{shorten(text, MAX_SHOWN_CHARACTERS)}` is left out"
    return Turned((bytes(item) for page in pages for item in page), what)


def turn_named_arrays(rows: Sequence[List], cells: List) -> Turned | None:
    """Return the records of a list of rows, with the names that another list holds."""
    names = names_in(cells)
    if names is None or not rows or len(names) != len(rows[0]):
        return None
    return Turned(_write_rows(names, rows), "rows")


def turn_lists(document: Members, min_values: int = 1) -> Turned | None:
    """Turn lists of equal length: each is a column."""
    columns = [cells for value in document.values() if (cells := _as_list(value)) is not None]
    if len(columns) < max(len(document), 2) or len({*map(len, columns)}) > 1:
        return None
    if len(columns[0]) < min_values or any(is_object(cells[0]) for cells in columns if cells):
        return None
    rows = (list(row) for row in zip(*columns, strict=True))
    return Turned(_write_rows(list(document), rows), "the lists, each as a column")


def turn_objects(document: Members) -> Turned | None:
    """Turn objects of one shape: each is a record by its id, or a column."""
    objects = _as_objects(document)
    if objects is None or len(objects) < 2:
        return None
    names = [list(members) for members in objects[:MAX_SAMPLE_MEMBERS]]
    if _are_columns(list(document), objects, names):
        rows = ([members[label] for members in objects] for label in objects[0])
        return Turned(_write_rows(list(document), rows), "the members, each as a column")
    if not have_one_shape(objects[:MAX_SAMPLE_MEMBERS]) or max(map(len, names)) < 2:
        return None
    return _keyed(document)


def _keyed(document: Members) -> Turned:
    records = (
        text if "objectID" in (decode(text) or ()) else add_id(msgspec.json.encode(key), text)
        for key, value in document.items()
        for text in [bytes(value)]
    )
    return Turned(records, "the members, with their names as objectIDs")


def _as_objects(document: Members) -> list[Members] | None:
    objects: list[Members] = []
    for value in document.values():
        members = decode(value)
        if not members:
            return None
        objects.append(members)
    return objects or None


def _are_columns(
    outer: Sequence[str], objects: Sequence[Members], names: Sequence[Sequence[str]]
) -> bool:
    """Return whether objects are columns by row, as pandas writes them, and not rows by id."""
    if any(inner != names[0] for inner in names):
        return False
    if _count_up(outer):
        return False
    if _count_up(names[0]):
        return True
    if any(map(is_object, chain.from_iterable(members.values() for members in objects))):
        return False
    # With other labels of rows, the types of the values tell: a column has one.
    by_column = all(len(_kinds(members.values())) <= 1 for members in objects)
    by_row = all(len(_kinds(row[name] for row in objects)) <= 1 for name in names[0])
    return by_column and not by_row


def _count_up(names: Sequence[str]) -> bool:
    return all(name == str(number) for number, name in enumerate(names))


def _kinds(values: Iterable[msgspec.Raw]) -> set[str]:
    kinds = {b'"': "text", b"t": "boolean", b"f": "boolean", b"n": "", b"[": "list", b"{": "object"}
    names = {kinds.get(bytes(memoryview(value)[:1]), "number") for value in values}
    return names - {""}


def _write_rows(names: Sequence[str], rows: Iterable[List]) -> Iterator[bytes]:
    for row in rows:
        # Cells beyond the names have a column of their own, so that none is lost.
        more = [f"column{number}" for number in range(len(names), len(row))]
        keys = map(msgspec.json.encode, [*names, *more])
        pairs = (key + b":" + bytes(value) for key, value in zip(keys, row, strict=False))
        yield b"{" + b",".join(pairs) + b"}"


def names_in(cells: List) -> list[str] | None:
    """Return the names of columns: distinct texts, or the `name` of each object."""
    names: list[str] = []
    for cell in cells:
        members = decode(cell)
        value = cell if members is None else members.get("name")
        try:
            name = msgspec.json.decode(value or b"", type=str)
        except msgspec.MsgspecError:
            return None
        names.append(name)
    return names if names and all(names) and len(set(names)) == len(names) else None


def _as_list(value: msgspec.Raw) -> List | None:
    with suppress(msgspec.MsgspecError):
        return msgspec.json.decode(value, type=list[msgspec.Raw])
    return None


def _cell_text(cell: msgspec.Raw) -> str:
    """Return the text of a cell: of a text its value, of any other cell its JSON."""
    text = bytes(cell)
    if text.startswith(b'"'):
        return str(msgspec.json.decode(text))
    return "" if text == b"null" else text.decode()


def turn_cells(document: Members) -> Turned | None:
    """Return the records of a table of cells; `None` for any other document."""
    if ROWS not in document:
        table = decode(document.get("table", b""))
        return turn_cells(table) if table and ROWS in table else None
    schema = decode(document.get("schema", b""))
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
    if kind in NUMBERS and JSON_NUMBER.fullmatch(text.encode()):
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
    if not JSON_NUMBER.fullmatch(text.encode()):
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

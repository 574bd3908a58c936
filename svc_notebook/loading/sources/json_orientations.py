"""Documents whose members are the records or the columns: objects by id, arrays of columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from svc_notebook.loading.sources.json_wrappers import (
    Members,
    add_member,
    begins_with,
    decode,
)

# Larger documents are not turned: their members would not fit in memory.
MAX_TURNED_BYTES = 100_000_000
MAX_SAMPLE_MEMBERS = 100
# The share of the objects of one shape that have the most frequent member.
MIN_COMMON_SHARE = 0.8
List = list[msgspec.Raw]
COLUMN_NAMES = ("columns", "fields", "header", "headers", "names")


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
    return turn_rows(document) or _turn_lists(document) or _turn_objects(document)


def turn_keyed(document: Members) -> Turned | None:
    """Return the objects inside a document as records; their names are the ids."""
    objects = _as_objects(document)
    return None if objects is None else _keyed(document)


def turn_arrays(rows: Iterable[List]) -> Turned | None:
    """Return the records of a list of rows of equal length, whose first one has the names."""
    rows = iter(rows)
    first = next(rows, None)
    names = _names(first) if first is not None else None
    if names is None:
        return None
    return Turned(_write_rows(names, rows), "the arrays, with names from the first one")


def turn_rows(document: Members) -> Turned | None:
    """Return the records of a list of arrays that is beside a list of the names of its columns."""
    lists = {name: cells for name, value in document.items() if (cells := _as_list(value))}
    tables = {
        name: rows
        for name, cells in lists.items()
        if (rows := [_as_list(cell) for cell in cells]) and None not in rows
    }
    if len(tables) != 1:
        return None
    ((name, rows),) = tables.items()
    width = len(rows[0] or ())
    for other in COLUMN_NAMES:
        names = _names(lists.get(other, []))
        if names is not None and len(names) == width:
            filled = (row for row in rows if row is not None)
            return Turned(_write_rows(names, filled), f"the rows of `{name}`, named by `{other}`")
    return None


def _turn_lists(document: Members) -> Turned | None:
    """Turn lists of equal length: each is a column."""
    if len(document) < 2:
        return None
    columns: list[List] = []
    for value in document.values():
        cells = _as_list(value)
        if cells is None or (columns and len(cells) != len(columns[0])):
            return None
        columns.append(cells)
    if not columns[0] or any(_is_object_text(cell) for column in columns for cell in column[:1]):
        return None
    rows = (list(row) for row in zip(*columns, strict=True))
    return Turned(_write_rows(list(document), rows), "the lists, each as a column")


def _turn_objects(document: Members) -> Turned | None:
    objects = _as_objects(document)
    if objects is None or len(objects) < 2:
        return None
    names = [list(members) for members in objects[:MAX_SAMPLE_MEMBERS]]
    if _are_columns(list(document), objects, names):
        return Turned(_turn_columns(list(document), objects), "the members, each as a column")
    if not have_one_shape(objects[:MAX_SAMPLE_MEMBERS]) or max(map(len, names)) < 2:
        return None
    return _keyed(document)


def _keyed(document: Members) -> Turned:
    records = (
        text if "objectID" in (decode(text) or ()) else add_member("objectID", _text(key), text)
        for key, value in document.items()
        for text in [bytes(value)]
    )
    return Turned(records, "the members, with their names as objectIDs")


def _as_objects(document: Members) -> list[Members] | None:
    objects: list[Members] = []
    for value in document.values():
        members = decode(bytes(value)) if _is_object_text(value) else None
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
    if any(_is_object_text(value) for members in objects for value in members.values()):
        return False
    # With other labels of rows, the types of the values tell: a column has one.
    by_column = all(len(_kinds(members.values())) <= 1 for members in objects)
    by_row = all(len(_kinds(each[name] for each in objects)) <= 1 for name in names[0])
    return by_column and not by_row


def _count_up(names: Sequence[str]) -> bool:
    return all(name == str(number) for number, name in enumerate(names))


def _kinds(values: Iterable[msgspec.Raw]) -> set[str]:
    kinds = {b'"': "text", b"t": "boolean", b"f": "boolean", b"n": "", b"[": "list", b"{": "object"}
    found = {kinds.get(bytes(memoryview(value)[:1]), "number") for value in values}
    return found - {""}


def _turn_columns(columns: Sequence[str], objects: Sequence[Members]) -> Iterator[bytes]:
    for label in objects[0]:
        yield _write_row(columns, [members[label] for members in objects])


def _write_rows(names: Sequence[str], rows: Iterable[List]) -> Iterator[bytes]:
    for row in rows:
        # Cells beyond the names have a column of their own, so that none is lost.
        more = [f"column{number}" for number in range(len(names), len(row))]
        yield _write_row([*names, *more], row)


def _write_row(names: Sequence[str], values: Sequence[msgspec.Raw]) -> bytes:
    pairs = zip(names, values, strict=False)
    return b"{" + b",".join(_text(name) + b":" + bytes(value) for name, value in pairs) + b"}"


def _names(cells: List) -> list[str] | None:
    """Return the names of columns: distinct texts, or the `name` of each object."""
    names: list[str] = []
    for cell in cells:
        members = decode(bytes(cell)) if _is_object_text(cell) else None
        value = cell if members is None else members.get("name")
        try:
            name = msgspec.json.decode(value or b"", type=str)
        except msgspec.MsgspecError:
            return None
        names.append(name)
    return names if names and all(names) and len(set(names)) == len(names) else None


def _as_list(value: msgspec.Raw) -> List | None:
    if not begins_with(b"[", value):
        return None
    return msgspec.json.decode(value, type=list[msgspec.Raw])


def _is_object_text(value: msgspec.Raw) -> bool:
    return begins_with(b"{", value)


def _text(name: str) -> bytes:
    return msgspec.json.encode(name)

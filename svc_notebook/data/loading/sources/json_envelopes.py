"""The records of a JSON file: inside a document that contains them, or of wrappers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar

import msgspec

from svc_notebook.core.display import list_names
from svc_notebook.data.loading.options import WHOLE_PATH
from svc_notebook.data.loading.sources.encoding import read_part
from svc_notebook.data.loading.sources.json_lists import (
    JsonDocument,
    NestedList,
    copy_list,
    iterate_objects,
    read_document,
    sample_objects,
)
from svc_notebook.data.loading.sources.json_orientations import (
    COLUMN_NAMES,
    MAX_TURNED_BYTES,
    ROWS,
    Turned,
    have_one_shape,
    turn,
    turn_arrays,
    turn_cells,
    turn_keyed,
    turn_lists,
    turn_named_arrays,
    turn_objects,
    turn_pages,
)
from svc_notebook.data.loading.sources.json_wrappers import (
    Members,
    decode,
    find_wrapper,
    unwrap_objects,
    write_lines,
)
from svc_notebook.data.loading.text_cells.signals import Signal, total_points
from svc_notebook.errors import BadInput, did_you_mean

T = TypeVar("T")
MAX_NAMED_LISTS = 5
# An array whose first item is an array, or a flat object before one.
ARRAYS_INSIDE = re.compile(rb"\[\s*(?:\{[^{}\[\]]*\}\s*,\s*)?\[")
# The minimum length of lists inside of a document that are columns.
MIN_COLUMN_VALUES = 3
# A document that is one wrapped record has at most this size.
MAX_WRAPPED_BYTES = 10_000_000
# The distance of a certain list's points from others, and how many times a much larger one is as
# large as any other.
CERTAIN_DISTANCE, LARGER_FACTOR = 1, 20
# The path of the objects inside a document, with their names as ids.
MEMBERS_PATH = "*"
# Names of lists of records in responses and exports, in lower case.
RECORD_LISTS = frozenset(
    ("hits", "data", "results", "result", "records", "rows", "docs", "documents", "features",
     "edges", "nodes", "bindings", "value", "values", "response", "content", "contents",
     "requests", "items", "entries", "objects", "list", "elements")
)  # fmt: skip
# The same, which records of their own have as well: an order has items.
COMMON_LISTS = frozenset(("items", "entries", "objects", "list", "elements", "values", "value"))
# Names on the path of lists that describe the records, in lower case.
SIDE_NAMES = frozenset(
    ("schema", "meta", "metadata", "facets", "facet_counts", "aggregations", "aggs", "pagination",
     "links", "_links", "errors", "warnings", "head", "responseheader", "included", "_shards",
     "suggest", "suggestions", "messages", "extensions", "crs", "view")
)  # fmt: skip
# Names of ids: a document with one is a record itself.
ID_MEMBERS = frozenset(
    ("id", "_id", "objectid", "sku", "uuid", "guid", "key", "number", "isbn", "ean", "gtin",
     "order_id", "orderid", "product_id", "productid")
)  # fmt: skip


@dataclass(frozen=True)
class _Records:
    """A file of records, and the note about them."""

    path: Path
    note: str = ""
    # Whether the records were inside of wrappers, which the note describes.
    unwrapped: bool = False


def take_records(
    path: Path, name: str | None, folder: Path, *, one_file: bool = True
) -> tuple[Path, str]:
    """Write the records inside a JSON file into a file; return it and a note for the plan.

    `name` is the option `path`; "" takes the file as it is. Without it, the records are those of
    the only list of objects of one shape. If there is no such list, the path is returned.
    `one_file` says that no other file is loaded with this one: then several lists are an error.
    """
    if name == WHOLE_PATH:
        return path, ""
    document = read_document(path)
    if document is None and name is not None:
        raise BadInput(f"{path.name} is not one JSON object; `path` names a list inside of one")
    is_small = path.stat().st_size <= MAX_WRAPPED_BYTES
    if document is None or (name is None and is_small and find_wrapper(sample_objects(path))):
        records = _unwrap(path, "", folder)
    elif name is not None:
        records = _take_named(path, document, name, folder)
    else:
        records = _take_likely(path, document, folder, one_file=one_file)
    return records.path, records.note


def _take_named(path: Path, document: JsonDocument, name: str, folder: Path) -> _Records:
    parent, _, last = name.rpartition(".")
    if last == MEMBERS_PATH:
        inner = _members_at(path, parent.split(".") if parent else [])
        turned = turn_keyed(inner) if inner is not None else None
        if turned is None:
            raise BadInput(f"`{parent or path.name}` is not an object of objects; name a list")
        return _write(turned, path, folder)
    chosen = _find_list(path, document, name)
    return _Records(copy_list(path, chosen, folder), _note_of(chosen))


def _find_list(path: Path, document: JsonDocument, name: str) -> NestedList:
    for nested in document.lists:
        if nested.path == name:
            return nested
    paths = [nested.path for nested in document.lists]
    there = f"; its lists: {list_names(paths, MAX_NAMED_LISTS, ' or ')}" if paths else ""
    raise BadInput(f"{path.name} has no list `{name}`{did_you_mean(name, paths) or there}")


def _take_likely(path: Path, document: JsonDocument, folder: Path, *, one_file: bool) -> _Records:
    """Write the rows that a document most likely has; a document without any is one record."""
    if any(_last_name(nested) == ROWS for nested in document.of_objects if nested.names):
        members = _members_at(path, [])
        if members and (turned := turn_cells(members)):
            return _write(turned, path, folder)
    arrays = [nested for nested in document.lists if _has_arrays(path, nested)]
    if len(arrays) == 1 and (turned := _turn_with_names(path, document, arrays[0])):
        return _write(turned, path, folder)
    tables = [nested for nested in document.of_objects if _is_table(path, nested)]
    if items := _take_list(path, document, tables, arrays, folder):
        return items
    if turned := _turn(path) or _turn_inside(path, document):
        return _write(turned, path, folder)
    if one_file and len(tables) > 1:
        raise BadInput(_ask(path, tables))
    return _Records(path, _advice(document))


def _take_list(
    path: Path,
    document: JsonDocument,
    tables: Sequence[NestedList],
    arrays: Sequence[NestedList],
    folder: Path,
) -> _Records | None:
    """Write the items of the list of records, or what the items of the only list contain."""
    is_record = len(document.names) > 1 and document.has_any(ID_MEMBERS)
    chosen = _choose(tables)
    if chosen is not None and (not is_record or _last_name(chosen) in RECORD_LISTS - COMMON_LISTS):
        items = _copy_items(path, chosen, folder)
        undo = "" if items.unwrapped else f"; path='{WHOLE_PATH}' loads the document as one record"
        return replace(items, note=items.note + undo + _left_out(document, chosen))
    if len(arrays) != 1 or tables or is_record or _last_name(arrays[0]) not in RECORD_LISTS:
        return None
    items = _copy_items(path, arrays[0], folder)
    return items if items.unwrapped else None


def _last_name(nested: NestedList) -> str:
    return nested.names[-1].lower()


def _copy_items(path: Path, nested: NestedList, folder: Path) -> _Records:
    """Write the items of a list, or what is inside of their wrappers, with a note on both."""
    copied = copy_list(path, nested, folder)
    inside = _unwrap(copied, f"path={nested.path!r} loads its items", folder)
    note = f"{_note_of(nested)}: {inside.note}" if inside.note else _note_of(nested)
    return _Records(inside.path, note, unwrapped=bool(inside.note))


def _choose(tables: Sequence[NestedList]) -> NestedList | None:
    """Return the list that most likely is that of the records; None if others are as likely."""
    rated = [(total_points(_rate_list(nested, tables)), -n) for n, nested in enumerate(tables)]
    (points, number), *others = sorted(rated, reverse=True) or [(0, 0)]
    certain = all(points - other >= CERTAIN_DISTANCE for other, _ in others)
    return tables[-number] if tables and certain else None


def _rate_list(nested: NestedList, tables: Sequence[NestedList]) -> Iterator[Signal]:
    """Yield the signals of a list in a document for and against being that of the records."""
    names = {*map(str.lower, nested.names)}
    if side := names & SIDE_NAMES:
        # In other documents, they are the records of a chat.
        yield Signal(f"`{min(side)}` describes records", -1 if side == {"messages"} else -5)
    if _last_name(nested) in RECORD_LISTS:
        yield Signal("has a usual name", 2.5)
    others = [other.end - other.start for other in tables if other is not nested]
    if nested.end - nested.start > LARGER_FACTOR * max(others, default=0):
        yield Signal("is much larger than any other list", 2.5)


def _is_table(path: Path, nested: NestedList) -> bool:
    sample = [decode(text) for text in sample_objects(path, nested.start)]
    objects = [members for members in sample if members is not None]
    return len(objects) == len(sample) and have_one_shape(objects)


def _unwrap(path: Path, undo: str, folder: Path) -> _Records:
    """Write the records inside of wrappers; a file without them is returned as it is."""
    undo = undo or f"path='{WHOLE_PATH}' loads the objects as they are"
    content = path.read_bytes() if _begins_with_arrays(path) else b""
    if turned := turn_pages(_read_items(content, msgspec.Raw)):
        return _write(turned, path, folder)
    if arrays := _read_items(content, list[msgspec.Raw]) or _read_array_lines(content):
        turned = turn_arrays(arrays)
        return _Records(path) if turned is None else _write(turned, path, folder)
    if unwrapped := unwrap_objects(sample_objects(path), _iterate(path), path, folder):
        written, what = unwrapped
        return _Records(written, f"{what}; {undo}")
    if not _has_commas(path):
        return _Records(path)
    note = f"commas between the documents are left out; path='{WHOLE_PATH}' keeps them"
    return _Records(write_lines(iterate_objects(path), path, folder), note)


def _has_commas(path: Path) -> bool:
    """Return whether the first lines are objects with commas between them, without an array."""
    with path.open("rb") as file:
        lines = [line.strip() for line in islice(file, 2)]
    objects = [decode(line.removesuffix(b",")) for line in lines]
    return len(lines) > 1 and lines[0].endswith(b",") and None not in objects


def _iterate(path: Path) -> Iterator[bytes]:
    """Yield the objects of a file: its lines, if the first one is an object, else by their JSON."""
    with path.open("rb") as file:
        first = file.readline()
        if decode(first) is None:
            yield from iterate_objects(path)
            return
        yield first.strip()
        for line in file:
            if line.strip():
                yield line.strip()


def _begins_with_arrays(path: Path) -> bool:
    start = read_part(path, 4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    is_array = ARRAYS_INSIDE.match(start) is not None
    first = start.partition(b"\n")[0].rstrip()
    is_line = start.startswith(b"[") and b"\n" in start and first.endswith(b"]")
    return (is_array or is_line) and path.stat().st_size <= MAX_TURNED_BYTES


def _read_items(content: bytes, kind: type[T]) -> list[T]:
    """Return the items of an array if all are of a type; none for any other text."""
    with suppress(msgspec.MsgspecError, RecursionError):
        return msgspec.json.decode(content, type=list[kind])  # type: ignore[valid-type]
    return []


def _read_array_lines(content: bytes) -> list[list[msgspec.Raw]]:
    """Return the rows of a file with an array in each line; none for any other text."""
    lines = [line for line in content.splitlines() if line.strip()]
    with suppress(msgspec.MsgspecError, RecursionError):
        return [msgspec.json.decode(line, type=list[msgspec.Raw]) for line in lines]
    return []


def _has_arrays(path: Path, nested: NestedList) -> bool:
    """Return whether a list inside a document begins with an array."""
    if nested.of_objects or not nested.names:
        return False
    return read_part(path, 256, nested.start + 1).lstrip().startswith(b"[")


def _read_list(path: Path, nested: NestedList) -> bytes:
    return read_part(path, nested.end - nested.start, nested.start)


def _turn_with_names(path: Path, document: JsonDocument, nested: NestedList) -> Turned | None:
    """Turn a list of arrays that is beside a list of the names of its columns."""
    if path.stat().st_size > MAX_TURNED_BYTES or not document.names:
        return None
    rows = _read_items(_read_list(path, nested), list[msgspec.Raw])
    others = [other for other in document.lists if other is not nested and other.names]
    named = [other for other in others if _last_name(other) in COLUMN_NAMES]
    for other in sorted(named, key=lambda other: COLUMN_NAMES.index(_last_name(other))):
        cells = msgspec.json.decode(_read_list(path, other), type=list[msgspec.Raw])
        if turned := turn_named_arrays(rows, cells):
            return turned._replace(what=f"the rows of `{nested.path}`, named by `{other.path}`")
    return None


def _turn_inside(path: Path, document: JsonDocument) -> Turned | None:
    """Turn the only member that is an object of columns, or of objects by id, beside facts."""
    if document.has_any(ID_MEMBERS | {"name", "title"}):
        return None
    objects = {name: decode(value) for name, value in (_members_at(path, []) or {}).items()}
    for turn_member in (partial(turn_lists, min_values=MIN_COLUMN_VALUES), turn_objects):
        turned = [
            inner._replace(what=inner.what.replace(",", f" of `{name}`,", 1))
            for name, members in objects.items()
            if members and (inner := turn_member(members))
        ]
        if len(turned) == 1:
            return turned[0]
    return None


def _turn(path: Path) -> Turned | None:
    """Turn a document, or the only object inside of it, into records."""
    members = _members_at(path, [])
    while members:
        if turned := turn(members):
            return turned
        if len(members) > 1:
            return None
        members = decode(*members.values())
    return None


def _members_at(path: Path, names: Sequence[str]) -> Members | None:
    if path.stat().st_size > MAX_TURNED_BYTES:
        return None
    members = decode(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    for name in names:
        members = decode((members or {}).get(name, b""))
    return members


def _write(turned: Turned, path: Path, folder: Path) -> _Records:
    note = f"the rows are {turned.what}; path='{WHOLE_PATH}' loads the document as it is"
    return _Records(write_lines(turned.records, path, folder), note)


def _note_of(chosen: NestedList) -> str:
    return f"the rows are the list `{chosen.path}` of the document"


def _left_out(document: JsonDocument, chosen: NestedList) -> str:
    """Return the part of a note that names other lists of objects."""
    others = [nested.path for nested in document.of_objects if nested is not chosen]
    if not others:
        return ""
    what = "the list" if len(others) == 1 else "the lists"
    named = list_names(others, MAX_NAMED_LISTS, " and ")
    return f"; {what} {named} left out, path={others[0]!r} loads one"


def _ask(path: Path, tables: Sequence[NestedList]) -> str:
    """Ask for one of several lists, the largest first."""
    by_size = sorted(tables, key=lambda nested: nested.start - nested.end)
    paths = [nested.path for nested in by_size]
    named = list_names(paths, MAX_NAMED_LISTS, " or ")
    return (
        f"{path.name} is one document with several lists of objects: {named}; "
        f"path={paths[0]!r} loads one, path='{WHOLE_PATH}' the document as one record"
    )


def _advice(document: JsonDocument) -> str:
    """Return which lists of a document that is loaded as one record could be loaded instead."""
    paths = [nested.path for nested in document.of_objects]
    if not paths:
        return ""
    named = list_names(paths, MAX_NAMED_LISTS, " or ")
    return f"the document is one record; path={paths[0]!r} loads the list {named}"

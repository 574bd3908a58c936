"""Records inside of wrappers: hits with their source, items of a scan, nodes, lines of actions."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from svc_notebook.data.loading.sources.encoding import fresh

# The members of one object, with the JSON of each value unchanged.
Members = dict[str, msgspec.Raw]
DECODER = msgspec.json.Decoder(Members)
JSON_NUMBER = re.compile(rb"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
WHOLE_NUMBER = re.compile(rb"-?\d+")
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
# The types of attributes in a scan of a key-value store.
SCALAR_TYPES, LIST_TYPES, NUMBERS = ("S", "B", "BOOL"), ("SS", "BS"), ("N", "NS")
ATTRIBUTE_TYPES = frozenset((*SCALAR_TYPES, *LIST_TYPES, *NUMBERS, "NULL", "M", "L"))
# The types of numbers in results of SPARQL, by the end of their names.
SPARQL_NUMBERS = ("integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger")
SPARQL_KINDS = (b'"uri"', b'"literal"', b'"typed-literal"', b'"bnode"')
BULK_ACTIONS = frozenset(("index", "create", "update", "delete"))
BULK_MEMBERS = frozenset(
    ("_index", "_id", "_type", "routing", "_routing", "version", "version_type", "pipeline",
     "retry_on_conflict", "require_alias", "if_seq_no", "if_primary_term", "parent")
)  # fmt: skip
# The types of values in documents of Firestore.
FIRESTORE_TEXTS = ("stringValue", "timestampValue", "referenceValue", "bytesValue")
FIRESTORE_TYPES = frozenset(
    (*FIRESTORE_TEXTS, "integerValue", "doubleValue", "booleanValue", "nullValue", "mapValue",
     "arrayValue", "geoPointValue")
)  # fmt: skip
EXTENDED_NUMBERS = ("$numberDecimal", "$numberDouble", "$numberLong", "$numberInt")


class Wrapper(NamedTuple):
    """A form of records: whether an object has it, the record inside, and the words of a note."""

    fits: Callable[[Members], bool]
    unwrap: Callable[[Members], bytes]
    what: str


def decode(text: bytes | msgspec.Raw) -> Members | None:
    """Return the members of an object; None for any other text."""
    try:
        return DECODER.decode(text)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def find_wrapper(texts: Sequence[bytes]) -> Wrapper | None:
    """Return the wrapper that all objects of a sample have."""
    members = [candidate for text in texts if (candidate := decode(text)) is not None]
    if not members or len(members) < len(texts):
        return None
    return next((candidate for candidate in WRAPPERS if all(map(candidate.fits, members))), None)


def unwrap_objects(
    sample: Sequence[bytes], texts: Iterable[bytes], path: Path, folder: Path
) -> tuple[Path, str] | None:
    """Write the records inside of objects into a file, one on each line; return it and a note.

    None if the first objects, the `sample`, have no wrapper that is known.
    """
    if _is_table_export(sample):
        tables = (decode(text) or {} for text in texts)
        rows = (row for table in tables if "data" in table for row in _items(table["data"]))
        note = "the rows are the `data` of the exported table"
        return write_lines(map(bytes, rows), path, folder), note
    if _is_bulk(sample):
        written, deletions = _write_bulk_documents(texts, path, folder)
        left = f", {deletions:,} deletions left out" if deletions else ""
        return written, f"the rows are the documents of a bulk request{left}"
    if wrapper := find_wrapper(sample):
        records = (_unwrap(text, wrapper) for text in texts)
        return write_lines(records, path, folder), f"each row is {wrapper.what}"
    return None


def _is_bulk(texts: Sequence[bytes]) -> bool:
    """Return whether objects are those of a bulk request: an action before each document."""
    first = decode(texts[0]) if texts else None
    return first is not None and _action_of(first) is not None


def _is_table_export(texts: Sequence[bytes]) -> bool:
    """Return whether objects are those of an export of one table by phpMyAdmin."""
    objects = [members for text in texts if (members := decode(text)) is not None]
    kinds = [bytes(members.get("type", b"")) for members in objects]
    tables = [table for table, kind in zip(objects, kinds, strict=True) if kind == b'"table"']
    others = {*kinds} - {b'"header"', b'"database"', b'"table"'}
    return kinds[:1] == [b'"header"'] and not others and len(tables) == 1 and "data" in tables[0]


def _write_bulk_documents(texts: Iterable[bytes], path: Path, folder: Path) -> tuple[Path, int]:
    """Write the documents of a bulk request; return the file and the number of deletions."""
    deletions = 0

    def documents() -> Iterator[bytes]:
        nonlocal deletions
        action: tuple[str, Members] | None = None
        for text in texts:
            members = decode(text)
            line_action = _action_of(members) if members is not None and action is None else None
            if line_action is None:
                yield _with_id(_body_of(text, members, action), action[1] if action else {})
                action = None
            elif line_action[0] == "delete":
                deletions += 1
            else:
                action = line_action

    return write_lines(documents(), path, folder), deletions


def write_lines(texts: Iterable[bytes], path: Path, folder: Path) -> Path:
    """Write texts of JSON into a file, one on each line."""
    target = fresh(folder, f"{path.stem}.ndjson")
    with target.open("wb") as sink:
        for text in texts:
            # Between tokens only: line ends in texts are escaped.
            sink.write(text.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n")
    return target


def add_id(value: bytes, text: bytes) -> bytes:
    """Return the JSON of an object with its objectID as the first member."""
    rest = text.lstrip()[1:]
    separator = b"" if rest.lstrip().startswith(b"}") else b","
    return b'{"objectID":' + value + separator + rest


def _unwrap(text: bytes, wrapper: Wrapper) -> bytes:
    """Return the record inside a wrapper; a text of another form as it is."""
    members = decode(text)
    return text if members is None or not wrapper.fits(members) else wrapper.unwrap(members)


def _action_of(members: Members) -> tuple[str, Members] | None:
    if len(members) != 1:
        return None
    ((name, value),) = members.items()
    facts = decode(bytes(value)) if name in BULK_ACTIONS else None
    return (name, facts) if facts is not None and facts.keys() <= BULK_MEMBERS else None


def _body_of(text: bytes, members: Members | None, action: tuple[str, Members] | None) -> bytes:
    """Return the document of a line; that of an update is one of its members."""
    is_update = action is not None and action[0] == "update"
    if is_update and members is not None and "doc" in members:
        return bytes(members["doc"])
    return text


def _with_id(text: bytes, facts: Members) -> bytes:
    """Add the id of a hit or an action as the objectID, unless the record has one."""
    members = decode(text)
    if members is None or "_id" not in facts or "objectID" in members:
        return text
    return add_id(bytes(facts["_id"]), text)


def is_object(value: msgspec.Raw) -> bool:
    """Return whether a JSON value is an object."""
    return bytes(memoryview(value)[:1]) == b"{"


def _has_object(name: str, *others: str) -> Callable[[Members], bool]:
    return lambda members: (
        name in members and members.keys() >= {*others} and is_object(members[name])
    )


def _member(name: str) -> Callable[[Members], bytes]:
    return lambda members: bytes(members[name])


def _is_typed_item(members: Members) -> bool:
    return bool(members) and all(_attribute(value) is not None for value in members.values())


def _attribute(value: msgspec.Raw) -> tuple[str, msgspec.Raw] | None:
    """Return the type of an attribute of a scan, and its value."""
    members = decode(value)
    if members is None or len(members) != 1:
        return None
    ((kind, inside),) = members.items()
    return (kind, inside) if kind in ATTRIBUTE_TYPES else None


def _write_item(members: Members) -> bytes:
    return _write_members(members, _write_attribute)


def _write_members(members: Members, write: Callable[[msgspec.Raw], bytes]) -> bytes:
    """Return an object of members, each value as `write` returns it."""
    return msgspec.json.encode({n: msgspec.Raw(write(value)) for n, value in members.items()})


def _write_attribute(value: msgspec.Raw) -> bytes:
    typed = _attribute(value)
    if typed is None:
        return bytes(value)
    kind, inside = typed
    if kind == "NULL":
        return b"null"
    if kind == "M":
        return _write_item(decode(bytes(inside)) or {})
    if kind == "N":
        return _as_number(bytes(inside))
    if kind in ("L", "NS"):
        write = _write_attribute if kind == "L" else lambda item: _as_number(bytes(item))
        return b"[" + b",".join(map(write, _items(inside))) + b"]"
    return bytes(inside)


def _items(value: msgspec.Raw | bytes) -> list[msgspec.Raw]:
    return msgspec.json.decode(value, type=list[msgspec.Raw])


def _as_number(text: bytes) -> bytes:
    """Return a number that is spelled as a JSON text; any other text as it is."""
    inside = text.strip(b'"')
    return inside if JSON_NUMBER.fullmatch(inside) else text


def _is_firestore_document(members: Members) -> bool:
    fields = decode(members.get("fields", b""))
    return fields is not None and "name" in members and all(map(_firestore_type, fields.values()))


def _firestore_type(value: msgspec.Raw) -> str:
    """Return the type of a value of a document of Firestore; empty for any other value."""
    members = decode(value)
    kind = next(iter(members)) if members is not None and len(members) == 1 else ""
    return kind if kind in FIRESTORE_TYPES else ""


def _write_firestore_document(members: Members) -> bytes:
    fields = decode(bytes(members["fields"])) or {}
    text = _write_members(fields, _write_firestore_value)
    if "objectID" in fields:
        return text
    name = str(msgspec.json.decode(members["name"])).rpartition("/")[2]
    return add_id(msgspec.json.encode(name), text)


def _write_firestore_value(value: msgspec.Raw) -> bytes:
    kind = _firestore_type(value)
    if not kind:
        return bytes(value)
    inside = (decode(value) or {})[kind]
    if kind == "mapValue":
        fields = decode((decode(inside) or {}).get("fields", b"")) or {}
        return _write_members(fields, _write_firestore_value)
    if kind == "arrayValue":
        items = _items((decode(inside) or {}).get("values", b"[]"))
        return b"[" + b",".join(map(_write_firestore_value, items)) + b"]"
    return _as_number(bytes(inside)) if kind == "integerValue" else bytes(inside)


def _is_binding(members: Members) -> bool:
    """Return whether an object is a row of a result of SPARQL."""
    values = [*map(decode, members.values())]
    return bool(values) and all(
        value is not None and "value" in value and bytes(value.get("type", b"")) in SPARQL_KINDS
        for value in values
    )


def _write_bound(value: msgspec.Raw) -> bytes:
    members = decode(bytes(value)) or {}
    kind = bytes(members.get("datatype", b"")).strip(b'"').decode(errors="replace")
    text = bytes(members["value"])
    if kind.endswith("boolean"):
        return text.strip(b'"') if text in (b'"true"', b'"false"') else text
    return _as_number(text) if kind.rpartition("#")[2] in SPARQL_NUMBERS else text


def _extended(value: msgspec.Raw) -> bytes | None:
    """Return the plain JSON of a value of extended JSON; None for any other value."""
    text = bytes(value)
    if not text.startswith(b"{") or b'"$' not in text[:40]:
        return None
    members = decode(text)
    if members is None or len(members) != 1:
        return None
    ((kind, inside),) = members.items()
    if kind in EXTENDED_NUMBERS:
        return _as_number(bytes(inside))
    if kind in ("$oid", "$uuid", "$symbol"):
        return bytes(inside)
    if kind == "$date":
        return _write_date(inside)
    return None


def _write_date(value: msgspec.Raw) -> bytes:
    """Return a date as text, also one that is in milliseconds since 1970."""
    text = _extended(value) or bytes(value)
    if not WHOLE_NUMBER.fullmatch(text):
        return text
    try:
        moment = EPOCH + dt.timedelta(milliseconds=int(text))
    except OverflowError:
        return text
    return msgspec.json.encode(moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"))


def _write_plain_value(value: msgspec.Raw) -> bytes:
    text = bytes(value)
    if b'"$' not in text:
        return text
    if (plain := _extended(value)) is not None:
        return plain
    if text.startswith(b"["):
        return b"[" + b",".join(map(_write_plain_value, _items(value))) + b"]"
    members = decode(text)
    return text if members is None else _write_members(members, _write_plain_value)


# In this order: an object can have several of these forms.
WRAPPERS: Sequence[Wrapper] = (
    Wrapper(
        _has_object("_source", "_id"),
        lambda members: _with_id(bytes(members["_source"]), members),
        "`_source` of each hit, with its `_id` as the objectID",
    ),
    Wrapper(
        lambda members: (
            members.keys() == {"Item"}
            and _is_typed_item(decode(bytes(members["Item"])) or {})
        ),
        lambda members: _write_item(decode(bytes(members["Item"])) or {}),
        "`Item` of each row, with plain values for its types",
    ),
    Wrapper(_is_firestore_document, _write_firestore_document,
            "the plain `fields` of each document, with its name as the objectID"),
    Wrapper(_is_typed_item, _write_item, "the plain values of its types"),
    Wrapper(_is_binding, lambda members: _write_members(members, _write_bound),
            "the `value` of each variable"),
    Wrapper(
        lambda members: members.keys() <= {"node", "cursor", "__typename"}
        and _has_object("node")(members),
        _member("node"),
        "`node` of each edge",
    ),
    Wrapper(_has_object("doc", "id", "key"), _member("doc"), "`doc` of each row"),
    Wrapper(
        # An item of a listing, which has them as the children of its own data.
        lambda members: (
            members.keys() == {"kind", "data"}
            and _has_object("data")(members)
            and "children" not in (decode(bytes(members["data"])) or {})
        ),
        _member("data"),
        "`data` of each item",
    ),
    Wrapper(
        lambda members: members.keys() <= {"action", "body", "indexName"}
        and _has_object("body", "action")(members),
        _member("body"),
        "`body` of each operation",
    ),
    Wrapper(lambda members: any(_extended(value) is not None for value in members.values()),
            lambda members: _write_members(members, _write_plain_value),
            "plain values for the types of MongoDB"),
)  # fmt: skip

"""XML files as records: the elements that repeat, such as the items of a feed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from svc_notebook.core.display import list_names
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.encoding.json_sql import NUMBER
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.sources.json_documents import open_lines
from svc_notebook.data.loading.sources.markup_tables import (
    import_lxml,
    is_spreadsheet,
    open_table,
    read_spreadsheet,
)
from svc_notebook.data.loading.sources.read_limits import check_cells
from svc_notebook.data.loading.table import SourceTable
from svc_notebook.errors import BadInput, did_you_mean

# Names of elements that are records, in lower case; of several, the most frequent one.
RECORD_NAMES = frozenset(
    ("item", "entry", "url", "sitemap", "row", "record", "product", "offer", "document", "doc",
     "article", "book", "job", "post", "page", "listing", "person", "customer", "order", "feature",
     "placemark", "wpt", "trkpt")
)  # fmt: skip
MIN_RECORDS = 2
JSON_NUMBER = re.compile(NUMBER)
MAX_NAMED_PATHS = 5
XML_SPACES = ("http://www.w3.org/XML/1998/namespace",)
Path_ = tuple[str, ...]


def open_xml(paths: Sequence[Path], name: str, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of the repeated elements of XML files.

    Their texts are columns whose types are inferred, if no element repeats inside of a record;
    else the records are JSON.
    """
    etree = import_lxml(name)
    records: list[dict[str, Any]] = []
    notes: dict[str, None] = {}
    for path in paths:
        try:
            if is_spreadsheet(path, etree):
                return open_table(read_spreadsheet(path, etree), name, options, db)
            chosen, note = _choose(_count_paths(path, etree), name, options.path)
            records += _read_records(path, chosen, etree)
        except etree.XMLSyntaxError as error:
            raise BadInput(
                f"{name} is not valid XML: {error}; check that it is complete"
            ) from error
        notes[note] = None
    columns = list(dict.fromkeys(column for record in records for column in record))
    _make_lists(records)
    if all(isinstance(value, str) for record in records for value in record.values()):
        size = sum(path.stat().st_size for path in paths)
        check_cells(len(records) + 1, len(columns), size, name)
        rows = [columns, *([record.get(column, "") for column in columns] for record in records)]
        table = open_table(rows, name, options, db)
    else:
        texts = _write(records, columns, fresh(db.folder, "records.ndjson"))
        table = open_lines([texts], name, options, db)
    return replace(table, notes=(*notes, *table.notes))


def _make_lists(records: Sequence[dict[str, Any]]) -> None:
    """Make lists of the values of elements that repeat in some record."""
    repeated = {
        name for record in records for name, value in record.items() if isinstance(value, list)
    }
    for record in records:
        for name in repeated & record.keys():
            if not isinstance(record[name], list):
                record[name] = [record[name]] if record[name] not in ("", {}) else []


def _iterate(path: Path, etree: Any) -> Iterator[tuple[str, Any]]:
    """Parse a file as a stream, without entities, document types and the network."""
    # The parser leaves a file that it opened itself open after an error.
    with path.open("rb") as file:
        yield from etree.iterparse(
            file, events=("start", "end"), resolve_entities=False, load_dtd=False,
            no_network=True, huge_tree=False, remove_comments=True, remove_pis=True,
        )  # fmt: skip


def _count_paths(path: Path, etree: Any) -> Counter[Path_]:
    """Count the elements with elements or attributes inside, by the names on their path."""
    counts: Counter[Path_] = Counter()
    names: list[str] = []
    has_elements = [False]
    for event, element in _iterate(path, etree):
        if event == "start":
            names.append(_local(element))
            has_elements[-1] = True
            has_elements.append(False)
            continue
        if has_elements.pop() or element.attrib:
            counts[tuple(names)] += 1
        names.pop()
        _forget(element)
    return counts


def _choose(counts: Counter[Path_], name: str, element: str | None) -> tuple[Path_, str]:
    """Return the path of the elements that are records, and a note about it."""
    if element:
        return _find_path(counts, name, element), f"each row is an element `{element}`"
    inner = [path for path in counts if len(path) > 1]
    repeated = [path for path in inner if counts[path] >= MIN_RECORDS]
    for group in (_list_usual(inner, counts), repeated, inner):
        if outer := [path for path in group if not _is_inside(path, group)]:
            chosen = max(outer, key=lambda path: (counts[path], -len(path)))
            shown = ".".join(chosen)
            return chosen, f"each row is an element `{shown}`{_other_paths(counts, chosen)}"
    raise BadInput(f"{name} has no elements that are records; pass its rows as a list of dicts")


def _find_path(counts: Counter[Path_], name: str, element: str) -> Path_:
    paths = {".".join(path): path for path in counts}
    if element not in paths:
        raise BadInput(
            f"{name} has no elements `{element}`{did_you_mean(element, list(paths))}; its "
            f"elements: {list_names(list(paths), MAX_NAMED_PATHS)}"
        )
    return paths[element]


def _list_usual(paths: Sequence[Path_], counts: Counter[Path_]) -> list[Path_]:
    """Return the paths of elements with the usual names of records."""
    usual = [path for path in paths if path[-1].lower() in RECORD_NAMES]
    return [path for path in usual if not _contains_records(path, usual, counts)]


def _is_inside(path: Path_, others: Sequence[Path_]) -> bool:
    return any(path[: len(other)] == other for other in others if other != path)


def _contains_records(path: Path_, usual: Sequence[Path_], counts: Counter[Path_]) -> bool:
    """Return whether the only element of a path is the document around records."""
    is_document = counts[path] < MIN_RECORDS and path[-1].lower() in ("document", "doc", "page")
    return is_document and any(
        counts[other] >= MIN_RECORDS for other in usual if _is_inside(other, [path])
    )


def _other_paths(counts: Counter[Path_], chosen: Path_) -> str:
    others = [
        ".".join(path)
        for path, count in counts.most_common()
        if count >= MIN_RECORDS and path[: len(chosen)] != chosen and chosen[: len(path)] != path
    ]
    shown = list_names(others, MAX_NAMED_PATHS)
    return f"; path={others[0]!r} loads others: {shown}" if others else ""


def _read_records(path: Path, chosen: Path_, etree: Any) -> Iterator[dict[str, Any]]:
    names: list[str] = []
    for event, element in _iterate(path, etree):
        if event == "start":
            names.append(_local(element))
            continue
        if tuple(names) == chosen:
            value = _value(element)
            yield value if isinstance(value, dict) else {names[-1]: value}
        names.pop()
        # What is inside of a record is read with the record.
        if len(names) < len(chosen):
            _forget(element)


def _forget(element: Any) -> None:
    """Free an element that was read, and those before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _local(element: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _value(element: Any) -> Any:
    """Return an element as a text, or as a dict of its attributes and elements."""
    members = _read_attributes(element)
    # An entity that is not resolved is a child without a name.
    children = [child for child in element if isinstance(child.tag, str)]
    text = (element.text or "").strip()
    if _is_mixed(element):
        text, children = " ".join("".join(element.itertext()).split()), []
    local = Counter(_local(child) for child in children)
    for child in children:
        name = _name(child) if local[_local(child)] > 1 else _local(child)
        _add_member(members, name, _value(child))
    if not members:
        return text
    if text:
        members["text" if "text" not in members else "_text"] = text
    return members


def _read_attributes(element: Any) -> dict[str, Any]:
    return {
        name.rpartition("}")[2]: value
        for name, value in element.attrib.items()
        if not name.startswith("{") or name[1:].partition("}")[0] not in XML_SPACES
    }


def _add_member(members: dict[str, Any], name: str, value: Any) -> None:
    """Add a value; several values of one name are a list."""
    if name not in members:
        members[name] = value
    elif isinstance(members[name], list):
        members[name].append(value)
    else:
        members[name] = [members[name], value]


def _is_mixed(element: Any) -> bool:
    """Return whether there is text between elements, which is a text with markup then."""
    return any((child.tail or "").strip() for child in element)


def _name(child: Any) -> str:
    """Return the name of an element; with its prefix if another one has the same local name."""
    name = _local(child)
    tags = {other.tag for other in child.getparent() if other.tag and _local(other) == name}
    return f"{child.prefix}:{name}" if len(tags) > 1 and child.prefix else name


def _write(records: Sequence[dict[str, Any]], columns: Sequence[str], target: Path) -> Path:
    """Write records as JSON lines; a column of which all values are numbers has numbers."""
    numbers = {column for column in columns if _are_numbers(records, column)}
    with target.open("wb") as sink:
        for record in records:
            members = {
                name: msgspec.Raw(value.encode()) if name in numbers else value
                for name, value in record.items()
                if value not in ("", {})
            }
            sink.write(msgspec.json.encode(members) + b"\n")
    return target


def _are_numbers(records: Sequence[dict[str, Any]], column: str) -> bool:
    values = [value for record in records if (value := record.get(column, "")) != ""]
    return bool(values) and all(
        isinstance(value, str) and JSON_NUMBER.fullmatch(value) for value in values
    )

"""Synonyms, rules, dictionary entries and the like, as objects, tables and files.

In a CSV file a text stands as it is, everything else as JSON; an empty cell is no member. A text
that is empty, begins with a quote or holds a return is JSON, too: what is written is what is read.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from pandas import DataFrame, isna
from pandas.api.types import is_scalar

from svc_notebook.api.validation import (
    UnknownName,
    advise_extra,
    check_members,
    hints,
    literals,
    place,
)
from svc_notebook.client.curation import ResourceKind, with_id
from svc_notebook.errors import BadInput, BadRecord, did_you_mean, unreadable
from svc_notebook.files import write_named_file
from svc_notebook.functions.text_values import read_word

# One object, several, a table with a row for each, or the path of a file.
Documents = Mapping[str, Any] | Iterable[Mapping[str, Any]] | DataFrame | str | os.PathLike[str]
Reader = Callable[[str, Any], list[dict[str, Any]]]


def take_curated(given: Any, kind: ResourceKind) -> tuple[list[dict[str, Any]], list[str]]:
    """Return synonyms or rules, and the objectIDs that were made for those without one."""
    found = take_objects(given, kind.shape, kind.name)
    named = [with_id(kind, document) for document in found]
    made = [new["objectID"] for new, old in zip(named, found, strict=True) if new is not old]
    return take_documents(named, kind.shape, kind.name), made


def take_objects(given: Any, shape: Any, what: str) -> Sequence[Mapping[str, Any]]:
    """Return what was given as objects of any kind; raises `BadInput` naming the place."""
    found = _objects(given, shape, what)
    for number, document in enumerate(found):
        if not isinstance(document, Mapping):
            raise BadInput(f"{what}[{number}] should be an object, not {_kind(document)}")
    return found


def take_documents(given: Any, shape: Any, what: str) -> list[dict[str, Any]]:
    """Return what was given as objects of a shape; raises `BadInput` naming the place."""
    found = take_objects(given, shape, what)
    if shape is dict:
        return [dict(document) for document in found]
    return [
        _checked(document, shape, place("", f"{what}[{number}]"))
        for number, document in enumerate(found)
    ]


def _objects(given: Any, shape: Any, what: str) -> Sequence[Any]:
    if isinstance(given, (str, os.PathLike)):
        return read_file(Path(given), shape)
    if isinstance(given, DataFrame):
        return [_present(row) for row in given.to_dict("records")]
    if isinstance(given, Mapping):
        return [given]
    if isinstance(given, Iterable):
        return list(given)
    raise BadInput(f"{what} are objects, a DataFrame or a file, not {_kind(given)}")


def _kind(value: object) -> str:
    return type(value).__name__


def _checked(document: Any, shape: Any, where: str) -> dict[str, Any]:
    try:
        return check_members(document, shape, where)
    except UnknownName as error:
        raise advise_extra(error) from None


def _present(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Leave out what a table has to have and an object has not."""
    plain = {str(name): _plain(value) for name, value in row.items()}
    return {name: value for name, value in plain.items() if not _is_missing(value)}


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def _is_missing(value: Any) -> bool:
    return value == "" if isinstance(value, str) else bool(is_scalar(value) and isna(value))


def read_file(path: Path, shape: Any) -> list[dict[str, Any]]:
    """Read a CSV, JSON or NDJSON file."""
    reader: Reader = _by_suffix(path, READERS)
    try:
        with path.expanduser().open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not text in UTF-8") from None
    except OSError as error:
        raise unreadable(path.expanduser(), error) from None
    return reader(text, shape)


def write_file(path: Path, documents: Sequence[Mapping[str, Any]], shape: Any) -> None:
    """Write a CSV, JSON or NDJSON file; it is there whole, or as it was."""
    text = _by_suffix(path, WRITERS)(documents, shape)
    write_named_file(path.expanduser(), text)


def _by_suffix(path: Path, known: Mapping[str, Any]) -> Any:
    if path.suffix.lower() not in known:
        raise BadInput(
            f"{path} should end in one of {', '.join(known)}{did_you_mean(path.suffix, known)}"
        )
    return known[path.suffix.lower()]


def read_json(text: str, shape: Any) -> list[dict[str, Any]]:
    """Read an array of objects, or one."""
    found = _decode(text)
    return found if isinstance(found, list) else [found]


def read_lines(text: str, shape: Any) -> list[dict[str, Any]]:
    """Read an object from each line."""
    return [
        _decode(line, number) for number, line in enumerate(text.split("\n"), 1) if line.strip()
    ]


def _decode(text: str, line: int | None = None) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        at = f"line {line}: " if line else ""
        raise BadInput(f"{at}not valid JSON: {error}") from None


def read_csv(text: str, shape: Any) -> list[dict[str, Any]]:
    """Read an object from each row; the first names the members."""
    names, *rows = _rows(text) or [[]]
    kinds = hints(shape)
    for name in names:
        if name not in kinds:
            advice = _comma_meant(name) or did_you_mean(name, kinds)
            raise BadInput(f"no column is called `{name}`{advice}")
    if len(set(names)) < len(names):
        raise BadInput(f"two columns have one name: {', '.join(names)}")
    return [_document(number, names, row, kinds) for number, row in enumerate(rows, 1) if any(row)]


def _comma_meant(head: str) -> str:
    return "; columns have commas between them" if re.search("[;\t]", head) else ""


def _rows(text: str) -> list[list[str]]:
    """Read rows, cells of any length among them."""
    before = csv.field_size_limit(sys.maxsize)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise BadInput(f"not a CSV file: {error}") from None
    finally:
        csv.field_size_limit(before)


def _document(
    number: int, names: Sequence[str], row: Sequence[str], kinds: Mapping[str, Any]
) -> dict[str, Any]:
    if len(row) != len(names):
        raise BadRecord(f"row {number} has {len(row)} cells, not {len(names)}", row=number)
    cells = zip(names, row, strict=True)
    return {name: _read_cell(number, name, cell, kinds[name]) for name, cell in cells if cell}


def _read_cell(row: int, name: str, cell: str, kind: Any) -> Any:
    if _is_text(kind) and cell[0] != '"':
        return cell
    try:
        return _decode(cell) if _is_text(kind) else read_word(_spelled(cell), kind, name)
    except BadInput as error:
        raise BadRecord(f"row {row}: {error}", row=row, column=name, value=cell) from None


def _spelled(cell: str) -> str:
    """Write truth values as JSON does, whatever a spreadsheet made of them."""
    return cell.lower() if cell.lower() in ("true", "false") else cell


def _is_text(kind: Any) -> bool:
    return kind is str or bool(literals(kind))


def write_json(documents: Sequence[Mapping[str, Any]], shape: Any) -> str:
    """Write an array, in lines that can be compared."""
    return msgspec.json.format(msgspec.json.encode(documents), indent=2).decode() + "\n"


def write_lines(documents: Sequence[Mapping[str, Any]], shape: Any) -> str:
    """Write an object in each line."""
    return "".join(f"{msgspec.json.encode(document).decode()}\n" for document in documents)


def write_csv(documents: Sequence[Mapping[str, Any]], shape: Any) -> str:
    """Write a row for each object, with the columns that any of them has."""
    kinds = hints(shape)
    met = {name for document in documents for name in document}
    names = [name for name in kinds if name in met or name == "objectID"]
    if lost := sorted(met - set(names)):
        raise BadInput(f"a CSV file has no place for `{lost[0]}`; write a .json file")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(
        [_write_cell(document, name, kinds[name]) for name in names] for document in documents
    )
    return text.getvalue()


def _write_cell(document: Mapping[str, Any], name: str, kind: Any) -> str:
    if name not in document:
        return ""
    value = document[name]
    if _is_text(kind) and isinstance(value, str) and _stays(value):
        return value
    return msgspec.json.encode(value).decode()


def _stays(text: str) -> bool:
    """Whether a cell gives a text back as it is: Python 3.11 would not quote a lone return."""
    return text[:1] not in ("", '"') and not {"\r", "\0"} & set(text)


READERS: dict[str, Reader] = {
    ".csv": read_csv,
    ".json": read_json,
    ".ndjson": read_lines,
    ".jsonl": read_lines,
}
WRITERS = {
    ".csv": write_csv,
    ".json": write_json,
    ".ndjson": write_lines,
    ".jsonl": write_lines,
}

"""Synonyms, rules, dictionary entries and similar objects in memory, in tables and in files.

In a CSV file, text is literal and every other value is JSON; an empty cell is a missing member.
Text that is empty, starts with a quote or contains a carriage return is JSON too, so that reading a
written file returns the same objects.
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

from svc_notebook.core.api.shapes import Synonym
from svc_notebook.core.api.validation import (
    UnknownName,
    advise_extra,
    check_members,
    hints,
    literals,
    place,
)
from svc_notebook.core.files import expand_path, write_named_file
from svc_notebook.data.client import ResourceKind, with_id
from svc_notebook.errors import BadInput, BadRecord, did_you_mean, unreadable
from svc_notebook.faces.functions.text_values import read_word

# One object, several, a table with a row for each, or the path of a file.
Documents = Mapping[str, Any] | Iterable[Mapping[str, Any]] | DataFrame | str | os.PathLike[str]
_FILE_NAME = re.compile(r"[^,]*\.[A-Za-z]\w{1,6}")
ARROW = "=>"  # of a synonym in one direction
MAX_SHOWN_CHARACTERS = 60
Reader = Callable[[str, Any], list[dict[str, Any]]]


def take_curated(given: Any, kind: ResourceKind) -> tuple[list[dict[str, Any]], list[str]]:
    """Return synonyms or rules, and the objectIDs generated for those without one."""
    if kind.shape is Synonym:
        given = synonyms_of_words(given)
    objects = take_objects(given, kind.shape, kind.name)
    named = [with_id(kind, document) for document in objects]
    made = [new["objectID"] for new, old in zip(named, objects, strict=True) if new is not old]
    return take_documents(named, kind.shape, kind.name), made


def synonyms_of_words(given: Any) -> Any:
    """Return the synonyms that words mean; anything else as it is.

    `"sofa, couch"` and `["sofa", "couch"]` are one synonym, `"tv => television, screen"` works in
    one direction, and each line of a text, or each such text of a list, is a synonym.
    """
    return [_synonym_of(line) for line in _list_lines(given) if line.strip()] or given


def _list_lines(given: Any) -> list[str]:
    """Return the text of each synonym; none if the synonyms are not given as words."""
    if isinstance(given, str):
        is_words = _has_several(given) and not _is_file_name(given)
        return given.strip().splitlines() if is_words else []
    if not isinstance(given, (list, tuple)) or not all(isinstance(text, str) for text in given):
        return []
    return [*given] if any(map(_has_several, given)) else [", ".join(given)]


def _has_several(text: str) -> bool:
    return "," in text or ARROW in text


def _synonym_of(line: str) -> dict[str, Any]:
    source, arrow, rest = line.rpartition(ARROW)
    words = [word.strip() for word in rest.split(",") if word.strip()]
    if arrow:
        return {"type": "oneWaySynonym", "input": source.strip(), "synonyms": words}
    if len(words) < 2:
        raise BadInput(f"a synonym needs two or more words, such as 'sofa, couch', not {line!r}")
    return {"type": "synonym", "synonyms": words}


def _is_file_name(text: str) -> bool:
    """Return whether a text is meant as the name of a file: by its suffix or as one exists."""
    if "\n" in text:
        return False
    path = Path(text)
    try:
        return bool(_FILE_NAME.fullmatch(text)) or expand_path(path).is_file()
    except (BadInput, OSError, ValueError):  # too long for a name, or of an unknown user
        return False


def take_objects(given: Any, shape: Any, what: str) -> Sequence[Mapping[str, Any]]:
    """Return what was given as objects of any kind; raises `BadInput` naming the place."""
    objects = _objects(given, shape, what)
    for number, document in enumerate(objects):
        if not isinstance(document, Mapping):
            raise BadInput(f"{what}[{number}] must be an object, not {_kind(document)}")
    return objects


def take_documents(given: Any, shape: Any, what: str) -> list[dict[str, Any]]:
    """Return what was given as objects of a shape; raises `BadInput` naming the place."""
    objects = take_objects(given, shape, what)
    if shape is dict:
        return [dict(document) for document in objects]
    return [
        _checked(document, shape, place("", f"{what}[{number}]"))
        for number, document in enumerate(objects)
    ]


def _objects(given: Any, shape: Any, what: str) -> Sequence[Any]:
    if isinstance(given, str) and not _is_file_name(given):
        examples = " or words such as 'sofa, couch'" if shape is Synonym else ""
        shown = given if len(given) <= MAX_SHOWN_CHARACTERS else f"{given[:MAX_SHOWN_CHARACTERS]}…"
        raise BadInput(
            f"there is no file {shown!r}; pass {what} as objects, a DataFrame{examples}, or the "
            f"path of a {', '.join(READERS)} file"
        )
    if isinstance(given, (str, os.PathLike)):
        return read_file(Path(given), shape)
    if isinstance(given, DataFrame):
        return [_without_missing(row) for row in given.to_dict("records")]
    if isinstance(given, Mapping):
        return [given]
    if isinstance(given, Iterable):
        return list(given)
    raise BadInput(f"{what} must be objects, a DataFrame or a file, not {_kind(given)}")


def _kind(value: object) -> str:
    return type(value).__name__


def _checked(document: Any, shape: Any, where: str) -> dict[str, Any]:
    try:
        return check_members(document, shape, where)
    except UnknownName as error:
        raise advise_extra(error) from None


def _without_missing(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Remove missing values: every row of a table has all columns, an object need not."""
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
        with expand_path(path).open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise BadInput(f"{path} is not UTF-8 text") from None
    except OSError as error:
        raise unreadable(expand_path(path), error) from None
    return reader(text, shape)


def write_file(path: Path, documents: Sequence[Mapping[str, Any]], shape: Any) -> None:
    """Write a CSV, JSON or NDJSON file atomically."""
    text = _by_suffix(path, WRITERS)(documents, shape)
    write_named_file(expand_path(path), text)


def _by_suffix(path: Path, formats: Mapping[str, Any]) -> Any:
    if path.suffix.lower() not in formats:
        raise BadInput(
            f"unsupported format `{path.suffix}` of {path}; use {', '.join(formats)}"
            f"{did_you_mean(path.suffix, formats)}"
        )
    return formats[path.suffix.lower()]


def read_json(text: str, shape: Any) -> list[dict[str, Any]]:
    """Read an array of objects, or one object."""
    content = _decode(text)
    return content if isinstance(content, list) else [content]


def read_lines(text: str, shape: Any) -> list[dict[str, Any]]:
    """Read one object per line."""
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
    """Read one object per row; the first row contains the names of the members."""
    names, *rows = _rows(text) or [[]]
    kinds = hints(shape)
    for name in names:
        if name not in kinds:
            advice = _comma_meant(name) or did_you_mean(name, kinds)
            raise BadInput(f"unknown column `{name}`{advice}")
    if len(set(names)) < len(names):
        raise BadInput(f"duplicate column names: {', '.join(names)}")
    return [_document(number, names, row, kinds) for number, row in enumerate(rows, 1) if any(row)]


def _comma_meant(head: str) -> str:
    return "; separate columns by commas" if re.search("[;\t]", head) else ""


def _rows(text: str) -> list[list[str]]:
    """Read the rows of a CSV, with cells of any length."""
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
        raise BadRecord(f"row {number} has {len(row)} cells, expected {len(names)}", row=number)
    cells = zip(names, row, strict=True)
    return {name: _read_cell(number, name, cell, kinds[name]) for name, cell in cells if cell}


def _read_cell(row: int, name: str, cell: str, kind: Any) -> Any:
    if _is_text(kind) and cell[0] != '"':
        return cell
    try:
        return _decode(cell) if _is_text(kind) else read_word(_json_spelling(cell), kind, name)
    except BadInput as error:
        raise BadRecord(f"row {row}: {error}", row=row, column=name, value=cell) from None


def _json_spelling(cell: str) -> str:
    """Return truth values in the spelling of JSON; spreadsheets write TRUE and FALSE."""
    return cell.lower() if cell.lower() in ("true", "false") else cell


def _is_text(kind: Any) -> bool:
    return kind is str or bool(literals(kind))


def write_json(documents: Sequence[Mapping[str, Any]], shape: Any) -> str:
    """Write an indented array, so that versions can be compared line by line."""
    return msgspec.json.format(msgspec.json.encode(documents), indent=2).decode() + "\n"


def write_lines(documents: Sequence[Mapping[str, Any]], shape: Any) -> str:
    """Write one object per line."""
    return "".join(f"{msgspec.json.encode(document).decode()}\n" for document in documents)


def write_csv(documents: Sequence[Mapping[str, Any]], shape: Any) -> str:
    """Write one row per object, with the columns that occur in any object."""
    kinds = hints(shape)
    used = {name for document in documents for name in document}
    names = [name for name in kinds if name in used or name == "objectID"]
    if unknown := sorted(used - set(names)):
        raise BadInput(f"a CSV file cannot contain `{unknown[0]}`; write a .json file")
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
    if _is_text(kind) and isinstance(value, str) and _is_literal(value):
        return value
    return msgspec.json.encode(value).decode()


def _is_literal(text: str) -> bool:
    """Return whether text is literal in a cell; Python 3.11 does not quote a carriage return."""
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

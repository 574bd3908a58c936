"""Lists of objects nested in one JSON document, such as `{"products": [{…}, {…}]}`."""

from __future__ import annotations

import mmap
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.loading.sources.encoding import fresh

DEEPER = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}
TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:]', re.DOTALL)
REST = re.compile(rb"\s*\Z")
FIRST_IS_OBJECT = re.compile(rb"\[\s*\{")
PIECE_BYTES = 1 << 20
MAX_NAMED = 5


@dataclass(frozen=True)
class List:
    """A list of a document: the names that lead to it and its place in the file, in bytes."""

    names: tuple[str, ...]
    start: int
    end: int
    of_objects: bool

    @property
    def path(self) -> str:
        """The names that lead to it, joined by dots."""
        return ".".join(self.names)


@dataclass
class JsonDocument:
    """The lists of one document that are not inside another list, and how many members it has."""

    lists: list[List] = field(default_factory=list)
    members: int = 0

    @property
    def of_objects(self) -> list[List]:
        """The lists that begin with an object."""
        return [each for each in self.lists if each.of_objects]

    @property
    def only_list(self) -> List | None:
        """The list of objects that is its single member."""
        found = [each for each in self.of_objects if len(each.names) == 1]
        return found[0] if self.members == 1 and found else None


def take_list(path: Path, wanted: str | None, folder: Path) -> tuple[Path, str]:
    """Copy the list that holds a file's records; return where it is, and what a plan says of it.

    Without `wanted` that is the single member of its only document; where there is none, the file
    is returned as it is.
    """
    document = read_document(path)
    if document is None and wanted is not None:
        raise BadInput(f"{path.name} is not one JSON object; `path` names a list inside of one")
    if document is None:
        return path, ""
    chosen = document.only_list if wanted is None else _named(document, wanted, path.name)
    if chosen is None:
        return path, _advice(document)
    return _copied(path, chosen, folder), f"the rows are the list `{chosen.path}` of the document"


def read_document(path: Path) -> JsonDocument | None:
    """Find the lists of a file that is one JSON object; nothing where it is anything else."""
    if not path.stat().st_size:
        return None
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        return _scan(content)


def _scan(content: mmap.mmap) -> JsonDocument | None:
    """Read the first object of a file; its end has to be that of the file."""
    document = JsonDocument()
    # Of each object around, the member that is being read.
    names: list[bytes] = []
    text, start, depth = b"", 0, 0
    for token in TOKEN.finditer(content):
        mark = token[0]
        if depth:  # of a list, only the end is looked for
            depth += DEEPER.get(mark, 0)
            if not depth:
                of_objects = FIRST_IS_OBJECT.match(content, start) is not None
                document.lists.append(List(_decoded(names), start, token.end(), of_objects))
        elif mark == b"{":
            names.append(b"")
        elif mark.startswith(b'"'):
            text = mark
        elif not names:
            return None
        elif mark == b":":
            names[-1] = text
            document.members += len(names) == 1
        elif mark == b"[":
            start, depth = token.start(), 1
        elif mark == b"}":
            names.pop()
            if not names:
                return document if REST.match(content, token.end()) else None
    return None


def _decoded(names: Sequence[bytes]) -> tuple[str, ...]:
    try:
        return tuple(msgspec.json.decode(name, type=str) for name in names)
    except (msgspec.MsgspecError, UnicodeError):
        return ()  # DuckDB tells what is wrong with it


def _named(document: JsonDocument, wanted: str, name: str) -> List:
    found = next((each for each in document.lists if each.path == wanted), None)
    if found is None:
        known = [each.path for each in document.lists]
        there = f"; there is {_listed(known)}" if known else ""
        raise BadInput(f"{name} has no list `{wanted}`{did_you_mean(wanted, known) or there}")
    return found


def _advice(document: JsonDocument) -> str:
    """Say which lists of a document that is loaded as one record could be loaded instead."""
    paths = [each.path for each in document.of_objects]
    if not paths:
        return ""
    return f"the document is one record; path={paths[0]!r} loads the list {_listed(paths)}"


def _listed(paths: Sequence[str]) -> str:
    more = ", …" if len(paths) > MAX_NAMED else ""
    return " or ".join(f"`{path}`" for path in paths[:MAX_NAMED]) + more


def _copied(path: Path, chosen: List, folder: Path) -> Path:
    target = fresh(folder, path.name)
    left = chosen.end - chosen.start
    with path.open("rb") as source, target.open("wb") as sink:
        source.seek(chosen.start)
        while piece := source.read(min(PIECE_BYTES, left)):
            sink.write(piece)
            left -= len(piece)
    return target

"""The lists inside a JSON document, found by its tokens: nothing of the document is parsed."""

from __future__ import annotations

import mmap
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import msgspec

from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.errors import BadInput

NESTING = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}
TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:]', re.DOTALL)
BLANK_REST = re.compile(rb"\s*\Z")
FIRST_IS_OBJECT = re.compile(rb"\[\s*\{")
COPY_BYTES = 1 << 20
# The items of a list by which its shape is judged.
MAX_SAMPLE_ITEMS = 100
# The arrays and objects inside each other beyond which a text is not searched further.
MAX_DEPTH = 10_000


@dataclass(frozen=True)
class NestedList:
    """A list inside a document: the names on the path to it, and its first and last byte."""

    names: tuple[str, ...]
    start: int
    end: int
    of_objects: bool

    @property
    def path(self) -> str:
        """The names on the path to it, joined by dots."""
        return ".".join(self.names)


@dataclass
class JsonDocument:
    """The lists of one document that are not inside another list, and the names of its members."""

    lists: list[NestedList] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)

    def has_any(self, names: Collection[str]) -> bool:
        """Return whether a member has one of some names, in lower case."""
        return any("".join(_decode([name])).lower() in names for name in self.names)

    @property
    def of_objects(self) -> list[NestedList]:
        """The lists whose first item is an object."""
        return [nested for nested in self.lists if nested.of_objects]


def read_document(path: Path) -> JsonDocument | None:
    """Find the lists of a file that is one JSON object; None for any other file."""
    if not path.stat().st_size:
        return None
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return _scan(content)


def _scan(content: mmap.mmap) -> JsonDocument | None:
    """Read the first object of a file; only blanks may follow it."""
    document = JsonDocument()
    # For each enclosing object, the name of the member that is being read.
    names: list[bytes] = []
    text, start, depth = b"", 0, 0
    for token in TOKEN.finditer(content):
        mark = token[0]
        if depth:  # inside a list, only its end matters
            depth += NESTING.get(mark, 0)
            if depth > MAX_DEPTH:
                return None
            if not depth:
                of_objects = FIRST_IS_OBJECT.match(content, start) is not None
                document.lists.append(NestedList(_decode(names), start, token.end(), of_objects))
        elif mark == b"{":
            names.append(b"")
        elif mark.startswith(b'"'):
            text = mark
        elif not names:
            return None
        elif mark == b":":
            names[-1] = text
            if len(names) == 1:
                document.names.append(text)
        elif mark == b"[":
            start, depth = token.start(), 1
        elif mark == b"}":
            names.pop()
            if not names:
                return document if BLANK_REST.match(content, token.end()) else None
    return None


def _decode(names: Sequence[bytes]) -> tuple[str, ...]:
    try:
        return tuple(msgspec.json.decode(name, type=str) for name in names)
    except (msgspec.MsgspecError, UnicodeError):
        return ()  # DuckDB reports the error


def iterate_objects(path: Path, start: int = 0) -> Iterator[bytes]:
    """Yield the objects of a list that begins at a byte, or of a file of objects, as their JSON."""
    if not path.stat().st_size:
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        first = 0
        outer = int(content[start : start + 1] == b"[")
        for token, step, depth in _read_tokens(content, start, path):
            if step > 0 and depth == outer + 1:
                first = token.start()
            elif step < 0 and depth == outer and token[0] == b"}":
                yield content[first : token.end()]
            if outer and not depth:
                return


def _read_tokens(
    content: mmap.mmap, start: int, path: Path
) -> Iterator[tuple[re.Match[bytes], int, int]]:
    """Yield tokens with the change of the depth by each, and the depth after it."""
    depth = 0
    for token in TOKEN.finditer(content, start):
        step = NESTING.get(token[0], 0)
        depth += step
        if depth > MAX_DEPTH:
            raise BadInput(
                f"{path.name} cannot be read: more than {MAX_DEPTH:,} lists or objects "
                "are inside each other; check that it is complete"
            )
        yield token, step, depth


def sample_objects(path: Path, start: int = 0) -> list[bytes]:
    """Return the first objects of a list, or of a file of objects."""
    return list(islice(iterate_objects(path, start), MAX_SAMPLE_ITEMS))


def copy_list(path: Path, chosen: NestedList, folder: Path) -> Path:
    """Copy a list of a document into a file of its own."""
    target = fresh(folder, path.name)
    left = chosen.end - chosen.start
    with path.open("rb") as source, target.open("wb") as sink:
        source.seek(chosen.start)
        while piece := source.read(min(COPY_BYTES, left)):
            sink.write(piece)
            left -= len(piece)
    return target

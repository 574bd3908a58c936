"""Files of JSON documents as tables: one document per line, an array, or a list inside of one."""

from __future__ import annotations

import mmap
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.loading import sql
from svc_notebook.loading.database import MAX_PARALLEL_COLUMNS, Database
from svc_notebook.loading.sources.encoding import fresh
from svc_notebook.loading.table import RowError, SourceTable, TableColumn

# DuckDB reads documents through several buffers of 32 MB for each thread, and holds 2,048 parsed.
SCAN_THREADS, SCAN_MEGABYTES = 2, 1000
MAX_SHOWN_CHARACTERS = 200  # of a line that is not a document
Layout = Literal["newline_delimited", "array", "unstructured"]

NESTING = {b"[": 1, b"{": 1, b"]": -1, b"}": -1}
TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:]', re.DOTALL)
BLANK_REST = re.compile(rb"\s*\Z")
FIRST_IS_OBJECT = re.compile(rb"\[\s*\{")
COPY_BYTES = 1 << 20
MAX_NAMED_LISTS = 5
MAX_STORED_CELLS = 1_000_000  # in memory, while wide documents are stored


def open_documents(paths: Sequence[Path], name: str, layout: Layout, db: Database) -> SourceTable:
    """Make a table of documents: a column for each member that occurs, with its JSON unchanged."""
    lenient = ", ignore_errors=true" if layout == "newline_delimited" else ""
    files = sql.listing(map(str, paths))
    # A document is parsed once, as text, so that DuckDB infers no types for its members.
    db.grant(SCAN_MEGABYTES, threads=SCAN_THREADS)
    read = f"read_json_objects({files}, format='{layout}'{lenient})"
    document = "CASE WHEN json_type(json) = 'OBJECT' THEN json END"
    keys = _keys(f"(SELECT {document} AS d FROM {read})", db)
    if not keys and layout == "newline_delimited":
        # No line is a document: a document may extend over several lines.
        return open_documents(paths, name, "unstructured", db)
    if not keys:
        raise BadInput(f"{name} has no JSON object with members; a record is a JSON object")
    fields = tuple(TableColumn(key, f"c{i}", "JSON") for i, key in enumerate(keys))
    pointers = sql.listing(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)
    rows, numbered = _rows(read, pointers, len(keys), db)
    return SourceTable(
        db=db,
        sql=rows,
        fields=fields,
        name=name,
        ragged=True,
        numbered_sql=numbered,
        skipped=lambda: [
            error
            for path in paths
            for error in _skipped(
                read.replace(files, sql.listing([str(path)])), db, path if len(paths) > 1 else None
            )
        ],
    )


def _rows(read: str, pointers: str, columns: int, db: Database) -> tuple[str, str]:
    """Return the SQL of the documents' members as columns, and the same with `pos`, if stored.

    DuckDB repeats the extraction of all members in the expression of each one, so that the time of
    a query grows with the square of their number; the members of wide documents are stored once.
    """
    members = f"(SELECT json, json_extract(json, {pointers}) AS m FROM {read})"
    if columns <= MAX_PARALLEL_COLUMNS:
        each = (f"nullif(m[{i + 1}]::VARCHAR, 'null')::JSON AS c{i}" for i in range(columns))
        everything = f"SELECT {', '.join(each)}, json_type(json) = 'OBJECT' AS fine FROM {members}"
        return f"(SELECT * FROM ({everything}) WHERE fine)", ""
    db.grant(SCAN_MEGABYTES + columns)
    path = _store(f"SELECT m FROM {members} WHERE json_type(json) = 'OBJECT'", columns, db)
    stored = f"read_parquet({sql.text(str(path))})"
    return f"(SELECT * EXCLUDE pos FROM {stored})", stored


def _store(query: str, columns: int, db: Database) -> Path:
    """Store the members of documents, a list in each row, as columns of a Parquet file."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    path = fresh(db.folder, "documents.parquet")
    texts = [pa.field(f"c{i}", pa.string()) for i in range(columns)]
    schema = pa.schema([*texts, pa.field("pos", pa.int64())])
    first = 0
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for chunk in db.chunks(query, max(MAX_STORED_CELLS // columns, 1)):
            cells = chunk.column(0).flatten().cast(pa.string())
            cells = pc.if_else(pc.equal(cells, "null"), None, cells)
            rows = chunk.num_rows
            each = (cells.take(np.arange(i, rows * columns, columns)) for i in range(columns))
            positions = pa.array(np.arange(first, first + rows))
            writer.write_table(pa.table([*each, positions], schema=schema))
            first += rows
    return path


def _keys(documents: str, db: Database) -> list[str]:
    found = db.rows(
        "SELECT k FROM (SELECT unnest(json_keys(d)) AS k, unnest(range(len(json_keys(d)))) AS i "
        f"FROM {documents}) GROUP BY k ORDER BY min(i), count(*) DESC, k"
    )
    return [row[0] for row in found]


def _skipped(read: str, db: Database, file: Path | None) -> list[RowError]:
    rows = db.rows(
        f"SELECT n, json_type(json), left(json::VARCHAR, {MAX_SHOWN_CHARACTERS}) FROM "
        f"(SELECT row_number() OVER () AS n, json FROM {read}) "
        "WHERE json IS NULL OR json_type(json) <> 'OBJECT' ORDER BY n"
    )
    return [
        RowError(
            n,
            None,
            shown,
            "is not JSON" if kind is None else f"is a JSON {kind.lower()}, not an object",
            file=str(file) if file else None,
        )
        for n, kind, shown in rows
    ]


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
    """The lists of one document that are not inside another list, and how many members it has."""

    lists: list[NestedList] = field(default_factory=list)
    members: int = 0

    @property
    def of_objects(self) -> list[NestedList]:
        """The lists whose first item is an object."""
        return [each for each in self.lists if each.of_objects]

    @property
    def only_list(self) -> NestedList | None:
        """The list of objects that is its single member."""
        found = [each for each in self.of_objects if len(each.names) == 1]
        return found[0] if self.members == 1 and found else None


def take_list(path: Path, wanted: str | None, folder: Path) -> tuple[Path, str]:
    """Copy the list of a document that holds the records; return the copy and a note for the plan.

    Without `wanted`, that is the list that is the single member of the only document of the file;
    if there is no such list, the path of the file is returned.
    """
    document = read_document(path)
    if document is None and wanted is not None:
        raise BadInput(f"{path.name} is not one JSON object; `path` names a list inside of one")
    if document is None:
        return path, ""
    chosen = document.only_list if wanted is None else _find_list(document, wanted, path.name)
    if chosen is None:
        return path, _advice(document)
    return _copy(path, chosen, folder), f"the rows are the list `{chosen.path}` of the document"


def read_document(path: Path) -> JsonDocument | None:
    """Find the lists of a file that is one JSON object; None for any other file."""
    if not path.stat().st_size:
        return None
    with (
        path.open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
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
            document.members += len(names) == 1
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


def _find_list(document: JsonDocument, wanted: str, name: str) -> NestedList:
    found = next((each for each in document.lists if each.path == wanted), None)
    if found is None:
        known = [each.path for each in document.lists]
        there = f"; its lists: {_enumerate(known)}" if known else ""
        raise BadInput(f"{name} has no list `{wanted}`{did_you_mean(wanted, known) or there}")
    return found


def _advice(document: JsonDocument) -> str:
    """Return which lists of a document that is loaded as one record could be loaded instead."""
    paths = [each.path for each in document.of_objects]
    if not paths:
        return ""
    return f"the document is one record; path={paths[0]!r} loads the list {_enumerate(paths)}"


def _enumerate(paths: Sequence[str]) -> str:
    more = ", …" if len(paths) > MAX_NAMED_LISTS else ""
    return " or ".join(f"`{path}`" for path in paths[:MAX_NAMED_LISTS]) + more


def _copy(path: Path, chosen: NestedList, folder: Path) -> Path:
    target = fresh(folder, path.name)
    left = chosen.end - chosen.start
    with path.open("rb") as source, target.open("wb") as sink:
        source.seek(chosen.start)
        while piece := source.read(min(COPY_BYTES, left)):
            sink.write(piece)
            left -= len(piece)
    return target

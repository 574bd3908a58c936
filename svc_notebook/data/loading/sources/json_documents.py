"""Files of JSON documents as tables: one document per line, or an array of documents.

YAML files are written as JSON first, so that their documents are read by the same rules.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import MAX_PARALLEL_COLUMNS, Database
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.encoding import fresh
from svc_notebook.data.loading.table import RowError, SourceTable, TableColumn
from svc_notebook.errors import BadInput

# References can repeat parts of a document: the maximum number of values with all repeats.
MAX_VALUES = 10_000_000
# DuckDB reads documents through several buffers of 32 MB for each thread, and holds 2,048 parsed.
SCAN_THREADS, SCAN_MEGABYTES = 2, 1000
MAX_SHOWN_CHARACTERS = 200  # of a line that is not a document
Layout = Literal["newline_delimited", "array", "unstructured"]
MAX_STORED_CELLS = 1_000_000  # in memory, while wide documents are stored


def open_documents(
    layout: Layout, paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of documents: a column for each member that occurs, with its JSON unchanged."""
    lenient = ", ignore_errors=true" if layout == "newline_delimited" else ""
    files = sql.listing(map(str, paths))
    # A document is parsed once, as text, so that DuckDB infers no types for its members.
    db.grant(SCAN_MEGABYTES, threads=SCAN_THREADS)
    read = f"read_json_objects({files}, format='{layout}'{lenient})"
    document = "CASE WHEN json_type(json) = 'OBJECT' THEN json END"
    keys, repeating = _keys(f"(SELECT {document} AS d FROM {read})", db)
    if not keys and layout == "newline_delimited":
        # No line is a document: a document may extend over several lines.
        return open_documents("unstructured", paths, name, options, db)
    if not keys:
        raise BadInput(f"{name} has no JSON object with members; a record is a JSON object")
    fields = tuple(TableColumn(key, f"c{i}", "JSON") for i, key in enumerate(keys))
    pointers = sql.listing(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)
    rows, numbered = _rows(read, pointers, len(keys), db)
    what = "1 record has a member" if repeating == 1 else f"{repeating:,} records have members"
    note = f"{what} with the name of another one; the first of each name is sent"

    def skipped() -> list[RowError]:
        reads = {str(path): read.replace(files, sql.listing([str(path)])) for path in paths}
        several = len(paths) > 1
        return [e for path in reads for e in _skipped(reads[path], db, path if several else None)]

    return SourceTable(
        db, rows, fields, name, ragged=True, text_amounts=True, numbered_sql=numbered,
        notes=(note,) if repeating else (), skipped=skipped,
    )  # fmt: skip


# Of files with a document on each line, and of files that are arrays of documents.
open_lines = partial(open_documents, "newline_delimited")
open_array = partial(open_documents, "array")


def _rows(read: str, pointers: str, columns: int, db: Database) -> tuple[str, str]:
    """Return the SQL of the documents' members as columns, and the same with `pos`, if stored.

    DuckDB repeats the extraction of all members in the expression of each one, so that the time of
    a query grows with the square of their number; the members of wide documents are stored once.
    """
    members = f"(SELECT json, json_extract(json, {pointers}) AS m FROM {read})"
    if columns <= MAX_PARALLEL_COLUMNS:
        expressions = (f"nullif(m[{i + 1}]::VARCHAR, 'null')::JSON AS c{i}" for i in range(columns))
        everything = (
            f"SELECT {', '.join(expressions)}, json_type(json) = 'OBJECT' AS fine FROM {members}"
        )
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
            arrays = (cells.take(np.arange(i, rows * columns, columns)) for i in range(columns))
            positions = pa.array(np.arange(first, first + rows))
            writer.write_table(pa.table([*arrays, positions], schema=schema))
            first += rows
    return path


def _keys(documents: str, db: Database) -> tuple[list[str], int]:
    """Return the names of all members, and the number of documents that repeat one."""
    keys = f"(SELECT json_keys(d) AS keys FROM {documents})"
    keys = f"(SELECT keys, len(list_distinct(keys)) < len(keys) AS repeats FROM {keys})"
    members = db.rows(
        "SELECT k, count(*) FILTER (repeats AND i = 0) FROM (SELECT unnest(keys) AS k, "
        f"unnest(range(len(keys))) AS i, repeats FROM {keys}) "
        "GROUP BY k ORDER BY min(i), count(*) DESC, k"
    )
    return [key for key, _ in members], sum(repeating for _, repeating in members)


def _skipped(read: str, db: Database, file: str | None) -> list[RowError]:
    rows = db.rows(
        f"SELECT n, json_type(json), left(json::VARCHAR, {MAX_SHOWN_CHARACTERS}) FROM "
        f"(SELECT row_number() OVER () AS n, json FROM {read}) "
        "WHERE json IS NULL OR json_type(json) <> 'OBJECT' ORDER BY n"
    )
    reasons = (f"is a JSON {kind.lower()}, not an object" if kind else "is not JSON"
               for _, kind, _ in rows)  # fmt: skip
    return [
        RowError(n, None, shown, reason, file=file)
        for (n, _, shown), reason in zip(rows, reasons, strict=True)
    ]


def write_as_json(path: Path, given: Path, folder: Path) -> Path:
    """Write the documents of a YAML file as JSON; `given` is the file that the caller named."""
    try:
        import yaml
    except ImportError as error:
        raise BadInput(
            f'{given} is YAML, which needs PyYAML: pip install "svc-notebook[formats]"'
        ) from error
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    target = fresh(folder, f"{path.stem}.json")
    try:
        with path.open("rb") as source:
            documents = list(yaml.load_all(source, loader))
        documents = [document for document in documents if document is not None]
        _check_size(documents, given)
        written = [msgspec.json.encode(document, enc_hook=_write_other) for document in documents]
    except (yaml.YAMLError, UnicodeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{given} is not valid YAML: {reason}") from error
    except (TypeError, msgspec.MsgspecError) as error:
        raise BadInput(f"{given} has a value that JSON cannot represent: {error}") from error
    target.write_bytes(b"\n".join(written))
    return target


def _check_size(document: Any, given: Path) -> None:
    """Refuse references that make a document much larger than its file."""
    sizes: dict[int, int] = {}

    def count(value: Any) -> int:
        if not isinstance(value, (list, Mapping)):
            return 1
        if id(value) not in sizes:
            # A reference to an outer value has no end.
            sizes[id(value)] = MAX_VALUES + 1
            inner = value.values() if isinstance(value, Mapping) else value
            sizes[id(value)] = 1 + sum(map(count, inner))
        return sizes[id(value)]

    if count(document) > MAX_VALUES:
        raise BadInput(f"{given} repeats its parts by references too often; write them out")


def _write_other(value: Any) -> Any:
    if isinstance(value, (dt.date, dt.time)):
        return value.isoformat()
    if isinstance(value, set):
        return sorted(value, key=str)
    raise TypeError(f"a {type(value).__name__}")

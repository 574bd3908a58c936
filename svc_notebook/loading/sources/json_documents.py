"""Files of JSON documents, one per line or in one array, as tables of their members."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from svc_notebook.errors import BadInput
from svc_notebook.loading import sql
from svc_notebook.loading.database import Database
from svc_notebook.loading.table import RowError, SourceTable, TableColumn

# DuckDB reads documents through several buffers of 32 MB for each thread, and holds 2,048 parsed.
THREADS, MEGABYTES = 2, 1000
Layout = Literal["newline_delimited", "array", "unstructured"]


def open_documents(paths: Sequence[Path], name: str, layout: Layout, db: Database) -> SourceTable:
    """Make a table of documents: a column for each member that occurs, each value as it stands."""
    lenient = ", ignore_errors=true" if layout == "newline_delimited" else ""
    files = sql.listing(map(str, paths))
    # A document is parsed once, as text: its members' types are its own.
    db.grant(MEGABYTES, threads=THREADS)
    read = f"read_json_objects({files}, format='{layout}'{lenient})"
    whole = "CASE WHEN json_type(json) = 'OBJECT' THEN json END"
    keys = _keys(f"(SELECT {whole} AS d FROM {read})", db)
    if not keys and layout == "newline_delimited":
        # No line is a document: one document may be written over several.
        return open_documents(paths, name, "unstructured", db)
    if not keys:
        raise BadInput(f"{name} holds no JSON object with members")
    fields = tuple(TableColumn(key, f"c{i}", "JSON") for i, key in enumerate(keys))
    paths_of = sql.listing(f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys)
    picked = ", ".join(
        f"nullif(m[{i + 1}]::VARCHAR, 'null')::JSON AS c{i}" for i, _ in enumerate(keys)
    )
    members = f"(SELECT json, json_extract(json, {paths_of}) AS m FROM {read})"
    everything = f"SELECT {picked}, json_type(json) = 'OBJECT' AS fine FROM {members}"
    return SourceTable(
        db=db,
        sql=f"(SELECT * FROM ({everything}) WHERE fine)",
        fields=fields,
        name=name,
        ragged=True,
        skipped=lambda: [
            fault
            for path in paths
            for fault in _skipped(
                read.replace(files, sql.listing([str(path)])), db, path if len(paths) > 1 else None
            )
        ],
    )


def _keys(documents: str, db: Database) -> list[str]:
    found = db.rows(
        "SELECT k FROM (SELECT unnest(json_keys(d)) AS k, unnest(range(len(json_keys(d)))) AS i "
        f"FROM {documents}) GROUP BY k ORDER BY min(i), count(*) DESC, k"
    )
    return [row[0] for row in found]


def _skipped(read: str, db: Database, file: Path | None) -> list[RowError]:
    rows = db.rows(
        f"SELECT n, json_type(json), left(json::VARCHAR, 200) FROM "
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

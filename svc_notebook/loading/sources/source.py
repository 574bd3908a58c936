"""Open a source: path, glob, URL, SQL, dicts, DataFrame or Arrow table."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx
import pandas as pd

from svc_notebook.errors import BadInput, did_you_mean_file
from svc_notebook.loading import sql
from svc_notebook.loading.database import Database, import_duckdb
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.csv_file import open_delimited
from svc_notebook.loading.sources.dataframe import open_arrow, open_frame, refuse_twins
from svc_notebook.loading.sources.encoding import fresh, rewrite, sniff_encoding, unpack
from svc_notebook.loading.sources.json_documents import open_documents
from svc_notebook.loading.sources.json_lists import take_list
from svc_notebook.loading.sources.pandas_index import find_index, read_schemas
from svc_notebook.loading.sources.parquet import read_parquet
from svc_notebook.loading.sources.python_records import RecordStream
from svc_notebook.loading.table import RowError, SourceTable, TableColumn, TableOrigin

Source = str | os.PathLike[str] | pd.DataFrame | Any
COMMENT = r"--[^\n]*\n|/\*.*?\*/"
QUERY = re.compile(rf"(?:\s|{COMMENT})*(?:select|with|from|pivot|unpivot|values|\()\s", re.I | re.S)
DOCUMENTS = (".json", ".ndjson", ".jsonl")
SAMPLES, SAMPLE = 8, 65536
URL = re.compile(r"https?://", re.I)


def open_source(source: Source, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of a source; nothing but its beginning is read yet."""
    import_duckdb()
    if options.path is not None and not _names_files(source):
        raise BadInput("`path` names a list inside a JSON file; take it out of other data first")
    if isinstance(source, pd.DataFrame):
        return open_frame(source, options, db)
    if isinstance(source, RecordStream):
        return source.open(db)
    if isinstance(source, str) and QUERY.match(source):
        return open_query(source, options, db)
    if isinstance(source, str) and URL.match(source):
        path = download(source, db.folder)
        return open_files([path], _last_part(source), options, db, url=source)
    if isinstance(source, (str, os.PathLike)):
        paths = find_files(os.fspath(source))
        return open_files(paths, Path(source).name, options, db)
    return open_arrow(source, options, db)


def _names_files(source: object) -> bool:
    is_query = isinstance(source, str) and QUERY.match(source)
    return isinstance(source, (str, os.PathLike)) and not is_query


def open_query(query: str, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of a query over whatever DuckDB can read."""
    db.about = "the SQL query"
    # The query may end in a comment.
    inner = f"({query.strip().rstrip(';')}\n)"
    names = db.names(inner)
    refuse_twins(names)
    columns = [f"c{i}" for i, _ in enumerate(names)]
    # Its rows are read several times, and asked twice it may well give others, or another order.
    end = "" if options.limit is None else f" LIMIT {options.limit}"
    kept = db.keep(f"SELECT * FROM {inner} AS given({', '.join(columns)}){end}", "given")
    types = db.types(f"SELECT * FROM {kept}")
    fields = tuple(TableColumn(n, c, types[c]) for n, c in zip(names, columns, strict=True))
    numbered = f"(SELECT *, rowid AS pos FROM {kept})"
    return SourceTable(db=db, sql=kept, fields=fields, name="the SQL query", numbered_sql=numbered)


def _typed(inner: str, types: dict[str, str], name: str, db: Database) -> SourceTable:
    fields = tuple(TableColumn(n, f"c{i}", kind) for i, (n, kind) in enumerate(types.items()))
    if not fields:
        raise BadInput(f"{name} has no columns")
    picked = ", ".join(f"{sql.name(f.name)} AS {f.column}" for f in fields)
    return SourceTable(db=db, sql=f"(SELECT {picked} FROM {inner})", fields=fields, name=name)


def find_files(pattern: str) -> list[Path]:
    """Find the files of a path, folder-wide pattern or folder, in the order of their names."""
    path = Path(pattern).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        if files := parquet_folder(path):
            return files
        raise BadInput(f"{path} is a folder; name its files, for example '{path}/*.csv'")
    # Path.glob takes no absolute pattern.
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207
    found = sorted(Path(match) for match in matches if Path(match).is_file())
    if not found:
        raise BadInput(f"there is no file {path.absolute()}{did_you_mean_file(path)}")
    return found


def parquet_folder(path: Path) -> list[Path]:
    """Find the files of a partitioned Parquet folder, in the order of their names.

    What begins with a dot or an underscore is somebody's own, as everywhere with such folders.
    """
    folder = path.expanduser()
    found = sorted(folder.rglob("*.parquet")) if folder.is_dir() else []
    return [file for file in found if not _is_hidden(file.relative_to(folder))]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def open_files(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database, *, url: str | None = None
) -> SourceTable:
    """Make a table of files of one format, packed or not."""
    db.about = name
    plain = [in_utf8(unpack(path, db.folder), db.folder) for path in paths]
    plain, notes = _take_lists(plain, options, db)
    formats = [format_of(path) for path in plain]
    if len(set(formats)) > 1:
        raise BadInput(f"{name} names files of several formats: {', '.join(sorted(set(formats)))}")
    table = OPENERS[formats[0]](plain, name, options, db)
    origin = origin_of(paths, url)

    def settle(table: SourceTable) -> SourceTable:
        """Say where the rows come from, whichever way the files are read."""
        settled = replace(table, origin=origin, notes=(*notes, *table.notes))
        if len(paths) > 1:
            settled = _with_files(settled, formats[0], plain, paths, options)
        return replace(settled, otherwise=lambda faults: settle_other(table.otherwise(faults)))

    def settle_other(other: SourceTable | None) -> SourceTable | None:
        return other and settle(other)

    return settle(table)


def _take_lists(
    paths: Sequence[Path], options: LoadSettings, db: Database
) -> tuple[list[Path], list[str]]:
    """Take the lists of records out of JSON documents that hold one; say which these are."""
    taken: list[Path] = []
    notes: dict[str, None] = {}
    for path in paths:
        is_document = format_of(path) == "lines"
        if options.path is not None and not is_document:
            raise BadInput(f"{path.name} is not one JSON object; `path` names a list inside of one")
        where, note = take_list(path, options.path, db.folder) if is_document else (path, "")
        taken.append(where)
        notes |= {note: None} if note else {}
    return taken, list(notes)


def _with_files(
    table: SourceTable,
    kind: str,
    plain: Sequence[Path],
    paths: Sequence[Path],
    options: LoadSettings,
) -> SourceTable:
    """Let each row be told with its file."""

    def count() -> list[int]:
        return [_count(OPENERS[kind]([path], path.name, options, table.db)) for path in plain]

    # Packed ones were read from a copy.
    given = {str(read): str(path) for read, path in zip(plain, paths, strict=True)}

    def skipped() -> list[RowError]:
        return [
            fault._replace(file=given.get(fault.file or "", fault.file))
            for fault in table.skipped()
        ]

    counts = count if table.rows_of_files is list else table.rows_of_files
    return replace(table, files=tuple(map(str, paths)), rows_of_files=counts, skipped=skipped)


def _count(table: SourceTable) -> int:
    return int(table.db.rows(f"SELECT count(*) FROM {table.sql}")[0][0])


def in_utf8(path: Path, folder: Path) -> Path:
    """Return a file of documents in UTF-8: the given one, or a copy in the folder."""
    if path.suffix.lower() not in DOCUMENTS:
        return path
    with path.open("rb") as file:
        encoding = sniff_encoding(file.read(4096))
    return rewrite(path, folder, encoding) if encoding.startswith(("utf-16", "utf-32")) else path


def format_of(path: Path) -> str:
    """Tell a file's format, by its beginning where its name does not say."""
    with path.open("rb") as file:
        start = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"PAR1"):
        return "parquet"
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv", ".txt", ".tab", ".psv"):
        return "delimited"
    if start.startswith(b"[") and (suffix == ".json" or start[1:].lstrip()[:1] in b"{]"):
        return "array"
    return "lines" if start.startswith(b"{") or suffix in (".ndjson", ".jsonl") else "delimited"


def open_parquet(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of Parquet files."""
    inner = read_parquet(paths, options, db)
    index = find_index(read_schemas(paths), options)
    types = db.types(f"SELECT * FROM {inner}")
    kept = {column: kind for column, kind in types.items() if column not in index.left_out}
    return replace(_typed(inner, kept, name, db), notes=index.notes)


OPENERS: dict[str, Callable[[Sequence[Path], str, LoadSettings, Database], SourceTable]] = {
    "delimited": open_delimited,
    "lines": lambda paths, name, _, db: open_documents(paths, name, "newline_delimited", db),
    "array": lambda paths, name, _, db: open_documents(paths, name, "array", db),
    "parquet": open_parquet,
}


def origin_of(paths: Sequence[Path], url: str | None) -> TableOrigin:
    """Say where files are, and tell one state of them from another without reading them through."""
    digest = hashlib.sha256()
    for path in paths:
        facts = path.stat()
        # What was downloaded is new each time.
        digest.update(f"{facts.st_size}|{'' if url else facts.st_mtime_ns}|".encode())
        for piece in _samples(path, facts.st_size):
            digest.update(piece)
    return TableOrigin(url or "|".join(str(path.absolute()) for path in paths), digest.hexdigest())


def _samples(path: Path, size: int) -> Iterator[bytes]:
    """Read a few pieces, spread evenly, of a file that is larger than they are."""
    with path.open("rb") as file:
        for number in range(SAMPLES):
            file.seek(max(size - SAMPLE, 0) * number // (SAMPLES - 1))
            yield file.read(SAMPLE)


def download(url: str, folder: Path) -> Path:
    """Fetch a URL into a file, piece by piece."""
    try:
        target = fresh(folder, _last_part(url))
        with httpx.stream("GET", url, follow_redirects=True, timeout=30) as answer:
            answer.raise_for_status()
            with target.open("wb") as sink:
                for piece in answer.iter_bytes():
                    sink.write(piece)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise BadInput(f"{url} cannot be fetched: {error}") from error
    return target


def _last_part(url: str) -> str:
    return unquote(urlsplit(url).path).rsplit("/", 1)[-1] or "download"

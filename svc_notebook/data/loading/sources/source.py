"""Sources of a load as tables: files, URLs, SQL queries, relations, dicts, DataFrames, Arrow."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from svc_notebook.core.files import expand_path
from svc_notebook.data.loading import sql
from svc_notebook.data.loading.database import Database, import_duckdb
from svc_notebook.data.loading.options import FILES, WHOLE_PATH, LoadSettings
from svc_notebook.data.loading.sources.dataframe import check_unique, open_arrow, open_frame
from svc_notebook.data.loading.sources.encoding import fresh, read_part, rewrite, sniff_encoding
from svc_notebook.data.loading.sources.file_formats import (
    FORMAT_SAMPLE_BYTES,
    format_of,
    refuse_unreadable,
)
from svc_notebook.data.loading.sources.given_files import (
    DOWNLOAD_NAME,
    copy_file_object,
    copy_pipe,
    decompress,
    download,
    extract_only_file,
    fetch,
    file_name,
    is_file_object,
    is_pipe,
    is_remote,
    name_file_object,
    refuse_archive,
)
from svc_notebook.data.loading.sources.python_records import RecordStream, are_paths
from svc_notebook.data.loading.sources.query_results import (
    is_query_result,
    keep_rows,
    open_query_result,
)
from svc_notebook.data.loading.sources.read_limits import check_columns, check_lines, check_workbook
from svc_notebook.data.loading.table import RowError, SourceTable, TableOrigin
from svc_notebook.data.loading.text_cells.header_names import free_name
from svc_notebook.errors import BadInput, did_you_mean_file

Opener = Callable[[Sequence[Path], str, LoadSettings, Database], SourceTable]
Source = str | os.PathLike[str] | pd.DataFrame | Any
COMMENT = r"--[^\n]*\n|/\*.*?\*/"
# A delimited file as a table of a query; addresses are left to DuckDB.
QUERIED_FILE = re.compile(
    r"\b(from|join)(\s+)'((?:(?!://)[^']|'')+\.(?:csv|tsv|txt)(?:\.(?:gz|bz2|xz|zst))?)'", re.I
)
QUERY = re.compile(rf"(?:\s|{COMMENT})*(?:select|with|from|pivot|unpivot|values|\()\s", re.I | re.S)
JSON_FORMATS, FORMATS_WITH_PATHS = ("lines", "array"), ("lines", "xml", "html")
# A file that is compressed several times, such as a .gz in a .zip, is extracted this often.
MAX_COMPRESSIONS = 3
# The rows of a queried file that a note names because they are left out.
MAX_SHOWN_ERRORS = 5
# The pieces of a file that its digest covers.
DIGEST_PIECES, DIGEST_PIECE_BYTES = 8, 65536
URL = re.compile(r"https?://", re.I)
# What a text contains that is not a path, but the content of a file.
CONTENT = re.compile(r"\n|^\s*(\{|\[\s*\{)")
# The file that Office keeps beside a document while it is open, `~$book.xlsx`.
LOCK_OF_OFFICE = "~$"


def open_source(source: Source, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of a source; only its beginning is read yet."""
    import_duckdb()
    try:
        return _open(source, options, db)
    except MemoryError as error:
        raise BadInput(f"{db.about} needs more memory than there is; load it in parts") from error


def _open(source: Source, options: LoadSettings, db: Database) -> SourceTable:
    query = source if isinstance(source, str) and QUERY.match(source) else None
    if isinstance(source, (str, os.PathLike)) and query is None:
        return _open_paths([source], options, db)
    if are_paths(source):
        return _open_paths(source, options, db)
    if is_file_object(source):
        path, name = copy_file_object(source, db.folder), name_file_object(source)
        return open_files([path], name, options, db, url=name)
    _refuse_file_options(options)
    if isinstance(source, pd.DataFrame):
        return open_frame(source, options, db)
    if isinstance(source, RecordStream):
        return source.open(db)
    if query is not None:
        return open_query(query, options, db)
    if is_query_result(source):
        return open_query_result(source, options, db)
    return open_arrow(source, options, db)


def _refuse_file_options(options: LoadSettings) -> None:
    if options.path is not None:
        raise BadInput("`path` names a list inside a JSON file; for other data, pass the list")
    if options.sheet is not None:
        raise BadInput("`sheet` names a sheet of an Excel workbook; pass the workbook's file")


class _GivenFiles(NamedTuple):
    """The files of one path, pattern or address, with their name in messages.

    `origin` is what copies are of; it is empty for files on this machine.
    """

    paths: list[Path]
    name: str
    origin: str = ""


def _open_paths(
    sources: Sequence[str | os.PathLike[str]], options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of what URLs, pipes, paths and patterns name, in their order."""
    given = [_gather_files(source, db) for source in sources]
    paths = [path for files in given for path in files.paths]
    more = len(sources) - 1
    name = f"{given[0].name} and {more:,} more" if more else given[0].name
    are_copies = any(files.origin for files in given)
    url = "|".join(files.origin or files.name for files in given) if are_copies else None
    if options.cursor is None or options.cursor.column != FILES:
        return open_files(paths, name, options, db, url=url)
    new, cursor = options.cursor.select_files(paths)
    return replace(open_files(new, name, options, db), cursor=cursor)


def _gather_files(source: str | os.PathLike[str], db: Database) -> _GivenFiles:
    if isinstance(source, str) and URL.match(source):
        name = file_name(source) or DOWNLOAD_NAME
        return _GivenFiles([download(source, db.folder)], name, source)
    if isinstance(source, str) and is_remote(source):
        return _GivenFiles(fetch(source, db.folder), file_name(source) or DOWNLOAD_NAME, source)
    if is_pipe(source):
        path = copy_pipe(source, db.folder)
        return _GivenFiles([path], path.name, path.name)
    return _GivenFiles(find_files(os.fspath(source)), Path(source).name)


def open_query(query: str, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of a query over any data that DuckDB can read.

    Delimited files that it names are read as `load` reads them, and DuckDB infers their types.
    """
    notes: list[str] = []
    kept_files: dict[str, str] = {}

    def read(match: re.Match[str]) -> str:
        pattern = match[3].replace("''", "'")
        if pattern not in kept_files:
            # A query names the columns of a file by the file's name without its ending.
            name = free_name(Path(pattern).name.partition(".")[0], kept_files.values())
            kept_files[pattern] = name
            notes.extend(_keep_file(pattern, name, options, db))
        return f"{match[1]}{match[2]}kept.{sql.name(kept_files[pattern])}"

    query = QUERIED_FILE.sub(read, query)
    db.about = "the SQL query"
    # The query may end in a comment.
    inner = f"({query.strip().rstrip(';')}\n)"
    names = db.names(inner)
    check_unique(names)
    # The rows are read several times, but a query can return other rows, or another order, when it
    # runs again.
    return replace(keep_rows(inner, names, db.about, options, db), notes=tuple(notes))


def _keep_file(pattern: str, name: str, options: LoadSettings, db: Database) -> list[str]:
    """Store the rows of delimited files in a table of a name; return notes."""
    file = Path(pattern).name
    table = open_files(find_files(pattern), file, replace(options, limit=None), db)
    while True:
        try:
            rows = db.keep(f"SELECT * FROM {table.scan}", "read_rows")
            skipped = table.skipped()
            other = table.alternative(skipped) if skipped else None
        except BadInput:
            if (other := table.alternative(None)) is None:
                raise
        if other is None:
            break
        table = other
    ((read,),) = db.rows(f"SELECT count(*) FROM {rows}")
    table.check_lost_rows(0, read, skipped)
    columns = ", ".join(f"{f.column} AS {sql.name(f.name)}" for f in table.fields)
    copy = sql.text(str(fresh(db.folder, "queried.csv")))
    db.rows(f"COPY (SELECT {columns} FROM {rows}) TO {copy} (FORMAT csv, HEADER, DELIMITER ',')")
    typed = f"read_csv({copy}, header=true, delim=',', quote='\"', escape='\"', sample_size=-1)"
    db.keep(f"SELECT * FROM {typed}", sql.name(name))
    left_out = [f"row {error.row:,} is left out: it {error.reason}" for error in skipped]
    if len(left_out) > MAX_SHOWN_ERRORS:
        more = len(left_out) - MAX_SHOWN_ERRORS
        left_out[MAX_SHOWN_ERRORS:] = [f"{more:,} more rows are left out"]
    return [f"{file}: {note}" for note in (*table.notes, *left_out)]


def find_files(pattern: str) -> list[Path]:
    """Find the files of a path, a pattern or a Parquet folder, in the order of their names."""
    path = expand_path(pattern)
    if path.is_file():
        return [path]
    if path.is_dir():
        if files := parquet_folder(path):
            return files
        raise BadInput(f"{path} is a folder; pass a pattern of its files, such as '{path}/*.csv'")
    # Path.glob does not accept absolute patterns.
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207
    paths = sorted(
        match
        for match in map(Path, matches)
        if match.is_file() and not match.name.startswith(LOCK_OF_OFFICE)
    )
    if not paths and CONTENT.search(pattern):
        raise BadInput("a text is the path of a file; pass io.StringIO(text) to load its content")
    if not paths:
        raise BadInput(f"there is no file {path.absolute()}{did_you_mean_file(path)}")
    return paths


def _refuse_table_folder(folder: Path) -> None:
    """Refuse the folder of a table whose files include rows that were deleted or replaced."""
    if (folder / "_delta_log").is_dir():
        raise BadInput(
            f"{folder} is a table of Delta, whose files include deleted rows; pass the table: "
            f"svc.load(deltalake.DeltaTable({str(folder)!r}), index)"
        )
    if any((folder / "metadata").glob("*.metadata.json")):
        raise BadInput(
            f"{folder} is a table of Iceberg, whose files include deleted rows; pass the table: "
            "svc.load(pyiceberg.catalog.load_catalog(…).load_table(…), index)"
        )


def parquet_folder(path: Path) -> list[Path]:
    """Find the files of a partitioned Parquet folder, in the order of their names.

    Names that begin with a dot or an underscore are excluded, by the convention of such folders.
    """
    folder = expand_path(path)
    _refuse_table_folder(folder)
    files = sorted(folder.rglob("*.parquet")) if folder.is_dir() else []
    return [
        file for file in files
        if not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    ]  # fmt: skip


def open_files(
    paths: Sequence[Path], name: str, options: LoadSettings, db: Database, *, url: str | None = None
) -> SourceTable:
    """Make a table of files of one format, compressed or not."""
    db.about = name
    readable = [_readable(path, options, db) for path in paths]
    readable, notes = _extract_records(readable, options, db)
    formats = [format_of(path) for path in readable]
    if len(set(formats)) > 1:
        listed = ", ".join(sorted(set(formats)))
        raise BadInput(f"the files of {name} have several formats: {listed}; load each separately")
    if options.sheet is not None and formats[0] not in ("workbook", "sqlite"):
        raise BadInput(
            f"{name} is not an Excel workbook; `sheet` names a sheet of one, or a table of SQLite"
        )
    if formats[0] == "delimited":
        check_lines(readable, name)
    if formats[0] == "workbook":
        check_workbook(readable[0], name)
    table = _import_opener(formats[0])(readable, name, options, db)
    check_columns(len(table.fields), name)
    origin = origin_of(paths, url)

    def with_origin(table: SourceTable) -> SourceTable:
        """Add the origin and the notes to a table, and to every alternative of it."""
        made = replace(table, origin=origin, notes=(*notes, *table.notes))
        if len(paths) > 1:
            made = _with_files(made, formats[0], readable, paths, options)
        return replace(made, alternative=lambda skipped: or_none(table.alternative(skipped)))

    def or_none(other: SourceTable | None) -> SourceTable | None:
        return other and with_origin(other)

    return with_origin(table)


def _readable(path: Path, options: LoadSettings, db: Database) -> Path:
    """Return a file that can be read: the given one, or an uncompressed copy in UTF-8."""
    plain = path
    for _ in range(MAX_COMPRESSIONS):
        inner = extract_only_file(decompress(plain, path, db.folder), path, db.folder)
        if inner == plain:
            break
        plain = inner
    refuse_archive(plain, path)
    file_format = format_of(plain)
    refuse_unreadable(plain, path, file_format, options)
    if file_format == "yaml":
        from svc_notebook.data.loading.sources.json_documents import write_as_json

        return write_as_json(plain, path, db.folder)
    return in_utf8(plain, db)


def _extract_records(
    paths: Sequence[Path], options: LoadSettings, db: Database
) -> tuple[list[Path], list[str]]:
    """Extract the records from JSON files that contain them; return paths and notes."""
    extracted: list[Path] = []
    notes: dict[str, None] = {}
    for path in paths:
        file_format = format_of(path)
        if options.path not in (None, WHOLE_PATH) and file_format not in FORMATS_WITH_PATHS:
            raise BadInput(f"{path.name} is not one JSON object; `path` names a list inside of one")
        if file_format not in JSON_FORMATS:
            extracted.append(path)
            continue
        from svc_notebook.data.loading.sources.json_envelopes import take_records

        records, note = take_records(path, options.path, db.folder, one_file=len(paths) == 1)
        extracted.append(records)
        notes |= {note: None} if note else {}
    return extracted, list(notes)


def _with_files(
    table: SourceTable,
    file_format: str,
    readable: Sequence[Path],
    paths: Sequence[Path],
    options: LoadSettings,
) -> SourceTable:
    """Add the names of the files, so that messages about rows name their file."""

    def count() -> list[int]:
        open_file = _import_opener(file_format)
        tables = (open_file([path], path.name, options, table.db) for path in readable)
        return [table.db.rows(f"SELECT count(*) FROM {part.sql}")[0][0] for part in tables]

    # Compressed files were read from a copy.
    given = {str(read): str(path) for read, path in zip(readable, paths, strict=True)}

    def skipped() -> list[RowError]:
        return [
            error._replace(file=given.get(error.file or "", error.file))
            for error in table.skipped()
        ]

    counts = count if table.rows_of_files is list else table.rows_of_files
    return replace(table, files=tuple(map(str, paths)), rows_of_files=counts, skipped=skipped)


def in_utf8(path: Path, db: Database) -> Path:
    """Return a file of JSON documents in UTF-8: the given one, or a temporary copy."""
    sample = read_part(path, FORMAT_SAMPLE_BYTES)
    encoding = sniff_encoding(sample)
    if not encoding.startswith(("utf-16", "utf-32")):
        return path
    is_document = sample.decode(encoding, "replace").lstrip("\ufeff \t\r\n").startswith(("{", "["))
    return rewrite(path, db.folder, encoding) if is_document else path


# The function of each format that makes a table of files; its module is imported when a file of the
# format is opened.
OPENERS = {
    "delimited": "csv_file.open_delimited",
    "lines": "json_documents.open_lines",
    "array": "json_documents.open_array",
    "parquet": "parquet.open_parquet",
    "workbook": "workbook.open_workbook",
    "arrow": "binary_files.open_arrow_files",
    "feather": "binary_files.open_feather_files",
    "orc": "binary_files.open_orc_files",
    "avro": "binary_files.open_avro",
    "sqlite": "binary_files.open_sqlite",
    "xml": "xml_records.open_xml",
    "html": "markup_tables.open_html",
}


def _import_opener(file_format: str) -> Opener:
    module, _, function = OPENERS[file_format].partition(".")
    opener: Opener = getattr(import_module(f"{__package__}.{module}"), function)
    return opener


def origin_of(paths: Sequence[Path], url: str | None) -> TableOrigin:
    """Return the place of files, and a digest of their size, time and some pieces of them."""
    digest = hashlib.sha256()
    for path in paths:
        facts = path.stat()
        # A download has a new time each time.
        digest.update(f"{facts.st_size}|{'' if url else facts.st_mtime_ns}|".encode())
        last = max(facts.st_size - DIGEST_PIECE_BYTES, 0)
        with path.open("rb") as file:
            for number in range(DIGEST_PIECES):
                file.seek(last * number // (DIGEST_PIECES - 1))
                digest.update(file.read(DIGEST_PIECE_BYTES))
    return TableOrigin(url or "|".join(str(path.absolute()) for path in paths), digest.hexdigest())

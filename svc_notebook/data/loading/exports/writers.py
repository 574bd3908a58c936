"""Writers of records to files: Parquet, CSV, TSV or one JSON document per line, also compressed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.terminal import escape_controls
from svc_notebook.data.loading.exports.spool import LIST, Spool
from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
COPY_BYTES = 1 << 20
SEPARATORS = {".csv": ",", ".tsv": "\t"}
# Spreadsheets begin formulas with these, some with the wide forms.
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001
Columns = Mapping[str, str]
# Called after each piece with the number of rows written; can raise an error to stop the export.
Check = Callable[[int], None]


@dataclass(frozen=True)
class Format:
    """The format of a file, by its name."""

    write: Callable[[Spool, Path, Columns, str | None, Check], None]
    compression: str | None
    # The file's name without its extensions.
    stem: str


def format_of(path: Path, *, spreadsheet_safe: bool = False) -> Format:
    """Return the format of a file's name; raise `BadInput` with advice.

    `spreadsheet_safe`: write cells that a spreadsheet does not run as formulas.
    """
    compression = COMPRESSIONS.get(path.suffix.lower())
    uncompressed = path.with_suffix("") if compression else path
    kind, stem = uncompressed.suffix.lower(), uncompressed.stem
    if kind not in WRITERS:
        raise BadInput(
            f"unsupported format `{kind or path.name}`; use {', '.join(WRITERS)}, followed by .gz "
            f"or .zst to compress the file{did_you_mean(kind, WRITERS)}"
        )
    if compression and WRITERS[kind] is write_parquet:
        raise BadInput(f"Parquet is already compressed: change the name to {uncompressed.name}")
    if not spreadsheet_safe:
        return Format(WRITERS[kind], compression, stem)
    if kind not in SEPARATORS:
        raise BadInput(
            f"`spreadsheet_safe` is an option of {' and '.join(SEPARATORS)}: cells of `{kind}` are "
            "never formulas"
        )
    return Format(_write_delimited(SEPARATORS[kind], spreadsheet_safe=True), compression, stem)


def write_lines(
    spool: Spool, path: Path, columns: Columns, compression: str | None, check: Check
) -> None:
    """Write one document per line: the content of the spool."""
    if compression is None:
        shutil.move(spool.path, path)
        return
    with _sink(path, compression) as sink, spool.path.open("rb") as source:
        while piece := source.read(COPY_BYTES):
            sink.write(piece)
            check(0)


def write_parquet(
    spool: Spool, path: Path, columns: Columns, compression: str | None, check: Check
) -> None:
    """Write Parquet; an attribute of mixed or nested values is a column of type JSON."""
    import pyarrow.parquet as pq

    schema = _schema(columns, nested=True)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for rows in _tables(spool, schema, columns, check):
            writer.write_table(rows)


def defuse(text: str) -> str:
    """Return a text that a spreadsheet shows as it is, and that does not control a terminal.

    Before a text that begins as a formula stands `'`; control characters become escapes.
    """
    shown = escape_controls(text)
    return (
        f"'{shown}"
        if shown.lstrip().startswith(FORMULA_STARTS) or text != text.lstrip("\t\n\r")
        else shown
    )


def _defuse_table(rows: pa.Table) -> pa.Table:
    """Defuse the texts and the names of all columns."""
    import pyarrow as pa

    columns = [
        pa.array([None if v is None else defuse(v) for v in column.to_pylist()], column.type)
        if pa.types.is_string(column.type)
        else column
        for column in rows.columns
    ]
    return pa.table(columns, names=[defuse(name) for name in rows.column_names])


def _write_delimited(
    separator: str, *, spreadsheet_safe: bool = False
) -> Callable[[Spool, Path, Columns, str | None, Check], None]:
    def write(
        spool: Spool, path: Path, columns: Columns, compression: str | None, check: Check
    ) -> None:
        from pyarrow import csv

        flat = {name: "json" if kind.startswith(LIST) else kind for name, kind in columns.items()}
        schema = _schema(flat, nested=False)
        options = csv.WriteOptions(delimiter=separator)
        shown = _defuse_table(schema.empty_table()).schema if spreadsheet_safe else schema
        with (
            _sink(path, compression) as sink,
            csv.CSVWriter(sink, shown, write_options=options) as out,
        ):
            for rows in _tables(spool, schema, flat, check):
                out.write_table(_defuse_table(rows) if spreadsheet_safe else rows)

    return write


WRITERS: dict[str, Callable[[Spool, Path, Columns, str | None, Check], None]] = {
    ".parquet": write_parquet,
    ".ndjson": write_lines,
    ".jsonl": write_lines,
    **{kind: _write_delimited(separator) for kind, separator in SEPARATORS.items()},
}


@contextmanager
def _sink(path: Path, compression: str | None) -> Iterator[Any]:
    import pyarrow as pa

    with pa.output_stream(str(path), compression=compression) as sink:
        yield sink


def _schema(columns: Columns, *, nested: bool) -> pa.Schema:
    import pyarrow as pa

    scalars = {
        "string": pa.string(), "boolean": pa.bool_(), "integer": pa.int64(),
        "number": pa.float64(), "json": pa.json_() if nested else pa.string(),
    }  # fmt: skip
    types = {**scalars, **{f"{LIST}{name}": pa.list_(kind) for name, kind in scalars.items()}}
    return pa.schema([(name, types[kind]) for name, kind in columns.items()])


def _tables(spool: Spool, schema: pa.Schema, columns: Columns, check: Check) -> Iterator[pa.Table]:
    import pyarrow as pa

    rows = 0
    for records in spool.pieces():
        arrays = [
            pa.array(_values(records, name, kind), schema.field(i).type)
            for i, (name, kind) in enumerate(columns.items())
        ]
        yield pa.Table.from_arrays(arrays, schema=schema)
        rows += len(records)
        check(rows)


def _values(records: list[dict[str, Any]], name: str, kind: str) -> list[Any]:
    values = [record.get(name) for record in records]
    if kind != "json":
        return values
    encode = msgspec.json.encode
    return [None if value is None else encode(value).decode() for value in values]

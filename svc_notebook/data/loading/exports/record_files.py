"""The files of an export: the spool that makes it resumable, and the writers of its formats.

The spool has the fetched pages on disk, for flat memory use and for resuming. It collects the types
of the values that each attribute of the records has. Formats are Parquet, CSV, TSV or one JSON
document per line, also compressed.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from svc_notebook.core.files import write_atomically
from svc_notebook.core.terminal import escape_controls
from svc_notebook.data.loading.options import Kind
from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    import pyarrow as pa

# Floats represent all whole numbers up to the first; those from the second on exceed 64 bits.
MAX_EXACT_FLOAT_INTEGER, INTEGER_LIMIT = 2**53, 2**63
SCALARS: dict[type, Kind] = {str: "string", bool: "boolean", int: "integer", float: "number"}
LARGE = "large integer"
LIST = "list of "
# The common type of several types, where it is not `json`.
COMMON_TYPES: dict[frozenset[str], str] = {
    frozenset(["integer", LARGE]): "integer",
    frozenset([LARGE]): "integer",
    frozenset(["integer", "number"]): "number",
    frozenset([LIST]): "json",
    frozenset(): "string",
}
SPOOL_CHUNK_BYTES = 8_000_000
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
COPY_BYTES = 1 << 20
SEPARATORS = {".csv": ",", ".tsv": "\t"}
# Spreadsheets begin formulas with these, some with the wide forms.
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001
Columns = Mapping[str, str]
# Called after each piece with the number of rows written; can raise an error to stop the export.
Check = Callable[[int], None]


class SpoolPosition(msgspec.Struct):
    """The progress of an export: the length of the spool in bytes, and the next cursor."""

    facts: str
    cursor: str | None = None
    bytes: int = 0
    rows: int = 0
    total: int = 0
    # The names in the file are those of the first release.
    types: dict[str, set[str]] = msgspec.field(
        default_factory=lambda: AttributeTypes().kinds, name="kinds"
    )
    complete: bool = msgspec.field(default=False, name="whole")


@dataclass
class Spool:
    """A hidden file next to the target with one record per line, and one with the position."""

    path: Path
    position: SpoolPosition
    resumed: int = 0
    _encoder: msgspec.json.Encoder = field(default_factory=msgspec.json.Encoder, repr=False)

    def add(self, records: Sequence[Mapping[str, Any]], cursor: str | None, total: int) -> None:
        """Write a page; after this returns, it survives a killed process."""
        at = self.position
        with self.path.open("ab") as file:
            file.write(self._encoder.encode_lines(records))
            at.bytes = file.tell()
        AttributeTypes(at.types).add(records)
        at.rows += len(records)
        at.cursor, at.total, at.complete = cursor, total, not cursor
        # A draft of a fixed name is overwritten by the next process, if this one is killed.
        draft = self.path.with_name(f"{self.path.name}.mark.new")
        write_atomically(_position_file(self.path), self._encoder.encode(at), draft=draft)

    def pieces(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the records, some megabytes at a time."""
        decoder = msgspec.json.Decoder(dict[str, Any])
        with self.path.open("rb") as file:
            while piece := file.read(SPOOL_CHUNK_BYTES):
                yield decoder.decode_lines(piece + file.readline())

    def discard(self) -> None:
        """Remove both files."""
        for path in (self.path, _position_file(self.path)):
            path.unlink(missing_ok=True)


def open_spool(target: Path, facts: str, *, resume: bool) -> Spool:
    """Open the spool of an interrupted export with the same facts, or create a new one."""
    path = target.with_name(f".{target.name}.part")
    digest = hashlib.sha256(facts.encode()).hexdigest()
    spool = Spool(path, SpoolPosition(digest))
    position = _read_position(path) if resume else None
    if position is None or position.facts != digest or path.stat().st_size < position.bytes:
        spool.discard()
        path.touch()
        return spool
    with path.open("r+b") as file:
        file.truncate(position.bytes)
    return Spool(path, position, position.rows)


def _position_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.mark")


def _read_position(path: Path) -> SpoolPosition | None:
    try:
        return (
            msgspec.json.decode(_position_file(path).read_bytes(), type=SpoolPosition)
            if path.exists()
            else None
        )
    except (FileNotFoundError, msgspec.MsgspecError):
        return None


@dataclass
class AttributeTypes:
    """The types of the values of each attribute, collected from records."""

    kinds: dict[str, set[str]] = field(default_factory=lambda: {"objectID": {"string"}})

    def add(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Add the types of more records."""
        for record in records:
            for name, value in record.items():
                types = self.kinds.setdefault(name, set())
                if value is not None:
                    types.add(type_of(value))

    def decide(self) -> dict[str, str]:
        """Return each attribute's type: a scalar, `list of` scalars, or `json` for all others."""
        return {name: _common_type(types) for name, types in self.kinds.items()}

    def dtypes(self) -> dict[str, Kind]:
        """Return the `dtype` with which a load of the exported texts restores the values."""
        names: dict[str, Kind] = {name: name for name in SCALARS.values()}
        return {name: names.get(type_name, "json") for name, type_name in self.decide().items()}


def type_of(value: Any) -> str:
    """Return the type of one value that is not null."""
    if isinstance(value, list):
        return _type_of_list(value)
    if type(value) is int and abs(value) > MAX_EXACT_FLOAT_INTEGER:
        return LARGE if abs(value) < INTEGER_LIMIT else "json"
    return SCALARS.get(type(value), "json")


def _type_of_list(values: list[Any]) -> str:
    types = frozenset(map(type_of, values))
    if not types:
        return LIST
    item = _common_type(types) if len(types) == 1 else "json"
    return f"{LIST}{item}" if item in SCALARS.values() else "json"


def _common_type(types: Iterable[str]) -> str:
    distinct = frozenset(types)
    if len(distinct) > 1 and all(type_name.startswith(LIST) for type_name in distinct):
        distinct -= {LIST}  # an empty list can be a list of any type
    if len(distinct) == 1 and distinct not in COMMON_TYPES:
        return next(iter(distinct))
    return COMMON_TYPES.get(distinct, "json")


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

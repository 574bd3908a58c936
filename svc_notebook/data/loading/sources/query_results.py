"""Frames of Polars, relations, and tables of Delta and Iceberg, computed when they are read.

They are read once, batch by batch, and kept on the disk: memory does not grow with their rows, and
a result that is computed again could have other rows or another order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from svc_notebook.core.redaction import cause_of, mask_secrets
from svc_notebook.data.loading.database import Database, ReadingStopped, read_relation, translated
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.dataframe import check_unique, open_arrow
from svc_notebook.data.loading.table import SourceTable, TableColumn
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 50_000
LIBRARIES = {
    "polars": "Polars", "duckdb": "DuckDB", "ibis": "Ibis", "deltalake": "Delta",
    "pyiceberg": "Iceberg",
}  # fmt: skip
# A member of each kind of source.
MARKS = (
    "collect_schema", "fetch_arrow_reader", "to_arrow_reader", "to_pyarrow_batches",
    "to_pyarrow_dataset", "to_arrow_batch_reader", "scan",
)  # fmt: skip
CONNECTION = "DuckDBPyConnection"
WIDE_INTEGERS = ("Int128", "UInt128")


def is_query_result(source: object) -> bool:
    """Return whether a source is a frame of Polars or a relation, computed when it is read."""
    return _library(source) in READERS and any(hasattr(source, name) for name in MARKS)


def open_query_result(source: Any, options: LoadSettings, db: Database) -> SourceTable:
    """Compute a frame or a relation once, and make a table of its rows."""
    library = _library(source)
    if type(source).__name__ == CONNECTION:
        raise BadInput(
            "a connection of DuckDB has no rows of its own; pass a relation: con.sql('SELECT …') "
            "or con.table('products')"
        )
    kind = {"polars": type(source).__name__, "deltalake": "table", "pyiceberg": "table"}.get(
        library, "relation"
    )
    name = f"the {LIBRARIES[library]} {kind}"
    db.about = name
    try:
        return open_reader(READERS[library](source), name, options, db)
    except ReadingStopped:
        raise
    except Exception as error:  # each library has its own errors
        if isinstance(error, BadInput):
            raise
        raise BadInput(
            f"{name} cannot be read: {mask_secrets(str(error))}; check that it can be computed by "
            "itself"
        ) from cause_of(error)


def _library(source: object) -> str:
    return type(source).__module__.partition(".")[0].lstrip("_")


def open_reader(
    reader: pa.RecordBatchReader, name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of batches of Arrow, which are read once and kept on the disk."""
    check_unique(reader.schema.names)
    if not reader.schema.names:
        raise BadInput(f"{name} has no columns")
    if any(map(_needs_python, reader.schema.types)):
        return replace(open_arrow(reader.read_all(), options, db), name=name)
    with translated(name):
        db.connection.register("stream", reader)
    return keep_rows("stream", reader.schema.names, name, options, db)


def _ibis_reader(relation: Any) -> pa.RecordBatchReader:
    # Ibis 12 streams with a method that DuckDB 2 lacks, and then leaves the connection in use.
    if relation.get_backend().name == "duckdb":
        return relation.to_pyarrow().to_reader()
    return relation.to_pyarrow_batches(chunk_size=BATCH_ROWS)


def _polars_reader(frame: Any) -> pa.RecordBatchReader:
    import polars as pl
    import pyarrow as pa

    lazy = frame.lazy()
    wide = [name for name, kind in lazy.collect_schema().items() if str(kind) in WIDE_INTEGERS]
    # Arrow has no integers of 128 bits.
    lazy = lazy.with_columns(pl.col(wide).cast(pl.Decimal(38, 0))) if wide else lazy
    schema = lazy.collect_schema().to_frame().to_arrow().schema
    # Releases before 1.34 collect all rows.
    batches = getattr(lazy, "collect_batches", None)
    frames = batches(maintain_order=True) if batches else [_collect(lazy)]

    def read() -> Iterator[pa.RecordBatch]:
        for frame in frames:
            yield from frame.to_arrow().cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, read())


def _collect(lazy: Any) -> Any:
    try:
        return lazy.collect(engine="streaming")
    except ValueError:  # releases before 1.23 have no such engine
        return lazy.collect()


READERS: Mapping[str, Callable[[Any], pa.RecordBatchReader]] = {
    "polars": _polars_reader,
    "duckdb": lambda relation: read_relation(relation, BATCH_ROWS),
    "ibis": _ibis_reader,
    "deltalake": lambda table: (
        table.to_pyarrow_dataset().scanner(batch_size=BATCH_ROWS).to_reader()
    ),
    "pyiceberg": lambda table: (
        table.scan() if hasattr(table, "scan") else table
    ).to_arrow_batch_reader(),
}


def _needs_python(kind: pa.DataType) -> bool:
    """Return whether DuckDB lacks an Arrow type."""
    import pyarrow as pa

    return bool(pa.types.is_decimal256(kind) or pa.types.is_float16(kind))


def keep_rows(
    source: str, names: Sequence[str], name: str, options: LoadSettings, db: Database
) -> SourceTable:
    """Make a table of the rows of a view or a query in SQL, which are read once and kept."""
    columns = [f"c{i}" for i, _ in enumerate(names)]
    limit = "" if options.limit is None else f" LIMIT {options.limit}"
    kept = db.keep(f"SELECT * FROM {source} AS given({', '.join(columns)}){limit}", "given")
    types = db.types(f"SELECT * FROM {kept}")
    fields = tuple(TableColumn(n, c, types[c]) for n, c in zip(names, columns, strict=True))
    numbered = f"(SELECT *, rowid AS pos FROM {kept})"
    return SourceTable(db=db, sql=kept, fields=fields, name=name, numbered_sql=numbered)

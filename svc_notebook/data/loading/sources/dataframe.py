"""DataFrames and Arrow tables as tables: as Arrow arrays if lossless, else encoded in Python.

A DataFrame that pandas or Dask stored has its index as columns. A load excludes an index without a
name, as for a DataFrame in memory; a named index is a column like any other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pandas as pd

from svc_notebook.core.display import list_names, shorten
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.encoding.json_values import Unsendable, is_missing, write_json
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.table import WRITTEN, RowError, SourceTable, TableColumn
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

# Dask's name for an index without a name.
UNNAMED = "__null_dask_index__"
# The inferred types of columns of objects that Arrow converts without loss.
UNIFORM = {"string", "boolean", "floating", "decimal", "empty"}
MAX_LABEL_CHARACTERS = 30  # of an index, in a note


def open_frame(frame: pd.DataFrame, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of a DataFrame: the named levels of its index, then its columns."""
    frame = with_named_index(frame)
    names = name_columns(frame)
    made = [_column(frame.iloc[:, n], name, options) for n, name in enumerate(names)]
    table = _table(made, names, len(frame), "DataFrame", db)
    return replace(table, notes=describe_index(frame))


def describe_index(frame: pd.DataFrame) -> tuple[str, ...]:
    """Return the note about an index of texts without a name, which is not sent."""
    index = frame.index
    is_text = pd.api.types.is_object_dtype(index) or pd.api.types.is_string_dtype(index)
    if isinstance(index, pd.MultiIndex) or index.name is not None or not is_text or not len(index):
        return ()
    shown = list_names([shorten(str(label), MAX_LABEL_CHARACTERS) for label in index[:3]], 2)
    return (f"the index of the DataFrame has no name and is not sent ({shown}); "
            "df.rename_axis('name') makes it a column",)  # fmt: skip


def open_arrow(source: Any, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of an Arrow table, or of an object that Arrow can convert to one."""
    import pyarrow as pa

    try:
        table = source if isinstance(source, pa.Table) else pa.table(source)
    except (TypeError, ValueError, pa.ArrowException) as error:
        if type(source).__module__.startswith("sqlalchemy"):
            raise BadInput(
                "a connection to a database has no rows of its own; pass those of a query: "
                "svc.load(pandas.read_sql('SELECT …', connection), index)"
            ) from error
        if isinstance(source, bytes | bytearray | memoryview):
            raise BadInput("bytes are loaded as an open file: io.BytesIO(data)") from error
        raise BadInput(
            f"a value of type {type(source).__name__} cannot be loaded; pass a path, a URL, SQL, "
            "an open file, a DataFrame, dicts or an Arrow table"
        ) from error
    excluded, notes = find_index([table.schema], options)
    table = table.drop_columns(list(excluded))
    names = table.column_names
    check_unique(names)
    made = [_arrow_column(table.column(n), name, options) for n, name in enumerate(names)]
    return replace(_table(made, names, table.num_rows, "Arrow table", db), notes=notes)


def with_named_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert the named levels of the index to columns, unless a column has the name."""
    given = frame.index.names
    named = [n for n, name in enumerate(given) if name is not None and name not in frame.columns]
    return frame.reset_index(level=named, allow_duplicates=True) if named else frame


def name_columns(frame: pd.DataFrame) -> list[str]:
    """Return the names of the columns as text; raises `BadInput` for other or duplicate names."""
    if isinstance(frame.columns, pd.MultiIndex):
        raise BadInput(
            "the columns have several levels; join them first: "
            "df.columns = ['.'.join(c) for c in df.columns]"
        )
    for label in frame.columns:
        if not isinstance(label, (str, int, float, np.integer)) or is_missing(label):
            raise BadInput(
                f"the name of column {label!r} is a {type(label).__name__}; rename it to text"
            )
    names = [str(label) for label in frame.columns]
    check_unique(names)
    return names


def check_unique(names: list[str]) -> None:
    """Raise `BadInput` if several columns have the same name."""
    duplicates = sorted({name for name in names if names.count(name) > 1})
    if duplicates:
        raise BadInput(f"several columns are named `{duplicates[0]}`; rename all but one")


@dataclass
class _Column:
    values: Any
    json: bool = False
    errors: list[RowError] = field(default_factory=list)


def _column(series: pd.Series[Any], name: str, options: LoadSettings) -> _Column:
    import pyarrow as pa

    if isinstance(series.dtype, pd.CategoricalDtype):
        kind = series.cat.categories.dtype
        # The NumPy dtypes of whole numbers and booleans have no missing value.
        has_gaps = kind.kind in "iub" and series.hasnans
        return _column(series.astype(object if has_gaps else kind), name, options)
    if isinstance(series.dtype, pd.SparseDtype):
        return _column(pd.Series(np.asarray(series)), name, options)
    if series.dtype == object and pd.api.types.infer_dtype(series, skipna=True) not in UNIFORM:
        return _encoded(series, name, options)
    try:
        array = pa.array(series, from_pandas=True)
        return _Column(array.cast(_known_type(array.type)))
    except (pa.ArrowException, UnicodeEncodeError, TypeError, OverflowError):
        return _encoded(series, name, options)


def _arrow_column(array: pa.ChunkedArray, name: str, options: LoadSettings) -> _Column:
    """Return an Arrow column; types that DuckDB does not support are converted."""
    import pyarrow as pa

    if pa.types.is_decimal256(array.type):
        return _encoded(pd.Series(array.to_pylist(), dtype=object), name, options)
    return _Column(array.cast(pa.float32()) if pa.types.is_float16(array.type) else array)


def _known_type(kind: pa.DataType) -> pa.DataType:
    """Return the type that DuckDB reads a column as; raises `ArrowTypeError` if there is none."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_decimal256(kind):
        raise pa.ArrowTypeError(f"DuckDB does not support {kind}")
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        # The cast fails if it would lose nanoseconds.
        return pa.timestamp("us", tz=kind.tz)
    # A column without any value is read as text.
    return {pa.null(): pa.string(), pa.float16(): pa.float32()}.get(kind, kind)


def _encoded(series: pd.Series[Any], name: str, options: LoadSettings) -> _Column:
    """Encode every value as JSON in Python; an unsendable value is an error of its row."""
    import pyarrow as pa

    column = _Column([], json=True)
    for row, value in enumerate(series.tolist(), 1):
        try:
            column.values.append(write_json(value, options.timezone))
        except Unsendable as error:
            column.values.append(None)
            column.errors.append(RowError(row, name, value, str(error)))
    column.values = pa.array(column.values, pa.string())
    return column


def _table(
    made: Sequence[_Column], names: Sequence[str], rows: int, what: str, db: Database
) -> SourceTable:
    if not made:
        raise BadInput(f"the {what} has no columns")
    columns = [f"c{i}" for i, _ in enumerate(names)]
    register(db, [column.values for column in made], columns, rows)
    types = db.types("SELECT * FROM given")
    fields = tuple(
        TableColumn(name, column, WRITTEN if values.json else types[column])
        for name, column, values in zip(names, columns, made, strict=True)
    )
    errors = tuple(error for column in made for error in column.errors)
    return SourceTable(db, "given", fields, title(what, rows), errors=errors, numbered_sql="given")


def register(db: Database, arrays: Sequence[Any], columns: Sequence[str], rows: int) -> None:
    """Register columns as the table `given`, with a column `pos` for the position of each row."""
    import pyarrow as pa

    positions = pa.array(np.arange(rows, dtype=np.int64))
    db.register("given", pa.table([*arrays, positions], names=[*columns, "pos"]))


def title(what: str, rows: int) -> str:
    """Return the name of rows in memory for messages."""
    return f"the {what} of {rows:,} rows"


def find_index(
    schemas: Iterable[pa.Schema], options: LoadSettings
) -> tuple[Sequence[str], tuple[str, ...]]:
    """Return the columns that are an index and not sent, and notes about all that are an index."""
    named_columns = options.named_columns() | {options.id}
    levels = _find_levels(schemas)
    excluded = [c for c, named in levels.items() if not named and c not in named_columns]
    notes = (
        *(f"`{n}` is the index of a DataFrame: not sent; name it in `columns` to send it"
          for n in excluded),
        *(f"`{n}` is the index of a DataFrame: sent as a column"
          for n, named in levels.items() if named),
    )  # fmt: skip
    return excluded, notes


def _find_levels(schemas: Iterable[pa.Schema]) -> dict[str, bool]:
    """Return the columns that are an index in each table, and whether some index has a name."""
    levels: dict[str, bool] = {}
    others: set[str] = set()
    for schema in schemas:
        named = dict(_levels(schema))
        others.update(set(schema.names) - named.keys())
        for column, has_name in named.items():
            levels[column] = levels.get(column, False) or has_name
    return {column: named for column, named in levels.items() if column not in others}


def _levels(schema: pa.Schema) -> Iterator[tuple[str, bool]]:
    """Yield each column that was an index, and whether the index had a name."""
    facts = _facts(schema)
    names = {column.get("field_name"): column.get("name") for column in facts.get("columns", [])}
    for column in facts.get("index_columns", []):
        if isinstance(column, str) and column in schema.names:  # a range has no column
            yield column, names.get(column) not in (None, UNNAMED)


def _facts(schema: pa.Schema) -> Mapping[str, Any]:
    """Read the metadata that pandas adds to a table; empty if it is missing or invalid."""
    try:
        facts = msgspec.json.decode((schema.metadata or {}).get(b"pandas", b"{}"), type=_Facts)
    except msgspec.MsgspecError:
        return {}
    return msgspec.structs.asdict(facts)


class _Facts(msgspec.Struct):
    columns: list[dict[str, Any]] = []
    index_columns: list[Any] = []

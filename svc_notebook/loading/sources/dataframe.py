"""DataFrames and Arrow tables as tables: through Arrow if lossless, otherwise value by value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from svc_notebook.errors import BadInput
from svc_notebook.loading.database import Database
from svc_notebook.loading.encoding.python_encoder import Unsendable, is_missing, write_json
from svc_notebook.loading.load_plan.rejected_rows import restore
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.pandas_index import find_index
from svc_notebook.loading.table import WRITTEN, RowError, SourceTable, TableColumn

if TYPE_CHECKING:
    import pyarrow as pa

# What pandas finds in a column of objects, where Arrow renders every value alike.
UNIFORM = {"string", "boolean", "floating", "decimal", "empty"}


def open_frame(frame: pd.DataFrame, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of a DataFrame's columns, those of its index that have names first."""
    frame = with_named_index(restore(frame))
    names = name_columns(frame)
    made = [_column(frame.iloc[:, n], name, options) for n, name in enumerate(names)]
    return _table(made, names, len(frame), "DataFrame", db)


def open_arrow(source: Any, options: LoadSettings, db: Database) -> SourceTable:
    """Make a table of an Arrow table, or of whatever can be seen as one."""
    import pyarrow as pa

    try:
        table = source if isinstance(source, pa.Table) else pa.table(source)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise BadInput(
            f"a value of type {type(source).__name__} cannot be loaded; give a path, a URL, SQL, "
            "a DataFrame, dicts or an Arrow table"
        ) from error
    index = find_index([table.schema], options)
    table = table.drop_columns(list(index.left_out))
    names = table.column_names
    refuse_twins(names)
    made = [_arrow_column(table.column(n), name, options) for n, name in enumerate(names)]
    return replace(_table(made, names, table.num_rows, "Arrow table", db), notes=index.notes)


def with_named_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Take the levels of the index that have a name no column has."""
    given = frame.index.names
    named = [n for n, name in enumerate(given) if name is not None and name not in frame.columns]
    return frame.reset_index(level=named, allow_duplicates=True) if named else frame


def name_columns(frame: pd.DataFrame) -> list[str]:
    """Name the columns by text; raises `BadInput` for names that are none, or twice the same."""
    if isinstance(frame.columns, pd.MultiIndex):
        raise BadInput(
            "the columns have several levels; join them first: "
            "df.columns = ['.'.join(c) for c in df.columns]"
        )
    for label in frame.columns:
        if not isinstance(label, (str, int, float, np.integer)) or is_missing(label):
            raise BadInput(
                f"column {label!r} is named by a {type(label).__name__}; name it by text"
            )
    names = [str(label) for label in frame.columns]
    refuse_twins(names)
    return names


def refuse_twins(names: list[str]) -> None:
    """Refuse columns of one name."""
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise BadInput(f"several columns are named `{twins[0]}`; rename all but one")


@dataclass
class _Column:
    values: Any
    json: bool = False
    faults: list[RowError] = field(default_factory=list)


def _column(series: pd.Series[Any], name: str, options: LoadSettings) -> _Column:
    import pyarrow as pa

    if isinstance(series.dtype, pd.CategoricalDtype):
        kind = series.cat.categories.dtype
        # Whole numbers and truth values have no way of their own to be missing.
        gaps = kind.kind in "iub" and series.hasnans
        return _column(series.astype(object if gaps else kind), name, options)
    if isinstance(series.dtype, pd.SparseDtype):
        return _column(pd.Series(np.asarray(series)), name, options)
    if series.dtype == object and pd.api.types.infer_dtype(series, skipna=True) not in UNIFORM:
        return _written(series, name, options)
    try:
        array = pa.array(series, from_pandas=True)
        return _Column(array.cast(_known_type(array.type)))
    except (pa.ArrowException, UnicodeEncodeError, TypeError, OverflowError):
        return _written(series, name, options)


def _arrow_column(array: pa.ChunkedArray, name: str, options: LoadSettings) -> _Column:
    """Take an Arrow column as it is, but for what DuckDB does not know."""
    import pyarrow as pa

    if pa.types.is_decimal256(array.type):
        return _written(pd.Series(array.to_pylist(), dtype=object), name, options)
    return _Column(array.cast(pa.float32()) if pa.types.is_float16(array.type) else array)


def _known_type(kind: pa.DataType) -> pa.DataType:
    """Name the type DuckDB reads a column as; raises where nothing does justice to it."""
    import pyarrow as pa

    if isinstance(kind, pa.BaseExtensionType) or pa.types.is_decimal256(kind):
        raise pa.ArrowTypeError(f"{kind} has a text of its own")
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        # The cast fails where it would lose nanoseconds.
        return pa.timestamp("us", tz=kind.tz)
    # Only missing values are no reason to lose the column.
    return {pa.null(): pa.string(), pa.float16(): pa.float32()}.get(kind, kind)


def _written(series: pd.Series[Any], name: str, options: LoadSettings) -> _Column:
    """Write every value as JSON; a value that has none is a fault of its row."""
    import pyarrow as pa

    column = _Column([], json=True)
    for row, value in enumerate(series.tolist(), 1):
        try:
            column.values.append(write_json(value, options.timezone))
        except Unsendable as error:
            column.values.append(None)
            column.faults.append(RowError(row, name, value, str(error)))
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
    kinds = [WRITTEN if own.json else types[c] for c, own in zip(columns, made, strict=True)]
    fields = tuple(TableColumn(*each) for each in zip(names, columns, kinds, strict=True))
    faults = tuple(fault for column in made for fault in column.faults)
    return SourceTable(
        db=db,
        sql="given",
        fields=fields,
        name=title(what, rows),
        faults=faults,
        numbered_sql="given",
    )


def register(db: Database, arrays: Sequence[Any], columns: Sequence[str], rows: int) -> None:
    """Make columns known as the table `given`, with the position of each row beside them."""
    import pyarrow as pa

    positions = pa.array(np.arange(rows, dtype=np.int64))
    db.register("given", pa.table([*arrays, positions], names=[*columns, "pos"]))


def title(what: str, rows: int) -> str:
    """Name rows in memory."""
    return f"the {what} of {rows:,} rows"

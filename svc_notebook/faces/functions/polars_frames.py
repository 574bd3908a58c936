"""Results as DataFrames of Polars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import pandas as pd

from svc_notebook.core.display import text_of
from svc_notebook.data.declarations import public
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    import polars as pl


@public()
def to_polars(frame: pd.DataFrame) -> pl.DataFrame:
    """Convert a result to a DataFrame of Polars.

    Every table of this package can be converted: hits, records, facets, logs, judgments, scores.
    The rows of an accessor of Polars, such as `frame.svc.records()`, are converted already.

    Parameters
    ----------
    frame : DataFrame
        Result of a function, a DataFrame of pandas.

    Returns
    -------
    polars.DataFrame
        The same rows and columns; an index that is not the numbers of the rows becomes the first
        columns. Missing values are null. Objects are `Struct`, in which missing members are null;
        lists are `List`. A column whose values have no common type is `String`: texts as they
        are, other values as JSON. The description of the request, `attrs["svc"]`, is lost.

    Raises
    ------
    BadInput
        If `frame` is not a DataFrame of pandas, two of its columns have the same name, or Polars or
        pyarrow is not installed.

    Examples
    --------
    >>> hits = svc.to_polars(svc.search("products", "desk lamp", hitsPerPage=2))
    >>> hits["objectID"].to_list()
    ['LMP-001', 'LMP-003']
    """
    if not isinstance(frame, pd.DataFrame):
        raise BadInput(
            f"`frame` must be a DataFrame of pandas, such as a result, not {type(frame).__name__}"
        )
    polars = _import_polars()
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index()
    names = [str(name) for name in frame]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise BadInput(f"two columns are called `{twice}`: rename one of them")
    columns = [_convert(polars, name, frame.iloc[:, at]) for at, name in enumerate(names)]
    converted: pl.DataFrame = polars.DataFrame(columns)
    return converted


def _import_polars() -> Any:
    try:
        import_module("pyarrow")
        return import_module("polars")
    except ModuleNotFoundError:
        raise BadInput(
            'frames of Polars need Polars and pyarrow: pip install polars "svc-notebook[bulk]"'
        ) from None


def _convert(polars: Any, name: str, values: pd.Series[Any]) -> Any:
    if values.dtype != object:
        return polars.from_pandas(values.reset_index(drop=True)).alias(name)
    cells = [None if _is_missing(value) else value for value in values]
    try:
        series = polars.Series(name, _complete(cells), strict=True)
    except (TypeError, OverflowError, polars.exceptions.PolarsError):
        series = None
    if series is not None and _holds(series, cells):
        return series
    if all(isinstance(cell, (int, float, type(None))) for cell in cells):
        return polars.Series(name, cells, dtype=polars.Float64, strict=False)
    texts = [None if cell is None else text_of(cell) for cell in cells]
    return polars.Series(name, texts, dtype=polars.String)


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or value != value


def _complete(values: Sequence[Any]) -> list[Any]:
    """Give all objects at the same place the members of each other: Polars reads the first ones."""
    filled = [value for value in values if value is not None]
    if _are_all(filled, dict):
        return _complete_objects(values)
    if _are_all(filled, list):
        items = iter(_complete([*chain.from_iterable(filled)]))
        return [None if value is None else [*islice(items, len(value))] for value in values]
    return list(values)


def _are_all(values: Sequence[Any], kind: type) -> bool:
    return bool(values) and all(isinstance(value, kind) for value in values)


def _complete_objects(values: Sequence[dict[str, Any] | None]) -> list[dict[str, Any] | None]:
    rows = [value or {} for value in values]
    names = dict.fromkeys(chain.from_iterable(rows))
    columns = {name: _complete([row.get(name) for row in rows]) for name in names}
    return [
        None if value is None else {name: columns[name][at] for name in names}
        for at, value in enumerate(values)
    ]


def _holds(series: Any, cells: Sequence[Any]) -> bool:
    """Return whether Polars has kept all values; of texts and numbers it keeps them, or fails."""
    if not series.dtype.is_nested():
        return True
    return bool(_without_null(series.to_list()) == _without_null(cells))


def _without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_null(item) for name, item in value.items() if item is not None}
    if isinstance(value, (list, tuple)):
        return [_without_null(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value

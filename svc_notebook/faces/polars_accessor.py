"""The Polars accessors `frame.svc`, of a DataFrame, a LazyFrame or a Series.

They have the methods of the accessors of pandas that take rows or a column, and return results as
DataFrames of Polars. Importing this module registers them; importing it again has no effect.
"""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import pandas as pd
import polars as pl

from svc_notebook.faces.accessors import Accessor, FrameAccessor, SeriesAccessor
from svc_notebook.faces.functions.homes import ACCESSORS
from svc_notebook.faces.functions.polars_frames import to_polars

# Methods that continue the request of a result, which only a DataFrame of pandas contains.
OF_REQUESTS = ("next_page", "refresh", "browse", "logs", "clusters")
# The parameter of functions that read frames of Polars themselves.
SOURCE = "source"


class PolarsAccessor(Accessor):
    """Methods for data of Polars."""

    def _data_for(self, parameter: str) -> Any:
        if parameter == SOURCE:
            return self._data
        data = self._data.collect() if isinstance(self._data, pl.LazyFrame) else self._data
        if isinstance(data, pl.Series):
            return _to_pandas(data)
        columns = {series.name: _to_pandas(series) for series in data}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(data)))

    def _finish(self, result: Any) -> Any:
        return to_polars(result) if isinstance(result, pd.DataFrame) else result

    def _describe(self) -> str:
        if isinstance(self._data, pl.LazyFrame):
            return "a LazyFrame"
        return super()._describe()


class PolarsFrameAccessor(PolarsAccessor):
    """Methods for the rows of a DataFrame or LazyFrame of Polars."""

    _name = FrameAccessor._name
    _left_out: ClassVar[tuple[str, ...]] = OF_REQUESTS

    def __getattr__(self, name: str) -> Any:
        """Raise an error that says why a method of pandas is missing, or suggests another one."""
        if name in OF_REQUESTS and name in ACCESSORS[self._name]:
            raise AttributeError(
                f"a frame of Polars has no `svc.{name}`: it does not contain the request that "
                f"returned it; call the function of `svc` again, or use a result of pandas"
            )
        return super().__getattr__(name)


class PolarsSeriesAccessor(PolarsAccessor):
    """Methods for a Series of objectIDs, queries, facet values or URLs."""

    _name = SeriesAccessor._name

    def _describe(self) -> str:
        return f"{len(self._data)} values"


def _to_pandas(series: pl.Series) -> pd.Series[Any]:
    """Convert a column; Polars itself would make arrays of NumPy of lists."""
    if series.dtype.is_nested():
        return pd.Series(series.to_list(), name=series.name, dtype=object)
    return series.to_pandas()


def register() -> None:
    """Register the accessors with Polars."""
    with warnings.catch_warnings():
        # After a reload of this module, Polars warns that the accessors exist.
        warnings.simplefilter("ignore", UserWarning)
        pl.api.register_dataframe_namespace("svc")(PolarsFrameAccessor)
        pl.api.register_lazyframe_namespace("svc")(PolarsFrameAccessor)
        pl.api.register_series_namespace("svc")(PolarsSeriesAccessor)


register()

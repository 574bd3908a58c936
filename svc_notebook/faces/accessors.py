"""The pandas accessors `df.svc` and `series.svc`.

Each method is a function of `svc`, whose declaration names it, with the data as one of the
arguments. pandas creates a new accessor for each access, so accessors have no state but their data.
Importing this module registers them; importing it again has no effect.
"""

from __future__ import annotations

import warnings
from types import MethodType
from typing import Any, ClassVar

import pandas as pd

from svc_notebook.core.display import format_count
from svc_notebook.core.foreign_names import suggest_accessor_method
from svc_notebook.faces.functions.homes import ACCESSORS


class LazyMethod:
    """A method of an accessor, made from its function when it is first used."""

    def __init__(self, path: str, home: str) -> None:
        self._path = path
        self._home = home

    def __get__(self, accessor: Accessor | None, owner: type) -> Any:
        """Return the method, bound to an accessor if there is one."""
        # It imports the client, which registering the accessors does not need.
        from svc_notebook.faces.accessor_methods import make_method

        method = make_method(self._path, self._home)
        return method if accessor is None else MethodType(method, accessor)


class Accessor:
    """Methods for data of pandas, Polars or Dask."""

    _name: ClassVar[str] = ""
    _left_out: ClassVar[tuple[str, ...]] = ()  # methods that this kind of data does not have

    def __init_subclass__(cls) -> None:
        for name, home in ACCESSORS.get(cls._name, {}).items():
            if name not in cls._left_out:
                setattr(cls, name, LazyMethod(f"{cls._name}.{name}", home))

    def __init__(self, data: Any) -> None:
        self._data = data

    def __repr__(self) -> str:
        names = [name for name in ACCESSORS[self._name] if name not in self._left_out]
        return f"{self._name} of {self._describe()}: {', '.join(names)}"

    def _data_for(self, parameter: str) -> Any:
        """Return the data as a parameter of a function takes it."""
        return self._data

    def _finish(self, result: Any) -> Any:
        """Return the result of a function as a method returns it."""
        return result

    def _describe(self) -> str:
        return format_count(len(self._data), "row")

    def __getattr__(self, name: str) -> Any:
        """Raise an error that suggests the method that was probably meant."""
        advice = (
            ""
            if name[0] == "_"
            else suggest_accessor_method(name, self._name, ACCESSORS[self._name])
        )
        raise AttributeError(f"{self._name} has no `{name}`{advice}")


class FrameAccessor(Accessor):
    """Methods for the rows of a DataFrame and for the request that returned it."""

    _name = "df.svc"


class SeriesAccessor(Accessor):
    """Methods for a column of objectIDs, queries, facet values or URLs."""

    _name = "series.svc"

    def _describe(self) -> str:
        return f"{len(self._data)} values"

    def __getattr__(self, name: str) -> Any:
        """Raise an error that suggests a method, also of the accessor of DataFrames."""
        if name in ACCESSORS[FrameAccessor._name]:
            raise AttributeError(
                f"series.svc has no `{name}`; use a DataFrame: df.iloc[[0]].svc.{name}"
            )
        return super().__getattr__(name)


def register() -> None:
    """Register the accessors with pandas."""
    with warnings.catch_warnings():
        # After a reload of this module, pandas warns that the accessors exist.
        warnings.simplefilter("ignore", UserWarning)
        pd.api.extensions.register_dataframe_accessor("svc")(FrameAccessor)
        pd.api.extensions.register_series_accessor("svc")(SeriesAccessor)


register()

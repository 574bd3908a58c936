"""The Dask accessor `ddf.svc`.

Importing this module registers it; importing it again has no effect.
"""

from __future__ import annotations

import warnings

from dask.dataframe.extensions import register_dataframe_accessor

from svc_notebook.faces.accessors import Accessor


class DaskAccessor(Accessor):
    """Methods for the rows of a Dask DataFrame, partition by partition."""

    _name = "ddf.svc"

    def _describe(self) -> str:
        return f"{self._data.npartitions} partitions"


def register() -> None:
    """Register the accessor with Dask."""
    with warnings.catch_warnings():
        # After a reload of this module, Dask warns that the accessor exists.
        warnings.simplefilter("ignore", UserWarning)
        register_dataframe_accessor("svc")(DaskAccessor)


register()

"""`ddf.svc`: the functions of this package, where a Dask DataFrame is.

Importing this module registers it; again is no harm.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Unpack

if TYPE_CHECKING:
    from svc_notebook.client import Client
    from svc_notebook.functions.loads import LoadOptions
    from svc_notebook.loading import LoadPlan, LoadResult, RowOptions


class DaskAccessor:
    """What can be done with the rows of a Dask DataFrame, partition by partition."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def push(self, index: str, **options: Unpack[LoadOptions]) -> LoadResult:
        """Write the rows to an index, from the workers, and wait until they are published."""
        from svc_notebook.functions.blocking import load

        return load(self._frame, index, **options)

    def plan(self, index: str, **options: Unpack[RowOptions]) -> LoadPlan:
        """Tell what `push` would do with the first partition; nothing is sent."""
        from svc_notebook import loading

        return loading.plan(self._frame, index, **options)

    def delete(
        self,
        index: str,
        *,
        id: str = "objectID",  # noqa: A002 - as in `push`
        client: Client | None = None,
        progress: bool | None = None,
    ) -> LoadResult:
        """Delete the records of the rows' ids."""
        return self.push(
            index, id=id, columns=[], action="delete", client=client, progress=progress
        )


def register() -> None:
    """Make the accessor known to Dask."""
    from dask.dataframe.extensions import register_dataframe_accessor

    with warnings.catch_warnings():
        # After a reload of this module Dask finds the former one in place.
        warnings.simplefilter("ignore", UserWarning)
        register_dataframe_accessor("svc")(DaskAccessor)


register()

"""The Dask accessor `ddf.svc`.

Importing this module registers it; importing it again has no effect.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Unpack

from svc_notebook.declarations.arguments import public_methods

if TYPE_CHECKING:
    from svc_notebook.client import Client
    from svc_notebook.functions.loads import LoadOptions
    from svc_notebook.loading import LoadPlan, LoadResult, RowOptions


@public_methods
class DaskAccessor:
    """Methods for the rows of a Dask DataFrame, partition by partition."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def push(self, index: str, **options: Unpack[LoadOptions]) -> LoadResult:
        """Send the rows to an index, from the workers; return when they are published.

        Parameters
        ----------
        **options
            Options of `svc.load`, such as `id`, `if_exists` and `columns`.

        Returns
        -------
        LoadResult
            The number of rows sent, published and rejected.

        Raises
        ------
        BadInput
            If a row or an option is wrong.
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> import dask.dataframe as dd
        >>> ddf = dd.from_pandas(svc.samples.products(), npartitions=2)
        >>> ddf.svc.push("products", id="sku").published
        240
        """
        from svc_notebook.functions.blocking import load

        return load(self._frame, index, **options)

    def plan(self, index: str, **options: Unpack[RowOptions]) -> LoadPlan:
        """Return the plan of `push` for the first partition; nothing is sent.

        Parameters
        ----------
        **options
            Options of `svc.plan`, such as `id` and `columns`.

        Returns
        -------
        LoadPlan
            The columns with their types, the objectIDs, a sample of the records, and the
            rejected rows.

        Raises
        ------
        BadInput
            If an option is wrong.

        Examples
        --------
        >>> import dask.dataframe as dd
        >>> ddf = dd.from_pandas(svc.samples.products(), npartitions=2)
        >>> plan = ddf.svc.plan("products", id="sku")
        """
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
        """Delete the records of the rows.

        Parameters
        ----------
        id : str, default 'objectID'
            Column of the objectIDs.
        progress : bool, default None
            Draw a progress bar; None draws one in notebooks and terminals.

        Returns
        -------
        LoadResult
            The number of deletions sent and published.

        Raises
        ------
        BadInput
            If the column does not exist.

        Examples
        --------
        >>> import dask.dataframe as dd
        >>> ddf = dd.from_pandas(svc.samples.products().head(10), npartitions=2)
        >>> ddf.svc.delete("products", id="sku").published
        10
        """
        return self.push(
            index, id=id, columns=[], action="delete", client=client, progress=progress
        )


def register() -> None:
    """Register the accessor with Dask."""
    from dask.dataframe.extensions import register_dataframe_accessor

    with warnings.catch_warnings():
        # After a reload of this module, Dask warns that the accessor exists.
        warnings.simplefilter("ignore", UserWarning)
        register_dataframe_accessor("svc")(DaskAccessor)


register()

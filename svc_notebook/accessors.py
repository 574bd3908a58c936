"""`df.svc` and `series.svc`: the functions of this package, where the data already is.

pandas makes a new accessor at every access: they hold nothing but what they were made from.
Importing this module registers them; again is no harm.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.api.parameters import SearchOptions
    from svc_notebook.bulk import LoadResult, Plan, RowOptions
    from svc_notebook.bulk.options import IfExists
    from svc_notebook.client import AsyncClient, Client


class FrameAccessor:
    """What can be done with the rows of a DataFrame."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def push(
        self,
        index: str,
        *,
        client: Client | None = None,
        progress: bool | None = None,
        if_exists: IfExists = "append",
        **options: Unpack[RowOptions],
    ) -> LoadResult:
        """Write the rows to an index, and wait until they are published."""
        from svc_notebook import bulk
        from svc_notebook.client import Progress, portal

        with Progress(unit="rows", label=index, shown=progress) as bar:
            work = bulk.load(
                _aio(client),
                self._frame,
                index,
                if_exists=if_exists,
                on_progress=bar.tell,
                **options,
            )
            return portal.run(work, on_tick=bar.draw)

    def plan(self, index: str, **options: Unpack[RowOptions]) -> Plan:
        """Tell what `push` would do; nothing is sent."""
        from svc_notebook import bulk

        return bulk.plan(self._frame, index, **options)

    def delete(
        self,
        index: str,
        *,
        id: str = "objectID",  # noqa: A002 - as in `push`
        client: Client | None = None,
    ) -> LoadResult:
        """Delete the records of the rows' ids."""
        self._check(id)
        return self.push(index, client=client, id=id, columns=[], action="delete")

    def records(
        self,
        index: str,
        *,
        id: str = "objectID",  # noqa: A002 - as in `push`
        columns: Sequence[str] | None = None,
        client: Client | None = None,
    ) -> pd.DataFrame:
        """Read the stored records of the rows' ids, in their order."""
        self._check(id)
        return SeriesAccessor(self._frame[id]).records(index, columns=columns, client=client)

    def _check(self, column: str) -> None:
        if column not in self._frame.columns:
            known = [str(name) for name in self._frame.columns]
            raise BadInput(
                f"there is no column `{column}`{did_you_mean(column, known)}; "
                "name the column of the ids: id='…'"
            )


class SeriesAccessor:
    """What can be done with a column of ids, or of queries."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def records(
        self, index: str, *, columns: Sequence[str] | None = None, client: Client | None = None
    ) -> pd.DataFrame:
        """Read the records of these ids, in their order."""
        from svc_notebook import frames
        from svc_notebook.client import portal

        return portal.run(frames.read_records(_aio(client), index, self._series, columns=columns))

    def search(
        self,
        index: str,
        *,
        client: Client | None = None,
        ranking: bool = False,
        highlight: bool = False,
        columns: Sequence[str] | None = None,
        **params: Unpack[SearchOptions],
    ) -> pd.DataFrame:
        """Search for each of these queries; one long frame whose first column is `query`."""
        from svc_notebook import frames
        from svc_notebook.client import portal

        work = frames.search_many(
            _aio(client),
            index,
            self._series,
            ranking=ranking,
            highlight=highlight,
            columns=columns,
            **params,
        )
        return portal.run(work)


def _aio(client: Client | None) -> AsyncClient:
    from svc_notebook.client import Client
    from svc_notebook.session import current

    found = current() if client is None else client
    if not isinstance(found, Client):
        raise BadInput(f"`client` is what connect() returns, not a {type(found).__name__}")
    return found.aio


def register() -> None:
    """Make the accessors known to pandas."""
    with warnings.catch_warnings():
        # After a reload of this module pandas finds the former ones in place.
        warnings.simplefilter("ignore", UserWarning)
        pd.api.extensions.register_dataframe_accessor("svc")(FrameAccessor)
        pd.api.extensions.register_series_accessor("svc")(SeriesAccessor)


register()

"""`df.svc` and `series.svc`: the functions of this package, where the data already is.

pandas makes a new accessor at every access: they hold nothing but what they were made from.
Importing this module registers them; again is no harm. Each method is a function of `svc` whose
first argument is the frame, or what is in it; `client` is the current client unless it is given.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.api.parameters import SearchOptions
    from svc_notebook.frames.records import LogOptions
    from svc_notebook.functions.loads import LoadOptions
    from svc_notebook.loading import LoadPlan, LoadResult, RowOptions
    from svc_notebook.loading.sending.comparison import Missing
    from svc_notebook.session.connection import AnyClient


class FrameAccessor:
    """What can be done with the rows of a DataFrame, and with where it came from."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        return _told(self, f"df.svc of {len(self._frame)} rows")

    def __getattr__(self, name: str) -> Any:
        """Say which method may have been meant."""
        raise _lacking("df", name, FrameAccessor)

    def push(self, index: str, **options: Unpack[LoadOptions]) -> LoadResult:
        """Write the rows to an index, and wait until they are published."""
        from svc_notebook.functions import blocking

        return blocking.load(self._frame, index, **options)

    def plan(self, index: str, **options: Unpack[RowOptions]) -> LoadPlan:
        """Tell what `push` would do; nothing is sent."""
        from svc_notebook.functions import blocking

        return blocking.plan(self._frame, index, **options)

    def diff(
        self,
        index: str | None = None,
        *,
        missing: Missing = "ignore",
        client: AnyClient | None = None,
        **options: Unpack[RowOptions],
    ) -> pd.DataFrame:
        """Compare the rows with what is stored: `objectID`, `state`, `attributes` that differ.

        `index` is the one that the frame came from unless named. Only the ids of the rows are
        looked at; with `missing="report"` the records that no row has come last.
        """
        from svc_notebook.functions import blocking

        return blocking.diff_records(
            self._frame, _index_of(self._frame, index, client),
            missing=missing, client=client, **options,
        )  # fmt: skip

    def delete(
        self,
        index: str | None = None,
        *,
        id: str = "objectID",  # noqa: A002 - as in `push`
        client: AnyClient | None = None,
    ) -> LoadResult:
        """Delete the records of the rows' ids, from the index the frame came from unless named."""
        self._check(id)
        target = _index_of(self._frame, index, client)
        return self.push(target, client=client, id=id, columns=[], action="delete")

    def records(
        self,
        index: str | None = None,
        *,
        id: str = "objectID",  # noqa: A002 - as in `push`
        columns: Sequence[str] | None = None,
        flatten: bool = False,
        client: AnyClient | None = None,
    ) -> pd.DataFrame:
        """Read the stored records of the rows' ids, in their order; those that are there.

        `index` is the one that the frame came from unless named.
        """
        from svc_notebook.frames.provenance import hits_of

        self._check(id)
        ids = SeriesAccessor(hits_of(self._frame)[id])
        return ids.records(index, columns=columns, flatten=flatten, client=client)

    def refresh(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Read again what the frame holds; raises `BadInput` for one that no reader made."""
        from svc_notebook.functions import blocking

        return blocking.refresh(self._frame, client=client)

    def next_page(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Read the page after this one of a search or a browse; empty after the last."""
        from svc_notebook.functions import blocking

        return blocking.next_page(self._frame, client=client)

    def browse(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Read every record that the search behind the frame finds, beyond what pages reach."""
        from svc_notebook.functions import blocking

        return blocking.browse_all(self._frame, client=client)

    def logs(
        self, *, client: AnyClient | None = None, **options: Unpack[LogOptions]
    ) -> pd.DataFrame:
        """Read the logged requests to the index the frame came from."""
        from svc_notebook.functions import blocking

        wanted: LogOptions = {"indexName": self._told("index"), **options}
        return blocking.read_logs(client=client, **wanted)

    def events(self, *, client: AnyClient | None = None, **shared: Any) -> dict[str, Any]:
        """Report an event for each row; `shared` are members that all have, `eventType` and so on.

        A row has its own in columns of their names. The hits of a search bring their index, their
        ids, the user token that was searched with, and with `clickAnalytics` their queryID and
        positions.
        """
        from svc_notebook.functions import blocking
        from svc_notebook.functions.events import events_of_rows

        return blocking.send_events(events_of_rows(self._frame, shared), client=client)

    def clusters(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Read the clusters of the service."""
        from svc_notebook.functions import blocking

        return blocking.read_clusters(client=client)

    def crawler_urls(self, *, id: str = "id", client: AnyClient | None = None) -> pd.DataFrame:  # noqa: A002
        """Read how the URLs of the crawlers in the rows ended."""
        from svc_notebook.functions import blocking

        self._check(id)
        return blocking.read_crawler_urls(self._frame[id].tolist(), client=client)

    def crawled_urls(
        self,
        *,
        id: str = "id",  # noqa: A002
        status: str | None = None,
        client: AnyClient | None = None,
    ) -> pd.DataFrame:
        """Read how each URL of the crawlers in the rows ended, all or those of one `status`."""
        from svc_notebook.functions import blocking

        self._check(id)
        return blocking.read_crawled_urls(self._frame[id].tolist(), status=status, client=client)

    def _check(self, column: str) -> None:
        if column not in self._frame.columns:
            known = [str(name) for name in self._frame.columns]
            raise BadInput(
                f"there is no column `{column}`{did_you_mean(column, known)}; "
                "name the column of the ids: id='…'"
            )

    def _told(self, fact: str) -> Any:
        told = self._frame.attrs.get("svc", {})
        if fact not in told:
            raise BadInput(f"this frame does not say of which {fact} it is; search(…) makes such")
        return told[fact]


class SeriesAccessor:
    """What can be done with a column of ids, of queries, or of a facet's values."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def __repr__(self) -> str:
        return _told(self, f"series.svc of {len(self._series)} values")

    def __getattr__(self, name: str) -> Any:
        """Say which method may have been meant, and how a row is taken by what tables have."""
        if name[0] != "_" and name in vars(FrameAccessor):
            raise AttributeError(
                f"series.svc has no `{name}`; a table has: df.iloc[[0]].svc.{name}"
            )
        raise _lacking("series", name, SeriesAccessor)

    def records(
        self,
        index: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        flatten: bool = False,
        client: AnyClient | None = None,
    ) -> pd.DataFrame:
        """Read the records of these ids, in their order; those that are there.

        `index` is the one that the column's frame came from unless named.
        """
        from svc_notebook.functions import blocking

        ids: Any = self._series
        target = _index_of(ids, index, client)
        return blocking.read_records(target, ids, columns=columns, flatten=flatten, client=client)

    def search(
        self,
        index: str,
        *,
        client: AnyClient | None = None,
        criteria: bool = False,
        highlight: bool = False,
        columns: Sequence[str] | None = None,
        **params: Unpack[SearchOptions],
    ) -> pd.DataFrame:
        """Search for each of these queries; one long frame whose first column is `query`."""
        from svc_notebook.functions import blocking

        return blocking.search_many(
            index, self._series,
            client=client, criteria=criteria, highlight=highlight, columns=columns, **params,
        )  # fmt: skip

    def facet(
        self,
        index: str,
        facet: str | None = None,
        *,
        client: AnyClient | None = None,
        **params: Unpack[SearchOptions],
    ) -> pd.DataFrame:
        """Count the records that have each of these values: `value`, `count`.

        The facet is named as the column unless `facet` says otherwise.
        """
        from svc_notebook.functions import blocking

        name = facet or self._series.name
        if not isinstance(name, str):
            raise BadInput("which facet are these values of? series.svc.facet(index, 'brand')")
        values = self._series.dropna()
        return blocking.count_values(index, name, values, client=client, **params)

    def crawl(
        self,
        crawler: str,
        *,
        save: bool | None = None,
        wait: bool = False,
        client: AnyClient | None = None,
    ) -> dict[str, Any]:
        """Let a crawler visit these URLs now; `wait` until they are done."""
        from svc_notebook.functions import blocking

        urls = self._series.dropna().tolist()
        return blocking.crawl_urls(crawler, urls, save=save, wait=wait, client=client)


def _index_of(data: Any, index: str | None, client: AnyClient | None) -> str:
    """Name the index that is meant: the one given, or the one the data came from.

    Raises `BadInput` where neither says it, or where the data came from another service.
    """
    from svc_notebook.frames.provenance import check_origin
    from svc_notebook.session.connection import asynchronous

    if index is not None:
        return index
    told = data.attrs.get("svc", {})
    name = told.get("index")
    if not isinstance(name, str):
        raise BadInput("this frame does not say of which index it is; name it: index='…'")
    check_origin(told, asynchronous(client))
    return name


def _lacking(owner: str, name: str, accessor: type) -> AttributeError:
    known = [own for own in vars(accessor) if own[0] != "_"]
    advice = "" if name[0] == "_" else did_you_mean(name, known)
    return AttributeError(f"{owner}.svc has no `{name}`{advice}")


def _told(accessor: object, what: str) -> str:
    return f"{what}: {', '.join(name for name in vars(type(accessor)) if name[0] != '_')}"


def register() -> None:
    """Make the accessors known to pandas."""
    with warnings.catch_warnings():
        # After a reload of this module pandas finds the former ones in place.
        warnings.simplefilter("ignore", UserWarning)
        pd.api.extensions.register_dataframe_accessor("svc")(FrameAccessor)
        pd.api.extensions.register_series_accessor("svc")(SeriesAccessor)


register()

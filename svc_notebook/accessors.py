"""The pandas accessors `df.svc` and `series.svc`.

pandas creates a new accessor for each access, so accessors have no state but their data. Importing
this module registers them; importing it again has no effect. Each method is a function of `svc`
whose first argument is the data; `client` defaults to the current client.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from svc_notebook.declarations.arguments import public_methods
from svc_notebook.errors import BadInput, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.api.parameters import SearchOptions
    from svc_notebook.frames.records import LogOptions
    from svc_notebook.functions.loads import LoadOptions
    from svc_notebook.loading import LoadPlan, LoadResult, RowOptions
    from svc_notebook.loading.sending.comparison import Missing
    from svc_notebook.session.connection import AnyClient


@public_methods
class FrameAccessor:
    """Methods for the rows of a DataFrame and for the request that returned it."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __repr__(self) -> str:
        return _describe(self, f"df.svc of {len(self._frame)} rows")

    def __getattr__(self, name: str) -> Any:
        """Raise an error that suggests the method that was probably meant."""
        raise _lacking("df", name, FrameAccessor)

    def push(self, index: str, **options: Unpack[LoadOptions]) -> LoadResult:
        """Send the rows to an index; return when they are published.

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
        >>> df = svc.samples.products()
        >>> df.svc.push("products", id="sku").published
        240
        """
        from svc_notebook.functions import blocking

        return blocking.load(self._frame, index, **options)

    def plan(self, index: str, **options: Unpack[RowOptions]) -> LoadPlan:
        """Return the plan of `push`; nothing is sent.

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
        >>> df = svc.samples.products()
        >>> df.svc.plan("products", id="sku").rows
        240
        """
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
        """Compare the rows with the stored records; nothing is written.

        Parameters
        ----------
        index : str, default that of the DataFrame
            Name of the index.
        missing : {'ignore', 'report'}, default 'ignore'
            Whether to list stored records without a row, last, with the state `missing`.
        **options
            Options of `svc.plan`, such as `id` and `columns`.

        Returns
        -------
        DataFrame
            One row per objectID: `objectID` (str), `state` (str, `new`, `changed`, `unchanged`
            or `missing`) and `attributes` (object, the list of those that differ).

        Raises
        ------
        BadInput
            If no index is known, or an option is wrong.

        Examples
        --------
        >>> df = svc.read_browse("products")
        >>> df.svc.diff()["state"].unique().tolist()
        ['unchanged']
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
        """Delete the records of the rows.

        Parameters
        ----------
        index : str, default that of the DataFrame
            Name of the index.
        id : str, default 'objectID'
            Column of the objectIDs.

        Returns
        -------
        LoadResult
            The number of deletions sent and published.

        Raises
        ------
        BadInput
            If no index is known, or the column does not exist.

        Examples
        --------
        >>> hits = svc.search("products", "desk lamp")
        >>> hits.svc.delete().published
        10
        """
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
        """Read the stored records of the rows, in their order.

        Parameters
        ----------
        index : str, default that of the DataFrame
            Name of the index.
        id : str, default 'objectID'
            Column of the objectIDs.

        Returns
        -------
        DataFrame
            One row per stored record: `objectID` (str), then the attributes.

        Raises
        ------
        BadInput
            If no index is known, or the column does not exist.

        Examples
        --------
        >>> hits = svc.search("products", "desk lamp", columns=["name"])
        >>> hits.head(1).svc.records(columns=["price"])
          objectID  price
        0  LMP-001   23.9
        """
        from svc_notebook.frames.provenance import hits_of

        self._check(id)
        ids = SeriesAccessor(hits_of(self._frame)[id])
        return ids.records(index, columns=columns, flatten=flatten, client=client)

    def refresh(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Repeat the request that returned the DataFrame and return the new result.

        Returns
        -------
        DataFrame
            The new result, with the same columns.

        Raises
        ------
        BadInput
            If the DataFrame was not read from the service, or comes from another
            application.

        Examples
        --------
        >>> hits = svc.search("products", "desk lamp")
        >>> hits = hits.svc.refresh()
        """
        from svc_notebook.functions import blocking

        return blocking.refresh(self._frame, client=client)

    def next_page(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Read the page after the DataFrame of a search or a browse.

        Returns
        -------
        DataFrame
            The next page, with the columns of the first; empty after the last page.

        Raises
        ------
        BadInput
            If the DataFrame is not the result of a search or a browse, or comes from
            another application.

        Examples
        --------
        >>> hits = svc.search("products", "desk lamp", hitsPerPage=2)
        >>> hits.svc.next_page()["rank"].tolist()
        [3, 4]
        """
        from svc_notebook.functions import blocking

        return blocking.next_page(self._frame, client=client)

    def browse(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Read every record that matches the search of the DataFrame, beyond the pagination limit.

        Returns
        -------
        DataFrame
            One row per record: `objectID` (str), then the attributes, without `rank`.

        Raises
        ------
        BadInput
            If the DataFrame was not read from one index, or comes from another application.

        Examples
        --------
        >>> hits = svc.search("products", "lamp", hitsPerPage=2)
        >>> len(hits.svc.browse())
        40
        """
        from svc_notebook.functions import blocking

        return blocking.browse_all(self._frame, client=client)

    def logs(
        self, length: int = 100, *, client: AnyClient | None = None, **options: Unpack[LogOptions]
    ) -> pd.DataFrame:
        """Read the logged requests to the index of the DataFrame.

        Parameters
        ----------
        length : int, default 100
            Maximum number of requests, up to 1,000.
        **options
            Options of `svc.read_logs`: `offset` and `type`.

        Returns
        -------
        DataFrame
            One row per request, as `svc.read_logs` returns it.

        Raises
        ------
        BadInput
            If no index is known.

        Examples
        --------
        >>> hits = svc.search("products", "desk lamp")
        >>> len(hits.svc.logs(1))
        1
        """
        from svc_notebook.functions import blocking

        log_options: LogOptions = {"indexName": self._origin("index"), **options}
        return blocking.read_logs(length, client=client, **log_options)

    def events(self, *, client: AnyClient | None = None, **shared: Any) -> dict[str, Any]:
        """Send one event for each row.

        Columns named as members of events, such as `userToken`, provide members of each event.
        The hits of a search provide index, objectIDs and user token, and with `clickAnalytics`
        queryID and positions.

        Parameters
        ----------
        **shared
            Members that all events have, such as `eventType` and `eventName`.

        Returns
        -------
        dict
            `sent` (number of events).

        Raises
        ------
        BadInput
            If an event has a wrong, missing or unknown member.

        Examples
        --------
        >>> hits = svc.search("products", "desk lamp", clickAnalytics=True, userToken="anna")
        >>> hits.head(1).svc.events(eventType="click", eventName="Product opened")
        {'sent': 1}
        """
        from svc_notebook.functions import blocking
        from svc_notebook.functions.events import events_of_rows

        return blocking.send_events(events_of_rows(self._frame, shared), client=client)

    def clusters(self, *, client: AnyClient | None = None) -> pd.DataFrame:
        """Read the clusters of the service.

        Returns
        -------
        DataFrame
            One row per cluster, as `svc.read_clusters` returns it.

        Examples
        --------
        >>> df = svc.read_users()
        >>> df.svc.clusters()["clusterName"].tolist()
        ['local-1', 'local-2']
        """
        from svc_notebook.functions import blocking

        return blocking.read_clusters(client=client)

    def crawler_urls(self, *, id: str = "id", client: AnyClient | None = None) -> pd.DataFrame:  # noqa: A002
        """Count the URLs of the last crawl of the crawlers in the rows by outcome.

        Parameters
        ----------
        id : str, default 'id'
            Column of the ids or names of crawlers.

        Returns
        -------
        DataFrame
            One row per crawler and outcome, as `svc.read_crawler_urls` returns it.

        Raises
        ------
        BadInput
            If the column or the crawler does not exist.

        Examples
        --------
        >>> crawlers = svc.read_crawlers().query("name == 'shop'")
        >>> crawlers.svc.crawler_urls()["status"].tolist()
        ['DONE']
        """
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
        """Read the outcome of each URL of the last crawl of the crawlers in the rows.

        Parameters
        ----------
        id : str, default 'id'
            Column of the ids or names of crawlers.
        status : {'DONE', 'SKIPPED', 'FAILED'}, default None
            Outcome of the URLs to return; None returns all.

        Returns
        -------
        DataFrame
            One row per URL, as `svc.read_crawled_urls` returns it.

        Raises
        ------
        BadInput
            If the column, the crawler or the status does not exist.
        NotFound
            If the service does not store the outcome of each URL.

        Examples
        --------
        >>> crawlers = svc.read_crawlers().query("name == 'shop'")
        >>> len(crawlers.svc.crawled_urls(status="DONE"))
        2
        """
        from svc_notebook.functions import blocking

        self._check(id)
        return blocking.read_crawled_urls(self._frame[id].tolist(), status=status, client=client)

    def _check(self, column: str) -> None:
        if column not in self._frame.columns:
            names = [str(name) for name in self._frame.columns]
            raise BadInput(
                f"the DataFrame has no column `{column}`{did_you_mean(column, names)}; "
                "pass the column of ids as `id=`"
            )

    def _origin(self, fact: str) -> Any:
        origin = self._frame.attrs.get("svc", {})
        if fact not in origin:
            raise BadInput(f"this DataFrame has no {fact} attached; use the result of search(…)")
        return origin[fact]


@public_methods
class SeriesAccessor:
    """Methods for a column of objectIDs, queries, facet values or URLs."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._series = series

    def __repr__(self) -> str:
        return _describe(self, f"series.svc of {len(self._series)} values")

    def __getattr__(self, name: str) -> Any:
        """Raise an error that suggests a method, also of the accessor of DataFrames."""
        if name[0] != "_" and name in vars(FrameAccessor):
            raise AttributeError(
                f"series.svc has no `{name}`; use a DataFrame: df.iloc[[0]].svc.{name}"
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
        """Read the records of these objectIDs, in their order.

        Parameters
        ----------
        index : str, default that of the column's DataFrame
            Name of the index.

        Returns
        -------
        DataFrame
            One row per stored record: `objectID` (str), then the attributes.

        Raises
        ------
        BadInput
            If no index is known, or an id is not valid.

        Examples
        --------
        >>> ids = pd.Series(["LMP-001", "MUG-001"])
        >>> len(ids.svc.records("products"))
        2
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
        """Search an index for each of these queries and return the hits in one DataFrame.

        Parameters
        ----------
        criteria : bool, default False
            Add a column for the value of each ranking criterion.
        highlight : bool, default False
            Add a column `highlighted.X` for each attribute X, in which matches are marked.
        **params
            Search parameters.

        Returns
        -------
        DataFrame
            One row per hit, as `svc.search_many` returns it.

        Raises
        ------
        BadInput
            If a search parameter is unknown or has a wrong type.
        NotFound

        Examples
        --------
        >>> queries = pd.Series(["mug", "desk lamp"])
        >>> queries.svc.search("products", hitsPerPage=1)["objectID"].tolist()
        ['MUG-001', 'LMP-001']
        """
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
        """Count the records that have each of these values of a facet.

        Parameters
        ----------
        facet : str, default the name of the column
            Name of the facet.
        **params
            Search parameters.

        Returns
        -------
        DataFrame
            One row per distinct value: `value` (str) and `count` (int64).

        Raises
        ------
        BadInput
            If the facet is not known.
        NotFound

        Examples
        --------
        >>> brands = pd.Series(["Norrvik", "Casavela"], name="brand")
        >>> brands.svc.facet("products")
              value  count
        0   Norrvik     30
        1  Casavela     30
        """
        from svc_notebook.functions import blocking

        name = facet or self._series.name
        if not isinstance(name, str):
            raise BadInput(
                "the Series has no facet as its name; pass it: series.svc.facet(index, 'brand')"
            )
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
        """Crawl these URLs now.

        Parameters
        ----------
        save : bool, default None
            Add the URLs to the start URLs, so that later crawls visit them too; None leaves
            the decision to the service.
        wait : bool, default False
            Wait until the URLs are crawled.

        Returns
        -------
        dict
            `crawler`, `urls` (their number) and `taskId` (a list with one id for each 50 URLs).

        Raises
        ------
        BadInput
            If the crawler does not exist, or no URL.
        TaskFailed
            If the crawler is blocked or paused during the wait.

        Examples
        --------
        >>> pages = svc.read_crawled_urls("shop", status="DONE")
        >>> pages["url"].svc.crawl("shop", wait=True)["urls"]
        2
        """
        from svc_notebook.functions import blocking

        urls = self._series.dropna().tolist()
        return blocking.crawl_urls(crawler, urls, save=save, wait=wait, client=client)


def _index_of(data: Any, index: str | None, client: AnyClient | None) -> str:
    """Return the given index, or the index that is attached to the data.

    Raises `BadInput` if there is neither, or if the data is from another service.
    """
    from svc_notebook.frames.provenance import check_origin
    from svc_notebook.session.connection import asynchronous

    if index is not None:
        return index
    origin = data.attrs.get("svc", {})
    name = origin.get("index")
    if not isinstance(name, str):
        raise BadInput("this data has no index attached; pass `index=`")
    check_origin(origin, asynchronous(client))
    return name


def _lacking(owner: str, name: str, accessor: type) -> AttributeError:
    methods = [member for member in vars(accessor) if member[0] != "_"]
    advice = "" if name[0] == "_" else did_you_mean(name, methods)
    return AttributeError(f"{owner}.svc has no `{name}`{advice}")


def _describe(accessor: object, what: str) -> str:
    return f"{what}: {', '.join(name for name in vars(type(accessor)) if name[0] != '_')}"


def register() -> None:
    """Register the accessors with pandas."""
    with warnings.catch_warnings():
        # After a reload of this module, pandas warns that the accessors exist.
        warnings.simplefilter("ignore", UserWarning)
        pd.api.extensions.register_dataframe_accessor("svc")(FrameAccessor)
        pd.api.extensions.register_series_accessor("svc")(SeriesAccessor)


register()

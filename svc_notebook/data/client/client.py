"""The clients `AsyncClient` and `Client`, with one method per endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack, overload

import msgspec

from svc_notebook.core.api import (
    AnalyticsApi,
    CrawlerApi,
    Endpoint,
    EventsApi,
    RequestSpec,
    SearchApi,
    SuggestionsApi,
)
from svc_notebook.core.api.declaration import Blocking
from svc_notebook.core.api.endpoint import Decode, Interface
from svc_notebook.core.api.families.indices import CopyScope
from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.shapes import Record, Rule, SearchAnswer, Synonym
from svc_notebook.data.client import background_loop, curation, operations, temporary_index
from svc_notebook.data.client.background_loop import (
    blocking_iterator,
    blocking_method,
    documented_by,
)
from svc_notebook.data.client.config import ClientConfig, Options, Response
from svc_notebook.data.client.endpoint_client import (
    EndpointClient,
    describe_client,
    lacking_method,
)
from svc_notebook.data.client.progress import Progress
from svc_notebook.data.client.tasks import OnProgress, Tasks
from svc_notebook.data.client.temporary_index import AROUND_RECORDS
from svc_notebook.data.client.transport.sender import HttpSender


class AsyncClient(EndpointClient):
    """A client whose methods are awaited, on any event loop."""

    def browse_pages(
        self,
        index: str,
        *,
        cursor: str | None = None,
        read: Decode = msgspec.json.decode,
        **params: Unpack[SearchParams],
    ) -> AsyncIterator[SearchAnswer]:
        """Iterate over the pages of a whole index; the next page is fetched while one is processed.

        Parameters
        ----------
        index : str
            Name of the index.
        cursor : str, default None
            Position to resume at; None begins at the start.
        read : callable, default a JSON decoder
            Function that decodes the body of a page.
        **params
            Search parameters.

        Yields
        ------
        dict
            A page with `hits` and, unless it is the last, `cursor`.

        Raises
        ------
        NotFound
            If the index does not exist.
        CallFailed
            If the service cannot be reached or refuses the call.
        CursorRepeated
            If the service repeats a cursor, so that the browse cannot end.

        Examples
        --------
        >>> sum(len(page["hits"]) for page in client.browse_pages("products"))
        240
        """
        return operations.browse_pages(self, index, cursor=cursor, read=read, **params)

    def iterate_rules(
        self,
        index: str,
        query: str = "",
        *,
        context: str | None = None,
        enabled: bool | None = None,
    ) -> AsyncIterator[Rule]:
        """Iterate over the rules of an index; one page of 1,000 rules is in memory at a time.

        Parameters
        ----------
        index : str
            Name of the index.
        query : str, default ""
            Words or word prefixes that a rule contains; "" matches every rule.
        context : str, default None
            Context that a rule must name; None does not restrict contexts.
        enabled : bool, default None
            Yield only enabled (True) or only disabled (False) rules; None yields both.

        Yields
        ------
        dict
            A rule.

        Raises
        ------
        NotFound
            If the index does not exist.
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> [rule["objectID"] for rule in client.iterate_rules("products")]
        ['lamps-on-sale']
        """
        fetch = curation.in_existing_index(
            self,
            index,
            lambda page: self.search_rules(
                index,
                query,
                context=context,
                page=page,
                hitsPerPage=curation.HITS_PER_PAGE,
                enabled=enabled,
            ),
        )
        return curation.iterate_entries(fetch)

    def iterate_synonyms(
        self,
        index: str,
        query: str = "",
        *,
        type: str = "",  # noqa: A002 - as the endpoint names it
    ) -> AsyncIterator[Synonym]:
        """Iterate over the synonyms of an index; one page of 1,000 synonyms is in memory at a time.

        Parameters
        ----------
        index : str
            Name of the index.
        query : str, default ""
            Words or word prefixes that a synonym contains; "" matches every synonym.
        type : str, default ""
            Type of synonym, or several separated by commas; "" selects every type.

        Yields
        ------
        dict
            A synonym.

        Raises
        ------
        NotFound
            If the index does not exist.
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> [synonym["objectID"] for synonym in client.iterate_synonyms("products")]
        ['cups']
        """
        fetch = curation.in_existing_index(
            self,
            index,
            lambda page: self.search_synonyms(index, query, type, page, curation.HITS_PER_PAGE),
        )
        return curation.iterate_entries(fetch)

    async def index_exists(self, index: str) -> bool:
        """Return whether an index exists.

        Parameters
        ----------
        index : str
            Name of the index.

        Returns
        -------
        bool
            Whether it exists.

        Raises
        ------
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> client.index_exists("products")
        True
        """
        return await operations.index_exists(self, index)

    def replacing(
        self,
        index: str,
        *,
        min_share: float = 0.5,
        scopes: Sequence[CopyScope] = AROUND_RECORDS,
    ) -> AbstractAsyncContextManager[str]:
        """Provide a temporary index that replaces an index at the end of the context.

        Inside the context, write the records and wait for their tasks. After an error, or with
        too few records, the index is unchanged and the temporary index is deleted.

        Parameters
        ----------
        index : str
            Name of the index.
        min_share : float, default 0.5
            Minimum number of new records, as a share from 0 to 1 of the number of previous
            records.
        scopes : list of {'settings', 'synonyms', 'rules'}, default all
            Parts that the index keeps.

        Yields
        ------
        str
            The name of the temporary index.

        Raises
        ------
        SvcError
            If there are too few new records.
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> import asyncio
        >>> async def keep_one(client):
        ...     async with client.replacing("products", min_share=0) as name:
        ...         response = await client.add_object(name, {"name": "Classic brass desk lamp"})
        ...         await client.wait(response, index=name)
        >>> asyncio.run(keep_one(client.aio))
        >>> client.search("products")["nbHits"]
        1
        """
        return temporary_index.replacing(self, index, min_share=min_share, scopes=scopes)

    async def replace_all(
        self,
        index: str,
        records: Iterable[Record],
        *,
        min_share: float = 0.5,
        scopes: Sequence[CopyScope] = AROUND_RECORDS,
        batch_size: int = operations.BATCH_RECORDS,
        on_progress: OnProgress | None = None,
    ) -> int:
        """Replace all records of an index at once.

        After an error, or with too few records, nothing changes.

        Parameters
        ----------
        index : str
            Name of the index.
        records : iterable of dict
            New records.
        min_share : float, default 0.5
            Minimum number of new records, as a share from 0 to 1 of the number of previous
            records.
        scopes : list of {'settings', 'synonyms', 'rules'}, default all
            Parts that the index keeps.
        batch_size : int, default 1000
            Number of records in one request, 1 or more.
        on_progress : callable, default None
            Function that is called with the number of tasks published and the total number
            of tasks.

        Returns
        -------
        int
            The number of new records.

        Raises
        ------
        BadInput
            If an argument is not valid.
        SvcError
            If there are too few new records.
        CallFailed
            If the service cannot be reached or refuses the call.

        Examples
        --------
        >>> records = [{"objectID": "LMP-001", "name": "Classic brass desk lamp"}]
        >>> client.replace_all("products", records, min_share=0)
        1
        """
        return await temporary_index.replace_all(
            self, index, records,
            min_share=min_share, scopes=scopes, batch_size=batch_size, on_progress=on_progress,
        )  # fmt: skip


class Client(Blocking, SearchApi, CrawlerApi, EventsApi, AnalyticsApi, SuggestionsApi):
    """A client whose methods block until the response has arrived; `aio` is its `AsyncClient`."""

    def __init__(self, connection: ClientConfig, sender: HttpSender | None = None) -> None:
        self.aio = AsyncClient(connection, sender)

    if not TYPE_CHECKING:  # a type checker knows all names

        def __getattr__(self, name: str) -> Any:
            raise lacking_method(self, name)

    @property
    def connection(self) -> ClientConfig:
        """The configuration of the client."""
        return self.aio.connection

    @documented_by(AsyncClient.with_options)
    def with_options(self, **options: Unpack[Options]) -> Self:
        other = copy(self)
        other.aio = self.aio.with_options(**options)
        return other

    @documented_by(AsyncClient.perform)
    def perform(self, endpoint: Endpoint, spec: RequestSpec) -> Any:
        return background_loop.run(self.aio.perform(endpoint, spec))

    index_exists = blocking_method(AsyncClient.index_exists)
    browse_pages = blocking_iterator(AsyncClient.browse_pages)
    iterate_rules = blocking_iterator(AsyncClient.iterate_rules)
    iterate_synonyms = blocking_iterator(AsyncClient.iterate_synonyms)

    @overload
    def custom(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        interface: Interface = "search",
        reads: bool | None = None,
        raw: Literal[False] = False,
    ) -> Any: ...
    @overload
    def custom(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        interface: Interface = "search",
        reads: bool | None = None,
        raw: Literal[True],
    ) -> Response: ...
    @documented_by(AsyncClient.custom)
    def custom(self, verb: str, path: str, **options: Any) -> Any:
        return background_loop.run(self.aio.custom(verb, path, **options))

    @documented_by(AsyncClient.wait)
    def wait(
        self,
        tasks: Tasks,
        *,
        index: str | None = None,
        timeout: float | None = 600,
        progress: bool | None = None,
    ) -> int:
        return background_loop.behind_bar(
            lambda on_progress: self.aio.wait(
                tasks, index=index, timeout=timeout, on_progress=on_progress
            ),
            Progress(unit="tasks", label="published", shown=progress),
        )

    @documented_by(AsyncClient.replace_all)
    def replace_all(
        self,
        index: str,
        records: Iterable[Record],
        *,
        min_share: float = 0.5,
        scopes: Sequence[CopyScope] = AROUND_RECORDS,
        batch_size: int = operations.BATCH_RECORDS,
        progress: bool | None = None,
    ) -> int:
        return background_loop.behind_bar(
            lambda on_progress: self.aio.replace_all(
                index, records,
                min_share=min_share, scopes=scopes, batch_size=batch_size, on_progress=on_progress,
            ),
            Progress(unit="batches", label="published", shown=progress),
        )  # fmt: skip

    def close(self) -> None:
        """Close the connections of the client; a later call opens new ones.

        Examples
        --------
        >>> client.close()
        >>> client.search("products", "desk lamp")["nbHits"]
        10
        """
        background_loop.run(self.aio.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return describe_client(self)

"""The clients `AsyncClient` and `Client`, with one method per endpoint."""

from __future__ import annotations

from collections.abc import (
    AsyncIterator,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AbstractAsyncContextManager
from copy import copy
from dataclasses import replace
from typing import Any, Literal, Self, TypeVar, Unpack, overload

import msgspec

from svc_notebook.api import CrawlerApi, Endpoint, EventsApi, RequestSpec, SearchApi
from svc_notebook.api.endpoint import Asynchronous, Blocking, Decode, Interface
from svc_notebook.api.indices import CopyScope
from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.shapes import Record, Rule, SearchAnswer, Synonym
from svc_notebook.client import background_loop, curation, operations, replacement
from svc_notebook.client import tasks as waiting
from svc_notebook.client.background_loop import beating
from svc_notebook.client.config import ClientConfig
from svc_notebook.client.custom_calls import make_custom
from svc_notebook.client.progress import Progress
from svc_notebook.client.request_options import Options, Response
from svc_notebook.client.response_checks import check_answer
from svc_notebook.client.tasks import OnProgress, Tasks, WriteHistory
from svc_notebook.client.temporary_index import AROUND_RECORDS
from svc_notebook.client.transport.sender import HttpSender

T = TypeVar("T")


class AsyncClient(Asynchronous, SearchApi, CrawlerApi, EventsApi):
    """A client whose methods are awaited, on any event loop."""

    def __init__(self, connection: ClientConfig, sender: HttpSender | None = None) -> None:
        self.connection = connection
        self.sender = sender or HttpSender(connection)
        self.written = WriteHistory()

    def with_options(self, **options: Unpack[Options]) -> Self:
        """Return a client over the same connections whose calls have these options.

        - `headers`, `query`: additional headers and query parameters, as mappings.
        - `connect_timeout`, `read_timeout`, `write_timeout`: in seconds; default: the connection's.
        - `user_id`: the user whose data the call is for, sent as the header `X-Service-User-ID`.
        - `forwarded_for`, `forwarded_api_key`: the address and the key of the caller on whose
        behalf
          this client calls, sent as `X-Forwarded-For` and `X-Forwarded-API-Key`.
        - `extra`: members that are added, unchecked, to each body, or to each object of a list.
        - `max_answer_bytes`: the maximum size of a response in bytes; default 256 MB.
        - `on_response`: a function that is called with each response, a `Response`.

        Raises `BadInput` for options that cannot be sent.

            client.with_options(read_timeout=60).search("films", "heat")
        """
        other = copy(self)
        other.sender = self.sender.with_options(self.sender.options.changed(**options))
        return other

    async def perform(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        """Send one request and return the checked response."""
        with beating():
            answer = check_answer(endpoint, await self.sender.send(endpoint, parcel), parcel)
        self.written.note(endpoint, parcel, answer)
        return answer

    @overload
    async def custom(
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
    async def custom(
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
    async def custom(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        interface: Interface = "search",
        reads: bool | None = None,
        raw: bool = False,
    ) -> Any:
        """Call an endpoint that this package does not declare, and return the response's JSON.

        - `verb`, `path`: such as `"POST"` and `"/1/indexes/films/newFeature"`. Characters that a
        URL
          cannot contain are percent-encoded, except slashes: use `quote(name, safe="")` for a name.
        - `query`: query parameters; `body`: any JSON value, for POST, PUT and PATCH.
        - `interface`: `search`, `crawler` or `events`; `reads`: whether the hosts and timeouts of
        reads
          serve it; default: a GET reads. A POST that does not read is never sent twice.
        - `raw`: return a `Response` with status, headers and body instead of the JSON.

        Raises `CallFailed`, like every call. Keys, hosts, retries and options are the client's.

            client.custom("GET", "/1/indexes/films/settings", query={"getVersion": 2})
        """
        row, parcel = make_custom(
            verb, path, query=query, body=body, interface=interface, reads=reads
        )
        if not raw:
            return await self.perform(row, parcel)
        other = copy(self)
        other.sender = self.sender.with_options(replace(self.sender.options, raw=True))
        return await other.perform(row, parcel)

    async def wait(
        self,
        tasks: Tasks,
        *,
        index: str | None = None,
        timeout: float | None = 600,  # noqa: ASYNC109 - the error at the timeout names the pending tasks
        on_progress: OnProgress | None = None,
    ) -> int:
        """Wait until tasks are published, and return the number of tasks.

        - `tasks`: a task's number, the response to a write, `(index, number)`, `{index: number}`,
        or
          several of these.
        - `index`: the index of tasks that do not name one; default: tasks of the application.
        - `timeout`: in seconds; default 600, None for no limit.
        - `on_progress`: a function that is called with the numbers of published and of all tasks.

        Raises `TaskFailed` with the pending tasks at the timeout.
        """
        with beating():
            return await waiting.wait(
                self, tasks, index=index, timeout=timeout, on_progress=on_progress
            )

    def browse_pages(
        self,
        index: str,
        *,
        cursor: str | None = None,
        read: Decode = msgspec.json.decode,
        **params: Unpack[SearchParams],
    ) -> AsyncIterator[SearchAnswer]:
        """Yield a whole index page by page; the next page is fetched while one is processed.

        `read` decodes the body of a page, and may convert its records.
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
        """Yield the rules of an index one by one, or those that match the arguments.

        One page of 1,000 rules is in memory at a time.
        """
        return curation.iterate_entries(
            lambda page: self.search_rules(
                index,
                query,
                context=context,
                page=page,
                hitsPerPage=curation.HITS_PER_PAGE,
                enabled=enabled,
            )
        )

    def iterate_synonyms(
        self,
        index: str,
        query: str = "",
        *,
        type: str = "",  # noqa: A002 - as the endpoint names it
    ) -> AsyncIterator[Synonym]:
        """Yield the synonyms of an index one by one; `query` and `type` select some of them.

        One page of 1,000 synonyms is in memory at a time.
        """
        return curation.iterate_entries(
            lambda page: self.search_synonyms(index, query, type, page, curation.HITS_PER_PAGE)
        )

    async def index_exists(self, index: str) -> bool:
        """Return whether an index exists."""
        return await operations.index_exists(self, index)

    def replacing(
        self,
        index: str,
        *,
        least: float = 0.5,
        scopes: Sequence[CopyScope] = AROUND_RECORDS,
    ) -> AbstractAsyncContextManager[str]:
        """Yield the name of a temporary index that replaces `index` at exit, as a context manager.

        Inside the context, write the records and wait for their tasks. After an error, or with too
        few
        records, `index` is unchanged and the temporary index is deleted.

        - `least`: the minimum number of new records, as a share of the old ones; default 0.5.
        - `scopes`: which of `settings`, `synonyms` and `rules` the index keeps; default: all.
        """
        return replacement.replacing(self, index, least=least, scopes=scopes)

    async def replace_all(
        self,
        index: str,
        records: Iterable[Record],
        *,
        least: float = 0.5,
        scopes: Sequence[CopyScope] = AROUND_RECORDS,
        batch_size: int = operations.BATCH_RECORDS,
        on_progress: OnProgress | None = None,
    ) -> int:
        """Replace all records of an index at one moment, and return the number of new records.

        After an error, or with too few records, nothing changes and an error is raised.

        - `least`: the minimum number of new records, as a share of the old ones; default 0.5.
        - `scopes`: which of `settings`, `synonyms` and `rules` the index keeps; default: all.
        - `batch_size`: records per request, 1 or more; default 1,000.
        - `on_progress`: a function that is called with the numbers of published and of all tasks.
        """
        return await replacement.replace_all(
            self, index, records,
            least=least, scopes=scopes, batch_size=batch_size, on_progress=on_progress,
        )  # fmt: skip

    async def close(self) -> None:
        """Close the connections of the running loop; a later call opens new ones."""
        await self.sender.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return _described(self)


class Client(Blocking, SearchApi, CrawlerApi, EventsApi):
    """A client whose methods block until the response has arrived; `aio` is its `AsyncClient`."""

    def __init__(self, connection: ClientConfig, sender: HttpSender | None = None) -> None:
        self.aio = AsyncClient(connection, sender)

    @property
    def connection(self) -> ClientConfig:
        """The configuration of the client."""
        return self.aio.connection

    def with_options(self, **options: Unpack[Options]) -> Self:
        """Return a client over the same connections with these options; see `AsyncClient`.

        Example:

            client.with_options(read_timeout=60).search("films", "heat")
        """
        other = copy(self)
        other.aio = self.aio.with_options(**options)
        return other

    def perform(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        """Send one request and return the checked response."""
        return background_loop.run(self.aio.perform(endpoint, parcel))

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
    def custom(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        interface: Interface = "search",
        reads: bool | None = None,
        raw: bool = False,
    ) -> Any:
        """Call an endpoint that this package does not declare; see `AsyncClient.custom`.

        Example:

            client.custom("GET", "/1/indexes/films/settings", query={"getVersion": 2})
        """
        call: Any = self.aio.custom
        return background_loop.run(
            call(verb, path, query=query, body=body, interface=interface, reads=reads, raw=raw)
        )

    def wait(
        self,
        tasks: Tasks,
        *,
        index: str | None = None,
        timeout: float | None = 600,
        progress: bool | None = None,
    ) -> int:
        """Wait until tasks are published, with one progress bar, and return the number of tasks.

        - `tasks`, `index`, `timeout`: as in `AsyncClient.wait`.
        - `progress`: whether to show the bar; default: only in notebooks and terminals.

        Raises `TaskFailed` with the pending tasks at the timeout.
        """
        return _behind_bar(
            lambda tell: self.aio.wait(tasks, index=index, timeout=timeout, on_progress=tell),
            Progress(unit="tasks", label="published", shown=progress),
        )

    def browse_pages(
        self, index: str, *, cursor: str | None = None, **params: Unpack[SearchParams]
    ) -> Iterator[SearchAnswer]:
        """Yield a whole index page by page; the next page is fetched while one is processed."""
        return _each(self.aio.browse_pages(index, cursor=cursor, **params))

    def iterate_rules(
        self,
        index: str,
        query: str = "",
        *,
        context: str | None = None,
        enabled: bool | None = None,
    ) -> Iterator[Rule]:
        """Yield the rules of an index one by one, or those that match the arguments."""
        return _each(self.aio.iterate_rules(index, query, context=context, enabled=enabled))

    def iterate_synonyms(
        self,
        index: str,
        query: str = "",
        *,
        type: str = "",  # noqa: A002 - as the endpoint names it
    ) -> Iterator[Synonym]:
        """Yield the synonyms of an index one by one; `query` and `type` select some of them."""
        return _each(self.aio.iterate_synonyms(index, query, type=type))

    def index_exists(self, index: str) -> bool:
        """Return whether an index exists."""
        return background_loop.run(self.aio.index_exists(index))

    def replace_all(
        self,
        index: str,
        records: Iterable[Record],
        *,
        least: float = 0.5,
        scopes: Sequence[CopyScope] = AROUND_RECORDS,
        batch_size: int = operations.BATCH_RECORDS,
        progress: bool | None = None,
    ) -> int:
        """Replace all records of an index at one moment; see `AsyncClient.replace_all`."""
        return _behind_bar(
            lambda tell: self.aio.replace_all(
                index,
                records,
                least=least,
                scopes=scopes,
                batch_size=batch_size,
                on_progress=tell,
            ),
            Progress(unit="batches", label="published", shown=progress),
        )

    def close(self) -> None:
        """Close the client's connections; a later call opens new ones."""
        background_loop.run(self.aio.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return _described(self)


def _each(items: AsyncIterator[T]) -> Iterator[T]:
    """Iterate over items produced on the background loop; items are never None."""
    while (item := background_loop.run(_next_or_none(items))) is not None:
        yield item


async def _next_or_none(items: AsyncIterator[T]) -> T | None:
    return await anext(items, None)


def _behind_bar(begin: Callable[[OnProgress], Coroutine[Any, Any, T]], bar: Progress) -> T:
    with bar:
        return background_loop.run(begin(bar.tell), on_tick=bar.draw)


def _described(client: AsyncClient | Client) -> str:
    own = client.connection
    return f"{type(client).__name__}(app_id={own.app_id!r}, address={own.address!r})"

"""The clients: one method for each endpoint, awaited or blocking, over one sender."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from copy import copy
from typing import Any, Self, TypeVar, Unpack

import msgspec

from svc_notebook.api import CrawlerApi, Endpoint, EventsApi, Parcel, SearchApi
from svc_notebook.api.endpoint import Asynchronous, Blocking, Decode
from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.shapes import Record, SearchAnswer
from svc_notebook.client import flows, portal, waiting
from svc_notebook.client.answers import check_answer
from svc_notebook.client.connection import Connection
from svc_notebook.client.heartbeat import beating
from svc_notebook.client.options import Options
from svc_notebook.client.progress import Progress
from svc_notebook.client.sender import HttpSender
from svc_notebook.client.waiting import OnProgress, Tasks
from svc_notebook.client.written import Written

T = TypeVar("T")


class AsyncClient(Asynchronous, SearchApi, CrawlerApi, EventsApi):
    """A client whose methods are awaited, on whatever loop."""

    def __init__(self, connection: Connection, sender: HttpSender | None = None) -> None:
        self.connection = connection
        self.sender = sender or HttpSender(connection)
        self.written = Written()

    def with_options(self, **options: Unpack[Options]) -> Self:
        """Return a client over the same connections whose calls have these options.

        - `headers`, `query`: more headers and query parameters, as objects of names and values.
        - `connect_timeout`, `read_timeout`, `write_timeout`: in seconds; default: the connection's.
        - `user_id`: the user whose data is meant, as the header `X-Service-User-ID`.
        - `forwarded_for`, `forwarded_api_key`: the address and the key of the one for whom this
          client asks, as `X-Forwarded-For` and `X-Forwarded-API-Key`.
        - `extra`: members that are put into each body, or into each object of a list, unchecked.
        - `max_answer_bytes`: how large an answer may be; default 256 MB.
        - `on_response`: is called with each answer as it came, a `Response`.

        Raises `BadInput` for what cannot be sent.

            client.with_options(read_timeout=60).search("films", "heat")
        """
        other = copy(self)
        other.sender = self.sender.with_options(self.sender.options.changed(**options))
        return other

    async def perform(self, endpoint: Endpoint, parcel: Parcel) -> Any:
        """Send one parcel."""
        with beating():
            answer = check_answer(endpoint, await self.sender.send(endpoint, parcel), parcel)
        self.written.note(endpoint, parcel, answer)
        return answer

    async def wait(
        self,
        tasks: Tasks,
        *,
        index: str | None = None,
        timeout: float | None = 600,  # noqa: ASYNC109 - what is left is told when it passes
        on_progress: OnProgress | None = None,
    ) -> int:
        """Wait until tasks are published; see `svc_notebook.client.waiting.wait`."""
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
        """Yield a whole index page by page; while one is worked on, the next is fetched.

        `read` decodes a page, and may make of its records what it likes.
        """
        return flows.browse_pages(self, index, cursor=cursor, read=read, **params)

    async def index_exists(self, index: str) -> bool:
        """Say whether there is such an index."""
        return await flows.index_exists(self, index)

    def replacing(self, index: str, *, least: float = 0.5) -> AbstractAsyncContextManager[str]:
        """Give a temporary index to fill that takes the place of `index` at the end."""
        return flows.replacing(self, index, least=least)

    async def replace_all(
        self,
        index: str,
        records: Iterable[Record],
        *,
        least: float = 0.5,
        on_progress: OnProgress | None = None,
    ) -> int:
        """Put `records` in place of all there are, at one moment; return their number."""
        return await flows.replace_all(self, index, records, least=least, on_progress=on_progress)

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
    """A client whose methods return when the answer is there; `aio` is its awaited twin."""

    def __init__(self, connection: Connection, sender: HttpSender | None = None) -> None:
        self.aio = AsyncClient(connection, sender)

    @property
    def connection(self) -> Connection:
        """Where it connects to."""
        return self.aio.connection

    def with_options(self, **options: Unpack[Options]) -> Self:
        """Return a client over the same connections with these options; see `AsyncClient`.

        client.with_options(read_timeout=60).search("films", "heat")
        """
        other = copy(self)
        other.aio = self.aio.with_options(**options)
        return other

    def perform(self, endpoint: Endpoint, parcel: Parcel) -> Any:
        """Send one parcel."""
        return portal.run(self.aio.perform(endpoint, parcel))

    def wait(
        self,
        tasks: Tasks,
        *,
        index: str | None = None,
        timeout: float | None = 600,
        progress: bool | None = None,
    ) -> int:
        """Wait until tasks are published, behind one bar; return how many there were."""
        return _behind_bar(
            lambda tell: self.aio.wait(tasks, index=index, timeout=timeout, on_progress=tell),
            Progress(unit="tasks", label="published", shown=progress),
        )

    def browse_pages(
        self, index: str, *, cursor: str | None = None, **params: Unpack[SearchParams]
    ) -> Iterator[SearchAnswer]:
        """Yield a whole index page by page; while one is worked on, the next is fetched."""
        pages = self.aio.browse_pages(index, cursor=cursor, **params)
        while page := portal.run(_next_or_none(pages)):
            yield page

    def index_exists(self, index: str) -> bool:
        """Say whether there is such an index."""
        return portal.run(self.aio.index_exists(index))

    def replace_all(
        self,
        index: str,
        records: Iterable[Record],
        *,
        least: float = 0.5,
        progress: bool | None = None,
    ) -> int:
        """Put `records` in place of all there are, at one moment; return their number."""
        return _behind_bar(
            lambda tell: self.aio.replace_all(index, records, least=least, on_progress=tell),
            Progress(unit="batches", label="published", shown=progress),
        )

    def close(self) -> None:
        """Close its connections; a later call opens new ones."""
        portal.run(self.aio.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return _described(self)


async def _next_or_none(pages: AsyncIterator[SearchAnswer]) -> SearchAnswer | None:
    return await anext(pages, None)


def _behind_bar(begin: Callable[[OnProgress], Coroutine[Any, Any, T]], bar: Progress) -> T:
    with bar:
        return portal.run(begin(bar.tell), on_tick=bar.draw)


def _described(client: AsyncClient | Client) -> str:
    own = client.connection
    return f"{type(client).__name__}(app_id={own.app_id!r}, address={own.address!r})"

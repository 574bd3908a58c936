"""Several calls that make one step: write and wait, browse a whole index, count its records."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
)
from dataclasses import dataclass
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Literal, Unpack

import msgspec

from svc_notebook.api import SearchApi
from svc_notebook.api.endpoint import Decode
from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.shapes import SearchAnswer
from svc_notebook.api.warning import warn_user
from svc_notebook.client.background_loop import beating
from svc_notebook.client.pagination import Seen
from svc_notebook.client.tasks import OnProgress, Tasks, sort_tasks
from svc_notebook.errors import (
    BadInput,
    CursorRepeated,
    KeyRefused,
    NotFound,
    Refused,
    TaskFailed,
)

if TYPE_CHECKING:
    from svc_notebook.client.client import AsyncClient


FULL_RECORD_PARAMS: SearchParams = {"attributesToHighlight": [], "attributesToRetrieve": ["*"]}


BROWSE_PAGE_RECORDS = 1000  # api.md, Limits
BATCH_RECORDS = 1000
# Pages with a cursor and no record, in a row, before a browse gives up.
MAX_EMPTY_PAGES = 100
# In so many turns of the loop a request has left, unless the service does not take it in.
SEND_LOOP_TURNS = 5
# How long an effect is looked for where a key may not read tasks, and how often.
CONFIRM_SECONDS = 30.0
FIRST_POLL_SECONDS, MAX_POLL_SECONDS, POLL_GROWTH = 0.05, 2.0, 1.5

WriteState = Literal["published", "confirmed", "accepted"]
Confirm = Callable[[], Awaitable[bool]]
STATUS: dict[WriteState, str] = {
    "published": "published",
    "confirmed": "confirmed; this key may not read tasks, but the change is visible",
    "accepted": (
        "accepted; this key may not read tasks, so it is not known whether it is published"
    ),
}


@dataclass(frozen=True)
class WriteOutcome:
    """How far a write that the service accepted was followed.

    `published`: its tasks are. `confirmed`: the key may not read tasks, but the effect is visible.
    `accepted`: the key may read neither.
    """

    state: WriteState

    @property
    def status(self) -> str:
        """The state as a sentence."""
        return STATUS[self.state]

    def facts(self) -> dict[str, Any]:
        """Return `status` for a result; nothing where the write is published."""
        return {} if self.state == "published" else {"status": self.status}


async def write_and_wait(
    client: AsyncClient,
    write: Awaitable[Any] | Tasks,
    *,
    index: str | None = None,
    confirm: Confirm | None = None,
    on_progress: OnProgress | None = None,
) -> WriteOutcome:
    """Send a write and wait until it is published, also with a key that may not read tasks.

    - `write`: a call that is not awaited yet, or the answers of calls that were.
    - `index`: where tasks belong that do not say so; default: the application.
    - `confirm`: tells whether the effect is visible. It is called where tasks may not be read,
      until it returns true, for at most 30 seconds. Default: the effect is not looked for.
    - `on_progress`: is called with `(tasks published, tasks)`.

    Errors of the write itself are raised. Once it was accepted, `TaskFailed` is raised for what
    is not published in time, and never `KeyRefused`: where the key may see neither the task nor
    the effect, the outcome is `accepted`, of which a warning tells.
    """
    answers: Any = await write if isawaitable(write) else write
    tasks: Tasks = dict(answers) if isinstance(answers, Mapping) else answers
    try:
        await client.wait(tasks, index=index, on_progress=on_progress)
    except KeyRefused:  # reading a task takes a right of its own
        if confirm is not None and await _see_effect(confirm, tasks, index):
            return WriteOutcome("confirmed")
        outcome = WriteOutcome("accepted")
        warn_user(f"what was written to {index or 'the application'} was {outcome.status}")
        return outcome
    return WriteOutcome("published")


async def _see_effect(confirm: Confirm, tasks: Tasks, index: str | None) -> bool:
    """Look until an effect is visible; false where the key may not look."""
    deadline, pause = asyncio.get_running_loop().time() + CONFIRM_SECONDS, FIRST_POLL_SECONDS
    with beating():
        while True:
            try:
                if await confirm():
                    return True
            except NotFound:
                pass  # what the write makes is not there yet
            except Refused:
                return False
            if asyncio.get_running_loop().time() >= deadline:
                numbers = [number for some in sort_tasks(tasks, index).values() for number in some]
                raise TaskFailed(
                    f"what was written to {index or 'the application'} was accepted, and is not "
                    f"visible after {CONFIRM_SECONDS:g} s; look again later",
                    tasks=numbers,
                )
            await asyncio.sleep(pause)
            pause = min(pause * POLL_GROWTH, MAX_POLL_SECONDS)


async def browse_pages(
    client: AsyncClient,
    index: str,
    *,
    cursor: str | None = None,
    read: Decode = msgspec.json.decode,
    **params: Unpack[SearchParams],
) -> AsyncIterator[SearchAnswer]:
    """Yield a whole index page by page, from `cursor` on.

    While a page is worked on, the next one is fetched, and no more; its request leaves first, so
    that work without an `await` holds up nothing. `read` decodes a page, and may make of its
    records what it likes.
    """
    row = SearchApi.browse.endpoint
    options: SearchParams = {"hitsPerPage": BROWSE_PAGE_RECORDS, **params}
    first = row.encode(index, cursor, **options)._replace(read=read)
    trail = _Trail(index, cursor)
    ahead = asyncio.create_task(client.perform(row, first))
    try:
        while True:
            page = await ahead
            trail.note(page)
            if not (cursor := page.get("cursor")):
                break
            if fault := trail.find_fault():
                yield page
                raise fault
            following = first._replace(body={**first.body, "cursor": cursor})
            ahead = asyncio.create_task(client.perform(row, following))
            for _ in range(SEND_LOOP_TURNS):
                await asyncio.sleep(0)
            yield page
    finally:
        ahead.cancel()
        await asyncio.gather(ahead, return_exceptions=True)
    yield page


class _Trail:
    """The way of a browse: a service that leads it round and round would hold it for ever."""

    def __init__(self, index: str, cursor: str | None) -> None:
        self._index = index
        self._cursor = cursor
        self._seen = Seen()
        self._is_new = True
        self._records = self._empty = 0
        if cursor:
            self._seen.note(cursor)

    def note(self, page: Mapping[str, Any]) -> None:
        """Follow a page."""
        count = len(page["hits"])
        self._records += count
        self._empty = 0 if count else self._empty + 1
        if cursor := page.get("cursor"):
            self._is_new = self._seen.note(cursor)
            self._cursor = cursor if self._is_new else self._cursor

    def find_fault(self) -> CursorRepeated | None:
        """Return what is wrong with going on, if anything is."""
        if self._is_new and self._empty < MAX_EMPTY_PAGES:
            return None
        told = (
            f"{self._empty} pages in a row had a cursor and no record"
            if self._is_new
            else "a cursor came again that had been followed"
        )
        return CursorRepeated(
            f"browse of {self._index}: {told}, after {self._records:,} records; the service does "
            "not go on from there. Read the rest by filters that divide the index, or begin again "
            "once the service is right; read_browse(..., chunksize=...) keeps what it has read",
            endpoint="browse", cursor=self._cursor, records=self._records,
        )  # fmt: skip


async def index_exists(client: AsyncClient, index: str) -> bool:
    """Say whether there is such an index; the key needs the right `settings`."""
    try:
        await client.get_settings(index)
    except NotFound:
        return False
    return True


async def count_records(client: AsyncClient, index: str, *, filters: str = "") -> int:
    """Count the records of an index, whatever its settings and rules say; 0 if there is none.

    With `filters`, those that pass them.
    """
    params: Any = {
        "hitsPerPage": 1, "attributesToRetrieve": ["objectID"], "attributesToHighlight": [],
        "distinct": False, "enableRules": False, "analytics": False,
    }  # fmt: skip
    if filters:
        params["filters"] = filters
    try:
        answer = await client.search(index, **params)
    except NotFound:
        return 0
    return answer["nbHits"]


async def is_own(client: AsyncClient, index: str) -> bool:
    """Return whether an index exists; raise `BadInput` for a replica, which has no own records."""
    try:
        settings = await client.get_settings(index)
    except NotFound:
        return False
    if primary := settings.get("primary"):
        raise BadInput(f"{index} is a replica of {primary}, which has its records: write to that")
    return True

"""Operations of several calls: write and wait, browse an index, count records, read all pages."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Mapping,
)
from dataclasses import dataclass
from hashlib import blake2b
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Literal, Unpack

import msgspec

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.endpoint import Decode
from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.shapes import SearchAnswer
from svc_notebook.core.display import format_count
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client.background_loop import regular_wake_ups
from svc_notebook.data.client.tasks import OnProgress, Tasks, sort_tasks
from svc_notebook.errors import (
    BadInput,
    CursorRepeated,
    KeyRefused,
    NotFound,
    Refused,
    TaskFailed,
    UnexpectedAnswer,
)

if TYPE_CHECKING:
    from svc_notebook.data.client.endpoint_client import EndpointClient

FULL_RECORD_PARAMS: SearchParams = {"attributesToHighlight": [], "attributesToRetrieve": ["*"]}

BROWSE_PAGE_RECORDS = 1000  # api.md, Limits
# Records that one request reads by their ids; services refuse more.
MAX_IDS_PER_REQUEST = 1000
BATCH_RECORDS = 1000
# Consecutive pages with a cursor but without a record after which a browse fails.
MAX_EMPTY_PAGES = 100
# Turns of the loop after which a request has been sent, unless the service does not accept it.
SEND_LOOP_TURNS = 5
# How long, and how often, the effect of a write is checked if the key may not read tasks.
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

DIGEST_BYTES = 16


@dataclass(frozen=True)
class WriteOutcome:
    """The known state of a write that the service accepted.

    `published`: its tasks are published. `confirmed`: the key may not read tasks, but the effect
    is visible. `accepted`: the key may read neither tasks nor the effect.
    """

    state: WriteState

    @property
    def status(self) -> str:
        """The state as a sentence."""
        return STATUS[self.state]

    def facts(self) -> dict[str, Any]:
        """Return `status` for a result; empty if the write is published."""
        return {} if self.state == "published" else {"status": self.status}


async def write_and_wait(
    client: EndpointClient,
    write: Awaitable[Any] | Tasks,
    *,
    index: str | None = None,
    confirm: Confirm | None = None,
    on_progress: OnProgress | None = None,
) -> WriteOutcome:
    """Send a write and wait until it is published, also with a key that may not read tasks.

    - `write`: a call that is not awaited yet, or the responses of calls that were awaited.
    - `index`: the index of tasks that do not name one; default: tasks of the application.
    - `confirm`: returns whether the effect is visible. If the key may not read tasks, it is called
      until it returns true, for at most 30 seconds. Default: the effect is not checked.
    - `on_progress`: is called with `(tasks published, tasks)`.

    Errors of the write itself are raised. After the write is accepted, `TaskFailed` is raised if
    it is not published in time, but never `KeyRefused`: if the key may read neither the task nor
    the effect, the outcome is `accepted`, and a warning is issued.
    """
    answers: Any = await write if isawaitable(write) else write
    tasks: Tasks = dict(answers) if isinstance(answers, Mapping) else answers
    try:
        await client.wait(tasks, index=index, on_progress=on_progress)
    except KeyRefused:  # reading a task requires the right `addObject`
        if confirm is not None and await _confirm_effect(confirm, tasks, index):
            return WriteOutcome("confirmed")
        outcome = WriteOutcome("accepted")
        warn_user(f"the write to {index or 'the application'} was {outcome.status}")
        return outcome
    return WriteOutcome("published")


async def _confirm_effect(confirm: Confirm, tasks: Tasks, index: str | None) -> bool:
    """Wait until the effect of a write is visible; return False if the key may not read it."""
    deadline, pause = asyncio.get_running_loop().time() + CONFIRM_SECONDS, FIRST_POLL_SECONDS
    with regular_wake_ups():
        while True:
            try:
                if await confirm():
                    return True
            except NotFound:
                pass  # the write creates the index, and is not applied yet
            except Refused:
                return False
            if asyncio.get_running_loop().time() >= deadline:
                numbers = [
                    number for queue in sort_tasks(tasks, index).values() for number in queue
                ]
                raise TaskFailed(
                    f"the write to {index or 'the application'} was accepted, but its effect is "
                    f"not visible after {CONFIRM_SECONDS:g} s; check it again later",
                    tasks=numbers,
                )
            await asyncio.sleep(pause)
            pause = min(pause * POLL_GROWTH, MAX_POLL_SECONDS)


async def browse_pages(
    client: EndpointClient,
    index: str,
    *,
    cursor: str | None = None,
    read: Decode = msgspec.json.decode,
    **params: Unpack[SearchParams],
) -> AsyncIterator[SearchAnswer]:
    """Yield a whole index page by page, from `cursor` on.

    While the caller processes a page, only the next one is fetched. Its request is sent before the
    page is yielded, so that processing without an `await` does not delay it. `read` decodes a page,
    and may convert its records.
    """
    row = SearchApi.browse.endpoint
    options: SearchParams = {"hitsPerPage": BROWSE_PAGE_RECORDS, **params}
    first = row.encode(index, cursor, **options)._replace(read=read)
    progress = _BrowseProgress(index, cursor)
    ahead = asyncio.create_task(client.perform(row, first))
    try:
        while True:
            page = await ahead
            progress.add(page)
            if not (cursor := page.get("cursor")):
                break
            if error := progress.find_error():
                yield page
                raise error
            following = first._replace(body={**first.body, "cursor": cursor})
            ahead = asyncio.create_task(client.perform(row, following))
            for _ in range(SEND_LOOP_TURNS):
                await asyncio.sleep(0)
            yield page
    finally:
        ahead.cancel()
        await asyncio.gather(ahead, return_exceptions=True)
    yield page


class _BrowseProgress:
    """The pages of a browse; detects a service that repeats cursors or sends only empty pages."""

    def __init__(self, index: str, cursor: str | None) -> None:
        self._index = index
        self._cursor = cursor
        self._seen = Seen()
        self._is_new = True
        self._records = self._empty = 0
        if cursor:
            self._seen.note(cursor)

    def add(self, page: Mapping[str, Any]) -> None:
        """Count a page and its cursor."""
        count = len(page["hits"])
        self._records += count
        self._empty = 0 if count else self._empty + 1
        if cursor := page.get("cursor"):
            self._is_new = self._seen.note(cursor)
            self._cursor = cursor if self._is_new else self._cursor

    def find_error(self) -> CursorRepeated | None:
        """Return the error if the browse would not end."""
        if self._is_new and self._empty < MAX_EMPTY_PAGES:
            return None
        reason = (
            f"{self._empty} consecutive pages had a cursor but no record"
            if self._is_new
            else "the service returned a cursor a second time"
        )
        return CursorRepeated(
            f"browse of {self._index}: {reason}, after {format_count(self._records, 'record')}, "
            "so the browse would not end. Read the rest with filters that partition the index, or "
            "browse again when the service works; svc.read_browse(..., chunksize=...) keeps the "
            "records read so far",
            endpoint="browse", cursor=self._cursor, records=self._records,
        )  # fmt: skip


async def index_exists(client: EndpointClient, index: str) -> bool:
    """Return whether an index exists; the key needs the right `settings`."""
    try:
        await client.get_settings(index)
    except NotFound:
        return False
    return True


async def count_records(client: EndpointClient, index: str, *, filters: str = "") -> int:
    """Return the number of records of an index, independent of its settings and rules.

    It is 0 if the index does not exist. With `filters`, only matching records count.
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


async def is_own(client: EndpointClient, index: str) -> bool:
    """Return whether an index exists; raise `BadInput` for a replica, which has no own records."""
    try:
        settings = await client.get_settings(index)
    except NotFound:
        return False
    if primary := settings.get("primary"):
        raise BadInput(f"{index} is a replica of {primary}, which has its records: write to that")
    return True


class Seen:
    """Digests of values already seen, which detect a service that repeats pages."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()

    def note(self, value: Any) -> bool:
        """Store a value and return whether it is new."""
        digest = blake2b(msgspec.json.encode(value), digest_size=DIGEST_BYTES).digest()
        is_repeated = digest in self._digests
        self._digests.add(digest)
        return not is_repeated


async def each_page(
    fetch: Callable[[int], Awaitable[Any]],
    member: str,
    *,
    total: str = "nbHits",
    first: int = 0,
) -> AsyncIterator[list[Any]]:
    """Yield the list `member` of each page, until `total` entries or an empty page.

    Raises `UnexpectedAnswer` for a repeated page, because the service then ignores page numbers.
    """
    seen, read = Seen(), 0
    for number in itertools.count(first):
        answer = await fetch(number)
        page = answer[member]
        if not page:
            return
        if not seen.note(page):
            endpoint = getattr(answer, "endpoint", "")
            raise UnexpectedAnswer(
                f"{endpoint}: page {number} repeats an earlier page after {read:,} entries, so the "
                "list would not end; check that the address is a search service of this API",
                endpoint=endpoint,
            )
        yield page
        read += len(page)
        if read >= answer.get(total, float("inf")):
            return


async def every_entry(
    fetch: Callable[[int], Awaitable[Any]],
    member: str,
    *,
    total: str = "nbHits",
    first: int = 0,
) -> list[Any]:
    """Read all pages into one list; see `each_page`."""
    pages = each_page(fetch, member, total=total, first=first)
    return [entry async for page in pages for entry in page]

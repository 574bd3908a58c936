"""Operations of several calls: write and wait, browse a whole index, replace an index."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Unpack

import msgspec

from svc_notebook.api import SearchApi
from svc_notebook.api.endpoint import Decode
from svc_notebook.api.families.indices import CopyScope
from svc_notebook.api.parameters import SearchParams
from svc_notebook.api.shapes import BatchRequest, Record, SearchAnswer
from svc_notebook.api.warning import warn_user
from svc_notebook.client.background_loop import regular_wake_ups
from svc_notebook.client.pagination import Seen
from svc_notebook.client.tasks import OnProgress, Tasks, sort_tasks
from svc_notebook.errors import (
    BadInput,
    CursorRepeated,
    KeyRefused,
    NotFound,
    Refused,
    SvcError,
    TaskFailed,
    did_you_mean,
)

if TYPE_CHECKING:
    from svc_notebook.client.endpoint_client import EndpointClient


FULL_RECORD_PARAMS: SearchParams = {"attributesToHighlight": [], "attributesToRetrieve": ["*"]}


BROWSE_PAGE_RECORDS = 1000  # api.md, Limits
BATCH_RECORDS = 1000
# Consecutive pages with a cursor but without a record after which a browse fails.
MAX_EMPTY_PAGES = 100
# Turns of the loop after which a request has been sent, unless the service does not accept it.
SEND_LOOP_TURNS = 5
AROUND_RECORDS: list[CopyScope] = ["settings", "synonyms", "rules"]
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
                numbers = [number for some in sort_tasks(tasks, index).values() for number in some]
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
            f"browse of {self._index}: {reason}, after {self._records:,} records, so the browse "
            "would not end. Read the rest with filters that partition the index, or browse again "
            "when the service works; read_browse(..., chunksize=...) keeps the records read so far",
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


async def replace_all(
    client: EndpointClient,
    index: str,
    records: Iterable[Record],
    *,
    least: float = 0.5,
    scopes: Sequence[CopyScope] = AROUND_RECORDS,
    batch_size: int = BATCH_RECORDS,
    on_progress: OnProgress | None = None,
) -> int:
    """Put `records` in place of all there are, at one moment; return how many there are now.

    Nothing changes if anything goes wrong, or if less than the share `least` of the number of
    old records would be there.
    """
    if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size < 1:
        raise BadInput(f"`batch_size` is a number of records, 1 or more, not {batch_size!r}")
    async with replacing(client, index, least=least, scopes=scopes) as scratch:
        answers = [
            await client.batch(scratch, requests)
            for requests in _batches(iter(records), batch_size)
        ]
        ids = {object_id for answer in answers for object_id in answer["objectIDs"]}
        await client.wait(answers, index=scratch, on_progress=on_progress)
        await _check_count(client, scratch, len(ids))
    return len(ids)


def _batches(records: Iterator[Record], size: int) -> Iterator[list[BatchRequest]]:
    while chunk := list(islice(records, size)):
        yield [{"action": "addObject", "body": record} for record in chunk]


async def _check_count(client: EndpointClient, scratch: str, sent: int) -> None:
    if (found := await count_records(client, scratch)) != sent:
        raise SvcError(f"{sent} records were sent but {found} arrived; nothing was replaced")


@asynccontextmanager
async def replacing(
    client: EndpointClient,
    index: str,
    *,
    least: float = 0.5,
    scopes: Sequence[CopyScope] = AROUND_RECORDS,
) -> AsyncIterator[str]:
    """Give a temporary index to fill, set up as `index` is; it takes its place at the end.

    What the caller writes to it is to be waited for inside. An error, a stop, or too few
    records leave `index` as it was and the temporary one deleted.
    """
    kept = _check_scopes(scopes)
    scratch = name_scratch(index)
    await is_own(client, index)  # what fails here has left nothing behind
    try:
        await copy_around(client, index, scratch, kept)
        yield scratch
        await _check_share(client, index, scratch, least)
        moved = await take_place(client, scratch, index, kept)
    except BaseException:
        await asyncio.shield(drop(client, scratch))
        raise
    await client.wait(moved, index=scratch)


def name_scratch(index: str) -> str:
    """Name the index that is filled before it takes the other's place."""
    return f"{index}_tmp_{secrets.token_hex(4)}"


def _check_scopes(scopes: Sequence[CopyScope]) -> list[CopyScope]:
    known = ", ".join(AROUND_RECORDS)
    if isinstance(scopes, str):
        raise BadInput(f"`scopes` should be a list of {known}: scopes=[{scopes!r}]")
    for scope in scopes:
        if scope not in AROUND_RECORDS:
            advice = did_you_mean(f"{scope}", AROUND_RECORDS)
            raise BadInput(f"`scopes` are of {known}, not {scope!r}{advice}")
    return list(scopes)


async def copy_around(
    client: EndpointClient, index: str, scratch: str, scopes: Sequence[CopyScope] | None = None
) -> None:
    """Give an index the settings, synonyms and rules of another, or those named, if it is there."""
    wanted = AROUND_RECORDS if scopes is None else list(scopes)
    if wanted and await is_own(client, index):
        copied = await client.operate_index(index, "copy", scratch, wanted)
        await client.wait(copied, index=index)


async def is_own(client: EndpointClient, index: str) -> bool:
    """Say whether there is such an index; raises `BadInput` for one whose records are another's."""
    try:
        settings = await client.get_settings(index)
    except NotFound:
        return False
    if primary := settings.get("primary"):
        raise BadInput(f"{index} is a replica of {primary}, which has its records: write to that")
    return True


async def take_place(
    client: EndpointClient, scratch: str, index: str, scopes: Sequence[CopyScope] | None = None
) -> Any:
    """Move an index over another, with what was changed around that one's records meanwhile."""
    await copy_around(client, index, scratch, scopes)
    return await client.operate_index(scratch, "move", index)


async def drop(client: EndpointClient, scratch: str) -> None:
    """Delete an index that will not be filled further."""
    try:
        await client.delete_index(scratch)
    except SvcError:
        return  # what went wrong before is what there is to tell


async def _check_share(client: EndpointClient, index: str, scratch: str, least: float) -> None:
    old, new = await count_records(client, index), await count_records(client, scratch)
    if new < old * least:
        raise BadInput(
            f"{index} has {old} records and would have {new}; nothing was replaced. "
            "If that is right, allow it by min_share=0 (by least=0 in a method of a client)"
        )

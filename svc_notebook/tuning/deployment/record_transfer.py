"""Records of one service, streamed into a temporary index of another; resumable, in flat memory."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from svc_notebook.data.client import (
    BATCH_RECORDS,
    FULL_RECORD_PARAMS,
    MAX_IDS_PER_REQUEST,
    AsyncClient,
    OnProgress,
    TemporaryIndex,
    count_records,
    write_and_wait,
)
from svc_notebook.data.loading import Checkpoint, LoadSettings, as_stored, open_checkpoint_of
from svc_notebook.errors import BadInput, KeyRefused, NotFound, Refused

# The position among ids that are read after a browse; a cursor of a service does not begin so.
_BY_ID = "ids:"


@dataclass(frozen=True)
class RecordChoice:
    """Which records of an index are copied.

    - `filters`: those that match; "" is all.
    - `sample`: this number of them, chosen by `seed`; None is all.
    - `always`: objectIDs that are copied in any case, if they exist.
    """

    filters: str = ""
    sample: int | None = None
    seed: int = 0
    always: tuple[str, ...] = ()

    @property
    def reads_ids(self) -> bool:
        """Whether records are read by objectID."""
        return self.sample is not None

    @property
    def is_partial(self) -> bool:
        """Whether records can be left out."""
        return bool(self.filters) or self.sample is not None

    @property
    def facts(self) -> str:
        """What identifies the choice for a resumption."""
        return repr((self.filters, self.sample, self.seed, sorted(self.always)))


class CopiedPage(msgspec.Struct):
    """One acknowledged page: the position after it, its records and its tasks."""

    after: str
    records: int
    tasks: list[int]


class Page(NamedTuple):
    """Records, the position after them (None at the end) and the expected total."""

    records: Sequence[Mapping[str, Any]]
    after: str | None
    total: int


@dataclass
class RecordTransfer:
    """Copies the chosen records of `index` into the temporary index of a target."""

    source: AsyncClient
    index: str
    client: AsyncClient
    target: str
    choice: RecordChoice
    on_progress: OnProgress | None = None
    # Further facts that a resumption must share, such as the configuration of the target.
    facts: str = ""
    records: int = 0
    resumed: int = 0
    missing: int = 0
    _tasks: list[int] = field(default_factory=list)

    def checkpoint(self) -> Checkpoint[CopiedPage]:
        """Open the checkpoint of an earlier transfer between the same indices."""
        sides = [*self.source.connection.place, self.index, *self.client.connection.place]
        name = "\n".join(["records of another service", *sides, self.target])
        state = "\n".join([self.choice.facts, self.facts])
        return open_checkpoint_of(CopiedPage, name, state)

    async def fill(self, temporary: TemporaryIndex, checkpoint: Checkpoint[CopiedPage]) -> None:
        """Send the records that an interrupted transfer has not sent; verify their number."""
        for entry in checkpoint.entries:
            self.records += entry.records
            self._tasks += entry.tasks
        self.resumed = self.records
        done = bool(checkpoint.entries) and not checkpoint.entries[-1].after
        if not done:
            after = checkpoint.entries[-1].after if checkpoint.entries else None
            async for page in self._pages(after):
                await self._send(temporary.name, page, checkpoint)
        await self._wait(temporary.name)
        await self._verify(temporary.name)

    async def _send(self, name: str, page: Page, checkpoint: Checkpoint[CopiedPage]) -> None:
        tasks = []
        for requests in _batches(page.records):
            answer = await self.client.batch(name, requests)
            tasks.append(answer["taskID"])
        self.records += len(page.records)
        self._tasks += tasks
        checkpoint.write(CopiedPage(page.after or "", len(page.records), tasks))
        if self.on_progress:
            self.on_progress(self.records, max(page.total, self.records))

    async def _wait(self, name: str) -> None:
        if self._tasks:
            answers = [{"taskID": task} for task in self._tasks]
            await write_and_wait(self.client, answers, index=name)

    async def _verify(self, name: str) -> None:
        """Refuse a copy with another number of records than were sent."""
        try:
            copied = await count_records(self.client, name)
        except KeyRefused:
            return
        if copied != self.records:
            raise BadInput(
                f"{self.records:,} records of {self.index} were sent, but the copy has {copied:,}: "
                f"{self.index} changed while it was read. {self.target} is unchanged; start again "
                "without resume=True"
            )

    async def _pages(self, after: str | None) -> AsyncIterator[Page]:
        if self.choice.reads_ids:
            async for page in self._pages_by_id(int(after or 0)):
                yield page
            return
        async for page in self._browse(after):
            yield page

    async def _browse(self, after: str | None) -> AsyncIterator[Page]:
        """Yield the records that pass the filters, then those that are named in any case."""
        position = after or ""
        total = 0
        if not position.startswith(_BY_ID):
            params: Any = {**FULL_RECORD_PARAMS}
            if self.choice.filters:
                params["filters"] = self.choice.filters
            named = self._named_beside()
            pages = self.source.browse_pages(self.index, cursor=after, **params)
            async for answer in self._resumable(pages, after):
                records = [as_stored(hit) for hit in answer["hits"]]
                total = answer.get("nbHits", total)
                cursor = answer.get("cursor")
                follows = cursor or (f"{_BY_ID}0" if named else None)
                if named:
                    records = [record for record in records if record["objectID"] not in named]
                yield Page(records, follows, total + len(named))
            position = f"{_BY_ID}0"
        if self._named_beside():
            start = int(position.removeprefix(_BY_ID))
            async for page in self._read_ids(sorted(self._named_beside()), start, total):
                after_page = None if page.after is None else f"{_BY_ID}{page.after}"
                yield page._replace(after=after_page)

    def _named_beside(self) -> set[str]:
        """Return the ids that are read by themselves, because the filters may leave them out."""
        return {*self.choice.always} if self.choice.filters else set()

    async def _resumable(self, pages: AsyncIterator[Any], after: str | None) -> AsyncIterator[Any]:
        try:
            async for page in pages:
                yield page
        except (KeyRefused, NotFound):
            raise
        except Refused as error:
            if after is None or error.status != 400:
                raise
            raise BadInput(
                f"the service refuses to continue reading {self.index} ({error.message}): it was "
                "replaced meanwhile; start again without resume=True"
            ) from error

    async def _pages_by_id(self, start: int) -> AsyncIterator[Page]:
        ids = sorted({*await self._sample_ids(), *self.choice.always})
        async for page in self._read_ids(ids, start, 0):
            yield page

    async def _sample_ids(self) -> list[str]:
        """Return a sample of objectIDs: those with the smallest digests, whatever their order."""
        size = self.choice.sample or 0
        params: Any = {"attributesToRetrieve": ["objectID"], "attributesToHighlight": []}
        if self.choice.filters:
            params["filters"] = self.choice.filters
        chosen: list[tuple[int, str]] = []  # a heap with the largest digest first
        async for answer in self.source.browse_pages(self.index, **params):
            for hit in answer["hits"]:
                entry = (-_digest(self.choice.seed, hit["objectID"]), hit["objectID"])
                if len(chosen) < size:
                    heapq.heappush(chosen, entry)
                elif size and entry > chosen[0]:
                    heapq.heapreplace(chosen, entry)
        return [name for _, name in chosen]

    async def _read_ids(self, ids: Sequence[str], start: int, before: int) -> AsyncIterator[Page]:
        for first in range(start, len(ids), MAX_IDS_PER_REQUEST):
            part = ids[first : first + MAX_IDS_PER_REQUEST]
            answer = await self.source.get_objects(
                [{"indexName": self.index, "objectID": object_id} for object_id in part]
            )
            records = [as_stored(stored) for stored in answer["results"] if stored is not None]
            self.missing += len(part) - len(records)
            last = first + len(part)
            yield Page(records, f"{last}" if last < len(ids) else None, before + len(ids))


def _digest(seed: int, object_id: str) -> int:
    text = f"{seed}\0{object_id}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def _batches(records: Sequence[Mapping[str, Any]]) -> Iterator[list[Any]]:
    """Cut records into batches of the size that loads have."""
    limit = LoadSettings().batch_bytes
    batch: list[Any] = []
    size = 0
    for record in records:
        record_bytes = len(msgspec.json.encode(record))
        if batch and (size + record_bytes > limit or len(batch) >= BATCH_RECORDS):
            yield batch
            batch, size = [], 0
        batch.append({"action": "addObject", "body": record})
        size += record_bytes
    if batch:
        yield batch


async def open_temporary(
    transfer: RecordTransfer, checkpoint: Checkpoint[CopiedPage], *, resume: bool
) -> TemporaryIndex:
    """Claim the temporary index of an interrupted transfer, or a new one; drop what it left."""
    client, target = transfer.client, transfer.target
    earlier = checkpoint.target
    if resume and earlier and checkpoint.entries and await client.index_exists(earlier):
        interrupted = TemporaryIndex(client, target, "load", name=earlier)
        return await interrupted.claim(drop_at_exit=False)
    if earlier:
        left = TemporaryIndex(client, target, "load", name=earlier)
        await (await left.claim(drop_at_exit=False)).discard()
    temporary = TemporaryIndex(client, target, "load")
    checkpoint.begin(temporary.name)
    return await temporary.claim(drop_at_exit=False)


def is_resumable(error: BaseException, checkpoint: Checkpoint[CopiedPage]) -> bool:
    """Return whether a later transfer can resume after this error."""
    return bool(checkpoint.entries) and not isinstance(error, BadInput)

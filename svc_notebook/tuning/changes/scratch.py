"""Scratch copies: copies of an index to change and measure, then promoted or dropped."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from svc_notebook.api.warning import warn_user
from svc_notebook.client import background_loop
from svc_notebook.client.operations import write_and_wait
from svc_notebook.errors import BadInput, CallFailed, KeyRefused, NotFound, SvcError
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.session.file_lock import take_turn
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.diff import Differences, tabulate
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.orphaned_copies import name_scratch, turn_of
from svc_notebook.tuning.changes.snapshots import Snapshot, snapshot, tabulate_change
from svc_notebook.tuning.changes.state import (
    Deltas,
    IndexConfiguration,
    Scope,
    differences,
    holds,
    read_state,
    without,
)
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import METRICS, evaluate
from svc_notebook.tuning.tables.tables import Queries, Table

if TYPE_CHECKING:
    from svc_notebook.tuning.evaluation.comparison import Comparison

MAX_LISTED_CHANGES = 5  # changes listed in an error
NEEDED = ("addObject", "deleteIndex")  # to create and to delete the copy
OWN = "replicas"  # a setting that a copy does not have, and that stays unchanged on the index


class AsyncScratch:
    """A copy of an index, created on entering, dropped on leaving; see `scratch`."""

    def __init__(self, index: str, client: AnyClient | None = None) -> None:
        self.index = index
        self.name = name_scratch(index)
        self.client = asynchronous(client)
        self.before: Snapshot | None = None
        self.state = "not made yet"
        self._held = AsyncExitStack()

    async def open(self) -> Self:
        """Copy records, settings, synonyms and rules; raise `NotFound` without such an index."""
        if self.before:
            raise BadInput(f"{self.name} is {self.state}; make another scratch copy")
        await self._check_rights()
        self.before = await snapshot(self.index, client=self.client)
        turn = turn_of(self.name)
        await asyncio.to_thread(turn.parent.mkdir, parents=True, exist_ok=True)
        await self._held.enter_async_context(take_turn(turn))
        atexit.register(self._drop_at_exit)
        self.state = "open"
        try:
            copied = await self.client.operate_index(self.index, "copy", self.name)
            await self.client.wait(dict(copied), index=self.index)
        except BaseException:
            with suppress(SvcError):  # the reason why the copy failed is more important
                await asyncio.shield(self.drop())
            raise
        return self

    async def _check_rights(self) -> None:
        """Reject, before anything is copied, a key that could not delete the copy."""
        try:
            key = await self.client.get_key(self.client.connection.api_key.reveal())
        except CallFailed:  # the admin key, or a secured key: checked when it is used
            return
        lacking = [right for right in NEEDED if right not in key["acl"]]
        if lacking:
            rights = " and ".join(f"`{right}`" for right in lacking)
            raise KeyRefused(
                f"a scratch copy needs the right {rights}, which this key has not", status=403
            )

    async def run(self, queries: Queries, params: Any = None, **options: Any) -> pd.DataFrame:
        """Run queries on the copy; see `svc_notebook.tuning.run`."""
        self._check_open()
        return await run(self.name, queries, params, client=self.client, **options)

    async def evaluate(
        self,
        queries: Queries,
        judgments: Table,
        metrics: str | Iterable[str] = METRICS,
        *,
        k: int = 10,
        **options: Any,
    ) -> pd.DataFrame:
        """Run queries on the copy and score the result; see `svc_notebook.tuning.evaluate`."""
        found = await self.run(queries, k=k, name=self.name)
        return evaluate(found, judgments, metrics, queries=queries, **options)

    async def compare(
        self, queries: Queries, judgments: Table, *, k: int = 10, **options: Any
    ) -> Comparison:
        """Compare the index with the copy; see `svc_notebook.tuning.compare`."""
        from svc_notebook.tuning.evaluation.comparison import compare as compare_runs

        self._check_open()
        before = await run(self.index, queries, k=k, client=self.client)
        after = await self.run(queries, k=k)
        return compare_runs(before, after, judgments, **options)

    async def diff(self) -> Differences:
        """Return the differences between the copy and the index at the time of copying."""
        base = self._check_open()
        return tabulate(_deltas(base.state, await read_state(self.client, self.name)))

    async def promote(self, note: str = "", *, force: bool = False) -> Differences:
        """Give the index the copy's settings, synonyms and rules in one step, and drop the copy.

        Records and the set of replicas stay: a virtual replica follows the index, any other replica
        keeps its own settings, synonyms and rules. Refused if the index was changed meanwhile,
        unless `force` overwrites that. The change is written to the journal; `undo` reverts it.
        """
        base = self._check_open()
        tried = await read_state(self.client, self.name)
        async with journalled_write.alone(self.client, self.index):
            now = await read_state(self.client, self.index)
            if not force:
                self._refuse_if_changed(base, now)
            made = await self._put_in_place(_deltas(now, tried), note or f"promote {self.name}")
        await self.drop()
        self.state = "promoted"
        return tabulate_change(made)

    async def drop(self) -> None:
        """Delete the copy; the index is unchanged. Dropping it twice is harmless."""
        if self.state != "open":
            return
        try:
            with suppress(NotFound):
                deleted = await self.client.delete_index(self.name)
                with suppress(CallFailed):
                    await self.client.wait(dict(deleted), index=self.name)
        finally:
            await self._held.aclose()
        self.state = "dropped"
        atexit.unregister(self._drop_at_exit)
        turn_of(self.name).unlink(missing_ok=True)

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, kind: object = None, *_: object) -> None:
        try:
            await asyncio.shield(self.drop())
        except SvcError as error:
            if kind is None:
                raise
            warn_user(f"{self.name} is left, `drop_scratches` drops it: {error}")

    def __repr__(self) -> str:
        return f"<scratch copy {self.name} of {self.index}: {self.state}>"

    def _refuse_if_changed(self, base: Snapshot, now: IndexConfiguration) -> None:
        changed = _deltas(base.state, now)
        if not changed:
            return
        names = [f"{scope} `{name}`" for scope, delta in changed.items() for name in delta.before]
        more = (
            f" and {len(names) - MAX_LISTED_CHANGES} more"
            if len(names) > MAX_LISTED_CHANGES
            else ""
        )
        raise BadInput(
            f"{self.index} was changed since it was copied: "
            f"{', '.join(names[:MAX_LISTED_CHANGES])}{more}; make another scratch "
            "copy and try there, or overwrite it with force=True"
        )

    async def _put_in_place(self, found: Deltas, note: str) -> Change | None:
        wanted = {scope: delta.after for scope, delta in found.items()}
        around = journalled_write.recording(self.client, self.index, wanted, note=note)
        async with around as kept:
            if kept.change:
                scopes: list[Scope] = list(kept.change.deltas)
                await write_and_wait(
                    self.client,
                    self.client.operate_index(self.name, "copy", self.index, scopes),
                    index=self.name,
                    confirm=lambda: self._is_there(kept.change),
                )
        return kept.change

    async def _is_there(self, change: Change | None) -> bool:
        assert change
        for scope, delta in change.deltas.items():
            if not await holds(self.client, self.index, scope, delta.after):
                return False
        return True

    def _check_open(self) -> Snapshot:
        if self.before is None or self.state != "open":
            raise BadInput(f"{self.name} is {self.state}; `with scratch(...) as s:` makes one")
        return self.before

    def _drop_at_exit(self) -> None:
        with suppress(SvcError):
            background_loop.run(self.drop())


def _deltas(before: IndexConfiguration, after: IndexConfiguration) -> Deltas:
    return differences(without(before, OWN), without(after, OWN))


class Scratch:
    """A copy of an index with blocking methods; `aio` is its asynchronous version."""

    def __init__(self, index: str, client: AnyClient | None = None) -> None:
        self.aio = AsyncScratch(index, client)

    @property
    def index(self) -> str:
        """The index that was copied."""
        return self.aio.index

    @property
    def name(self) -> str:
        """The name of the copy."""
        return self.aio.name

    @property
    def before(self) -> Snapshot | None:
        """The settings, synonyms and rules of the index at the time of copying."""
        return self.aio.before

    @property
    def state(self) -> str:
        """Whether it is open, dropped or promoted."""
        return self.aio.state

    def open(self) -> Self:
        """Copy records, settings, synonyms and rules; `drop` or `promote` ends it."""
        background_loop.run(self.aio.open())
        return self

    def run(self, queries: Queries, params: Any = None, **options: Any) -> pd.DataFrame:
        """Run queries on the copy; see `svc_notebook.tuning.run`."""
        return background_loop.run(self.aio.run(queries, params, **options))

    def evaluate(
        self,
        queries: Queries,
        judgments: Table,
        metrics: str | Iterable[str] = METRICS,
        **options: Any,
    ) -> pd.DataFrame:
        """Run queries on the copy and score the result; see `svc_notebook.tuning.evaluate`."""
        return background_loop.run(self.aio.evaluate(queries, judgments, metrics, **options))

    def compare(self, queries: Queries, judgments: Table, **options: Any) -> Comparison:
        """Compare the index with the copy; see `svc_notebook.tuning.compare`."""
        return background_loop.run(self.aio.compare(queries, judgments, **options))

    def diff(self) -> Differences:
        """Return the differences between the copy and the index at the time of copying."""
        return background_loop.run(self.aio.diff())

    def promote(self, note: str = "", *, force: bool = False) -> Differences:
        """Give the index the copy's settings, synonyms and rules in one step; drop the copy."""
        return background_loop.run(self.aio.promote(note, force=force))

    def drop(self) -> None:
        """Delete the copy; the index is unchanged."""
        background_loop.run(self.aio.drop())

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *raised: object) -> None:
        background_loop.run(self.aio.__aexit__(*raised))

    def __repr__(self) -> str:
        return repr(self.aio)


def scratch(index: str, *, client: AnyClient | None = None) -> Scratch:
    """Create a scratch copy of an index: `with scratch("products") as s:`.

    Change `s.name` with any function, measure it with `s.evaluate` or `s.compare`, then
    `s.promote()`. Leaving the block without that drops the copy, and so does the end of this
    process. If the process was killed, `scratches` lists the copy. In a notebook `s =
    scratch("products").open()` keeps the copy from cell to cell.
    """
    return Scratch(index, client)


def async_scratch(index: str, *, client: AnyClient | None = None) -> AsyncScratch:
    """Create a scratch copy of an index: `async with scratch("products") as s:`."""
    return AsyncScratch(index, client)

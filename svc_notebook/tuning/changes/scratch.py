"""Scratch copies: copies of an index to change and measure, then promoted or dropped.

They are temporary indices; the others, of loads and of previews, are listed and dropped here, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from svc_notebook.api.texts import OneOrMany, list_texts
from svc_notebook.client import AsyncClient, background_loop
from svc_notebook.client.operations import write_and_wait
from svc_notebook.client.temporary_index import (
    TemporaryIndex,
    drop_temporary_indices,
    list_temporary_indices,
)
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.diff import Differences, tabulate
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.snapshots import Snapshot, snapshot, tell_change
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
# The columns of `scratches`, with their types.
COLUMNS = {
    "name": "string", "index": "string", "purpose": "string", "entries": "int64", "updatedAt": "",
    "owner": "string", "in_use": "bool",
}  # fmt: skip
OWN = "replicas"  # a setting that a copy does not have, and that stays unchanged on the index


class AsyncScratch:
    """A copy of an index, created on entering, dropped on leaving; see `scratch`."""

    def __init__(self, index: str, client: AnyClient | None = None) -> None:
        self.index = index
        self.before: Snapshot | None = None
        self._copy = TemporaryIndex(asynchronous(client), index, "scratch")

    @property
    def name(self) -> str:
        """The name of the copy."""
        return self._copy.name

    @property
    def client(self) -> AsyncClient:
        """The client that reads and changes the index and the copy."""
        return self._copy.client

    @client.setter
    def client(self, client: AsyncClient) -> None:
        self._copy.client = client

    @property
    def state(self) -> str:
        """Whether the copy is open, dropped or promoted."""
        return self._copy.state

    async def open(self) -> Self:
        """Copy records, settings, synonyms and rules; raise `NotFound` without such an index."""
        if self.before:
            raise BadInput(f"{self.name} is {self.state}; make another scratch copy")
        self.before = await snapshot(self.index, client=self.client)
        await self._copy.open()
        return self

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
        self._copy.state = "promoted"
        return tell_change(made)

    async def drop(self) -> None:
        """Delete the copy; the index is unchanged. Dropping it twice is harmless."""
        await self._copy.drop()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, kind: object = None, *_: object) -> None:
        if kind is None:
            await asyncio.shield(self.drop())
        else:
            await self._copy.discard()

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
        around = journalled_write.keeping(self.client, self.index, wanted, note=note)
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


async def scratches(*, client: AnyClient | None = None) -> pd.DataFrame:
    """List the temporary indices that exist: scratch copies, and those of loads and of previews.

    Columns: `name`; `index`, beside which it was made; `purpose`: `scratch`, `load`, `replace`,
    `preview`, or `unknown` for one of an earlier release or of a crawler; `entries`; `updatedAt`;
    `owner`: `this machine`, `another machine` or `unknown`; `in_use`: whether a process of this
    machine uses it. Those of this machine that are not in use were left behind, by a process that
    was killed; or by a load that `resume=True` continues. `drop_scratches` deletes them. The key
    needs the right `listIndexes`.
    """
    found = await list_temporary_indices(asynchronous(client))
    rows = [
        (item["name"], name.index, name.purpose, item["entries"], item["updatedAt"], name.owner,
         name.in_use)
        for item, name in found
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame["updatedAt"] = pd.to_datetime(frame["updatedAt"], utc=True, format="ISO8601")
    return frame.astype({name: dtype for name, dtype in COLUMNS.items() if dtype})


async def drop_scratches(
    names: OneOrMany | None = None, *, client: AnyClient | None = None
) -> list[str]:
    """Delete temporary indices, see `scratches`; only these are deleted. Returns their names.

    `names`: those to delete, in use or not. Default: all that were left behind: not in use, and not
    of another machine or of an unknown purpose. A load that was interrupted and whose index is
    deleted starts again when it is resumed.
    """
    own = asynchronous(client)
    found = {item["name"]: name for item, name in await list_temporary_indices(own)}
    if names is None:
        left = [name for name, facts in found.items() if facts.is_left]
        return await drop_temporary_indices(own, left, unused=True)
    chosen = list_texts(names, "names", column="name")
    for name in chosen:
        if name not in found:
            raise BadInput(f"`{name}` is not a temporary index{did_you_mean(name, found)}")
    return await drop_temporary_indices(own, chosen)

"""A scratch copy of an index, as coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from svc_notebook.core.display import join_first
from svc_notebook.data.client import (
    AsyncClient,
    TemporaryIndex,
)
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes import journalled_write
from svc_notebook.tuning.changes.snapshots import Snapshot, snapshot, tabulate_change
from svc_notebook.tuning.changes.state import (
    Deltas,
    Differences,
    IndexConfiguration,
    differences,
    read_state,
    tabulate,
    without,
)
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import METRICS, evaluate
from svc_notebook.tuning.tables.tables import Queries, Table

if TYPE_CHECKING:
    from svc_notebook.tuning.evaluation.comparison import Comparison

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
        hits = await self.run(queries, k=k, name=self.name)
        return evaluate(hits, judgments, metrics, queries=queries, **options)

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
        """Give the index the copy's settings, synonyms and rules, and drop the copy.

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
            made = await journalled_write.write_change(
                self.client, self.index,
                {scope: delta.after for scope, delta in _deltas(now, tried).items()},
                # Not the name of the copy: another copy may continue an interrupted change.
                note=note or "promote",
            )  # fmt: skip
        await self.drop()
        self._copy.state = "promoted"
        return tabulate_change(made)

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
        raise BadInput(
            f"{self.index} was changed since it was copied: {join_first(names)}; make another "
            "scratch copy and try there, or overwrite it with force=True"
        )

    def _check_open(self) -> Snapshot:
        if self.before is None or self.state != "open":
            raise BadInput(f"{self.name} is {self.state}; `with scratch(...) as s:` makes one")
        return self.before


def _deltas(before: IndexConfiguration, after: IndexConfiguration) -> Deltas:
    return differences(without(before, OWN), without(after, OWN))

"""The published partitions of a load: what resumes it, and the plan of all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

import msgspec
import pandas as pd

from svc_notebook.data.client.operations import count_records
from svc_notebook.data.loading.history.recorder import MAX_IDS_PER_REQUEST
from svc_notebook.data.loading.load_plan.ids import SCHEME
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.rejected_rows import ERROR_COLUMNS
from svc_notebook.data.loading.options import IfExists, LoadSettings
from svc_notebook.data.loading.sending.checkpoint import Checkpoint, facts_of, open_checkpoint_of
from svc_notebook.data.loading.sending.comparison import holds
from svc_notebook.data.loading.sending.result import LoadResult
from svc_notebook.data.loading.sources.partitions import SourcePartitions
from svc_notebook.errors import BadInput, KeyRefused

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient


NO_PARTITIONS = LoadPlan("", "", 0, "", (), (), pd.DataFrame(columns=ERROR_COLUMNS), 0, ())


class PublishedPartition(msgspec.Struct):
    """One published partition."""

    number: int
    rows: int
    sent: int
    published: int
    rejected_rows: int
    ids: str
    notes: tuple[str, ...]
    tasks: tuple[int, ...]
    # One of its records, which is read back before the load is resumed.
    record: dict[str, Any] | None

    @classmethod
    def of(cls, number: int, result: LoadResult) -> Self:
        """Describe a partition whose rows were published."""
        plan = result.plan
        record = dict(plan.sample[0]) if plan.sample else None
        return cls(
            number, plan.rows, result.sent, result.published, plan.rejected_rows, plan.ids,
            plan.notes, result.tasks, record,
        )  # fmt: skip

    def result(self, plan: LoadPlan, options: LoadSettings) -> LoadResult:
        """Build the result of the partition from the plan of its rows."""
        return LoadResult(
            plan, plan.index, self.sent, self.published, self.tasks, 0.0, resumed=self.sent,
            action=options.action,
        )  # fmt: skip

    def plan(self, source: str, index: str) -> LoadPlan:
        """Return what is known of a partition without reading it again."""
        return LoadPlan(source, index, self.rows, self.ids, (), (), pd.DataFrame(), 0, self.notes)


PartitionCheckpoint = Checkpoint[PublishedPartition]


def open_partition_checkpoint(
    client: AsyncClient,
    partitions: SourcePartitions,
    index: str,
    options: LoadSettings,
    if_exists: IfExists,
    *,
    hashed: bool,
) -> PartitionCheckpoint | None:
    """Read the checkpoint of an earlier load; None if its partitions cannot be recognised."""
    origin = partitions.origin
    if origin is None:
        return None
    identity = [origin.location, *client.connection.place, index]
    if if_exists != "replace":
        # Different sources can be added at the same time, but only one replaces the index.
        identity.append(origin.state)
    facts = facts_of(if_exists, options, SCHEME if hashed else "")
    state = f"{origin.state}|{len(partitions)} partitions|{facts}"
    return open_checkpoint_of(PublishedPartition, "\n".join(identity), state)


async def still_holds(
    client: AsyncClient, index: str, entries: Sequence[PublishedPartition], options: LoadSettings
) -> bool:
    """Return whether an index contains a record of each partition, of at most a thousand."""
    step = -(-len(entries) // MAX_IDS_PER_REQUEST)
    records = [entry.record for entry in entries[::step] if entry.record]
    with suppress(KeyRefused):  # a key with write access only
        return await holds(client, index, records, options)
    return True


async def check_hashes(client: AsyncClient, index: str) -> None:
    """Reject rows with hashed ids if an earlier load may have sent them with other ids."""
    with suppress(KeyRefused):
        if held := await count_records(client, index):
            raise BadInput(
                f"no interrupted load of these partitions is known, {index} has {held:,} records, "
                "and the ids are hashes of rows and partitions: rows that were sent in other "
                "partitions would be stored twice. Name the column of the ids, id='…', or load "
                "with if_exists='replace'"
            )


def combine_plans(
    partitions: SourcePartitions, index: str, plans: Mapping[int, LoadPlan], notes: Sequence[str]
) -> LoadPlan:
    """Combine the plans of partitions, by number; rejected rows get a column `partition`."""
    ordered = [plan for _, plan in sorted(plans.items())]
    every = [*partitions.notes, *notes, *(note for plan in ordered for note in plan.notes)]
    # A partition that an interrupted load published has no columns here.
    first = next((plan for plan in ordered if plan.column_rows), [*ordered, NO_PARTITIONS][0])
    return LoadPlan(
        source=partitions.name,
        index=index,
        rows=sum(plan.rows for plan in ordered),
        ids=first.ids,
        column_rows=first.column_rows,
        sample=first.sample,
        rejected=_combine_rejected(plans, first),
        rejected_rows=sum(plan.rejected_rows for plan in ordered),
        notes=tuple(dict.fromkeys(every)),
    )


def _combine_rejected(plans: Mapping[int, LoadPlan], first: LoadPlan) -> pd.DataFrame:
    rows = [
        plan.rejected.assign(partition=number)
        for number, plan in sorted(plans.items())
        if len(plan.rejected)
    ]
    if rows:
        return pd.concat(rows, ignore_index=True)
    return first.rejected if len(first.rejected.columns) else NO_PARTITIONS.rejected.copy()

"""The plan of a distributed load, combined from the plans of its partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.rejected_rows import ERROR_COLUMNS
from svc_notebook.data.loading.sources.partitions import SourcePartitions


def combine_plans(
    partitions: SourcePartitions, index: str, plans: Mapping[int, LoadPlan], notes: Sequence[str]
) -> LoadPlan:
    """Combine the plans of partitions, by number; rejected rows get a column `partition`."""
    ordered = [plan for _, plan in sorted(plans.items())]
    every = [*partitions.notes, *notes, *(note for plan in ordered for note in plan.notes)]
    # A partition that an interrupted load published has no columns here.
    first = next((plan for plan in ordered if plan.column_rows), ordered[0] if ordered else None)
    return LoadPlan(
        source=partitions.name,
        index=index,
        rows=sum(plan.rows for plan in ordered),
        ids=first.ids if first else "",
        column_rows=first.column_rows if first else (),
        sample=first.sample if first else (),
        rejected=_combine_rejected(plans, first),
        rejected_rows=sum(plan.rejected_rows for plan in ordered),
        notes=tuple(dict.fromkeys(every)),
    )


def _combine_rejected(plans: Mapping[int, LoadPlan], first: LoadPlan | None) -> pd.DataFrame:
    rows = [
        plan.rejected.assign(partition=number)
        for number, plan in sorted(plans.items())
        if len(plan.rejected)
    ]
    if rows:
        return pd.concat(rows, ignore_index=True)
    if first is None or not len(first.rejected.columns):
        return pd.DataFrame(columns=ERROR_COLUMNS)
    return first.rejected

"""Encode all rows of a source, without a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from pandas.testing import assert_frame_equal

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.load_plan.fast_path import NeedsDatabase
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.preparation import prepare_any, prepare_small
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sending.batches import Batch, pack_batches
from svc_notebook.data.loading.sources.python_records import are_records, gather


@dataclass(frozen=True)
class Packed:
    """What a load would send."""

    plan: LoadPlan
    batches: list[Batch]

    @property
    def steps(self) -> list[dict[str, Any]]:
        bodies = (msgspec.json.decode(batch.body) for batch in self.batches)
        return [step for body in bodies for step in body["requests"]]

    @property
    def records(self) -> list[dict[str, Any]]:
        return [step["body"] for step in self.steps]

    @property
    def rejected(self) -> list[tuple[int, str | None, str]]:
        """Row, column and reason of all that cannot be sent."""
        frame = self.plan.rejected
        columns = [None if name != name else name for name in frame["column"]]
        return list(zip(frame["row"], columns, frame["reason"], strict=True))


def pack(source: Any, **options: Any) -> Packed:
    """Pack a source; by both ways, if its rows are few and ordinary, which have to agree."""
    checked = LoadSettings.of(options)
    if are_records(source):
        with gather(source, checked) as records:
            return pack(records, **options)
    with Database() as db:
        prepared = prepare_any(source, "index", checked, db)
        packed = Packed(prepared.plan, list(pack_batches(prepared)))
    if quick := pack_small(source, checked):
        assert_same(quick, packed)
    return packed


def pack_small(source: Any, options: LoadSettings) -> Packed | None:
    with Database() as db:
        try:
            prepared = prepare_small(source, "index", options, db)
        except NeedsDatabase:
            return None
        return Packed(prepared.plan, list(pack_batches(prepared)))


def assert_same(one: Packed, other: Packed) -> None:
    assert one.batches == other.batches
    for fact in ("source", "rows", "ids", "sample", "rejected_rows", "notes"):
        assert getattr(one.plan, fact) == getattr(other.plan, fact)
    assert_frame_equal(one.plan.columns, other.plan.columns)
    assert_frame_equal(one.plan.rejected, other.plan.rejected)


def values(source: Any, **options: Any) -> list[dict[str, Any]]:
    """The records without their ids."""
    return [
        {name: value for name, value in record.items() if name != "objectID"}
        for record in pack(source, **options).records
    ]

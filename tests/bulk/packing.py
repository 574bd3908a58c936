"""Take a source all the way to its records, without a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from svc_notebook.bulk.batches import Batch, pack_batches
from svc_notebook.bulk.database import Database
from svc_notebook.bulk.options import Options
from svc_notebook.bulk.plan import Plan, prepare


@dataclass(frozen=True)
class Packed:
    """What a load would send."""

    plan: Plan
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
    with Database() as db:
        prepared = prepare(source, "index", Options.of(options), db)
        return Packed(prepared.plan, list(pack_batches(prepared)))


def values(source: Any, **options: Any) -> list[dict[str, Any]]:
    """The records without their ids."""
    return [
        {name: value for name, value in record.items() if name != "objectID"}
        for record in pack(source, **options).records
    ]

"""The batches of a load in the order of its rows: compared, recorded and paced before sending."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from time import monotonic

import numpy as np

from svc_notebook.data.loading.history.recorder import LoadRecorder
from svc_notebook.data.loading.load_plan.preparation import Prepared
from svc_notebook.data.loading.sending.batches import Batch, Span, merge_spans, pack_batches
from svc_notebook.data.loading.sending.result import LoadCounts
from svc_notebook.data.loading.sending.stored_records import StoredRecords, keep_changed
from svc_notebook.errors import BadInput

# Cutting operations of this size into batches takes about as long as a thread's turn.
MAX_QUICK_CHARACTERS = 1_000_000
# A partial update that is not idempotent, inside the JSON of a batch.
NOT_IDEMPOTENT = re.compile(rb'"_operation"\s*:\s*"(Increment|Decrement|Add)"')


def _count_left(prepared: Prepared, settled: Sequence[Span]) -> int:
    """Return the number of sendable rows outside the settled spans."""
    spans = merge_spans(settled)
    dropped = sum(int(np.diff(np.searchsorted(prepared.dropped, span))[0]) for span in spans)
    return prepared.plan.sendable - sum(last - first for first, last in spans) + dropped


def not_repeatable(operation: str) -> BadInput:
    """Return the error of a batch that must not be sent twice."""
    return BadInput(
        "it is not known whether the last batch was applied; sending it again could change the "
        f"records twice ({operation}): load only the rows that are missing"
    )


class OutgoingBatches:
    """The batches that are still to be sent, without the rows that are stored already."""

    def __init__(
        self,
        prepared: Prepared,
        counts: LoadCounts,
        settled: Sequence[Span],
        digests: Mapping[Span, int],
        stored: StoredRecords | None,
        recorder: LoadRecorder | None,
        *,
        may_repeat: bool,
        per_second: int | None,
    ) -> None:
        self._prepared = prepared
        self._counts = counts
        self._batches = pack_batches(prepared, settled, digests)
        self._stored = stored
        self._recorder = recorder
        # Whether some of the rows may have been sent before.
        self._may_repeat = may_repeat or prepared.options.spread
        # The maximum number of rows that are sent in a second, and when the next may be sent.
        self._per_second = per_second
        self._next_at = 0.0
        # Rows that are still to be read.
        self.rows_left = _count_left(prepared, settled)

    async def next(self) -> Batch | None:
        """Return the next batch with a row to send, when it can be sent; None at the end."""
        while True:
            batch = await self._cut_next()
            if batch is None:
                return None
            self.rows_left -= batch.rows
            self._check_repeatable(batch)
            changed = batch
            if self._stored is not None:
                changed = await asyncio.to_thread(keep_changed, batch, self._stored)
                self._counts.unchanged += batch.rows - changed.rows
            if changed.rows:
                if self._recorder:
                    await self._recorder.keep(changed)
                await self._pace(changed)
                return changed

    async def _pace(self, batch: Batch) -> None:
        """Wait until a batch can be sent without exceeding the rate."""
        if self._per_second is None:
            return
        now = monotonic()
        await asyncio.sleep(max(self._next_at - now, 0))
        self._next_at = max(self._next_at, now) + batch.rows / self._per_second

    async def _cut_next(self) -> Batch | None:
        operations = self._prepared.operations
        if operations is not None and sum(map(len, operations)) <= MAX_QUICK_CHARACTERS:
            return next(self._batches, None)
        batch: Batch | None = await self._prepared.table.db.in_thread(next, self._batches, None)
        return batch

    def _check_repeatable(self, batch: Batch) -> None:
        """Reject rows that may have been sent already, if their operations are not idempotent."""
        if (
            self._may_repeat
            and not batch.repeatable
            and (match := NOT_IDEMPOTENT.search(batch.body))
        ):
            raise not_repeatable(match[1].decode())

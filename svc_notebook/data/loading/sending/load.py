"""The load of one source: its rows are sent in batches, published, verified and resumed."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.preparation import prepare
from svc_notebook.data.loading.options import LoadSettings, SendSettings
from svc_notebook.data.loading.sending.existing_index import check_rejected
from svc_notebook.data.loading.sending.load_run import LoadRun
from svc_notebook.data.loading.sending.result import LoadResult
from svc_notebook.data.loading.sources.python_records import RecordStream
from svc_notebook.errors import (
    BadInput,
    CallFailed,
    KeyRefused,
    Refused,
    Stopped,
    SvcError,
    TaskFailed,
)

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient
    from svc_notebook.data.loading.sources.source import Source

# The message of a service that refuses a record, with the bytes that a record may have.
RECORD_TOO_LARGE = re.compile(r"is too big size=\d+/(\d+) bytes")


async def load_source(
    client: AsyncClient, source: Source, index: str, options: LoadSettings, sending: SendSettings
) -> LoadResult:
    """Load one source in this process.

    A service can refuse records that are smaller than the option `record_bytes` allows. Then its
    limit becomes the option, and the load begins again, so that such records are rejected rows.

    Raises `Stopped` with the result so far if cancelled.
    """
    if sending.per_second is not None:
        options = replace(options, batch=min(options.batch, sending.per_second))
    try:
        return await _load_once(client, source, index, options, sending)
    except Refused as error:
        match = RECORD_TOO_LARGE.search(error.message)
        limit = int(match[1]) if match else options.record_bytes
        if limit >= options.record_bytes or options.unrepeatable:
            raise
    # The index exists now, with rows of this load.
    if_exists = "append" if sending.if_exists == "fail" else sending.if_exists
    sending = replace(sending, if_exists=if_exists, resume=False)
    return await _load_once(client, source, index, replace(options, record_bytes=limit), sending)


async def _load_once(
    client: AsyncClient, source: Source, index: str, options: LoadSettings, sending: SendSettings
) -> LoadResult:
    started = source.started if isinstance(source, RecordStream) else monotonic()
    db = Database()
    run: LoadRun | None = None
    try:
        prepared = await db.in_thread(prepare, source, index, options, db)
        _check_plan(prepared.plan, sending)
        run = LoadRun(client, source, index, prepared, sending, started)
        await (run.complete_plan() if sending.dry_run else run.carry_out())
    except asyncio.CancelledError:
        if run is None:
            raise Stopped(
                f"stopped while the source was read; nothing was sent to {index}"
            ) from None
        raise Stopped(f"stopped. {run.progress()}", result=run.counts.close()) from None
    except (CallFailed, TaskFailed) as error:
        if isinstance(error, KeyRefused) and (primary := await _primary_of(client, index)):
            raise BadInput(
                f"{index} is a replica of {primary}: write to {primary}, which has the records"
            ) from error
        if run:
            error.add_note(run.progress())
        raise
    finally:
        if run:
            run.close()
        await db.leave()
    return run.counts.close(dry_run=sending.dry_run)


def _check_plan(plan: LoadPlan, sending: SendSettings) -> None:
    """Reject a source that differs from its contract, and rejected rows if none may be skipped."""
    if sending.contract:
        sending.contract.check(plan)
    if not sending.skip_rejected:
        check_rejected(plan.rejected_rows)


async def _primary_of(client: AsyncClient, index: str) -> str | None:
    """Return the primary of a replica; None if it is unknown."""
    with suppress(SvcError):
        return (await client.get_settings(index)).get("primary")
    return None

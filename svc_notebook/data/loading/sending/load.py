"""The load of one source: its rows are sent in batches, published, verified and resumed."""

from __future__ import annotations

import asyncio
import os
import re
from contextlib import suppress
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from svc_notebook.core.display import shorten
from svc_notebook.core.redaction import mask_secrets, show_address
from svc_notebook.data.client.tasks import OnProgress
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.history.journal import digest_of_source
from svc_notebook.data.loading.history.recorder import (
    DEFAULT_UNDO_ROWS,
)
from svc_notebook.data.loading.load_plan.contract import LoadContract
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.preparation import prepare
from svc_notebook.data.loading.load_plan.proposals import add_proposals
from svc_notebook.data.loading.options import CompareWith, IfExists, LoadSettings
from svc_notebook.data.loading.sending.attribute_loss import (
    ReadColumns,
)
from svc_notebook.data.loading.sending.load_run import LoadRun
from svc_notebook.data.loading.sending.replacement import check_rejected
from svc_notebook.data.loading.sending.result import LoadResult
from svc_notebook.data.loading.sources.python_records import RecordStream
from svc_notebook.data.loading.sources.source import QUERY
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

MAX_SHOWN_SOURCE_CHARACTERS = 300
# The message of a service that refuses a record, with the bytes that a record may have.
RECORD_TOO_LARGE = re.compile(r"is too big size=\d+/(\d+) bytes")


async def load_source(
    client: AsyncClient,
    source: Source,
    index: str,
    options: LoadSettings,
    *,
    if_exists: IfExists = "append",
    min_share: float | None = None,
    dry_run: bool = False,
    resume: bool = False,
    verify: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    contract: LoadContract | None = None,
    per_second: int | None = None,
    undo_rows: int = DEFAULT_UNDO_ROWS,
    compare_with: CompareWith = "index",
    skip_rejected: bool = True,
) -> LoadResult:
    """Load one source in this process; see `load` for the options.

    A service can refuse records that are smaller than the option `record_bytes` allows. Then its
    limit becomes the option, and the load begins again, so that such records are rejected rows.

    Raises `Stopped` with the result so far if cancelled.
    """
    arguments: dict[str, Any] = {
        "if_exists": if_exists, "min_share": min_share, "dry_run": dry_run, "resume": resume,
        "verify": verify, "in_flight": in_flight, "on_progress": on_progress,
        "contract": contract, "per_second": per_second, "undo_rows": undo_rows,
        "compare_with": compare_with, "skip_rejected": skip_rejected,
    }  # fmt: skip
    try:
        return await _load_once(client, source, index, options, **arguments)
    except Refused as error:
        limit = _find_record_limit(error)
        if limit is None or limit >= options.record_bytes or options.unrepeatable:
            raise
    # The index exists now, with rows of this load.
    again = {"if_exists": "append" if if_exists == "fail" else if_exists, "resume": False}
    options = replace(options, record_bytes=limit)
    return await _load_once(client, source, index, options, **{**arguments, **again})


def _find_record_limit(error: Refused) -> int | None:
    """Return the maximum bytes of a record if a service refused a larger one."""
    match = RECORD_TOO_LARGE.search(error.message)
    return int(match[1]) if match else None


async def _load_once(
    client: AsyncClient,
    source: Source,
    index: str,
    options: LoadSettings,
    *,
    if_exists: IfExists = "append",
    min_share: float | None = None,
    dry_run: bool = False,
    resume: bool = False,
    verify: bool = False,
    in_flight: int = 4,
    on_progress: OnProgress | None = None,
    contract: LoadContract | None = None,
    per_second: int | None = None,
    undo_rows: int = DEFAULT_UNDO_ROWS,
    compare_with: CompareWith = "index",
    skip_rejected: bool = True,
) -> LoadResult:
    started = source.started if isinstance(source, RecordStream) else monotonic()
    db = Database()
    run: LoadRun | None = None
    try:
        prepared = await db.in_thread(prepare, source, index, options, db)
        if contract:
            contract.check(prepared.plan)
        if not skip_rejected:
            check_rejected(prepared.plan.rejected_rows)
        read = ReadColumns.of(source, index, client)
        run = LoadRun(client, index, prepared, in_flight, on_progress, started, read)
        run.per_second, run.undo_rows = per_second, undo_rows
        run.compare_with = compare_with
        run.source_digest = digest_of_source(source)
        run.shown_source = describe_source(source, prepared.plan)
        if dry_run:
            run.counts.plan = await db.in_thread(add_proposals, prepared)
            await run.note_attribute_loss(if_exists)
            await run.note_difference(if_exists)
        else:
            await run.carry_out(if_exists, min_share, resume=resume, verify=verify)
    except asyncio.CancelledError:
        raise _stopped(index, run) from None
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
    return run.counts.close(dry_run=dry_run)


def describe_source(source: Source, plan: LoadPlan) -> str:
    """Return a path, URL or query without secrets; else the name of the source in the plan."""
    if not isinstance(source, (str, os.PathLike)):
        return plan.source
    text = os.fspath(source)
    shown = mask_secrets(text) if QUERY.match(text) else show_address(text)
    return shorten(shown, MAX_SHOWN_SOURCE_CHARACTERS)


async def _primary_of(client: AsyncClient, index: str) -> str | None:
    """Return the primary of a replica; None if it is unknown."""
    with suppress(SvcError):
        return (await client.get_settings(index)).get("primary")
    return None


def _stopped(index: str, run: LoadRun | None) -> Stopped:
    if run is None:
        return Stopped(f"stopped while the source was read; nothing was sent to {index}")
    return Stopped(f"stopped. {run.progress()}", result=run.counts.close())

"""Load, push and plan: the options are checked, and the source is sent here or by Dask workers."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from svc_notebook.data.loading.dask.load import load_partitions
from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.history.journal import find_cursor
from svc_notebook.data.loading.load_plan.plan import LoadPlan, read_contract
from svc_notebook.data.loading.load_plan.preparation import prepare
from svc_notebook.data.loading.load_plan.proposals import accept_proposals, add_proposals
from svc_notebook.data.loading.options import (
    DEFAULT_UNDO_ROWS,
    FILES,
    Accept,
    CompareWith,
    IfExists,
    LoadSettings,
    RowOptions,
    SendSettings,
)
from svc_notebook.data.loading.sending.existing_index import plan_attribute_loss
from svc_notebook.data.loading.sending.load import load_source
from svc_notebook.data.loading.sources.given_files import is_pipe
from svc_notebook.data.loading.sources.partitions import find_partitions, may_have_partitions
from svc_notebook.data.loading.sources.python_records import Rows, are_paths, refuse_early
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient
    from svc_notebook.data.client.tasks import OnProgress
    from svc_notebook.data.loading.sending.result import LoadResult
    from svc_notebook.data.loading.sources.source import Source


def plan(source: Source, index: str, **options: Unpack[RowOptions]) -> LoadPlan:
    """Return the plan of a load; nothing is sent."""
    _check_index(index)
    checked = LoadSettings.of(options)
    refuse_early(source, look=True)
    if partitions := find_partitions(source, checked):
        source = partitions.first()
    with Database() as db:
        prepared = prepare(source, index, checked, db)
        proposed = replace(prepared, plan=add_proposals(prepared))
    return plan_attribute_loss(source, index, proposed)


# The name that the parameter `plan` of a load does not hide.
plan_source = plan


async def push(
    client: AsyncClient,
    df: Rows,
    index: str,
    *,
    if_exists: IfExists = "append",
    min_share: float | None = None,
    verify: bool = False,
    in_flight: int | None = None,
    on_progress: OnProgress | None = None,
    undo_rows: int = DEFAULT_UNDO_ROWS,
    **options: Unpack[RowOptions],
) -> LoadResult:
    """Write a DataFrame's rows to an index, and wait until they are published."""
    if isinstance(df, (str, os.PathLike)) or are_paths(df):
        raise BadInput("a path is not a DataFrame; svc.load(…) takes files, URLs and SQL")
    return await load(
        client, df, index, if_exists=if_exists, min_share=min_share, verify=verify,
        in_flight=in_flight, on_progress=on_progress, undo_rows=undo_rows, **options,
    )  # fmt: skip


async def load(
    client: AsyncClient,
    source: Source,
    index: str,
    *,
    if_exists: IfExists = "append",
    min_share: float | None = None,
    dry_run: bool = False,
    resume: bool = False,
    verify: bool = False,
    in_flight: int | None = None,
    on_progress: OnProgress | None = None,
    plan: Any = None,
    accept: Accept | None = None,
    per_second: int | None = None,
    undo_rows: int = DEFAULT_UNDO_ROWS,
    cursor: str | None = None,
    reset_cursor: bool = False,
    compare_with: CompareWith = "index",
    skip_rejected: bool = True,
    **options: Unpack[RowOptions],
) -> LoadResult:
    """Send every row that can be sent, and wait until all are published.

    With `verify`, all records are read back and the result's `differences` lists those that are not
    stored as they were sent. An index is not replaced if there are differences, or by fewer records
    than the share `min_share` of the old number. If cancelled, raises `Stopped`, whose `result` is
    the result so far. `resume` continues an interrupted load of files. `on_progress` is called with
    `(rows sent, rows)`. Unless `skip_rejected`, rejected rows of a replacement are an error.
    """
    _check_index(index)
    sending = SendSettings(
        if_exists=if_exists, min_share=min_share, dry_run=dry_run, resume=resume, verify=verify,
        in_flight=in_flight, on_progress=on_progress, per_second=per_second,
        undo_rows=undo_rows, compare_with=compare_with, skip_rejected=skip_rejected,
    )  # fmt: skip
    given: dict[str, Any] = {**options}
    if plan is not None:
        contract = read_contract(plan)
        sending, given = replace(sending, contract=contract), {**contract.options, **options}
    if accept is not None:
        given = await _accept(accept, source, index, given)
    checked = LoadSettings.of(given)
    refuse_early(source, look=dry_run, resume=resume)
    sending.check_comparison()
    if reset_cursor and cursor is None:
        raise BadInput("`reset_cursor` needs `cursor`, the name of a column")
    if cursor is not None:
        _check_cursor(cursor, source, checked, if_exists)
        since = find_cursor(client.connection, index, cursor, source, reset=reset_cursor)
        checked = replace(checked, cursor=since)
    may_be_many = may_have_partitions(source)
    if may_be_many and (partitions := await asyncio.to_thread(find_partitions, source, checked)):
        for name, value in (("per_second", per_second), ("cursor", cursor)):
            if value is not None:
                raise BadInput(f"`{name}` does not work with a source in partitions; omit it")
        return await load_partitions(client, partitions, index, checked, sending)
    return await load_source(client, source, index, checked, sending)


def _check_cursor(cursor: str, source: Source, options: LoadSettings, if_exists: str) -> None:
    """Reject options with which an increment would lose or delete rows, or count some twice."""
    if if_exists not in ("append", "merge"):
        raise BadInput(f"`cursor` leaves rows out: pass if_exists='merge', not {if_exists!r}")
    if options.limit is not None:
        raise BadInput("`limit` leaves rows out that the next load with `cursor` skips: omit it")
    if operation := options.unrepeatable:
        raise BadInput(
            f"`cursor` sends the last rows again, and {operation} would change them twice"
        )
    if are_paths(source):
        raise BadInput(
            "`cursor` knows a source by its path: pass a pattern such as 'exports/*.csv', no list"
        )
    if cursor == FILES and (not isinstance(source, (str, os.PathLike)) or "://" in str(source)):
        raise BadInput("cursor='files' loads new files of a pattern such as 'exports/*.csv'")


async def _accept(
    accept: str, source: Source, index: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Return the options with all proposals of the plan."""
    if accept != "plan":
        raise BadInput(f"`accept` must be 'plan', not {accept!r}")
    paths = source if are_paths(source) else [source]
    if any(isinstance(path, (str, os.PathLike)) and is_pipe(path) for path in paths):
        raise BadInput("`accept` reads the source twice, and a pipe can be read once: pass a file")
    refuse_early(source, look=True)
    return accept_proposals(await asyncio.to_thread(plan_source, source, index, **options), options)


def _check_index(index: object) -> None:
    if not isinstance(index, str) or not index:
        raise BadInput(
            f"`index` must be the name of an index, not {index!r}: svc.load(source, 'films')"
        )
    if any("\ud800" <= letter <= "\udfff" for letter in index):
        raise BadInput(
            "the name of the index contains a lone surrogate, which is not valid Unicode"
        )

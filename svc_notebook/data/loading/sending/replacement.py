"""How a load treats an existing index: checks before a replacement, and the final move."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client.operations import count_records, index_exists, is_own
from svc_notebook.data.client.temporary_index import TemporaryIndex
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.options import IfExists
from svc_notebook.errors import BadInput, CallFailed, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

# Minimum share of the old number of records, by default for an index of this many records, and for
# any index if rows were rejected.
DEFAULT_MIN_SHARE, MIN_GUARDED_RECORDS = 0.5, 1000
CHOICES: tuple[IfExists, ...] = ("append", "replace", "fail", "merge", "sync")


async def check_target(client: AsyncClient, index: str, if_exists: IfExists) -> None:
    """Reject an unknown choice, and an existing index if it must not exist."""
    if if_exists not in CHOICES:
        raise BadInput(
            f"`if_exists` must be one of {', '.join(CHOICES)}, not {if_exists!r}"
            f"{did_you_mean(str(if_exists), CHOICES)}"
        )
    if if_exists == "replace":
        await is_own(client, index)
    if if_exists == "fail" and await index_exists(client, index):
        raise BadInput(
            f"the index {index} exists; if_exists='append' adds to it, 'replace' replaces it"
        )


async def warn_of_hashes(client: AsyncClient, index: str) -> None:
    """Warn if hashes of rows are the ids of records that are added to existing records."""
    with suppress(CallFailed):  # a key with write access only
        if held := await count_records(client, index):
            warn_user(
                f"{index} already has {held:,} records, and the ids of this load are hashes of "
                "its rows: a row that has changed is added beside its old record; name the column "
                "of the ids, id='…', or replace the records, if_exists='replace'"
            )


def check_rejected(rows: int) -> None:
    """Raise `BadInput` if rows are rejected that the new index would lack."""
    if rows:
        raise BadInput(
            f"{rows} rows cannot be sent; nothing was replaced. `plan` lists the reasons; "
            "`skip_rejected` skips these rows"
        )


async def check_share(
    client: AsyncClient, index: str, plan: LoadPlan, min_share: float | None
) -> None:
    """Refuse to replace an index with fewer records than the share `min_share` of it.

    By default, that is half of a large index, and of any index if rows were rejected.
    """
    if min_share == 0:
        return
    old = await count_records(client, index)
    share = default_share(old, plan.rejected_rows) if min_share is None else min_share
    if plan.sendable >= old * share:
        return
    would = f"{index} has {old:,} records and would have {plan.sendable:,}"
    if plan.rejected_rows:
        raise BadInput(
            f"{would}, as {plan.rejected_rows:,} rows cannot be sent ({describe_first(plan)}); it "
            "is unchanged. Correct them, or allow fewer records: min_share=0"
        )
    raise BadInput(f"{would}; it is unchanged. To allow fewer records, pass min_share=0")


def default_share(old: int, rejected_rows: int = 0) -> float:
    """Return the minimum share of an index of `old` records for a load that names none."""
    return DEFAULT_MIN_SHARE if rejected_rows or old >= MIN_GUARDED_RECORDS else 0


def describe_first(plan: LoadPlan) -> str:
    """Describe the error of the first rejected row."""
    first = plan.rejected.iloc[0]
    of = f", column `{first['column']}`" if isinstance(first["column"], str) else ""
    return f"row {first['row']}{of} {first['reason']}"


def describe_no_rows(plan: LoadPlan, index: str, if_exists: IfExists) -> str:
    """Describe why a load has no row to send, and what to do."""
    if plan.rejected_rows:
        return (
            f"no row can be sent, and {index} is unchanged: {describe_first(plan)}; a dry run "
            "lists the rejected rows"
        )
    if if_exists == "replace":
        return (
            f"the source has no rows to replace {index} with; svc.clear_index({index!r}) empties it"
        )
    return f"{plan.source} has no rows, and {index} is unchanged; check that it is complete"


async def move_over(temporary: TemporaryIndex, rows: int) -> None:
    """Replace the old index by the new one, once that contains every sent row."""
    held = await count_records(temporary.client, temporary.name)
    if held != rows:
        raise BadInput(
            f"{temporary.name} holds {held:,} records and not the {rows:,} that were sent: "
            f"{temporary.index} is unchanged"
        )
    await temporary.promote()

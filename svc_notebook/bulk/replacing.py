"""What a load does with an index that exists already."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from svc_notebook.bulk.options import IfExists
from svc_notebook.client.flows import AROUND_RECORDS, count_records, index_exists
from svc_notebook.client.waiting import wait
from svc_notebook.errors import BadInput, SvcError, did_you_mean

if TYPE_CHECKING:
    from svc_notebook.client import AsyncClient

CHOICES: tuple[IfExists, ...] = ("append", "replace", "fail", "merge")


async def check_target(client: AsyncClient, index: str, if_exists: IfExists) -> None:
    """Refuse an unknown choice, and an index that is there though it should not be."""
    if if_exists not in CHOICES:
        raise BadInput(
            f"`if_exists` is one of {', '.join(CHOICES)}, not {if_exists!r}"
            f"{did_you_mean(str(if_exists), CHOICES)}"
        )
    if if_exists == "fail" and await index_exists(client, index):
        raise BadInput(
            f"the index {index} exists; if_exists='append' adds to it, 'replace' replaces it"
        )


def name_target(index: str) -> str:
    """Name the index that is filled before it takes the other's place."""
    return f"{index}_tmp_{secrets.token_hex(4)}"


async def copy_settings(client: AsyncClient, index: str, target: str) -> None:
    """Give the new index the settings, rules and synonyms of the old one, if there is one."""
    if await index_exists(client, index):
        answer = await client.operate_index(index, "copy", target, AROUND_RECORDS)
        await wait(client, answer["taskID"], index=target)


async def move_over(client: AsyncClient, target: str, index: str, rows: int) -> None:
    """Put the new index in the old one's place, once it holds every row that was sent."""
    held = await count_records(client, target)
    if held != rows:
        raise BadInput(
            f"{target} holds {held:,} records and not the {rows:,} that were sent: {index} was "
            f"left as it is; look into {target}, then delete it"
        )
    answer = await client.operate_index(target, "move", index)
    await wait(client, answer["taskID"], index=index)


async def drop_target(client: AsyncClient, target: str) -> None:
    """Delete an index that will not be filled further."""
    try:
        await client.delete_index(target)
    except SvcError:
        return  # what went wrong before is what there is to tell

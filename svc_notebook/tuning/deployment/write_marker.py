"""Marks of indices that are being written, so that two people do not write at the same time.

The marks of a service are records of one small index. A mark is taken by an update that the service
makes only if nobody else has taken it since it was read, and it expires, so that an interrupted
write blocks nobody for long.
"""

from __future__ import annotations

import asyncio
import platform
import secrets
import time
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from typing import Any

from svc_notebook.data.client import AsyncClient
from svc_notebook.data.loading import user_name
from svc_notebook.errors import BadInput, NotFound, SvcError

MARKS_INDEX = "svc_marks"
MARK_SECONDS = 3600


@asynccontextmanager
async def marking(client: AsyncClient, indices: Iterable[str], action: str) -> AsyncIterator[None]:
    """Mark indices until the block ends; raises `BadInput` if somebody else has marked one.

    A mark of the same user and machine is replaced: an interrupted call can be repeated.
    """
    async with AsyncExitStack() as stack:
        for index in sorted({*indices}):
            await stack.enter_async_context(_marking_one(client, index, action))
        yield


@asynccontextmanager
async def _marking_one(client: AsyncClient, index: str, action: str) -> AsyncIterator[None]:
    token, now = secrets.token_hex(8), time.time()
    mark = await _read(client, index)
    _refuse_other(index, mark, now)
    version = int(mark.get("version", 0))
    facts = {"token": token, "by": _name_user(), "action": action, "at": now}
    await _update(client, index, version, {**facts, "until": now + MARK_SECONDS})
    mark = await _read(client, index)
    if mark.get("token") != token:
        _refuse_other(index, mark, now)
        raise BadInput(f"{index} was marked by another call at the same time: call again")
    try:
        yield
    finally:
        # Without this update, the mark expires.
        with suppress(SvcError):
            await asyncio.shield(_update(client, index, version + 1, {"until": 0}))


def _refuse_other(index: str, mark: Mapping[str, Any], now: float) -> None:
    if mark.get("until", 0) <= now or mark.get("by") == _name_user():
        return
    since, until = (datetime.fromtimestamp(mark[name]).astimezone() for name in ("at", "until"))
    raise BadInput(
        f"{index} is being written by {mark['by']} since {since:%H:%M} ({mark['action']}); nothing "
        f"was written. Wait for its end, at the latest until {until:%H:%M}, or write without "
        "mark=True"
    )


async def _read(client: AsyncClient, index: str) -> Mapping[str, Any]:
    try:
        return await client.get_object(MARKS_INDEX, index)
    except NotFound:
        return {}


async def _update(client: AsyncClient, index: str, version: int, facts: Mapping[str, Any]) -> None:
    """Update a mark if its version is still the one that was read; wait until that is decided."""
    step = {"_operation": "IncrementFrom", "value": version}
    answer = await client.partial_update_object(MARKS_INDEX, index, {"version": step, **facts})
    await client.wait(dict(answer), index=MARKS_INDEX)


def _name_user() -> str:
    return f"{user_name() or 'unknown'}@{platform.node()}"

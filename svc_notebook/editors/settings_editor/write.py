"""Settings written and waited for, also by a key that may not ask about tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from svc_notebook.api.parameters import default_of
from svc_notebook.api.validation import same
from svc_notebook.client import AsyncClient
from svc_notebook.editors.rpc import tell_progress
from svc_notebook.errors import KeyRefused, TaskFailed

POLL_SECONDS = 0.2  # seconds between two looks
WAIT_SECONDS = 30.0  # seconds


async def apply_changes(
    client: AsyncClient, index: str, changes: Mapping[str, Any], *, forward: bool
) -> None:
    """Change settings and wait until they are published."""
    more: Any = {"forwardToReplicas": True} if forward else {}
    changed = await client.set_settings(index, dict(changes), **more)  # type: ignore[arg-type]
    try:
        await client.wait(changed, index=index, on_progress=tell_progress)
    except KeyRefused:  # the right to change settings is not the right to read tasks
        await _wait_until_seen(client, index, changes, changed["taskID"])


async def _wait_until_seen(
    client: AsyncClient, index: str, changes: Mapping[str, Any], task: int
) -> None:
    until = asyncio.get_running_loop().time() + WAIT_SECONDS
    while not _are_seen(await client.get_settings(index), changes):
        if asyncio.get_running_loop().time() > until:
            raise TaskFailed("the settings were sent, and are not published yet", tasks=[task])
        await asyncio.sleep(POLL_SECONDS)


def _are_seen(now: Mapping[str, Any], changes: Mapping[str, Any]) -> bool:
    """Whether settings are as they should be; those reset may be told by their default."""
    return all(
        same(now.get(name, default_of(name)), default_of(name) if value is None else value)
        for name, value in changes.items()
    )

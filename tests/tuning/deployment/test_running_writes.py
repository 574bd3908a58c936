"""Marks by which two people notice each other before they write one index."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import AsyncClient, ClientConfig, background_loop
from svc_notebook.errors import BadInput
from svc_notebook.tuning.deployment import running_writes
from svc_notebook.tuning.deployment.running_writes import MARKS_INDEX, marking


class _Together(AsyncClient):
    """Waits after the first mark that it reads until another client has read it, too."""

    def __init__(self, connection: ClientConfig, together: asyncio.Barrier) -> None:
        super().__init__(connection)
        self._together, self._is_first = together, True

    async def get_object(self, *given: Any, **options: Any) -> Any:
        try:
            return await super().get_object(*given, **options)
        finally:
            if self._is_first:
                self._is_first = False
                await self._together.wait()


@pytest.mark.slow
def test_a_marked_index_is_written_by_nobody_else(
    index: str, shop: svc.Client, tmp_path: Path
) -> None:
    svc.clone(index, from_="shop", progress=False)
    svc.set_settings(index, {"hitsPerPage": 7})
    svc.pull_config(tmp_path, index)
    before = svc.tuning.snapshot(index, client=shop).hash

    async def write_while_marked() -> None:
        async with marking(shop.aio, [index], "apply-config spring", user="ann@laptop"):
            refusal = rf"{index} is being written by ann@laptop since .*\(apply-config spring\)"
            with pytest.raises(BadInput, match=refusal):
                await svc.aio.deploy(index, to="shop", mark=True)
            with pytest.raises(BadInput, match=refusal):
                await svc.aio.apply_config(tmp_path, index, mark=True, client=shop.aio)

    background_loop.run(write_while_marked())
    assert svc.tuning.snapshot(index, client=shop).hash == before
    assert svc.deploy(index, to="shop", mark=True, progress=False).verified
    assert MARKS_INDEX not in {path.name for path in svc.pull_config(tmp_path, client=shop).written}
    assert MARKS_INDEX in svc.read_indices(client=shop)["name"].tolist()


def test_of_two_marks_at_once_one_is_taken(index: str, shop: svc.Client) -> None:
    async def mark(user: str, together: asyncio.Barrier) -> str:
        async with _Together(shop.connection, together) as client:
            try:
                async with marking(client, [index], "deploy", user=user):
                    await asyncio.sleep(1)
                    return user
            except BadInput as error:
                return str(error)

    async def race() -> list[str]:
        together = asyncio.Barrier(2)
        return [*await asyncio.gather(mark("ann@a", together), mark("ben@b", together))]

    ends = background_loop.run(race())

    winners = [end for end in ends if end in ("ann@a", "ben@b")]
    assert len(winners) == 1, ends
    assert f"{index} is being written by {winners[0]}" in "".join(ends)


def test_a_mark_of_an_interrupted_call_is_taken_over_or_expires(
    index: str, shop: svc.Client
) -> None:
    async def leave(version: int, until: float) -> None:
        facts = {"token": "t", "by": "ann@a", "action": "deploy", "at": 0, "until": until}
        await running_writes._update_mark(shop.aio, index, version, facts)

    async def mark(user: str) -> None:
        async with marking(shop.aio, [index], "deploy", user=user):
            pass

    background_loop.run(leave(0, time.time() + 100))
    with pytest.raises(BadInput, match="is being written by ann@a"):
        background_loop.run(mark("ben@b"))
    background_loop.run(mark("ann@a"))
    background_loop.run(leave(3, time.time() - 1))
    background_loop.run(mark("ben@b"))

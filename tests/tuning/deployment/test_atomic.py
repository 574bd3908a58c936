"""Deployments whose changes of an index become visible in one step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.errors import BadInput, KeyRefused
from tests.conftest import Running
from tests.tuning.deployment.conftest import make_key, write_profile
from tests.tuning.deployment.test_deploy import differs, tuned

__all__ = ["tuned"]


def state(index: str, client: svc.Client) -> tuple[int, str]:
    """Return the number of records and the digest of the configuration."""
    digest = svc.tuning.snapshot(index, client=client).hash
    return len(svc.read_browse(index, client=client)), digest


def temporary(index: str, client: svc.Client) -> list[str]:
    return [name for name in svc.read_indices(client=client)["name"] if f"{index}_tmp" in name]


def test_searches_see_all_changes_at_once(
    tuned: str, shop: svc.Client, while_writing: Callable[..., None]
) -> None:
    before, records = svc.tuning.snapshot(tuned, client=shop).hash, state(tuned, shop)[0]
    seen = []

    async def watch(client: Any, index: str, *step: Any) -> None:
        seen.append((index, (await svc.tuning.aio.snapshot(tuned, client=client)).hash))

    while_writing(after=watch)
    plan = svc.deploy(tuned, to="shop", atomic=True, dry_run=True).plan
    assert not seen
    result = svc.deploy(tuned, to="shop", atomic=True, progress=False)

    assert result.verified
    assert len(seen) >= 3
    assert {digest for _, digest in seen} == {before}
    assert all(f"{tuned}_tmp_deploy_" in index for index, _ in seen)
    assert f"{records:,} records of {tuned} will be copied" in repr(plan)
    assert not differs(tuned, shop)
    assert state(tuned, shop)[0] == records
    assert not temporary(tuned, shop)
    svc.tuning.undo(tuned, client=shop)
    assert svc.tuning.snapshot(tuned, client=shop).hash == before


def test_records_that_are_written_meanwhile_are_not_lost(
    tuned: str, shop: svc.Client, while_writing: Callable[..., None]
) -> None:
    before = svc.tuning.snapshot(tuned, client=shop).hash

    async def push_too(client: Any, *step: Any) -> None:
        saved = await client.put_object(tuned, "late", {"name": "late"})
        await client.wait(saved, index=tuned)

    while_writing(after=push_too)

    with pytest.raises(BadInput, match=f"{tuned} was written while it was copied; nothing was dep"):
        svc.deploy(tuned, to="shop", atomic=True, progress=False)

    assert svc.tuning.snapshot(tuned, client=shop).hash == before
    assert "late" in svc.read_browse(tuned, client=shop)["objectID"].tolist()
    assert not temporary(tuned, shop)


def test_a_key_that_could_not_delete_the_copy_is_refused(
    tuned: str, shop: svc.Client, profiles: Path, production: Running
) -> None:
    before = svc.tuning.snapshot(tuned, client=shop).hash
    key = make_key(shop, "settings", "editSettings", "search", "addObject")
    write_profile(profiles, "weak", production, key)

    with pytest.raises(KeyRefused, match="`deleteIndex` on the profile `weak`"):
        svc.deploy(tuned, to="weak", atomic=True, progress=False)
    with pytest.raises(BadInput, match="leave out `forward_to_replicas`"):
        svc.deploy(tuned, to="shop", atomic=True, forward_to_replicas=True)

    assert svc.tuning.snapshot(tuned, client=shop).hash == before

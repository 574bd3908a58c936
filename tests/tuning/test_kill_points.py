"""A change that is killed at any write is finished by the same call, or reverted by one undo."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook import tuning
from svc_notebook.client import Client
from tests.conftest import Running
from tests.kill_points import Moment, run_killed
from tests.tuning.shop import client, hits, shop

__all__ = ["client", "shop"]

RULE: Any = {
    "conditions": [{"pattern": "lamp", "anchoring": "contains"}],
    "consequence": {"params": {"filters": "brand:Acme"}},
}
FIRST: Any = {
    "settings": {"attributesForFaceting": ["brand"], "hitsPerPage": 7},
    "rules": [{"objectID": "filter", **RULE}],
}
# Takes the facet and the rule that filters by it away, and adds another pair of them.
SECOND: Any = {
    "settings": {"attributesForFaceting": ["name"], "hitsPerPage": 9},
    "synonyms": [{"objectID": "light", "type": "synonym", "synonyms": ["lamp", "light"]}],
    "rules": [
        {"objectID": "filter", "conditions": RULE["conditions"],
         "consequence": {"params": {"filters": "name:'red lamp'"}}}
    ],
}  # fmt: skip
# The calls, and the number of their writes: settings, synonyms, rules, and the facets that go.
CALLS = {
    "undo": ("svc.tuning.undo({index!r})", 4),
    "undo by id": ("svc.tuning.undo({index!r}, {change!r})", 4),
    "apply": ("svc.tuning.apply({index!r}, {second!r})", 4),
    "restore": ("svc.tuning.restore({index!r}, {snapshot!r})", 4),
}
WRITES = 4
UNFILTERED = {"1", "2", "4"}  # records whose name has the word lamp


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("write", range(WRITES + 1))
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.sampled(10)
@pytest.mark.filterwarnings("ignore:the change .* was interrupted")
def test_a_killed_change_is_finished_by_the_same_call(
    shop: str,
    client: Client,
    service: Running,
    tmp_path: Any,
    call: str,
    write: int,
    moment: Moment,
) -> None:
    older = tuning.apply(shop, FIRST, note="a week ago").attrs["svc"]["change_id"]
    first = tuning.snapshot(shop)
    code, writes = CALLS[call]
    snapshot = tmp_path / "second.json"
    newer = tuning.apply(shop, SECOND, note="yesterday").attrs["svc"]["change_id"]
    tuning.snapshot(shop).save(snapshot)
    if call in ("apply", "restore"):
        tuning.undo(shop)
    before = tuning.snapshot(shop)
    after = first if "undo" in call else tuning.read_snapshot(snapshot)
    text = code.format(index=shop, change=newer, second=SECOND, snapshot=str(snapshot))

    finished = run_killed(service, text, write, moment)

    assert finished == (write == writes)
    assert hits(shop, "lamp", client)  # the rule has the facet that it filters by
    if not finished:
        if write or moment == "after":
            assert tuning.history(shop).attrs["svc"]["interrupted"]
        assert run_killed(service, text, writes + 1, "before")
    assert tuning.snapshot(shop).hash == after.hash
    assert tuning.history(shop).attrs["svc"]["interrupted"] == []
    made = tuning.history(shop).iloc[0]["change_id"]
    assert made not in (older, newer)
    tuning.undo(shop, made)
    assert tuning.snapshot(shop).hash == before.hash


@pytest.mark.parametrize("write", range(WRITES))
@pytest.mark.sampled(2)
@pytest.mark.filterwarnings("ignore:the change .* was interrupted")
def test_a_killed_change_is_reverted_by_one_undo(shop: str, service: Running, write: int) -> None:
    tuning.apply(shop, FIRST)
    before = tuning.snapshot(shop).hash
    run_killed(service, f"svc.tuning.apply({shop!r}, {SECOND!r})", write, "after")

    tuning.undo(shop)

    assert tuning.snapshot(shop).hash == before
    assert tuning.history(shop).attrs["svc"]["interrupted"] == []


def test_a_write_after_an_interruption_says_so(shop: str, service: Running) -> None:
    tuning.apply(shop, FIRST)
    run_killed(service, f"svc.tuning.apply({shop!r}, {SECOND!r})", 1, "after")

    with pytest.warns(UserWarning, match=rf"was interrupted .* `svc undo {shop} \w+` reverts it"):
        tuning.apply(shop, {"distinct": 2}, note="another")
    with pytest.warns(UserWarning, match="was interrupted"):
        assert "open" in set(tuning.history(shop)["state"])

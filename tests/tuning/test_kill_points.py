"""A change that is killed at any write is finished by the same call, or reverted by one undo."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.client import Client
from svc_notebook.tuning.changes import journalled_write
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


def test_every_kind_of_write_after_an_interruption_says_so(
    shop: str, service: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuning.apply(shop, FIRST)
    snapshot = tuning.snapshot(shop)
    svc.copy_index(shop, f"{shop}-other")
    svc.settings(f"{shop}-other", hitsPerPage=3)
    svc.pull_config(tmp_path, f"{shop}-other")
    (tmp_path / f"{shop}-other").rename(tmp_path / shop)
    synonym = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "light"]}
    writes: dict[str, Callable[[], Any]] = {
        "settings": lambda: svc.settings(shop, distinct=2),
        "settings reset": lambda: svc.reset_settings(shop, ["distinct"]),
        "synonyms save": lambda: svc.save_synonyms(shop, [synonym]),
        "synonyms delete": lambda: svc.delete_synonyms(shop, ["pair"]),
        "synonyms clear": lambda: svc.clear_synonyms(shop),
        "synonyms replace": lambda: svc.replace_synonyms(shop, [{**synonym, "objectID": "p"}]),
        "rules save": lambda: svc.save_rules(shop, [{"objectID": "late", **RULE}]),
        "rules replace": lambda: svc.replace_rules(shop, [{"objectID": "more", **RULE}]),
        "pin": lambda: svc.pin(shop, "oak", "1"),
        "hide": lambda: svc.hide(shop, "oak", "2"),
        "rules delete": lambda: svc.delete_rules(shop, ["more"]),
        "rules clear": lambda: svc.clear_rules(shop),
        "apply": lambda: tuning.apply(shop, {"distinct": 3}, note="another"),
        "apply-config": lambda: svc.apply_config(tmp_path, shop),
        "undo": lambda: tuning.undo(shop, tuning.history(shop)["change_id"].iloc[0]),
        "restore": lambda: tuning.restore(shop, snapshot, note="back"),
        "promote": lambda: _promote(shop),
        "copy": lambda: svc.copy_index(f"{shop}-other", shop, scope=["settings"]),
        "editor": lambda: _apply_in_editor(shop),
    }
    run_killed(service, f"svc.tuning.apply({shop!r}, {SECOND!r})", 1, "after")

    silent = []
    for name, write in writes.items():
        monkeypatch.setattr(journalled_write, "_WARNED_CHANGES", set())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            write()
        pattern = rf"was interrupted .* `svc undo {shop} \w+` reverts it"
        if not any(re.search(pattern, str(warning.message)) for warning in caught):
            silent.append(name)

    assert not silent
    with pytest.warns(UserWarning, match="was interrupted"):
        assert "open" in set(tuning.history(shop)["state"])


def _promote(index: str) -> None:
    with tuning.scratch(index) as copy:
        svc.settings(copy.name, hitsPerPage=11)
        copy.promote()


def _apply_in_editor(index: str) -> None:
    editor = svc.edit.settings(index)
    editor.value = {**editor.value, "hitsPerPage": 13}
    editor.apply()

"""After an interrupted change, every kind of write says that it is open."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.tuning.changes import journalled_write
from tests.conftest import Running
from tests.kill_points import FIRST, RULE, SECOND, run_killed
from tests.tuning.shop import client, shop

__all__ = ["client", "shop"]


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
        journalled_write._WARNED_CHANGES.clear()
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

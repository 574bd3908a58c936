"""Editors show an interrupted change of their index, finish it or take it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.faces.editors.rpc import wait_for
from tests.conftest import Running
from tests.kill_points import FIRST, SECOND, run_killed
from tests.tuning.shop import client, shop

__all__ = ["client", "shop"]

EDITORS: dict[str, Callable[[str], Any]] = {
    "settings": lambda index: svc.edit.settings(index, ["lamp"]),
    "synonyms": svc.edit.synonyms,
    "rules": svc.edit.rules,
    "workbench": lambda index: svc.edit.workbench(index, "lamp"),
}


def interrupt(service: Running, index: str) -> None:
    run_killed(service, f"svc.tuning.apply({index!r}, {SECOND!r}, note='weekly')", 1, "after")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the change .* was interrupted")
def test_every_editor_finishes_an_interrupted_change_or_takes_it_back(
    shop: str, service: Running
) -> None:
    tuning.apply(shop, FIRST)
    before = tuning.snapshot(shop).hash
    tuning.apply(shop, SECOND)
    after = tuning.snapshot(shop).hash
    tuning.undo(shop)

    wrong = []
    ends = dict(zip(EDITORS, ("finish", "revert") * 2, strict=True))
    for name, end in ends.items():
        interrupt(service, shop)
        editor = EDITORS[name](shop)
        [entry] = editor.state["interrupted"]
        shown = str(editor.snapshot())
        wait_for(editor.end_interrupted(entry["change"], end))
        if tuning.snapshot(shop).hash != (after if end == "finish" else before):
            wrong.append(f"{name}, {end}: another configuration")
        if editor.state["interrupted"] or tuning.history(shop).attrs["svc"]["interrupted"]:
            wrong.append(f"{name}, {end}: still interrupted")
        if "weekly" not in entry["text"] or entry["text"].partition(":")[0] not in shown:
            wrong.append(f"{name}, {end}: {entry['text']}")
        if end == "finish":
            tuning.undo(shop)
            if tuning.snapshot(shop).hash != before:
                wrong.append(f"{name}: one undo does not revert what was finished")
        editor.close()
    assert not wrong


@pytest.mark.filterwarnings("ignore:the change .* was interrupted")
def test_an_interrupted_undo_is_finished_or_cancelled(shop: str, service: Running) -> None:
    before = tuning.snapshot(shop).hash
    for end in ("finish", "revert"):
        tuning.apply(shop, FIRST)
        after = tuning.snapshot(shop).hash
        run_killed(service, f"svc.tuning.undo({shop!r})", 0, "after")
        editor = svc.edit.settings(shop)
        [entry] = editor.state["interrupted"]

        wait_for(editor.end_interrupted(entry["change"], end))

        assert entry["finish"] == "Finish the undo"
        assert tuning.snapshot(shop).hash == (before if end == "finish" else after)
        assert tuning.history(shop).attrs["svc"]["interrupted"] == []


@pytest.mark.filterwarnings("ignore:the change .* was interrupted")
def test_what_others_ended_or_changed_is_not_overwritten(
    shop: str, service: Running, client: Client
) -> None:
    interrupt(service, shop)
    editor = svc.edit.settings(shop)
    change = editor.state["interrupted"][0]["change"]
    client.wait(client.set_settings(shop, {"hitsPerPage": 3}), index=shop)

    for end in ("finish", "revert"):
        with pytest.raises(BadInput, match="settings `hitsPerPage` changed again since"):
            wait_for(editor.end_interrupted(change, end))
    tuning.undo(shop, change, force=True)
    with pytest.raises(BadInput, match="is not interrupted any more: reload"):
        wait_for(editor.end_interrupted(change, "finish"))
    editor.reload()

    assert editor.state["interrupted"] == []


def test_an_index_without_an_interruption_has_none(shop: str) -> None:
    tuning.apply(shop, FIRST)

    assert [make(shop).state["interrupted"] for make in EDITORS.values()] == [[]] * len(EDITORS)

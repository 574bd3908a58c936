"""What is around an index is taken down, compared and brought back, by line and by command."""

from __future__ import annotations

from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.errors import BadOption
from tests.verbs.conftest import Typed

INDEX = "undone"


@pytest.fixture(autouse=True)
def _shop(admin: svc.Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    admin.replace_all(INDEX, [{"objectID": "1", "name": "lamp"}])


def test_a_change_is_listed_and_taken_back(typed: Typed) -> None:
    typed(f"settings {INDEX} --hitsPerPage 5")
    change = typed(f"history {INDEX}")["change_id"][0]

    undone = typed(f"undo {INDEX} {change} --yes --note sorry")

    assert list(undone["name"]) == ["hitsPerPage"]
    assert list(typed(f"history {INDEX}")["note"]) == ["sorry", "settings"]


def test_taking_back_asks_first(typed: Typed) -> None:
    typed(f"settings {INDEX} --hitsPerPage 6")

    with pytest.raises(BadOption, match=f"take back a change of {INDEX}"):
        typed(f"undo {INDEX}")

    assert len(typed(f"history {INDEX}")) == 1


def test_a_snapshot_is_compared_and_brought_back(typed: Typed, tmp_path: Path) -> None:
    path = tmp_path / "monday.json"
    taken = typed(f"snapshot {INDEX} {path}")
    typed(f"settings {INDEX} --distinct 1")

    differing = typed(f"diff {path} {INDEX}")
    typed(f"restore {INDEX} {path} --yes")

    assert list(differing["name"]) == ["distinct"]
    assert typed(f"snapshot {INDEX}").hash == taken.hash


def test_scratch_copies_are_listed_and_dropped(typed: Typed) -> None:
    with svc.tuning.scratch(INDEX) as s:
        assert s.name in set(typed("scratches")["name"])
        dropped = typed(f"scratches drop {s.name} --yes")

    assert dropped == [s.name]

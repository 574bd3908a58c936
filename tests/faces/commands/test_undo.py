"""Snapshots, differences, restoring and undoing, by line and by command."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.errors import BadOption
from tests.faces.commands.conftest import Typed

INDEX = "undone"


@pytest.fixture(autouse=True)
def _shop(admin: svc.Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    admin.replace_all(INDEX, [{"objectID": "1", "name": "lamp"}])


def test_change_is_listed_and_undone(typed: Typed) -> None:
    typed(f"settings {INDEX} --hitsPerPage 5")
    change = typed(f"history {INDEX}")["change_id"][0]

    undone = typed(f"undo {INDEX} {change} --yes --note sorry")

    assert list(undone["name"]) == ["hitsPerPage"]
    assert list(typed(f"history {INDEX}")["note"]) == ["sorry", "settings"]


def test_taking_back_asks_first(typed: Typed) -> None:
    typed(f"settings {INDEX} --hitsPerPage 6")

    with pytest.raises(
        BadOption, match=rf"to undo change \w+: 1 setting \(hitsPerPage\) on {INDEX}"
    ):
        typed(f"undo {INDEX}")

    assert len(typed(f"history {INDEX}")) == 1


def test_confirmation_names_what_is_undone(
    typed: Typed, answer_questions: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    change = {
        "settings": {"hitsPerPage": 7, "distinct": 1},
        "synonyms": [{"type": "synonym", "synonyms": ["sofa", "couch"]}],
    }
    svc.tuning.apply(INDEX, change, note="for spring")
    older = typed(f"history {INDEX}")["change_id"][0]
    # Another session changes a setting before the answer.
    asked = answer_questions("y", before=lambda: typed(f"settings {INDEX} --maxFacetHits 5"))

    undone = typed(f"undo {INDEX}")

    assert asked[0].startswith(
        f"Undo change {older}: 2 settings (hitsPerPage, distinct), 1 synonym (synonym-"
    )
    assert f") on {INDEX}, made by `for spring`, no profile, application " in asked[0]
    assert asked[0].endswith("? [y/N] ")
    assert set(undone["scope"]) == {"settings", "synonyms"}
    assert typed(f"history {INDEX}")["parent"][0] == older


def test_many_names_are_shortened_and_force_is_shown(typed: Typed) -> None:
    synonyms = [{"type": "synonym", "synonyms": [f"a{n}", f"b{n}"]} for n in range(5)]
    svc.save_synonyms(INDEX, synonyms)

    with pytest.raises(BadOption, match=r"5 synonyms \(.*, .*, .* and 2 more\).*overwriting what"):
        typed(f"undo {INDEX} --force")


def test_nothing_to_undo_is_an_error_without_confirmation(typed: Typed) -> None:
    with pytest.raises(svc.errors.BadInput, match="there is nothing to undo"):
        typed(f"undo {INDEX}")


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

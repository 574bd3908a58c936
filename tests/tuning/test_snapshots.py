"""Snapshots are taken, stored, compared and restored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput, NotFound
from tests.tuning.shop import RULE, SYNONYM, changes_of, client, hits, shop

__all__ = ["client", "shop"]


def test_a_snapshot_contains_settings_synonyms_and_rules(shop: str) -> None:
    taken = tuning.snapshot(shop)

    told = taken.to_json()
    assert told["settings"]["searchableAttributes"] == ["name", "brand"]
    assert (told["synonyms"], told["rules"]) == ([SYNONYM], [RULE])
    assert json.loads(json.dumps(told)) == told


def test_a_file_of_a_snapshot_gives_it_back(shop: str, tmp_path: Path) -> None:
    path = tmp_path / "before.json"

    taken = tuning.snapshot(shop, path)

    assert tuning.read_snapshot(path) == taken
    assert tuning.read_snapshot(json.loads(path.read_text())).hash == taken.hash


def test_two_indices_of_the_same_content_have_one_hash(shop: str, client: Client) -> None:
    client.wait(client.operate_index(shop, "copy", f"{shop}-twin"), index=shop)
    default = client.set_settings(f"{shop}-twin", {"hitsPerPage": 20})  # the default, spelled out
    client.wait(default, index=f"{shop}-twin")

    assert tuning.snapshot(f"{shop}-twin").hash == tuning.snapshot(shop).hash
    assert tuning.diff(shop, f"{shop}-twin").empty


def test_a_snapshot_of_no_index_is_refused(client: Client) -> None:
    with pytest.raises(NotFound):
        tuning.snapshot("nowhere")


def test_a_file_that_would_be_taken_for_an_index_is_refused(shop: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"must end in \.json, such as .*before\.json"):
        tuning.snapshot(shop, str(tmp_path / "before"))

    assert not list(tmp_path.iterdir())
    assert tuning.snapshot(shop, tmp_path / "before").save(tmp_path / "after") == tmp_path / "after"


def spoil(told: dict[str, Any]) -> dict[str, Any]:
    return {**told, "settings": {**told["settings"], "hitsPerPage": 7}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "is not a snapshot"),
        ('{"settings": {}}', "is not a snapshot"),
        ('{"edition": 99, "settings": {}, "synonyms": [], "rules": []}', "another version"),
        ('{"settings": {"hitsPerPage": "x"}, "synonyms": [], "rules": []}', "hitsPerPage"),
        ('{"settings": {}, "synonyms": [{}], "rules": []}', "objectID"),
        ('{"hash": "0", "settings": {}, "synonyms": [], "rules": []}', "changed since"),
    ],
    ids=["torn", "a list", "incomplete", "edition", "bad setting", "bad synonym", "edited"],
)
def test_a_file_that_is_not_a_snapshot_is_refused(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)

    with pytest.raises(BadInput, match=message):
        tuning.read_snapshot(path)


def test_a_difference_is_new_changed_or_gone(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop)
    changed: Any = {**SYNONYM, "synonyms": ["couch", "sofa", "settee"]}
    tasks = [
        client.set_settings(shop, {"hitsPerPage": 5}),
        client.save_synonyms(shop, [changed]),
        client.clear_rules(shop),
    ]
    client.wait(tasks, index=shop)

    found = tuning.diff(before, shop)

    told = list(zip(found["scope"], found["name"], found["kind"], strict=True))
    assert told == [
        ("settings", "hitsPerPage", "new"),
        ("synonyms", "couch", "changed"),
        ("rules", "cheap", "gone"),
    ]
    assert found["after"][0] == 5


def test_what_differs_is_drawn_as_text(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop)
    evil: Any = {"objectID": "<b>", "type": "synonym", "synonyms": ["<script>", "x"]}
    client.wait(client.save_synonyms(shop, [evil]), index=shop)

    drawn = tuning.diff(before, shop)._repr_html_()

    assert "&lt;script&gt;" in drawn
    assert "<script>" not in drawn
    assert "<b>" not in drawn


def test_restoring_makes_all_as_it_was(shop: str, client: Client, tmp_path: Path) -> None:
    taken = tuning.snapshot(shop, tmp_path / "before.json")
    tasks = [
        client.set_settings(shop, {"searchableAttributes": ["brand"], "hitsPerPage": 5}),
        client.clear_synonyms(shop),
        client.clear_rules(shop),
    ]
    client.wait(tasks, index=shop)
    assert hits(shop, "lamp", client) == []

    made = tuning.restore(shop, tmp_path / "before.json", note="back to Monday")

    assert tuning.snapshot(shop).hash == taken.hash
    assert hits(shop, "couch", client) == ["5"]
    assert len(made) == 4
    assert [note for note, _ in changes_of(shop)] == ["back to Monday"] * 3


def test_restoring_what_is_there_changes_nothing(shop: str) -> None:
    made = tuning.restore(shop, tuning.snapshot(shop))

    assert made.empty
    assert changes_of(shop) == []


def test_restoring_leaves_replicas_as_they_are(shop: str, client: Client) -> None:
    taken = tuning.snapshot(shop)
    client.wait(client.set_settings(shop, {"replicas": [f"{shop}-cheap"]}), index=shop)
    client.wait(client.set_settings(shop, {"hitsPerPage": 3}), index=shop)

    tuning.restore(shop, taken)

    settings = client.get_settings(shop)
    assert settings["replicas"] == [f"{shop}-cheap"]
    assert settings.get("hitsPerPage", 20) == 20

"""The workbench's Python half."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.client import Client
from svc_notebook.client.curation import RULES, find_all
from svc_notebook.editors import event_loop
from svc_notebook.editors.workbench_editor import draft_trial
from svc_notebook.editors.workbench_editor.change_set import order_parts
from svc_notebook.editors.workbench_editor.editor import Workbench
from svc_notebook.errors import BadInput, BadOption, SvcError
from svc_notebook.magics.extension import run

SYNONYM = {"objectID": "light", "type": "synonym", "synonyms": ["light", "lamp"]}
JUDGMENTS = pd.DataFrame(
    [
        {"query": "lamp", "objectID": "1", "rating": 3},
        {"query": "lamp", "objectID": "2", "rating": 0},
    ]
)


@pytest.fixture
def bench(client: Client, shop: str) -> Iterator[Workbench]:
    made = svc.edit(shop, "lamp", client=client)
    yield made
    made.close()


def await_that(holds: Callable[[], Any]) -> None:
    """Wait until something holds that follows from a change."""
    end = time.monotonic() + 15
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    assert holds()


def hits(bench: Workbench) -> list[str]:
    return [hit["objectID"] for hit in bench.query.hits]


def names(client: Client) -> list[str]:
    return [item["name"] for item in client.list_indices()["items"]]


def saved_rules(bench: Workbench) -> list[Any]:
    return list(event_loop.run(find_all(bench.client, RULES, bench.index)))


def test_settings_that_are_parameters_show_in_the_hits_without_a_copy(bench: Workbench) -> None:
    assert hits(bench) == ["2", "1"]

    bench.settings.value = {"customRanking": ["asc(rating)"]}
    await_that(lambda: hits(bench) == ["1", "2"])

    assert bench.value == {"settings": {"customRanking": ["asc(rating)"]}}
    assert bench.trial["by"] == "parameters"
    assert bench.dirty
    assert [card["previous"] for card in bench.query.answer["hits"]] == [2, 1]
    assert bench.query.answer["moves"] == {"gained": 0, "moved": 2, "left": 0}


def test_other_drafts_show_in_the_hits_on_one_copy(bench: Workbench, client: Client) -> None:
    bench.query.value = {"query": "light"}
    assert hits(bench) == []

    bench.synonyms.put(SYNONYM)
    await_that(lambda: hits(bench) == ["2", "1"])
    copy = bench.trial["copy"]
    bench.settings.value = {"searchableAttributes": ["brand"]}
    await_that(lambda: hits(bench) == [])

    assert bench.trial["by"] == "copy"
    assert bench.trial["copy"] == copy
    assert [name for name in names(client) if name.startswith(f"{bench.index}_")] == [copy]
    bench.close()
    assert copy not in names(client)


def test_a_reverted_draft_shows_the_saved_hits(bench: Workbench) -> None:
    bench.value = {"settings": {"customRanking": ["asc(rating)"]}}
    await_that(lambda: hits(bench) == ["1", "2"])

    bench.revert()
    await_that(lambda: hits(bench) == ["2", "1"])

    assert not bench.settings.dirty
    assert bench.trial["by"] == ""
    assert "moves" not in bench.query.answer


def test_a_large_index_is_copied_on_request(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch, client: Client
) -> None:
    monkeypatch.setattr(draft_trial, "MAX_UNASKED_COPY_RECORDS", 2)

    bench.value = {"synonyms": {"light": SYNONYM}}

    await_that(lambda: bench.trial["needs"] == ["synonyms"])
    assert bench.trial["records"] == 3
    assert not [name for name in names(client) if name.startswith(f"{bench.index}_")]
    event_loop.run(bench.copy_index())
    assert bench.trial["by"] == "copy"


def test_a_pinned_hit_becomes_a_draft_of_a_rule(bench: Workbench) -> None:
    bench.query.curate("pin", "1", 1)
    await_that(lambda: hits(bench) == ["1", "2"])
    bench.query.curate("hide", "2", 2)
    await_that(lambda: hits(bench) == ["1"])

    [rule] = bench.value["rules"].values()
    assert rule["consequence"] == {
        "promote": [{"objectID": "1", "position": 0}], "hide": [{"objectID": "2"}],
    }  # fmt: skip
    assert bench.query.drafts == []
    assert saved_rules(bench) == []


def test_all_drafts_are_applied_and_undone_as_one_change(bench: Workbench) -> None:
    bench.settings.value = {"customRanking": ["asc(rating)"]}
    bench.synonyms.put(SYNONYM)
    bench.query.curate("hide", "2", 1)
    await_that(lambda: len(bench.value) == 3)

    bench.apply()

    assert not bench.dirty
    assert not any(editor.dirty for editor in (bench.settings, bench.synonyms, bench.rules))
    history = svc.tuning.history(bench.index, client=bench.client)
    assert history["change_id"].nunique() == 1
    assert set(history["scope"]) == {"settings", "synonyms", "rules"}
    [listed] = event_loop.run(bench.applied())
    assert len(listed["changed"]) == 3

    event_loop.run(bench.undo_applied(listed["id"]))

    assert saved_rules(bench) == []
    assert bench.settings.value["customRanking"] == ["desc(rating)"]
    assert bench.synonyms.value == []
    undone = event_loop.run(bench.applied())
    assert [change["undone"] for change in undone] == [False, True]
    await_that(lambda: hits(bench) == ["2", "1"])


def test_a_failed_part_keeps_its_draft_and_names_what_is_applied(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: Any) -> Any:
        raise SvcError("the disk is full")

    bench.settings.value = {"hitsPerPage": 7}
    bench.synonyms.put(SYNONYM)
    await_that(lambda: len(bench.value) == 2)
    monkeypatch.setattr(bench.synonyms, "save", fail)

    with pytest.raises(SvcError, match="disk is full") as caught:
        bench.apply()

    [note] = caught.value.__notes__
    assert note.startswith(f"the settings of {bench.index} are applied")
    assert "the synonyms are not" in note
    assert "disk is full" in bench.state["error"]["message"]
    assert bench.value == {"synonyms": {"light": SYNONYM}}
    history = svc.tuning.history(bench.index, client=bench.client)
    assert list(history["scope"]) == ["settings"]
    svc.tuning.undo(bench.index, client=bench.client)
    bench.reload()
    assert bench.settings.value.get("hitsPerPage") != 7


def test_nothing_is_written_if_a_part_was_changed_elsewhere(
    bench: Workbench, client: Client
) -> None:
    bench.settings.value = {"hitsPerPage": 7}
    bench.synonyms.put(SYNONYM)
    await_that(lambda: len(bench.value) == 2)
    other: Any = [{**SYNONYM, "objectID": "x"}]
    client.wait(client.save_synonyms(bench.index, other), index=bench.index)

    with pytest.raises(BadInput, match="changed elsewhere"):
        bench.apply()

    assert client.get_settings(bench.index).get("hitsPerPage") != 7
    with pytest.raises(BadInput, match="changed elsewhere"):
        bench.apply()
    bench.reload()
    bench.apply()
    assert client.get_settings(bench.index)["hitsPerPage"] == 7
    assert {each["objectID"] for each in bench.synonyms.value} == {"x", "light"}


def test_drafts_are_undone_and_redone_together(bench: Workbench) -> None:
    bench.value = {"settings": {"hitsPerPage": 7}}
    bench.value = {"settings": {"hitsPerPage": 7}, "synonyms": {"light": SYNONYM}}

    bench.undo()
    assert bench.synonyms.value == []
    bench.redo()
    assert bench.synonyms.value == [SYNONYM]
    bench.revert()
    assert bench.value == {}
    assert not bench.settings.dirty


def test_an_undo_reverts_the_latest_change_of_any_part(bench: Workbench) -> None:
    bench.value = {"settings": {"hitsPerPage": 7}}
    bench.synonyms.put(SYNONYM)  # the workbench may not have taken it yet

    bench.undo()

    assert bench.value == {"settings": {"hitsPerPage": 7}}
    bench.redo()
    assert bench.synonyms.value == [SYNONYM]


def test_the_score_of_judged_queries_follows_the_draft(client: Client, shop: str) -> None:
    bench = svc.edit(shop, "lamp", judgments=JUDGMENTS, client=client)

    bench.value = {"settings": {"customRanking": ["asc(rating)"]}}

    await_that(lambda: bench.trial["score"])
    score = bench.trial["score"]
    assert score["after"] == 1.0
    assert 0 < score["before"] < 1
    assert score["queries"] == 1
    assert "ndcg@10" in bench.snapshot()
    bench.close()


def test_a_draft_that_cannot_be_tried_says_why(bench: Workbench) -> None:
    bench.value = {"rules": {"bad": {"consequence": {"params": {"filters": "brand:("}}}}}

    await_that(lambda: bench.trial["error"])
    assert bench.trial["by"] == ""
    assert hits(bench) == ["2", "1"]


def test_code_repeats_all_changes(
    bench: Workbench, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_notebook.session.connection._current", client)
    bench.value = {"settings": {"hitsPerPage": 7}, "synonyms": {"light": SYNONYM}}
    codes = bench.code()

    assert "%%svc settings set" in codes["Magic"]
    assert "%%svc synonyms save" in codes["Magic"]
    assert codes["curl"].count("curl ") == 2
    bench.revert()
    exec(codes["Python"], {})
    assert client.get_settings(bench.index)["hitsPerPage"] == 7


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([], "must be a dict"),
        ({"facets": {}}, "no part `facets`"),
        ({"settings": {"hitsPerPage": "many"}}, "hitsPerPage"),
        ({"rules": {"a": {"consequence": 3}}}, "rules.a"),
    ],
    ids=["list", "part", "setting", "rule"],
)
def test_wrong_changes_are_refused(bench: Workbench, value: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        bench.value = value

    assert bench.value == {}


def test_a_key_without_the_right_reads(searcher: Callable[..., Client], shop: str) -> None:
    bench = svc.edit(shop, "lamp", client=searcher("search", "settings", "browse"))

    assert "editSettings" in bench.state["readOnly"]
    assert hits(bench) == ["2", "1"]
    with pytest.raises(BadOption, match="read-only"):
        bench.apply()
    bench.close()


def test_the_verb_opens_it(client: Client, shop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svc_notebook.session.connection._current", client)

    bench = run(f"edit {shop} lamp --hitsPerPage 1", None, {})

    assert isinstance(bench, Workbench)
    assert hits(bench) == ["2"]
    bench.close()


@pytest.mark.parametrize(
    ("after", "first"),
    [(["brand"], "rules"), (["brand", "price", "name"], "settings"), (["name"], "settings")],
    ids=["removed", "added", "both"],
)
def test_facets_exist_as_long_as_rules_name_them(after: list[str], first: str) -> None:
    saved = {"attributesForFaceting": ["brand", "price"]}
    changes: Any = {"settings": {"attributesForFaceting": after}, "rules": {"a": None}}

    assert order_parts(changes, saved)[0] == first


def test_the_snapshot_has_changes_and_hits(bench: Workbench) -> None:
    bench.value = {"rules": {"<b>": {"consequence": {"hide": [{"objectID": "2"}]}}}}
    await_that(lambda: hits(bench) == ["1"])

    text = bench.snapshot()
    assert "&lt;b&gt;" in text
    assert "red lamp" in text
    assert "<b>" not in text

"""The Python part of the settings editor."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import svc_notebook as svc
from svc_notebook.core.api.attributes import attributes_in
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput, BadOption
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.changes import (
    changed_settings,
    complete_settings,
    rebase_settings,
    tidy_settings,
)
from svc_notebook.faces.editors.parameter_panel import (
    check_entries,
    find_problems,
    list_attributes,
    list_settings,
)
from svc_notebook.faces.editors.settings_editor import SettingsEditor
from svc_notebook.faces.magics.extension import run
from svc_notebook.tuning.changes.state import as_parameters
from tests.conftest import Running, set_current


@pytest.fixture
def editor(client: Client, shop: str) -> SettingsEditor:
    return svc.edit.settings(shop, ["lamp"], client=client)


def first_ids(editor: SettingsEditor, side: int, query: int = 0) -> list[str]:
    comparison = editor.previews["queries"][query]["comparison"]
    return [hit["id"] for hit in comparison["sides"][side]["hits"]]


def test_it_opens_with_what_is_saved(editor: SettingsEditor, client: Client, shop: str) -> None:
    assert editor.value == client.get_settings(shop)
    assert editor.changes == []
    assert not editor.dirty
    assert editor.previews["by"] == ""
    assert first_ids(editor, 0) == first_ids(editor, 1) == ["2", "1"]


def test_what_a_value_does_not_name_stays(editor: SettingsEditor, client: Client) -> None:
    before = client.get_settings(editor.index)

    editor.value = {"hitsPerPage": 3}
    editor.apply()

    assert client.get_settings(editor.index) == {**before, "hitsPerPage": 3}
    assert editor.value["customRanking"] == ["desc(rating)"]


@pytest.mark.slow
def test_absent_set_and_reset_are_three_things(editor: SettingsEditor, client: Client) -> None:
    editor.value = {"customRanking": None, "ignorePlurals": True}

    assert "queryLanguages" not in editor.value
    assert editor.value["ignorePlurals"] is True
    assert editor.value["customRanking"] is None
    told = {c["name"]: c["how"] for c in editor.changes}
    assert told == {"customRanking": "reset", "ignorePlurals": "set"}

    editor.apply()
    saved: Any = client.get_settings(editor.index)
    assert "customRanking" not in saved
    assert saved["ignorePlurals"] is True
    assert "customRanking" not in editor.value


def test_only_what_changed_is_sent(editor: SettingsEditor, client: Client) -> None:
    client.wait(client.set_settings(editor.index, {"hitsPerPage": 7}), index=editor.index)

    editor.value = {"typoTolerance": "min"}
    editor.apply()

    saved: Any = client.get_settings(editor.index)
    assert (saved["hitsPerPage"], saved["typoTolerance"]) == (7, "min")
    assert editor.value["hitsPerPage"] == 7


def test_a_setting_that_others_changed_meanwhile_is_not_overwritten(
    editor: SettingsEditor, client: Client
) -> None:
    editor.value = {"hitsPerPage": 3}
    client.wait(client.set_settings(editor.index, {"hitsPerPage": 7}), index=editor.index)

    with pytest.raises(BadOption, match="`hitsPerPage` was changed elsewhere to 7"):
        editor.apply()
    assert editor.value["hitsPerPage"] == 3
    assert editor.dirty

    editor.reload()
    assert editor.changes[0]["before"] == 7
    editor.apply()
    assert client.get_settings(editor.index)["hitsPerPage"] == 3


def test_what_was_applied_is_undone_and_redone(editor: SettingsEditor, client: Client) -> None:
    editor.value = {"customRanking": ["asc(price)"], "distinct": 1}
    editor.apply()

    editor.undo()
    assert {c["name"]: c["after"] for c in editor.changes} == {
        "customRanking": ["desc(rating)"],
        "distinct": None,
    }
    editor.apply()

    saved: Any = client.get_settings(editor.index)
    assert saved["customRanking"] == ["desc(rating)"]
    assert "distinct" not in saved


def test_applying_nothing_sends_nothing(editor: SettingsEditor) -> None:
    editor.apply()

    assert editor.history == []


def test_each_applied_change_can_be_taken_back_by_itself(
    editor: SettingsEditor, client: Client
) -> None:
    editor.value = {"customRanking": ["asc(price)"]}
    editor.apply()
    editor.value = {"hitsPerPage": 3}
    editor.apply()

    assert [list(row["after"]) for row in editor.history] == [["hitsPerPage"], ["customRanking"]]
    editor.take_back(1)
    assert [c["name"] for c in editor.changes] == ["customRanking"]
    editor.apply()

    assert client.get_settings(editor.index)["customRanking"] == ["desc(rating)"]
    assert client.get_settings(editor.index)["hitsPerPage"] == 3


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"hitPerPage": 3}, "did you mean `hitsPerPage`"),
        ({"hitsPerPage": "x"}, "hitsPerPage"),
        ({"customRanking": ["rating"]}, "not of the form `desc.attribute.` or `asc"),
        ({"customRanking": ["desc(a)", "desc(a)"]}, "duplicate entry `desc.a.`"),
        ({"customRanking": ["desc()"]}, "without a name"),
        ({"ranking": ["typos"]}, "not a criterion; did you mean `typo`"),
        ({"searchableAttributes": ["desc(name)"]}, "not of the form `unordered"),
        ({"primary": "other"}, "primary"),
        ([], "must be a dict"),
    ],
)
def test_what_could_not_mean_anything_is_refused(
    editor: SettingsEditor, value: Any, words: str
) -> None:
    before = editor.value

    with pytest.raises(BadInput, match=words):
        editor.value = value

    assert editor.value == before


def test_what_was_probably_not_meant_is_told(editor: SettingsEditor) -> None:
    editor.value = {"customRanking": ["desc(ratng)"], "ranking": ["typo"]}

    texts = [problem["text"] for problem in editor.problems]
    assert any("did you mean `rating`" in text for text in texts)
    assert any("`custom` is not in the ranking" in text for text in texts)


def test_a_custom_ranking_is_previewed_before_it_is_applied(
    editor: SettingsEditor, client: Client
) -> None:
    editor.value = {"customRanking": ["asc(price)"]}

    assert editor.previews["by"] == "parameters"
    assert editor.previews["others"] == []
    assert (first_ids(editor, 0), first_ids(editor, 1)) == (["2", "1"], ["1", "2"])
    assert client.get_settings(editor.index)["customRanking"] == ["desc(rating)"]

    editor.apply()
    assert [hit["objectID"] for hit in client.search(editor.index, "lamp")["hits"]] == ["1", "2"]


def test_what_no_search_can_name_is_tried_on_a_copy_that_goes_away(
    editor: SettingsEditor, client: Client
) -> None:
    editor.value = {"searchableAttributes": ["brand"]}
    assert editor.previews["others"] == ["searchableAttributes"]
    assert first_ids(editor, 1) == ["2", "1"]

    event_loop.run(editor.make_copy())
    copy = editor.previews["copy"]
    assert editor.previews["by"] == "copy"
    assert (first_ids(editor, 0), first_ids(editor, 1)) == (["2", "1"], [])
    assert client.get_settings(editor.index)["searchableAttributes"] == ["name", "brand"]

    editor.value = {"searchableAttributes": ["name"], "customRanking": ["asc(price)"]}
    assert first_ids(editor, 1) == ["1", "2"]

    editor.close()
    assert not client.index_exists(copy)


def test_a_copy_leaves_replicas_alone(editor: SettingsEditor, client: Client) -> None:
    replica = f"{editor.index}-cheap"
    editor.value = {"replicas": [replica]}
    editor.apply()

    event_loop.run(editor.make_copy())
    editor.value = {"searchableAttributes": ["name"]}
    copy = editor.previews["copy"]

    assert "replicas" not in client.get_settings(copy)
    assert client.get_settings(replica).get("primary") == editor.index
    event_loop.run(editor.drop_copy())


def test_replicas_change_with_the_index_if_forwarded(client: Client, shop: str) -> None:
    replica = f"{shop}-cheap"
    client.wait(client.set_settings(shop, {"replicas": [replica]}), index=shop)
    editor = svc.edit.settings(shop, client=client, forward=True, value={"hitsPerPage": 4})

    editor.apply()

    assert client.get_settings(replica)["hitsPerPage"] == 4
    followed = svc.edit.settings(replica, client=client)
    assert followed.state["follows"] == shop
    assert "primary" not in followed.value


def test_queries_are_pinned_and_unpinned(editor: SettingsEditor) -> None:
    editor.queries = ["table", "lamp"]
    assert [p["query"] for p in editor.previews["queries"]] == ["table", "lamp"]

    editor.pin("acme")
    editor.unpin("table")
    event_loop.run(editor.look())

    assert editor.queries == ["lamp", "acme"]
    assert len(first_ids(editor, 0, query=1)) == 2


def test_what_is_typed_is_read_by_its_type(editor: SettingsEditor) -> None:
    editor.put("hitsPerPage", "5")
    editor.put("typoTolerance", "strict")
    assert (editor.value["hitsPerPage"], editor.value["typoTolerance"]) == (5, "strict")

    editor.put("hitsPerPage", "")

    assert [c["name"] for c in editor.changes] == ["typoTolerance"]


def test_a_read_only_key_gets_a_read_only_editor(
    searcher: Callable[..., Client], shop: str
) -> None:
    editor = svc.edit.settings(shop, ["lamp"], client=searcher("search", "settings"))

    assert "editSettings" in editor.state["readOnly"]
    assert first_ids(editor, 0) == ["2", "1"]
    with pytest.raises(BadOption, match="read-only"):
        editor.edit({"hitsPerPage": 1})


def test_a_key_that_may_not_search_edits_without_a_preview(
    searcher: Callable[..., Client], shop: str
) -> None:
    editor = svc.edit.settings(shop, ["lamp"], client=searcher("settings", "editSettings"))

    assert "search" in editor.previews["queries"][0]["error"]["message"]
    editor.value = {"hitsPerPage": 3, "customRanking": None}
    editor.apply()
    assert not editor.dirty
    assert editor.value["hitsPerPage"] == 3


def test_changes_become_code_that_does_the_same(
    editor: SettingsEditor, client: Client, service: Running
) -> None:
    editor.value = {"customRanking": ["desc(it's)"], "hitsPerPage": None}
    codes = editor.codes()

    assert 'customRanking=["desc(it\'s)"]' in codes["Python"]
    assert "hitsPerPage=None" in codes["Python"]
    assert service.adminKey not in str(codes)
    done = subprocess.run(
        ["bash", "-c", f"SVC_API_KEY={shlex.quote(service.adminKey)}; {codes['curl']} -s"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "taskID" in done.stdout


def test_the_snapshot_shows_draft_and_defaults_as_text(editor: SettingsEditor) -> None:
    editor.value = {"highlightPreTag": "<script>", "customRanking": None}

    html = editor.snapshot()

    assert "Unsaved changes" in html
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_every_setting_is_listed_once_with_its_default(editor: SettingsEditor) -> None:
    rows = {row["name"]: row for row in list_settings()}

    assert len(rows) == len(list_settings())
    assert rows["hitsPerPage"]["default"] == 20
    assert rows["customRanking"]["around"] == ["desc", "asc"]
    assert {"replicas", "userData", "paginationLimitedTo"} <= rows.keys()
    assert "filters" not in rows


def test_the_magic_opens_it(client: Client, shop: str) -> None:
    set_current(client)

    editor: Any = run(f"edit settings {shop} lamp 'oak table'", None, {})

    assert isinstance(editor, SettingsEditor)
    assert editor.queries == ["lamp", "oak table"]


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ("title", ["title"]),
        ("title,name", ["title", "name"]),
        ("unordered(title)", ["title"]),
        ("unordered(title),name", ["title", "name"]),
        ("afterDistinct(searchable(brand))", ["brand"]),
        ("desc(a.b)", ["a.b"]),
        ("", []),
    ],
)
def test_attributes_are_found_in_entries(entry: str, names: list[str]) -> None:
    assert attributes_in(entry) == names


def test_entries_that_mean_something_are_left_alone() -> None:
    check_entries("searchableAttributes", ["title,name", "unordered(text)", "unordered(a),b"])
    check_entries("attributesForFaceting", ["afterDistinct(searchable(brand))", "filterOnly(x)"])
    check_entries("ranking", ["typo", "asc(price)", "custom"])


def test_problems_need_attributes_to_go_by() -> None:
    assert find_problems({"searchableAttributes": ["nowhere"]}, []) == []


def test_attributes_are_listed_with_kinds_and_nested_ones_by_path() -> None:
    records: list[dict[str, Any]] = [
        {"objectID": "1", "name": "x", "price": 1.5, "maker": {"city": "Rome"}, "_tags": ["a"]},
        {"objectID": "2", "name": None, "price": "dear", "_private": 1, "sold": True},
    ]

    found = {a["name"]: (a["kinds"], a["share"]) for a in list_attributes(records)}

    assert found["price"] == (["number", "text"], 1.0)
    assert found["maker.city"] == (["text"], 0.5)
    assert found["sold"] == (["true or false"], 0.5)
    assert "_private" not in found


def test_a_draft_follows_what_is_saved_but_for_what_it_changes() -> None:
    before = {"a": 1, "b": 2, "c": 3}
    value = tidy_settings(before, {"a": 9, "b": 2, "d": 4})

    after = rebase_settings(before, value, {"a": 1, "b": 5, "c": 3})

    assert after == {"a": 9, "b": 5, "c": None, "d": 4}
    assert changed_settings({"a": 1, "b": 5, "c": 3}, after) == {"a": 9, "c": None, "d": 4}
    assert complete_settings({"a": 1}, {"b": None}) == {"a": 1}


def test_the_custom_ranking_is_expanded_for_one_search() -> None:
    params, others = as_parameters(
        {"customRanking": ["asc(p)"], "userData": 1, "replicas": [], "hitsPerPage": None},
        {"customRanking": ["asc(p)"], "ranking": ["typo", "custom", "exact"]},
    )

    assert params == {"ranking": ["typo", "asc(p)", "exact"], "hitsPerPage": 20}
    assert others == ["userData"]


def test_code_without_changes_has_no_defaults_and_repeats_what_was_applied(
    editor: SettingsEditor,
) -> None:
    assert "hitsPerPage=20" not in editor.codes()["Python"]

    editor.value = {"hitsPerPage": 7}
    editor.apply()

    assert "hitsPerPage=7" in editor.codes()["Python"]
    assert editor.codes()["Python"].count("=") == 1

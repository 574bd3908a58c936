"""The Python part of the synonym editor."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput, BadOption, NotFound
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.changes import (
    by_id,
    change_objects,
    changed_objects,
)
from svc_notebook.faces.editors.curation_editors.synonyms import SynonymEditor, find_faults
from svc_notebook.faces.magics.extension import run
from tests.conftest import set_current

PAIR = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "lantern"]}
WAY = {"objectID": "way", "type": "onewaysynonym", "input": "seat", "synonyms": ["chair"]}


@pytest.fixture
def editor(client: Client, shop: str) -> SynonymEditor:
    client.wait(client.save_synonyms(shop, [PAIR, WAY]), index=shop)  # type: ignore[list-item]
    return svc.edit.synonyms(shop, client=client)


def saved(editor: SynonymEditor) -> dict[str, Any]:
    """What the service has, by objectID."""
    return by_id(event_loop.run(editor.load()))


def faults(editor: SynonymEditor) -> dict[str, list[str]]:
    return {name: [fault["text"] for fault in found] for name, found in editor.faults.items()}


def test_it_opens_with_all_synonyms(editor: SynonymEditor) -> None:
    assert by_id(editor.value) == {"pair": PAIR, "way": WAY}
    assert not editor.dirty


def test_a_list_is_added_in_one_step(editor: SynonymEditor) -> None:
    names = editor.put_all(
        [
            {"type": "synonym", "synonyms": ["sofa", "couch"]},
            {"type": "onewaysynonym", "input": "tv", "synonyms": ["television"]},
        ]
    )

    assert [each["objectID"] for each in editor.value] == [*names, "pair", "way"]
    with pytest.raises(BadInput):
        editor.put_all([{"type": "word"}])
    editor.undo()
    assert not editor.dirty


def test_nothing_is_written_before_it_is_applied(editor: SynonymEditor) -> None:
    editor.put({**PAIR, "synonyms": ["lamp", "light"]}, "pair")
    name = editor.put({"type": "placeholder", "placeholder": "<size>", "replacements": ["xl"]})
    editor.remove(["way"])
    assert saved(editor) == {"pair": PAIR, "way": WAY}
    assert editor.changes == {"pair": "changed", name: "added", "way": "removed"}

    editor.apply()

    assert saved(editor).keys() == {"pair", name}
    assert saved(editor)["pair"]["synonyms"] == ["lamp", "light"]
    assert editor.changes == {}


def test_what_was_applied_is_undone_and_applied_again(editor: SynonymEditor) -> None:
    editor.remove(["pair", "way"])
    editor.apply()
    assert saved(editor) == {}

    editor.undo()
    editor.apply()

    assert saved(editor) == {"pair": PAIR, "way": WAY}


def test_two_spellings_of_a_type_are_one(editor: SynonymEditor) -> None:
    editor.value = [{"objectID": "way", "type": "oneWaySynonym", "input": "a", "synonyms": ["b"]}]

    assert editor.value[0]["type"] == "onewaysynonym"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ([PAIR, PAIR], "duplicate objectID `pair`"),
        ([{**PAIR, "type": "way"}], "type"),
        ([{**PAIR, "words": []}], "words"),
        (7, "objects, a DataFrame or a file"),
    ],
    ids=["twice", "type", "member", "number"],
)
def test_only_synonyms_are_taken(editor: SynonymEditor, value: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        editor.value = value

    assert by_id(editor.value) == {"pair": PAIR, "way": WAY}


def test_an_object_id_is_not_taken_twice(editor: SynonymEditor) -> None:
    with pytest.raises(BadInput, match="duplicate objectID `way`"):
        editor.put({**PAIR, "objectID": "way"}, "pair")


@pytest.mark.slow
def test_a_cell_and_a_view_change_the_draft_at_the_same_time(editor: SynonymEditor) -> None:
    async def act_as_view() -> None:
        for number in range(60):
            editor.put({**PAIR, "objectID": f"view-{number}"})
            await asyncio.sleep(0)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        viewing = event_loop.begin(act_as_view())
        for number in range(60):
            editor.put({**PAIR, "objectID": f"cell-{number}"})
        viewing.result()
    finally:
        sys.setswitchinterval(before)

    assert len(editor.value) == 2 + 60 + 60


def one_way(name: str, head: str, *words: str) -> dict[str, Any]:
    return {"objectID": name, "type": "onewaysynonym", "input": head, "synonyms": list(words)}


@pytest.mark.parametrize(
    ("synonyms", "told"),
    [
        ([{**PAIR, "synonyms": []}], {"pair": ["error: `synonyms` has no words"]}),
        (
            [{**PAIR, "synonyms": ["a", " "]}],
            {"pair": ["error: `synonyms` contains an empty word"]},
        ),
        ([one_way("w", " ", "b")], {"w": ["error: `input` is empty"]}),
        (
            [{"objectID": "c", "type": "altcorrection1", "word": "a", "corrections": ["b c"]}],
            {"c": ["error: `b c` has several words; corrections are single words"]},
        ),
        ([{**PAIR, "synonyms": ["a", "b", "A"]}], {"pair": ["warning: duplicate word `a`"]}),
        (
            [{**PAIR, "synonyms": ["a"]}],
            {"pair": ["warning: a synonym of a single word has no effect"]},
        ),
        ([one_way("w", "a", "A", "b")], {"w": ["warning: `a` is a synonym of itself"]}),
        (
            [PAIR, {**PAIR, "objectID": "2", "synonyms": ["Lantern", "lamp"]}],
            {"2": ["warning: duplicate of `pair`"]},
        ),
        (
            [one_way("1", "a", "b"), one_way("2", "b", "c"), one_way("3", "c", "a", "x")],
            {
                name: [f"warning: one-way synonyms form a cycle: {cycle}; use a two-way synonym"]
                for name, cycle in (
                    ("1", "a → b → c → a"), ("2", "b → c → a → b"), ("3", "c → a → b → c"),
                )
            },
        ),
        (
            [{"objectID": "p", "type": "placeholder", "placeholder": "size",
              "replacements": ["xl"]}],
            {"p": ["warning: records contain placeholders in angle brackets: `<size>`"]},
        ),
        (
            [PAIR, {**PAIR, "objectID": "more", "synonyms": ["light", "lantern", "Lamp"]}],
            {"pair": ["warning: already contained in `more`"]},
        ),
        (
            [one_way("1", "lamp", "Lantern"), PAIR],
            {"1": ["warning: already contained in `pair`"]},
        ),
        (
            [one_way("1", "a", "b"), one_way("2", "a", "c", "b")],
            {"1": ["warning: already contained in `2`"]},
        ),
        ([one_way("1", "a", "b"), one_way("2", "b", "c")], {}),
        ([PAIR, one_way("1", "lamp", "light"), one_way("2", "lamp", "torch")], {}),
    ],
    ids=["none", "empty", "head", "phrase", "twice", "alone", "itself", "double", "cycle",
         "brackets", "part", "way", "less", "fine", "apart"],
)  # fmt: skip
def test_faults_are_reported(synonyms: list[dict[str, Any]], told: dict[str, list[str]]) -> None:
    found = find_faults(synonyms)

    assert {
        name: [f"{fault['level']}: {fault['text']}" for fault in own] for name, own in found.items()
    } == told


def test_a_long_cycle_is_shortened() -> None:
    ring = [one_way(str(n), f"w{n}", f"w{(n + 1) % 40}") for n in range(40)]

    told = find_faults(ring)["0"][0]["text"]

    assert told.startswith("one-way synonyms form a cycle: w0 → w1 → w2 → w3 → w4 → w5 → … → w0;")


def test_a_very_long_cycle_is_reported() -> None:
    ring = [one_way(str(n), f"w{n}", f"w{(n + 1) % 5000}") for n in range(5000)]

    faults = find_faults(ring)

    assert len(faults) == 5000
    told = faults["4999"][0]["text"]
    assert told.startswith("one-way synonyms form a cycle: w4999 → w0 → … → w4999;")


def test_words_that_only_lead_to_or_from_a_cycle_are_not_part_of_it() -> None:
    steps = [
        ("in", "a"),
        ("a", "b"),
        ("b", "a"),
        ("b", "out"),
        ("a", "c"),
        ("c", "b"),
        ("out", "end"),
    ]

    faults = find_faults([one_way(f"{one}-{other}", one, other) for one, other in steps])

    assert sorted(faults) == ["a-b", "a-c", "b-a", "c-b"]
    assert faults["a-c"][0]["text"].startswith("one-way synonyms form a cycle: a → c → b → a;")


def test_a_draft_that_is_wrong_is_not_applied(editor: SynonymEditor) -> None:
    editor.put({**PAIR, "synonyms": []}, "pair")

    with pytest.raises(BadInput, match="pair: `synonyms` has no words"):
        editor.apply()

    assert saved(editor)["pair"] == PAIR
    assert editor.state["error"]["type"] == "BadInput"
    assert editor.value[0]["synonyms"] == []


def test_changes_made_elsewhere_are_not_overwritten(editor: SynonymEditor, client: Client) -> None:
    other = {**WAY, "objectID": "theirs"}
    editor.put({**PAIR, "synonyms": ["lamp", "light"]}, "pair")
    client.wait(client.save_synonym(editor.index, "theirs", other), index=editor.index)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="changed elsewhere; reload"):
        editor.apply()

    editor.reload()
    assert editor.changes == {"pair": "changed"}
    editor.apply()

    assert saved(editor).keys() == {"pair", "way", "theirs"}
    assert saved(editor)["pair"]["synonyms"] == ["lamp", "light"]


def copies_of(index: str, client: Client) -> list[str]:
    names = [item["name"] for item in client.list_indices()["items"]]
    return [name for name in names if name.startswith(f"{index}_")]


def test_impact_is_seen_on_a_copy_that_is_dropped(editor: SynonymEditor, client: Client) -> None:
    editor.put(one_way("new", "board", "table"))

    found = editor.impact("board", "lamp")

    assert found.to_dict("records") == [
        {"query": "board", "before": 0, "after": 1, "gained": 1, "lost": 0, "moved": 0},
        {"query": "lamp", "before": 2, "after": 2, "gained": 0, "lost": 0, "moved": 0},
    ]
    assert "new" not in saved(editor)
    while copies_of(editor.index, client):
        time.sleep(0.01)


def test_without_queries_the_words_of_the_changes_are_tried(editor: SynonymEditor) -> None:
    editor.put(one_way("new", "board", "table"))

    assert list(editor.impact()["query"]) == ["board"]


def test_without_changes_or_queries_there_is_nothing_to_try(editor: SynonymEditor) -> None:
    with pytest.raises(BadOption, match="enter a query"):
        editor.impact()


@pytest.mark.parametrize("name", ["some.csv", "some.json", "some.ndjson"])
def test_a_file_takes_the_draft_and_gives_it_back(
    editor: SynonymEditor, tmp_path: Path, name: str
) -> None:
    editor.put({**PAIR, "synonyms": ["lamp", 'a, "b"', "ü"]}, "pair")
    editor.write_file(tmp_path / name)
    before = by_id(editor.value)
    editor.value = []

    editor.read_file(tmp_path / name)
    assert by_id(editor.value) == before
    text = editor.give_out(Path(name).suffix)
    editor.bring_in(name, text, "replace")

    assert by_id(editor.value) == before


THEIRS = json.dumps([{**PAIR, "synonyms": ["x", "y"]}, {**PAIR, "objectID": "new"}, WAY])


@pytest.mark.parametrize(
    ("how", "words", "told"),
    [
        ("take", {"pair": ["x", "y"], "new": ["lamp", "lantern"], "way": ["chair"]}, [3, 1, 1, 0]),
        ("keep", {"pair": ["lamp", "lantern"], "new": ["lamp", "lantern"], "way": ["chair"]},
         [3, 1, 0, 0]),
        ("replace", {"pair": ["x", "y"], "new": ["lamp", "lantern"], "way": ["chair"]},
         [3, 1, 1, 1]),
    ],
)  # fmt: skip
def test_of_a_file_and_the_draft_either_is_taken(
    editor: SynonymEditor, how: Any, words: dict[str, list[str]], told: list[int]
) -> None:
    editor.put({**PAIR, "objectID": "mine"})

    brought = editor.bring_in("x.json", THEIRS, how)

    kept = {} if how == "replace" else {"mine": PAIR["synonyms"]}
    assert {each["objectID"]: each["synonyms"] for each in editor.value} == {**words, **kept}
    assert list(brought.values()) == told


def test_the_extension_of_a_file_is_its_format(editor: SynonymEditor) -> None:
    with pytest.raises(BadInput, match=r"unsupported format `.txt`; use \.csv"):
        editor.bring_in("x.txt", "")


def test_a_key_that_may_not_write_opens_a_read_only_editor(
    editor: SynonymEditor, searcher: Callable[..., Client]
) -> None:
    weak = svc.edit.synonyms(editor.index, client=searcher("settings", "search"))

    assert weak.state["readOnly"] == "the key lacks the right `editSettings`"
    with pytest.raises(BadOption, match="read-only"):
        weak.remove(["pair"])
    with pytest.raises(BadOption, match="read-only"):
        weak.apply()
    assert len(weak.value) == 2


def test_a_missing_index_is_reported(client: Client) -> None:
    with pytest.raises(NotFound):
        svc.edit.synonyms("nowhere", client=client)


def test_code_does_what_applying_does(editor: SynonymEditor, client: Client) -> None:
    set_current(client)
    changed = {**PAIR, "synonyms": ["it's", 'a "lamp"']}
    editor.put(changed, "pair")
    editor.remove(["way"])
    codes = editor.codes()

    exec(codes["Python"], {})
    assert saved(editor) == {"pair": changed}
    client.wait(client.save_synonyms(editor.index, [WAY]), index=editor.index)  # type: ignore[list-item]
    for cell in codes["Magic"].split("\n\n"):
        line, _, body = cell.lstrip("%").removeprefix("svc ").partition("\n")
        run(line, body or None, {})
    assert saved(editor) == {"pair": changed}

    assert subprocess.run(["sh", "-n"], input=codes["curl"], text=True, check=True)
    assert client.connection.api_key.reveal() not in "".join(codes.values())


def test_names_in_code_are_read_back_as_they_are(editor: SynonymEditor, client: Client) -> None:
    set_current(client)
    names = ["café au lait", "l'été", "a\\b c"]
    for name in names:
        editor.put({**WAY, "objectID": name})
    editor.apply()
    editor.remove(names)

    run(editor.codes()["Magic"].removeprefix("%svc "), None, {})

    assert saved(editor).keys() == {"pair", "way"}


def test_the_snapshot_shows_words_as_text(editor: SynonymEditor) -> None:
    editor.put({**PAIR, "synonyms": ["<img src=x>"]}, "pair")

    html = editor.snapshot()

    assert "&lt;img src=x&gt;" in html
    assert "<img" not in html
    assert "unsaved changes" in html


documents = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3)).map(
    lambda made: [{"objectID": name, "is": value} for name, value in made.items()]
)


@given(saved=documents, value=documents)
def test_changes_lead_from_one_list_to_the_other(saved: list[Any], value: list[Any]) -> None:
    changes = changed_objects(saved, value)

    assert by_id(change_objects(saved, changes)) == by_id(value)
    assert changed_objects(value, change_objects(saved, changes)) == []


def test_a_preview_that_is_cancelled_leaves_no_copy(editor: SynonymEditor, client: Client) -> None:
    editor.put(one_way("new", "board", "table"))

    work = event_loop.begin(editor.preview(["lamp"] * 500))
    while not copies_of(editor.index, client):
        time.sleep(0.01)
    work.cancel()

    while copies_of(editor.index, client):
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["synonyms", "rules"])
def test_a_magic_opens_the_editor_with_queries(client: Client, shop: str, name: str) -> None:
    set_current(client)

    opened = run(f"edit {name} {shop} lamp 'oak table' --forwardToReplicas", None, {})

    assert repr(opened) == f"<{name.capitalize()[:-1]} editor: {shop}>"
    assert opened.queries == ["lamp", "oak table"]
    assert opened.forward

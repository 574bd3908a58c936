"""What the user decided in an editor, as traits that `observe` follows in every notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pandas import DataFrame
from traitlets import TraitError

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.faces.editors.base import Editor

# By the name of the function: a change of the value, and the decisions that follow.
CASES: dict[str, tuple[Callable[[Any], None], dict[str, Any]]] = {
    "query": (
        lambda editor: setattr(editor, "value", {"query": "lamp", "hitsPerPage": 1}),
        {"query": "lamp", "parameters": {"hitsPerPage": 1}, "selected": None, "drafts": []},
    ),
    "settings": (
        lambda editor: editor.edit({"hitsPerPage": 3, "customRanking": None}),
        {"draft": {"hitsPerPage": 3, "customRanking": None}},
    ),
    "synonyms": (
        lambda editor: editor.put({"objectID": "1", "type": "synonym", "synonyms": ["a", "b"]}),
        {"draft": {"1": {"objectID": "1", "type": "synonym", "synonyms": ["a", "b"]}}},
    ),
    "rules": (
        lambda editor: editor.edit([{"objectID": "1", "consequence": {"params": {"query": "x"}}}]),
        {"draft": {"1": {"objectID": "1", "consequence": {"params": {"query": "x"}}}}},
    ),
    "workbench": (
        lambda editor: setattr(editor, "value", {"settings": {"hitsPerPage": 3}}),
        {
            "search": {}, "selected": None, "judged": [],
            "draft": {"settings": {"hitsPerPage": 3}},
        },
    ),
}  # fmt: skip


def open_editor(kind: str, shop: str, client: Client) -> Editor:
    editor: Editor = getattr(svc.edit, kind)(shop, client=client)
    return editor


@pytest.mark.parametrize("kind", CASES)
def test_decisions_follow_the_value(kind: str, shop: str, client: Client) -> None:
    editor = open_editor(kind, shop, client)
    change, expected = CASES[kind]
    seen: list[str] = []
    editor.observe(lambda event: seen.append(event["name"]), list(editor.decided))

    change(editor)

    assert editor.decisions() == expected
    assert set(seen) == {name for name, value in expected.items() if value}
    editor.close()


@pytest.mark.parametrize("kind", CASES)
def test_decisions_can_only_be_read(kind: str, shop: str, client: Client) -> None:
    editor = open_editor(kind, shop, client)
    name = editor.decided[0]

    with pytest.raises(TraitError, match="read-only"):
        setattr(editor, name, getattr(editor, name))
    editor.close()


def test_judged_pairs_are_those_of_the_rater(shop: str, client: Client) -> None:
    given = DataFrame([{"query": "lamp", "objectID": "1", "rating": 2, "rater": "bob"}])
    editor = svc.edit.judgments(shop, ["lamp"], judgments=given, rater="ada", client=client)

    editor.grade("2", 3)
    editor.grade("1", None, unrateable=True)

    assert editor.judged == [
        {"query": "lamp", "filters": "", "objectID": "2", "rating": 3, "unrateable": False},
        {"query": "lamp", "filters": "", "objectID": "1", "rating": None, "unrateable": True},
    ]
    editor.grade("2", None)
    assert [pair["objectID"] for pair in editor.judged] == ["1"]


def test_the_workbench_has_the_decisions_of_its_editors(shop: str, client: Client) -> None:
    bench = svc.edit(shop, "lamp", client=client)

    bench.query.record(bench.query.hits[0]["objectID"])
    bench.close()

    assert bench.search == {"query": "lamp"}
    assert bench.selected == bench.query.selected is not None


def test_revisions_are_counted_in_marimo_only(shop: str, client: Client) -> None:
    editor = open_editor("query", shop, client)

    editor.value = {"query": "lamp"}

    assert editor.revision == 0
    assert {"query", "parameters", "selected", "state", "answer"} <= editor.get_state().keys()

"""The Python part of the judgment editor."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput, BadOption, BadRecord
from svc_notebook.faces.editors import event_loop
from svc_notebook.faces.editors.judgment_editor.editor import JudgmentEditor
from svc_notebook.faces.editors.judgment_editor.judgments import (
    PoolVariant,
    merge,
    read_judgments,
    read_variants,
    shuffle,
    to_frame,
)
from svc_notebook.faces.magics.extension import run
from svc_notebook.tuning.tables.queries import Question, read_questions
from tests.conftest import set_current


@pytest.fixture
def editor(client: Client, shop: str) -> JudgmentEditor:
    return svc.edit.judgments(shop, ["lamp", "table", "nothing at all"], client=client)


def ids(editor: JudgmentEditor) -> list[str]:
    return [hit["id"] for hit in editor.sheet["hits"]]


def counts(editor: JudgmentEditor) -> list[tuple[int, int]]:
    return [(question["done"], question["total"]) for question in editor.questions]


def ratings(editor: JudgmentEditor) -> dict[str, float | None]:
    return {row["objectID"]: row["rating"] for row in editor.value}


def test_it_opens_with_the_hits_of_the_first_query(editor: JudgmentEditor) -> None:
    assert editor.sheet["query"] == "lamp"
    assert ids(editor) == ["2", "1"]
    assert counts(editor) == [(0, 2), (0, 1), (0, 0)]
    assert editor.value == []


def test_zero_unrateable_and_missing_are_three_things(editor: JudgmentEditor) -> None:
    editor.grade("2", 0)
    editor.grade("1", None, unrateable=True)

    frame = editor.frame.set_index("objectID")
    assert frame.rating["2"] == 0
    assert not frame.unrateable["2"]
    assert math.isnan(frame.rating["1"])
    assert frame.unrateable["1"]
    assert counts(editor)[0] == (2, 2)
    assert editor.missing.to_dict("records") == [{"query": "table", "filters": "", "objectID": "3"}]


def test_a_judgment_has_rater_time_and_source(client: Client, shop: str) -> None:
    editor = svc.edit.judgments(shop, [{"query": "Lamp", "filters": "price < 15"}], client=client,
                                rater="ada")  # fmt: skip

    editor.grade("1", 3)
    editor.note("1", " the best ")

    [row] = editor.frame.to_dict("records")
    told = ("query", "filters", "objectID", "rating", "rater", "note", "source")
    assert [row[name] for name in told] == [
        "Lamp",
        "price < 15",
        "1",
        3.0,
        "ada",
        "the best",
        "human",
    ]
    assert row["judged_at"].tzinfo is not None
    assert counts(editor) == [(1, 1)]


def test_a_judgment_taken_back_is_gone_unless_it_has_a_note(editor: JudgmentEditor) -> None:
    editor.grade("2", 2)
    editor.grade("1", 2)
    editor.note("1", "why")

    editor.grade("2", None)
    editor.grade("1", None)

    assert [(row["objectID"], row["rating"]) for row in editor.value] == [("1", None)]
    assert counts(editor)[0] == (0, 2)
    editor.note("1", "")
    assert editor.value == []


def test_the_same_grade_again_is_not_a_step(editor: JudgmentEditor) -> None:
    editor.grade("2", 2)
    first = editor.value
    editor.grade("2", 2)

    assert editor.value is first
    editor.undo()
    assert editor.value == []


def test_undo_goes_to_where_the_grade_was(editor: JudgmentEditor) -> None:
    editor.grade("2", 2)
    event_loop.run(editor.turn(1))
    editor.grade("3", 1)
    event_loop.run(editor.turn(0))

    event_loop.run(editor.go("undo"))
    assert editor.sheet["query"] == "table"
    assert ratings(editor) == {"2": 2.0}
    event_loop.run(editor.go("undo"))
    assert editor.sheet["query"] == "lamp"
    event_loop.run(editor.go("redo"))

    assert ratings(editor) == {"2": 2.0}


def test_it_moves_to_the_next_unjudged_hit(editor: JudgmentEditor) -> None:
    editor.grade("2", 2)
    editor.grade("1", 2)

    event_loop.run(editor.turn_to_open())
    assert editor.sheet["query"] == "table"
    editor.grade("3", 2)

    with pytest.raises(BadOption, match="all hits of all queries are judged"):
        event_loop.run(editor.turn_to_open())


@pytest.mark.slow
def test_it_resumes_from_its_own_frame(editor: JudgmentEditor, client: Client) -> None:
    editor.grade("2", 3)
    editor.grade("1", None, unrateable=True)
    frame = editor.frame

    later = svc.edit.judgments(editor.index, ["lamp", "table"], judgments=frame, client=client)

    pd.testing.assert_frame_equal(later.frame, frame)
    assert later.sheet["query"] == "table"
    assert not later.dirty
    later.undo()
    assert len(later.value) == 2


def test_without_queries_those_of_the_judgments_are_used(client: Client, shop: str) -> None:
    frame = pd.DataFrame({"query": ["lamp", "lamp"], "objectID": [1, 2], "rating": [1, None]})

    editor = svc.edit.judgments(shop, judgments=frame, client=client)

    assert [question["query"] for question in editor.questions] == ["lamp"]
    assert counts(editor) == [(1, 2)]


def test_variants_are_pooled_and_each_hit_says_where_it_was_found(
    client: Client, shop: str
) -> None:
    editor = svc.edit.judgments(
        shop, ["lamp"], client=client, depth=1,
        variants={"now": {}, "cheap": {"ranking": ["asc(price)"]}, "same": shop},
    )  # fmt: skip

    found = {hit["id"]: hit["found"] for hit in editor.sheet["hits"]}
    assert found == {"2": [["now", 1], ["same", 1]], "1": [["cheap", 1]]}

    event_loop.run(editor.arrange(blind=True, shuffled=False))
    assert all(hit["found"] == [] for hit in editor.sheet["hits"])


def test_a_hit_that_only_another_variant_finds_is_shown_with_its_text(
    client: Client, shop: str
) -> None:
    other = f"{shop}-other"
    client.replace_all(other, [{"objectID": "9", "name": "lamp of another index"}])

    editor = svc.edit.judgments(shop, ["lamp"], client=client, variants={"a": shop, "b": other})

    assert sorted(ids(editor)) == ["1", "2", "9"]
    assert "another index" in next(h["title"] for h in editor.sheet["hits"] if h["id"] == "9")
    client.wait(client.delete_index(other), index=other)


def test_others_judgments_stay_and_are_hidden_when_blind(client: Client, shop: str) -> None:
    theirs = pd.DataFrame(
        {"query": ["lamp"], "objectID": ["2"], "rating": [1.0], "rater": ["bob"], "weight": [7]}
    )
    editor = svc.edit.judgments(shop, judgments=theirs, client=client, rater="ada")

    assert editor.sheet["hits"][0]["others"] == ["bob: 1"]
    assert counts(editor) == [(0, 2)]
    editor.grade("2", 3)

    frame = editor.frame
    assert list(frame.rater) == ["bob", "ada"]
    assert frame.weight[0] == 7
    event_loop.run(editor.arrange(blind=True, shuffled=True))
    assert editor.sheet["hits"][0]["others"] == []


def test_judged_hits_that_are_missing_are_counted(client: Client, shop: str) -> None:
    frame = pd.DataFrame(
        {"query": ["lamp"] * 3, "objectID": ["1", "3", "old-1"], "rating": [1, 2, 3]}
    )

    editor = svc.edit.judgments(shop, judgments=frame, client=client)

    assert editor.state["gone"] == 1
    assert len(editor.value) == 3


def test_judged_hits_that_are_not_found_any_more_come_last(client: Client, shop: str) -> None:
    frame = pd.DataFrame({"query": ["lamp"] * 2, "objectID": ["3", "1"], "rating": [0, 2]})

    editor = svc.edit.judgments(shop, judgments=frame, client=client, labels={0: "no", 2: "yes"})

    assert ids(editor) == ["2", "1", "3"]
    assert editor.sheet["hits"][2]["title"] == "oak table"
    assert editor.sheet["hits"][2]["found"] == []
    assert counts(editor) == [(2, 3)]
    assert editor.labels == {"0": "no", "2": "yes"}


def test_a_query_is_added_once(editor: JudgmentEditor) -> None:
    event_loop.run(editor.ask("acme"))
    assert sorted(ids(editor)) == ["1", "3"]

    event_loop.run(editor.ask("lamp"))

    assert [question["query"] for question in editor.questions] == [
        "lamp", "table", "nothing at all", "acme",
    ]  # fmt: skip
    assert editor.sheet["place"] == 0


def test_an_editor_without_queries_waits_for_one(client: Client, shop: str) -> None:
    editor = svc.edit.judgments(shop, client=client)
    assert (editor.questions, editor.sheet) == ([], {})

    event_loop.run(editor.ask("lamp"))

    assert ids(editor) == ["2", "1"]


def test_only_hits_of_the_sheet_are_graded(editor: JudgmentEditor) -> None:
    with pytest.raises(BadOption, match="`3` is not on this sheet"):
        editor.grade("3", 1)
    with pytest.raises(BadRecord, match="0 or more"):
        editor.grade("2", -1)

    assert editor.value == []


def test_a_value_is_set_from_a_frame(editor: JudgmentEditor) -> None:
    editor.value = pd.DataFrame({"query": ["lamp"], "objectID": ["2"], "rating": [2]})

    assert ratings(editor) == {"2": 2.0}
    assert editor.sheet["hits"][0]["rating"] == 2.0
    editor.undo()
    assert editor.value == []


def test_the_snapshot_and_the_code_hold_the_judgments(editor: JudgmentEditor) -> None:
    editor.grade("2", 2)
    editor.note("2", "<b>fine</b>")

    assert "&lt;b&gt;fine" in editor.snapshot()
    assert "<b>fine" not in editor.snapshot()
    assert "lamp,2,2.0" in editor.codes()["CSV"]
    compile(editor.codes()["Python"], "code", "exec")


@pytest.mark.parametrize("rater", ["", "ada"])
def test_the_code_continues_as_the_same_rater(
    client: Client, shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rater: str
) -> None:
    set_current(client)
    monkeypatch.chdir(tmp_path)
    variants: Any = {"as it is": {}, "red": {"filters": "color:red"}}
    editor = svc.edit.judgments(
        shop, ["lamp", {"query": "oak", "filters": "price < 9"}],
        rater=rater, variants=variants, depth=7, client=client,
    )  # fmt: skip
    editor.grade("2", 2)

    Path("judgments.csv").write_text(editor.codes()["CSV"])
    *first, last = ast.parse(editor.codes()["Python"]).body
    names: dict[str, Any] = {}
    exec(compile(ast.Module(first, []), "code", "exec"), names)
    again: Any = eval(compile(ast.Expression(cast(ast.Expr, last).value), "code", "eval"), names)

    assert (again.rater, again.depth, again.variants) == (rater, 7, editor.variants)
    assert [question["query"] for question in again.questions] == ["lamp", "oak"]
    assert counts(again)[0] == (1, 2)


def test_the_code_names_the_file_that_keeps_the_judgments(
    client: Client, shop: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"

    editor = svc.edit.judgments(shop, ["lamp"], file=path, client=client)

    assert f"file={str(path)!r}" in editor.codes()["Python"]


def test_the_magic_opens_it(client: Client, shop: str) -> None:
    set_current(client)
    graded = pd.DataFrame({"query": ["lamp"], "objectID": ["2"], "rating": [2]})

    line = f"edit judgments {shop} lamp 'oak table' --from graded --depth 3 --rater ada --blind"
    editor: Any = run(line, None, {"graded": graded})

    assert isinstance(editor, JudgmentEditor)
    assert (editor.depth, editor.rater, editor.blind) == (3, "ada", True)
    assert [question["query"] for question in editor.questions] == ["lamp", "oak table"]
    assert len(editor.value) == 1


def test_the_magic_keeps_judgments_in_a_file_too(client: Client, shop: str, tmp_path: Path) -> None:
    set_current(client)
    file = tmp_path / "judged.csv"

    editor: Any = run(f"edit judgments {shop} lamp --file '{file}'", None, {})
    editor.grade("2", 2)

    assert "lamp" in file.read_text(encoding="utf-8")
    again: Any = run(f"edit judgments {shop} lamp --file '{file}'", None, {})
    assert len(again.value) == 1


ROW: dict[str, Any] = {"query": "q", "objectID": "a", "rating": 1.0}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"query": "q", "objectId": "a"}], "need a column `objectID`; did you mean `objectId`"),
        ([{**ROW, "query": 7}], "row 0, `query`: expected a text"),
        ([{**ROW, "objectID": 1.5}], "row 0, `objectID`"),
        ([{**ROW, "objectID": ""}], "empty"),
        ([{**ROW, "rating": -1}], "0 or more"),
        ([{**ROW, "rating": math.inf}], "a finite number"),
        ([{**ROW, "rating": True}], "expected a number"),
        ([{**ROW, "rating": "3"}], "expected a number"),
        ([ROW, {**ROW, "unrateable": True, "objectID": "b"}], "row 1 is unrateable but has a rat"),
        ([{**ROW, "unrateable": "no"}], "expected true or false"),
        ([{**ROW, "source": "guess"}], "not one of human, click, import"),
        ([{**ROW, "judged_at": "2024-01-01T00:00"}], "has no time zone"),
        ([{**ROW, "judged_at": "soon"}], "judged_at"),
        ([ROW, {**ROW, "objectID": "b"}, {**ROW, "rating": 2}], "rows 0 and 2 both judge"),
        ({"query": "q"}, "are a DataFrame"),
    ],
)
def test_what_is_no_judgment_is_refused_with_its_place(rows: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_judgments(rows)


def test_the_same_words_under_other_filters_or_of_another_rater_are_other_judgments() -> None:
    rows = read_judgments(
        [ROW, {**ROW, "filters": "x:1"}, {**ROW, "rater": "ada"}, {**ROW, "query": "Q"}]
    )

    assert len(rows) == 4


def test_columns_of_your_own_stay_whatever_they_hold() -> None:
    frame = pd.DataFrame({**{name: [value] for name, value in ROW.items()}, "tags": [["a", "b"]]})

    assert to_frame(read_judgments(frame)).tags[0] == ["a", "b"]


ratings_or_none = st.none() | st.integers(0, 3).map(float)
judgments = st.lists(
    st.fixed_dictionaries(
        {
            "query": st.text(max_size=3),
            "objectID": st.text(min_size=1, max_size=2),
            "note": st.text(max_size=2),
            "filters": st.sampled_from(["", "a:b"]),
            "judged_at": st.none() | st.just("2024-05-01T12:00:00+02:00"),
        }
    ).flatmap(
        lambda row: st.one_of(
            ratings_or_none.map(lambda rating: {**row, "rating": rating}),
            st.just({**row, "unrateable": True}),
        )
    ),
    max_size=6,
    unique_by=lambda row: (row["query"], row["objectID"], row["filters"]),
)


@pytest.mark.slow
@given(judgments)
def test_judgments_come_back_from_a_frame_as_they_were(rows: list[dict[str, Any]]) -> None:
    read = read_judgments(rows)

    assert read_judgments(to_frame(read)) == read


def answer(found: Iterable[str]) -> dict[str, Any]:
    return {"hits": [{"objectID": object_id} for object_id in found]}


def test_a_pool_is_ordered_by_each_hits_best_place() -> None:
    variants = [PoolVariant("a", "i"), PoolVariant("b", "i")]

    pooled = merge(variants, [answer("xyz"), answer("zqx")])

    assert [one.id for one in pooled] == ["x", "z", "y", "q"]
    assert pooled[0].places == {"a": 1, "b": 3}


def test_a_pool_is_shuffled_in_the_same_order_each_time() -> None:
    question = Question("q")
    pooled = merge([PoolVariant("a", "i")], [answer("abcdefgh")])

    first = shuffle(pooled, question, 1)

    assert first == shuffle(list(reversed(pooled)), question, 1)
    assert first != pooled
    assert sorted(one.id for one in first) == list("abcdefgh")
    assert first != shuffle(pooled, question, 2)


def test_filters_of_a_variant_and_of_a_query_both_hold() -> None:
    variant = PoolVariant("a", "i", {"filters": "x:1 OR x:2", "hitsPerPage": 3})

    request = variant.request(Question("q", "y:1"), {"hitsPerPage": 9})

    assert request["filters"] == "(x:1 OR x:2) AND (y:1)"
    assert request["hitsPerPage"] == 9


def test_queries_are_read_from_texts_dicts_and_frames() -> None:
    frame = pd.DataFrame({"query": ["a", "a"], "filters": [None, "x:1"], "weight": [1, 2]})

    assert [q.key for q in read_questions(frame)] == [("a", ""), ("a", "x:1")]
    assert read_questions("a") == [Question("a")]
    assert read_questions([{"query": "a", "params": {"optionalWords": "b"}}])[0].params


@pytest.mark.parametrize(
    ("queries", "words"),
    [
        ([3], "queries are a DataFrame"),
        ([{"q": "a"}], "need a column `query`"),
        ([{"query": "a", "params": {"hitPerPage": 1}}], "did you mean `hitsPerPage`"),
        (pd.DataFrame({"Query": ["a"]}), "need a column `query`; did you mean `Query`"),
    ],
)
def test_what_is_no_query_is_refused(queries: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read_questions(queries)


@pytest.mark.parametrize("variants", [["a"], {"a": 3}, {"a": {"hitPerPage": 3}}])
def test_what_is_no_variant_is_refused(variants: Any) -> None:
    with pytest.raises(BadInput):
        read_variants(variants, "i")


def score(editor: JudgmentEditor) -> Any:
    """The scores of the current judgments."""
    event_loop.run(editor._follow_up())
    return editor.scores


@pytest.mark.slow
def test_scores_are_those_of_tuning(client: Client, shop: str) -> None:
    queries: list[dict[str, Any]] = [
        {"query": "lamp", "weight": 3}, {"query": "table"}, {"query": "nothing at all"},
    ]  # fmt: skip
    ways: list[tuple[str, Any]] = [("now", {}), ("cheap", {"filters": "price < 15"})]
    editor = svc.edit.judgments(
        shop, queries, client=client, variants={"now": shop, "cheap": {"filters": "price < 15"}}
    )
    assert score(editor)["whole"][0]["mean"] is None
    editor.grade("2", 1)
    editor.grade("1", 3)
    event_loop.run(editor.turn(1))
    editor.grade("3", 2)

    found = score(editor)

    runs = pd.concat(
        svc.tuning.run(shop, queries, params=params, name=name, client=client)
        for name, params in ways
    )
    scores = svc.tuning.evaluate(runs, editor.frame, "ndcg@10", unjudged="bound", queries=queries)
    expected = svc.tuning.summary(scores)
    for name in ("mean", "low", "high", "judged", "queries", "without_hits"):
        assert [one[name] for one in found["whole"]] == pytest.approx(
            [None if pd.isna(value) else value for value in expected[name]]
        )
    assert [one["mean"] for one in found["each"][0]] == pytest.approx(
        list(scores[scores["query"] == "lamp"]["value"])
    )
    assert found["each"][2][0]["without_hits"] == 1
    assert found["history"][-1] == [one["mean"] for one in found["whole"]]
    assert "ndcg@10; now: " in editor.snapshot()


def test_the_metric_is_chosen_and_begins_a_new_line(editor: JudgmentEditor) -> None:
    editor.grade("2", 1)
    editor.grade("1", 0)
    assert len(score(editor)["history"]) >= 1

    editor.metric = "p@10"

    assert score(editor)["metric"] == "p@10"
    assert score(editor)["whole"][0]["mean"] == pytest.approx(0.1)
    assert len(score(editor)["history"]) == 1
    with pytest.raises(BadOption, match="`metric` must be one of ndcg@10, p@10"):
        editor.metric = "beauty"


def test_a_blind_rater_sees_the_score_of_the_own_grades_alone(client: Client, shop: str) -> None:
    others = [{"query": "lamp", "objectID": "2", "rating": 3, "rater": "ada"}]
    editor = svc.edit.judgments(shop, judgments=pd.DataFrame(others), client=client, rater="bob")
    assert score(editor)["whole"][0]["mean"] == pytest.approx(1)

    event_loop.run(editor.arrange(True, False))

    assert score(editor)["whole"][0]["mean"] is None


@pytest.mark.slow
def test_judgments_of_records_that_have_changed_are_marked_and_filtered(
    client: Client, shop: str
) -> None:
    first = svc.edit.judgments(shop, ["lamp"], rater="ada", client=client)
    first.grade("1", 3)
    first.grade("2", 1)
    judged = first.frame
    first.close()
    assert judged["record_hash"].str.len().tolist() == [16, 16]
    client.replace_all(
        shop,
        [
            {"objectID": "1", "name": "red lamp", "brand": "Acme", "price": 99, "rating": 3},
            {"objectID": "2", "name": "blue paper lamp", "brand": "Umbra", "price": 20},
        ],
    )

    editor = svc.edit.judgments(shop, judgments=judged, rater="ada", client=client)

    assert editor.state["changed"] == 1
    assert {hit["id"]: hit["changed"] for hit in editor.sheet["hits"]} == {"1": False, "2": True}
    assert editor.questions[0]["changed"] == 1
    event_loop.run(editor.arrange(False, False, True))
    assert [hit["id"] for hit in editor.sheet["hits"]] == ["2"]
    editor.note("2", "now of paper")
    assert editor.sheet["hits"][0]["changed"]
    editor.grade("2", 1)
    assert not editor.sheet["hits"][0]["changed"]
    assert svc.tuning.find_changed(shop, editor.frame, client=client).empty
    editor.close()

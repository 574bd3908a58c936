"""Explanations of the order of hits, and of changes that would swap two hits, on a real index."""

from __future__ import annotations

from typing import Any

import pytest
from pandas import DataFrame

import svc_notebook as svc
from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.criteria import CRITERIA
from svc_notebook.tuning.evaluation.explanation import ALSO, explain


def test_it_has_the_text_of_the_verb(measured: str) -> None:
    run = svc.tuning.run(measured, ["lamp"])

    other = svc.explain(measured, "lamp")
    titles = dict(zip(other["objectID"], other["title"], strict=True))
    titles |= dict(zip(other["next_objectID"], other["next_title"], strict=True))
    own = explain(run, "lamp", titles=titles)

    shared = [name for name in other.columns if name in own.columns]
    assert shared == [*other.columns] == [name for name in own.columns if name in shared]
    assert (
        own[shared].astype(str).to_numpy().tolist() == other[shared].astype(str).to_numpy().tolist()
    )
    assert {"exact", "typo"} & set(own["criterion"]) or "typo" in set(own["criterion"])


def test_the_setting_it_names_swaps_the_two(measured: str) -> None:
    run = svc.tuning.run(measured, ["lamp", "lamp table"])
    why = explain(run, "lamp")
    swaps = why[why["swap"] != ""]
    assert len(swaps)

    for row in swaps.to_dict("records"):
        before = svc.read_settings(measured).set_index("setting")["value"]
        svc.settings(measured, **row["setting"])
        found = svc.search(measured, "lamp")["objectID"].tolist()
        restored: Any = {name: before.get(name) for name in row["setting"]}
        svc.settings(measured, **restored)

        assert found.index(row["next_objectID"]) < found.index(row["objectID"])


def test_the_reason_is_words_beside_titles(measured: str) -> None:
    run = svc.tuning.run(measured, ["lamp"])
    first = str(run.iloc[0]["objectID"])

    why = explain(run, "lamp", titles={first: "The first lamp"})

    assert why.columns[:4].tolist() == ["rank", "reason", "title", "next_title"]
    row: dict[Any, Any] = why.to_dict("records")[0]
    assert row["title"] == "The first lamp"
    assert row["next_title"] == row["next_objectID"]
    assert row["criterion"] != "tie"
    assert f"{row['value']} vs {row['next_value']}" in row["reason"]


def test_promoted_hits_have_no_textual_criteria(measured: str) -> None:
    rule = {
        "objectID": "pin", "conditions": [{"pattern": "lamp", "anchoring": "is"}],
        "consequence": {"promote": [{"objectID": "3", "position": 0},
                                    {"objectID": "5", "position": 1}]},
    }  # fmt: skip
    svc.save_rules(measured, [rule])

    why = explain(svc.tuning.run(measured, ["lamp"]), "lamp")
    verb = svc.explain(measured, "lamp")

    assert why[["objectID", "criterion"]].to_numpy().tolist()[:2] == [
        ["3", "promoted"], ["5", "promoted"],
    ]  # fmt: skip
    assert verb["criterion"].tolist()[:2] == ["promoted", "promoted"]
    assert why["swap"].tolist()[:2] == ["", ""]
    assert why["also"][0] == "the rule that promotes it"


def test_a_run_of_old_is_explained_by_how_it_was_ranked(measured: str) -> None:
    run = svc.tuning.run(measured, ["lamp"])
    first = explain(run, "lamp")

    svc.settings(measured, ranking=["asc(price)"])

    assert explain(run, "lamp").equals(first)


def test_the_weights_of_attributes_are_beside_a_text_score(measured: str) -> None:
    weights = {"name": 3}
    params: Any = {
        "enableReRanking": True, "ranking": ["exact"], "attributeWeights": weights,
        "optionalWords": "lamp",
    }  # fmt: skip
    svc.set_settings(measured, searchableAttributes=["name", "brand"])

    why = explain(svc.tuning.run(measured, ["lamp table"], params), "lamp table")
    stored = explain(svc.tuning.run(measured, ["lamp table"]), "lamp table")

    by_text = why[why["criterion"] == "text"]
    assert by_text["also"].str.endswith('attributeWeights = {"name": 3}').all()
    assert len(by_text)
    assert stored[stored["criterion"] == "text"]["also"].str.endswith("= halving").all()


def test_every_criterion_has_words_for_what_changes_it() -> None:
    assert set(CRITERIA) <= set(ALSO)


RUN = DataFrame({"query": ["lamp", "lamp", "lamp"], "filters": ["", "", "x:1"],
                 "objectID": ["a", "b", "c"]})  # fmt: skip


@pytest.mark.parametrize(
    ("query", "filters", "words"),
    [
        ("lmap", None, "no query 'lmap'; did you mean `lamp`"),
        ("lamp", None, "`filters` of 'lamp' is ambiguous or missing; known: '', 'x:1'"),
        ("lamp", "y:1", "known: none"),
    ],
)
def test_what_the_run_does_not_have_is_refused(query: str, filters: str | None, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        explain(RUN, query, filters=filters)


def test_hits_without_criteria_are_ordered_by_objectid() -> None:
    why = explain(RUN, "lamp", filters="")

    assert why[["objectID", "next_objectID", "criterion"]].to_numpy().tolist() == [
        ["a", "b", "tie"]
    ]


def test_what_is_no_text_is_no_query() -> None:
    query: Any = 5

    with pytest.raises(BadInput, match="the text of a query"):
        explain(RUN, query)

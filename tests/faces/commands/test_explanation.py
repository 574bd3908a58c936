"""The explanation of the order of hits, on a real service."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.explanation import title_of
from svc_notebook.tuning.evaluation.criteria import describe_value, ordinal
from tests.conftest import Running
from tests.faces.commands.conftest import Typed
from tests.looping import loop_over

RECORDS = pd.DataFrame(
    [
        {"objectID": "a", "name": "red lamp", "size": {"width": 9}},
        {"objectID": "b", "name": "red lamp", "size": {"width": 4}},
        {"objectID": "c", "name": "red lamp", "size": {"width": 4}},
        {"objectID": "d", "name": "red old lamp", "size": {"width": 9}},
        {"objectID": "e", "name": "the red lamp", "size": {"width": 9}},
        {"objectID": "f", "name": "red lump", "size": {"width": 9}},
        {"objectID": "g", "name": "red lamps", "size": {"width": 9}},
    ]
)


@pytest.fixture
def index(admin: svc.Client, tmp_path: Path) -> str:
    """An index whose hits differ in one criterion after the other."""
    name = f"explaining-{tmp_path.name}"
    svc.push(RECORDS, name)
    svc.settings(name, searchableAttributes=["name"], customRanking=["desc(size.width)"])
    return name


def told(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """For each hit the next one, the criterion, and both values."""
    return {
        f"{row.objectID}": [
            row.next_objectID,
            row.criterion,
            row.better,
            row.raw_value,
            row.next_raw_value,
        ]
        for row in frame.itertuples()
    }


def test_textual_relevance_is_a_criterion_of_its_own(index: str, admin: svc.Client) -> None:
    svc.push([{"objectID": "h", "name": "red lamp of red glass"}], index)
    svc.push([{"objectID": "i", "name": "red lamp of old glass"}], index)
    asked: Any = {"attributesToRetrieve": ["name"]}

    ties = told(svc.explain(index, "red lamp ", **asked))
    ranked = svc.explain(index, "red lamp ", enableReRanking=True, **asked)

    after, criterion, better, score, next_score = ties["h"]
    assert [after, criterion, better] == ["i", "text", "higher"]
    assert score > next_score
    assert set(ranked["criterion"]) <= {"typo", "text", "desc(size.width)", "tie"}
    assert "text" in set(ranked["criterion"])
    column = svc.search(index, "red lamp ", criteria=True)["textScore"]
    assert column.dtype == "float64"
    assert (column > 0).all()


def test_words_and_meaning_are_a_criterion_of_its_own(index: str) -> None:
    asked: Any = {"mode": "neuralSearch", "attributesToRetrieve": ["name"]}
    while svc.search(index, "lamp glass", criteria=True, **asked)["semanticScore"].isna().any():
        time.sleep(0.05)

    # Vectors are computed again after a merge of segments; until then words decide.
    while "typo" in set((found := svc.explain(index, "red lamp ", **asked))["criterion"]):
        time.sleep(0.05)

    assert set(found["criterion"]) <= {"semantic", "tie", "desc(size.width)"}
    assert found["criterion"][0] == "semantic"
    assert "words and meaning: fused score 0.0" in found["reason"][0]
    assert "similarity" in found["reason"][0]
    assert (found["raw_value"][0] or 0) > (found["next_raw_value"][0] or 0)
    assert "hits" not in found["value"][0]
    moved = svc.explain(
        index, "red lamp ", semanticSearch={"localFeedbackHits": 3, "localWeight": 0.5},
        enableReRanking=True, ranking=["exact", "custom"], **asked,
    )  # fmt: skip
    [first, *_] = moved[moved["criterion"] == "semantic"].to_dict("records")
    assert "to the query and 3 hits" in first["value"]
    assert first["raw_value"] > 0.3


def test_each_hit_differs_from_the_next_in_one_criterion(typed: Typed, index: str) -> None:
    why = told(typed(f"explain {index} red lamp"))

    assert why["a"] == ["b", "desc(size.width)", "higher", 9, 4]
    assert why["b"] == ["c", "tie", "", "b", "c"]
    criteria = {entry[1] for entry in why.values()}
    assert {"typo", "proximity", "exact"} <= criteria
    assert len(why) == len(RECORDS) - 1


def test_value_listed_first_is_first(typed: Typed, index: str) -> None:
    better = {
        "fewer": lambda a, b: a < b, "nearer": lambda a, b: a < b, "earlier": lambda a, b: a < b,
        "more": lambda a, b: a > b, "higher": lambda a, b: a > b, "": lambda a, b: a < b,
    }  # fmt: skip

    for _, _, first, value, other in told(svc.explain(index, "red lamp")).values():
        assert better[first](value, other)


def test_ranks_go_on_from_page_to_page(index: str) -> None:
    second = svc.explain(index, "red lamp", hitsPerPage=3, page=1)

    assert second["rank"].tolist() == [4, 5]


def test_parameters_that_an_explanation_needs_can_be_given(index: str) -> None:
    given = {"attributesToHighlight": ["name"], "attributesToRetrieve": [], "getRankingInfo": False}

    assert svc.explain(index, "lamp", **given).equals(svc.explain(index, "lamp"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "params", [{"filters": {"a": 1}}, {"filters": ["a:1"]}, {"numericFilters": 3}, {"facets": 3}]
)
def test_parameters_of_another_type_are_named(index: str, params: dict[str, Any]) -> None:
    with pytest.raises(BadInput, match=f"`{next(iter(params))}` must be text"):
        svc.why(index, "lamp", **params)


def test_an_order_by_an_attribute_is_named(index: str) -> None:
    svc.settings(index, ranking=["asc(name)", "typo"])

    why = told(svc.explain(index))

    assert ["asc(name)", "lower", "red lamp", "red lamps"] in [entry[1:] for entry in why.values()]


def test_missing_value_is_last(index: str) -> None:
    svc.push(pd.DataFrame([{"objectID": "z", "name": "red lamp"}]), index)

    why = told(svc.explain(index, "red lamp"))

    assert why["c"] == ["z", "desc(size.width)", "higher", 4, None]


def test_strict_typos_come_first(index: str) -> None:
    svc.settings(index, ranking=["custom", "typo"])

    why = told(svc.explain(index, "red lamp", typoTolerance="strict"))

    assert [entry[1] for entry in why.values()].index("typo") >= 0
    assert why["a"][1] != "typo"


def test_promoted_hits_are_explained(index: str) -> None:
    svc.save_rules(
        index, {"objectID": "top", "consequence": {"promote": [{"objectID": "g", "position": 0}]}}
    )

    why = told(svc.explain(index, "red lamp"))

    assert why["g"][1:] == ["promoted", "promoted", True, None]


def test_key_without_settings_right_is_explained_by_default_ranking(
    index: str, service: Running
) -> None:
    svc.connect(url=service.url, app_id=service.appId, api_key=service.searchKey)

    assert told(svc.explain(index, "red lamp"))["a"][1] == "tie"


@pytest.mark.parametrize("query", ["nothing like it", "old"])
def test_one_hit_or_none_has_nothing_to_explain(index: str, query: str) -> None:
    found = svc.explain(index, query)

    assert list(found.columns) == [
        "rank", "reason", "title", "next_title", "criterion", "better", "value", "next_value",
        "objectID", "next_objectID", "raw_value", "next_raw_value",
    ]  # fmt: skip
    assert (len(found), str(found["rank"].dtype)) == (0, "int64")


@pytest.mark.filterwarnings("ignore::svc_notebook.errors.UnknownAttributeWarning")
def test_values_are_described_beside_titles(typed: Typed, index: str) -> None:
    svc.settings(index, searchableAttributes=["brand", "name"], ranking=["attribute", "custom"])

    found = typed(f"explain {index} lamp").set_index("objectID")

    assert found.loc["d", "title"] == "red old lamp"
    [row] = [row for row in found.itertuples() if row.criterion == "attribute"]
    assert (row.value, row.raw_value) == ("2nd word of `name`", 1001)
    assert (row.next_value, row.next_raw_value) == ("3rd word of `name`", 1002)
    assert row.reason == (
        "attribute: 2nd word of `name` vs 3rd word of `name`; "
        "matches in earlier attributes, and at earlier words, rank higher"
    )
    assert (row.title, row.next_title) == ("red lamp", "red old lamp")
    text = repr(found[["criterion", "value", "next_value"]])
    assert "1001" not in text


@pytest.mark.parametrize(
    ("criterion", "value", "info", "words"),
    [
        ("typo", 0, {}, "no typo"),
        ("typo", 1, {}, "1 typo"),
        ("typo", 2, {}, "2 typos"),
        ("words", 1, {}, "1 query word found"),
        ("exact", 0, {}, "no exact word"),
        ("exact", 3, {}, "3 exact words"),
        ("filters", 4, {}, "filter score 4"),
        ("proximity", 0, {"words": 1}, "a single word"),
        ("proximity", 1, {"words": 2}, "words side by side"),
        ("proximity", 3, {"words": 2}, "3 words apart"),
        ("proximity", 9, {"words": 3}, "9 words apart in total"),
        ("geo", 12, {"geoPrecision": 100}, "1,200 m away"),
        ("geo", 12, {"matchedGeoLocation": {"distance": 1234}}, "1,234 m away"),
        ("geo", 12, {}, "distance 12"),
        ("attribute", 0, {}, "1st word of `title`"),
        ("attribute", 10, {}, "11th word of `title`"),
        ("attribute", 1000, {}, "in `brand`"),
        ("attribute", 2000, {}, "in `a` or `b`"),
        ("attribute", 3001, {}, "2nd word of the 4th searchable attribute"),
        ("promoted", True, {}, "pinned by a rule"),
        ("promoted", None, {}, "not pinned"),
        ("desc(size.width)", 427184, {}, "427,184"),
        ("asc(name)", None, {}, "no `name`"),
        ("asc(name)", "x" * 99, {}, "x" * 59 + "…"),
        ("desc(on)", True, {}, "true"),
        ("tie", "a", {}, "equal in every criterion"),
    ],
)
def test_a_criterion_s_value_in_words(
    criterion: str, value: Any, info: dict[str, Any], words: str
) -> None:
    searchable = ["title", "unordered(brand)", "a,b"]

    assert describe_value(criterion, value, {"_rankingInfo": info}, searchable) == words


@loop_over("number", range(1, 130))
def test_an_ordinal_ends_as_it_is_spoken(number: int) -> None:
    spoken = {1: "first", 2: "second", 3: "third", 21: "twenty-first", 112: "hundred-twelfth"}

    assert ordinal(number)[-2:] == spoken.get(number, ordinal(number))[-2:]
    assert ordinal(number).startswith(str(number))


def test_a_hit_is_known_by_its_title_or_its_first_text() -> None:
    assert title_of({"objectID": "1", "size": 3, "Name": "Lamp", "label": "x"}) == "Lamp"
    assert title_of({"objectID": "1", "kind": "desk\n lamp", "_tags": "x"}) == "desk lamp"
    assert title_of({"objectID": "1", "size": 3}) == ""
    assert len(title_of({"title": "x" * 999})) == 60

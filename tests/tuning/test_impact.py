"""The impact of a change, before it is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.tuning.proposed_changes.change_spec import read_proposal
from tests.tuning.shop import RULE, SYNONYM, changes_of, client, hits, shop

__all__ = ["client", "shop"]

PAIR: Any = {"objectID": "pair", "type": "synonym", "synonyms": ["lamp", "sofa"]}
JUDGMENTS = [
    {"query": "lamp", "objectID": "1", "rating": 1},
    {"query": "lamp", "objectID": "2", "rating": 3},
    {"query": "lamp", "objectID": "4", "rating": 0},
    {"query": "table", "objectID": "3", "rating": 3},
]
SALES = {"customRanking": ["desc(sales)"]}


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_settings_are_tried_by_parameters_if_possible(shop: str) -> None:
    before = tuning.snapshot(shop).hash

    found = tuning.impact(shop, SALES, judgments=JUDGMENTS)

    assert found.by == "parameters"
    assert tuning.snapshot(shop).hash == before
    assert changes_of(shop) == []
    row = found.queries.set_index("query").loc["lamp"]
    assert (row["up"], row["down"], row["entered"]) == (1, 1, 0)
    assert row["delta"] > 0
    assert found.touched == 1


def test_parameters_and_a_copy_give_the_same_impact(shop: str) -> None:
    searchable = {"searchableAttributes": ["name", "brand"]}  # as it is: needs a copy, does nothing

    one = tuning.impact(shop, SALES, judgments=JUDGMENTS)
    other = tuning.impact(shop, {**SALES, **searchable}, judgments=JUDGMENTS)

    assert (one.by, other.by) == ("parameters", "scratch copy")
    columns = ["query", "objectID", "rank_before", "rank_after"]
    assert one.moves[columns].equals(other.moves[columns])


def test_synonyms_show_new_unjudged_hits(shop: str, client: Client) -> None:
    found = tuning.impact(shop, PAIR, ["lamp", "sofa", "oak"], JUDGMENTS)

    assert found.by == "scratch copy"
    assert set(found.unjudged["objectID"]) == {"5"} | {"1", "2", "4"}
    assert found.queries.set_index("query")["hits_after"]["sofa"] == 4
    assert "new and unjudged" in repr(found)
    assert not [i for i in client.list_indices()["items"] if i["name"].startswith(f"{shop}_")]
    assert hits(shop, "sofa", client) == ["5"]


def test_without_judgments_hits_are_counted_all_the_same(shop: str) -> None:
    found = tuning.impact(shop, {"synonyms": {"couch": None}}, ["couch", "lamp"])

    assert found.comparison is None
    row = found.queries.set_index("query").loc["couch"]
    assert (row["hits_before"], row["hits_after"], row["left"]) == (1, 0, 1)
    assert "zero results 0 → 1" in repr(found)


def test_an_impact_is_drawn_as_text(shop: str) -> None:
    evil = "<script>"

    drawn = tuning.impact(shop, {"distinct": 1}, [evil, "lamp"])
    other = tuning.impact(shop, {**PAIR, "synonyms": ["lamp", "sofa", evil]}, ["lamp"], JUDGMENTS)

    for html in (drawn._repr_html_(), other._repr_html_()):
        assert evil not in html
    assert "&lt;script&gt;" in other._repr_html_()


def test_applying_saves_what_was_tried_and_can_be_undone(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash
    change = {"settings": SALES, "synonyms": [PAIR], "rules": {"cheap": None}}

    made = tuning.apply(shop, change, note="as tried")

    assert len(made) == 3
    assert hits(shop, "lamp", client)[0] == "5"
    tuning.undo(shop, made.attrs["svc"]["change_id"])
    assert tuning.snapshot(shop).hash == before


@pytest.mark.parametrize(
    ("change", "scopes"),
    [
        ({"hitsPerPage": 3}, {"settings"}),
        ({"attributesToIndex": ["name"]}, {"settings"}),
        (SYNONYM, {"synonyms"}),
        ([SYNONYM, RULE], {"synonyms", "rules"}),
        ({"rules": [RULE], "settings": {"distinct": None}}, {"rules", "settings"}),
        ({"synonyms": {"x": None}}, {"synonyms"}),
    ],
    ids=["settings", "a former name", "a synonym", "a list", "by scope", "gone"],
)
def test_a_change_has_several_forms(change: Any, scopes: set[str]) -> None:
    assert read_proposal(change).keys() == scopes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "the change is empty"),
        ([], "the change is empty"),
        ({"hitPerPage": 3}, "did you mean `hitsPerPage`"),
        ({"hitsPerPage": "x"}, "hitsPerPage"),
        ([1], "not 1"),
        ({"synonyms": [{"objectID": "x"}]}, "type"),
        ({"settings": [1]}, "settings must be a dict"),
    ],
    ids=[
        "nothing",
        "an empty list",
        "a misspelt name",
        "a wrong type",
        "a number",
        "no type",
        "list",
    ],
)
def test_what_is_no_change_is_refused(change: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_proposal(change)


def test_an_impact_wants_queries(shop: str) -> None:
    with pytest.raises(BadInput, match="queries"):
        tuning.impact(shop, SALES)


@pytest.mark.parametrize(
    "params",
    [{"filters": "brnad:Acme"}, {"facetFilters": [["brnad:Acme", "brnad:Umbra"]]},
     {"filters": "price < 5 AND brnad:'a:b'"}],
    ids=str,
)  # fmt: skip
def test_a_rule_that_filters_by_a_non_facet_causes_a_warning(
    shop: str, client: Client, params: dict[str, Any]
) -> None:
    faceted = client.set_settings(shop, {"attributesForFaceting": ["searchable(brand)"]})
    client.wait(faceted, index=shop)
    rule = {
        "objectID": "acme", "conditions": [{"pattern": "lamp", "anchoring": "is"}],
        "consequence": {"params": params},
    }  # fmt: skip

    with pytest.warns(
        UserWarning,
        match="^rule `acme` filters by `brnad`, which is not among attributesForFaceting of "
        rf"{shop}, so that no record matches it; did you mean `brand`",
    ):
        found = tuning.impact(shop, rule, ["lamp"])

    assert found.queries["hits_after"].tolist() == [0]
    right = {**rule, "consequence": {"params": {"filters": "brand:Acme AND price < 500"}}}
    tuning.impact(shop, right, ["lamp"])

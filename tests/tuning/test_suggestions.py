"""Suggested synonyms have evidence, are tried, and are never saved without a request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.tuning.suggestions.synonym_ideas import Idea
from svc_notebook.tuning.suggestions.synonyms import _chosen
from svc_notebook.tuning.variants.trials import halves_of, other_queries
from tests.tuning.shop import client, hits, shop

__all__ = ["client", "shop"]

JUDGMENTS: list[dict[str, Any]] = [
    {"query": "blue settee", "objectID": "5", "rating": 3},
    {"query": "settee", "objectID": "5", "rating": 3},
    {"query": "lantern red", "objectID": "1", "rating": 3},
    {"query": "lantern red", "objectID": "2", "rating": 2},
    {"query": "lantern red", "objectID": "4", "rating": 1},
    {"query": "lantern blue", "objectID": "2", "rating": 3},
    {"query": "lantern blue", "objectID": "4", "rating": 1},
]


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def searches(*rows: tuple[str, str, int]) -> pd.DataFrame:
    return pd.DataFrame([
        {"userToken": user, "query": query, "queryID": f"{user}-{minute}",
         "timestamp": pd.Timestamp("2026-01-01", tz="UTC") + pd.Timedelta(minutes=minute)}
        for user, query, minute in rows
    ])  # fmt: skip


def test_relevant_records_suggest_synonyms(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash

    found = tuning.suggest_synonyms(shop, judgments=JUDGMENTS)

    best = found.iloc[0]
    assert (best["word"], best["synonym"]) == ("lantern", "lamp")
    assert best["delta"] > 0
    assert best["measured"] == 2  # each half of the queries by what the other suggests
    assert (best["zero_before"], best["zero_after"]) == (2, 0)
    assert "3 of 3 records" in best["evidence"]
    assert tuning.snapshot(shop).hash == before
    assert not [i for i in client.list_indices()["items"] if i["name"].startswith(f"{shop}_")]


def test_without_judgments_the_other_words_lead_to_the_records(shop: str) -> None:
    found = tuning.suggest_synonyms(shop, ["umbra lantern", "lamp"])

    [row] = found.to_dict("records")
    assert (row["word"], row["synonym"], row["source"]) == ("lantern", "lamp", "records")
    assert (row["hits_before"], row["hits_after"]) == (0, 2)


def test_a_reformulation_is_evidence(shop: str, client: Client) -> None:
    log = searches(
        ("ann", "settee", 0), ("ann", "sofa", 1), ("bob", "settee", 0), ("bob", "sofa", 2),
        ("eve", "settee", 0), ("eve", "lamp", 60),
    )  # fmt: skip

    found = tuning.suggest_synonyms(shop, searches=log)

    [row] = found.to_dict("records")
    assert (row["word"], row["synonym"], row["support"]) == ("settee", "sofa", 2)
    assert row["source"] == "reformulations"
    assert (row["zero_before"], row["zero_after"]) == (1, 0)
    tuning.apply(shop, row["document"])
    assert hits(shop, "settee", client) == ["5"]


def test_a_clicked_search_is_not_evidence(shop: str) -> None:
    log = searches(("ann", "settee", 0), ("ann", "sofa", 1))
    clicks = pd.DataFrame([{"eventType": "click", "queryID": "ann-0"}])

    assert tuning.suggest_synonyms(shop, searches=log, events=clicks).empty


def test_typing_on_is_no_hint(shop: str) -> None:
    log = searches(("ann", "sof", 0), ("ann", "sofa", 1), ("ann", "sofas", 2))

    assert tuning.suggest_synonyms(shop, searches=log).empty


def test_suggestions_need_queries_judgments_or_searches(shop: str) -> None:
    with pytest.raises(BadInput, match="pass `queries`, `judgments` or `searches`"):
        tuning.suggest_synonyms(shop)
    with pytest.raises(BadInput, match="userToken"):
        tuning.suggest_synonyms(shop, searches=pd.DataFrame({"query": ["x"]}))


def test_what_every_record_says_is_no_synonym(client: Client) -> None:
    words = ["sofa", "sofa", "sofa", "lamp", "table", "desk", "chair", "bed"]
    records = [
        {"objectID": f"{n}", "name": f"{word} from our shop", "image": f"https://a.com/{word}_one"}
        for n, word in enumerate(words)
    ]
    client.replace_all("pictured", records)
    judged = [{"query": "settee", "objectID": f"{n}", "rating": 3} for n in range(3)]

    found = tuning.suggest_synonyms("pictured", judgments=judged)

    assert found["synonym"].tolist() == ["sofa"]


LAPTOPS: list[dict[str, Any]] = [
    {"objectID": f"{word}-{n}", "name": f"{brand} {word} {13 + n} inch"}
    for word in ("laptop", "notebook", "tablet", "monitor", "cable", "mouse", "printer", "camera")
    for n, brand in enumerate(("acme", "umbra", "delta", "omega", "sigma"))
]


def laptop_judgments(*queries: str) -> list[dict[str, Any]]:
    return [
        {"query": query, "objectID": each["objectID"],
         "rating": 3 * each["objectID"].startswith(("laptop", "notebook"))}
        for query in queries for each in LAPTOPS
    ]  # fmt: skip


@pytest.fixture
def electronics(client: Client) -> str:
    client.replace_all("electronics", LAPTOPS)
    return "electronics"


def test_a_synonym_of_a_word_that_occurs_is_found_from_judgments(electronics: str) -> None:
    judged = laptop_judgments("laptop", "laptop inch", "inch laptop", "laptops")

    found = tuning.suggest_synonyms(electronics, judgments=judged)

    row = found[found["word"] == "laptop"].iloc[0]
    assert row["synonym"] == "notebook"
    assert "'laptop'" in row["evidence"]
    assert row["measured"] >= 2
    assert row["low"] > 0
    assert row["after"] == pytest.approx(1)
    assert set(found["synonym"]) == {"notebook"}


def test_no_query_measures_what_its_own_judgments_suggest(electronics: str) -> None:
    judged = laptop_judgments("laptop")

    [row] = tuning.suggest_synonyms(electronics, judgments=judged).to_dict("records")

    assert (row["word"], row["synonym"], row["measured"]) == ("laptop", "notebook", 0)
    assert pd.isna(row["delta"])
    assert pd.isna(row["low"])


def test_other_queries_measure_a_suggestion() -> None:
    words = [f"laptop {n}" for n in range(7)]
    halves = halves_of(words)

    one = next(each for each in words if halves[each] == 0)
    other = next(each for each in words if halves[each] == 1)

    assert other_queries(words, {one}) == {each for each in words if halves[each] == 1}
    assert other_queries(words, {one, other}) == set(words)
    assert other_queries(words, {"lamp"}) == set()
    assert other_queries([one], {one}) == set()


def test_a_synonym_is_found_in_few_records(client: Client) -> None:
    client.replace_all("few", [*LAPTOPS[:10], *LAPTOPS[-8:]])
    judged = laptop_judgments("laptop", "laptop inch", "inch laptop", "laptops")

    found = tuning.suggest_synonyms("few", judgments=judged)

    assert found["proposed"][0]
    assert (found["word"][0], found["synonym"][0]) == ("laptop", "notebook")


def test_one_query_of_several_words_suggests_nothing_for_a_word_that_occurs() -> None:
    def idea(synonym: str, support: int, *queries: str, contrast: bool = True) -> Idea:
        return Idea("usb", synonym, "records", support, "", frozenset(queries), contrast)

    several = ("usb cup warmer", "usb heater")

    assert _chosen([idea("warmer", 9, "usb coffee heater")], 5) == []
    assert _chosen([idea("warmer", 2, "usb")], 5)
    assert _chosen([idea("warmer", 9, "usb coffee heater", contrast=False)], 5)
    assert len(_chosen([idea("warmer", 3, *several), idea("serial", 2, *several)], 5)) == 1
    best = _chosen([idea("warmer", 2, "usb"), idea("serial", 3, "usb", "usb x cable")], 5)
    assert [each.synonym for each in best] == ["serial"]


@pytest.mark.slow
def test_suggestions_without_a_measured_gain_come_last(electronics: str) -> None:
    more = [{"query": "tablets", "objectID": f"camera-{n}", "rating": 3} for n in range(5)]
    judged = [*laptop_judgments("laptop", "laptop inch", "inch laptop", "laptops"), *more]

    found = tuning.suggest_synonyms(electronics, judgments=judged)

    assert found["proposed"].dtype == bool
    assert found["proposed"].tolist() == sorted(found["proposed"], reverse=True)
    assert {"tablets", "laptops"} == set(found.loc[~found["proposed"], "word"])
    assert found.loc[~found["proposed"], "delta"].isna().all()
    assert found.loc[found["proposed"], "word"].tolist() == ["laptop"]

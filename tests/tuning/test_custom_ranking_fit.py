"""A custom ranking is fitted on some queries, and measured on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.tuning.suggestions.custom_ranking_fit import RIDGE_STRENGTH, fit_sum
from svc_notebook.tuning.tables.tables import check_judgments
from tests.tuning.shop import client

__all__ = ["client"]

THINGS = [f"thing{n:02}" for n in range(24)]
RNG = np.random.default_rng(5)
RECORDS: list[dict[str, Any]] = [
    {"objectID": f"{thing}-{n}", "name": thing, "sales": int(np.exp(RNG.normal(5, 2))),
     "stars": float(np.round(RNG.uniform(1, 5), 1)), "noise": float(RNG.normal())}
    for thing in THINGS for n in range(8)
]  # fmt: skip


def rated(*, by_sum: bool) -> list[dict[str, Any]]:
    """Grades by the sales alone, or by sales and stars together."""
    worth = {
        each["objectID"]: np.log1p(each["sales"]) / 2 + (each["stars"] if by_sum else 0)
        for each in RECORDS
    }
    rows = []
    for thing in THINGS:
        own = [each["objectID"] for each in RECORDS if each["name"] == thing]
        order = sorted(own, key=lambda each: worth[each])
        rows += [
            {"query": thing, "objectID": each, "rating": place // 2}
            for place, each in enumerate(order)
        ]
    return rows


@pytest.fixture
def things(client: Client) -> str:
    client.replace_all("things", RECORDS)
    client.wait(client.set_settings("things", {"searchableAttributes": ["name"]}), index="things")
    return "things"


@pytest.mark.slow
def test_the_planted_attribute_is_found(things: str) -> None:
    before = tuning.snapshot(things).hash

    fitted = tuning.fit_custom_ranking(things, rated(by_sum=False), attributes=["sales", "noise"])

    assert fitted.ranking[0] == "desc(sales)"
    assert fitted.attributes["concordance"][0] == 1
    assert fitted.test()["after"][0] == pytest.approx(1, abs=0.01)
    assert fitted.test()["low"][0] > 0
    assert "sales 100.0%" in repr(fitted)
    assert tuning.snapshot(things).hash == before
    tuning.apply(things, fitted.change)
    assert tuning.measure(things, rated(by_sum=False))["mean"][0] == pytest.approx(1, abs=0.01)


@pytest.mark.slow
def test_a_planted_sum_is_better_than_each_attribute(things: str, client: Client) -> None:
    judged = rated(by_sum=True)

    fitted = tuning.fit_custom_ranking(things, judged, seed=1)

    assert fitted.ranking == ["desc(ranking_score)"]
    assert fitted.test()["after"][0] > 0.97
    assert "log(1 + sales)" in fitted.formula
    assert not [i for i in client.list_indices()["items"] if i["name"].startswith("things_")]
    svc.push(fitted.values, things, id="objectID", action="update", progress=False)
    tuning.apply(things, fitted.change)
    assert fitted.holdout
    held = fitted.holdout.scores["query"].tolist()
    after = tuning.measure(things, judged, queries=held)
    assert after["mean"][0] == pytest.approx(fitted.test()["after"][0])
    assert "push it first" in fitted._repr_html_()


@pytest.mark.slow
def test_the_held_out_queries_change_nothing_of_the_fit(things: str) -> None:
    judged = rated(by_sum=True)
    queries = [
        {"query": thing, "split": "holdout" if n < 8 else "tune"} for n, thing in enumerate(THINGS)
    ]
    turned = [
        {**row, "rating": 3 - row["rating"]} if row["query"] in THINGS[:8] else row
        for row in judged
    ]

    one = tuning.fit_custom_ranking(things, judged, queries)
    other = tuning.fit_custom_ranking(things, turned, queries)

    assert one.formula == other.formula
    assert one.trace.equals(other.trace)
    assert one.test()["delta"][0] > 0 > other.test()["delta"][0]


@pytest.mark.slow
def test_weights_minimize_the_loss() -> None:
    from scipy.optimize import minimize

    judged = check_judgments(rated(by_sum=True))
    numbers = {each["objectID"]: {k: v for k, v in each.items() if k in ("sales", "stars")}
               for each in RECORDS}  # fmt: skip

    fitted = fit_sum(judged, numbers, ["sales", "stars"])

    scaled = {
        each.name: dict(zip(numbers, each.scaled(
            np.array([own[each.name] for own in numbers.values()])), strict=True))
        for each in fitted.attributes
    }  # fmt: skip

    def loss(weights: Any) -> float:
        parts = []
        for _, part in judged.groupby("query"):
            own = [
                sum(w * (scaled[name][one] - scaled[name][other])
                    for w, name in zip(weights, ("sales", "stars"), strict=True))
                for one, grade in zip(part["objectID"], part["rating"], strict=True)
                for other, lower in zip(part["objectID"], part["rating"], strict=True)
                if grade > lower
            ]  # fmt: skip
            parts.append(np.logaddexp(0, -np.array(own)).mean())
        return float(np.mean(parts) + RIDGE_STRENGTH / 2 * (weights**2).sum())

    best = minimize(loss, [0.0, 0.0], tol=1e-10).x
    assert [each.weight for each in fitted.attributes] == pytest.approx(best, rel=1e-3)


@pytest.mark.slow
def test_nothing_better_is_said(things: str) -> None:
    even = [{**row, "rating": 1} for row in rated(by_sum=True)]
    with pytest.raises(BadInput, match="no numeric attribute"):
        tuning.fit_custom_ranking(things, even)
    with pytest.raises(BadInput, match="did you mean `sales`"):
        tuning.fit_custom_ranking(things, rated(by_sum=True), attributes=["sale"])
    with pytest.raises(BadInput, match="a list of names"):
        tuning.fit_custom_ranking(things, rated(by_sum=True), attributes="sales")
    with pytest.raises(BadInput, match="give another `name`"):
        tuning.fit_custom_ranking(things, rated(by_sum=True), name="sales")

    tuning.apply(things, {"customRanking": ["desc(sales)"]})
    fitted = tuning.fit_custom_ranking(things, rated(by_sum=False), attributes=["noise"])

    assert fitted.ranking == []
    assert fitted.change == {}
    assert "no custom ranking was better" in repr(fitted)
    with pytest.raises(BadInput, match="nothing was held out"):
        fitted.test()


def test_missing_numbers_count_as_the_mean() -> None:
    judged = check_judgments(pd.DataFrame(rated(by_sum=True)))
    numbers: dict[str, dict[str, float]] = {
        each["objectID"]: {"stars": each["stars"]} for each in RECORDS
    }

    fitted = fit_sum(judged, numbers, ["stars"])

    assert fitted.score([{}]).tolist() == [0]

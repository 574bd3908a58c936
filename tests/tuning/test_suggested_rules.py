"""Rules are suggested from judgments and clicks, and measured by others."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from svc_notebook import tuning
from svc_notebook.data.client import Client
from tests.tuning.shop import client, hits, shop

__all__ = ["client", "shop"]

BRANDS = ("Acme", "Umbra")
RECORDS: list[dict[str, Any]] = [
    {"objectID": f"{thing}-{brand}-{n}".lower(), "name": f"{thing} {color}", "brand": brand}
    for thing in ("lamp", "sofa")
    for brand in BRANDS
    for n, color in enumerate(("red", "blue", "green", "black"))
]


def rated(*queries: str) -> list[dict[str, Any]]:
    """For lamps, Umbra is relevant; for sofas, every brand is."""
    return [
        {"query": query, "objectID": each["objectID"],
         "rating": 2 * (each["brand"] == "Umbra" or "sofa" in query)}
        for query in queries for each in RECORDS
        if set(query.split()) <= set(each["name"].split())
    ]  # fmt: skip


@pytest.fixture
def brands(client: Client) -> str:
    client.replace_all("branded", RECORDS)
    settings: Any = {"searchableAttributes": ["name"], "attributesForFaceting": ["brand"]}
    client.wait(client.set_settings("branded", settings), index="branded")
    return "branded"


def test_a_planted_preference_becomes_a_boost(brands: str) -> None:
    judged = rated("lamp", "red lamp", "blue lamp", "lamp green", "sofa", "red sofa", "blue sofa")
    before = tuning.snapshot(brands).hash

    found = tuning.suggest_rules(brands, judged)

    boost = found[found["kind"] == "boost"].iloc[0]
    assert (boost["pattern"], boost["target"]) == ("lamp", "brand:Umbra")
    assert boost["measured"] == 4
    assert boost["low"] > 0
    assert boost["after"] == pytest.approx(1)
    assert "sofa" not in set(found["pattern"])
    assert tuning.snapshot(brands).hash == before


def test_a_pin_is_measured_by_other_judgments_only(shop: str, client: Client) -> None:
    [first, *_] = hits(shop, "lamp", client)
    best = "4"
    assert first != best
    judged = [{"query": "lamp", "objectID": best, "rating": 3}]
    others = [{"query": "lamp", "objectID": each, "rating": int(each == best)} for each in "124"]

    [row] = tuning.suggest_rules(shop, judged).to_dict("records")
    [checked] = tuning.suggest_rules(shop, judged, check=others).to_dict("records")

    assert (row["kind"], row["pattern"], row["target"]) == ("pin", "lamp", best)
    assert (row["measured"], checked["measured"]) == (0, 1)
    assert pd.isna(row["delta"])
    assert checked["delta"] > 0
    tuning.apply(shop, row["document"])
    assert hits(shop, "lamp", client)[0] == best


def test_clicks_support_a_pin(shop: str) -> None:
    shown = pd.DataFrame({
        "query": "lamp", "objectID": ["1", "2", "4"], "position": [1, 2, 3],
        "clicks": [5, 1, 60], "impressions": 100,
    })  # fmt: skip
    judged = tuning.clicks.judgments(shown, model="ctr", grades=3)

    [row] = tuning.suggest_rules(shop, judged).to_dict("records")

    assert (row["target"], row["support"]) == ("4", 60)


def test_what_is_right_already_needs_no_rule(shop: str, client: Client) -> None:
    first = hits(shop, "lamp", client)[0]

    found = tuning.suggest_rules(shop, [{"query": "lamp", "objectID": first, "rating": 3}])

    assert found.empty
    assert {"kind", "delta", "document"} <= set(found.columns)

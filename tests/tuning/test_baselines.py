"""The baseline is BM25 by its formula, over the records of the index."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from tests.tuning.shop import PRODUCTS, client, shop

__all__ = ["client", "shop"]


def bm25(query: str, texts: dict[str, str], k1: float, b: float) -> dict[str, float]:
    """Compute the scores of Lucene's BM25 by the formula, without a library."""
    words = {key: re.findall(r"\w\w+", text.lower()) for key, text in texts.items()}
    mean = sum(map(len, words.values())) / len(words)
    scores = {}
    for key, own in words.items():
        counts, total = Counter(own), 0.0
        for word in query.split():
            n = sum(word in each for each in words.values())
            idf = math.log(1 + (len(words) - n + 0.5) / (n + 0.5))
            norm = k1 * (1 - b + b * len(own) / mean)
            total += idf * counts[word] / (counts[word] + norm)
        scores[key] = total
    return {key: score for key, score in scores.items() if score > 0}


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.5, 0.0), (2.0, 1.0)])
def test_scores_are_those_of_the_formula(shop: str, k1: float, b: float) -> None:
    texts = {each["objectID"]: f"{each['name']} {each['brand']}" for each in PRODUCTS}

    found = tuning.baseline(shop, queries=["blue lamp", "umbra"], k1=k1, b=b, stemmer=None)

    for query, rows in found.groupby("query"):
        expected = bm25(str(query), texts, k1, b)
        assert dict(zip(rows["objectID"], rows["score"], strict=True)) == pytest.approx(expected)
        assert rows["score"].is_monotonic_decreasing
        assert set(rows["nbHits"]) == {len(expected)}


def test_attributes_and_filters_count(shop: str, client: Client) -> None:
    client.wait(
        client.set_settings(shop, {"attributesForFaceting": ["brand"]}), index=shop
    )  # fmt: skip
    queries = [{"query": "lamp", "filters": "brand:Umbra"}, {"query": "umbra"}]

    found = tuning.baseline(shop, queries=queries, attributes=["name"])

    assert set(found[found["query"] == "lamp"]["objectID"]) == {"2", "4"}
    [row] = found[found["query"] == "umbra"].to_dict("records")
    assert row["nbHits"] == 0  # the brand is not searched
    heavy = tuning.baseline(shop, queries=["umbra"], attributes={"name": 1, "brand": 5})
    assert set(heavy["objectID"]) == {"2", "4"}
    assert heavy.attrs["svc"]["attributes"] == {"name": 1, "brand": 5}


def test_stems_and_equal_scores(client: Client) -> None:
    records = [{"objectID": each, "name": "lamps and tables"} for each in ("b", "c", "a")]
    client.replace_all("stemmed", records)

    found = tuning.baseline("stemmed", queries=["lamp table", "zebra", "the"])

    assert found[found["query"] == "lamp table"]["objectID"].tolist() == ["a", "b", "c"]
    assert found[found["query"] != "lamp table"]["nbHits"].tolist() == [0, 0]
    whole = tuning.baseline("stemmed", queries=["lamp"], stemmer=None)
    assert whole["nbHits"].tolist() == [0]


def test_a_baseline_is_compared_like_any_run(shop: str) -> None:
    judged = [{"query": "lamp", "objectID": "4", "rating": 1}]

    compared = tuning.compare(
        tuning.run(shop, judged, name="index"), tuning.baseline(shop, judged), judged
    )

    assert compared.variants == ("bm25",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass `judgments` or `queries`"),
        ({"queries": ["x"], "k": 0}, "`k` is from 1"),
        ({"queries": ["x"], "b": 2}, "`b` from 0 to 1"),
        ({"queries": ["x"], "method": "lucen"}, "did you mean `lucene`"),
        ({"queries": ["x"], "stemmer": "englisch"}, "did you mean `english`"),
        ({"queries": ["x"], "attributes": "name"}, "a list or a dict"),
        ({"queries": ["x"], "attributes": {"name": 0}}, "from 1 to 20"),
        ({"queries": ["x"], "attributes": ["nmae"]}, "no record of .* has a text `nmae`"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_invalid_options_are_refused(shop: str, options: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        tuning.baseline(shop, **options)


def test_a_missing_library_is_named(shop: str, without_package: Callable[..., None]) -> None:
    without_package("bm25s")

    with pytest.raises(BadInput, match=r"pip install .svc-notebook\[tuning\]"):
        tuning.baseline(shop, queries=["x"])

"""A function rates pairs in batches, within a cost, once each, and is compared with people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from tests.tuning.shop import PRODUCTS, client, shop

__all__ = ["client", "shop"]

PAIRS = [{"query": "lamp", "objectID": each["objectID"]} for each in PRODUCTS]


class Judge:
    """A judge that knows lamps, and keeps the batches that it was given."""

    def __init__(self) -> None:
        self.batches: list[list[dict[str, Any]]] = []

    def __call__(self, batch: Sequence[Any]) -> list[float | None]:
        self.batches.append([dict(pair) for pair in batch])
        return [
            None if pair["objectID"] == "5" else 3.0 * ("lamp" in pair["record"]["name"])
            for pair in batch
        ]


def test_pairs_are_rated_in_batches(shop: str) -> None:
    judge = Judge()

    judged = tuning.rate(shop, PAIRS, judge, batch=2, attributes=["name"], rater="model-1")

    assert [len(each) for each in judge.batches] == [2, 2, 1]
    assert judge.batches[0][0]["record"] == {"name": "red lamp"}
    assert judged["rating"].fillna(-1).tolist() == [3, 3, 0, 3, -1]
    assert judged["unrateable"].tolist() == [False] * 4 + [True]
    assert set(judged["rater"]) == {"model-1"}
    assert judged.attrs["svc"]["asked"] == 5


def test_a_coroutine_rates_a_run(shop: str) -> None:
    async def judge(batch: Sequence[Any]) -> list[float | None]:
        return [1.0 for _ in batch]

    found = tuning.run(shop, ["lamp", "zebra"])

    judged = tuning.rate(shop, found, judge)

    assert set(judged["objectID"]) == set(found["objectID"].dropna())


def test_no_pair_is_rated_twice(shop: str, client: Client, tmp_path: Path) -> None:
    cache, first, again = tmp_path / "ratings.jsonl", Judge(), Judge()
    whole = tuning.rate(shop, PAIRS, first, cache=cache)
    with cache.open("a") as file:
        file.write('{"key": "to')  # a process that was killed

    same = tuning.rate(shop, PAIRS, again, cache=cache)

    assert again.batches == []
    assert same["rating"].equals(whole["rating"])
    assert same.attrs["svc"]["cached"] == 5
    client.wait(
        client.partial_update_object(shop, "1", {"name": "red vase"}), index=shop
    )  # fmt: skip
    changed = tuning.rate(shop, PAIRS, again, cache=cache)
    assert [pair["objectID"] for pair in again.batches[0]] == ["1"]
    assert changed["rating"][0] == 0
    assert tuning.rate(shop, PAIRS, again, cache=cache).attrs["svc"]["cached"] == 5
    tuning.rate(shop, PAIRS, again, cache=cache, rater="other")
    assert len(again.batches[-1]) == 5


def test_a_stopped_call_resumes(shop: str, tmp_path: Path) -> None:
    cache, judge = tmp_path / "ratings.jsonl", Judge()

    def fail_later(batch: Sequence[Any]) -> list[float | None]:
        if judge.batches:
            raise RuntimeError("the model is gone")
        return judge(batch)

    with pytest.raises(RuntimeError, match="the model is gone"):
        tuning.rate(shop, PAIRS, fail_later, cache=cache, batch=2)
    tuning.rate(shop, PAIRS, judge, cache=cache, batch=5)

    assert [len(each) for each in judge.batches] == [2, 3]
    assert len([json.loads(line) for line in cache.read_text().splitlines()]) == 5


def test_the_cost_is_estimated_and_limited(shop: str) -> None:
    judge = Judge()

    planned = tuning.rate(shop, PAIRS, judge, cost=0.5, dry_run=True)
    by_text = tuning.rate(
        shop, PAIRS, judge, cost=lambda batch: sum(len(p["record"]["name"]) for p in batch),
        batch=2, dry_run=True,
    )  # fmt: skip

    assert planned.to_dict("records") == [
        {"pairs": 5, "cached": 0, "asked": 5, "missing": 0, "batches": 1, "cost": 2.5}
    ]
    assert by_text["batches"].tolist() == [3]
    assert planned.attrs["svc"]["cost"] == 2.5
    assert by_text.attrs["svc"]["cost"] == sum(len(each["name"]) for each in PRODUCTS)
    with pytest.raises(BadInput, match=r"rating 5 pairs would cost 2.5, more than max_cost=2"):
        tuning.rate(shop, PAIRS, judge, cost=0.5, max_cost=2)
    assert judge.batches == []


def test_the_agreement_with_people_is_measured(shop: str) -> None:
    human = [{**pair, "rating": 3 * (n in (0, 1, 2)), "rater": "ann"}
             for n, pair in enumerate(PAIRS[:4])]  # fmt: skip

    judged = tuning.rate(shop, PAIRS, Judge(), human=human)

    measures = judged.attrs["svc"]["agreement"].set_index("measure")
    assert measures.loc["equal ratings", "value"] == 0.5
    assert measures.loc["equal ratings", "hits"] == 4
    other = [{"query": "sofa", "objectID": "5", "rating": 1}]
    assert tuning.rate(shop, PAIRS, Judge(), human=other).attrs["svc"]["agreement"] is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"judge": lambda batch: [1]}, "returned 1 ratings for 5 pairs"),
        ({"judge": lambda batch: "11111"}, "returned"),
        ({"judge": lambda batch: ["good"] * 5}, "rated '1' for 'lamp' with 'good'"),
        ({"judge": lambda batch: [-1] * 5}, "a rating is a number from 0"),
        ({"judge": 7}, "`judge` is a function"),
        ({"batch": 0}, "`batch` is from 1"),
        ({"pairs": [{"query": "lamp"}]}, "need a column `objectID`"),
    ],
    ids=["few", "text", "word", "negative", "no function", "batch", "pairs"],
)
def test_what_is_no_rating_is_refused(shop: str, options: Any, message: str) -> None:
    given = {"pairs": PAIRS, "judge": Judge(), **options}

    with pytest.raises(BadInput, match=message):
        tuning.rate(shop, **given)


def test_records_that_are_gone_are_counted(shop: str) -> None:
    judged = tuning.rate(shop, [*PAIRS, {"query": "lamp", "objectID": "gone"}], Judge())

    assert judged.attrs["svc"]["missing"] == 1

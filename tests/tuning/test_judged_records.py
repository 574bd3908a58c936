"""Judgments beside their records: values of records, and records that have changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import svc_notebook as svc
from svc_notebook.errors import BadInput


def rate_all(pairs: Any) -> list[float]:
    return [1.0] * len(pairs)


def test_the_value_of_a_search_is_the_discounted_sum_of_rating_times_value(measured: str) -> None:
    run = svc.tuning.run(measured, ["lamp"])
    ids = run["objectID"].tolist()
    judged = [{"query": "lamp", "objectID": name, "rating": 0.5} for name in ids]

    valued = svc.tuning.add_values(measured, judged, "sold")
    scores = svc.tuning.evaluate(run, valued, ["value@2", "ndcg@10"])

    sold = svc.search(measured, "lamp").set_index("objectID")["sold"]
    expected = 0.5 * (sold[ids[0]] + sold[ids[1]] / np.log2(3))
    assert scores["metric"].tolist() == ["value@2", "ndcg@10"]
    assert scores["value"][0] == pytest.approx(expected)
    assert scores["value"][1] == pytest.approx(1)
    assert "rating times value" in scores["definition"][0]
    base = svc.tuning.compare(run, svc.tuning.run(measured, ["lamp"], {"typoTolerance": False},
                                                  name="strict"), valued, "value@2")  # fmt: skip
    assert base.test()["before"][0] == pytest.approx(expected)


def test_the_value_needs_numbers(measured: str) -> None:
    judged = [{"query": "lamp", "objectID": "1", "rating": 1}]
    run = svc.tuning.run(measured, ["lamp"])

    with pytest.raises(BadInput, match="needs a column `value`"):
        svc.tuning.evaluate(run, judged, "value@10")
    with pytest.raises(BadInput, match=r"number in `solt`.*sold"):
        svc.tuning.add_values(measured, judged, "solt")
    with pytest.raises(BadInput, match="0 or more"):
        svc.tuning.evaluate(run, [{**judged[0], "value": -1}], "value@10")


def test_judgments_of_changed_records_are_found_to_be_judged_again(measured: str) -> None:
    run = svc.tuning.run(measured, ["lamp"])
    judged = svc.tuning.rate(measured, run, rate_all)
    first, second = judged["objectID"].tolist()[:2]
    without: Any = judged.drop(columns="record_hash")

    svc.push([{"objectID": first, "name": "lamp of brass"}], measured, action="update")
    svc.push([{"objectID": second, "sold": 77}], measured, action="update")
    changed = svc.tuning.find_changed(measured, judged)
    again = svc.tuning.rate(measured, changed, rate_all)

    assert changed["objectID"].tolist() == [first]
    assert svc.tuning.find_changed(measured, again).empty
    assert svc.tuning.find_changed(measured, without).attrs["svc"]["unknown"] == len(judged)

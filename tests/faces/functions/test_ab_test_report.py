"""A/B tests are started, read and stopped by functions; the report says what the figures say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.frames.schemas import AB_TESTS
from svc_notebook.errors import BadInput, NotFound, Refused
from svc_notebook.faces.functions.ab_test_report import COLUMNS, build_report
from tests.conftest import Running
from tests.data.frames.schemas import with_text_dtype

SEARCHES = (2000, 1000)
CLICKED = (500, 310)
CREATED, ENDS = "2026-01-01T00:00:00Z", "2099-01-08T00:00:00Z"


def variant(searches: int, clicked: int, **more: Any) -> dict[str, Any]:
    counts = {
        "searchCount": searches, "trackedSearchCount": searches, "userCount": searches // 4,
        "trackedUserCount": searches // 4, "noResultCount": 0, "clickCount": clicked,
        "conversionCount": 0, "addToCartCount": 0, "purchaseCount": 0,
    }  # fmt: skip
    rates = {"clickThroughRate": clicked / searches if searches else None}
    names = ("conversionRate", "addToCartRate", "purchaseRate", "averageClickPosition")
    return {"index": "x", "trafficPercentage": 50, **counts, **dict.fromkeys(names), **rates} | more


def describe(*variants: dict[str, Any], **more: Any) -> Any:
    return {
        "abTestID": 3, "name": "cheap first", "status": "active", "createdAt": CREATED,
        "endAt": ENDS, "stoppedAt": None, "variants": list(variants), **more,
    }  # fmt: skip


def pooled_p(searches: tuple[int, ...], clicked: tuple[int, ...]) -> float:
    from scipy import stats

    rates = [c / n for c, n in zip(clicked, searches, strict=True)]
    error = math.sqrt(sum(r * (1 - r) / n for r, n in zip(rates, searches, strict=True)))
    return float(2 * stats.norm.sf(abs(rates[1] - rates[0]) / error))


@pytest.mark.slow
def test_intervals_agree_with_the_p_value_of_the_service() -> None:
    parts = [variant(n, c) for n, c in zip(SEARCHES, CLICKED, strict=True)]
    p = pooled_p(SEARCHES, CLICKED)

    row = build_report(describe(*parts, clickSignificance=1 - p)).metrics.iloc[0]

    assert row["p"] == pytest.approx(p)
    for name, n, c in zip(("control", "variant"), SEARCHES, CLICKED, strict=True):
        reach = 1.96 * math.sqrt(c / n * (1 - c / n) / n)
        limits = [row[f"{name}_low"], row[name], row[f"{name}_high"]]
        assert limits == pytest.approx([c / n - reach, c / n, c / n + reach], abs=1e-5)
    assert row["change"] == pytest.approx(0.24)
    # Searches of a user resemble each other: at p = 5 % the interval ends at 0.
    wider = build_report(describe(*parts, clickSignificance=0.95)).metrics.iloc[0]
    assert wider["change_low"] == pytest.approx(0, abs=1e-9)
    assert wider["control_high"] - wider["control_low"] > 1.5 * (
        row["control_high"] - row["control_low"]
    )


def test_revenue_is_compared_per_search() -> None:
    amounts = [np.array([10.0] * 40 + [30.0] * 20), np.array([10.0] * 20 + [30.0] * 25)]
    parts = []
    for n, c, paid in zip(SEARCHES, CLICKED, amounts, strict=True):
        entry = {
            "currency": "EUR", "revenue": paid.sum() + 50, "mean": paid.mean(),
            "standardDeviation": paid.std(), "winsorizedAmount": 50.0,
        }  # fmt: skip
        parts.append(variant(n, c, currencies={"EUR": entry}))

    metrics = build_report(describe(*parts)).metrics.set_index("metric")

    row = metrics.loc["revenue EUR"]
    for name, n, paid in zip(("control", "variant"), SEARCHES, amounts, strict=True):
        searches = np.concatenate([paid, np.zeros(n - len(paid))])
        reach = 1.96 * searches.std() / math.sqrt(n)
        assert row[name] == pytest.approx(searches.mean())
        assert row[f"{name}_high"] == pytest.approx(searches.mean() + reach, abs=1e-5)
    assert not row["significant"]
    assert metrics["p"].isna().all()


def test_the_verdict_names_what_is_certain() -> None:
    parts = [variant(n, c) for n, c in zip(SEARCHES, CLICKED, strict=True)]

    certain = build_report(describe(*parts, clickSignificance=0.9999))
    unsure = build_report(describe(*parts, clickSignificance=0.9))
    one_of_two = build_report(describe(*parts, clickSignificance=0.96, conversionSignificance=0.5))

    assert certain.verdict == "The variant has a higher clickThroughRate (+24.0%, p = 0.0001)"
    assert unsure.verdict == "No difference is certain after 3,000 searches"
    assert one_of_two.verdict == unsure.verdict
    assert "decide at its end" in certain.outlook
    assert {str(k): str(v) for k, v in certain.metrics.dtypes.items()} == with_text_dtype(COLUMNS)
    assert certain.variants["trackedSearchCount"].tolist() == [*SEARCHES]


def test_the_report_says_how_long_a_test_still_has_to_run() -> None:
    parts = [variant(1000, 100, estimatedSampleSize=4000) for _ in range(2)]
    created = (pd.Timestamp.now("UTC") - pd.Timedelta("10D")).isoformat()
    ends = (pd.Timestamp.now("UTC") + pd.Timedelta("3.5D")).isoformat()

    report = build_report(describe(*parts, createdAt=created, endAt=ends))
    stopped = build_report(describe(*parts, status="stopped"))
    empty = build_report(describe(variant(0, 0), variant(0, 0)))

    assert (report.days_left, report.searches_left) == (4, 6000)
    assert report.outlook == (
        "It runs 4 more days; the configured effect needs 6,000 more searches, about 30 days at "
        "the present rate"
    )
    assert (stopped.days_left, stopped.outlook) == (0, "The test is stopped")
    assert empty.verdict.startswith("Nothing can be compared yet")
    assert empty.metrics.empty
    assert "cheap first" in repr(empty)


@pytest.mark.slow
def test_a_test_is_started_read_and_stopped(service: Running) -> None:
    with svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey) as client:
        for index in ("tested", "tested-cheap"):
            lamps = pd.DataFrame({"objectID": ["1", "2"], "title": ["lamp", "lamp"]})
            svc.push(lamps, index, client=client, progress=False)

        started = svc.add_ab_test(
            "tested", "tested-cheap", traffic=30, days=2, metric="purchaseRate", effect=0.1,
            client=client,
        )  # fmt: skip
        assert started == {"id": started["id"], "index": "tested", "done": "started"}
        for number in range(40):
            svc.search("tested", "lamp", client=client, userToken=f"u{number}", clickAnalytics=True)
        frame = svc.read_ab_tests(client=client)
        assert {str(k): str(v) for k, v in frame.dtypes.items()} == with_text_dtype(AB_TESTS)
        row = frame.set_index("id").loc[started["id"]]
        assert (row["variant"], row["trafficPercentage"], row["status"]) == (
            "tested-cheap", 30, "active",
        )  # fmt: skip
        assert row["userCount"] == 40
        report = svc.read_ab_test(frame["id"].iloc[0], client=client)
        assert report.variants["trafficPercentage"].tolist() == [70, 30]
        assert report.variants["outlierUsers"].tolist() == [0, 0]
        assert report.days_left == 2
        with pytest.raises(Refused, match="runs on tested"):
            svc.add_ab_test("tested", {"hitsPerPage": 2}, client=client)
        assert svc.stop_ab_test(started["id"], client=client)["done"] == "stopped"
        assert svc.delete_ab_test(started["id"], client=client)["done"] == "deleted"
        with pytest.raises(NotFound):
            svc.read_ab_test(started["id"], client=client)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "purchaseRate"}, "both `metric` and `effect`"),
        ({"days": 0}, "`days` must be more than 0"),
        ({"traffic": 100}, "between 1 and 99"),
        ({"variant": {"hitPerPage": 3}}, "hitsPerPage"),
        ({"variant": '{"hitPerPage": 3}'}, "hitsPerPage"),
        ({"variant": "{hitsPerPage"}, "is not JSON"),
    ],
)
def test_what_cannot_be_a_test_is_refused_before_it_is_sent(
    options: dict[str, Any], message: str
) -> None:
    given = {"variant": "other", **options}
    with (
        svc.connect(url="http://127.0.0.1:9", app_id="x", api_key="y") as client,
        pytest.raises(BadInput, match=message),
    ):
        svc.add_ab_test("x", client=client, **given)


def test_the_plot_shows_each_metric() -> None:
    parts = [variant(n, c) for n, c in zip(SEARCHES, CLICKED, strict=True)]

    axis = build_report(describe(*parts, clickSignificance=0.9999)).plot()
    nothing = build_report(describe(variant(0, 0), variant(0, 0))).plot()

    assert [label.get_text() for label in axis.get_yticklabels()][-1] == "clickThroughRate"
    assert "nothing can be compared yet" in [text.get_text() for text in nothing.texts]

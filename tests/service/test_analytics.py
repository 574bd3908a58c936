"""The figures of analytics equal those computed with pandas from what users did."""

from __future__ import annotations

import math
import random
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside
from tests.service.past import settable_clock
from tests.service.shop_month import (
    CONVERSIONS,
    DAY_SECONDS,
    Expected,
    ShopMonth,
    make_products,
    outcome_rate,
    positions,
    query_figures,
    revenue,
)

SEARCHES, USERS = 2000, 400


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    service = Service(tmp_path_factory.mktemp("shop"))
    service.start()
    app = App(service)
    inside = Inside(app)
    inside.fill(
        "shop", *make_products(random.Random(1)), attributesForFaceting=["brand"],
    )  # fmt: skip
    yield inside
    app.close()
    service.stop()


@pytest.fixture(scope="module")
def month(shop: Inside) -> Iterator[ShopMonth]:
    with settable_clock() as clock:
        start = (time.time() // DAY_SECONDS - 30) * DAY_SECONDS

        def call(verb: str, path: str, body: Any) -> Any:
            answer = shop.call(verb, path, body)
            assert answer.is_success, answer.text
            return answer.json()

        month = ShopMonth(call, lambda moment: setattr(clock, "seconds", moment), start, USERS)
        month.run(SEARCHES)
        yield month


def days(month: ShopMonth) -> list[str]:
    return list(dict.fromkeys(search["day"] for search in month.searches))


def read(shop: Inside, path: str, **params: Any) -> Any:
    answer = shop.call("GET", f"/2/{path}?{urlencode({'index': 'shop', **params})}")
    assert answer.is_success, answer.text
    return answer.json()


def assert_equal(answer: Any, expected: Any, at: str = "") -> None:
    """Compare JSON; sums of floats may differ in the last digits."""
    if isinstance(expected, dict):
        assert answer.keys() == expected.keys(), at
        for name, value in expected.items():
            assert_equal(answer[name], value, f"{at}.{name}")
    elif isinstance(expected, list):
        assert len(answer) == len(expected), at
        for number, value in enumerate(expected):
            assert_equal(answer[number], value, f"{at}[{number}]")
    elif isinstance(expected, float):
        assert math.isclose(answer, expected, rel_tol=1e-9), at
    else:
        assert answer == expected, at


def compare_all(shop: Inside, expected: Expected, **selection: Any) -> None:
    """Compare every endpoint for one selection of searches."""

    def same(path: str, wanted: Any, **params: Any) -> None:
        assert_equal(read(shop, path, **selection, **params), wanted, path)

    def share(part: int, whole: int) -> float:
        return part / whole if whole else 0.0

    searches, tracked, outcomes = expected.searches, expected.tracked, expected.outcomes
    clicks = outcomes[outcomes["kind"] == "click"]
    same("searches/count", expected.daily(lambda s, o: {"count": len(s)}))
    same("users/count", expected.daily(lambda s, o: {"count": s["user"].nunique()}))
    same(
        "searches/noResultRate",
        expected.daily(
            lambda s, o: {
                "rate": share((s["nbHits"] == 0).sum(), len(s)),
                "count": len(s),
                "noResultCount": (s["nbHits"] == 0).sum(),
            }
        ),
    )

    def without_click(s: Any, o: Any) -> dict[str, Any]:
        count = s["queryID"].count()
        unclicked = count - o[o["kind"] == "click"]["queryID"].nunique()
        return {"rate": share(unclicked, count), "count": count, "noClickCount": unclicked}

    same("searches/noClickRate", expected.daily(without_click))
    for path, kinds, name in (
        ("clicks/clickThroughRate", {"click"}, "clickCount"),
        ("conversions/conversionRate", CONVERSIONS, "conversionCount"),
        ("conversions/addToCartRate", {"addToCart"}, "addToCartCount"),
        ("conversions/purchaseRate", {"purchase"}, "purchaseCount"),
    ):
        same(path, expected.daily(outcome_rate(kinds, name)))

    def mean_position(s: Any, o: Any) -> dict[str, Any]:
        clicked = o[o["kind"] == "click"]["position"]
        return {"average": clicked.mean() if len(clicked) else None, "clickCount": len(clicked)}

    same("clicks/averageClickPosition", expected.daily(mean_position))
    same("clicks/positions", {"positions": positions(clicks["position"])})
    same("conversions/revenue", expected.daily(lambda s, o: {"currencies": revenue(o)}))

    figures = query_figures(expected)
    both = {"limit": 1000, "clickAnalytics": "true", "revenueAnalytics": "true"}
    same("searches", {"searches": figures}, **both)
    plain = [{name: row[name] for name in ("search", "count", "nbHits")} for row in figures]
    same("searches", {"searches": plain[3:8]}, limit=5, offset=3)
    unanswered = searches[searches["nbHits"] == 0]
    filtered = unanswered[unanswered["filters"].map(bool)]["query"].value_counts()
    rows = [
        {"search": query, "count": count, "withFilterCount": filtered.get(query, 0)}
        for query, count in ranked(unanswered["query"])
    ]
    same("searches/noResults", {"searches": rows}, limit=1000)
    quiet = [
        {"search": row["search"], "count": row["trackedSearchCount"], "nbHits": row["nbHits"]}
        for row in figures
        if row["trackedSearchCount"] and not row["clickCount"]
        and (searches[searches["query"] == row["search"]]["nbHits"] > 0).any()
    ]  # fmt: skip
    quiet.sort(key=lambda row: (-row["count"], row["search"]))
    same("searches/noClicks", {"searches": quiet}, limit=1000)
    hits = read(shop, "hits", **selection, **both)["hits"]
    assert [row["count"] for row in hits] == sorted((row["count"] for row in hits), reverse=True)
    assert_equal(sorted(hits, key=lambda row: str(row["hit"])), hit_figures(expected), "hits")
    used = [tuple(one) for filters in searches["filters"] for one in filters]
    rows = [{"attribute": a, "count": n} for a, n in ranked(one[0] for one in used)]
    same("filters", {"attributes": rows})
    for attribute in ("brand", "price"):
        chosen = [one for one in used if one[0] == attribute]
        rows = [describe(one) | {"count": n} for one, n in ranked(chosen)]
        same(f"filters/{attribute}", {"values": rows})
    groups = unanswered[unanswered["filters"].map(bool)]["filters"]
    rows = [
        {"count": n, "values": [describe(one) for one in group]}
        for group, n in ranked(tuple(tuple(one) for one in sorted(group)) for group in groups)
    ]
    answer = read(shop, "filters/noResults", limit=1000, **selection)["values"]
    assert sorted(map(str, answer)) == sorted(map(str, rows))
    countries = [{"country": c, "count": n} for c, n in ranked(searches["country"].dropna())]
    same("countries", {"countries": countries})
    assert len(tracked)


def ranked(values: Any) -> list[tuple[Any, int]]:
    return sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0]))


def describe(one: tuple[str, str, str]) -> dict[str, Any]:
    return dict(zip(("attribute", "operator", "value"), one, strict=True))


def hit_figures(expected: Expected) -> list[dict[str, Any]]:
    counts = Counter(hit for hits in expected.searches["hits"] for hit in hits)
    tracked = Counter(hit for hits in expected.tracked["hits"] for hit in hits)
    rows = []
    for hit, count in sorted(counts.items()):
        outcomes = expected.outcomes[expected.outcomes["object"] == hit]
        row: dict[str, Any] = {"hit": hit, "count": count, "trackedHitCount": tracked[hit]}
        for kinds, counted, share in (
            ({"click"}, "clickCount", "clickThroughRate"),
            (CONVERSIONS, "conversionCount", "conversionRate"),
            ({"addToCart"}, "addToCartCount", "addToCartRate"),
            ({"purchase"}, "purchaseCount", "purchaseRate"),
        ):
            chosen = outcomes[outcomes["kind"].isin(kinds)]
            row[counted] = len(chosen)
            whole = tracked[hit]
            row[share] = chosen["queryID"].nunique() / whole if whole else None
        rows.append({**row, "currencies": revenue(outcomes)})
    return rows


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_figures_of_a_month_are_those_of_the_simulation(shop: Inside, month: ShopMonth) -> None:
    every = days(month)

    compare_all(shop, Expected(month, every), startDate=every[0], endDate=every[-1])


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_so_are_those_of_a_tag_and_a_week(shop: Inside, month: ShopMonth) -> None:
    week = days(month)[10:17]
    chosen = {"startDate": week[0], "endDate": week[-1], "tags": "platform:app AND (x OR shop)"}

    compare_all(shop, Expected(month, week, "platform:app"), **chosen)


@pytest.mark.slow
def test_the_default_period_ends_today_and_has_days_without_searches(
    shop: Inside, month: ShopMonth
) -> None:
    counts = read(shop, "searches/count")

    assert [row["date"] for row in counts["dates"]] == days(month)[-8:]
    nothing = read(shop, "clicks/clickThroughRate", startDate="2001-02-27", endDate="2001-03-01")
    empty = {"rate": None, "clickCount": 0, "trackedSearchCount": 0}
    dates = ["2001-02-27", "2001-02-28", "2001-03-01"]
    assert nothing == {**empty, "dates": [{"date": date, **empty} for date in dates]}
    assert read(shop, "filters/noResults", startDate="2001-02-27", endDate="2001-03-01") == {
        "values": []
    }
    last = time.strftime("%Y-%m-%d", time.gmtime(month.start + 29.9 * DAY_SECONDS))
    assert read(shop, "status")["updatedAt"].startswith(last)
    assert shop.call("GET", "/2/status?index=never").json() == {"updatedAt": None}


def test_queries_are_ordered_by_a_figure(shop: Inside, month: ShopMonth) -> None:
    every = {"startDate": days(month)[0], "clickAnalytics": "true", "limit": 1000}
    for order, ascending in (("clickThroughRate", True), ("averageClickPosition", False)):
        direction = "asc" if ascending else "desc"
        rows = read(shop, "searches", orderBy=order, direction=direction, **every)["searches"]
        values = [row[order] for row in rows if row[order] is not None]
        assert values == sorted(values, reverse=not ascending)
        assert [row[order] for row in rows[len(values) :]] == [None] * (len(rows) - len(values))


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("searches", "`index` is missing"),
        ("searches?index=shop&startDate=2026-02-30", "`startDate` must be a date such as"),
        ("searches?index=shop&startDate=2026-02-03&endDate=2026-02-01", "is after `endDate`"),
        ("searches?index=shop&startDate=1999-01-01", "request at most 1,000"),
        ("searches?index=shop&limit=1001", "`limit`"),
        ("searches?index=shop&orderBy=conversionRate", "needs `clickAnalytics=true`"),
        ("hits?index=shop&tags=a%20AND", "tags: "),
        ("hits?index=shop&tags=NOT%20a", "`tags` are names"),
        ("users/count?index=shop&month=3", "`month` is not known"),
    ],
)
def test_an_invalid_request_is_refused_with_the_reason(
    shop: Inside, path: str, reason: str
) -> None:
    answer = shop.call("GET", f"/2/{path}")

    assert answer.status_code == 400
    assert reason in answer.json()["message"]


def test_a_key_reads_the_analytics_of_its_indices(shop: Inside) -> None:
    body = {"acl": ["analytics"], "indexes": ["other"]}
    key = shop.call("POST", "/1/keys", body).json()["key"]

    assert shop.call("GET", "/2/searches?index=other", key=key).status_code == 200
    refused = shop.call("GET", "/2/searches?index=shop", key=key)
    assert refused.status_code == 403
    assert "does not reach the index shop" in refused.json()["message"]

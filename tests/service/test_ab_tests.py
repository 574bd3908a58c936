"""A/B tests divide searches by user, and count what the users of each variant do."""

from __future__ import annotations

import math
import os
import random
import signal
from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from svc_notebook.service.analytics.ab_test_results import compare_ratios
from svc_notebook.service.app import App
from svc_notebook.service.service import Service
from tests.conftest import Inside, start_service, stop_service
from tests.service.past import Clock
from tests.service.service_process import Outside
from tests.service.worker_calls import with_workers

LAMPS = [{"objectID": f"L{number}", "title": "desk lamp", "price": number} for number in range(10)]
USERS = [f"user-{number}" for number in range(60)]
HALVES = [
    {"index": "lamps", "trafficPercentage": 50, "description": "now"},
    {"index": "lamps_cheap", "trafficPercentage": 50},
]


@pytest.fixture
def shop(inside: Inside) -> Inside:
    fill(inside)
    return inside


def fill(inside: Inside) -> None:
    inside.fill("lamps", *LAMPS, customRanking=["desc(price)"], attributesForFaceting=["price"])
    inside.fill("lamps_cheap", *LAMPS, customRanking=["asc(price)"])


def days_ahead(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days)).isoformat(timespec="seconds")


def add(inside: Inside, *variants: Any, **more: Any) -> int:
    body = {"name": "cheap first", "variants": variants or HALVES, "endAt": days_ahead(7), **more}
    answer = inside.call("POST", "/2/abtests", body)
    assert answer.is_success, answer.text
    task = answer.json()["taskID"]
    assert inside.call("GET", f"/1/indexes/lamps/task/{task}").json()["status"] == "published"
    return int(answer.json()["abTestID"])


def read(inside: Inside, test: int) -> Any:
    answer = inside.call("GET", f"/2/abtests/{test}")
    assert answer.is_success, answer.text
    return answer.json()


def search(inside: Inside, user: str = "anna", query: str = "lamp", **more: Any) -> Any:
    body = {"query": query, "userToken": user, "clickAnalytics": True, **more}
    answer = inside.call("POST", "/1/indexes/lamps/query", body)
    assert answer.is_success, answer.text
    return answer.json()


def variant_of(answer: Any) -> Any:
    return answer.get("abTestVariantID")


@pytest.mark.slow
def test_a_user_stays_in_one_variant_and_gets_its_hits(shop: Inside) -> None:
    test = add(shop)

    answers = {user: [search(shop, user) for _ in range(2)] for user in USERS}

    chosen = {user: {variant_of(answer) for answer in pair} for user, pair in answers.items()}
    assert all(len(variants) == 1 for variants in chosen.values())
    counts = Counter(variants.pop() for variants in chosen.values())
    assert counts.keys() == {1, 2}
    assert min(counts.values()) > len(USERS) / 4
    for [answer, _] in answers.values():
        assert answer["abTestID"] == test
        assert answer["hits"][0]["objectID"] == {1: "L9", 2: "L0"}[answer["abTestVariantID"]]


@pytest.mark.slow
def test_the_shares_of_users_are_those_of_the_variants(shop: Inside) -> None:
    add(shop, {**HALVES[0], "trafficPercentage": 90}, {**HALVES[1], "trafficPercentage": 10})
    requests = [
        {"indexName": "lamps", "userToken": f"user-{number}", "hitsPerPage": 0}
        for number in range(1000)
    ]

    results = [
        result
        for start in range(0, len(requests), 50)
        for result in shop.call(
            "POST", "/1/indexes/*/queries", {"requests": requests[start : start + 50]}
        ).json()["results"]
    ]

    share = sum(result["abTestVariantID"] == 2 for result in results) / len(results)
    assert share == pytest.approx(0.1, abs=0.03)
    assert {result["index"] for result in results} == {"lamps"}


def test_variants_can_be_parameters_of_one_index(shop: Inside) -> None:
    other = {"index": "lamps", "trafficPercentage": 50}
    add(
        shop,
        HALVES[0],
        {**other, "customSearchParameters": {"hitsPerPage": 3, "filters": "price<8"}},
    )

    sizes = {(variant_of(a), len(a["hits"])) for a in (search(shop, user) for user in USERS)}

    assert sizes == {(1, 10), (2, 3)}


def test_searches_that_take_no_part(shop: Inside) -> None:
    test = add(shop)
    user = next(user for user in USERS if variant_of(search(shop, user)) == 2)
    restricted = {"acl": ["search"], "indexes": ["lamps"]}
    key = shop.call("POST", "/1/keys", restricted).json()["key"]

    off = search(shop, user, enableABTest=False)
    direct = shop.call("POST", "/1/indexes/lamps_cheap/query", {"userToken": user}).json()
    body = {"query": "lamp", "userToken": user}
    kept_out = shop.call("POST", "/1/indexes/lamps/query", body, key=key).json()
    facet = {"facetQuery": "", "userToken": user}
    values = shop.call("POST", "/1/indexes/lamps/facets/price/query", facet)

    assert variant_of(off) is None
    assert off["hits"][0]["objectID"] == "L9"
    assert variant_of(direct) is None
    assert variant_of(kept_out) is None
    assert kept_out["hits"][0]["objectID"] == "L9"
    # Facet values are those of the variant, whose settings have none.
    assert values.status_code == 400
    assert sum(v["searchCount"] for v in read(shop, test)["variants"]) < len(USERS)
    assert shop.call("POST", f"/2/abtests/{test}/stop").is_success
    assert variant_of(search(shop, user)) is None


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"variants": [HALVES[0], HALVES[0]]}, 400, "compared with itself"),
        ({"variants": [HALVES[0], {**HALVES[1], "index": "none"}]}, 404, "none does not exist"),
        ({"variants": [HALVES[0], {**HALVES[1], "trafficPercentage": 40}]}, 400, "add up to 90"),
        ({"variants": [HALVES[0]]}, 400, "variants"),
        ({"variants": [HALVES[0], {**HALVES[1], "trafficPercentage": 0}]}, 400, "at least 1"),
        ({"endAt": "2020-01-01T00:00:00Z"}, 400, "in the past"),
        ({"endAt": "tomorrow"}, 400, "must be a time"),
        (
            {"variants": [HALVES[0], {**HALVES[1], "customSearchParameters": {"page": 1}}]},
            400,
            "for two variants of one index",
        ),
        (
            {
                "variants": [
                    HALVES[0],
                    {**HALVES[0], "customSearchParameters": {"analytics": False}},
                ]
            },
            400,
            "cannot set `analytics`",
        ),
        (
            {"variants": [HALVES[0], {**HALVES[0], "customSearchParameters": {"hitPerPage": 3}}]},
            400,
            "hitPerPage",
        ),
    ],
)
def test_a_test_that_cannot_run_is_refused(
    shop: Inside, change: dict[str, Any], status: int, message: str
) -> None:
    body = {"name": "x", "variants": HALVES, "endAt": days_ahead(1), **change}

    answer = shop.call("POST", "/2/abtests", body)

    assert answer.status_code == status, answer.text
    assert message in answer.json()["message"]
    assert shop.call("GET", "/2/abtests").json() == {"abtests": None, "count": 0, "total": 0}


def test_an_index_is_in_one_running_test_only(shop: Inside) -> None:
    shop.fill("chairs", {"objectID": "1"})
    test = add(shop)
    other = [{**HALVES[0], "index": "chairs"}, HALVES[1]]
    body = {"name": "x", "variants": other, "endAt": days_ahead(1)}

    refused = shop.call("POST", "/2/abtests", body)

    assert refused.status_code == 409
    assert f"A/B test {test} (cheap first) runs on lamps_cheap" in refused.json()["message"]
    assert shop.call("POST", f"/2/abtests/{test}/stop").is_success
    again = shop.call("POST", f"/2/abtests/{test}/stop")
    assert (again.status_code, "stopped already" in again.json()["message"]) == (409, True)
    assert add(shop, *other) > test


def test_rights_and_the_list(shop: Inside) -> None:
    test = add(shop)
    other = add(shop, *_of_chairs(shop))
    keys = {
        right: shop.call("POST", "/1/keys", {"acl": [right], "indexes": ["lamps*"]}).json()["key"]
        for right in ("analytics", "editSettings", "search")
    }

    assert shop.call("GET", f"/2/abtests/{test}", key=keys["analytics"]).is_success
    assert shop.call("GET", f"/2/abtests/{other}", key=keys["analytics"]).status_code == 403
    listed = shop.call("GET", "/2/abtests", key=keys["analytics"]).json()
    assert [row["abTestID"] for row in listed["abtests"]] == [test]
    assert shop.call("GET", "/2/abtests", key=keys["search"]).status_code == 403
    stop = f"/2/abtests/{test}/stop"
    assert shop.call("POST", stop, key=keys["analytics"]).status_code == 403
    assert shop.call("POST", stop, key=keys["editSettings"]).is_success
    everything = shop.call("GET", "/2/abtests").json()
    assert [row["status"] for row in everything["abtests"]] == ["active", "stopped"]
    page = shop.call("GET", "/2/abtests?offset=1&limit=1").json()
    assert (page["count"], page["total"]) == (1, 2)
    assert page["abtests"][0]["stoppedAt"] is not None
    named = shop.call("GET", "/2/abtests?indexPrefix=chairs").json()["abtests"]
    assert [row["abTestID"] for row in named] == [other]
    assert shop.call("DELETE", f"/2/abtests/{other}").is_success
    assert shop.call("GET", f"/2/abtests/{other}").status_code == 404


def _of_chairs(shop: Inside) -> list[dict[str, Any]]:
    shop.fill("chairs", {"objectID": "1"})
    return [
        {"index": "chairs", "trafficPercentage": 50},
        {"index": "chairs", "trafficPercentage": 50, "customSearchParameters": {"page": 1}},
    ]


def test_it_ends_at_its_time(shop: Inside, clock: Clock) -> None:
    test = add(shop)
    assert read(shop, test)["status"] == "active"

    clock.seconds += 8 * 24 * 3600

    assert variant_of(search(shop)) is None
    assert read(shop, test)["status"] == "expired"
    assert add(shop, endAt=days_ahead(20)) > test


def test_it_stops_when_an_index_is_deleted(shop: Inside) -> None:
    test = add(shop)

    shop.done("DELETE", "/1/indexes/lamps_cheap")

    answers = [search(shop, user) for user in USERS]
    assert {variant_of(answer) for answer in answers} == {None}
    assert {answer["hits"][0]["objectID"] for answer in answers} == {"L9"}
    assert read(shop, test)["status"] == "stopped"
    shop.fill("lamps_cheap", *LAMPS)
    assert variant_of(search(shop)) is None


@pytest.mark.slow
def test_it_goes_on_after_a_restart(tmp_path: Path) -> None:
    first = Service(tmp_path)
    first.start()
    inside = _inside(first)
    fill(inside)
    test = add(inside)
    before = {user: variant_of(search(inside, user)) for user in USERS}
    inside.app.close()
    first.stop()

    second = Service(tmp_path)
    second.start()
    again = _inside(second)

    assert {user: variant_of(search(again, user)) for user in USERS} == before
    assert sum(v["searchCount"] for v in read(again, test)["variants"]) == 2 * len(USERS)
    again.app.close()
    second.stop()


@pytest.mark.slow
def test_it_goes_on_after_a_kill(tmp_path: Path) -> None:
    process, running = start_service(tmp_path)
    killed = Outside(running)
    fill(killed)
    add(killed)
    before = {user: variant_of(search(killed, user)) for user in USERS}
    os.kill(running.pid, signal.SIGKILL)
    process.communicate()
    killed.close()

    process, running = start_service(tmp_path)
    again = Outside(running)
    after = {user: variant_of(search(again, user)) for user in USERS}

    again.close()
    stop_service(process)
    assert {*before.values()} == {1, 2}
    assert after == before


def _inside(service: Service) -> Inside:
    return Inside(App(service))


@pytest.mark.slow
def test_search_workers_divide_equally(tmp_path: Path) -> None:
    with with_workers(tmp_path) as inside:
        fill(inside)
        test = add(inside)
        search(inside)  # opens the engines
        answered = inside.workers.counts.answered

        for user in USERS:
            body = {"query": "lamp", "userToken": user}
            inside.compare("POST", "/1/indexes/lamps/query", body)
        requests = [{"indexName": "lamps", "userToken": user} for user in USERS]
        joined = inside.compare("POST", "/1/indexes/*/queries", {"requests": requests})

        assert inside.workers.counts.answered - answered == len(USERS) + 1
        assert {variant_of(result) for result in joined.json()["results"]} == {1, 2}
        users = sum(v["userCount"] for v in read(inside, test)["variants"])
        assert users == len(USERS) + 1


class Shoppers:
    """Users who search, click and buy; their figures are computed from what was answered."""

    def __init__(self, inside: Inside, seed: int = 3) -> None:
        self.inside = inside
        self.chance = random.Random(seed)
        self.rows: list[dict[str, Any]] = []

    def search(
        self, user: str, query: str = "lamp", rates: tuple[float, float] = (0.2, 0.7)
    ) -> None:
        answer = search(self.inside, user, query)
        variant = answer["abTestVariantID"]
        row = {"user": user, "variant": variant, "query": query, "clicked": 0, "spent": 0.0}
        if answer["hits"] and self.chance.random() < rates[variant - 1]:
            price = self.chance.choice([10, 20, 400]) if self.chance.random() < 0.5 else 0
            row |= {"clicked": 1, "spent": float(price)}
            self._send(answer, user, price)
        self.rows.append(row)

    def _send(self, answer: Any, user: str, price: int) -> None:
        shared = {
            "eventName": "x", "index": "lamps", "userToken": user,
            "objectIDs": [answer["hits"][0]["objectID"]], "queryID": answer["queryID"],
        }  # fmt: skip
        sent: list[dict[str, Any]] = [{**shared, "eventType": "click", "positions": [1]}]
        if price:
            data = [{"price": price, "quantity": 1, "queryID": answer["queryID"]}]
            bought = {"eventType": "conversion", "eventSubtype": "purchase", "currency": "EUR"}
            sent.append({**shared, **bought, "value": price, "objectData": data})
        assert self.inside.call("POST", "/1/events", {"events": sent}).is_success

    def significance(self, member: str, limit: float = math.inf) -> float:
        """Return 1 minus p of the difference of two ratios, by the delta method over users."""
        means, variance = [], 0.0
        for variant in (1, 2):
            sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for row in self.rows:
                if row["variant"] == variant and row["query"]:
                    sums[row["user"]][0] += min(row[member], limit)
                    sums[row["user"]][1] += 1
            x, n = np.array([*sums.values()]).T
            mean = x.sum() / n.sum()
            means.append(mean)
            variance += (x - mean * n).var() * len(n) / (n.mean() ** 2) / len(n) / (len(n) - 1)
        return math.erf(abs(means[0] - means[1]) / math.sqrt(2 * variance))


@pytest.mark.slow
def test_the_figures_are_those_of_what_users_did(shop: Inside, clock: Clock) -> None:
    test = add(
        shop, configuration={"minimumDetectableEffect": {"size": 0.5, "metric": "clickThroughRate"}}
    )
    shoppers = Shoppers(shop)
    for user in USERS:
        for query in shoppers.chance.choices(["lamp", "desk", "zzz", ""], k=3):
            clock.seconds += 60
            shoppers.search(user, query)

    answer = read(shop, test)

    counted = [row for row in shoppers.rows if row["query"]]
    spent = [row["spent"] for row in counted if row["spent"]]
    limit = float(np.percentile(spent, 95))
    for number, variant in enumerate(answer["variants"], 1):
        rows = [row for row in counted if row["variant"] == number]
        clicks = sum(row["clicked"] for row in rows)
        amounts = [row["spent"] for row in rows if row["spent"]]
        assert variant["searchCount"] == variant["trackedSearchCount"] == len(rows)
        assert variant["userCount"] == len({row["user"] for row in rows})
        assert variant["noResultCount"] == sum(row["query"] == "zzz" for row in rows)
        assert variant["clickCount"] == clicks
        assert variant["clickThroughRate"] == pytest.approx(clicks / len(rows))
        assert variant["averageClickPosition"] == 1
        assert variant["purchaseCount"] == len(amounts)
        assert variant["purchaseRate"] == pytest.approx(len(amounts) / len(rows))
        assert variant["addToCartRate"] == 0
        euros = variant["currencies"]["EUR"]
        assert euros["revenue"] == pytest.approx(sum(amounts))
        assert euros["mean"] == pytest.approx(np.minimum(amounts, limit).mean())
        assert euros["winsorizedAmount"] == pytest.approx(
            sum(amounts) - np.minimum(amounts, limit).sum()
        )
        emptied = [r for r in shoppers.rows if r["variant"] == number and not r["query"]]
        lost = {row["user"] for row in emptied} - {row["user"] for row in rows}
        assert variant["filterEffects"] == {
            "emptySearch": {"usersCount": len(lost), "trackedSearchesCount": len(emptied)},
            "outliers": {"usersCount": 0, "trackedSearchesCount": 0},
        }
        assert variant["estimatedSampleSize"] > 10
    assert answer["clickSignificance"] == pytest.approx(shoppers.significance("clicked"))
    assert answer["clickSignificance"] > 0.95
    assert answer["addToCartSignificance"] is None
    revenue = shoppers.significance("spent", limit)
    assert answer["revenueSignificance"]["EUR"] == pytest.approx(revenue)


@pytest.mark.slow
def test_outliers_and_empty_searches_can_be_kept(shop: Inside, clock: Clock) -> None:
    kept = {"outliers": {"exclude": False}, "emptySearch": {"exclude": False}}
    for configuration in ({}, kept):
        test = add(shop, configuration=configuration)
        for user in [*USERS, *["robot"] * 300]:
            clock.seconds += 60
            search(shop, user, "lamp")
        search(shop, "anna", "")
        variants = read(shop, test)["variants"]
        total = sum(variant["trackedSearchCount"] for variant in variants)
        if configuration:
            assert total == len(USERS) + 301
            assert all(variant["filterEffects"] == {} for variant in variants)
        else:
            assert total == len(USERS)
            effects = [variant["filterEffects"]["outliers"] for variant in variants]
            assert sum(effect["usersCount"] for effect in effects) == 1
            assert sum(effect["trackedSearchesCount"] for effect in effects) == 300
        assert shop.call("POST", f"/2/abtests/{test}/stop").is_success


def test_equal_variants_rarely_differ() -> None:
    """Users click always or never: their searches are not independent observations."""
    chance = np.random.default_rng(7)
    certain = 0
    for _ in range(400):
        searches = [chance.integers(1, 9, 200).tolist() for _ in range(2)]
        clicks = [[count * int(chance.random() < 0.5) for count in counts] for counts in searches]
        certain += (compare_ratios(clicks, searches) or 0) >= 0.95

    # 5 % are expected; an error of searches instead of users would give 30 % or more.
    assert 0.02 < certain / 400 < 0.09


def test_an_estimate_is_taken_from_the_last_searches(shop: Inside) -> None:
    effect = {"size": 0.5, "metric": "clickThroughRate"}
    body = {"configuration": {"minimumDetectableEffect": effect}, "variants": HALVES}
    refused = shop.call("POST", "/2/abtests/estimate", body)
    for number, user in enumerate(USERS):
        answer = search(shop, user)
        if number % 4 == 0:
            Shoppers(shop)._send(answer, user, 0)

    estimate = shop.call("POST", "/2/abtests/estimate", body).json()

    assert refused.status_code == 400
    assert "no clickThroughRate yet" in refused.json()["message"]
    # 25 % and 37.5 % at 5 % significance and 80 % power.
    assert estimate["sampleSizes"] == [215, 215]
    assert estimate["durationDays"] == math.ceil(430 / (len(USERS) / 30))
    too_large = {**effect, "size": 5}
    body["configuration"] = {"minimumDetectableEffect": too_large}
    assert "more than 100 %" in shop.call("POST", "/2/abtests/estimate", body).json()["message"]


def test_a_search_in_a_test_is_counted_for_its_index(shop: Inside) -> None:
    add(shop)
    for user in USERS:
        search(shop, user)

    counts = {
        index: shop.call("GET", f"/2/searches/count?index={index}").json()["count"]
        for index in ("lamps", "lamps_cheap")
    }

    assert counts == {"lamps": len(USERS), "lamps_cheap": 0}

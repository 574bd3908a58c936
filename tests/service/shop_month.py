"""A simulated month of a shop: what its users search, click and buy, and the figures of that.

The figures are computed with pandas from what was sent and answered, not from what is stored.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

DAYS, DAY_SECONDS = 30, 24 * 3600
NOUNS = ["lamp", "table", "sofa", "shelf", "rug", "chair"]
WORDS = ["oak", "red", "small", "kids", "garden"]
MISSING = ["toaster", "hammock", "zzyzx"]
BRANDS = ["Lumo", "Nord", "Acme"]
SEARCHES_PER_CALL = 50
Call = Callable[[str, str, Any], Any]  # method, path and body


def make_products(chance: random.Random) -> list[dict[str, Any]]:
    return [
        {
            "objectID": f"P{number:03}",
            "title": f"{chance.choice(WORDS)} {chance.choice(NOUNS)}",
            "brand": chance.choice(BRANDS),
            "price": chance.randrange(500, 20_000) / 100,
        }
        for number in range(120)
    ]


@dataclass
class ShopMonth:
    """Simulates searches through calls; `searches` and `outcomes` are what users did."""

    call: Call
    move_clock: Callable[[float], None]
    start: float
    users: int
    seed: int = 5
    searches: list[dict[str, Any]] = field(default_factory=list)
    outcomes: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.prices = {row["objectID"]: row["price"] for row in make_products(random.Random(1))}
        self.queries = [f"{word} {noun}" for word in WORDS for noun in NOUNS] + NOUNS + MISSING
        self.weights = [1 / (rank + 1) for rank in range(len(self.queries))]
        self.chance.shuffle(self.queries)

    def run(self, count: int) -> None:
        """Send the searches of a month, in calls that are equally far apart."""
        calls = count // SEARCHES_PER_CALL
        for number in range(calls):
            moment = self.start + (number + 0.5) / calls * DAYS * DAY_SECONDS
            self.move_clock(moment)
            self._send(int(moment // DAY_SECONDS))

    def _send(self, day: int) -> None:
        """Send one search of each of some users, and the events of it; some users type slowly."""
        requests: list[dict[str, Any]] = []
        final: list[dict[str, Any] | None] = []
        for user in self.chance.sample(range(self.users), SEARCHES_PER_CALL):
            request = self._request(user)
            if self.chance.random() < 0.1:
                requests.append({**request, "query": request["query"][:2]})
                final.append(None)
            requests.append(request)
            final.append(request)
        results = self.call("POST", "/1/indexes/*/queries", {"requests": requests})["results"]
        events: list[dict[str, Any]] = []
        for sent, result in zip(final, results, strict=True):
            if sent:
                self._note(day, sent, result)
                events += self._events(sent, result)
        if events:
            self.call("POST", "/1/events", {"events": events})

    def _request(self, user: int) -> dict[str, Any]:
        tags = [self.chance.choice(["platform:web", "platform:app"]), "shop"]
        country = self.chance.choice(["", "DE", "FR"])
        request = {
            "indexName": "shop",
            "query": self.chance.choices(self.queries, self.weights)[0].title(),
            "userToken": f"user-{user}",
            "clickAnalytics": self.chance.random() < 0.7,
            "analyticsTags": [*tags, *([f"country:{country}"] if country else [])],
            "hitsPerPage": 20,
            "attributesToRetrieve": ["objectID"],
            "attributesToHighlight": [],
        }
        if self.chance.random() < 0.3:
            request["facetFilters"] = [f"brand:{self.chance.choice(BRANDS)}"]
        if self.chance.random() < 0.1:
            request["filters"] = f"price > {self.chance.choice([50, 100])}"
        return request

    def _note(self, day: int, sent: dict[str, Any], result: dict[str, Any]) -> None:
        filters = [["brand", ":", one.split(":")[1]] for one in sent.get("facetFilters", [])]
        if "filters" in sent:
            filters.append(["price", ">", sent["filters"].split()[-1]])
        tags = sent["analyticsTags"]
        self.searches.append(
            {
                "day": pd.Timestamp(day, unit="D").date().isoformat(),
                "query": sent["query"].lower(),
                "user": sent["userToken"],
                "nbHits": result["nbHits"],
                "hits": [hit["objectID"] for hit in result["hits"]],
                "queryID": result.get("queryID"),
                "tags": tags,
                "country": tags[2].split(":")[1] if len(tags) > 2 else None,
                "filters": filters,
            }
        )

    def _events(self, sent: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the events of one search: a user clicks less often further down."""
        if "queryID" not in result:
            return []
        events = []
        for position, hit in enumerate(result["hits"], 1):
            shared = {
                "eventName": "x", "index": "shop", "userToken": sent["userToken"],
                "objectIDs": [hit["objectID"]], "queryID": result["queryID"],
            }  # fmt: skip
            if self.chance.random() < 0.4 / position:
                events.append({**shared, "eventType": "click", "positions": [position]})
                self._add(result, hit, "click", position=position)
            if self.chance.random() < 0.1 / position:
                events.append({**shared, "eventType": "conversion"})
                self._add(result, hit, "conversion")
            if self.chance.random() < 0.1 / position:
                cart = {"eventType": "conversion", "eventSubtype": "addToCart"}
                events.append({**shared, **cart})
                self._add(result, hit, "addToCart")
            if self.chance.random() < 0.08 / position:
                events.append(self._purchase(shared, result, hit))
        return events

    def _purchase(self, shared: Any, result: Any, hit: Any) -> dict[str, Any]:
        price, quantity = self.prices[hit["objectID"]], self.chance.randint(1, 3)
        currency = self.chance.choice(["EUR", "EUR", "USD"])
        self._add(result, hit, "purchase", currency=currency, revenue=price * quantity)
        return {
            **shared, "eventType": "conversion", "eventSubtype": "purchase", "currency": currency,
            "objectData": [{"price": price, "quantity": quantity, "queryID": result["queryID"]}],
            "value": round(price * quantity, 2),
        }  # fmt: skip

    def _add(self, result: Any, hit: Any, kind: str, **more: Any) -> None:
        self.outcomes.append(
            {"queryID": result["queryID"], "object": hit["objectID"], "kind": kind, **more}
        )


class Expected:
    """The figures of the selected searches, computed with pandas."""

    def __init__(self, month: ShopMonth, days: list[str], tag: str | None = None) -> None:
        searches = pd.DataFrame(month.searches)
        chosen = searches["day"].isin(days)
        if tag:
            chosen &= searches["tags"].map(lambda tags: tag in tags)
        self.days = days
        self.searches = searches[chosen]
        self.tracked = self.searches[self.searches["queryID"].notna()]
        columns = ["queryID", "object", "kind", "position", "currency", "revenue"]
        outcomes = pd.DataFrame(month.outcomes, columns=columns)
        self.outcomes = outcomes.merge(self.tracked[["queryID", "day", "query"]], on="queryID")

    def daily(self, describe: Callable[[pd.DataFrame, pd.DataFrame], dict[str, Any]]) -> Any:
        """Return figures in total and for each day, of searches and their outcomes."""
        dates = [
            {
                "date": day,
                **describe(
                    self.searches[self.searches["day"] == day],
                    self.outcomes[self.outcomes["day"] == day],
                ),
            }
            for day in self.days
        ]
        return {**describe(self.searches, self.outcomes), "dates": dates}


def outcome_rate(kinds: set[str], name: str) -> Callable[[pd.DataFrame, pd.DataFrame], Any]:
    """Return a function that computes the share of tracked searches with such an outcome."""

    def describe(searches: pd.DataFrame, outcomes: pd.DataFrame) -> dict[str, Any]:
        tracked, chosen = searches["queryID"].count(), outcomes[outcomes["kind"].isin(kinds)]
        share = chosen["queryID"].nunique() / tracked if tracked else None
        return {"rate": share, name: len(chosen), "trackedSearchCount": tracked}

    return describe


CONVERSIONS = {"conversion", "addToCart", "purchase"}


def revenue(outcomes: pd.DataFrame) -> dict[str, Any]:
    """Return the revenue of purchases by currency."""
    sums = outcomes[outcomes["kind"] == "purchase"].groupby("currency")["revenue"].sum()
    return {str(name): {"currency": name, "revenue": value} for name, value in sums.items()}


def query_figures(expected: Expected) -> list[dict[str, Any]]:
    """Return the most frequent queries with all figures."""
    rows = []
    for query, searches in expected.searches.groupby("query"):
        outcomes = expected.outcomes[expected.outcomes["query"] == query]
        clicks = outcomes[outcomes["kind"] == "click"]["position"]
        conversion, cart, bought = (
            outcome_rate(kinds, "count")(searches, outcomes)
            for kinds in (CONVERSIONS, {"addToCart"}, {"purchase"})
        )
        click = outcome_rate({"click"}, "count")(searches, outcomes)
        rows.append(
            {
                "search": query,
                "count": len(searches),
                "nbHits": searches["nbHits"].iloc[-1],
                "trackedSearchCount": searches["queryID"].count(),
                "clickCount": click["count"],
                "clickThroughRate": click["rate"],
                "averageClickPosition": clicks.mean() if len(clicks) else None,
                "clickPositions": positions(clicks),
                "conversionCount": conversion["count"],
                "conversionRate": conversion["rate"],
                "addToCartCount": cart["count"],
                "addToCartRate": cart["rate"],
                "purchaseCount": bought["count"],
                "purchaseRate": bought["rate"],
                "currencies": revenue(outcomes),
            }
        )
    return sorted(rows, key=lambda row: (-row["count"], row["search"]))


def positions(clicks: Any) -> list[dict[str, Any]]:
    """Return the number of clicks at each of the first ten positions, and further down."""
    ranges = [(n, n) for n in range(1, 11)] + [(11, 20), (21, -1)]
    return [
        {
            "position": [low, high],
            "clickCount": int(clicks.between(low, 10**9 if high < 0 else high).sum()),
        }
        for low, high in ranges
    ]

"""The most frequent queries, hits, filters and countries of a selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import msgspec
import numpy as np

from svc_notebook.core.api.shapes.analytics import (
    CountryCount,
    CurrencyRevenue,
    FilterAttribute,
    FilterPart,
    FilterValue,
    PositionClicks,
    SortDirection,
    TopHit,
    TopSearch,
    TopSearchOrder,
    UnansweredFilters,
    UnansweredSearch,
    UnclickedSearch,
)
from svc_notebook.errors import BadInput
from svc_notebook.service.analytics.figures import (
    HAS_REVENUE,
    Figures,
    Selection,
    collect_revenue,
    count_positions,
    describe_positions,
    rate,
    read_outcomes,
    sum_revenue,
    summarize,
)
from svc_notebook.service.analytics.search_counts import OBJECT_NUMBER
from svc_notebook.service.store import Store

# Only the most frequent entries are listed.
MAX_LISTED = 1000
_ORDERS: Mapping[TopSearchOrder, str] = {
    "searchCount": "count",
    "clickThroughRate": "clickThroughRate",
    "conversionRate": "conversionRate",
    "averageClickPosition": "averageClickPosition",
}


class Slice(NamedTuple):
    """A part of a list."""

    limit: int
    offset: int

    def of(self, entries: Sequence[Any]) -> list[Any]:
        """Return the entries of the page."""
        return list(entries[:MAX_LISTED][self.offset : self.offset + self.limit])


class Details(NamedTuple):
    """The figures of a list besides the numbers of searches; those of revenue include clicks."""

    clicks: bool
    revenue: bool


def list_searches(
    store: Store,
    selection: Selection,
    page: Slice,
    details: Details,
    order: TopSearchOrder,
    direction: SortDirection,
) -> list[TopSearch]:
    """Return the most frequent queries; raises `BadInput` for an order that needs clicks."""
    if order != "searchCount" and not any(details):
        raise BadInput(f"`orderBy` {order} needs `clickAnalytics=true`")
    queries = summarize(store, selection, "query")
    frequent = sorted(queries, key=lambda query: (-queries[query].searches, query))[:MAX_LISTED]
    positions = count_positions(store, selection, "query") if any(details) else {}
    revenues = sum_revenue(store, selection, "query") if details.revenue else {}
    rows = [
        _describe_search(
            str(query), queries[query], details, positions.get(query), revenues.get(query)
        )
        for query in frequent
    ]
    member = _ORDERS[order]
    filled = [row for row in rows if row.get(member) is not None]
    filled.sort(key=lambda row: cast("float", row.get(member)), reverse=direction == "desc")
    return page.of(filled + [row for row in rows if row.get(member) is None])


def _describe_search(
    query: str,
    figures: Figures,
    details: Details,
    positions: list[PositionClicks] | None,
    revenue: dict[str, CurrencyRevenue] | None,
) -> TopSearch:
    row: dict[str, Any] = {"search": query, "count": figures.searches, "nbHits": figures.hits}
    if any(details):
        row |= {
            "trackedSearchCount": figures.tracked,
            **_describe_clicks(figures),
            "averageClickPosition": rate(figures.positions, figures.clicks),
            "clickPositions": positions or describe_positions(),
        }
    if details.revenue:
        row |= {**_describe_revenue(figures), "currencies": revenue or {}}
    return cast("TopSearch", row)


def _describe_clicks(figures: Figures) -> dict[str, Any]:
    return {
        "clickCount": figures.clicks,
        "clickThroughRate": rate(figures.clicked, figures.tracked),
        "conversionCount": figures.conversions,
        "conversionRate": rate(figures.converted, figures.tracked),
    }


def _describe_revenue(figures: Figures) -> dict[str, Any]:
    return {
        "addToCartCount": figures.additions,
        "addToCartRate": rate(figures.added, figures.tracked),
        "purchaseCount": figures.purchases,
        "purchaseRate": rate(figures.bought, figures.tracked),
    }


def list_unanswered(store: Store, selection: Selection, page: Slice) -> list[UnansweredSearch]:
    """Return the most frequent queries without hits."""
    rows = store.read(
        "SELECT query, count(*), count(filters) FROM counted "
        f"WHERE {selection.where} AND hits = 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MAX_LISTED}",
        *selection.values,
    )
    return [
        {"search": query, "count": count, "withFilterCount": filtered}
        for query, count, filtered in page.of(rows)
    ]


def list_unclicked(store: Store, selection: Selection, page: Slice) -> list[UnclickedSearch]:
    """Return the most frequent tracked queries whose hits were not clicked."""
    queries = summarize(store, selection, "query")
    rows: list[UnclickedSearch] = [
        {"search": str(query), "count": figures.tracked, "nbHits": figures.hits}
        for query, figures in queries.items()
        if figures.tracked and not figures.clicks and figures.unanswered < figures.searches
    ]
    return page.of(sorted(rows, key=lambda row: (-row["count"], row["search"])))


def list_hits(store: Store, selection: Selection, page: Slice, details: Details) -> list[TopHit]:
    """Return the records that searches returned most often."""
    numbers, counts = _count_objects(store, selection, "")
    # Among equal counts, the record that was returned first.
    order = np.lexsort((numbers, -counts))[:MAX_LISTED]
    chosen = page.of(numbers[order].tolist())
    count_of = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    names = dict(
        store.read(
            "SELECT number, id FROM counted_objects "
            "WHERE number IN (SELECT value FROM json_each(?))",
            msgspec.json.encode(chosen).decode(),
        )
    )
    rows: list[TopHit] = [
        {"hit": names[number], "count": count_of[number]} for number in chosen if number in names
    ]
    if any(details):
        _add_outcomes(store, selection, rows, details)
    return rows


def _count_objects(store: Store, selection: Selection, more: str) -> tuple[Any, Any]:
    """Return the numbers of the returned objects, and how many searches returned each."""
    rows = store.read(
        f"SELECT objects FROM counted WHERE {selection.where} AND objects IS NOT NULL {more}",
        *selection.values,
    )
    objects = np.frombuffer(b"".join(row[0] for row in rows), OBJECT_NUMBER)
    counts = np.bincount(objects)
    numbers = np.flatnonzero(counts)
    return numbers, counts[numbers]


def _add_outcomes(store: Store, selection: Selection, rows: list[TopHit], details: Details) -> None:
    """Add the outcomes of each record, and the number of tracked searches that returned it."""
    names = msgspec.json.encode([row["hit"] for row in rows]).decode()
    numbers, counts = _count_objects(store, selection, "AND query_id IS NOT NULL")
    count_of = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    tracked = {
        name: count_of.get(number, 0)
        for name, number in store.read(
            "SELECT id, number FROM counted_objects WHERE id IN (SELECT value FROM json_each(?))",
            names,
        )
    }
    outcomes = _sum_outcomes(store, selection)
    revenues = collect_revenue(
        read_outcomes(
            store, selection, "o.object, o.currency, sum(o.revenue)",
            f"{HAS_REVENUE} AND o.object IS NOT NULL", "1, 2",
        )
    )  # fmt: skip
    for row in rows:
        name = row["hit"]
        figures_of = outcomes.get(name, Figures())._replace(tracked=tracked.get(name, 0))
        more = {"trackedHitCount": figures_of.tracked, **_describe_clicks(figures_of)}
        if details.revenue:
            more |= {**_describe_revenue(figures_of), "currencies": revenues.get(name, {})}
        row.update(cast("TopHit", more))


# The members of figures that count the searches and the events with an outcome, and the condition.
_OUTCOME_MEMBERS = (
    ("clicked", "clicks", "o.kind = 'click'"),
    ("converted", "conversions", "o.kind <> 'click'"),
    ("added", "additions", "o.kind = 'addToCart'"),
    ("bought", "purchases", "o.kind = 'purchase'"),
)


def _sum_outcomes(store: Store, selection: Selection) -> dict[str, Figures]:
    """Return the outcomes of each record; distinct pairs are counted faster here than in SQL."""
    conditions = ", ".join(condition for *_, condition in _OUTCOME_MEMBERS)
    rows = store.read(
        f"SELECT o.object, c.number, o.event, {conditions} FROM counted AS c "
        f"JOIN outcomes AS o ON o.query_id = c.query_id WHERE {selection.where} "
        "AND clicks + conversions > 0 AND o.object IS NOT NULL",
        *selection.values,
    )
    if not rows:
        return {}
    names, *columns = zip(*rows, strict=True)
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    objects = np.array([codes[name] for name in names], np.int64)
    searches, events, *chosen = (np.array(column, np.int64) for column in columns)
    members: dict[str, list[int]] = {}
    for (by_search, by_event, _), is_chosen in zip(_OUTCOME_MEMBERS, chosen, strict=True):
        for member, ids in ((by_search, searches), (by_event, events)):
            base = int(ids.max()) + 1
            pairs = np.unique((objects * base + ids)[is_chosen == 1])
            members[member] = np.bincount(pairs // base, minlength=len(codes)).tolist()
    return {
        name: Figures(**{member: counts[code] for member, counts in members.items()})
        for name, code in codes.items()
    }


_FILTERS = (
    "SELECT {columns} FROM counted, json_each(filters) AS used "
    "WHERE {where} {more} GROUP BY {groups} ORDER BY {order} LIMIT " + str(MAX_LISTED)
)


def list_filter_attributes(
    store: Store, selection: Selection, page: Slice
) -> list[FilterAttribute]:
    """Return the attributes that most searches filtered by."""
    rows = store.read(
        _FILTERS.format(
            columns="json_extract(used.value, '$[0]'), count(DISTINCT number)",
            where=selection.where, more="", groups="1", order="2 DESC, 1",
        ),
        *selection.values,
    )  # fmt: skip
    return [{"attribute": attribute, "count": count} for attribute, count in page.of(rows)]


def list_filter_values(
    store: Store, selection: Selection, page: Slice, attributes: Sequence[str]
) -> list[FilterValue]:
    """Return the most frequent filters by these attributes."""
    rows = store.read(
        _FILTERS.format(
            columns="used.value, count(DISTINCT number)", where=selection.where,
            more="AND json_extract(used.value, '$[0]') IN (SELECT value FROM json_each(?))",
            groups="1", order="2 DESC, 1",
        ),
        *selection.values,
        msgspec.json.encode(list(attributes)).decode(),
    )  # fmt: skip
    return [
        {**_describe_filter(msgspec.json.decode(used)), "count": n} for used, n in page.of(rows)
    ]


def list_unanswered_filters(
    store: Store, selection: Selection, page: Slice
) -> list[UnansweredFilters]:
    """Return the filters that most searches without hits had together."""
    rows = store.read(
        f"SELECT filters, count(*) FROM counted WHERE {selection.where} AND hits = 0 "
        f"AND filters IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MAX_LISTED}",
        *selection.values,
    )
    return [
        {"count": count, "values": list(map(_describe_filter, msgspec.json.decode(filters)))}
        for filters, count in page.of(rows)
    ]


def _describe_filter(parts: Sequence[Any]) -> FilterPart:
    attribute, operator, value = parts
    return {"attribute": attribute, "operator": operator, "value": value}


def list_countries(store: Store, selection: Selection, page: Slice) -> list[CountryCount]:
    """Return the countries with the most searches."""
    rows = store.read(
        f"SELECT country, count(*) FROM counted WHERE {selection.where} AND country IS NOT NULL "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MAX_LISTED}",
        *selection.values,
    )
    return [{"country": country, "count": count} for country, count in page.of(rows)]

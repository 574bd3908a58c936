"""Figures of selected searches, by day, by query, or by variant and user.

A selection has an index, a period of days and analytics tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, NamedTuple

from svc_notebook.core.api.shapes.analytics import CurrencyRevenue, Period, PositionClicks
from svc_notebook.errors import BadInput
from svc_notebook.service.analytics.search_counts import normalize_query
from svc_notebook.service.engine.filters.grammar import Facet, Group, Tag, Term, parse_text
from svc_notebook.service.store import DAY_MS, Store, current_milliseconds

# The default period, which ends today, and the longest one.
DEFAULT_DAYS, MAX_DAYS = 8, 1000
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Selection:
    """Counted searches of an index; `where` is a condition in SQL, with its values."""

    index: str
    days: range
    where: str
    values: tuple[str | int, ...]

    @classmethod
    def of(cls, index: str, period: Period, search: str | None = None) -> Selection:
        """Return the selection of a request; raises `BadInput` for an invalid period or tags."""
        days = _read_days(period.get("startDate"), period.get("endDate"))
        conditions = [f"index_name = ? AND time >= {days.start * DAY_MS}"]
        conditions += [f"time < {days.stop * DAY_MS}", "superseded = 0"]
        values: list[str | int] = [index]
        if search is not None:
            conditions.append("query = ?")
            values.append(normalize_query(search))
        for group in parse_text(period.get("tags") or "", "tags"):
            conditions.append(f"({' OR '.join('EXISTS (' + _HAS_TAG + ')' for _ in group)})")
            values += _tags(group)
        return cls(index, days, " AND ".join(conditions), tuple(values))

    @classmethod
    def of_test(cls, index: str, test: int) -> Selection:
        """Return the searches that took part in an A/B test."""
        return cls(index, range(0), "test = ? AND superseded = 0", (test,))

    def dates(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the date of each day of the period."""
        for day in self.days:
            yield day, (_EPOCH + timedelta(day)).isoformat()


_HAS_TAG = "SELECT 1 FROM json_each(tags) AS tag WHERE tag.value = ?"


def _read_days(start: str | None, end: str | None) -> range:
    """Return the days of a period, counted from 1970."""
    today = datetime.fromtimestamp(current_milliseconds() / 1000, UTC).date()
    last = _read_date("endDate", end) if end else today
    first = _read_date("startDate", start) if start else last - timedelta(DEFAULT_DAYS - 1)
    days = range((first - _EPOCH).days, (last - _EPOCH).days + 1)
    if not days:
        raise BadInput(f"`startDate` {first} is after `endDate` {last}")
    if len(days) > MAX_DAYS:
        raise BadInput(
            f"`startDate` to `endDate` are {len(days):,} days: request at most {MAX_DAYS:,}"
        )
    return days


def _read_date(name: str, text: str) -> date:
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise BadInput(f"`{name}` must be a date such as 2026-01-31, not {text[:40]!r}") from None


def _tags(group: Group) -> Iterator[str]:
    for term in group:
        yield _tag_of(term)


def _tag_of(term: Term) -> str:
    """Return the text of a tag; one with a colon is parsed as a facet."""
    if isinstance(term, (Facet, Tag)) and not term.negated:
        return term.value if isinstance(term, Tag) else f"{term.attribute}:{term.value}"
    raise BadInput(
        "`tags` are names with AND and OR between them; NOT and numbers are not possible"
    )


GroupBy = Literal["day", "query", "variant_user", "all"]
GROUPS: Mapping[GroupBy, str] = {
    "day": f"time / {DAY_MS}",
    "query": "query",
    # As JSON: the variant, the user, and whether the query is empty.
    "variant_user": "json_array(variant, user, query = '')",
    "all": "''",
}
Key = str | int
# Single positions, then ranges; -1 is the end of the hits.
POSITION_RANGES = [*((position, position) for position in range(1, 11)), (11, 20), (21, -1)]


class Figures(NamedTuple):
    """What was counted of some searches; tracked ones have a queryID.

    `clicks` are clicked hits and `positions` the sum of their positions; `clicked`, `converted`,
    `added` and `bought` are searches with at least one such outcome, the others are events.
    """

    searches: int = 0
    unanswered: int = 0
    unanswered_with_filters: int = 0
    tracked: int = 0
    clicked: int = 0
    clicks: int = 0
    positions: int = 0
    converted: int = 0
    conversions: int = 0
    added: int = 0
    additions: int = 0
    bought: int = 0
    purchases: int = 0
    hits: int = 0  # of the last search

    @classmethod
    def total(cls, parts: Iterable[Figures]) -> Figures:
        """Return the sums; that of `hits` has no meaning."""
        return cls(*map(sum, zip(cls(), *parts, strict=True)))


_FIGURES = """
    SELECT {group}, count(*), sum(hits = 0), sum(hits = 0 AND filters IS NOT NULL),
        count(query_id), sum(clicks > 0), sum(clicks), sum(positions),
        sum(conversions > 0), sum(conversions), sum(additions > 0), sum(additions),
        sum(purchases > 0), sum(purchases), hits, max(number)
    FROM counted WHERE {where} GROUP BY 1
"""
# Outcomes with revenue; the first condition leaves out searches without any.
HAS_REVENUE = (
    "purchases > 0 AND o.kind = 'purchase' AND o.currency IS NOT NULL AND o.revenue IS NOT NULL"
)
_OUTCOMES = """
    SELECT {columns} FROM counted AS c JOIN outcomes AS o ON o.query_id = c.query_id
    WHERE {where} AND {condition} GROUP BY {groups}
"""


def summarize(store: Store, selection: Selection, by: GroupBy) -> dict[Key, Figures]:
    """Return the figures of each group; of the searches of a query, the last one gives the hits."""
    rows = store.read(_FIGURES.format(group=GROUPS[by], where=selection.where), *selection.values)
    # The last column only selects the row that `hits` is taken from.
    return {key: Figures(*figures) for key, *figures, _ in rows}


def count_users(store: Store, selection: Selection, by: GroupBy) -> dict[Key, int]:
    """Return the number of users who searched, by group."""
    return dict(
        store.read(
            f"SELECT {GROUPS[by]}, count(DISTINCT user) FROM counted WHERE {selection.where} "
            "GROUP BY 1",
            *selection.values,
        )
    )


def count_positions(
    store: Store, selection: Selection, by: GroupBy
) -> dict[Key, list[PositionClicks]]:
    """Return the number of clicks in each range of positions, by group."""
    rows = read_outcomes(
        store, selection, f"{GROUPS[by]}, position, count(*)",
        "clicks > 0 AND o.kind = 'click' AND o.position IS NOT NULL", "1, 2",
    )  # fmt: skip
    counts: dict[Key, list[int]] = {}
    for key, position, clicks in rows:
        ranges = counts.setdefault(key, [0] * len(POSITION_RANGES))
        ranges[_range_of(position)] += clicks
    return {key: describe_positions(ranges) for key, ranges in counts.items()}


def describe_positions(counts: Iterable[int] = (0,) * len(POSITION_RANGES)) -> list[PositionClicks]:
    """Return the ranges of positions with their numbers of clicks."""
    return [
        {"position": list(limits), "clickCount": clicks}
        for limits, clicks in zip(POSITION_RANGES, counts, strict=True)
    ]


def _range_of(position: int) -> int:
    return next(
        number for number, (_, last) in enumerate(POSITION_RANGES) if position <= last or last == -1
    )


def sum_revenue(
    store: Store, selection: Selection, by: GroupBy
) -> dict[Key, dict[str, CurrencyRevenue]]:
    """Return the revenue of purchases by currency, by group."""
    rows = read_outcomes(
        store, selection, f"{GROUPS[by]}, currency, sum(revenue)",
        HAS_REVENUE, "1, 2",
    )  # fmt: skip
    return collect_revenue(rows)


def collect_revenue(rows: Iterable[Any]) -> dict[Key, dict[str, CurrencyRevenue]]:
    """Return the revenue by currency of rows of group, currency and revenue."""
    revenues: dict[Key, dict[str, CurrencyRevenue]] = {}
    for key, currency, revenue in rows:
        revenues.setdefault(key, {})[currency] = {"currency": currency, "revenue": revenue}
    return revenues


def total_revenue(parts: Iterable[Mapping[str, CurrencyRevenue]]) -> dict[str, CurrencyRevenue]:
    """Return the sum of revenues by currency."""
    total: dict[str, CurrencyRevenue] = {}
    for part in parts:
        for currency, row in part.items():
            before = total[currency]["revenue"] if currency in total else 0.0
            total[currency] = {"currency": currency, "revenue": before + row["revenue"]}
    return total


def read_outcomes(
    store: Store, selection: Selection, columns: str, condition: str, groups: str
) -> list[tuple[Any, ...]]:
    """Return columns of searches joined with their outcomes."""
    sql = _OUTCOMES.format(
        columns=columns, where=selection.where, condition=condition, groups=groups
    )
    return store.read(sql, *selection.values)


def rate(part: int, whole: int) -> float | None:
    """Return a share, or None of nothing."""
    return part / whole if whole else None

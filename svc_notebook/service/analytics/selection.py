"""A selection of counted searches: an index, a period of days, and analytics tags."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from svc_notebook.errors import BadInput
from svc_notebook.service.analytics.search_counts import normalize_query
from svc_notebook.service.engine.filters.grammar import parse_text
from svc_notebook.service.engine.filters.terms import Facet, Group, Tag, Term
from svc_notebook.service.events import DAY_MS, current_milliseconds

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
    def of(
        cls,
        index: str,
        start: str | None = None,
        end: str | None = None,
        tags: str | None = None,
        search: str | None = None,
    ) -> Selection:
        """Return the selection of a request; raises `BadInput` for an invalid period or tags."""
        days = _read_days(start, end)
        conditions = [f"index_name = ? AND time >= {days.start * DAY_MS}"]
        conditions += [f"time < {days.stop * DAY_MS}", "superseded = 0"]
        values: list[str | int] = [index]
        if search is not None:
            conditions.append("query = ?")
            values.append(normalize_query(search))
        for group in parse_text(tags or "", "tags"):
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

"""Counted searches: collected in memory, stored in groups, and deleted when they are old."""

from __future__ import annotations

import sqlite3
import threading
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import msgspec
import numpy as np

from svc_notebook.errors import BadInput
from svc_notebook.service.engine.filters.filters import parse_filters
from svc_notebook.service.engine.filters.grammar import TAGS, Between, Facet, Tag, Term
from svc_notebook.service.events import CLEANUP_SECONDS, MAX_SEARCH_DISTANCE_MS, delete_old_rows
from svc_notebook.service.rules.filters import FILTERS
from svc_notebook.service.store import DAY_MS, Store, current_milliseconds

# Within this time, a query that continues the typing of the last one replaces it.
TYPING_MS = 30_000
# Maximum number of searches waiting to be written; while the disk is full, further ones are lost.
MAX_PENDING_SEARCHES = 50_000
# Users whose last search is in memory; beyond, those who have not searched lately are dropped.
MAX_TYPING_USERS = 10_000
# The ids of objects that no counted search returned are deleted at this interval.
PRUNE_SECONDS = 24 * 3600.0
OBJECT_NUMBER = "I"  # the type code of `array` for four bytes

_INSERT = (
    "INSERT INTO counted (number, time, index_name, query, hits, user, query_id, filters, tags, "
    "country, objects, test, variant) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

# Hits of a search that count in the most frequent hits.
MAX_COUNTED_HITS = 20
# A tag with this prefix names the country of the user: the service does not look up addresses.
COUNTRY_TAG = "country:"
# A query that replaces an earlier one by an edit has at least this number of characters.
MIN_EDITED_CHARACTERS = 3
_NEGATED = {"<": ">=", "<=": ">", "=": "!=", "!=": "=", ">": "<=", ">=": "<"}


class Retention(NamedTuple):
    """How long counted searches are kept: days, and maximum number of searches."""

    days: int = 90
    searches: int = 1_000_000


class _LastSearch(NamedTuple):
    number: int
    time: int
    query: str


class SearchCounter:
    """Counted searches in memory, written regularly: a kill may lose those of the last second."""

    def __init__(self, store: Store, retention: Retention) -> None:
        self._store = store
        self._retention = retention
        self._lock, self._flushing = threading.Lock(), threading.Lock()
        self._new: list[CountedSearch] = []
        self._number: int = store.read("SELECT coalesce(max(number), 0) FROM counted")[0][0]
        self._last: dict[tuple[str, str], _LastSearch] = {}
        self._cleanup_after = 0.0
        self._prune_after = time.monotonic() + PRUNE_SECONDS

    def add(self, search: CountedSearch) -> None:
        """Count one search in memory."""
        with self._lock:
            if len(self._new) < MAX_PENDING_SEARCHES:
                self._new.append(search)

    def flush(self) -> None:
        """Write new searches to disk; once a minute delete those that are not kept."""
        with self._flushing:
            with self._lock:
                new = self._new[:]
            if new:
                self._write(new)
                with self._lock:
                    del self._new[: len(new)]
            if time.monotonic() >= self._cleanup_after:
                self._cleanup_after = time.monotonic() + CLEANUP_SECONDS
                self._clean_up()

    def _write(self, new: Sequence[CountedSearch]) -> None:
        queries = [normalize_query(search.query) for search in new]
        numbers = range(self._number + 1, self._number + 1 + len(new))
        last = dict(self._last)
        superseded = _supersede(last, zip(numbers, new, queries, strict=True))
        with self._store.writing() as connection:
            objects = _number_objects(connection, new)
            # A search without a queryID cannot be clicked, so that it need not be kept.
            connection.executemany(
                _INSERT,
                (
                    _row(number, search, query, objects)
                    for number, search, query in zip(numbers, new, queries, strict=True)
                    if search.query_id or number not in superseded
                ),
            )
            marked = [(number,) for number in superseded]
            connection.executemany(
                "DELETE FROM counted WHERE number = ? AND query_id IS NULL", marked
            )
            connection.executemany(
                "UPDATE counted SET superseded = 1 WHERE number = ? AND NOT EXISTS "
                "(SELECT 1 FROM outcomes WHERE outcomes.query_id = counted.query_id)",
                marked,
            )
        self._number, self._last = numbers[-1], last

    def _clean_up(self) -> None:
        now = current_milliseconds()
        if len(self._last) > MAX_TYPING_USERS:
            self._last = {
                key: last for key, last in self._last.items() if now - last.time <= TYPING_MS
            }
        delete_old_rows(
            self._store, "counted", now - self._retention.days * DAY_MS, self._retention.searches
        )
        # Events of a search arrive within an hour; later, one that was typed over is not needed.
        due = now - MAX_SEARCH_DISTANCE_MS
        with self._store.writing() as connection:
            connection.execute(
                "DELETE FROM shown WHERE query IN "
                "(SELECT query_id FROM counted WHERE superseded = 1 AND time < ?)",
                (due,),
            )
            connection.execute("DELETE FROM counted WHERE superseded = 1 AND time < ?", (due,))
        if time.monotonic() >= self._prune_after:
            self._prune_after = time.monotonic() + PRUNE_SECONDS
            self._prune_objects()

    def _prune_objects(self) -> None:
        with self._store.writing() as connection:
            rows = connection.execute("SELECT objects FROM counted WHERE objects IS NOT NULL")
            used = np.unique(np.frombuffer(b"".join(row[0] for row in rows), OBJECT_NUMBER))
            connection.execute(
                "DELETE FROM counted_objects WHERE number NOT IN (SELECT value FROM json_each(?))",
                (_json(used.tolist()),),
            )


def _supersede(last: dict[tuple[str, str], _LastSearch], searches: Any) -> set[int]:
    """Return the numbers of searches that the next one of the same user replaces."""
    superseded = set()
    for number, search, query in searches:
        key = search.index, search.user
        earlier = last.get(key)
        if (
            earlier
            and search.time - earlier.time <= TYPING_MS
            and is_refinement(earlier.query, query)
        ):
            superseded.add(earlier.number)
        last[key] = _LastSearch(number, search.time, query)
    return superseded


def _number_objects(
    connection: sqlite3.Connection, new: Sequence[CountedSearch]
) -> Mapping[str, int]:
    """Return the numbers of the objects that the searches returned."""
    ids = _json(sorted({hit for search in new for hit in search.hits}))
    connection.execute(
        "INSERT OR IGNORE INTO counted_objects (id) SELECT value FROM json_each(?)", (ids,)
    )
    return dict(
        connection.execute(
            "SELECT id, number FROM counted_objects WHERE id IN (SELECT value FROM json_each(?))",
            (ids,),
        ).fetchall()
    )


def _row(
    number: int, search: CountedSearch, query: str, objects: Mapping[str, int]
) -> tuple[Any, ...]:
    numbers = array(OBJECT_NUMBER, [objects[hit] for hit in search.hits])
    return (
        number, search.time, search.index, query, search.hit_count, search.user, search.query_id,
        _json(filters) if (filters := search.used_filters()) else None,
        _json(sorted({*map(make_storable, search.tags)})) if search.tags else None,
        search.country and make_storable(search.country), numbers.tobytes() or None,
        search.test, search.variant,
    )  # fmt: skip


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


class CountedSearch(msgspec.Struct, array_like=True):
    """A search that counts in analytics; `time` is in milliseconds since 1970."""

    time: int
    index: str
    query: str
    hit_count: int
    token: str
    address: str
    query_id: str | None
    filters: dict[str, Any]
    tags: list[str]
    hits: list[str]
    test: int | None = None
    variant: int | None = None

    @classmethod
    def of(
        cls,
        time: int,
        index: str,
        address: str,
        params: Mapping[str, Any],
        answer: Mapping[str, Any],
        hits: Sequence[str],
    ) -> CountedSearch:
        """Return the facts of an answered search; the rest is computed when it is stored."""
        return cls(
            time,
            index,
            answer["query"],
            answer["nbHits"],
            str(params.get("userToken") or ""),
            address,
            answer.get("queryID"),
            {name: params[name] for name in FILTERS if params.get(name)},
            params.get("analyticsTags") or [],
            list(hits[:MAX_COUNTED_HITS]),
            answer.get("abTestID"),
            answer.get("abTestVariantID"),
        )

    @property
    def user(self) -> str:
        """The user token, or a digest of the address: addresses are not stored."""
        return identify_user(self.token, self.address)

    @property
    def country(self) -> str | None:
        """The country code that a tag gives, in capitals."""
        codes = [tag.removeprefix(COUNTRY_TAG) for tag in self.tags if tag.startswith(COUNTRY_TAG)]
        return codes[0].upper() if codes else None

    def used_filters(self) -> list[list[str]]:
        """Return the filters as sorted lists of attribute, operator and value."""
        try:
            groups = parse_filters(self.filters)
        except BadInput:  # the search ignored them, as it does with those of a damaged rule
            return []
        used = {part for group in groups for term in group for part in _describe(term)}
        return [list(map(make_storable, part)) for part in sorted(used)]


def identify_user(token: str, address: str) -> str:
    """Return the user token, or else a digest of the address."""
    if token:
        return make_storable(token)
    return "address-" + blake2b(address.encode(), digest_size=8).hexdigest()


def make_storable(text: str) -> str:
    """Return a text with `?` for lone surrogates, which JSON inside of a parameter can contain."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def normalize_query(text: str) -> str:
    """Return a query as it is counted: in lower case, with single spaces between words."""
    return " ".join(make_storable(text).lower().split())


def is_refinement(earlier: str, later: str) -> bool:
    """Return whether a query continues the typing of the earlier one of the same user.

    It does if one is the beginning of the other, or if one edit separates them. An emptied search
    box does not continue what was typed before.
    """
    if later.startswith(earlier):
        return True
    if not later:
        return False
    return earlier.startswith(later) or _differ_by_one_edit(earlier, later)


def _differ_by_one_edit(text: str, other: str) -> bool:
    if min(len(text), len(other)) < MIN_EDITED_CHARACTERS or abs(len(text) - len(other)) > 1:
        return False
    pairs = zip(text, other, strict=False)
    start = next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(text), len(other)))
    rests = text[start:], other[start:]
    swapped = rests[0][:2] == rests[1][1::-1] and rests[0][2:] == rests[1][2:]
    return swapped or rests[0][1:] in (rests[1], rests[1][1:]) or rests[0] == rests[1][1:]


def _describe(term: Term) -> Iterator[tuple[str, str, str]]:
    if isinstance(term, Between):
        yield term.attribute, ">=", f"{term.low:g}"
        yield term.attribute, "<=", f"{term.high:g}"
    elif isinstance(term, (Facet, Tag)):
        name = term.attribute if isinstance(term, Facet) else TAGS
        yield name, ":", f"-{term.value}" if term.negated else term.value
    else:
        operator = _NEGATED[term.operator] if term.negated else term.operator
        yield term.attribute, operator, f"{term.number:g}"

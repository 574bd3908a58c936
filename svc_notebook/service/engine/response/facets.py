"""Facets of the matching records: counts, statistics and search for facet values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.execution import check_time, count_answer_bytes, segment_threads
from svc_notebook.service.engine.index.columns import Labels
from svc_notebook.service.engine.index.segment import Segment, SegmentReader
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes
from svc_notebook.service.engine.ranking.retrieval import match_words

T = TypeVar("T")
R = TypeVar("R")
# Segments, each with the mask of its rows that count.
Chosen = Sequence[tuple[Segment, Array]]

# With more values than this, segments are joined by value hashes instead of names.
MIN_PRESELECTED_VALUES = 2000
# Bytes of a facet value in an answer, besides its text.
VALUE_BYTES = 16


@dataclass(frozen=True)
class FacetMatch:
    """One facet value and the number of records that have it."""

    value: str
    count: int


class Named(NamedTuple):
    """A run of words, and the facet values that consist of these words."""

    start: int
    end: int
    values: tuple[str, ...]


def counts_after_distinct(path: str, options: EffectiveParameters) -> bool:
    """Return whether a facet is counted after distinct, by the search or else the settings."""
    after = options.params.get("facetingAfterDistinct")
    after = options.faceted[path].after_distinct if after is None else after
    return bool(after and options.distinct)


def count_facet(chosen: Chosen, path: str, options: EffectiveParameters) -> dict[str, int]:
    """Count the values of a facet and return the most frequent or the first ones."""
    check_time()
    labelled = _skip_missing((segment.labels.get(path), mask) for segment, mask in chosen)
    counts = _map_parts(lambda part: part[0].count(part[1]), labelled)
    parts = [(labels, count) for (labels, _), count in zip(labelled, counts, strict=True)]
    max_values = options["maxValuesPerFacet"]
    first = _first_values if options["sortFacetValuesBy"] == "alpha" else _most_frequent
    values = dict(first(parts, max_values))
    count_answer_bytes(sum(map(len, values)) + VALUE_BYTES * len(values))
    return values


def measure_facet(chosen: Chosen, path: str) -> dict[str, float] | None:
    """Return the min, max, avg and sum of a facet's numbers; None without numbers."""
    check_time()
    columns = _skip_missing((segment.numbers.get(path), mask) for segment, mask in chosen)
    summaries = _map_parts(lambda part: part[0].summarize(part[1]), columns)
    parts = [part for part in summaries if part is not None]
    if not parts:
        return None
    total, count = sum(part.total for part in parts), sum(part.count for part in parts)
    stats = {
        "min": min(part.lowest for part in parts),
        "max": max(part.highest for part in parts),
        "avg": total / count,
        "sum": total,
    }
    return {name: _to_number(value) for name, value in stats.items()}


def _skip_missing(columns: Iterable[tuple[T | None, Array]]) -> list[tuple[T, Array]]:
    """Return the columns of the segments that have the facet."""
    return [(column, mask) for column, mask in columns if column is not None]


def search_facet(
    chosen: Chosen, path: str, query: Query, options: EffectiveParameters, max_values: int
) -> list[FacetMatch]:
    """Return the facet values that match a query, the most frequent first by default."""
    counts: Counter[str] = Counter()
    for segment, mask in chosen:
        check_time()
        if (labels := segment.labels.get(path)) is not None:
            counts.update(_match_values(labels, labels.count(mask), query, options))
    alphabetical = options["sortFacetValuesBy"] == "alpha"
    order: Callable[[tuple[str, int]], Any] = (
        (lambda item: item[0]) if alphabetical else (lambda item: (-item[1], item[0]))
    )
    return [FacetMatch(*item) for item in sorted(counts.items(), key=order)[:max_values]]


def find_named(
    readers: Sequence[SegmentReader], path: str, words: Sequence[str], rules: TokenizerSettings
) -> list[Named]:
    """Return the runs of words that are facet values, the longest at each position first."""
    values_at: dict[tuple[int, int], set[str]] = {}
    for reader in readers:
        if (labels := reader.segment.labels.get(path)) is not None:
            for span, code in labels.word_index(rules).find(words):
                check_time()
                if reader.alive[labels.rows[labels.codes == code]].any():
                    values_at.setdefault(span, set()).add(labels.names[code])
    spans = sorted(values_at, key=lambda span: (span[0], -span[1]))
    return [Named(*span, tuple(sorted(values_at[span]))) for span in spans]


def _map_parts(act: Callable[[tuple[T, Array]], R], parts: Sequence[tuple[T, Array]]) -> list[R]:
    """Apply a function to the column of each segment and the mask of its rows."""
    return segment_threads.map(act, parts, sum(len(mask) for _, mask in parts))


def check_searchable(path: str, options: EffectiveParameters) -> None:
    """Raise for a facet that is not searchable."""
    entry = options.faceted.get(path)
    if entry is None or not entry.searchable or not options.is_visible(path):
        searchable = [path for path, entry in options.faceted.items() if entry.searchable]
        advice = did_you_mean(path, searchable) if entry is None else ""
        raise BadInput(
            f'facetName: cannot search in "{path}"; add searchable({path}) to '
            f"attributesForFaceting{advice}"
        )


def _match_values(
    labels: Labels, counts: Array, query: Query, options: EffectiveParameters
) -> dict[str, int]:
    """Match the query against each value as if the value were a record."""
    rows = counts > 0
    if query.words:
        postings = labels.words(options.rules)
        fields = SearchedAttributes.unrestricted()
        _, rows = match_words(postings, rows, query, fields, options.words_without_typos)
    codes = np.flatnonzero(rows)
    return dict(zip(labels.names.take(codes), counts[codes].tolist(), strict=True))


def _most_frequent(parts: Sequence[tuple[Labels, Array]], max_values: int) -> list[tuple[str, int]]:
    if sum(len(labels.names) for labels, _ in parts) > MIN_PRESELECTED_VALUES and len(parts) > 1:
        parts = _only_frequent(parts, max_values)
    if len(parts) == 1:
        labels, counts = parts[0]
        codes = np.argsort(-counts, kind="stable")[:max_values]
        codes = codes[counts[codes] > 0]
        return list(zip(labels.names.take(codes), counts[codes].tolist(), strict=True))
    total = _add_up(parts)
    return sorted(total.items(), key=lambda item: (-item[1], item[0]))[:max_values]


def _first_values(parts: Sequence[tuple[Labels, Array]], max_values: int) -> list[tuple[str, int]]:
    first = [(labels, _keep_first(counts, max_values)) for labels, counts in parts]
    return sorted(_add_up(first).items())[:max_values]


def _keep_first(counts: Array, max_values: int) -> Array:
    used = np.flatnonzero(counts)[:max_values]
    kept = np.zeros_like(counts)
    kept[used] = counts[used]
    return kept


def _only_frequent(
    parts: Sequence[tuple[Labels, Array]], max_values: int
) -> list[tuple[Labels, Array]]:
    """Drop values that cannot be among the most frequent over all segments."""
    hashes = np.concatenate([labels.hashes for labels, _ in parts])
    counts = np.concatenate([counts for _, counts in parts])
    _, number = np.unique(hashes, return_inverse=True)
    totals = np.bincount(number, weights=counts)
    last = np.partition(totals, -max_values)[-max_values] if 0 < max_values < len(totals) else 1
    kept = np.where(totals[number] >= max(last, 1), counts, 0)
    bounds = np.cumsum([len(counts) for _, counts in parts])[:-1]
    return [(labels, part) for (labels, _), part in zip(parts, np.split(kept, bounds), strict=True)]


def _add_up(parts: Sequence[tuple[Labels, Array]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for labels, counts in parts:
        used = np.flatnonzero(counts)
        names = labels.names.take(used)
        total.update(dict(zip(names, counts[used].tolist(), strict=True)))
    return total


def _to_number(value: float) -> float:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value

"""Rank by one criterion after another, first inside each segment, then across segments.

The result is an order of rows, whose first ones a reranker may order by its scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.index.schema import Sorted, read_sort
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.ranking.criteria import NO_ROWS, TEXT, Candidates
from svc_notebook.service.engine.ranking.top_k_pruning import (
    MIN_LEADING_CANDIDATES,
    prune_by_positions,
)
from svc_notebook.service.engine.term_dictionary import TermDictionary, rank_strings

Step = str | Sorted
# More rows than this are sorted by one column after the other, without columns of equal values.
MIN_SORTED_BY_COLUMN = 1000
# Returns the scores of records; raises `LocalServiceFailed`.
ScoreRecords = Callable[[Sequence[Mapping[str, Any]]], Array]


@dataclass(frozen=True, eq=False)
class Order:
    """Rows of several segments in final order; `order[i:j]` returns objectIDs.

    `ranked` are candidates with known criteria from the ranking, usually all rows of the order.
    """

    segments: Sequence[Segment]
    numbers: Array
    rows: Array
    ranked: Mapping[Segment, Candidates] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, span: slice) -> list[str]:
        numbers, rows = self.numbers[span], self.rows[span]
        if len(self.segments) == 1:
            return self.segments[0].ids.take(rows)
        ids = np.empty(len(rows), object)
        for number in set(numbers.tolist()):
            chosen = numbers == number
            ids[chosen] = self.segments[number].ids.take(rows[chosen])
        return list(ids)

    def take(self, places: Array | slice) -> Order:
        """Return the order at some places only."""
        return Order(self.segments, self.numbers[places], self.rows[places], self.ranked)


@dataclass
class HitReranker:
    """Orders the first `count` hits by their scores; equal ones stay in their order.

    `scores` are those of the hits by objectID, and `notes` say why there are none.
    """

    count: int = 0
    fetch: Callable[[Sequence[str]], Iterable[Mapping[str, Any] | None]] = lambda _: ()
    score: ScoreRecords | None = None
    scores: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def order_span(self, order: Order, span: slice) -> Order:
        """Return the hits of a span."""
        if not self.count or span.start >= min(self.count, len(order)):
            return order.take(span)
        if self.score is None:
            self.notes = ("reranker: start the service with --reranker",)
            return order.take(span)
        count = min(self.count, len(order))
        ids = order[:count]
        records = [record or {} for record in self.fetch(ids)]
        try:
            scores = self.score(records)
        except LocalServiceFailed as error:
            self.notes = (f"reranker: {error}; hits are in the order of the ranking",)
            return order.take(span)
        self.scores = dict(zip(ids, scores.tolist(), strict=True))
        best = np.argsort(-scores, kind="stable")
        return order.take(np.concatenate([best, np.arange(count, len(order))])[span])


@dataclass(frozen=True, eq=False)
class RankingColumn:
    """One column of sort values, lower first; text columns also have their names."""

    values: Array
    names: TermDictionary | None = None
    descending: bool = False

    def sort_values(self) -> Array:
        """Return numbers with the column's sort order, valid within its segment."""
        return -self.values if self.descending else self.values


@dataclass(frozen=True, eq=False)
class Ranked:
    """The best rows of one segment, ascending, with their sort columns.

    A column is None if all rows have 0.
    """

    candidates: Candidates
    keys: Sequence[RankingColumn | None]


def read_steps(options: EffectiveParameters, *, reranks: bool = False) -> list[Step]:
    """Return the ranking of a search; typo tolerance `min` and `strict` put typos first.

    If the search re-ranks, textual relevance replaces the criteria about positions.
    """
    steps: list[Step] = []
    for entry in options["ranking"]:
        if entry == "custom":
            steps += [read_sort(text, "customRanking") for text in options["customRanking"]]
        elif entry in CRITERIA:
            steps.append(entry)
        else:
            steps.append(read_sort(entry, "ranking"))
    if reranks:
        steps = _replace_positions(steps)
    if options.typo_tolerance in ("min", "strict"):
        steps = ["typo", *(step for step in steps if step != "typo")]
    if options.sorts_relevant:
        steps.sort(key=lambda step: isinstance(step, str))
    return steps


POSITION_CRITERIA = ("proximity", "attribute", "exact")
CRITERIA = ("typo", "geo", "words", "filters", *POSITION_CRITERIA)


def _replace_positions(steps: Sequence[Step]) -> list[Step]:
    """Put textual relevance in the place of the first criterion of positions; drop the others."""
    first = next((at for at, step in enumerate(steps) if step in POSITION_CRITERIA), None)
    if first is None:
        return [*steps]
    after = (step for step in steps[first:] if step not in POSITION_CRITERIA)
    return [*steps[:first], TEXT, *after]


def rank_segment(
    candidates: Candidates, steps: Sequence[Step], hits_needed: int, *, scores_ties: bool = True
) -> Ranked:
    """Return the rows that may be among the best `hits_needed`, with their sort columns.

    After each criterion only rows that may still be among them are compared by the next, more
    expensive one. Ties for the last place are broken by textual relevance if `scores_ties`, then
    by id.
    """
    top_k = _TopK(candidates, hits_needed, hits_needed)
    for number, step in enumerate(steps):
        check_time()
        if step in POSITION_CRITERIA:
            top_k.prune(steps[number:])
        for key in top_k.read_keys(step):
            top_k.apply(key)
    return top_k.finish(scores_ties=scores_ties)


@dataclass(eq=False)
class _TopK:
    """The rows of a segment that may be among the best `hits_needed`; ties share the last place.

    `tied` is the mask of the tied rows, and None if all are tied: then they are equal in all keys.
    `ties_needed` is the number of tied rows that are needed.
    """

    candidates: Candidates
    hits_needed: int
    ties_needed: int
    tied: Array | None = None
    keys: list[RankingColumn | None] = field(default_factory=list)

    def prune(self, steps: Sequence[Step]) -> None:
        """Prune rows that the next steps would drop, where that is known in advance."""
        if self.candidates.count < max(self.hits_needed + 1, MIN_LEADING_CANDIDATES):
            return
        pruned = prune_by_positions(self.candidates, steps, self.tied, self.ties_needed)
        if pruned is not None:
            kept, self.candidates = pruned
            if self.tied is None:
                self._take_keys(slice(self.candidates.count))
            else:
                self.tied = self.tied[kept]
                self._take_keys(kept)

    def read_keys(self, step: Step) -> Iterator[RankingColumn | None]:
        """Return the sort columns of a step, each after the previous one is applied."""
        if isinstance(step, Sorted):
            key = self.candidates.match.segment.sort_key(step.path)
            yield RankingColumn(key.sort_values(self.candidates.rows, descending=step.descending))
            if key.codes is None:
                yield None
            else:
                codes = key.codes[self.candidates.rows]
                yield RankingColumn(codes, key.names, step.descending)
        elif step == "typo" and self.candidates.occurrences.have_no_typos:
            yield None
        elif (column := self.candidates.column(step)) is not None:
            yield RankingColumn(column)

    def apply(self, key: RankingColumn | None) -> None:
        """Apply one more sort column."""
        self.keys.append(key)
        if key is not None and self.candidates.count > self.hits_needed:
            self._cut(key.sort_values())

    def finish(self, *, scores_ties: bool) -> Ranked:
        """Return the best rows; break ties for the last place, then by id.

        With `scores_ties`, textual relevance comes before the id; rows that are not tied need none.
        """
        check_time()
        if scores_ties and self.candidates.count > self.hits_needed:
            places = self._tied_places()
            tied_scores = self.candidates.values_at(TEXT, places)
            if tied_scores is not None:
                scores = np.zeros(self.candidates.count, np.int64)
                scores[places] = tied_scores
                self._cut(scores)
        if self.candidates.count > self.hits_needed:
            kept = np.ones(self.candidates.count, bool)
            kept[self._tied_places()[self.ties_needed :]] = False
            self._keep(np.flatnonzero(kept), None)
        return Ranked(self.candidates, self.keys)

    def _tied_places(self) -> Array:
        if self.tied is None:
            return np.arange(self.candidates.count)
        return np.flatnonzero(self.tied)

    def _cut(self, sort_values: Array) -> None:
        """Drop the rows that are not among the best; those with the last value remain tied."""
        tied = self.tied
        compared = sort_values if tied is None else sort_values[tied]
        # Usually the last needed row has the lowest value.
        last = compared.min()
        lowest = compared == last
        if np.count_nonzero(lowest) < self.ties_needed:
            last = np.partition(compared, self.ties_needed - 1)[self.ties_needed - 1]
        elif tied is None:
            self._keep(np.flatnonzero(lowest), None)
            return
        if tied is None:
            places = np.flatnonzero(sort_values <= last)
            self._keep(places, sort_values[places] == last)
        else:
            places = np.flatnonzero((sort_values <= last) | ~tied)
            self._keep(places, tied[places] & (sort_values[places] == last))

    def _keep(self, kept: Array, tied: Array | None) -> None:
        self.tied = tied
        self.ties_needed = self.hits_needed
        if tied is not None:
            self.ties_needed -= len(tied) - int(np.count_nonzero(tied))
        if len(kept) < self.candidates.count:
            self._take_keys(kept)
            self.candidates.keep(kept)

    def _take_keys(self, kept: Array | slice) -> None:
        self.keys = [
            key and RankingColumn(key.values[kept], key.names, key.descending) for key in self.keys
        ]


def order_all(ranked: Sequence[Ranked], *, scores_ties: bool = True) -> Order:
    """Merge the ranked rows of all segments.

    Complete ties are ordered by textual relevance if `scores_ties`, then by objectID.
    """
    candidates = {part.candidates.match.segment: part.candidates for part in ranked}
    sizes = [len(part.rows) for part in candidates.values()]
    numbers = np.repeat(np.arange(len(ranked), dtype=np.int16), sizes)
    rows = np.concatenate([NO_ROWS, *(part.rows for part in candidates.values())])
    unsorted = Order([*candidates], numbers, rows, candidates)
    columns = zip(*(part.keys for part in ranked), strict=True)
    keys = [_join_keys(column, sizes) for column in columns if any(column)]
    last = np.arange(len(rows)) if len(ranked) < 2 else id_ranks(unsorted)
    places = _sort(keys, last)
    if scores_ties and (tied := _find_tied(keys, places)).any():
        keys.append(_score_tied(ranked, tied))
        places = _sort(keys, last)
    return unsorted.take(places)


def _sort(keys: Sequence[Array], last: Array) -> Array:
    """Return the order by keys, the first of them first, then by the ranks `last`."""
    if len(last) < MIN_SORTED_BY_COLUMN:
        return np.lexsort([last, *reversed(keys)])
    places = np.empty(len(last), np.intp)
    places[last] = np.arange(len(last))
    for key in reversed(keys):
        if key.min() < key.max():
            places = places[np.argsort(key[places], kind="stable")]
    return places


def _find_tied(keys: Sequence[Array], places: Array) -> Array:
    """Return the mask of the rows that are equal to another in all keys."""
    equal = np.ones(max(len(places) - 1, 0), bool)
    for key in keys:
        ordered = key[places]
        equal &= ordered[1:] == ordered[:-1]
    tied = np.zeros(len(places), bool)
    tied[places[:-1][equal]] = True
    tied[places[1:][equal]] = True
    return tied


def _score_tied(ranked: Sequence[Ranked], tied: Array) -> Array:
    """Return textual relevance as a key for the tied rows, 0 for the others."""
    scores = np.zeros(len(tied), np.int64)
    start = 0
    for part in ranked:
        stop = start + len(part.candidates.rows)
        here = np.flatnonzero(tied[start:stop])
        text_scores = part.candidates.values_at(TEXT, here) if len(here) else None
        if text_scores is not None:
            scores[start + here] = text_scores
        start = stop
    return scores


def _join_keys(column: Sequence[RankingColumn | None], sizes: Sequence[int]) -> Array:
    """Return the sort values of all segments; at least one of them has the column."""
    if len(column) == 1 and column[0]:
        # The codes of one segment have the order of its texts, which need not be read.
        return column[0].sort_values()
    if any(key.names for key in column if key):
        return _number_texts(column, sizes)
    return np.concatenate(
        [
            key.sort_values() if key else np.zeros(size, np.int16)
            for key, size in zip(column, sizes, strict=True)
        ]
    )


def _number_texts(column: Sequence[RankingColumn | None], sizes: Sequence[int]) -> Array:
    """Number the texts of all segments, so that they compare across segments."""
    texts = [
        text
        for key, size in zip(column, sizes, strict=True)
        for text in (_read_codes(key) if key else [""] * size)
    ]
    number_of = {text: number for number, text in enumerate(sorted(set(texts)))}
    sort_values = np.fromiter(map(number_of.__getitem__, texts), np.int64, len(texts))
    return -sort_values if any(key.descending for key in column if key) else sort_values


def _read_codes(key: RankingColumn) -> list[str]:
    if key.names is None:
        return [""] * len(key.values)
    texts = np.full(len(key.values), "", object)
    texts[key.values > 0] = key.names.take(key.values[key.values > 0] - 1)
    return list(texts)


def id_ranks(order: Order) -> Array:
    """Return the rank of each record of an order by its objectID."""
    return rank_strings([segment.ids for segment in order.segments], order.numbers, order.rows)

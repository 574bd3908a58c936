"""The steps of one search over all segments: match, remove words, rank, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.execution import check_time, segment_threads
from svc_notebook.service.engine.filters.filters import FilterEvaluation
from svc_notebook.service.engine.filters.geo_search import find_geo_condition
from svc_notebook.service.engine.filters.term_rows import AllOf
from svc_notebook.service.engine.index.schema import Sorted, read_sort
from svc_notebook.service.engine.index.segment import TEXT_SORT_VALUE, Segment, SegmentReader
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes
from svc_notebook.service.engine.ranking.criteria import (
    TEXT,
    UNKNOWN_RANK,
    Candidates,
    CriteriaOptions,
)
from svc_notebook.service.engine.ranking.rank_fusion import (
    FUSED_HITS,
    fuse,
    read_cosines,
    without_semantic_hits,
)
from svc_notebook.service.engine.ranking.ranking import (
    Order,
    Ranked,
    Step,
    order_all,
    rank_segment,
    read_steps,
)
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch, find_cache, match_words
from svc_notebook.service.engine.ranking.text_relevance import (
    SegmentTerms,
    TermStatistics,
    read_scores,
)
from svc_notebook.service.engine.ranking.top_k_pruning import find_best_presorted, is_dense

# Minimum should match does not change queries with fewer words.
MIN_QUERY_WORDS = 4
STEP_HITS = 1000
MANY_QUERY_WORDS = 10
MAX_STEPS = 5

Rank = Callable[[Sequence[SegmentMatch], int], Order]

NO_FILTERS: Mapping[str, Any] = MappingProxyType({})
MAX_REMOVED_WORDS = 5
# With fewer than one match in so many rows, reading their typos is faster than comparing masks.
MIN_SHARE_IN_MASK = 32
KEPT_TYPO_COUNTS = {"min": 1, "strict": 2}


class SearchPlan:
    """The state of one search that is shared by all segments.

    `visible` are filters of the caller's key: a score must not depend on other records. `reranked`
    is the condition for the hits that re-ranking may move; None if it is for all or none.
    """

    def __init__(
        self,
        readers: Sequence[SegmentReader],
        options: EffectiveParameters,
        *,
        scores_ties: bool = True,
        visible: Mapping[str, Any] = NO_FILTERS,
    ) -> None:
        self.readers = readers
        self.options = options
        self.scores_ties = scores_ties
        self.visible = visible
        self.filters = FilterEvaluation.of(options)
        self.geo = find_geo_condition(options.params, readers)
        reranks = bool(options["enableReRanking"])
        reranked = self.filters.reranked if reranks else ()
        self.reranked = AllOf.of(reranked) if reranked else None
        # Criteria in which all hits are equal are left out.
        differs: dict[Step, bool] = {
            "geo": self.geo.ranks,
            "filters": bool(self.filters.differing.groups),
        }
        steps = read_steps(options, reranks=reranks)
        self.steps = [step for step in steps if differs.get(step, True)]
        self.criteria_options = CriteriaOptions.of(options)
        self._records = sum(len(reader.segment) for reader in readers)
        self._eligible: dict[SegmentReader, Array] = {}
        self._fields: dict[tuple[str, ...], SearchedAttributes] = {}

    def match(self, query: Query) -> list[SegmentMatch]:
        """Find the matching rows of each segment."""
        match_reader = partial(self._match_reader, query)
        matches = segment_threads.map(match_reader, self.readers, self._records)
        find_terms = partial(self._find_terms, matches)
        statistics = TermStatistics(cache(find_terms)) if query.words else None
        matches = [replace(match, statistics=statistics) for match in matches]
        kept = KEPT_TYPO_COUNTS.get(str(self.options.typo_tolerance))
        return _keep_fewest_typos(matches, kept) if kept and query.words else matches

    def _find_terms(self, matches: Sequence[SegmentMatch]) -> list[SegmentTerms]:
        seen = SearchPlan(self.readers, EffectiveParameters(self.options.settings, self.visible))
        return [
            SegmentTerms(
                match.segment,
                seen.eligible(reader),
                match.fields,
                [word.typos for word in match.words],
            )
            for reader, match in zip(self.readers, matches, strict=True)
        ]

    def match_or_relax(self, query: Query) -> tuple[Query, Sequence[SegmentMatch]]:
        """Find matches; while there are none, make words optional by `removeWordsIfNoResults`."""
        matches = self.match(query)
        if len(query.words) >= MIN_QUERY_WORDS:
            matches = apply_minimum_should_match(query, matches, self.rank)
        if any(match.count for match in matches):
            return query, matches
        for looser in _make_words_optional(query, self.options["removeWordsIfNoResults"]):
            query, matches = looser, self.match(looser)
            if any(match.count for match in matches):
                break
        return query, matches

    def find_allowed(self, query: Query) -> list[Array]:
        """Return the masks of the rows that pass the filters and have no excluded word."""
        excluding = Query(excluded=query.excluded)
        return [self._match_reader(excluding, reader).rows for reader in self.readers]

    def ranks_by_text(self, query: Query) -> bool:
        """Return whether the text score is the first criterion in which hits may differ."""
        if not self.options["enableReRanking"] or self.reranked is not None:
            return False
        differs: dict[Step, bool] = {
            "typo": self.options.typo_tolerance is not False,
            "words": any(word.optional for word in query.words),
        }
        return next((step for step in self.steps if differs.get(step, True)), None) == TEXT

    def rank(self, matches: Sequence[SegmentMatch], hits_needed: int) -> Order:
        """Return the best `wanted` records in order."""
        if any(match.semantic for match in matches):
            by_words = self.rank(without_semantic_hits(matches), max(hits_needed, FUSED_HITS))
            return fuse(matches, by_words, hits_needed)
        if not self.reranked or not any(match.words for match in matches):
            return self._rank(matches, hits_needed, self.steps)
        order = self._rank(matches, hits_needed, read_steps(self.options))
        return self._rerank(order, matches)

    def _rerank(self, order: Order, matches: Sequence[SegmentMatch]) -> Order:
        """Re-rank the hits that the condition selects among their own positions."""
        if self.reranked is None:
            return order
        passing = {match.segment: self.reranked.find_rows(match.segment) for match in matches}
        moved = np.zeros(len(order), bool)
        for number, segment in enumerate(order.segments):
            here = np.flatnonzero(order.numbers == number)
            moved[here] = passing[segment][order.rows[here]]
        chosen = [replace(match, rows=match.rows & passing[match.segment]) for match in matches]
        best = self._rank(chosen, int(np.count_nonzero(moved)), self.steps)
        numbers, rows = order.numbers.copy(), order.rows.copy()
        numbers[moved], rows[moved] = best.numbers + len(order.segments), best.rows
        return Order([*order.segments, *best.segments], numbers, rows, order.ranked)

    def _rank(
        self, matches: Sequence[SegmentMatch], hits_needed: int, steps: Sequence[Step]
    ) -> Order:
        def rank_match(match: SegmentMatch) -> Ranked:
            check_time()
            match = match.with_own_occurrences()
            candidates = self._choose_candidates(match, hits_needed, steps)
            alone = len(matches) == 1 and candidates.count < 2
            compared = () if alone else steps  # a single record needs no criteria
            return rank_segment(candidates, compared, hits_needed, scores_ties=self.scores_ties)

        if not hits_needed:
            return order_all([])
        ranked = segment_threads.map(rank_match, matches, self._records)
        order = order_all(
            [best for best in ranked if len(best.candidates.rows)], scores_ties=self.scores_ties
        )
        return order.take(slice(hits_needed))

    def _choose_candidates(
        self, match: SegmentMatch, hits_needed: int, steps: Sequence[Step]
    ) -> Candidates:
        """Return the rows to compare: all, or only the best by what is known of whole segments."""
        if match.words:
            share = match.count * MIN_SHARE_IN_MASK
            if steps[:1] == ["typo"] and share > len(match.segment):
                # Masks of all rows are compared faster than the typos of each match are read.
                exact = self.candidates(match, match.find_exact())
                if exact.count >= hits_needed:
                    exact.occurrences.have_no_typos = True
                    return exact
            return self.candidates(match, match.rows)
        order = self._presorted_order(match.segment)
        if order is None or not is_dense(match.rows, hits_needed):
            return self.candidates(match, match.rows)
        scores = None
        if self.filters.differing.groups:
            scores = self.filters.differing.add_up(match.segment, slice(None))
        return self.candidates(match, find_best_presorted(order, match.rows, scores, hits_needed))

    def _presorted_order(self, segment: Segment) -> Array | None:
        """Return the presorted order if only filter scores and sorted attributes decide."""
        sorts = tuple(step for step in self.steps if isinstance(step, Sorted))
        if "geo" in self.steps and self.geo.ranks:
            return None
        if self.filters.differing.groups:
            deciding = [
                step for step in self.steps if isinstance(step, Sorted) or step == "filters"
            ]
            if deciding != ["filters", *sorts]:
                return None
        return segment.presorted_order(sorts)

    def explain(self, matches: Sequence[SegmentMatch], order: Order) -> list[dict[str, Any]]:
        """Return the ranking info of each record: the values of all criteria."""
        infos: list[dict[str, Any]] = [{} for _ in range(len(order))]
        by_segment = {match.segment: match for match in matches}
        for number, segment in enumerate(order.segments):
            places = np.flatnonzero(order.numbers == number)
            places = places[np.argsort(order.rows[places])]
            rows = order.rows[places]
            ranked = order.ranked.get(segment)
            ranked_candidates = ranked.restricted_to(rows) if ranked else None
            match = by_segment[segment]
            explained = self._explain_rows(match, ranked_candidates or self.candidates(match, rows))
            for position, info in zip(places.tolist(), explained, strict=True):
                infos[position] = info
        return infos

    def _explain_rows(self, match: SegmentMatch, candidates: Candidates) -> list[dict[str, Any]]:
        rows = candidates.rows
        columns: dict[str, list[Any]] = {
            name: _values(candidates.column(criterion), len(rows), sign)
            for name, criterion, sign in RANKING_INFO
        }
        columns["words"] = match.word_count(rows).tolist()
        columns[TEXT_SCORE] = read_scores(candidates.column(TEXT), len(rows))
        columns["filters"] = self.filters.all_scores(match.segment, rows).tolist()
        columns["userScore"] = self._user_scores(match, rows)
        _clear_unmatched(columns, match.by_words[rows])
        if match.semantic:
            columns["semanticScore"] = read_cosines(match.semantic.similarities.read(rows)).tolist()
            columns["fusedScore"] = match.semantic.fused[rows].round(FUSED_DIGITS).tolist()
            if match.semantic.feedback_hits:
                columns["feedbackHits"] = [match.semantic.feedback_hits] * len(rows)
        return [
            {**dict(zip(columns, values, strict=True)), **location}
            for *values, location in zip(
                *columns.values(), self.geo.explain(match.segment, rows), strict=True
            )
        ]

    def _user_scores(self, match: SegmentMatch, rows: Array) -> list[int]:
        """Return the first custom ranking attribute, 0 where it is not a number.

        It is also 0 if the attribute is hidden from the caller.
        """
        custom = self.options["customRanking"]
        path = read_sort(custom[0], "customRanking").path if custom else ""
        if not custom or not self.options.is_visible(path):
            return [0] * len(rows)
        values = match.segment.sort_key(path).numbers[rows]
        return [int(value) if abs(value) < TEXT_SORT_VALUE else 0 for value in values.tolist()]

    def eligible(self, reader: SegmentReader) -> Array:
        """Return the mask of the live rows that pass the filters and the geo condition."""
        if reader not in self._eligible:
            alive = reader.alive
            if self.filters.required:
                alive = alive & self.filters.rows(reader.segment)
            if self.geo.restricts:
                alive = alive & self.geo.rows(reader.segment)
            self._eligible[reader] = alive
        return self._eligible[reader]

    def _match_reader(self, query: Query, reader: SegmentReader) -> SegmentMatch:
        check_time()
        slots = reader.segment.slots
        if slots not in self._fields:
            self._fields[slots] = SearchedAttributes.of(slots, self.options)
        words, rows = match_words(
            reader.segment.postings,
            self.eligible(reader),
            query,
            self._fields[slots],
            self.options.words_without_typos,
            find_cache(reader.segment),
        )
        return SegmentMatch(reader.segment, self._fields[slots], words, rows)

    def candidates(self, match: SegmentMatch, rows: Array) -> Candidates:
        """Return the candidates for ranking some rows of a match."""
        scores = rank_distances = None
        if self.filters.differing.groups:
            scores = partial(self.filters.differing.add_up, match.segment)
        if self.geo.ranks:
            rank_distances = partial(self.geo.rank_distances, match.segment)
        return Candidates(match, self.criteria_options, scores, rank_distances, rows)


RANKING_INFO: Sequence[tuple[str, str, int]] = (
    ("nbTypos", "typo", 1),
    ("firstMatchedWord", "attribute", 1),
    ("proximityDistance", "proximity", 1),
    ("nbExactWords", "exact", -1),
)
TEXT_SCORE = "textScore"
FUSED_DIGITS = 9
WORD_CRITERIA = ("words", TEXT_SCORE, *(name for name, _, _ in RANKING_INFO))


def _values(column: Array | None, count: int, sign: int) -> list[int]:
    if column is None:
        return [0] * count
    values: list[int] = np.where(column == UNKNOWN_RANK, 0, sign * column).tolist()
    return values


def _clear_unmatched(columns: Mapping[str, list[Any]], matched: Array) -> None:
    """Set the word criteria of promoted records that do not match the query to 0."""
    for position in np.flatnonzero(~matched).tolist():
        for name in WORD_CRITERIA:
            columns[name][position] *= 0


def _keep_fewest_typos(matches: Sequence[SegmentMatch], kept: int) -> list[SegmentMatch]:
    """Keep the records with the `kept` lowest typo counts."""
    counts = sorted(
        {int(n) for match in matches for n in np.unique(match.typos(np.flatnonzero(match.rows)))}
    )
    most = counts[:kept][-1] if counts else 0
    return [match.with_typos_up_to(most) for match in matches]


def _make_words_optional(query: Query, how: str) -> Iterator[Query]:
    count = len(query.words)
    looser = range(1, min(count, MAX_REMOVED_WORDS + 1))
    if how == "lastWords":
        yield from (query.optional_at(range(count - number, count)) for number in looser)
    elif how == "firstWords":
        yield from (query.optional_at(range(number)) for number in looser)
    elif how == "allOptional" and count > 1:
        yield query.optional_at(range(count))


def apply_minimum_should_match(
    query: Query, matches: list[SegmentMatch], rank: Rank
) -> list[SegmentMatch]:
    """Return the matches without the records that have too few words for their rank.

    Minimum should match is for queries of optional words: lower-ranked hits need more words. The
    first thousand hits need one word. Each further thousand hits (a step) need one more word or,
    for queries of ten or more words, a fifth of the words more.
    """
    words = len(query.words)
    if not all(word.optional for word in query.words):
        return matches
    if sum(match.count for match in matches) <= STEP_HITS:
        return matches
    steps = range(1, words + 1, words // MAX_STEPS if words >= MANY_QUERY_WORDS else 1)
    ranked = _RankedMatches.of(matches, rank, STEP_HITS * len(steps))
    kept = [np.zeros_like(match.rows) for match in matches]
    for min_words in steps:
        if not _keep_step(ranked, min_words, kept):
            break
    return [replace(match, rows=rows) for match, rows in zip(matches, kept, strict=True)]


@dataclass(frozen=True, eq=False)
class _RankedMatches:
    """The best of all matches, ranked once, with the number of words of each.

    They usually include the best of the records with more words, which keep their order.
    """

    matches: Sequence[SegmentMatch]
    rank: Rank
    order: Order
    words: Array
    complete: bool

    @classmethod
    def of(cls, matches: Sequence[SegmentMatch], rank: Rank, hits_needed: int) -> _RankedMatches:
        """Rank all matches."""
        order = rank(matches, hits_needed)
        words = np.zeros(len(order), np.int16)
        for match in matches:
            here = _places_of(match, order)
            words[here] = match.word_count(order.rows[here])
        return cls(matches, rank, order, words, len(order) < hits_needed)

    def best(self, min_words: int, hits_needed: int) -> Order:
        """Return the best records with at least `min_words` words."""
        places = np.flatnonzero(self.words >= min_words)
        if self.complete or len(places) >= hits_needed:
            return self.order.take(places[:hits_needed])
        return self.rank(_with_min_words(self.matches, min_words), hits_needed)


def _keep_step(ranked: _RankedMatches, min_words: int, kept: Sequence[Array]) -> bool:
    """Keep the hits of the next step after those already kept; return whether there may be more."""
    pairs = list(zip(ranked.matches, kept, strict=True))
    before = sum(
        int(np.count_nonzero(match.word_count(np.flatnonzero(rows)) >= min_words))
        for match, rows in pairs
    )
    order = ranked.best(min_words, before + STEP_HITS)
    for match, rows in pairs:
        rows[order.rows[_places_of(match, order)]] = True
    return len(order) == before + STEP_HITS


def _places_of(match: SegmentMatch, order: Order) -> Array:
    """Return the positions of a match's records in an order."""
    numbers = [n for n, segment in enumerate(order.segments) if segment is match.segment]
    return np.flatnonzero(np.isin(order.numbers, numbers))


def _with_min_words(matches: Sequence[SegmentMatch], min_words: int) -> list[SegmentMatch]:
    kept = []
    for match in matches:
        rows = np.flatnonzero(match.rows)
        enough = np.zeros_like(match.rows)
        enough[rows[match.word_count(rows) >= min_words]] = True
        kept.append(replace(match, rows=enough))
    return kept

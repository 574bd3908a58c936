"""Ranking criteria: each is a numeric column over the candidate records, lower is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.searched_attributes import (
    SearchedAttributes,
    allowed_in,
    is_alone,
)
from svc_notebook.service.engine.ranking.occurrences import Chunk
from svc_notebook.service.engine.ranking.proximity import (
    MAX_DISTANCE,
    MAX_TOTAL_DISTANCE,
    WordPositions,
    find_nearest,
)
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch
from svc_notebook.service.engine.ranking.row_occurrences import RowOccurrences
from svc_notebook.service.engine.ranking.text_relevance import score_rows

# The criterion of textual relevance.
TEXT = "text"
NO_ROWS = np.zeros(0, np.intp)
UNKNOWN_RANK = np.iinfo(np.int64).max >> 26
MIN_EXACT_LETTERS = 3


@dataclass(frozen=True)
class CriteriaOptions:
    """The options of a search that affect how criteria are computed."""

    min_distance: int = 1
    attribute_by_distance: bool = True
    attribute_counts: bool = True
    single_word: str = "attribute"
    is_stop_word: Callable[[str], bool] = str.isspace

    @classmethod
    def of(cls, options: EffectiveParameters) -> CriteriaOptions:
        """Read them from the effective parameters."""
        ranking = options["ranking"]
        by_distance = options["attributeCriteriaComputedByMinProximity"] or (
            {"proximity", "attribute"} <= set(ranking)
            and ranking.index("proximity") < ranking.index("attribute")
        )
        return cls(
            options["minProximity"],
            bool(by_distance),
            bool(options.searched),
            options["exactOnSingleWordQuery"],
            options.is_stop_word,
        )

    def counts_word(self, word: str) -> bool:
        """Return whether the only word of a query may count as exact anywhere in a text."""
        if self.single_word == "none" or len(word) < MIN_EXACT_LETTERS:
            return False
        return not self.is_stop_word(word)


Scores = Callable[[Array], Array]


class Candidates:
    """Rows of one segment, with the values of the criteria computed so far.

    Rows that are given as a mask are numbered when they are first needed: pruning may leave few.
    """

    def __init__(
        self,
        match: SegmentMatch,
        options: CriteriaOptions,
        scores: Scores | None,
        rank_distances: Scores | None,
        rows: Array,
    ) -> None:
        self.match = match
        self.mask = rows if rows.dtype == bool else None
        if self.mask is None:
            self.rows = rows
        else:
            self._count = int(np.count_nonzero(rows))
        self.occurrences = RowOccurrences(match)
        self.options = options
        self._scores = scores
        self._rank_distances = rank_distances
        self.columns: dict[str, Array | None] = {}
        self.farthest = MAX_TOTAL_DISTANCE

    @cached_property
    def rows(self) -> Array:
        """The numbers of the rows, ascending."""
        return np.flatnonzero(self.mask) if self.mask is not None else NO_ROWS

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._count if self.mask is not None else len(self.rows)

    def column(self, criterion: str) -> Array | None:
        """Return a criterion's value for each row, lower is better; None if all are equal."""
        if criterion not in self.columns:
            self.columns[criterion] = COMPUTE[criterion](self)
        return self.columns[criterion]

    def values_at(self, criterion: str, places: Array) -> Array | None:
        """Return a criterion's value for the rows at some places only; None if all are equal."""
        if criterion in self.columns or len(places) == len(self.rows):
            column = self.column(criterion)
            return None if column is None else column[places]
        return self.part(self.rows[places]).column(criterion)

    def keep(self, kept: Array) -> None:
        """Restrict the candidates to the rows at some ascending places."""
        count = len(self.rows)
        self.rows, self.mask = self.rows[kept], None
        self.columns = {
            name: None if column is None else column[kept] for name, column in self.columns.items()
        }
        self.occurrences.keep(kept, count)

    def part(self, rows: Array, farthest: int = MAX_TOTAL_DISTANCE) -> Candidates:
        """Return new candidates of some rows; distances beyond `farthest` are not measured."""
        part = Candidates(self.match, self.options, self._scores, self._rank_distances, rows)
        part.occurrences.have_no_typos = self.occurrences.have_no_typos
        part.farthest = farthest
        return part

    @property
    def has_distances(self) -> bool:
        """Whether there are several words, and how near they are counts."""
        return len(self.match.words) > 1 and self.options.min_distance < MAX_DISTANCE

    def restricted_to(self, rows: Array) -> Candidates | None:
        """Return the candidates of ascending `rows` with all known values; None if one is new."""
        at = np.searchsorted(self.rows, rows)
        if len(at) and (at[-1] >= len(self.rows) or (self.rows[at] != rows).any()):
            return None
        part = copy(self)
        part.occurrences = copy(self.occurrences)
        if len(at) < len(self.rows):
            part.keep(at)
        return part

    @property
    def min_total_distance(self) -> int:
        """The total distance of adjacent words."""
        return (len(self.match.words) - 1) * self.options.min_distance

    def typo(self) -> Array | None:
        """Return the typos; fewer rank higher."""
        if not self.match.words:
            return None
        return self.match.typos(self.rows)

    def words(self) -> Array | None:
        """Return the negative number of matched words; more words rank higher."""
        if not any(match.word.optional for match in self.match.words):
            return None
        return -self.match.word_count(self.rows)

    def filters(self) -> Array | None:
        """Return the negative filter scores; higher scores rank higher."""
        return None if self._scores is None else -self._scores(self.rows)

    def proximity(self) -> Array | None:
        """Return the distance of the words; closer words rank higher."""
        if not self.has_distances:
            return None
        distance, rank = self.nearest()
        # One pass, the most expensive of all, computes both.
        if self.options.attribute_by_distance:
            self.columns.setdefault("attribute", rank if self.options.attribute_counts else None)
        return distance

    def attribute(self) -> Array | None:
        """Return the best rank: important attributes first, then earlier positions."""
        if not self.match.words or not self.options.attribute_counts:
            return None
        if self.options.attribute_by_distance and self.has_distances:
            self.column("proximity")
            return self.columns["attribute"]
        return self._best_rank()

    def exact(self) -> Array | None:
        """Return the negative number of exact words; more rank higher."""
        words = self.match.words
        if not words:
            return None
        alone = False
        if len(words) == 1 and words[0].word.weight == 1:
            alone = self.options.single_word == "attribute"
            if not alone and not self.options.counts_word(words[0].word.text):
                return None
        total = np.zeros(len(self.rows), np.int64)
        for number, match in enumerate(words):
            total += match.word.weight * self._has_exact(number, alone)
        return -total

    def text(self) -> Array | None:
        """Return the negative scores of textual relevance; higher scores rank higher."""
        match = self.match
        if not match.words or match.statistics is None:
            return None
        if match.text_scores:
            return -match.text_scores.values[self.rows]
        words = [self.occurrences.of_word(self.rows, number) for number in range(len(match.words))]
        return -score_rows(match.statistics, match.segment, match.fields, self.rows, words)

    def geo(self) -> Array | None:
        """Return the distances on the ground; nearer rank higher."""
        return None if self._rank_distances is None else self._rank_distances(self.rows)

    def _has_exact(self, number: int, alone: bool) -> Array:
        has = np.zeros(len(self.rows), bool)
        for chunk, owners in self.occurrences.exact_of_word(self.rows, number, alone):
            if chunk.exact:
                kept = allowed_in(chunk.spots(), self.match.fields.with_exact)
                if alone:
                    kept = is_alone(chunk.spots()) & (True if kept is None else kept)
                has[owners if kept is None else owners[kept]] = True
        return has

    def nearest(self) -> tuple[Array, Array]:
        """Return the total distance and the best rank of the words of each row, in one pass."""
        words = [self._positions(number) for number in range(len(self.match.words))]
        return find_nearest(words, len(self.rows), self.options.min_distance, self.farthest)

    def _positions(self, number: int) -> WordPositions:
        chunks = self.occurrences.of_word(self.rows, number)
        if len(chunks) == 1:
            return _positions_in(*chunks[0], self.match.fields)
        if not chunks:
            nothing = np.zeros(0, np.int64)
            return WordPositions(nothing, nothing, nothing, nothing, nothing)
        sizes = [len(owners) for _, owners in chunks]
        ranks = [self.match.fields.rank(chunk.spots()) for chunk, _ in chunks]
        return WordPositions.of(
            np.concatenate([owners for _, owners in chunks]),
            np.concatenate([chunk.places() for chunk, _ in chunks]),
            np.repeat([chunk.length for chunk, _ in chunks], sizes),
            np.concatenate(ranks),
            np.repeat([chunk.span for chunk, _ in chunks], sizes),
        )

    def _best_rank(self) -> Array:
        best = np.full(len(self.rows), UNKNOWN_RANK, np.int64)
        for number in range(len(self.match.words)):
            for chunk, owners in self.occurrences.of_word(self.rows, number):
                np.minimum.at(best, owners, self.match.fields.rank(chunk.spots()))
        return best


COMPUTE: Mapping[str, Callable[[Candidates], Array | None]] = {
    "typo": Candidates.typo,
    "geo": Candidates.geo,
    "words": Candidates.words,
    "filters": Candidates.filters,
    "proximity": Candidates.proximity,
    "attribute": Candidates.attribute,
    "exact": Candidates.exact,
    TEXT: Candidates.text,
}


def _positions_in(chunk: Chunk, owners: Array, fields: SearchedAttributes) -> WordPositions:
    """Return occurrences from a single chunk."""
    lengths, spans = np.full(len(owners), chunk.length), np.full(len(owners), chunk.span)
    return WordPositions.of(owners, chunk.places(), lengths, fields.rank(chunk.spots()), spans)

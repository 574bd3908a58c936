"""Ranking criteria: each is a numeric column over the candidate records, lower is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.searched_attributes import (
    allowed_in,
    is_alone,
)
from svc_notebook.service.engine.ranking.occurrences import Chunk
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch, WordMatch
from svc_notebook.service.engine.ranking.text_relevance import (
    MAX_DISTANCE,
    MAX_TOTAL_DISTANCE,
    OwnedOccurrences,
    WordPositions,
    find_nearest,
    score_rows,
)

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
        self.count = len(rows) if self.mask is None else int(np.count_nonzero(rows))
        # Whether there are several words, and how near they are counts.
        self.has_distances = len(match.words) > 1 and options.min_distance < MAX_DISTANCE
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
        self.rows, self.mask, self.count = self.rows[kept], None, len(kept)
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
            [(chunk, owners)] = chunks
            lengths, spans = np.full(len(owners), chunk.length), np.full(len(owners), chunk.span)
            rank = self.match.fields.rank(chunk.spots())
            return WordPositions.of(owners, chunk.places(), lengths, rank, spans)
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


# With more occurrences for each row, searching for the row is faster than reading them all.
MIN_OCCURRENCES_PER_SEARCHED_ROW = 64
# With more records for each row, most occurrences are dropped, and finding them comes first.
MIN_RECORDS_PER_MASKED_ROW = 4
# With more records for each occurrence, searching for its row is faster than numbering rows.
MIN_RECORDS_PER_SOUGHT_OCCURRENCE = 256
# If fewer than one of this many rows is left, their occurrences are looked up again.
MIN_RENUMBERED_SHARE = 16


class RowOccurrences:
    """The occurrences of each word of a match in the candidates' rows, read when first needed.

    - `have_no_typos`: the rows match without typos; then occurrences with typos do not count.
    """

    def __init__(self, match: SegmentMatch) -> None:
        self._match = match
        # Known of matches without words that have typos, or set where rows with typos are left out.
        self.have_no_typos = bool(match.words) and not any(word.max_typos for word in match.words)
        self._by_word: list[list[OwnedOccurrences]] | None = None
        self._renumbering: Array | None = None

    def keep(self, kept: Array, count: int) -> None:
        """Restrict the rows to those at some ascending places among `count`."""
        if self._by_word is None:
            return
        renumbering = np.full(count, -1)
        renumbering[kept] = np.arange(len(kept))
        before = self._renumbering
        self._renumbering = (
            renumbering if before is None else np.where(before < 0, -1, renumbering[before])
        )

    def of_word(self, rows: Array, number: int) -> Sequence[OwnedOccurrences]:
        """Return a word's occurrences in the rows, with the index of each one's row."""
        before = self._renumbering
        # With few rows left, looking up the occurrences again is faster than renumbering them.
        few_left = before is not None and len(rows) * MIN_RENUMBERED_SHARE < len(before)
        if self._by_word is None or few_left:
            self._renumbering = None
            owners = _Owners(rows, len(self._match.segment))
            self._by_word = [
                [owners.find(chunk, self.typos_to_compare(match)) for chunk in self.chunks(match)]
                for match in self._match.words
            ]
        if self._renumbering is not None:  # deferred until needed: usually it never is
            renumbering, self._renumbering = self._renumbering, None
            self._by_word = [
                [_renumber(*occurrences, renumbering) for occurrences in word]
                for word in self._by_word
            ]
        return self._by_word[number]

    def exact_of_word(self, rows: Array, number: int, alone: bool) -> Sequence[OwnedOccurrences]:
        """Return a word's occurrences, or only those that may be exact if none are known.

        With `alone`, an occurrence may be exact if it is the only word of its text.
        """
        if self._by_word is not None:
            return self.of_word(rows, number)
        match = self._match.words[number]
        owners, typos = _Owners(rows, len(self._match.segment)), self.typos_to_compare(match)
        chunks = [chunk for chunk in self.chunks(match) if chunk.exact]
        if alone:
            chunks = [chunk.alone() for chunk in chunks]
        return [owners.find(chunk, typos) for chunk in chunks if len(chunk)]

    def chunks(self, match: WordMatch) -> Sequence[Chunk]:
        """Return the occurrences of a word that may count."""
        if self.have_no_typos and match.max_typos:
            return [chunk for chunk in match.chunks if not chunk.typos]
        return match.chunks

    def typos_to_compare(self, match: WordMatch) -> Array | None:
        """Return the fewest typos of each record if occurrences with more do not count."""
        return match.typos if match.mixed and not self.have_no_typos else None


def _renumber(chunk: Chunk, owners: Array, renumbering: Array) -> OwnedOccurrences:
    owner = renumbering[owners]
    kept = np.flatnonzero(owner >= 0)
    return chunk.within(kept), owner[kept]


@dataclass(eq=False)
class _Owners:
    """Finds the occurrences in some rows of a segment, with the index of each one's row.

    `records` is the number of records of the segment.
    """

    rows: Array
    records: int

    def find(self, chunk: Chunk, typos: Array | None) -> OwnedOccurrences:
        """Return the occurrences, or only those with the fewest `typos` of their record."""
        kept, owners = self._find(chunk)
        if typos is not None:
            fewest = typos[self.rows[owners]] == chunk.typos
            kept, owners = kept[fewest], owners[fewest]
        return chunk if len(kept) == len(chunk) else chunk.within(kept), owners

    def _find(self, chunk: Chunk) -> tuple[Array, Array]:
        rows = self.rows
        is_range = chunk.of_one_word and isinstance(chunk.selection, slice)
        if is_range and len(rows) * MIN_OCCURRENCES_PER_SEARCHED_ROW < len(chunk):
            return chunk.find_in(rows)
        if len(rows) * MIN_RECORDS_PER_MASKED_ROW < self.records:
            kept = chunk.find_where(self._mask)
            records = chunk.rows_at(kept)
            if len(kept) * MIN_RECORDS_PER_SOUGHT_OCCURRENCE < self.records:
                return kept, np.searchsorted(rows, records.astype(rows.dtype))
            return kept, self._places[records]
        owners = self._places[chunk.rows]
        kept = np.flatnonzero(owners >= 0)
        return kept, owners if len(kept) == len(owners) else owners[kept]

    @cached_property
    def _mask(self) -> Array:
        """The mask of the rows, which fits into the processor's cache where places do not."""
        mask = np.zeros(self.records, bool)
        mask[self.rows] = True
        return mask

    @cached_property
    def _places(self) -> Array:
        """The index of each record of the segment, -1 for others."""
        places = np.full(self.records, -1, np.int32)
        places[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return places

"""Ranking criteria: each is a numeric column over the candidate records, lower is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.postings import LEADING_POSITIONS
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
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch, WordMatch
from svc_notebook.service.engine.ranking.text_relevance import OwnedOccurrences, score_rows

TEXT = "text"
"""The criterion of textual relevance."""
MIN_OCCURRENCES_PER_SEARCHED_ROW = 64
"""With more occurrences for each row, searching for the row is faster than reading them all."""
MIN_RECORDS_PER_MASKED_ROW = 4
"""With more records for each row, most occurrences are dropped, and finding them comes first."""
MIN_RECORDS_PER_SOUGHT_OCCURRENCE = 256
"""With more records for each occurrence, searching for its row is faster than numbering rows."""
MIN_RENUMBERED_SHARE = 16
"""If fewer than one of this many rows is left, their occurrences are looked up again."""
TRIED_POSITIONS = (1, 2, 4, LEADING_POSITIONS)
"""The numbers of positions at which enough of the best rows are sought."""
ADJACENT_FACTOR = 8
"""So many rows with all words at the first positions, for each wanted one, have enough adjacent."""
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
        # Known of matches without words that have typos, or set where rows with typos are left out.
        self.have_no_typos = bool(match.words) and not any(one.max_typos for one in match.words)
        self._options = options
        self._scores = scores
        self._rank_distances = rank_distances
        self._columns: dict[str, Array | None] = {}
        self._found: list[list[OwnedOccurrences]] | None = None
        self._renumbering: Array | None = None
        self._farthest = MAX_TOTAL_DISTANCE

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
        if criterion not in self._columns:
            self._columns[criterion] = COMPUTE[criterion](self)
        return self._columns[criterion]

    def values_at(self, criterion: str, places: Array) -> Array | None:
        """Return a criterion's value for the rows at some places only; None if all are equal."""
        if criterion in self._columns or len(places) == len(self.rows):
            column = self.column(criterion)
            return None if column is None else column[places]
        return self.part(self.rows[places]).column(criterion)

    def keep(self, kept: Array) -> None:
        """Restrict the candidates to the rows at some ascending places."""
        count = len(self.rows)
        self.rows, self.mask = self.rows[kept], None
        self._columns = {
            name: None if column is None else column[kept] for name, column in self._columns.items()
        }
        if self._found is not None:
            renumbering = np.full(count, -1)
            renumbering[kept] = np.arange(len(kept))
            before = self._renumbering
            self._renumbering = (
                renumbering if before is None else np.where(before < 0, -1, renumbering[before])
            )

    def part(self, rows: Array, farthest: int = MAX_TOTAL_DISTANCE) -> Candidates:
        """Return new candidates of some rows; distances beyond `farthest` are not measured."""
        part = Candidates(self.match, self._options, self._scores, self._rank_distances, rows)
        part.have_no_typos = self.have_no_typos
        part._farthest = farthest
        return part

    def find_leading(self, rows: Array, wanted: int) -> Candidates | None:
        """Return the candidates of a mask with a word at the first positions of an attribute.

        They are the best by attribute, and only the best attributes are read. The result is None if
        there are fewer than `wanted`.
        """
        found: list[list[Array]] = []
        has = np.zeros(len(rows), bool)
        for position in range(LEADING_POSITIONS):
            found.append(self._rows_leading_at(position))
            for some in found[-1]:
                has[some] = True
            if position + 1 in TRIED_POSITIONS:
                reached = np.flatnonzero(has & rows)
                if len(reached) >= wanted:
                    best = self.part(reached)
                    first = _first_found(found, len(rows), reached)
                    best._columns["attribute"] = self._first_rank + first.astype(np.int64)
                    return best
        return None

    def _rows_leading_at(self, position: int) -> list[Array]:
        """Return the rows with a word at one position of the best attributes, by chunk."""
        slots = self.match.fields.best_slots
        found = []
        for match in self.match.words:
            typos = self._typos_to_compare(match)
            for chunk in self.chunks(match):
                rows = chunk.leading(slots, range(position, position + 1)).rows
                found.append(rows if typos is None else rows[typos[rows] == chunk.typos])
        return found

    def find_adjacent(self, rows: Array, wanted: int) -> Candidates | None:
        """Return the candidates of a mask with adjacent words at the first positions of attributes.

        They are the best by proximity, then attribute. Adjacent words are in the same attribute, so
        that only occurrences at the first positions of the best attributes are read. The result is
        None if there are fewer than `wanted`.
        """
        reach = self._max_reach
        for positions in TRIED_POSITIONS:
            max_position = positions - 1 - reach
            enough = wanted * ADJACENT_FACTOR if positions < LEADING_POSITIONS else wanted
            if max_position < 0:
                continue
            found = self._with_leading(rows, positions)
            if found.count < enough:
                continue
            distance, rank = found._nearest()
            near = distance == self.min_total_distance
            near &= rank <= self._first_rank + max_position
            if np.count_nonzero(near) >= wanted:
                best = self.part(found.rows[near])
                best._columns = {"proximity": distance[near], "attribute": rank[near]}
                return best
        return None

    def _with_leading(self, rows: Array, positions: int) -> Candidates:
        """Return the candidates of a mask with all words at the first positions, and only these."""
        slots = self.match.fields.best_slots
        words = [word.leading(slots, range(positions)) for word in self.match.words]
        reached = rows
        for word in words:
            found = np.zeros(len(rows), bool)
            for chunk in self.chunks(word):
                found[chunk.rows] = True
            found &= reached
            reached = found
        match = replace(self.match, words=words)
        part = Candidates(match, self._options, None, None, np.flatnonzero(reached))
        part.have_no_typos = self.have_no_typos
        part._farthest = self.min_total_distance
        return part

    def ranks_leading(self, criteria: Sequence[object]) -> bool:
        """Return whether rows with words at the first positions of an attribute come first."""
        by_distance = self._options.attribute_by_distance and self._has_distances
        if criteria[0] == "attribute" and by_distance:
            return False
        return bool(self.match.fields.best_slots)

    @property
    def _has_distances(self) -> bool:
        """Whether there are several words, and how near they are counts."""
        return len(self.match.words) > 1 and self._options.min_distance < MAX_DISTANCE

    @property
    def _first_rank(self) -> int:
        """The rank of the first word of the best attributes."""
        return int(self.match.fields.ranks[self.match.fields.best_slots[0]])

    @property
    def _max_reach(self) -> int:
        """The most positions between the first word and the last at the minimum distance."""
        chunks = [self.chunks(word) for word in self.match.words]
        longer = [max((chunk.length for chunk in some), default=1) - 1 for some in chunks]
        return self.min_total_distance + sum(longer)

    def restricted_to(self, rows: Array) -> Candidates | None:
        """Return the candidates of ascending `rows` with all known values; None if one is new."""
        at = np.searchsorted(self.rows, rows)
        if len(at) and (at[-1] >= len(self.rows) or (self.rows[at] != rows).any()):
            return None
        part = copy(self)
        if len(at) < len(self.rows):
            part.keep(at)
        return part

    def can_prune(self, criteria: Sequence[object]) -> bool:
        """Return whether rows without a word of a good rank come last by the first criteria.

        That is the case for attribute, and for proximity followed by attribute.
        """
        if "attribute" in self._columns or not self.match.words:
            return False
        if criteria[0] == "attribute":
            return self._options.attribute_counts
        sure = not any(match.word.optional for match in self.match.words)
        counts = self._options.attribute_counts and self._options.attribute_by_distance
        return (
            self._has_distances
            and sure
            and counts
            and tuple(criteria[:2]) == ("proximity", "attribute")
        )

    def precedes(self, criteria: Sequence[object], most: int) -> Array:
        """Return the mask of rows that precede all rows without a word of a rank up to `most`."""
        distance = self.column("proximity") if criteria[0] == "proximity" else None
        rank = self.column("attribute")
        precedes = np.zeros(len(self.rows), bool) if rank is None else rank <= most
        if distance is not None:
            precedes &= distance == self.min_total_distance
        return np.asarray(precedes)

    @property
    def min_total_distance(self) -> int:
        """The total distance of adjacent words."""
        return (len(self.match.words) - 1) * self._options.min_distance

    def distance_of_place(self, place: int) -> int:
        """Return the total distance of the row at a place in the order by proximity."""
        distance = self.column("proximity")
        return (
            MAX_TOTAL_DISTANCE
            if distance is None
            else int(np.partition(distance, place - 1)[place - 1])
        )

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
        if not self._has_distances:
            return None
        distance, rank = self._nearest()
        # One pass, the most expensive of all, computes both.
        if self._options.attribute_by_distance:
            self._columns.setdefault("attribute", rank if self._options.attribute_counts else None)
        return distance

    def attribute(self) -> Array | None:
        """Return the best rank: important attributes first, then earlier positions."""
        if not self.match.words or not self._options.attribute_counts:
            return None
        if self._options.attribute_by_distance and self._has_distances:
            self.column("proximity")
            return self._columns["attribute"]
        return self._best_rank()

    def exact(self) -> Array | None:
        """Return the negative number of exact words; more rank higher."""
        words = self.match.words
        if not words:
            return None
        alone = False
        if len(words) == 1 and words[0].word.weight == 1:
            alone = self._options.single_word == "attribute"
            if not alone and not self._options.counts_word(words[0].word.text):
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
        words = [self._occurrences(number) for number in range(len(match.words))]
        return -score_rows(match.statistics, match.segment, match.fields, self.rows, words)

    def geo(self) -> Array | None:
        """Return the distances on the ground; nearer rank higher."""
        return None if self._rank_distances is None else self._rank_distances(self.rows)

    def _has_exact(self, number: int, alone: bool) -> Array:
        has = np.zeros(len(self.rows), bool)
        for chunk, owners in self._exact_occurrences(number, alone):
            if chunk.exact:
                kept = allowed_in(chunk.spots(), self.match.fields.with_exact)
                if alone:
                    kept = is_alone(chunk.spots()) & (True if kept is None else kept)
                has[owners if kept is None else owners[kept]] = True
        return has

    def _nearest(self) -> tuple[Array, Array]:
        words = [self._positions(number) for number in range(len(self.match.words))]
        return find_nearest(words, len(self.rows), self._options.min_distance, self._farthest)

    def _positions(self, number: int) -> WordPositions:
        found = self._occurrences(number)
        if len(found) == 1:
            return _positions_in(*found[0], self.match.fields)
        if not found:
            nothing = np.zeros(0, np.int64)
            return WordPositions(nothing, nothing, nothing, nothing, nothing)
        sizes = [len(owners) for _, owners in found]
        ranks = [self.match.fields.rank(chunk.spots()) for chunk, _ in found]
        return WordPositions.of(
            np.concatenate([owners for _, owners in found]),
            np.concatenate([chunk.places() for chunk, _ in found]),
            np.repeat([chunk.length for chunk, _ in found], sizes),
            np.concatenate(ranks),
            np.repeat([chunk.span for chunk, _ in found], sizes),
        )

    def _best_rank(self) -> Array:
        best = np.full(len(self.rows), UNKNOWN_RANK, np.int64)
        for number in range(len(self.match.words)):
            for chunk, owners in self._occurrences(number):
                np.minimum.at(best, owners, self.match.fields.rank(chunk.spots()))
        return best

    def _occurrences(self, number: int) -> Sequence[OwnedOccurrences]:
        """Return a word's occurrences in the rows, with the index of each one's row."""
        if self._found is None or self._has_few_rows_left():
            self._renumbering = None
            owners = _Owners(self.rows, len(self.match.segment))
            self._found = [
                [owners.find(chunk, self._typos_to_compare(match)) for chunk in self.chunks(match)]
                for match in self.match.words
            ]
        if self._renumbering is not None:  # deferred until needed: usually it never is
            renumbering, self._renumbering = self._renumbering, None
            self._found = [
                [_renumber(*occurrences, renumbering) for occurrences in word]
                for word in self._found
            ]
        return self._found[number]

    def _exact_occurrences(self, number: int, alone: bool) -> Sequence[OwnedOccurrences]:
        """Return a word's occurrences, or only those that may be exact if none are known.

        With `alone`, an occurrence may be exact if it is the only word of its text.
        """
        if self._found is not None:
            return self._occurrences(number)
        match = self.match.words[number]
        owners, typos = _Owners(self.rows, len(self.match.segment)), self._typos_to_compare(match)
        chunks = [chunk for chunk in self.chunks(match) if chunk.exact]
        if alone:
            chunks = [chunk.alone() for chunk in chunks]
        return [owners.find(chunk, typos) for chunk in chunks if len(chunk)]

    def chunks(self, match: WordMatch) -> Sequence[Chunk]:
        """Return the occurrences of a word that may count."""
        if self.have_no_typos and match.max_typos:
            return [chunk for chunk in match.chunks if not chunk.typos]
        return match.chunks

    def _typos_to_compare(self, match: WordMatch) -> Array | None:
        return match.typos if match.mixed and not self.have_no_typos else None

    def _has_few_rows_left(self) -> bool:
        """Return whether looking up the occurrences again is faster than renumbering them."""
        before = self._renumbering
        return before is not None and len(self.rows) * MIN_RENUMBERED_SHARE < len(before)


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


def _first_found(found: Sequence[Sequence[Array]], records: int, rows: Array) -> Array:
    """Return the first position at which each of the rows was found."""
    if len(found) == 1:
        return np.zeros(len(rows), np.uint8)
    first = np.zeros(records, np.uint8)
    for position, chunks in reversed([*enumerate(found)]):
        for some in chunks:
            first[some] = position
    return first[rows]


def _positions_in(chunk: Chunk, owners: Array, fields: SearchedAttributes) -> WordPositions:
    """Return occurrences from a single chunk."""
    lengths, spans = np.full(len(owners), chunk.length), np.full(len(owners), chunk.span)
    return WordPositions.of(owners, chunk.places(), lengths, fields.rank(chunk.spots()), spans)


def _renumber(chunk: Chunk, owners: Array, renumbering: Array) -> OwnedOccurrences:
    owner = renumbering[owners]
    kept = np.flatnonzero(owner >= 0)
    return chunk.within(kept), owner[kept]


class _Owners:
    """Finds the occurrences in some rows of a segment, with the index of each one's row."""

    def __init__(self, rows: Array, records: int) -> None:
        self._rows = rows
        self._records = records

    def find(self, chunk: Chunk, typos: Array | None) -> OwnedOccurrences:
        """Return the occurrences, or only those with the fewest `typos` of their record."""
        kept, owners = self._find(chunk)
        if typos is not None:
            fewest = typos[self._rows[owners]] == chunk.typos
            kept, owners = kept[fewest], owners[fewest]
        return chunk if len(kept) == len(chunk) else chunk.within(kept), owners

    def _find(self, chunk: Chunk) -> tuple[Array, Array]:
        rows = self._rows
        is_range = chunk.of_one_word and isinstance(chunk.selection, slice)
        if is_range and len(rows) * MIN_OCCURRENCES_PER_SEARCHED_ROW < len(chunk):
            return chunk.find_in(rows)
        if len(rows) * MIN_RECORDS_PER_MASKED_ROW < self._records:
            kept = chunk.find_where(self._mask)
            found = chunk.rows_at(kept)
            if len(kept) * MIN_RECORDS_PER_SOUGHT_OCCURRENCE < self._records:
                return kept, np.searchsorted(rows, found.astype(rows.dtype))
            return kept, self._places[found]
        owners = self._places[chunk.rows]
        kept = np.flatnonzero(owners >= 0)
        return kept, owners if len(kept) == len(owners) else owners[kept]

    @cached_property
    def _mask(self) -> Array:
        """The mask of the rows, which fits into the processor's cache where places do not."""
        mask = np.zeros(self._records, bool)
        mask[self._rows] = True
        return mask

    @cached_property
    def _places(self) -> Array:
        """The index of each record of the segment, -1 for others."""
        places = np.full(self._records, -1, np.int32)
        places[self._rows] = np.arange(len(self._rows), dtype=np.int32)
        return places

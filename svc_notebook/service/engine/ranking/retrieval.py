"""Retrieval: the records of one segment that match a query, and their typo counts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial, reduce
from operator import and_, attrgetter, is_
from weakref import WeakKeyDictionary

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.index.postings import Postings
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.query.query import Query, QueryWord
from svc_notebook.service.engine.query.searched_attributes import SearchedAttributes
from svc_notebook.service.engine.ranking.occurrences import NO_OCCURRENCES, Chunk, PostingsLookup
from svc_notebook.service.engine.ranking.text_relevance import NOT_FOUND_TYPOS, TermStatistics

MIN_CACHE_BYTES = 64 * 2**20
# The memory of the word matches that a process keeps for later searches. A match takes a byte for
# each record and more, and the words that most records contain, which take the longest, are few.
CACHE_BYTES_PER_RECORD = 16
# Maximum number of word matches that are kept for one segment.
MAX_CACHED_MATCHES = 2000
# With more occurrences than both, those in matching rows are selected once for all criteria.
MIN_SELECTED_OCCURRENCES, MIN_OCCURRENCES_PER_ROW = 200_000, 8
# The rows of larger chunks are not kept: reading them again takes less than other steps.
MAX_KEPT_ROWS = 1 << 12


@dataclass(frozen=True, eq=False)
class WordMatch:
    """One query word in one segment: its occurrences, and the fewest typos per row."""

    word: QueryWord
    chunks: Sequence[Chunk]
    typos: Array

    @property
    def nbytes(self) -> int:
        """The memory that the match takes while it is kept, in bytes."""
        rows = sum(len(chunk) for chunk in self.chunks if len(chunk) <= MAX_KEPT_ROWS)
        selections = [chunk.selection for chunk in self.chunks]
        selected = sum(
            selection.nbytes for selection in selections if not isinstance(selection, slice)
        )
        return self.typos.nbytes + rows * np.dtype(np.intp).itemsize + selected

    def to_keep(self) -> WordMatch:
        """Return the match without the rows of large chunks."""
        chunks = [replace(chunk) if len(chunk) > MAX_KEPT_ROWS else chunk for chunk in self.chunks]
        return WordMatch(self.word, chunks, self.typos)

    def within(self, rows: Array, count: int) -> WordMatch:
        """Return the match with the occurrences in `count` rows of a mask, if these are few."""
        most = max(MIN_SELECTED_OCCURRENCES, count * MIN_OCCURRENCES_PER_ROW)
        if all(len(chunk) <= most for chunk in self.chunks):
            return self
        chunks = [
            chunk if len(chunk) <= most else chunk.within(chunk.find_where(rows))
            for chunk in self.chunks
        ]
        return WordMatch(self.word, chunks, self.typos)

    def leading(self, slots: Sequence[int], positions: range) -> WordMatch:
        """Return the match with the occurrences at successive leading positions."""
        chunks = [chunk.leading(slots, positions) for chunk in self.chunks]
        return WordMatch(self.word, chunks, self.typos)

    @cached_property
    def max_typos(self) -> int:
        """The highest typo cost of any occurrence."""
        return max((chunk.typos for chunk in self.chunks), default=NOT_FOUND_TYPOS)

    @cached_property
    def mixed(self) -> bool:
        """Whether occurrences differ in typo cost."""
        return len({chunk.typos for chunk in self.chunks}) > 1

    @property
    def found(self) -> Array:
        """The mask of the rows that contain the word; computing it takes less than keeping it."""
        matched: Array = self.typos < NOT_FOUND_TYPOS
        return matched


@dataclass(frozen=True, eq=False)
class RowSimilarities:
    """The similarities of rows of a segment to a query, in units of their last digit.

    `values` are those of `rows`, or of all rows if it is None; `compute` returns those of others.
    """

    rows: Array | None
    values: Array
    compute: Callable[[Array], Array]

    def read(self, rows: Array) -> Array:
        """Return the similarities of some rows, whether or not they were computed before."""
        return np.asarray(self.values[rows] if self.rows is None else self.compute(rows))

    def find_near(self, allowed: Array, threshold: int) -> tuple[Array, Array]:
        """Return the allowed rows that are near enough, ascending, and their similarities."""
        if self.rows is None:
            rows = np.flatnonzero(allowed & (self.values >= threshold))
            return rows, self.values[rows]
        near = allowed[self.rows] & (self.values >= threshold)
        return self.rows[near], self.values[near]


@dataclass(frozen=True, eq=False)
class SemanticMatch:
    """The semantic hits of a segment: the rows with at least a similarity, whatever their words.

    `near` are these rows, ascending, and `near_values` their similarities; some may not be hits.
    `by_words` is the mask of the rows that match the words, among which there may be semantic hits.
    `fused` is filled when the hits are ranked: their fused scores, 0 for the others. It is empty if
    they are not wanted. `feedback_hits` are the hits whose vectors moved that of the query.
    """

    by_words: Array
    similarities: RowSimilarities
    near: Array
    near_values: Array
    weight: float
    fused: Array
    feedback_hits: int = 0


@dataclass(frozen=True, eq=False)
class TextScores:
    """The text scores of the rows that match the words, 0 for others, and the highest of all hits.

    They are integers, as the criterion has them.
    """

    values: Array
    highest: int


@dataclass(frozen=True, eq=False)
class SegmentMatch:
    """The live rows of a segment that match the filters, and the words or their meaning.

    `text_scores` are there if semantic hits are fused by them.
    """

    segment: Segment
    fields: SearchedAttributes
    words: Sequence[WordMatch]
    rows: Array
    statistics: TermStatistics | None = None
    text_scores: TextScores | None = None
    semantic: SemanticMatch | None = None

    @property
    def by_words(self) -> Array:
        """The mask of the rows that match the words."""
        return self.rows & self.semantic.by_words if self.semantic else self.rows

    @cached_property
    def count(self) -> int:
        """The number of matching rows."""
        return int(np.count_nonzero(self.rows))

    def find_exact(self) -> Array:
        """Return the mask of the matching rows that have no typos."""
        rows = self.rows
        for match in self.words:
            if match.max_typos:
                exact = match.typos == 0
                rows = rows & (exact | ~match.found if match.word.optional else exact)
        return rows

    def typos(self, rows: Array) -> Array:
        """Return the total typos of the matched words for each row."""
        total = np.zeros(len(rows), np.int16)
        for match in self.words:
            if not match.max_typos:
                continue
            typos = match.typos[rows]
            total += np.where(typos < NOT_FOUND_TYPOS, typos, 0) if match.word.optional else typos
        return total

    def word_count(self, rows: Array) -> Array:
        """Return the number of matched query words for each row."""
        total = np.zeros(len(rows), np.int16)
        for match in self.words:
            total += match.found[rows] * np.int16(match.word.weight)
        return total

    def with_own_occurrences(self) -> SegmentMatch:
        """Return the match without the occurrences in other rows, where these are most."""
        words = [word.within(self.rows, self.count) for word in self.words]
        unchanged = all(map(is_, words, self.words))
        return self if unchanged else replace(self, words=words)

    def with_fused_scores(self) -> SegmentMatch:
        """Return the match with space for the fused scores of its rows."""
        fused = np.zeros(len(self.rows))
        return replace(self, semantic=self.semantic and replace(self.semantic, fused=fused))

    def with_typos_up_to(self, most: int) -> SegmentMatch:
        """Return the match without rows with more than `most` typos."""
        rows = np.flatnonzero(self.rows)
        kept = np.zeros_like(self.rows)
        kept[rows[self.typos(rows) <= most]] = True
        return replace(self, rows=kept)


def match_words(
    postings: Postings,
    rows: Array,
    query: Query,
    fields: SearchedAttributes,
    words_without_typos: frozenset[str],
    kept: WordMatchCache | None = None,
) -> tuple[Sequence[WordMatch], Array]:
    """Match each query word, and return which of the rows match the whole query."""

    @cache
    def lookup() -> PostingsLookup:
        return PostingsLookup.of(postings, query, fields, words_without_typos)

    words = []
    for word in query.words:
        check_time()
        match_now = partial(_match_word, lookup, len(rows), word)
        key = (fields, words_without_typos, word)
        words.append(match_now() if kept is None else kept.get_or_match(key, match_now))
    rows = reduce(and_, (match.found for match in words if not match.word.optional), rows)
    if words and all(match.word.optional for match in words):
        rows = rows & np.logical_or.reduce([match.found for match in words])
    for sequence in query.sequences:
        matches = words[sequence.start : sequence.stop]
        rows = rows & find_adjacent(matches, sequence.widths, len(rows))
    for variant in query.excluded:
        check_time()
        rows = rows.copy()
        rows[lookup().find_rows(variant)] = False
    return words, rows


def find_adjacent(matches: Sequence[WordMatch], widths: Sequence[int], records: int) -> Array:
    """Return the mask of the records where the words are next to each other, in their order.

    If a word is optional, these are all records. A variant of several query words takes the place
    of all of them in the sequence. A word takes one position, or `widths` positions if its parts
    are indexed.
    """
    if any(match.word.optional for match in matches):
        return np.ones(records, bool)
    covered = _find_covered(matches)
    mask = np.zeros(records, bool)
    # The places where the word with this number, or the end, is next to the words before it.
    starts: list[list[Array]] = [[] for _ in range(len(matches) + 1)]
    for number, match in enumerate(matches):
        check_time()
        places = np.concatenate([NO_OCCURRENCES, *starts[number]])
        for chunk in match.chunks:
            words = covered.get(chunk.span, range(number, number + 1))
            if words.start < number:
                continue  # the variant was looked at with its first word
            adjoining = chunk.within(np.isin(chunk.places(), places)) if number else chunk
            if words.stop == len(matches):
                mask[adjoining.rows] = True
            for length in {adjoining.length, widths[number]}:
                starts[words.stop].append(adjoining.places() + length)
    return mask


def _find_covered(matches: Sequence[WordMatch]) -> dict[int, range]:
    """Return the numbers of the words that the variants of each span take the place of."""
    covered: dict[int, range] = {}
    for number, match in enumerate(matches):
        for span in {chunk.span for chunk in match.chunks if chunk.span}:
            covered[span] = range(covered[span].start if span in covered else number, number + 1)
    return covered


def _match_word(lookup: Callable[[], PostingsLookup], records: int, word: QueryWord) -> WordMatch:
    chunks = lookup().find_chunks(word.variants)
    typos = np.full(records, NOT_FOUND_TYPOS, np.int8)
    # Chunks with fewer typos come last and overwrite.
    for chunk in sorted(chunks, key=lambda chunk: -chunk.typos):
        typos[chunk.rows] = chunk.typos
    typos.flags.writeable = False
    return WordMatch(word, chunks, typos)


class WordMatchCache:
    """The matches of words in one segment, for later searches; the least recent are dropped first.

    Searches for the same words often follow each other: with another ranking, other filters, the
    next page, or one more word. The caches of a process share a limit of memory.
    """

    def __init__(self, records: int) -> None:
        self.records = records
        self._matches: dict[MatchKey, WordMatch] = {}
        self.nbytes = 0

    def get_or_match(self, key: MatchKey, match: Callable[[], WordMatch]) -> WordMatch:
        """Return the match of a word, by `match` unless it is kept."""
        _, _, word = key
        if any(variant.splitter for variant in word.variants):
            return match()  # comparing splitters takes longer than a lookup
        with _cache_lock:
            cached = self._matches.pop(key, None)
            if cached is not None:
                self._matches[key] = cached
        if cached is None:
            cached = match()
            self._keep(key, cached)
        return cached

    def drop_oldest(self) -> None:
        """Drop the match that was not used for longest."""
        self.nbytes -= self._matches.pop(next(iter(self._matches))).nbytes

    def _keep(self, key: MatchKey, match: WordMatch) -> None:
        size = match.nbytes
        with _cache_lock:
            caches = [*_caches.values()]
            limit = MIN_CACHE_BYTES + CACHE_BYTES_PER_RECORD * sum(
                cache.records for cache in caches
            )
            if key in self._matches or size > limit:
                return
            self._matches[key] = match.to_keep()
            self.nbytes += size
            if len(self._matches) > MAX_CACHED_MATCHES:
                self.drop_oldest()
            while sum(cached.nbytes for cached in caches) > limit:
                max(caches, key=attrgetter("nbytes")).drop_oldest()


def find_cache(segment: Segment) -> WordMatchCache:
    """Return the word matches that are kept for a segment, as long as it lives."""
    cache = _caches.get(segment)
    if cache is None:
        with _cache_lock:
            cache = _caches.setdefault(segment, WordMatchCache(len(segment)))
    return cache


# The attributes, the words without typo tolerance, and the word with its variants.
MatchKey = tuple[SearchedAttributes, frozenset[str], QueryWord]
_caches: WeakKeyDictionary[Segment, WordMatchCache] = WeakKeyDictionary()
_cache_lock = threading.Lock()

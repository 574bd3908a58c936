"""Look up the postings of query words in one segment; keep the splits that records have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array, concatenate_ranges
from svc_notebook.service.engine.index.postings import LeadingOccurrences, Postings
from svc_notebook.service.engine.index.segment import SegmentReader
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import Query, QueryWord, is_split
from svc_notebook.service.engine.query.searched_attributes import (
    Allowed,
    SearchedAttributes,
    allowed_in,
    both,
    is_alone,
)
from svc_notebook.service.engine.query.term_variants import TermVariant

# Numbers looked up at one time: so many stay in the processor's cache.
BLOCK_NUMBERS = 1 << 18

Selection = slice | Array
# Reading fewer occurrences takes as long as looking up those that are alone in their text.
MIN_SOUGHT_OCCURRENCES = 1 << 12
NO_OCCURRENCES = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Occurrences with the same typo cost; `length` is the number of text words each covers.

    `span` is the span of their variant. `of_one_word` are ordered by record.
    """

    postings: Postings
    selection: Selection
    typos: int
    exact: bool
    length: int = 1
    span: int = 0
    of_one_word: bool = False

    @cached_property
    def rows(self) -> Array:
        """The record of each occurrence, in NumPy's fastest index type."""
        return self.postings.rows[self.selection].astype(np.intp)

    def rows_at(self, numbers: Array) -> Array:
        """Return the record of some occurrences."""
        if isinstance(self.selection, slice):
            return np.asarray(self.postings.rows[self.selection][numbers])
        return np.asarray(self.postings.rows[self.selection[numbers]])

    def within(self, kept: Array) -> Chunk:
        """Return the occurrences selected by a mask or by their numbers."""
        if kept.dtype == bool:
            kept = np.flatnonzero(kept)
        selection = (
            kept + self.selection.start
            if isinstance(self.selection, slice)
            else self.selection[kept]
        )
        return Chunk(self.postings, selection, self.typos, self.exact, self.length, self.span)

    def leading(self, slots: Sequence[int], positions: range) -> Chunk:
        """Return the occurrences at successive leading positions of some attributes."""
        if isinstance(self.selection, slice):
            numbers = self.postings.leading.find(slots, positions, self.selection)
            return Chunk(self.postings, numbers, self.typos, self.exact, self.length, self.span)
        return self.within(self._leading.find(slots, positions, slice(0, len(self.selection))))

    def alone(self) -> Chunk:
        """Return the occurrences that are the only word of their text."""
        if not isinstance(self.selection, slice) or len(self) < MIN_SOUGHT_OCCURRENCES:
            return self.within(is_alone(self.spots()))
        numbers = self.postings.leading.find_alone(self.selection)
        return Chunk(self.postings, numbers, self.typos, self.exact, self.length, self.span)

    @cached_property
    def _leading(self) -> LeadingOccurrences:
        """The leading of the selected occurrences, by their numbers in the selection."""
        return LeadingOccurrences.of(self.spots())

    def find_where(self, mask: Array) -> Array:
        """Return the numbers of the occurrences in the rows of a mask.

        NumPy looks up numbers of its own index type only. Converting them in blocks is faster than
        converting them at once.
        """
        rows = self.postings.rows[self.selection]
        if len(rows) <= BLOCK_NUMBERS:
            return np.flatnonzero(mask[rows])
        converted, members = np.empty(BLOCK_NUMBERS, np.intp), np.empty(BLOCK_NUMBERS, bool)
        numbers = []
        for start in range(0, len(rows), BLOCK_NUMBERS):
            rows_here = rows[start : start + BLOCK_NUMBERS]
            size = len(rows_here)
            converted[:size] = rows_here
            mask.take(converted[:size], out=members[:size], mode="clip")
            numbers.append(np.flatnonzero(members[:size]) + start)
        return np.concatenate(numbers)

    def find_in(self, rows: Array) -> tuple[Array, Array]:
        """Return the numbers of the occurrences in a few ascending rows, and the place of each row.

        The occurrences must be a range of one word's, so that they are ordered by record.
        """
        chunk_rows = self.postings.rows[self.selection]
        rows_sought = rows.astype(chunk_rows.dtype)
        starts = np.searchsorted(chunk_rows, rows_sought)
        lengths = np.searchsorted(chunk_rows, rows_sought, "right") - starts
        return concatenate_ranges(starts, lengths), np.repeat(np.arange(len(rows)), lengths)

    def numbers(self) -> Array:
        """Return the number of each occurrence in the postings."""
        if isinstance(self.selection, slice):
            return np.arange(self.selection.start, self.selection.stop)
        return self.selection

    def spots(self) -> Array:
        """Return the attribute and position of each occurrence."""
        return self.postings.spots[self.selection]

    def places(self) -> Array:
        """Return the place of the first word of each occurrence."""
        return self.postings.places[self.selection]

    def __len__(self) -> int:
        if isinstance(self.selection, slice):
            return int(self.selection.stop - self.selection.start)
        return len(self.selection)


@dataclass(frozen=True, eq=False)
class PostingsLookup:
    """Looks up all words of one query at once, then their occurrences."""

    postings: Postings
    fields: SearchedAttributes
    words_without_typos: frozenset[str]
    word_numbers: Mapping[str, int]

    @classmethod
    def of(
        cls,
        postings: Postings,
        query: Query,
        fields: SearchedAttributes,
        words_without_typos: frozenset[str],
    ) -> PostingsLookup:
        """Look up every word of a query."""
        words = [*query.written_words, *words_without_typos]
        places = postings.vocabulary.names.find_many(words).tolist()
        word_numbers = {word: at for word, at in zip(words, places, strict=True) if at >= 0}
        return cls(postings, fields, words_without_typos, word_numbers)

    def find_chunks(self, variants: Sequence[TermVariant]) -> list[Chunk]:
        """Return all occurrences of a query word that the search options allow."""
        by_key: dict[object, list[TermVariant]] = {}
        for variant in filter(self.may_match, variants):
            by_key.setdefault(_lookup_key(variant), []).append(variant)
        return [
            chunk
            for variants_of_key in by_key.values()
            for chunk in self.find(variants_of_key)
            if len(chunk)
        ]

    def may_match(self, variant: TermVariant) -> bool:
        """Return whether all words of a multi-word variant exist; parts of words rarely do."""
        return len(variant.words) == 1 or self.word_numbers.keys() >= set(variant.words)

    def find_rows(self, variant: TermVariant) -> Array:
        """Return the records that contain a word or phrase in any indexed attribute."""
        return self.find_exact([variant]).rows

    def find(self, variants: Sequence[TermVariant]) -> Iterator[Chunk]:
        """Return the occurrences of a variant, or of several with equal options, by cost."""
        searched, variant = self.fields.searched, variants[0]
        typos_allowed = self.fields.with_typos if variant.typos else None
        attributes = self.fields.mask_of(variant.attributes)
        if variant.stemmer:
            yield _filter(self.find_stem(variant), searched, attributes)
            return
        if variant.splitter or variant.anywhere:
            chunks = (
                self.find_compounds(variant) if variant.splitter else self.find_anywhere(variant)
            )
            yield from (_filter(chunk, searched, attributes) for chunk in chunks)
            return
        yield _filter(self.find_exact(variants), searched, typos_allowed, attributes)
        if variant.prefix:
            yield _filter(
                self.find_prefix(variant), searched, self.fields.with_prefixes, typos_allowed
            )
        if variant.max_typos:
            yield from self.find_misspelled(variant)

    def find_exact(self, variants: Sequence[TermVariant]) -> Chunk:
        """Return the occurrences of words, or adjacent words, as written."""
        variant = variants[0]
        if len(variant.words) > 1:
            selection = np.concatenate([self.find_phrase(variant.words) for variant in variants])
            return Chunk(
                self.postings,
                selection,
                variant.typos,
                variant.exact,
                len(variant.words),
                variant.span,
            )
        if len(variants) == 1:
            return self.find_word(variant)
        word_numbers = [
            self.word_numbers[variant.words[0]]
            for variant in variants
            if variant.words[0] in self.word_numbers
        ]
        selection = self.postings.of_words(np.array(word_numbers, np.int64))
        return Chunk(self.postings, selection, variant.typos, variant.exact, span=variant.span)

    def find_word(self, variant: TermVariant) -> Chunk:
        """Return the occurrences of the word itself."""
        occurrences = self.span(variant.words[0])
        return Chunk(
            self.postings, occurrences, variant.typos, variant.exact, 1, variant.span, True
        )

    def find_prefix(self, variant: TermVariant) -> Chunk:
        """Return the occurrences of longer words with this prefix."""
        low, high = self.postings.vocabulary.names.prefix_range(variant.words[0])
        low = self.word_numbers.get(variant.words[0], low - 1) + 1
        bounds = slice(int(self.postings.starts[low]), int(self.postings.starts[high]))
        return Chunk(self.postings, bounds, variant.typos, False)

    def find_phrase(self, words: Sequence[str]) -> Array:
        """Return the occurrences of the first word where all words are adjacent."""
        if not all(word in self.word_numbers for word in words):
            return NO_OCCURRENCES
        spans = [self.span(word) for word in words]
        at = self.postings.places
        # Start with the rarest word, which leaves the fewest candidates.
        order = sorted(
            range(len(words)), key=lambda number: spans[number].stop - spans[number].start
        )
        starts = at[spans[order[0]]] - order[0]
        for number in order[1:]:
            starts = starts[_contains(at[spans[number]], starts + number)]
            if not len(starts):
                return NO_OCCURRENCES
        first = np.searchsorted(at[spans[0]], starts) + spans[0].start
        return np.asarray(first)

    def find_anywhere(self, variant: TermVariant) -> Iterator[Chunk]:
        """Return the occurrences of the words in records that contain all of them."""
        chunks = [
            _filter(self.find_word(variant._replace(words=(word,))), self.fields.searched)
            for word in variant.words
        ]
        have = np.ones(len(self.postings.first_places) - 1, bool)
        for chunk in chunks:
            has = np.zeros_like(have)
            has[chunk.rows] = True
            have &= has
        yield from (chunk.within(have[chunk.rows]) for chunk in chunks)

    def find_stem(self, variant: TermVariant) -> Chunk:
        """Return the occurrences of the words with a stem."""
        if variant.stemmer is None:
            return Chunk(self.postings, NO_OCCURRENCES, variant.typos, variant.exact)
        words = self.postings.vocabulary.stems(variant.stemmer).words_with(variant.words[0])
        return Chunk(self.postings, self.postings.of_words(words), variant.typos, variant.exact)

    def find_compounds(self, variant: TermVariant) -> Iterator[Chunk]:
        """Return the occurrences of compounds with the word as a part, or as a prefix of one."""
        if variant.splitter is None:
            return
        compounds = self.postings.vocabulary.compounds(variant.splitter)
        exact_numbers = compounds.containing(variant.words[0], prefix=False)
        yield Chunk(
            self.postings, self.postings.of_words(exact_numbers), variant.typos, variant.exact
        )
        if variant.prefix:
            longer = np.setdiff1d(
                compounds.containing(variant.words[0], prefix=True), exact_numbers
            )
            chunk = Chunk(
                self.postings, self.postings.of_words(longer), variant.typos, variant.exact
            )
            yield _filter(chunk, self.fields.with_prefixes)

    def find_misspelled(self, variant: TermVariant) -> Iterator[Chunk]:
        """Return the misspelled occurrences; prefixes only where prefixes may match."""
        prefixes = self.fields.with_prefixes
        allowed = both(self.fields.searched, self.fields.with_typos)
        if variant.prefix and prefixes is not None:
            yield from self.find_similar(variant, both(allowed, ~prefixes), prefix=False)
            allowed = both(allowed, prefixes)
        yield from self.find_similar(variant, allowed, prefix=variant.prefix)

    def find_similar(
        self, variant: TermVariant, allowed: Allowed, *, prefix: bool
    ) -> Iterator[Chunk]:
        """Return the occurrences of words with 1 to `max_typos` typos."""
        matches = self.postings.vocabulary.misspelled(variant.words[0], variant.max_typos, prefix)
        words, counts = matches
        if self.words_without_typos:
            fixed = [
                self.word_numbers[word]
                for word in self.words_without_typos
                if word in self.word_numbers
            ]
            words, counts = (column[~np.isin(matches.words, fixed)] for column in matches)
        for typos in range(1, variant.max_typos + 1) if len(words) else ():
            selection = self.postings.of_words(words[counts == typos])
            yield _filter(Chunk(self.postings, selection, variant.typos + typos, False), allowed)

    def span(self, word: str) -> slice:
        """Return the occurrences of one word."""
        number = self.word_numbers.get(word)
        if number is None:
            return slice(0, 0)
        return slice(*self.postings.starts[number : number + 2].tolist())


def _lookup_key(variant: TermVariant) -> object:
    """Return the key of variants that are looked up together; most are looked up alone."""
    if variant.splitter or variant.stemmer or variant.anywhere:
        return variant
    if variant.prefix or variant.max_typos:
        return variant
    return len(variant.words), variant.typos, variant.exact, variant.span, variant.attributes


def _filter(chunk: Chunk, *masks: Allowed) -> Chunk:
    if all(mask is None for mask in masks):
        return chunk
    kept = allowed_in(chunk.spots(), *masks)
    return chunk if kept is None else chunk.within(kept)


def _contains(ascending: Array, values: Array) -> Array:
    """Return the mask of the wanted numbers that are in a sorted array."""
    at = np.minimum(np.searchsorted(ascending, values), len(ascending) - 1)
    contained: Array = ascending[at] == values
    return contained


def keep_frequent_splits(
    query: Query, readers: Sequence[SegmentReader], options: EffectiveParameters
) -> Query:
    """Return the query with the most frequent split of each word instead of all of them.

    Of equally frequent ones, the one with the longest first part counts.
    """
    splits = [variant for word in query.words for variant in word.variants if is_split(variant)]
    if not splits:
        return query
    counts = _count_occurrences(splits, readers, options)
    if len(counts) < 2:
        return query
    return replace(query, words=tuple(_keep_best(word, counts) for word in query.words))


def _count_occurrences(
    splits: Sequence[TermVariant], readers: Sequence[SegmentReader], options: EffectiveParameters
) -> Counter[TermVariant]:
    counts: Counter[TermVariant] = Counter()
    looked_up = Query((QueryWord("", tuple(splits)),))
    for reader in readers:
        fields = SearchedAttributes.of(reader.segment.slots, options)
        lookup = PostingsLookup.of(reader.segment.postings, looked_up, fields, frozenset())
        for split in filter(lookup.may_match, splits):
            if occurrences := sum(map(len, lookup.find([split]))):
                counts[split] += occurrences
    return counts


def _keep_best(word: QueryWord, counts: Counter[TermVariant]) -> QueryWord:
    present = [variant for variant in word.variants if is_split(variant) and counts[variant]]
    if len(present) < 2:
        return word
    best = max(present, key=lambda variant: (counts[variant], len(variant.words[0])))
    kept = [variant for variant in word.variants if not is_split(variant) or variant == best]
    return replace(word, variants=tuple(kept))

"""Look up the postings of a query word and its variants in one segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.postings import Postings
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.query.searched_attributes import Allowed, Fields, allowed_in, both
from svc_notebook.service.engine.query.term_variants import Alternative

Pick = slice | Array
NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Occurrences with the same typo cost; `length` is the number of text words each covers.

    `span` is the span of their variant.
    """

    postings: Postings
    pick: Pick
    typos: int
    exact: bool
    length: int = 1
    span: int = 0

    @cached_property
    def rows(self) -> Array:
        """The record of each occurrence, in NumPy's fastest index type."""
        return self.postings.rows[self.pick].astype(np.intp)

    def within(self, kept: Array) -> Chunk:
        """Return the occurrences selected by a mask or by their numbers."""
        if kept.dtype == bool:
            kept = np.flatnonzero(kept)
        pick = kept + self.pick.start if isinstance(self.pick, slice) else self.pick[kept]
        return Chunk(self.postings, pick, self.typos, self.exact, self.length, self.span)

    def spots(self) -> Array:
        """Return the attribute and position of each occurrence."""
        return self.postings.spots[self.pick]

    def places(self) -> Array:
        """Return the place of the first word of each occurrence."""
        return self.postings.places[self.pick]

    def __len__(self) -> int:
        if isinstance(self.pick, slice):
            return int(self.pick.stop - self.pick.start)
        return len(self.pick)


@dataclass(frozen=True, eq=False)
class Finder:
    """Looks up all words of one query at once, then their occurrences."""

    postings: Postings
    fields: Fields
    unforgiven: frozenset[str]
    known: Mapping[str, int]

    @classmethod
    def of(
        cls, postings: Postings, query: Query, fields: Fields, unforgiven: frozenset[str]
    ) -> Finder:
        """Look up every word of a query."""
        words = [*query.spellings, *unforgiven]
        places = postings.vocabulary.names.find_many(words).tolist()
        known = {word: at for word, at in zip(words, places, strict=True) if at >= 0}
        return cls(postings, fields, unforgiven, known)

    def find_chunks(self, ways: Sequence[Alternative]) -> list[Chunk]:
        """Return all occurrences of a query word that the search options allow."""
        groups: dict[object, list[Alternative]] = {}
        for way in filter(self.may_stand, ways):
            groups.setdefault(_kind_of(way), []).append(way)
        return [chunk for some in groups.values() for chunk in self.find(some) if len(chunk)]

    def may_stand(self, way: Alternative) -> bool:
        """Return whether all words of a multi-word variant exist; parts of words rarely do."""
        return len(way.words) == 1 or self.known.keys() >= set(way.words)

    def find_rows(self, way: Alternative) -> Array:
        """Return the records that contain a word or phrase in any indexed attribute."""
        return self.find_written([way]).rows

    def find(self, ways: Sequence[Alternative]) -> Iterator[Chunk]:
        """Return the occurrences of a variant, or of several with equal options, by cost."""
        searched, way = self.fields.searched, ways[0]
        costs = self.fields.with_typos if way.typos else None
        within = self.fields.within(way.within)
        if way.inside or way.apart:
            chunks = self.find_compounds(way) if way.inside else self.find_apart(way)
            yield from (_kept(chunk, searched, within) for chunk in chunks)
            return
        yield _kept(self.find_written(ways), searched, costs, within)
        if way.prefix:
            yield _kept(self.find_longer(way), searched, self.fields.with_prefixes, costs)
        if way.forgiven:
            yield from self.find_misspelled(way)

    def find_written(self, ways: Sequence[Alternative]) -> Chunk:
        """Return the occurrences of words, or adjacent words, as written."""
        way = ways[0]
        if len(way.words) > 1:
            pick = np.concatenate([self.find_phrase(way.words) for way in ways])
            return Chunk(self.postings, pick, way.typos, way.exact, len(way.words), way.span)
        if len(ways) == 1:
            return self.find_whole(way)
        known = [self.known[way.words[0]] for way in ways if way.words[0] in self.known]
        pick = self.postings.of_words(np.array(known, np.int64))
        return Chunk(self.postings, pick, way.typos, way.exact, span=way.span)

    def find_whole(self, way: Alternative) -> Chunk:
        """Return the occurrences of the word itself."""
        occurrences = self.span(way.words[0])
        return Chunk(self.postings, occurrences, way.typos, way.exact, span=way.span)

    def find_longer(self, way: Alternative) -> Chunk:
        """Return the occurrences of longer words with this prefix."""
        low, high = self.postings.vocabulary.names.beginning(way.words[0])
        low = self.known.get(way.words[0], low - 1) + 1
        bounds = slice(int(self.postings.starts[low]), int(self.postings.starts[high]))
        return Chunk(self.postings, bounds, way.typos, False)

    def find_phrase(self, words: Sequence[str]) -> Array:
        """Return the occurrences of the first word where all words are adjacent."""
        if not all(word in self.known for word in words):
            return NONE
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
                return NONE
        first = np.searchsorted(at[spans[0]], starts) + spans[0].start
        return np.asarray(first)

    def find_apart(self, way: Alternative) -> Iterator[Chunk]:
        """Return the occurrences of the words in records that contain all of them."""
        wholes = [
            _kept(self.find_whole(replace(way, words=(word,))), self.fields.searched)
            for word in way.words
        ]
        have = np.ones(len(self.postings.first_places) - 1, bool)
        for chunk in wholes:
            has = np.zeros_like(have)
            has[chunk.rows] = True
            have &= has
        yield from (chunk.within(have[chunk.rows]) for chunk in wholes)

    def find_compounds(self, way: Alternative) -> Iterator[Chunk]:
        """Return the occurrences of compounds with the word as a part, or as a prefix of one."""
        if way.inside is None:
            return
        compounds = self.postings.vocabulary.compounds(way.inside)
        whole = compounds.containing(way.words[0], prefix=False)
        yield Chunk(self.postings, self.postings.of_words(whole), way.typos, way.exact)
        if way.prefix:
            longer = np.setdiff1d(compounds.containing(way.words[0], prefix=True), whole)
            chunk = Chunk(self.postings, self.postings.of_words(longer), way.typos, way.exact)
            yield _kept(chunk, self.fields.with_prefixes)

    def find_misspelled(self, way: Alternative) -> Iterator[Chunk]:
        """Return the misspelled occurrences; prefixes only where prefixes may match."""
        prefixes = self.fields.with_prefixes
        where = both(self.fields.searched, self.fields.with_typos)
        if way.prefix and prefixes is not None:
            yield from self.find_near(way, both(where, ~prefixes), prefix=False)
            where = both(where, prefixes)
        yield from self.find_near(way, where, prefix=way.prefix)

    def find_near(self, way: Alternative, where: Allowed, *, prefix: bool) -> Iterator[Chunk]:
        """Return the occurrences of words with 1 to `forgiven` typos."""
        found = self.postings.vocabulary.misspelled(way.words[0], way.forgiven, prefix)
        words, counts = found
        if self.unforgiven:
            fixed = [self.known[word] for word in self.unforgiven if word in self.known]
            words, counts = (column[~np.isin(found.words, fixed)] for column in found)
        for typos in range(1, way.forgiven + 1) if len(words) else ():
            pick = self.postings.of_words(words[counts == typos])
            yield _kept(Chunk(self.postings, pick, way.typos + typos, False), where)

    def span(self, word: str) -> slice:
        """Return the occurrences of one word."""
        place = self.known.get(word)
        if place is None:
            return slice(0, 0)
        return slice(*self.postings.starts[place : place + 2].tolist())


def _kind_of(way: Alternative) -> object:
    """Return the key of variants that are looked up together; most are looked up alone."""
    if way.inside or way.apart or way.prefix or way.forgiven:
        return way
    return len(way.words), way.typos, way.exact, way.span, way.within


def _kept(chunk: Chunk, *masks: Allowed) -> Chunk:
    if all(mask is None for mask in masks):
        return chunk
    kept = allowed_in(chunk.spots(), *masks)
    return chunk if kept is None else chunk.within(kept)


def _contains(ascending: Array, wanted: Array) -> Array:
    """Return the mask of the wanted numbers that are in a sorted array."""
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    found: Array = ascending[at] == wanted
    return found

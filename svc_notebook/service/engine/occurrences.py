"""Where in one segment a query word stands, in each of the ways it may be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.fields import Allowed, Fields, allowed_in, both
from svc_notebook.service.engine.postings import Postings
from svc_notebook.service.engine.query import Alternative, Query

Pick = slice | Array


@dataclass(frozen=True, eq=False)
class Chunk:
    """Occurrences that cost the same typos; `length` is how many words of the text each spans."""

    postings: Postings
    pick: Pick
    typos: int
    exact: bool
    length: int = 1

    @cached_property
    def rows(self) -> Array:
        """The record of each, as NumPy likes best to look up by."""
        return self.postings.rows[self.pick].astype(np.intp)

    def within(self, kept: Array) -> Chunk:
        """Return those that a mask, or their numbers, keep."""
        if kept.dtype == bool:
            kept = np.flatnonzero(kept)
        pick = kept + self.pick.start if isinstance(self.pick, slice) else self.pick[kept]
        return Chunk(self.postings, pick, self.typos, self.exact, self.length)

    def spots(self) -> Array:
        """Return the attribute and position of each."""
        return self.postings.spots[self.pick]

    def places(self) -> Array:
        """Return the place of each one's first word."""
        return self.postings.places[self.pick]

    def __len__(self) -> int:
        if isinstance(self.pick, slice):
            return int(self.pick.stop - self.pick.start)
        return len(self.pick)


@dataclass(frozen=True, eq=False)
class Finder:
    """Looks up the words of one query, all at once, and then where they stand."""

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
        """Return all occurrences of a query word where the search allows them."""
        return [chunk for way in ways for chunk in self.find(way) if len(chunk)]

    def find_rows(self, way: Alternative) -> Array:
        """Return the records in which a word or phrase stands, wherever that is searched."""
        return next(self.find_phrase(way), self.find_whole(way)).rows

    def find(self, way: Alternative) -> Iterator[Chunk]:
        """Return the occurrences of one alternative, by what they cost."""
        searched = self.fields.searched
        costs = self.fields.with_typos if way.typos else None
        if len(way.words) > 1:
            yield from (_kept(chunk, searched, costs) for chunk in self.find_phrase(way))
            return
        yield _kept(self.find_whole(way), searched, costs)
        if way.prefix:
            yield _kept(self.find_longer(way), searched, self.fields.with_prefixes, costs)
        if way.forgiven:
            yield from self.find_misspelled(way)

    def find_whole(self, way: Alternative) -> Chunk:
        """Return where the word itself stands."""
        return Chunk(self.postings, self.span(way.words[0]), way.typos, way.exact)

    def find_longer(self, way: Alternative) -> Chunk:
        """Return where words stand that begin with this one and go on."""
        low, high = self.postings.vocabulary.names.beginning(way.words[0])
        low = self.known.get(way.words[0], low - 1) + 1
        bounds = slice(int(self.postings.starts[low]), int(self.postings.starts[high]))
        return Chunk(self.postings, bounds, way.typos, False)

    def find_phrase(self, way: Alternative) -> Iterator[Chunk]:
        """Return where the words stand next to each other in one text."""
        if len(way.words) < 2 or not all(word in self.known for word in way.words):
            return
        spans = [self.span(word) for word in way.words]
        pick = np.arange(spans[0].start, spans[0].stop)
        places = self.postings.places[spans[0]]
        for distance, span in enumerate(spans[1:], 1):
            kept = _contains(self.postings.places[span], places + distance)
            pick, places = pick[kept], places[kept]
        yield Chunk(self.postings, pick, way.typos, way.exact, len(way.words))

    def find_misspelled(self, way: Alternative) -> Iterator[Chunk]:
        """Where beginnings of words do not match, misspelled beginnings do not either."""
        prefixes = self.fields.with_prefixes
        where = both(self.fields.searched, self.fields.with_typos)
        if way.prefix and prefixes is not None:
            yield from self.find_near(way, both(where, ~prefixes), prefix=False)
            where = both(where, prefixes)
        yield from self.find_near(way, where, prefix=way.prefix)

    def find_near(self, way: Alternative, where: Allowed, *, prefix: bool) -> Iterator[Chunk]:
        """Return where words stand that are some typos away."""
        found = self.postings.vocabulary.misspelled(way.words[0], way.forgiven, prefix)
        words, counts = found
        if self.unforgiven:
            fixed = [self.known[word] for word in self.unforgiven if word in self.known]
            words, counts = (column[~np.isin(found.words, fixed)] for column in found)
        for typos in range(1, way.forgiven + 1):
            pick = self.postings.of_words(words[counts == typos])
            yield _kept(Chunk(self.postings, pick, way.typos + typos, False), where)

    def span(self, word: str) -> slice:
        """Return the occurrences of one word."""
        place = self.known.get(word)
        if place is None:
            return slice(0, 0)
        return slice(*self.postings.starts[place : place + 2].tolist())


def _kept(chunk: Chunk, *masks: Allowed) -> Chunk:
    if all(mask is None for mask in masks):
        return chunk
    kept = allowed_in(chunk.spots(), *masks)
    return chunk if kept is None else chunk.within(kept)


def _contains(ascending: Array, wanted: Array) -> Array:
    """Tell which of the wanted numbers are there."""
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    found: Array = ascending[at] == wanted
    return found

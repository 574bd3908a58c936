"""Where in one segment a query word stands, in each of the ways it may be written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.fields import Allowed, Fields, allowed_in, both
from svc_notebook.service.engine.postings import Postings
from svc_notebook.service.engine.query import Alternative
from svc_notebook.service.engine.spelling import Spelled

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
        """The record of each."""
        return self.postings.rows[self.pick]

    def within(self, kept: Array) -> Chunk:
        """Return those that a mask keeps."""
        pick = (
            np.arange(self.pick.start, self.pick.stop)
            if isinstance(self.pick, slice)
            else self.pick
        )
        return Chunk(self.postings, pick[kept], self.typos, self.exact, self.length)

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


def find_chunks(
    postings: Postings, ways: Sequence[Alternative], fields: Fields, unforgiven: frozenset[str]
) -> list[Chunk]:
    """Return all occurrences of a query word where the search allows them."""
    finder = _Finder(postings, fields, unforgiven)
    return [chunk for way in ways for chunk in finder.find(way) if len(chunk)]


def find_rows(postings: Postings, way: Alternative) -> Array:
    """Return the records in which a word or phrase stands, wherever that is searched."""
    chunk = _phrase(postings, way) if len(way.words) > 1 else _whole(postings, way)
    return chunk.rows


@dataclass(frozen=True, eq=False)
class _Finder:
    postings: Postings
    fields: Fields
    unforgiven: frozenset[str]

    def find(self, way: Alternative) -> Iterator[Chunk]:
        if len(way.words) > 1:
            masks = (self.fields.searched, self.fields.with_typos if way.typos else None)
            yield _kept(_phrase(self.postings, way), *masks)
            return
        costs = self.fields.with_typos if way.typos else None
        yield _kept(_whole(self.postings, way), self.fields.searched, costs)
        if way.prefix:
            yield _kept(
                _longer(self.postings, way), self.fields.searched, self.fields.with_prefixes, costs
            )
        if way.forgiven:
            yield from self.find_misspelled(way)

    def find_misspelled(self, way: Alternative) -> Iterator[Chunk]:
        """Where beginnings of words do not match, misspelled beginnings do not either."""
        prefixes = self.fields.with_prefixes
        where = both(self.fields.searched, self.fields.with_typos)
        if way.prefix and prefixes is not None:
            yield from self.misspelled(way, both(where, ~prefixes), prefix=False)
            where = both(where, prefixes)
        yield from self.misspelled(way, where, prefix=way.prefix)

    def misspelled(self, way: Alternative, where: Allowed, *, prefix: bool) -> Iterator[Chunk]:
        vocabulary = self.postings.vocabulary
        found = vocabulary.misspelled(way.words[0], way.forgiven, prefix)
        found = self.without_unforgiven(found)
        for typos in range(1, way.forgiven + 1):
            pick = self.postings.of_words(found.words[found.typos == typos])
            yield _kept(Chunk(self.postings, pick, way.typos + typos, False), where)

    def without_unforgiven(self, found: Spelled) -> Spelled:
        if not self.unforgiven:
            return found
        words = self.postings.vocabulary.names.find_many(sorted(self.unforgiven))
        kept = ~np.isin(found.words, words)
        return Spelled(found.words[kept], found.typos[kept])


def _kept(chunk: Chunk, *masks: Allowed) -> Chunk:
    kept = allowed_in(chunk.spots(), *masks)
    return chunk if kept is None else chunk.within(kept)


def _whole(postings: Postings, way: Alternative) -> Chunk:
    word = postings.vocabulary.names.find(way.words[0])
    bounds = postings.starts[word : word + 2].tolist() if word >= 0 else (0, 0)
    return Chunk(postings, slice(*bounds), way.typos, way.exact)


def _longer(postings: Postings, way: Alternative) -> Chunk:
    """Return the words that begin with the query word and go on."""
    names = postings.vocabulary.names
    low, high = names.beginning(way.words[0])
    if low < high and names[low] == way.words[0]:
        low += 1
    return Chunk(
        postings, slice(int(postings.starts[low]), int(postings.starts[high])), way.typos, False
    )


def _phrase(postings: Postings, way: Alternative) -> Chunk:
    """Return where the words stand next to each other in one text."""
    first, *others = (_places(postings, word) for word in way.words)
    pick, places = first
    for distance, (_, after) in enumerate(others, 1):
        kept = _contains(after, places + distance)
        pick, places = pick[kept], places[kept]
    return Chunk(postings, pick, way.typos, way.exact, len(way.words))


def _places(postings: Postings, text: str) -> tuple[Array, Array]:
    word = postings.vocabulary.names.find(text)
    low, high = postings.starts[word : word + 2].tolist() if word >= 0 else (0, 0)
    return np.arange(low, high), postings.places[low:high]


def _contains(ascending: Array, wanted: Array) -> Array:
    """Tell which of the wanted numbers are there."""
    if not len(ascending):
        return np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(ascending, wanted), len(ascending) - 1)
    found: Array = ascending[at] == wanted
    return found

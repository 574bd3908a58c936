"""Typo tolerance: which words match another with typos, for one pair or a whole vocabulary.

A typo is an inserted, deleted, substituted or transposed letter. A typo in the first letter counts
as two and allows no other. For prefix matches, a word is compared with every prefix of the other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from svc_notebook.service.engine.arrays import Array, Arrays
from svc_notebook.service.engine.term_dictionary import TermDictionary
from svc_notebook.service.engine.text.compounds import Compounds, Splitter
from svc_notebook.service.engine.text.inflections import Stemmer, Stems

# Longer words match without typos only.
MAX_WORD_LETTERS = 30
ROW_LETTERS = MAX_WORD_LETTERS + 2
FAR_TYPOS = 99


class TypoMatches(NamedTuple):
    """Words of a vocabulary with their typo counts."""

    words: Array
    typos: Array


class Vocabulary:
    """The distinct words of a segment in ascending order, with their letters as columns."""

    def __init__(self, names: TermDictionary, letters: Array, lengths: Array) -> None:
        self.names = names
        self._letters = letters
        self._lengths = lengths
        self._cache: dict[tuple[str, int, bool], TypoMatches] = {}
        self._compounds: dict[str, Compounds] = {}
        self._stems: dict[Stemmer, Stems] = {}

    @classmethod
    def of(cls, names: TermDictionary) -> Vocabulary:
        """Build the vocabulary of distinct words in ascending order."""
        width = min(ROW_LETTERS, int(np.diff(names.starts).max(initial=1)))
        # A UTF-8 sequence that begins with such a byte encodes more than 16 bits.
        kind = np.uint32 if names.blob.max(initial=0) >= 0xF0 else np.uint16
        letters = np.empty((width, len(names)), kind)
        lengths = np.empty(len(names), np.int32)
        for span, words in names.blocks():
            lengths[span] = np.fromiter(map(len, words), np.int32, len(words))
            table = np.array(words, dtype=f"U{width}").view(np.uint32)
            letters[:, span] = table.reshape(len(words), width).T
        longest = int(lengths.max(initial=1))
        return cls(names, letters[:longest], np.minimum(lengths, ROW_LETTERS).astype(np.int8))

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Vocabulary:
        """Restore a vocabulary from `arrays`."""
        return cls(TermDictionary.from_arrays(arrays), arrays["letters"], arrays["lengths"])

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        return {**self.names.arrays(), "letters": self._letters, "lengths": self._lengths}

    def compounds(self, splitter: Splitter) -> Compounds:
        """Return the compounds of a language; the words are split on first use."""
        cached = self._compounds.get(splitter.language)
        if cached is None or cached.splitter is not splitter:
            # Splitters with many entries are compared once, not in every search.
            if cached is not None and cached.splitter == splitter:
                cached = replace(cached, splitter=splitter)
            else:
                cached = Compounds.of(self.names, splitter)
            self._compounds[splitter.language] = cached
        return cached

    def stems(self, stemmer: Stemmer) -> Stems:
        """Return the words by their stems in a language; they are stemmed on first use."""
        stems = self._stems.get(stemmer)
        if stems is None:
            stems = self._stems[stemmer] = Stems.of(self.names, stemmer)
        return stems

    def misspelled(self, word: str, typos: int, prefix: bool) -> TypoMatches:
        """Return the words with 1 to `typos` typos, or with such a prefix, in no order of typos."""
        if not typos or len(word) > MAX_WORD_LETTERS or not len(self.names):
            return NO_MATCHES
        key = (word, typos, prefix)
        matches = self._cache.get(key)
        if matches is None:
            matches = self._search(word, typos, prefix)
            if len(self._cache) > MAX_CACHED_WORDS:
                self._cache.clear()
            self._cache[key] = matches
        return matches

    def _search(self, word: str, typos: int, prefix: bool) -> TypoMatches:
        """Search all words, without the exact and prefix matches, which have no typos."""
        near = self._same_first(word, typos, prefix)
        if typos >= FIRST_LETTER_TYPOS and len(word) > 1:
            others = (self._other_first(word, prefix), self._without_first(word, prefix))
            near = _union(near, *others)
        misspelled = near.typos > 0
        return TypoMatches(near.words[misspelled], near.typos[misspelled])

    def _same_first(self, word: str, typos: int, prefix: bool) -> TypoMatches:
        span = slice(*self.names.prefix_range(word[0]))
        matches = _Band(self._letters[:, span], word, typos).compare(self._lengths[span], prefix)
        return TypoMatches(matches.words + span.start, matches.typos)

    def _other_first(self, word: str, prefix: bool) -> TypoMatches:
        """Find words whose first letter is substituted or inserted."""
        words_containing = [self._containing(rest, 1, prefix) for rest in (word[1:], word)]
        words = np.concatenate(words_containing)
        return _with_first_letter_typos(words[self._letter(0)[words] != ord(word[0])])

    def _without_first(self, word: str, prefix: bool) -> TypoMatches:
        """Find words whose first letter is deleted or swapped with the second."""
        if word[0] == word[1]:
            return NO_MATCHES
        candidates = []
        for other in (word[1:], word[1] + word[0] + word[2:]):
            low, high = self.names.prefix_range(other)
            words = np.arange(low, high)
            candidates.append(words if prefix else words[self._lengths[words] == len(other)])
        return _with_first_letter_typos(np.concatenate(candidates))

    def _containing(self, text: str, start: int, prefix: bool) -> Array:
        """Return the words that contain this text from a position on."""
        words = np.flatnonzero(self._letter(start) == ord(text[0]))
        for position, letter in enumerate(text[1:], start + 1):
            words = words[self._letter(position)[words] == ord(letter)]
        return words if prefix else words[self._lengths[words] == start + len(text)]

    def _letter(self, position: int) -> Array:
        if position < len(self._letters):
            return np.asarray(self._letters[position])
        return np.zeros(len(self._lengths), self._letters.dtype)


FIRST_LETTER_TYPOS = 2
MAX_CACHED_WORDS = 500
NO_MATCHES = TypoMatches(np.zeros(0, np.int64), np.zeros(0, np.int8))


def _with_first_letter_typos(words: Array) -> TypoMatches:
    return TypoMatches(words, np.full(len(words), FIRST_LETTER_TYPOS, np.int8))


def _union(*matches: TypoMatches) -> TypoMatches:
    """Join results; a word found twice has the typo count of the first result."""
    words, first = np.unique(np.concatenate([match.words for match in matches]), return_index=True)
    return TypoMatches(words, np.concatenate([match.typos for match in matches])[first])


class _Band:
    """The edit distance table of one word and many words with the same first letter, row by row.

    Only cells near the diagonal are computed: each row has `2 * typos + 1` columns, and one array
    holds the row for all words.
    """

    def __init__(self, letters: Array, word: str, typos: int) -> None:
        self._word = word
        self._typos = typos
        self._width = 2 * typos + 1
        self._words = np.arange(letters.shape[1])
        # Words are padded with zeros, which equal no letter.
        self._letters = np.zeros((len(word) + self._width, letters.shape[1]), letters.dtype)
        inner = self._letters[typos + 1 :]
        inner[: len(letters)] = letters[: len(inner)]
        self._above2, self._above = _first_rows(typos)

    def compare(self, lengths: Array, prefix: bool) -> TypoMatches:
        """Return the words within the allowed distance."""
        for position in range(2, len(self._word) + 1):
            self._letters = self._letters[1:]
            self._above2, self._above = self._above, self._next(position)
            if position in PRUNED_ROWS and len(self._words) > MIN_PRUNED_ROWS:
                self._keep_near()
        row = np.broadcast_to(self._above, (self._width, len(self._words)))
        if prefix:
            cost = np.minimum.reduce(row)
        else:
            cost = np.full(len(self._words), FAR_TYPOS, np.int8)
            column = lengths[self._words] - np.int8(len(self._word) - self._typos)
            ends = np.flatnonzero((column >= 0) & (column < self._width))
            cost[ends] = row[column[ends], ends]
        near = cost <= self._typos
        return TypoMatches(self._words[near], cost[near])

    def _next(self, position: int) -> Array:
        last, letter = ord(self._word[position - 2]), ord(self._word[position - 1])
        before, here = self._letters[: self._width], self._letters[1 : self._width + 1]
        row: Array = self._above + (here != letter).view(np.int8)
        np.minimum(row[:-1], self._above[1:] + ONE_TYPO, out=row[:-1])
        swapped = (here == last) & (before == letter)
        if swapped.any():
            row = np.where(swapped, np.minimum(row, self._above2 + ONE_TYPO), row)
        if position == self._typos:
            row[0] = position
        for cell, other in pairwise(row):
            np.minimum(other, cell + ONE_TYPO, out=other)
        return row

    def _keep_near(self) -> None:
        near = np.flatnonzero(np.minimum.reduce(self._above) <= self._typos)
        if len(near) == len(self._words):
            return
        self._words = self._words[near]
        self._letters = self._letters.take(near, axis=1)
        self._above = self._above.take(near, axis=1)
        if self._above2.shape[1] > 1:
            self._above2 = self._above2.take(near, axis=1)


# Rows after which words beyond the distance are dropped; dropping costs as much as a row.
PRUNED_ROWS = (2, 3, 5)
MIN_PRUNED_ROWS = 64
ONE_TYPO = np.int8(1)


@cache
def _first_rows(typos: int) -> tuple[Array, Array]:
    """Return the first two rows, which are equal for all words with the same first letter."""
    column = np.arange(-typos, typos + 1, dtype=np.int8)[:, np.newaxis]
    far = np.int8(FAR_TYPOS)
    return np.where(column < 0, far, column), np.where(column < -1, far, np.abs(column))


@lru_cache(maxsize=20_000)
def typos_between(word: str, other: str, allowed: int, prefix: bool) -> tuple[int, int]:
    """Return the typos between `word` and `other`, and the number of matched letters of `other`.

    More than `allowed` typos are returned as `FAR_TYPOS`.
    """
    if other == word:
        return 0, len(other)
    if prefix and other.startswith(word):
        return 0, len(word)
    if not allowed or len(word) > MAX_WORD_LETTERS:
        return FAR_TYPOS, 0
    if other[0] == word[0]:
        return _near(word, other, allowed, prefix)
    return _first_letter(word, other, prefix) if allowed >= FIRST_LETTER_TYPOS else (FAR_TYPOS, 0)


def _near(word: str, other: str, allowed: int, prefix: bool) -> tuple[int, int]:
    if not prefix and abs(len(word) - len(other)) > allowed:
        return FAR_TYPOS, 0
    row = _distances(word, other[: len(word) + allowed])
    ends = range(len(row)) if prefix else [len(other)]
    if ends[-1] >= len(row):
        return FAR_TYPOS, 0
    end = min(ends, key=lambda end: (row[end], abs(end - len(word))))
    return (row[end], end) if row[end] <= allowed else (FAR_TYPOS, 0)


def _first_letter(word: str, other: str, prefix: bool) -> tuple[int, int]:
    if len(word) < 2:
        return FAR_TYPOS, 0
    forms = [other[0] + word[1:], other[0] + word, word[1:], word[1] + word[0] + word[2:]]
    for form in forms:
        if other == form or (prefix and other.startswith(form)):
            return FIRST_LETTER_TYPOS, len(form)
    return FAR_TYPOS, 0


def _distances(word: str, other: str) -> list[int]:
    """Return the edit distances of a word to all prefixes of the other."""
    above2: list[int] = []
    above = list(range(len(other) + 1))
    for position, letter in enumerate(word, 1):
        row = [position]
        for column, letter2 in enumerate(other, 1):
            cost = min(
                above[column - 1] + (letter != letter2), above[column] + 1, row[column - 1] + 1
            )
            swapped = position > 1 and column > 1
            if swapped and letter == other[column - 2] and letter2 == word[position - 2]:
                cost = min(cost, above2[column - 2] + 1)
            row.append(cost)
        above2, above = above, row
    return above

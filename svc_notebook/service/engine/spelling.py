"""Which words are taken for another: the typo rule, for one pair and for a whole vocabulary.

A typo is a letter too many, missing, wrong, or swapped with its neighbour. A typo in the first
letter counts two and allows no other. The beginning of a word is compared with every beginning.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from svc_notebook.service.engine.arrays import Array, Arrays
from svc_notebook.service.engine.names import Names

LONGEST = 30
"""Longer words are compared without typos."""
WIDTH = LONGEST + 2
FAR = 99


class Spelled(NamedTuple):
    """Words of a vocabulary, and how many typos each is away."""

    words: Array
    typos: Array


class Vocabulary:
    """The distinct words of a segment, in ascending order, with their letters as columns."""

    def __init__(self, names: Names, letters: Array, lengths: Array) -> None:
        self.names = names
        self._letters = letters
        self._lengths = lengths
        self._known: dict[tuple[str, int, bool], Spelled] = {}

    @classmethod
    def of(cls, ascending: list[str]) -> Vocabulary:
        """Make the vocabulary of words that are distinct and sorted already."""
        lengths = np.fromiter(map(len, ascending), np.int32, len(ascending))
        width = min(WIDTH, int(lengths.max(initial=1)))
        table = np.array(ascending, dtype=f"U{width}")
        letters = table.view(np.uint32).reshape(len(ascending), width)
        kind = np.uint16 if letters.max(initial=0) < 2**16 else np.uint32
        short = np.minimum(lengths, WIDTH).astype(np.int8)
        return cls(Names.of(ascending), np.ascontiguousarray(letters.T.astype(kind)), short)

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Vocabulary:
        """Take up what `arrays` gave."""
        return cls(Names.from_arrays(arrays), arrays["letters"], arrays["lengths"])

    def arrays(self) -> Arrays:
        """Return what must be kept of it."""
        return {**self.names.arrays(), "letters": self._letters, "lengths": self._lengths}

    def misspelled(self, word: str, typos: int, prefix: bool) -> Spelled:
        """Return the words at one typo up to `typos`, or that begin so, nearest not first."""
        if not typos or len(word) > LONGEST or not len(self.names):
            return NONE
        key = (word, typos, prefix)
        found = self._known.get(key)
        if found is None:
            found = self._search(word, typos, prefix)
            if len(self._known) > KEPT:
                self._known.clear()
            self._known[key] = found
        return found

    def _search(self, word: str, typos: int, prefix: bool) -> Spelled:
        """Leave out what is the word itself or begins with it: that is no typo."""
        near = [self._same_first(word, typos, prefix)]
        if typos >= FIRST_LETTER and len(word) > 1:
            near += [self._other_first(word, prefix), self._first_gone(word, prefix)]
        words = np.concatenate([found.words for found in near])
        counts = np.concatenate([found.typos for found in near])
        words, first = np.unique(words, return_index=True)
        counts = counts[first]
        return Spelled(words[counts > 0], counts[counts > 0])

    def _same_first(self, word: str, typos: int, prefix: bool) -> Spelled:
        low, high = self.names.beginning(word[0])
        lengths = self._lengths[low:high]
        near = lengths >= len(word) - typos
        if not prefix:
            near &= lengths <= len(word) + typos
        words = np.flatnonzero(near) + low
        return _Band(self._letters, self._lengths, words).compare(word, typos, prefix)

    def _other_first(self, word: str, prefix: bool) -> Spelled:
        """The first letter is wrong, or one too many stands before it."""
        found = [
            self._agreeing(rest, 1, prefix, np.flatnonzero(self._letter(0) != ord(word[0])))
            for rest in (word[1:], word)
        ]
        return _at_two(np.concatenate(found))

    def _first_gone(self, word: str, prefix: bool) -> Spelled:
        """The first letter is missing, or swapped with the second."""
        if word[0] == word[1]:
            return NONE
        found = []
        for other in (word[1:], word[1] + word[0] + word[2:]):
            low, high = self.names.beginning(other)
            words = np.arange(low, high)
            found.append(words if prefix else words[self._lengths[words] == len(other)])
        return _at_two(np.concatenate(found))

    def _agreeing(self, text: str, start: int, prefix: bool, words: Array) -> Array:
        """Keep the words that have this text from a place on."""
        for place, letter in enumerate(text, start):
            words = words[self._letter(place)[words] == ord(letter)]
        return words if prefix else words[self._lengths[words] == start + len(text)]

    def _letter(self, place: int) -> Array:
        if place < len(self._letters):
            return np.asarray(self._letters[place])
        return np.zeros(len(self._lengths), self._letters.dtype)


FIRST_LETTER = 2
KEPT = 500
NONE = Spelled(np.zeros(0, np.int64), np.zeros(0, np.int8))


def _at_two(words: Array) -> Spelled:
    return Spelled(words, np.full(len(words), FIRST_LETTER, np.int8))


class _Band:
    """Rows of the distance table of one word against many, only near the diagonal."""

    def __init__(self, letters: Array, lengths: Array, words: Array) -> None:
        self._letters = letters
        self._lengths = lengths
        self._words = words
        self._columns: dict[int, Array] = {}

    def compare(self, word: str, typos: int, prefix: bool) -> Spelled:
        """Return the words within the distance."""
        offsets = range(-typos, typos + 1)
        before: list[Array] = []
        row = [self._filled(offset if offset >= 0 else FAR) for offset in offsets]
        for place in range(1, len(word) + 1):
            before, row = row, self._next(word, place, typos, before, row)
            if place in CHECKED and len(self._words) > FEW:
                near = np.flatnonzero(np.minimum.reduce(row) <= typos)
                if len(near) < len(self._words):
                    before, row = self._keep(near, before, row)
        return self._within(row, len(word), typos, prefix)

    def _next(
        self, word: str, place: int, typos: int, above2: list[Array], above: list[Array]
    ) -> list[Array]:
        row: list[Array] = []
        for number, offset in enumerate(range(-typos, typos + 1)):
            column = place + offset
            if column < 1:
                row.append(self._filled(place if column == 0 else FAR))
                continue
            here = self._column(column - 1)
            # Beyond a word's end stand zeros, which no letter equals.
            cost = above[number] + (here != ord(word[place - 1]))
            if number < 2 * typos:
                cost = np.minimum(cost, above[number + 1] + ONE)
            if number:
                cost = np.minimum(cost, row[number - 1] + ONE)
            if place > 1 and column > 1:
                swapped = (here == ord(word[place - 2])) & (
                    self._column(column - 2) == ord(word[place - 1])
                )
                cost = np.where(swapped, np.minimum(cost, above2[number] + ONE), cost)
            row.append(cost)
        return row

    def _within(self, row: list[Array], length: int, typos: int, prefix: bool) -> Spelled:
        if prefix:
            cost = np.minimum.reduce(row)
        else:
            ends = self._lengths[self._words]
            cost = self._filled(FAR)
            for number, offset in enumerate(range(-typos, typos + 1)):
                cost = np.where(ends == length + offset, row[number], cost)
        near = cost <= typos
        return Spelled(self._words[near], cost[near].astype(np.int8))

    def _keep(
        self, near: Array, before: list[Array], row: list[Array]
    ) -> tuple[list[Array], list[Array]]:
        self._words = self._words[near]
        self._columns.clear()
        return [cost[near] for cost in before], [cost[near] for cost in row]

    def _column(self, place: int) -> Array:
        if place not in self._columns:
            self._columns[place] = (
                self._letters[place][self._words]
                if place < len(self._letters)
                else np.zeros(len(self._words), self._letters.dtype)
            )
        return self._columns[place]

    def _filled(self, value: int) -> Array:
        return np.full(len(self._words), value, np.int8)


# Rows after which hopeless words are dropped; dropping costs as much as a row.
CHECKED = (2, 3, 5)
FEW = 64
ONE = np.int8(1)


@lru_cache(maxsize=20_000)
def typos_between(word: str, other: str, allowed: int, prefix: bool) -> tuple[int, int]:
    """Return how many typos `other` is away from `word`, and how many of its letters match.

    More than `allowed` is `FAR`.
    """
    if other == word:
        return 0, len(other)
    if prefix and other.startswith(word):
        return 0, len(word)
    if not allowed or len(word) > LONGEST:
        return FAR, 0
    if other[0] == word[0]:
        return _near(word, other, allowed, prefix)
    return _first_letter(word, other, prefix) if allowed >= FIRST_LETTER else (FAR, 0)


def _near(word: str, other: str, allowed: int, prefix: bool) -> tuple[int, int]:
    if not prefix and abs(len(word) - len(other)) > allowed:
        return FAR, 0
    row = _distances(word, other[: len(word) + allowed])
    ends = range(len(row)) if prefix else [len(other)]
    if ends[-1] >= len(row):
        return FAR, 0
    end = min(ends, key=lambda end: (row[end], abs(end - len(word))))
    return (row[end], end) if row[end] <= allowed else (FAR, 0)


def _first_letter(word: str, other: str, prefix: bool) -> tuple[int, int]:
    if len(word) < 2:
        return FAR, 0
    forms = [other[0] + word[1:], other[0] + word, word[1:], word[1] + word[0] + word[2:]]
    for form in forms:
        if other == form or (prefix and other.startswith(form)):
            return FIRST_LETTER, len(form)
    return FAR, 0


def _distances(word: str, other: str) -> list[int]:
    """Return the distance of the word to each beginning of the other."""
    above2: list[int] = []
    above = list(range(len(other) + 1))
    for place, letter in enumerate(word, 1):
        row = [place]
        for column, letter2 in enumerate(other, 1):
            cost = min(
                above[column - 1] + (letter != letter2), above[column] + 1, row[column - 1] + 1
            )
            swapped = place > 1 and column > 1
            if swapped and letter == other[column - 2] and letter2 == word[place - 2]:
                cost = min(cost, above2[column - 2] + 1)
            row.append(cost)
        above2, above = above, row
    return above

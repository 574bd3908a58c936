"""Compound words: how a language joins words, and how a compound is split.

A word is a compound if it can be split into known words, with or without a linking element between
them. Custom entries define the parts of a word, or that it is not a compound.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.term_dictionary import TermDictionary, starts_of
from svc_notebook.service.engine.text.word_forms import standard_table

# The linking elements between the parts of a compound, by language.
LINKS: dict[str, tuple[str, ...]] = {
    "da": ("", "s", "e"),
    "de": ("", "s", "es", "n", "en", "e", "er"),
    "fi": ("", "n"),
    "nl": ("", "s", "e", "en"),
    "no": ("", "s", "e"),
    "sv": ("", "s"),
}
MIN_PART_LETTERS = 4
# Longer words are not split.
MAX_WORD_LETTERS = 40
# Splits are cached because segments are merged and share their words.
MAX_CACHED_WORDS = 500_000
# With more custom entries than this, words are not checked for them before the split.
MAX_CHECKED_ENTRIES = 200

# A part of a compound: as written, and then without its linking element, if it has one.
Piece = tuple[str, ...]


@dataclass(frozen=True)
class Splitter:
    """Splits compounds of one language; `custom` entries come first, empty ones are not split."""

    language: str
    custom: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    standard: bool = True
    _cache: dict[str, tuple[Piece, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def pieces(self, word: str) -> tuple[Piece, ...]:
        """Return the parts of a word, none if it is not a compound."""
        if not self._may_change(word):
            return standard_splitter(self.language).pieces(word)
        pieces = self._cache.get(word)
        if pieces is None:
            cut = self._split(word)
            pieces = cut if len(cut) > 1 else ()
            if len(self._cache) > MAX_CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = pieces
        return pieces

    def readings(self, word: str) -> list[tuple[str, ...]]:
        """Return the parts of a word, with and without the linking elements."""
        pieces = self.pieces(word)
        return (
            list(dict.fromkeys(zip(*map(_first_and_last, pieces), strict=True))) if pieces else []
        )

    def _may_change(self, word: str) -> bool:
        """Return whether custom entries may change the standard split of a word."""
        if not self.standard or not 0 < len(self.custom) <= MAX_CHECKED_ENTRIES:
            return True
        return any(custom in word for custom in self.custom)

    def _split(self, word: str) -> tuple[Piece, ...]:
        if word in self.custom:
            return tuple((part,) for part in self.custom[word])
        if not 2 * MIN_PART_LETTERS <= len(word) <= MAX_WORD_LETTERS or not word.isalpha():
            return ()
        cuts = [
            (min(len(first[-1]), len(rest)), first, rest)
            for first, rest in self._binary_splits(word)
        ]
        if not cuts:
            return ()
        _, first, rest = max(cuts)
        before = self.pieces(first[-1])
        return (*(before or (first,)), *(self.pieces(rest) or ((rest,),)))

    def _binary_splits(self, word: str) -> Iterator[tuple[Piece, str]]:
        """Return the ways to split a word into two known words."""
        for cut in range(MIN_PART_LETTERS, len(word) - MIN_PART_LETTERS + 1):
            rest = word[cut:]
            stems = self._stems(word[:cut])
            if stems and self._is_known_word(rest):
                yield (word[:cut], *[stem for stem in stems if len(stem) < cut][:1]), rest

    def _stems(self, head: str) -> list[str]:
        """Return the known words that a first part may be without its linking element."""
        links = LINKS[self.language]
        stems = [head.removesuffix(link) for link in links if head.endswith(link)]
        return [
            stem for stem in stems if len(stem) >= MIN_PART_LETTERS and self._is_known_word(stem)
        ]

    def _is_known_word(self, word: str) -> bool:
        return word in self.custom or (self.standard and _is_known(word, self.language))


@cache
def standard_splitter(language: str) -> Splitter:
    """Return the splitter of a language without custom entries."""
    return Splitter(language)


@lru_cache(maxsize=100_000)
def _is_known(word: str, language: str) -> bool:
    return word in standard_table(language)


def _first_and_last(piece: Piece) -> tuple[str, str]:
    return piece[0], piece[-1]


@dataclass(frozen=True, eq=False)
class Compounds:
    """The compounds in the vocabulary of a segment, indexed by their parts."""

    splitter: Splitter
    parts: TermDictionary
    starts: Array
    words: Array

    @classmethod
    def of(cls, vocabulary: TermDictionary, splitter: Splitter) -> Compounds:
        """Split every word of a vocabulary."""
        words_of: dict[str, list[int]] = {}
        for number, word in enumerate(vocabulary.all()):
            for part in {form for piece in splitter.pieces(word) for form in piece}:
                words_of.setdefault(part, []).append(number)
        ascending = sorted(words_of)
        words = [number for part in ascending for number in words_of[part]]
        counts = np.array([len(words_of[part]) for part in ascending], np.int64)
        return cls(
            splitter, TermDictionary.of(ascending), starts_of(counts), np.array(words, np.int64)
        )

    def containing(self, part: str, *, prefix: bool) -> Array:
        """Return the numbers of the words with this part, or with a part that has this prefix."""
        low, high = self.parts.prefix_range(part)
        if not prefix:
            high = low + 1 if low < high and self.parts[low] == part else low
        return np.unique(self.words[self.starts[low] : self.starts[high]])

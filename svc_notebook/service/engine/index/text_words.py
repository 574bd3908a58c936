"""The words of many texts, numbered, with their positions in the texts.

Several words may be at one position: a joined word and its parts (`joined_words`), or a word and
the marked word of a placeholder.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, count

import numpy as np

from svc_notebook.core.tokenization.character_table import BREAK
from svc_notebook.core.tokenization.joined_words import (
    LINK,
    PERIOD,
    WHOLE_WORD,
    IndexedWord,
    index_chain,
)
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split_chains
from svc_notebook.service.engine.arrays import Array, concatenate_ranges
from svc_notebook.service.engine.term_dictionary import starts_of

# Texts that are compared to decide whether each distinct text is split once.
SAMPLED_TEXTS = 1000

# A word, the number of its text and its position there.
PlacedWord = tuple[str, int, int]


@dataclass(frozen=True, eq=False)
class TextWords:
    """The distinct words of texts, and their occurrences in the order of the texts.

    For each occurrence there are the number of its word, the number of its text, its position, and
    whether it is a part of a joined word. For each text, `lengths` are its positions, and `counts`
    its words, of which a joined one counts once.
    """

    words: list[str]
    numbers: Array
    texts: Array
    positions: Array
    parts: Array
    lengths: Array
    counts: Array

    @classmethod
    def of(cls, texts: Sequence[str], rules: TokenizerSettings) -> TextWords:
        """Split texts into words."""
        lengths, numbers, chains = _split_texts(texts, rules)
        text = np.repeat(np.arange(len(texts)), lengths)
        joined = [number for number, chain in enumerate(chains) if PERIOD in chain or LINK in chain]
        if joined:
            table = _ChainTable.of(chains, joined)
            return table.read(numbers, text, lengths)
        positions = np.arange(len(text), dtype=np.int32)
        positions -= starts_of(lengths)[:-1].astype(np.int32)[text]
        parts = np.zeros(len(text), bool)
        return cls(chains, numbers, text, positions, parts, lengths, lengths)

    def with_placeholders(self, placeholders: Sequence[PlacedWord]) -> TextWords:
        """Add marked words at the positions of the unmarked words."""
        numbers_added: dict[str, int] = {}
        start = len(self.words)
        added = [
            numbers_added.setdefault(word, start + len(numbers_added))
            for word, _, _ in placeholders
        ]
        texts = np.array([text for _, text, _ in placeholders], np.int64)
        positions = np.array([position for _, _, position in placeholders], np.int32)
        return TextWords(
            [*self.words, *numbers_added],
            np.concatenate([self.numbers, np.array(added, np.int32)]),
            np.concatenate([self.texts, texts]),
            np.concatenate([self.positions, positions]),
            np.concatenate([self.parts, np.zeros(len(texts), bool)]),
            self.lengths,
            self.counts,
        )


@dataclass(frozen=True, eq=False)
class _ChainTable:
    """The words of each distinct chain: for each chain, a range of entries.

    An entry is a word number, a position in the chain, and whether it is a part. `lengths` are the
    positions of each chain, `counts` its words.
    """

    words: list[str]
    starts: Array
    numbers: Array
    positions: Array
    parts: Array
    lengths: Array
    counts: Array

    @classmethod
    def of(cls, chains: Sequence[str], joined: Sequence[int]) -> _ChainTable:
        """Read the words of chains; `joined` are the numbers of those with joiners."""
        plain = np.ones(len(chains), bool)
        plain[joined] = False
        number_of = dict(zip(compress(chains, plain.tolist()), count()))
        entries: list[IndexedWord] = []
        sizes, lengths, counts = (np.ones(len(chains), np.int64) for _ in range(3))
        for number in joined:
            indexed = index_chain(chains[number])
            entries += indexed
            sizes[number] = len(indexed)
            lengths[number] = indexed[-1].position + 1 if indexed else 0
            counts[number] = 1 + indexed[-1].word if indexed else 0
        added = [number_of.setdefault(entry.text, len(number_of)) for entry in entries]
        is_plain = np.repeat(plain, sizes)
        columns = (np.zeros(len(is_plain), kind) for kind in (np.int32, np.int32, bool))
        numbers, positions, parts = columns
        numbers[is_plain] = np.arange(int(plain.sum()))
        numbers[~is_plain] = added
        positions[~is_plain] = [entry.position for entry in entries]
        parts[~is_plain] = [entry.part != WHOLE_WORD for entry in entries]
        return cls([*number_of], starts_of(sizes), numbers, positions, parts, lengths, counts)

    def read(self, chains: Array, texts: Array, chain_counts: Array) -> TextWords:
        """Return the words of texts, given the number and the text of each of their chains."""
        ends = starts_of(self.lengths[chains])
        bounds = starts_of(chain_counts)
        first = ends[:-1] - ends[bounds[:-1]][texts]
        starts, sizes = self.starts[chains], np.diff(self.starts)[chains]
        entries = concatenate_ranges(starts, sizes)
        counted = starts_of(self.counts[chains])
        return TextWords(
            self.words,
            self.numbers[entries],
            np.repeat(texts, sizes),
            (np.repeat(first, sizes) + self.positions[entries]).astype(np.int32),
            self.parts[entries],
            np.diff(ends[bounds]),
            np.diff(counted[bounds]),
        )


def _split_texts(texts: Sequence[str], rules: TokenizerSettings) -> tuple[Array, Array, list[str]]:
    """Return how many chains each text has, the number of each chain, and the distinct chains.

    If most texts occur several times, as brands do, each is split once.
    """
    sample = texts[:SAMPLED_TEXTS]
    if 2 * len(set(sample)) > len(sample):
        return _split_distinct(texts, rules)
    places, distinct = _number_by_occurrence(texts)
    lengths, numbers, chains = _split_distinct(distinct, rules)
    starts, lengths = starts_of(lengths)[places], lengths[places]
    return lengths, numbers[concatenate_ranges(starts, lengths)], chains


def _split_distinct(
    texts: Sequence[str], rules: TokenizerSettings
) -> tuple[Array, Array, list[str]]:
    numbers, chains = _number_by_occurrence([BREAK, *split_chains(texts, rules)])
    breaks = np.flatnonzero(numbers == 0)
    return np.diff(breaks) - 1, numbers[numbers != 0] - 1, chains[1:]


def _number_by_occurrence(texts: Sequence[str]) -> tuple[Array, list[str]]:
    """Number texts by first occurrence; also return the distinct ones."""
    number_of: defaultdict[str, int] = defaultdict(count().__next__)
    numbers = np.fromiter(map(number_of.__getitem__, texts), np.int32, len(texts))
    return numbers, [*number_of]

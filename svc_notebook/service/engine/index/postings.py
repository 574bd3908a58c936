"""Postings: one sorted table of the occurrences of all words in many records.

A place is a number that increases through the whole table: neighbours in one text differ by one,
and `ELEMENT_GAP` places separate two texts, so that distances are computed without the records or
attributes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress, count, pairwise

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
from svc_notebook.service.engine.arrays import (
    Array,
    Arrays,
    add_prefix,
    concatenate_ranges,
    group_by_prefix,
)
from svc_notebook.service.engine.term_dictionary import TermDictionary, starts_of, union
from svc_notebook.service.engine.text.synonyms import (
    FIRST_MARKER,
    LAST_MARKER,
    ONLY_MARKER,
    find_placeholders,
)
from svc_notebook.service.engine.text.typos import Vocabulary

# Texts that are compared to decide whether each distinct text is split once.
SAMPLED_TEXTS = 1000

# A word, the number of its text and its position there.
PlacedWord = tuple[str, int, int]

ELEMENT_GAP = 8
# The highest stored position: later words match and rank as if they were here.
LAST_POSITION = 999
POSITION_MASK = 0x3FF
ALONE_FLAG = 0x400
# Layout of an occurrence's `spot`: attribute number, flag for a one-word text, position.
SLOT_SHIFT = 11
PLACE_BITS = 40
PLACE_MASK = (1 << PLACE_BITS) - 1
# Occurrences sorted at one time: those of a million records would take gigabytes.
CHUNK_OCCURRENCES = 1 << 20
# Positions that count as leading, from 0.
LEADING_POSITIONS = 8
# With fewer, leading occurrences are found within milliseconds when they are first needed.
MIN_STORED_OCCURRENCES = 1 << 20


@dataclass(frozen=True, eq=False)
class LeadingOccurrences:
    """The numbers of the occurrences at the first positions of an attribute.

    The best hits have their words there, so that they are found without reading all occurrences.
    The numbers ascend within each attribute and position. Occurrences are numbered by word: those
    of a range of words are a range here, too. `starts` are the first of each attribute and
    position. `alone` are the numbers of all occurrences that are the only word of their text.
    """

    numbers: Array
    starts: Array
    alone: Array

    @classmethod
    def of(cls, spots: Array) -> LeadingOccurrences:
        """Select those of all occurrences, given by their spots."""
        cells = (int(spots.max(initial=0) >> SLOT_SHIFT) + 1) * LEADING_POSITIONS
        starts = range(0, len(spots), CHUNK_OCCURRENCES)
        chunks = [_select_leading(spots[at : at + CHUNK_OCCURRENCES], at, cells) for at in starts]
        total = starts_of(sum((counts for _, counts in chunks), np.zeros(cells, np.int64)))
        numbers, ends = np.empty(total[-1], np.int32), total[:-1].copy()
        for chunk, counts in chunks:
            pieces = np.split(chunk, np.cumsum(counts)[:-1])
            for cell in np.flatnonzero(counts):
                start = ends[cell]
                ends[cell] += counts[cell]
                numbers[start : ends[cell]] = pieces[cell]
        alone = [_select_alone(spots[at : at + CHUNK_OCCURRENCES], at) for at in starts]
        return cls(numbers, total, np.concatenate(alone) if alone else numbers[:0])

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        return {"numbers": self.numbers, "starts": self.starts, "alone": self.alone}

    def find(self, slots: Sequence[int], positions: range, occurrences: slice) -> Array:
        """Return the numbers at successive positions of some attributes, ascending, in a range."""
        runs = [self.numbers[:0]]
        bounds = np.array([occurrences.start, occurrences.stop], self.numbers.dtype)
        for slot in slots:
            first = slot * LEADING_POSITIONS + positions.start
            for start, end in pairwise(self.starts[first : first + len(positions) + 1].tolist()):
                here = self.numbers[start:end]
                runs.append(here[slice(*np.searchsorted(here, bounds))])
        # Those of a single position are in order.
        return np.sort(np.concatenate(runs)) if len(runs) > 2 else runs[-1]

    def find_alone(self, occurrences: slice) -> Array:
        """Return the numbers of those in a range that are the only word of their text."""
        bounds = np.array([occurrences.start, occurrences.stop], self.alone.dtype)
        return self.alone[slice(*np.searchsorted(self.alone, bounds))]


def _select_alone(spots: Array, start: int) -> Array:
    return np.flatnonzero(spots & ALONE_FLAG).astype(np.int32) + np.int32(start)


def _select_leading(spots: Array, start: int, cells: int) -> tuple[Array, Array]:
    """Return the numbers of leading occurrences, by attribute and position, and their counts."""
    positions = spots & POSITION_MASK
    leading = np.flatnonzero(positions < LEADING_POSITIONS).astype(np.int32)
    cell = (spots[leading] >> SLOT_SHIFT) * LEADING_POSITIONS + positions[leading]
    return leading[_order_by(cell)] + np.int32(start), np.bincount(cell, minlength=cells)


@dataclass(frozen=True, eq=False)
class Postings:
    """Occurrences ordered by word, then by place."""

    vocabulary: Vocabulary
    starts: Array
    rows: Array
    spots: Array
    places: Array
    first_places: Array
    # The leading occurrences of a file; None if they are found when first needed.
    stored_leading: LeadingOccurrences | None = None

    @classmethod
    def of(
        cls, texts: Sequence[str], rows: Array, slots: Array, records: int, rules: TokenizerSettings
    ) -> Postings:
        """Index texts ordered by row, then by slot."""
        text_words = TextWords.of(texts, rules)
        if placeholders := _find_placeholders(texts, rules):
            text_words = text_words.with_placeholders(placeholders)
        words, text, within, lengths = (
            text_words.words,
            text_words.texts,
            text_words.positions,
            text_words.lengths,
        )
        ascending = sorted(words)
        ranks = {word: number for number, word in enumerate(ascending)}
        rank = np.fromiter(map(ranks.__getitem__, words), np.int32, len(words))
        terms = rank[text_words.numbers]
        sequence = _order_by(terms)
        text, within = text[sequence], within[sequence]
        earlier = _earlier_words(rows, slots, lengths).astype(np.int32)
        alone = np.where(
            (text_words.counts == 1)[text] & ~text_words.parts[sequence], ALONE_FLAG, 0
        )
        layout = (slots << SLOT_SHIFT).astype(np.int32)[text] | alone.astype(np.int32)
        first = (ELEMENT_GAP + starts_of(lengths + ELEMENT_GAP)[:-1]).astype(np.int32)
        spans = np.bincount(rows, weights=lengths + ELEMENT_GAP, minlength=records).astype(np.int64)
        return cls(
            Vocabulary.of(TermDictionary.of(ascending)),
            starts_of(np.bincount(terms, minlength=len(words))),
            rows.astype(np.int32)[text],
            layout | np.minimum(within + earlier[text], LAST_POSITION),
            first[text] + within,
            starts_of(spans),
        )

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Postings:
        """Restore postings from `arrays`."""
        groups = group_by_prefix(arrays)
        vocabulary = Vocabulary.from_arrays(groups["vocabulary"])
        leading_arrays = groups.get("leading", {})
        # Files of earlier versions have none, or not all arrays.
        leading = LeadingOccurrences(**leading_arrays) if "alone" in leading_arrays else None
        columns = {name: arrays[name] for name in COLUMNS}
        return cls(vocabulary, **columns, stored_leading=leading)

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        if len(self.spots) >= MIN_STORED_OCCURRENCES:
            columns |= add_prefix("leading", self.leading.arrays())
        return {**columns, **add_prefix("vocabulary", self.vocabulary.arrays())}

    @cached_property
    def leading(self) -> LeadingOccurrences:
        """The occurrences at the first positions of attributes."""
        return self.stored_leading or LeadingOccurrences.of(self.spots)

    def of_words(self, words: Array) -> Array:
        """Return the numbers of all occurrences of these words."""
        starts = self.starts[words]
        return concatenate_ranges(starts, self.starts[words + 1] - starts)

    def with_slots(self, moved: Array) -> Postings:
        """Return the postings with other attribute numbers."""
        spots = (moved[self.spots >> SLOT_SHIFT] << SLOT_SHIFT) | (
            self.spots & ((1 << SLOT_SHIFT) - 1)
        )
        return replace(self, spots=spots, stored_leading=None)


COLUMNS = ("starts", "rows", "spots", "places", "first_places")


def merge(many: Sequence[Postings], moved: Sequence[Array], records: int) -> Postings:
    """Merge postings; `moved[n]` maps the rows of the nth to new rows, -1 for deleted rows."""
    first_places = starts_of(_spans(many, moved, records))
    names, renamed = union([postings.vocabulary.names for postings in many])
    counts = np.zeros(len(names), np.int64)
    size = sum(len(postings.rows) for postings in many)
    columns = tuple(np.empty(size, np.int32) for _ in range(3))
    end = 0
    for word_range in _word_ranges(many, renamed, len(names)):
        cuts = [
            _select_range(postings, to, ranks, word_range, first_places)
            for postings, to, ranks in zip(many, moved, renamed, strict=True)
        ]
        keys, rows, spots = (np.concatenate(column) for column in zip(*cuts, strict=True))
        counts[word_range] = np.bincount(
            keys >> PLACE_BITS, minlength=word_range.stop - word_range.start
        )
        order = np.argsort(keys, kind="stable")
        start, end = end, end + len(order)
        for column, values in zip(columns, (rows, spots, keys & PLACE_MASK), strict=True):
            column[start:end] = values[order]
    rows, spots, places = (part if end == size else part[:end].copy() for part in columns)
    used = counts > 0
    words = Vocabulary.of(names.select(used))
    return Postings(words, starts_of(counts[used]), rows, spots, places, first_places)


def _spans(many: Sequence[Postings], moved: Sequence[Array], records: int) -> Array:
    spans = np.zeros(records, np.int64)
    for postings, rows in zip(many, moved, strict=True):
        kept = rows >= 0
        spans[rows[kept]] = np.diff(postings.first_places)[kept]
    return spans


def _word_ranges(many: Sequence[Postings], renamed: Sequence[Array], words: int) -> Iterator[slice]:
    """Split the words into ranges with about `CHUNK_OCCURRENCES` occurrences each."""
    occur = np.zeros(words, np.int64)
    for postings, ranks in zip(many, renamed, strict=True):
        occur[ranks] += np.diff(postings.starts)
    ends = np.cumsum(occur)
    cuts = np.searchsorted(ends, np.arange(CHUNK_OCCURRENCES, int(occur.sum()), CHUNK_OCCURRENCES))
    return (slice(*pair) for pair in pairwise(np.unique([0, *cuts, words]).tolist()))


def _select_range(
    postings: Postings, moved: Array, ranks: Array, words: slice, first_places: Array
) -> tuple[Array, Array, Array]:
    """Return the live occurrences of a range of words: word and place as one number, row, spot."""
    first, last = np.searchsorted(ranks, (words.start, words.stop))
    span = slice(postings.starts[first], postings.starts[last])
    terms = np.repeat(ranks[first:last] - words.start, np.diff(postings.starts[first : last + 1]))
    before = postings.rows[span]
    kept = moved[before] >= 0
    before = before[kept]
    rows = moved[before]
    places = postings.places[span][kept] + (first_places[rows] - postings.first_places[before])
    return (terms[kept].astype(np.int64) << PLACE_BITS) | places, rows, postings.spots[span][kept]


def _find_placeholders(
    texts: Sequence[str], rules: TokenizerSettings
) -> list[tuple[str, int, int]]:
    """Return the marked words of bracketed tokens, with their text numbers and positions."""
    if "<" not in "".join(texts):
        return []
    return [
        (word, number, position)
        for number, text in enumerate(texts)
        if "<" in text
        for token in find_placeholders(text, rules)
        for position, word in enumerate(token.words, token.first)
        if word.startswith((FIRST_MARKER, LAST_MARKER, ONLY_MARKER))
    ]


def _earlier_words(rows: Array, slots: Array, lengths: Array) -> Array:
    """Count the words before each text in the same attribute of the same record."""
    before = starts_of(lengths)[:-1]
    opens = np.ones(len(rows), bool)
    opens[1:] = (rows[1:] != rows[:-1]) | (slots[1:] != slots[:-1])
    numbers = np.cumsum(opens) - 1
    return before - before[opens][numbers] if len(rows) else before


def _order_by(terms: Array) -> Array:
    """Return the stable order of terms, by 16-bit halves, for which NumPy uses a radix sort."""
    order = np.argsort((terms & 0xFFFF).astype(np.uint16), kind="stable")
    if terms.max(initial=0) > 0xFFFF:
        order = order[np.argsort((terms[order] >> 16).astype(np.uint16), kind="stable")]
    return order


@dataclass(frozen=True, eq=False)
class TextWords:
    """The distinct words of texts, and their occurrences in the order of the texts.

    For each occurrence there are the number of its word, the number of its text, its position, and
    whether it is a part of a joined word. Several words may be at one position: a joined word and
    its parts (`joined_words`), or a word and the marked word of a placeholder. For each text,
    `lengths` are its positions, and `counts` its words, of which a joined one counts once.
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

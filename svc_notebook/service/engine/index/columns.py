"""Columns of a segment besides its postings: facets, numbers and sort keys."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings, split
from svc_notebook.service.engine.arrays import Array, Arrays, add_prefix, group_by_prefix, make_mask
from svc_notebook.service.engine.index.flatten import Leaf, number_text
from svc_notebook.service.engine.index.postings import Postings
from svc_notebook.service.engine.term_dictionary import TermDictionary, union

Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class ValueWordIndex:
    """Facet values by the hashes of their words, sorted, with the code of each value."""

    names: TermDictionary
    rules: TokenizerSettings
    hashes: Array
    places: Array
    longest: int

    @classmethod
    def of(cls, names: TermDictionary, rules: TokenizerSettings) -> ValueWordIndex:
        """Tokenize the names and hash their words."""
        texts = [_normalize(name, rules) for name in names.all()]
        hashes = _hash(texts)
        order = np.argsort(hashes, kind="stable")
        longest = max((text.count(" ") + 1 for text in texts), default=0)
        return cls(names, rules, hashes[order], order, longest)

    def find(self, words: Sequence[str]) -> Iterator[tuple[Span, int]]:
        """Return the runs of words that equal a name, with the code of the name."""
        spans = [
            (start, end)
            for start in range(len(words))
            for end in range(start + 1, min(start + self.longest, len(words)) + 1)
        ]
        texts = [" ".join(words[start:end]) for start, end in spans]
        hashes = _hash(texts)
        low, high = (np.searchsorted(self.hashes, hashes, side) for side in ("left", "right"))
        for number in np.flatnonzero(low < high).tolist():
            for value in self.places[low[number] : high[number]].tolist():
                if _normalize(self.names[value], self.rules) == texts[number]:
                    yield spans[number], value


def _normalize(name: str, rules: TokenizerSettings) -> str:
    return " ".join(split(name, rules))


def _hash(texts: Sequence[str]) -> Array:
    return np.fromiter(map(hash, texts), np.int64, len(texts))


NUMBER_TYPES = frozenset({int, float})
# Up to this many labels are found faster one by one.
MAX_LINEAR_LABELS = 6


@dataclass(frozen=True)
class Summary:
    """What the statistics of a facet need of some numbers."""

    count: int
    lowest: float
    highest: float
    total: float

    @classmethod
    def of(cls, values: Array) -> Summary | None:
        """Summarize numbers; None if there are none."""
        if not len(values):
            return None
        return cls(len(values), float(values.min()), float(values.max()), float(values.sum()))


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers under one path; a row has none, one or several."""

    rows: Array
    values: Array

    @classmethod
    def of(cls, leaf: Leaf) -> Numbers | None:
        """Build the column from the numbers of a leaf, None if it has none."""
        leaf = leaf.only(NUMBER_TYPES)
        if not leaf.values:
            return None
        rows, values = leaf.row_numbers, _floats(leaf.values)
        finite = np.isfinite(values)
        return cls(rows, values) if finite.all() else cls(rows[finite], values[finite])

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        return {"rows": self.rows, "values": self.values}

    def moved(self, rows: Array) -> Numbers:
        """Return the column under new row numbers, without deleted rows."""
        row = rows[self.rows]
        return Numbers(row[row >= 0], self.values[row >= 0])

    def rows_where(self, test: Callable[[Array], Array], records: int) -> Array:
        """Return the mask of the rows with a number that passes the test."""
        if self._one_per_row and len(self.rows) == records:
            return test(self.values)
        return make_mask(self.rows[test(self.values)], records)

    @cached_property
    def _one_per_row(self) -> bool:
        return bool(np.array_equal(self.rows, np.arange(len(self.rows))))

    def chosen(self, mask: Array) -> Array:
        """Return the numbers of the rows in a mask."""
        aligned = self._one_per_row and len(self.rows) == len(mask)
        return self.values[np.flatnonzero(mask if aligned else mask[self.rows])]

    def summarize(self, mask: Array) -> Summary | None:
        """Summarize the numbers of the rows in a mask; None if there are none."""
        if mask.all():
            return self._summary
        return Summary.of(self.chosen(mask))

    @cached_property
    def _summary(self) -> Summary | None:
        return Summary.of(self.values)

    def first(self, records: int) -> Array:
        """Return the first number of each row, NaN for none."""
        firsts = np.full(records, np.nan)
        firsts[self.rows[::-1]] = self.values[::-1]
        return firsts


def join_numbers(many: Sequence[Numbers]) -> Numbers:
    """Join columns whose rows are already renumbered."""
    rows = np.concatenate([numbers.rows for numbers in many])
    order = np.argsort(rows, kind="stable")
    return Numbers(
        rows[order].astype(np.int32), np.concatenate([numbers.values for numbers in many])[order]
    )


@dataclass(frozen=True, eq=False)
class Labels:
    """The facet values under one path as codes in ascending order; a row may have several."""

    names: TermDictionary
    rows: Array
    codes: Array

    @classmethod
    def of(cls, leaf: Leaf) -> Labels:
        """Build the labels of a leaf; numbers and booleans become text."""
        texts = [value if type(value) is str else label(value) for value in leaf.values]
        names = sorted(set(texts))
        code = {name: number for number, name in enumerate(names)}
        codes = np.fromiter(map(code.__getitem__, texts), np.int32, len(texts))
        return cls(TermDictionary.of(names), *_distinct_pairs(leaf.row_numbers, codes))

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Labels:
        """Restore labels from `arrays`."""
        names = TermDictionary.from_arrays(group_by_prefix(arrays)["names"])
        return cls(names, arrays["rows"], arrays["codes"])

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        return {"rows": self.rows, "codes": self.codes, **add_prefix("names", self.names.arrays())}

    def moved(self, rows: Array) -> Labels:
        """Return the labels under new row numbers, without deleted rows."""
        row = rows[self.rows]
        return Labels(self.names, row[row >= 0], self.codes[row >= 0])

    def rows_labelled(self, texts: Sequence[str], records: int, *, exact: bool = False) -> Array:
        """Return the mask of the rows with any of the labels, case-insensitive unless `exact`."""
        codes = self.codes_of(texts, exact=exact)
        if not len(codes):
            return np.zeros(records, bool)
        if len(codes) <= MAX_LINEAR_LABELS:
            carried = np.asarray(self.codes == codes[0])
            for code in codes[1:]:
                carried |= self.codes == code
        else:
            carried = make_mask(codes, len(self.names))[self.codes]
        if self._one_per_row and len(self.rows) == records:
            return carried
        return make_mask(self.rows[carried], records)

    def count(self, chosen: Array) -> Array:
        """Count the selected rows of each label; `chosen` is a mask of rows."""
        aligned = self._one_per_row and len(chosen) == len(self.codes)
        carried = chosen if aligned else chosen[self.rows]
        selected = np.count_nonzero(carried)
        if selected == len(carried):
            return self._totals
        # Numbers select several times faster than a mask that is neither sparse nor dense.
        if 2 * selected <= len(carried):
            return self._count(self.codes[np.flatnonzero(carried)])
        # If most rows are selected, counting the others is faster.
        return self._totals - self._count(self.codes[np.flatnonzero(~carried)])

    def _count(self, codes: Array) -> Array:
        return np.bincount(codes, minlength=len(self.names))

    @cached_property
    def _totals(self) -> Array:
        return self._count(self.codes)

    @cached_property
    def hashes(self) -> Array:
        """A hash of each label that is equal in all segments."""
        return np.fromiter(map(label_hash, self.names.all()), np.uint64, len(self.names))

    def words(self, rules: TokenizerSettings) -> Postings:
        """Return the postings of the labels, with each label as a record."""
        postings = self._words.get(rules)
        if postings is None:
            rows = np.arange(len(self.names))
            postings = Postings.of(self.names.all(), rows, np.zeros_like(rows), len(rows), rules)
            self._words[rules] = postings
        return postings

    def word_index(self, rules: TokenizerSettings) -> ValueWordIndex:
        """Return the labels indexed by their words."""
        index = self._word_indexes.get(rules)
        if index is None:
            index = self._word_indexes[rules] = ValueWordIndex.of(self.names, rules)
        return index

    def codes_of(self, texts: Sequence[str], *, exact: bool) -> Array:
        """Return the codes of some labels, case-insensitive unless `exact`."""
        if exact:
            few = len(texts) <= MAX_LINEAR_LABELS
            codes = np.array([*map(self.names.find, texts)]) if few else self.names.find_many(texts)
            return np.asarray(codes[codes >= 0])
        folded = self._folded
        matching = [code for text in texts for code in folded.get(text.casefold(), ())]
        return np.array(matching, np.int64)

    @cached_property
    def _words(self) -> dict[TokenizerSettings, Postings]:
        return {}

    @cached_property
    def _word_indexes(self) -> dict[TokenizerSettings, ValueWordIndex]:
        return {}

    @cached_property
    def _folded(self) -> dict[str, list[int]]:
        folded: dict[str, list[int]] = {}
        for code, name in enumerate(self.names.all()):
            folded.setdefault(name.casefold(), []).append(code)
        return folded

    @cached_property
    def _one_per_row(self) -> bool:
        return bool(np.array_equal(self.rows, np.arange(len(self.rows))))


def join_labels(many: Sequence[Labels]) -> Labels:
    """Join columns whose rows are already renumbered."""
    names, moved = union([labels.names for labels in many])
    rows = np.concatenate([labels.rows for labels in many])
    codes = np.concatenate([to[labels.codes] for labels, to in zip(many, moved, strict=True)])
    used = np.zeros(len(names), bool)
    used[codes] = True
    fewer = np.cumsum(used) - 1
    return Labels(
        names.select(used),
        *_distinct_pairs(rows.astype(np.int32), fewer[codes].astype(np.int32)),
    )


def label(value: object) -> str:
    """Return the facet value of a scalar as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return number_text(value) if isinstance(value, int | float) else str(value)


def label_hash(text: str) -> int:
    """Return a 64-bit hash of a text that is equal in every process and never 0."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def _floats(values: list[Any]) -> Array:
    try:
        return np.array(values, np.float64)
    except OverflowError:
        return np.array([_float(value) for value in values], np.float64)


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _distinct_pairs(rows: Array, codes: Array) -> tuple[Array, Array]:
    """Sort by row, and count a label once per row even if the record repeats it."""
    if len(rows) < 2 or bool((rows[1:] > rows[:-1]).all()):
        return rows, codes
    pairs = np.unique((rows.astype(np.int64) << 32) | codes)
    return (pairs >> 32).astype(np.int32), (pairs & 0xFFFFFFFF).astype(np.int32)

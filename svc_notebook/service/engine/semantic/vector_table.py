"""A table of vectors, one per row, stored as bytes with one scale each."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from svc_notebook.service.engine.arrays import Array, Arrays

# Signs of a row; by 8,000 candidates of 100,000 rows, 98 of the 100 nearest rows are found.
SIGNS_PER_ROW, WORD_BITS = 256, 64
PROJECTION_SEED = 0
# Rows that are projected at one time.
CHUNK_ROWS = 10_000
SAMPLED_ROWS = 20_000

# The highest absolute value of a component as stored.
MAX_CODE = 127
# Rows compared at one time: a block of them as floats fits into the cache of the processor.
BLOCK_ROWS = 1024
SIMILARITY_DIGITS = 4
SIMILARITY_SCALE = 10**SIMILARITY_DIGITS
# The similarity of a row without a vector, lower than any other.
NO_SIMILARITY = -SIMILARITY_SCALE - 1
# A smaller table has no sketch: all its rows are compared.
MIN_SKETCHED_ROWS = 25_000
# Rows of a sketched table that are compared: at least so many, and this share of the allowed.
MIN_CANDIDATES, CANDIDATE_SHARE = 8_000, 0.02


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Vectors as bytes; the scale is NaN for a row without a vector, 0 for one without words.

    Queries are stored in the same way: their products are whole numbers, which floats add up
    exactly, so that equal vectors have equal similarities in every segment. A large table has a
    sketch, which tells the rows that are worth a comparison.
    """

    codes: Array
    scales: Array
    sketch: Array | None = None
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __len__(self) -> int:
        return len(self.scales)

    @classmethod
    def of(cls, vectors: Array, *, unit: bool = True) -> VectorTable:
        """Return the table of vectors; a row with a value that is not finite has no vector.

        With `unit`, each vector has the length 1, whatever its own.
        """
        vectors = np.array(vectors, np.float32)
        unknown = ~np.isfinite(vectors).all(axis=1)
        vectors[unknown] = 0
        largest = np.abs(vectors).max(axis=1, initial=0)
        steps = largest / MAX_CODE
        filled = steps > 0  # a part of the smallest floats is 0
        np.divide(vectors, steps[:, np.newaxis], out=vectors, where=filled[:, np.newaxis])
        codes = np.rint(vectors).astype(np.int8)
        scales = steps
        if unit:
            lengths = np.linalg.norm(codes.astype(np.float32), axis=1)
            scales = np.divide(1, lengths, out=np.zeros_like(steps), where=filled)
        scales[unknown] = np.nan
        return cls(codes, scales.astype(np.float32))

    @classmethod
    def empty(cls, rows: int, dimensions: int) -> VectorTable:
        """Return a table of rows without vectors."""
        return cls(np.zeros((rows, dimensions), np.int8), np.full(rows, np.nan, np.float32))

    @classmethod
    def joined(cls, rows: int, parts: Sequence[tuple[Array, VectorTable]]) -> VectorTable:
        """Return a table of `rows` rows; each part gives the vectors of some of them."""
        table = cls.empty(rows, parts[0][1].dimensions if parts else 0)
        for places, part in parts:
            table.codes[places], table.scales[places] = part.codes, part.scales
        return table

    @classmethod
    def from_arrays(cls, arrays: Arrays, name: str) -> VectorTable:
        """Restore a table from `arrays`."""
        return cls(arrays["codes"], arrays["scales"], arrays.get("sketch"), name)

    def arrays(self) -> Arrays:
        """Return the arrays to store."""
        arrays = {"codes": self.codes, "scales": self.scales}
        return arrays if self.sketch is None else {**arrays, "sketch": self.sketch}

    @property
    def lacks_sketch(self) -> bool:
        """Whether the table is large and has no sketch."""
        return self.sketch is None and len(self) >= MIN_SKETCHED_ROWS

    def with_sketch(self, pause: Callable[[], None] = lambda: None) -> VectorTable:
        """Return the table with a sketch; `pause` is called between steps and may wait."""
        return replace(self, sketch=sketch_vectors(self.codes, pause), name=uuid.uuid4().hex)

    def find_candidates(self, query: VectorTable, allowed: Array) -> Array | None:
        """Return the allowed rows to compare with a query, ascending; None for all rows."""
        if self.sketch is None:
            return None
        count = int(np.count_nonzero(allowed))
        limit = max(MIN_CANDIDATES, int(CANDIDATE_SHARE * count))
        if count <= 2 * limit:
            return np.flatnonzero(allowed)
        different = count_different_signs(self.sketch, query.codes)
        return find_candidates(different, allowed, limit / count)

    @property
    def dimensions(self) -> int:
        """The number of components of a vector."""
        return int(self.codes.shape[1])

    @cached_property
    def known(self) -> Array:
        """The mask of the rows that have a vector."""
        return np.asarray(~np.isnan(self.scales))

    def take(self, rows: Array) -> VectorTable:
        """Return the vectors of rows, by their numbers, without a sketch."""
        return VectorTable(self.codes.take(rows, axis=0), self.scales.take(rows))

    def decoded(self) -> Array:
        """Return the vectors as floats, NaN for rows without one."""
        return np.asarray(self.codes * self.scales[:, np.newaxis], np.float32)

    def similarities(self, query: VectorTable, rows: Array | None = None) -> Array:
        """Return the cosine of each row, or of some, and the query, in units of the last digit."""
        if rows is not None:
            return self.take(rows).similarities(query)
        products = np.empty(len(self), np.float32)
        vector = query.codes[0].astype(np.float32)
        block = np.empty((min(BLOCK_ROWS, len(self)), self.dimensions), np.float32)
        for start in range(0, len(self), BLOCK_ROWS):
            codes = self.codes[start : start + BLOCK_ROWS]
            floats = block[: len(codes)]
            np.copyto(floats, codes)
            np.dot(floats, vector, out=products[start : start + len(codes)])
        products *= self._factors * (query.scales[0] * SIMILARITY_SCALE)
        rounded = np.rint(products, out=products).astype(np.int32)
        if len(self._unknown):
            rounded[self._unknown] = NO_SIMILARITY
        return rounded

    @cached_property
    def _factors(self) -> Array:
        return np.where(self.known, self.scales, 0)

    @cached_property
    def _unknown(self) -> Array:
        return np.flatnonzero(~self.known)


def sketch_vectors(codes: Array, pause: Callable[[], None] = lambda: None) -> Array:
    """Return the signs of vectors: a row of words for each 64 signs."""
    words = np.empty((SIGNS_PER_ROW // WORD_BITS, len(codes)), np.uint64)
    projections = _make_projections(codes.shape[1])
    for start in range(0, len(codes), CHUNK_ROWS):
        pause()
        signs = codes[start : start + CHUNK_ROWS].astype(np.float32) @ projections > 0
        words[:, start : start + CHUNK_ROWS] = np.packbits(signs, axis=1).view(np.uint64).T
    return words


def count_different_signs(sketch: Array, codes: Array) -> Array:
    """Return for each row of a sketch the number of signs that differ from those of a vector."""
    signs = sketch_vectors(codes)[:, 0]
    different = np.bitwise_count(sketch[0] ^ signs[0]).astype(np.uint16)
    for word, sign in zip(sketch[1:], signs[1:], strict=True):
        different += np.bitwise_count(word ^ sign)
    return np.asarray(different)


def find_candidates(different: Array, allowed: Array, share: float) -> Array:
    """Return about this share of the allowed rows, ascending: those with the fewest differences.

    The highest number of differences is estimated from a sample; rows with as many are returned,
    too.
    """
    step = 1 + len(different) // SAMPLED_ROWS
    sample = different[::step][allowed[::step]]
    totals = np.cumsum(np.bincount(sample, minlength=SIGNS_PER_ROW + 1))
    highest = int(np.searchsorted(totals, share * totals[-1]))
    return np.flatnonzero((different <= highest) & allowed)


@lru_cache(8)
def _make_projections(dimensions: int) -> Array:
    """Return the directions of the projections, a column for each; orthogonal if there is space."""
    size = max(dimensions, SIGNS_PER_ROW)
    random = np.random.default_rng(PROJECTION_SEED).standard_normal((size, size))
    return np.asarray(np.linalg.qr(random)[0][:dimensions, :SIGNS_PER_ROW], np.float32)

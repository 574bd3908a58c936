"""A table of vectors, one per row, stored as bytes with one scale each."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from svc_notebook.service.engine.arrays import Array, Arrays
from svc_notebook.service.engine.semantic.sign_sketch import (
    count_different_signs,
    find_candidates,
    sketch_vectors,
)

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

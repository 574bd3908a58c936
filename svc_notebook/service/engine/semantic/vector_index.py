"""The vectors of the records of a segment store, by segment, and what they were computed by."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.segment import SegmentReader
from svc_notebook.service.engine.semantic.latent_model import LatentModel, ModelSettings
from svc_notebook.service.engine.semantic.vector_table import VectorTable

# The source of vectors that a latent semantic model gives.
LATENT = "latent"
MIN_OUTDATED_RECORDS = 100
# A model is outdated once this share of the records is newer than it.
OUTDATED_SHARE = 1 / 3

EmbedQuery = Callable[[str], Array]


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """The vectors of one generation: all from the same model, or the same embedder.

    `source` is `LATENT` or the name of the embedder; `model` is the latent model. Tables are found
    by the names of their segments. `fitted` records were in the index when the model was computed,
    and `added` vectors were computed by it later. `latent` are the vectors of a latent model that
    are fused with those of an embedder.
    """

    source: str
    model: LatentModel | None = None
    tables: Mapping[str, VectorTable] = field(default_factory=dict)
    fitted: int = 0
    added: int = 0
    latent: VectorIndex | None = None
    name: str = field(default_factory=lambda: uuid.uuid4().hex)

    def table_of(self, reader: SegmentReader) -> VectorTable | None:
        """Return the vectors of a segment, None if there are none."""
        return self.tables.get(reader.segment.name)

    def count_missing(self, readers: Sequence[SegmentReader]) -> int:
        """Count the live records that have no vector."""
        return sum(int(np.count_nonzero(self.missing_rows(reader))) for reader in readers)

    def missing_rows(self, reader: SegmentReader) -> Array:
        """Return the mask of the live rows that have no vector."""
        table = self.table_of(reader)
        return reader.alive if table is None else reader.alive & ~table.known

    def with_table(self, reader: SegmentReader, table: VectorTable, added: int = 0) -> VectorIndex:
        """Return the index with the vectors of one more segment, `added` of which are new."""
        tables = {**self.tables, reader.segment.name: table}
        return replace(self, tables=tables, added=self.added + added)

    def with_sketches(
        self, readers: Sequence[SegmentReader], pause: Callable[[], None]
    ) -> VectorIndex:
        """Return the index with the sketches that its large tables lack."""
        sketched = replace(self, latent=self.latent and self.latent.with_sketches(readers, pause))
        for reader in readers:
            if (table := self.table_of(reader)) is not None and table.lacks_sketch:
                sketched = sketched.with_table(reader, table.with_sketch(pause))
        return sketched

    @property
    def lacks_sketches(self) -> bool:
        """Whether a large table has no sketch."""
        latent = self.latent is not None and self.latent.lacks_sketches
        return latent or any(table.lacks_sketch for table in self.tables.values())

    def within(self, readers: Sequence[SegmentReader]) -> VectorIndex:
        """Return the index without the vectors of segments that are gone."""
        names = {reader.segment.name for reader in readers}
        tables = {name: table for name, table in self.tables.items() if name in names}
        latent = self.latent and self.latent.within(readers)
        return replace(self, tables=tables, latent=latent)

    def with_earlier(self, before: VectorIndex | None) -> VectorIndex:
        """Return the index with the tables that another state of its generation has besides."""
        if before is None:
            return self
        latent = self.latent and self.latent.with_earlier(before.latent)
        tables = {**before.tables, **self.tables} if before.name == self.name else self.tables
        return replace(self, tables=tables, latent=latent)

    def suits(self, settings: ModelSettings) -> bool:
        """Return whether the latent model has these settings; vectors of an embedder have none."""
        if self.latent:
            return self.latent.suits(settings)
        return self.model is None or self.model.settings == settings

    def is_outdated(self, records: int) -> bool:
        """Return whether too many of the records are newer than the model."""
        if self.source != LATENT:
            return False
        changed = max(self.added, abs(records - self.fitted))
        return changed > max(MIN_OUTDATED_RECORDS, OUTDATED_SHARE * records)

    def join(self, parts: Sequence[SegmentReader], merged: SegmentReader) -> VectorIndex:
        """Return the index with the vectors of merged segments from those of the parts."""
        joined = replace(self, latent=self.latent and self.latent.join(parts, merged))
        taken = []
        for part in parts:
            if (table := self.table_of(part)) is not None:
                rows = np.flatnonzero(part.alive & table.known)
                places = merged.segment.ids.find_many(part.segment.ids.take(rows))
                taken.append((places, table.take(rows)))
        if not taken:
            return joined
        return joined.with_table(merged, VectorTable.joined(len(merged.segment), taken))

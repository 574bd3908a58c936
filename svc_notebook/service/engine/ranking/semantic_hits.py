"""Semantic hits: the vector of a query, moved by feedback, and the records nearest to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from svc_notebook.core.api.messages import VECTORS_PENDING
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.execution import check_time
from svc_notebook.service.engine.index.segment import SegmentReader
from svc_notebook.service.engine.query.options import SemanticOptions
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.ranking.criteria import TEXT
from svc_notebook.service.engine.ranking.rank_fusion import add_nearest
from svc_notebook.service.engine.ranking.ranking import Order
from svc_notebook.service.engine.ranking.retrieval import (
    RowSimilarities,
    SegmentMatch,
    TextScores,
)
from svc_notebook.service.engine.ranking.search_plan import SearchPlan
from svc_notebook.service.engine.semantic.latent_model import DEFAULT_SETTINGS, ModelSettings
from svc_notebook.service.engine.semantic.vector_index import EmbedQuery, VectorIndex
from svc_notebook.service.engine.semantic.vector_table import NO_SIMILARITY, VectorTable


class VectorSource(NamedTuple):
    """The vectors of an index, None if there are none, and the embedder of queries, if any.

    `settings` are those that its latent model should have.
    """

    vectors: VectorIndex | None
    embed: EmbedQuery | None
    settings: ModelSettings = DEFAULT_SETTINGS

    @property
    def current(self) -> bool:
        """Whether the vectors are those of the settings."""
        return self.vectors is None or self.vectors.suits(self.settings)


NO_VECTORS = VectorSource(None, None)


@dataclass(frozen=True, eq=False)
class QueryVector:
    """The vector of a query, and the vectors of the records that it is compared with.

    `latent` is the same of a latent model; its cosines count with `latent_share`.
    """

    index: VectorIndex
    vector: VectorTable
    latent: QueryVector | None = None
    latent_share: float = 0.0

    def similarities(self, reader: SegmentReader, allowed: Array) -> RowSimilarities:
        """Return the similarities of the rows of a segment, among which are the allowed ones.

        In a large segment, these are the allowed rows that seem the nearest; those of others are
        computed when they are read.
        """
        rows = self._find_candidates(reader, allowed)
        return RowSimilarities(rows, self._compare(reader, rows), partial(self._compare, reader))

    def _find_candidates(self, reader: SegmentReader, allowed: Array) -> Array | None:
        table = self._table_of(reader)
        rows = table.find_candidates(self.vector, allowed) if table else None
        if rows is None or self.latent is None:
            return rows
        others = self.latent._find_candidates(reader, allowed)
        return None if others is None else np.union1d(rows, others)

    def _compare(self, reader: SegmentReader, rows: Array | None) -> Array:
        """Return the similarities of some or all rows, in units of their last digit.

        They are cosines, or means of both cosines; a record with only one vector has its cosine.
        """
        cosines = self._cosines(reader, rows)
        if self.latent is None:
            return cosines
        others = self.latent._cosines(reader, rows)
        mixed = (1 - self.latent_share) * cosines + self.latent_share * others
        mixed = np.where(others == NO_SIMILARITY, cosines, np.rint(mixed))
        return np.where(cosines == NO_SIMILARITY, others, mixed).astype(np.int32)

    def _table_of(self, reader: SegmentReader) -> VectorTable | None:
        table = self.index.table_of(reader)
        return table if table and table.dimensions == self.vector.dimensions else None

    def _cosines(self, reader: SegmentReader, rows: Array | None) -> Array:
        if (table := self._table_of(reader)) is None:
            count = len(reader.segment) if rows is None else len(rows)
            return np.full(count, NO_SIMILARITY, np.int32)
        return table.similarities(self.vector, rows)

    def with_feedback(self, hits: Order) -> QueryVector:
        """Return the vector that points between the query and the mean of the vectors of hits.

        Both count the same. Hits without a vector do not count.
        """
        latent = self.latent and self.latent.with_feedback(hits)
        # Double precision: the sum of the same hits is the same, however they are divided.
        decoded = np.zeros((len(hits), self.vector.dimensions))
        for number, segment in enumerate(hits.segments):
            table = self.index.tables.get(segment.name)
            if table is not None and table.dimensions == self.vector.dimensions:
                places = np.flatnonzero(hits.numbers == number)
                decoded[places] = np.nan_to_num(table.take(hits.rows[places]).decoded())
        total = decoded.sum(axis=0)
        length = np.sqrt((total * total).sum())
        if not length:
            return replace(self, latent=latent)
        moved = self.vector.decoded()[0] + total / length
        return replace(self, vector=VectorTable.of(moved[np.newaxis]), latent=latent)


@dataclass(frozen=True)
class NoVector:
    """Why a query is not compared by vectors."""

    reason: str


def embed_query(
    text: str,
    query: Query,
    index: VectorIndex | None,
    embed: EmbedQuery | None,
    latent_share: float = 0.0,
) -> QueryVector | NoVector:
    """Return the vector of a query: from its words by a latent model, else from its text.

    With vectors of an embedder and of a latent model, both are compared.
    """
    if index is None or not index.tables:
        return NoVector(VECTORS_PENDING)
    vector = _embed_query(text, query, index, embed)
    if isinstance(vector, NoVector) or not latent_share or not index.latent:
        return vector
    latent = embed_query(text, query, index.latent, None)
    if isinstance(latent, NoVector):  # it has none of the words
        return vector
    return replace(vector, latent=latent, latent_share=latent_share)


def _embed_query(
    text: str, query: Query, index: VectorIndex, embed: EmbedQuery | None
) -> QueryVector | NoVector:
    if index.model:
        words = [word for word_of_query in query.words for word in word_of_query.text.split(" ")]
        vector = index.model.embed_words(words)
    elif embed is None:
        return NoVector(
            f"the vectors were computed by {index.source}: start the service with that --embedder"
        )
    else:
        try:
            vector = embed(text)
        except LocalServiceFailed as error:
            return NoVector(str(error))
        dimensions = {table.dimensions for table in index.tables.values()}
        if dimensions - {len(vector)}:
            return NoVector(
                f"the embedder returned {len(vector)} dimensions for the query and "
                f"{min(dimensions)} for records: it must return the same number for all texts"
            )
    if not vector.any():
        return NoVector("" if index.model else "the embedder returned zeros for the query")
    return QueryVector(index, VectorTable.of(vector[np.newaxis]))


def add_semantic_hits(
    plan: SearchPlan, query: Query, matches: Sequence[SegmentMatch], vector: QueryVector
) -> Sequence[SegmentMatch]:
    """Return the matches with the records that are nearest to a query by their vectors.

    They pass the filters and have no excluded word; words that are required do not count. With
    feedback, the best hits move the vector, and it is compared again.
    """
    options = SemanticOptions.of(plan.options["semanticSearch"])
    if plan.ranks_by_text(query):
        matches = _with_text_scores(plan, matches)
    allowed = plan.find_allowed(query)
    similarities = _compare_readers(plan, vector, allowed)
    with_nearest = add_nearest(matches, allowed, similarities, options)
    if options.feedback_hits:
        best = plan.rank(with_nearest, options.feedback_hits)
        moved = vector.with_feedback(best)
        similarities = _compare_readers(plan, moved, allowed)
        with_nearest = add_nearest(matches, allowed, similarities, options, len(best))
    explained = bool(plan.options["getRankingInfo"])
    return [match.with_fused_scores() for match in with_nearest] if explained else with_nearest


def _compare_readers(
    plan: SearchPlan, vector: QueryVector, allowed: Sequence[Array]
) -> list[RowSimilarities]:
    return [
        vector.similarities(reader, rows)
        for reader, rows in zip(plan.readers, allowed, strict=True)
    ]


def _with_text_scores(plan: SearchPlan, matches: Sequence[SegmentMatch]) -> list[SegmentMatch]:
    """Return the matches with the text scores of their rows."""
    values = [np.zeros(len(match.rows), np.int64) for match in matches]
    for match, scores in zip(matches, values, strict=True):
        check_time()
        rows = np.flatnonzero(match.rows)
        column = plan.candidates(match, rows).column(TEXT) if len(rows) else None
        if column is not None:
            scores[rows] = -column
    highest = max((int(scores.max(initial=0)) for scores in values), default=0)
    return [
        replace(match, text_scores=TextScores(scores, highest))
        for match, scores in zip(matches, values, strict=True)
    ]

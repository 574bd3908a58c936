"""Semantic hits: the records nearest to a query by their vectors, fused with the hits of its words.

Where the order by words is that of the text score, a hit is scored by both scores, with the weight
`w`: `(1 - w) * text score / highest text score + w * cosine`. Other orders have no score, so that a
hit is scored by its position in both (reciprocal rank fusion): `(1 - w) / (60 + position by words)
+ w / (60 + position by similarity)`; a position that it does not have counts nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.schema import Sorted
from svc_notebook.service.engine.query.options import EffectiveParameters, SemanticOptions
from svc_notebook.service.engine.ranking.ranking import Order, id_ranks, read_steps
from svc_notebook.service.engine.ranking.retrieval import (
    RowSimilarities,
    SegmentMatch,
    SemanticMatch,
)
from svc_notebook.service.engine.semantic.vector_table import (
    NO_SIMILARITY,
    SIMILARITY_DIGITS,
    SIMILARITY_SCALE,
)

# The best hits by words, and by similarity, that are fused; other hits by words follow them.
FUSED_HITS = 1000
NO_SCORES = np.zeros(0)
# Source of the value: Cormack, Clarke and Buettcher, Reciprocal rank fusion (2009).
RANK_OFFSET = 60


def find_obstacle(options: EffectiveParameters) -> str:
    """Return why a search in the mode `neuralSearch` has no semantic hits; empty if it may."""
    if options.sorts_relevant or sorts_first(options):
        return "the ranking sorts by an attribute first"
    if options["restrictSearchableAttributes"]:
        return "restrictSearchableAttributes is set, and vectors are of all searchable attributes"
    return ""


def sorts_first(options: EffectiveParameters) -> bool:
    """Return whether the first criterion is an attribute."""
    return any(isinstance(step, Sorted) for step in _first_step(options))


def _first_step(options: EffectiveParameters) -> Sequence[object]:
    """Return the first criterion, unless it is customRanking, which is not a sort by choice."""
    return read_steps(options)[:1] if options["ranking"][:1] != ["custom"] else ()


def add_nearest(
    matches: Sequence[SegmentMatch],
    allowed: Sequence[Array],
    similarities: Sequence[RowSimilarities],
    options: SemanticOptions,
    feedback_hits: int = 0,
) -> list[SegmentMatch]:
    """Return the matches with the nearest of the allowed records, whatever their words.

    Similarities are in units of their last digit. Records as near as the last one count, too.
    `feedback_hits` hits moved the vector that they are the similarities to.
    """
    threshold = math.ceil(round(options.min_similarity * SIMILARITY_SCALE, SIMILARITY_DIGITS))
    near = [
        of_segment.find_near(mask, threshold)
        for mask, of_segment in zip(allowed, similarities, strict=True)
    ]
    values = np.concatenate([np.zeros(0, np.int32), *(values for _, values in near)])
    if len(values) > FUSED_HITS:
        threshold = int(np.partition(values, -FUSED_HITS)[-FUSED_HITS])
    return [
        _with_near(
            match,
            of_segment,
            rows[values >= threshold],
            values[values >= threshold],
            options,
            feedback_hits,
        )
        for match, of_segment, (rows, values) in zip(matches, similarities, near, strict=True)
    ]


def _with_near(
    match: SegmentMatch,
    similarities: RowSimilarities,
    near: Array,
    values: Array,
    options: SemanticOptions,
    feedback_hits: int,
) -> SegmentMatch:
    rows = match.rows.copy()
    rows[near] = True
    semantic = SemanticMatch(
        match.rows, similarities, near, values, options.weight, NO_SCORES, feedback_hits
    )
    return replace(match, rows=rows, semantic=semantic)


def without_semantic_hits(matches: Sequence[SegmentMatch]) -> list[SegmentMatch]:
    """Return the matches by words only."""
    return [
        replace(match, rows=match.rows & match.semantic.by_words, semantic=None)
        if match.semantic
        else match
        for match in matches
    ]


def fuse(matches: Sequence[SegmentMatch], by_words: Order, hits_needed: int) -> Order:
    """Return the best hits by both rankings; `by_words` has at least the first `FUSED_HITS`."""
    weight = max(match.semantic.weight for match in matches if match.semantic)
    nearest = _order_nearest(matches)
    starts = dict(
        zip(
            [match.segment for match in matches],
            np.cumsum([0, *(len(match.rows) for match in matches)]),
            strict=False,
        )
    )
    keys, others = (_number_rows(order, starts) for order in (by_words, nearest))
    fused = keys[:FUSED_HITS]
    hits, at = np.unique(np.concatenate([fused, others]), return_inverse=True)
    positions = np.full((2, len(hits)), np.inf)
    positions[0, at[: len(fused)]] = np.arange(1, len(fused) + 1)
    positions[1, at[len(fused) :]] = np.arange(1, len(others) + 1)
    if any(match.text_scores for match in matches):
        scores = _add_scores(matches, starts, hits, weight)
    else:
        divisors = RANK_OFFSET + positions
        scores = (1 - weight) / divisors[0] + weight / divisors[1]
    best = np.lexsort((positions[1], positions[0], -scores))
    _keep_scores(matches, starts, hits, scores)
    # The places of the fused hits among those of both orders, then the other hits by words.
    places = np.empty(len(hits), np.int64)
    places[at[len(fused) :]] = len(by_words) + np.arange(len(others))
    places[at[: len(fused)]] = np.arange(len(fused))
    rest = np.zeros(0, np.int64)
    if hits_needed > len(hits):
        rest = np.arange(len(fused), len(by_words))
        rest = rest[~np.isin(keys[len(fused) :], others)]
    both = Order(
        [*by_words.segments, *nearest.segments],
        np.concatenate([by_words.numbers, nearest.numbers + len(by_words.segments)]),
        np.concatenate([by_words.rows, nearest.rows]),
        by_words.ranked,
    )
    return both.take(np.concatenate([places[best], rest])[:hits_needed])


def _add_scores(
    matches: Sequence[SegmentMatch], starts: Mapping[Any, int], hits: Array, weight: float
) -> Array:
    """Return the sums of both scores of numbered hits, with the text scores from 0 to 1."""
    scores = np.zeros(len(hits))
    for match, here, rows in _split_hits(matches, starts, hits):
        if match.text_scores and match.text_scores.highest:
            texts = match.text_scores.values[rows] / match.text_scores.highest
            scores[here] = (1 - weight) * texts
        if match.semantic:
            scores[here] += weight * read_cosines(match.semantic.similarities.read(rows))
    return scores


def read_cosines(similarities: Array) -> Array:
    """Return similarities as cosines, 0 for records without a vector."""
    filled = np.where(similarities == NO_SIMILARITY, 0, similarities)
    return np.asarray(filled / SIMILARITY_SCALE)


def _keep_scores(
    matches: Sequence[SegmentMatch], starts: Mapping[Any, int], hits: Array, scores: Array
) -> None:
    """Write the scores of numbered hits to their matches, for their explanation."""
    for match, here, rows in _split_hits(matches, starts, hits):
        if match.semantic and len(match.semantic.fused):
            match.semantic.fused[rows] = scores[here]


def _split_hits(
    matches: Sequence[SegmentMatch], starts: Mapping[Any, int], hits: Array
) -> Iterator[tuple[SegmentMatch, slice, Array]]:
    """Return the matches with the places and the rows of their numbered hits, which ascend."""
    for match in matches:
        start = starts[match.segment]
        first, last = np.searchsorted(hits, (start, start + len(match.rows)))
        yield match, slice(first, last), hits[first:last] - start


def _order_nearest(matches: Sequence[SegmentMatch]) -> Order:
    """Return the semantic hits, nearest first; equal ones by objectID."""
    numbers, rows, values = [np.zeros(0, np.int16)], [np.zeros(0, np.int64)], [np.zeros(0, int)]
    for number, match in enumerate(matches):
        if match.semantic:
            hits = match.rows[match.semantic.near]
            numbers.append(np.full(np.count_nonzero(hits), number, np.int16))
            rows.append(match.semantic.near[hits])
            values.append(match.semantic.near_values[hits])
    segments = [match.segment for match in matches]
    order = Order(segments, np.concatenate(numbers), np.concatenate(rows))
    # The rows of one segment are in the order of their ids.
    last = order.rows if len(matches) == 1 else id_ranks(order)
    return order.take(np.lexsort((last, -np.concatenate(values))))


def _number_rows(order: Order, starts: Mapping[Any, int]) -> Array:
    """Return a number for each record that is the same in every order."""
    offsets = np.array([starts[segment] for segment in order.segments], np.int64)
    return np.asarray(offsets[order.numbers] + order.rows if len(offsets) else order.rows)

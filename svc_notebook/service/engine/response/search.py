"""Run a search from its parameters to its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from svc_notebook.core.api.messages import NEURAL_MESSAGE, PAGINATION_MESSAGE, VECTORS_PENDING
from svc_notebook.errors import BadInput
from svc_notebook.service.engine.arrays import Array
from svc_notebook.service.engine.index.schema import Schema, read_filterable
from svc_notebook.service.engine.index.segment import SegmentReader
from svc_notebook.service.engine.query.options import (
    NEURAL,
    EffectiveParameters,
    SemanticOptions,
    read_facets,
)
from svc_notebook.service.engine.query.query import Query, read_query
from svc_notebook.service.engine.ranking import distinct
from svc_notebook.service.engine.ranking.criteria import Candidates
from svc_notebook.service.engine.ranking.occurrences import keep_frequent_splits
from svc_notebook.service.engine.ranking.promoted_hits import (
    NO_PINS,
    Pinned,
    Pins,
    find_pinned,
    without_hidden,
)
from svc_notebook.service.engine.ranking.rank_fusion import (
    find_obstacle,
    sorts_first,
)
from svc_notebook.service.engine.ranking.ranking import HitReranker, Order, ScoreRecords, read_steps
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch
from svc_notebook.service.engine.ranking.search_plan import SearchPlan
from svc_notebook.service.engine.ranking.semantic_hits import (
    NO_VECTORS,
    QueryVector,
    VectorSource,
    add_semantic_hits,
    embed_query,
)
from svc_notebook.service.engine.response import facets
from svc_notebook.service.engine.response.highlight import Style, mark_text
from svc_notebook.service.engine.response.highlight_matcher import make_marker
from svc_notebook.service.engine.response.hits import Fetch, make_hits

# How many values of a criterion count as equal in relevant sort; for attribute, 1000 ignores the
# word position.
RELEVANCE_WIDTHS = {
    "typo": 1,
    "words": 1,
    "filters": 1,
    "proximity": 1,
    "attribute": 1000,
    "exact": 1,
}

Counts = dict[str, dict[str, int]]
Stats = dict[str, dict[str, float]]


@dataclass(frozen=True)
class SearchResult:
    """The result of a search, by the response members of the API."""

    hits: list[dict[str, Any]]
    nbHits: int  # noqa: N815 - as on the wire
    paging: dict[str, int]
    facets: Counts | None
    facets_stats: Stats | None
    parsed_query: str
    extra: dict[str, Any] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class FacetFound:
    """The result of a search for facet values."""

    hits: list[dict[str, Any]]
    exhaustive: bool = True


@dataclass(frozen=True)
class HitRange:
    """A range of the hits; hits beyond `limit` cannot be reached.

    `span` is the slice of the best hits to return; its end is the number of hits to rank. `number`
    is that of the page, None for an offset and a length.
    """

    span: slice
    size: int
    limit: int
    number: int | None

    @classmethod
    def of(cls, options: EffectiveParameters) -> HitRange:
        """Read the range from the options; offset and length only apply together."""
        limit = options["paginationLimitedTo"]
        offset, length = options["offset"], options["length"]
        if offset is not None and length is not None:
            return cls(slice(offset, min(offset + length, limit)), length, limit, None)
        size, number = options["hitsPerPage"], options["page"]
        start = size * number
        return cls(slice(start, min(start + size, limit)), size, limit, number)

    def notes(self, hits: int) -> tuple[str, ...]:
        """Return a note if hits exist but all of this range are beyond the limit."""
        if not self.size or self.span.start < self.limit or hits <= self.limit:
            return ()
        return (
            f"{PAGINATION_MESSAGE}{self.limit} hits for this query. You can extend the number of "
            "hits returned via the paginationLimitedTo index parameter or use the browse method",
        )

    def members(self, hits: int) -> dict[str, int]:
        """Return the response members about paging."""
        if self.number is None:
            return {"offset": self.span.start, "length": self.size}
        pages = -(-min(hits, self.limit) // self.size) if self.size else 0
        return {"page": self.number, "nbPages": pages, "hitsPerPage": self.size}


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise for settings that no search can use."""
    Schema.of(settings)
    read_filterable(settings)
    read_steps(EffectiveParameters(settings, {}))
    SemanticOptions.of(settings.get("semanticSearch"))
    Style.of(EffectiveParameters(settings, {}), ())
    for pairs in (settings.get("customNormalization") or {}).values():
        for letter in pairs:
            if len(letter) != 1:
                raise BadInput(f'customNormalization: expected one character: "{letter}"')


def find_hits(
    readers: Sequence[SegmentReader],
    options: EffectiveParameters,
    fetch: Fetch,
    pins: Pins = NO_PINS,
    vectors: VectorSource = NO_VECTORS,
    score: ScoreRecords | None = None,
) -> SearchResult:
    """Run a search and return its result."""
    options = options.with_similar_query()
    plan = SearchPlan(without_hidden(readers, pins), options, visible=pins.within)
    hit_range = HitRange.of(options)
    parsed = keep_frequent_splits(read_query(options, plan.readers), plan.readers, options)
    query, matches = plan.match_or_relax(parsed)
    notes: Sequence[str] = ()
    if options["mode"] == NEURAL:
        matches, notes = _add_semantic_hits(plan, query, matches, vectors)
    pinned = find_pinned(plan, pins)
    relevant = keep_relevant(plan, matches) if options.sorts_relevant else matches
    reranker = _make_reranker(options, query, fetch, score)
    count, page = _find_page(plan, relevant, pinned, hit_range.span, reranker)
    ids = page.order[:]
    infos = None
    if options["getRankingInfo"]:
        infos = _explain(plan, matches, pinned, page.order, ids, reranker.scores)
    hits = make_hits(ids, infos, page.numbers, fetch, query, options)
    counts, stats = _count_facets(plan, matches, pinned) if options["facets"] else (None, None)
    strictness = options["relevancyStrictness"]
    sorted_members = {"nbSortedHits": count, "appliedRelevancyStrictness": strictness}
    return SearchResult(
        hits,
        count if relevant is matches else _count_hits(plan, matches, pinned),
        hit_range.members(count),
        counts,
        stats,
        " ".join(word.text for word in query.words),
        {
            **_extra(parsed, query, counted=counts is not None),
            **plan.geo.members,
            **(sorted_members if options.sorts_relevant else {}),
        },
        (*notes, *reranker.notes, *hit_range.notes(count)),
    )


def _make_reranker(
    options: EffectiveParameters, query: Query, fetch: Fetch, score: ScoreRecords | None
) -> HitReranker:
    """Return the reranker of a search, which does nothing without words or by a sort first."""
    count = SemanticOptions.of(options["semanticSearch"]).reranked_hits
    if not count or not query.words or options.sorts_relevant or sorts_first(options):
        return HitReranker()
    return HitReranker(count, fetch, score)


def _add_semantic_hits(
    plan: SearchPlan, query: Query, matches: Sequence[SegmentMatch], vectors: VectorSource
) -> tuple[Sequence[SegmentMatch], Sequence[str]]:
    """Add the semantic hits of the mode `neuralSearch`; also return why there are none, or few."""
    options = plan.options
    if not query.words or not plan.readers:
        return matches, ()
    reason = find_obstacle(options)
    if not reason:
        share = SemanticOptions.of(options["semanticSearch"]).latent_share
        vector = embed_query(options["query"], query, vectors.vectors, vectors.embed, share)
        if isinstance(vector, QueryVector):
            missing = vector.index.count_missing(plan.readers)
            are = "record is" if missing == 1 else "records are"
            pending = f"{missing:,} {are} found by words only" if missing else ""
            if not vectors.current:
                pending = "similarities are those of earlier settings"
            notes = (f"{NEURAL_MESSAGE}{VECTORS_PENDING}; {pending}",) if pending else ()
            return add_semantic_hits(plan, query, matches, vector), notes
        reason = vector.reason
    return matches, (f"{NEURAL_MESSAGE}{reason}; hits are found by words only",) if reason else ()


def _find_page(
    plan: SearchPlan,
    matches: Sequence[SegmentMatch],
    pinned: Pinned,
    page: slice,
    reranker: HitReranker,
) -> tuple[int, distinct.Grouped]:
    """Count all hits and return those of a page."""
    most = plan.options.distinct
    unpinned = pinned.set_promoted(matches, included=False)
    others = distinct.without_groups(unpinned, pinned) if most else unpinned
    rest = distinct.count_groups(others) if most else sum(match.count for match in others)
    pinned, span = pinned.place(rest, page)
    count = rest + len(pinned.positions)
    # The hits that a reranker orders are needed, too.
    reach = max(span.stop, reranker.count) if span.start < reranker.count else span.stop
    if not most:
        order = pinned.insert(reranker.order_span(plan.rank(others, reach), span), page)
        return count, distinct.Grouped(order, ())
    best = distinct.find_leaders(plan, others, reach)
    leaders = pinned.insert(reranker.order_span(best, span), page)
    members = distinct.find_members(plan, unpinned, leaders, most)
    return count, members if most > 1 else distinct.Grouped(members.order, ())


def _count_hits(plan: SearchPlan, matches: Sequence[SegmentMatch], pinned: Pinned) -> int:
    promoted, others = len(pinned.positions), pinned.set_promoted(matches, included=False)
    if plan.options.distinct:
        return promoted + distinct.count_groups(distinct.without_groups(others, pinned))
    return promoted + sum(match.count for match in others)


def _explain(
    plan: SearchPlan,
    matches: Sequence[SegmentMatch],
    pinned: Pinned,
    order: Order,
    ids: Sequence[str],
    reranker_scores: Mapping[str, float],
) -> list[dict[str, Any]]:
    infos = plan.explain(matches, order)
    for name, info in zip(ids, infos, strict=True):
        if name in pinned.ids:
            info["promoted"] = True
        if name in reranker_scores:
            info["rerankerScore"] = reranker_scores[name]
    return infos


def _count_facets(
    plan: SearchPlan, matches: Sequence[SegmentMatch], pinned: Pinned
) -> tuple[Counts | None, Stats | None]:
    """Count the requested facets, each before or after distinct."""
    options = plan.options
    paths = read_facets(options)
    if not paths:
        return None, None
    counted = _find_counted(plan, matches, pinned, paths)
    counts = {path: facets.count_facet(rows, path, options) for path, rows in counted.items()}
    measured = {path: facets.measure_facet(rows, path) for path, rows in counted.items()}
    return counts, {path: stats for path, stats in measured.items() if stats} or None


def _find_counted(
    plan: SearchPlan, matches: Sequence[SegmentMatch], pinned: Pinned, paths: Sequence[str]
) -> dict[str, facets.Chosen]:
    """Return the rows that count in each facet."""
    after = {path for path in paths if facets.counts_after_distinct(path, plan.options)}
    chosen = [(match.segment, match.rows) for match in pinned.set_promoted(matches, included=True)]
    reduced = distinct.only_leaders(plan, matches, pinned) if after else ()
    leading = [(match.segment, match.rows) for match in reduced]
    return {path: leading if path in after else chosen for path in paths}


def find_values(
    readers: Sequence[SegmentReader],
    options: EffectiveParameters,
    path: str,
    text: str,
    most: int,
    pins: Pins = NO_PINS,
    vectors: VectorSource = NO_VECTORS,
) -> FacetFound:
    """Search the values of a facet, counting the records that the options select."""
    facets.check_searchable(path, options)
    options = options.with_similar_query()
    plan = SearchPlan(without_hidden(readers, pins), options, visible=pins.within)
    searched = keep_frequent_splits(read_query(options, plan.readers), plan.readers, options)
    matches: Sequence[SegmentMatch] = plan.match(searched)
    if options["mode"] == NEURAL:
        matches, _ = _add_semantic_hits(plan, searched, matches, vectors)
    matches = find_pinned(plan, pins).set_promoted(matches, included=True)
    inner = EffectiveParameters(
        options.settings, {**options.params, "query": text, "removeStopWords": False}
    )
    query = read_query(inner)
    chosen = [(match.segment, match.rows) for match in matches]
    marker = make_marker(query, EffectiveParameters({}, inner.params))
    style = Style.of(options, [word.text for word in query.words])
    return FacetFound(
        [
            {
                "value": hit.value,
                "highlighted": mark_text(hit.value, path, marker, style),
                "count": hit.count,
            }
            for hit in facets.search_facet(chosen, path, query, inner, most)
        ]
    )


def find_ids(readers: Sequence[SegmentReader], options: EffectiveParameters) -> list[str]:
    """Return the objectIDs of records that pass the filters, regardless of the query."""
    matches = SearchPlan(readers, options).match(Query())
    return [
        name for match in matches for name in match.segment.ids.take(np.flatnonzero(match.rows))
    ]


def find_passing(
    readers: Sequence[SegmentReader], options: EffectiveParameters, ids: Sequence[str]
) -> set[str]:
    """Return the objectIDs among `ids` whose records pass the filters."""
    plan, names = SearchPlan(readers, options), sorted(set(ids))
    passing = set()
    for reader in readers:
        allowed = plan.eligible(reader)
        rows = reader.segment.ids.find_many(names).tolist()
        passing |= {
            name for name, row in zip(names, rows, strict=True) if row >= 0 and allowed[row]
        }
    return passing


def find_order(readers: Sequence[SegmentReader], options: EffectiveParameters) -> Order:
    """Return all matches, ranked by attribute and custom ranking only."""
    ordering_params = {
        "ranking": ["attribute", "custom"],
        "typoTolerance": options.typo_tolerance is not False,
        "ignorePlurals": False,
        "enableReRanking": False,
    }
    plan = SearchPlan(
        readers,
        EffectiveParameters(
            options.settings, {**options.params, **ordering_params}, options.resources
        ),
        scores_ties=False,
    )
    matches = plan.match(keep_frequent_splits(read_query(options, readers), readers, options))
    order = plan.rank(matches, sum(match.count for match in matches))
    # The order is kept between the pages of a browse; the ranking's candidates are not needed.
    return replace(order, ranked={})


def _extra(parsed: Query, query: Query, *, counted: bool) -> dict[str, Any]:
    """Return the other response members."""
    exhaustive = {"nbHits": True, "typo": True} | ({"facetsCount": True} if counted else {})
    extra: dict[str, Any] = {
        "exhaustiveNbHits": True,
        "exhaustiveTypo": True,
        "exhaustive": exhaustive,
    }
    if counted:
        extra["exhaustiveFacetsCount"] = True
    if query != parsed:
        extra["queryAfterRemoval"] = " ".join(
            f"<em>{word.text}</em>" if word.optional and not before.optional else word.text
            for before, word in zip(parsed.words, query.words, strict=True)
        )
    return extra


def keep_relevant(plan: SearchPlan, matches: Sequence[SegmentMatch]) -> Sequence[SegmentMatch]:
    """Return the matches without hits that are not relevant enough to be sorted by an attribute.

    Hits with equal values in all criteria about words and filters form one relevance level; the
    positions of words and geo distances are ignored. `relevancyStrictness` is the percentage of
    levels that are dropped, least relevant first. The best level is never dropped.
    """
    strictness = plan.options["relevancyStrictness"]
    if not strictness or not any(match.words for match in matches):
        return matches
    rows = [np.flatnonzero(match.rows) for match in matches]
    candidates = [plan.candidates(*pair) for pair in zip(matches, rows, strict=True)]
    steps = _number_steps(candidates, [step for step in plan.steps if step in RELEVANCE_WIDTHS])
    count = int(steps.max(initial=-1)) + 1
    kept = np.split(
        steps < max(1, -(-count * (100 - strictness) // 100)),
        np.cumsum([len(match_rows) for match_rows in rows])[:-1],
    )
    return [
        replace(match, rows=_marked(match, match_rows[keep]))
        for match, match_rows, keep in zip(matches, rows, kept, strict=True)
    ]


def _number_steps(candidates: Sequence[Candidates], criteria: Sequence[str]) -> Array:
    """Return each row's relevance level, 0 for the best; earlier criteria take precedence."""
    steps = np.zeros(sum(len(part.rows) for part in candidates), np.int64)
    for criterion in criteria:
        columns = [part.column(criterion) for part in candidates]
        if any(column is not None for column in columns):
            values = np.concatenate(
                [
                    np.zeros(len(part.rows), np.int64) if column is None else column
                    for part, column in zip(candidates, columns, strict=True)
                ]
            )
            _, codes = np.unique(values // RELEVANCE_WIDTHS[criterion], return_inverse=True)
            # Renumber after each criterion, so that no number exceeds the row count.
            _, steps = np.unique(steps * (codes.max(initial=0) + 1) + codes, return_inverse=True)
    return steps


def _marked(match: SegmentMatch, rows: Array) -> Array:
    mask = np.zeros_like(match.rows)
    mask[rows] = True
    return mask

"""A search from its parameters to its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from svc_notebook.service.engine import facets
from svc_notebook.service.engine.highlight import Style, mark_text
from svc_notebook.service.engine.hits import Fetch, make_hits
from svc_notebook.service.engine.matching import make_marker
from svc_notebook.service.engine.options import Options
from svc_notebook.service.engine.paging import Page
from svc_notebook.service.engine.plan import Plan
from svc_notebook.service.engine.query import Query, read_query
from svc_notebook.service.engine.ranking import Order, read_steps
from svc_notebook.service.engine.shape import Shape
from svc_notebook.service.engine.view import View


@dataclass(frozen=True)
class Found:
    """The answer to a search, in the members the API knows."""

    hits: list[dict[str, Any]]
    nbHits: int  # noqa: N815 - as on the wire
    paging: dict[str, int]
    facets: dict[str, dict[str, int]] | None
    facets_stats: dict[str, dict[str, float]] | None
    parsed_query: str
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class FacetFound:
    """The answer to a search inside a facet."""

    hits: list[dict[str, Any]]
    exhaustive: bool = True


def check_settings(settings: Mapping[str, Any]) -> None:
    """Refuse settings that no search could use."""
    Shape.of(settings)
    read_steps(Options(settings, {}))


def find_hits(views: Sequence[View], options: Options, fetch: Fetch) -> Found:
    """Search."""
    plan, page = Plan(views, options), Page.of(options)
    asked = read_query(options)
    query, matches = plan.match_some(asked)
    count = sum(match.count for match in matches)
    ranked = plan.rank(matches, page.reach, plan.steps)
    order = ranked.take(np.arange(len(ranked))[page.span])
    infos = plan.explain(matches, order) if options["getRankingInfo"] else None
    chosen = [(match.segment, match.rows) for match in matches]
    paths = facets.read_facets(options)
    stats = {path: found for path in paths if (found := facets.measure_facet(chosen, path))}
    counts = {path: facets.count_facet(chosen, path, options) for path in paths}
    return Found(
        make_hits(order[:], infos, fetch, query, options),
        count,
        page.members(count),
        counts if paths else None,
        stats or None,
        " ".join(word.text for word in query.words),
        _extra(options, asked, query, counted=bool(paths)),
    )


def find_values(
    views: Sequence[View], options: Options, path: str, text: str, most: int
) -> FacetFound:
    """Search inside a facet's values, counting the records that the options select."""
    facets.check_searchable(path, options)
    matches = Plan(views, options).match(read_query(options))
    inner = Options(options.settings, {**options.params, "query": text})
    query = read_query(inner)
    chosen = [(match.segment, match.rows) for match in matches]
    marker = make_marker(query, Options({}, inner.params))
    style = Style.of(options.settings, options.params, [word.text for word in query.words])
    return FacetFound(
        [
            {
                "value": hit.value,
                "highlighted": mark_text(hit.value, path, marker.match, style, marker.runs),
                "count": hit.count,
            }
            for hit in facets.search_facet(chosen, path, query, inner, most)
        ]
    )


def find_ids(views: Sequence[View], options: Options) -> list[str]:
    """Return the objectIDs of what passes the filters, whatever the query."""
    matches = Plan(views, options).match(Query())
    return [
        name for match in matches for name in match.segment.ids.take(np.flatnonzero(match.rows))
    ]


def find_order(views: Sequence[View], options: Options) -> Order:
    """Return all that match, by attribute and custom ranking only."""
    plan = Plan(views, options)
    matches = plan.match(read_query(options))
    custom = Options({"ranking": ["attribute", "custom"], **_custom(options)}, {})
    count = sum(match.count for match in matches)
    return plan.rank(matches, count, read_steps(custom))


def _custom(options: Options) -> dict[str, Any]:
    return {"customRanking": options["customRanking"]}


def _extra(options: Options, asked: Query, query: Query, *, counted: bool) -> dict[str, Any]:
    """Return the answer's further members."""
    exhaustive = {"nbHits": True, "typo": True} | ({"facetsCount": True} if counted else {})
    extra: dict[str, Any] = {
        "exhaustiveNbHits": True,
        "exhaustiveTypo": True,
        "exhaustive": exhaustive,
    }
    if counted:
        extra["exhaustiveFacetsCount"] = True
    if query != asked:
        extra["queryAfterRemoval"] = " ".join(
            f"<em>{word.text}</em>" if word.optional and not before.optional else word.text
            for before, word in zip(asked.words, query.words, strict=True)
        )
    return extra

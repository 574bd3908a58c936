"""Families of the public API that this service does not have."""

from __future__ import annotations

import re
from typing import NamedTuple

from svc_notebook.errors import NotFound


class MissingFamily(NamedTuple):
    """A family of endpoints: its name, its paths, and what this project has instead."""

    name: str
    paths: re.Pattern[str]
    instead: str


def _family(name: str, paths: str, instead: str) -> MissingFamily:
    return MissingFamily(name, re.compile(rf"(?:{paths})(?:/.*)?"), instead)


_MODEL = "(?:related-products|bought-together|trending-items|trending-facets|looking-similar)"
MISSING_FAMILIES = (
    _family(
        "Recommend",
        rf"/1/indexes/\*/recommendations|/1/indexes/[^/]+/{_MODEL}/(?:recommend|task)",
        "`similarQuery` finds records with similar words",
    ),
    _family("Analytics patterns", "/3/patterns", "`GET /2/searches` and its family have figures"),
    _family("A/B testing", "/[23]/abtests", "`svc.tuning` compares settings on judged queries"),
    _family(
        "Query Suggestions",
        "/1/configs|/1/logs/[^/]+",
        "`svc.load` fills an index with queries",
    ),
    _family(
        "Personalization",
        "/1/profiles|/1/(?:strategies|recommendation)/personalization",
        "`optionalFilters` raises what a user prefers",
    ),
    _family("Composition", "/1/compositions", "one search of `POST /1/indexes/*/queries` per part"),
    _family(
        "Ingestion",
        "/[12]/(?:authentications|destinations|sources|tasks|transformations|push|runs)",
        "`svc.load` reads files, databases and URLs",
    ),
    _family(
        "Monitoring",
        "/1/(?:status|incidents|latency|reachability|indexing|inventory|infrastructure|isalive)",
        "`GET /1/keys/{key}` shows whether the service answers",
    ),
    _family("Usage", "/[12]/usage", "`GET /1/indexes` has the number of records and their size"),
    _family("Agent Studio", "/agent-studio", "a language model of yours that calls `svc.search`"),
    _family("Answers", "/1/answers", '`mode: "neuralSearch"` also finds records by meaning'),
    _family("Places", "/1/places", "geographical search of your own records"),
)


def refuse_missing_family(raw_path: str) -> None:
    """Raise `NotFound` for a path of a family that this service does not have."""
    for family in MISSING_FAMILIES:
        if family.paths.fullmatch(raw_path):
            raise NotFound(
                f"{family.name} is not part of this service: {raw_path[:200]} is not an endpoint; "
                f"instead, {family.instead}",
                status=404,
            )

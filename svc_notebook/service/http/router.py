"""Map a raw request path to its endpoint.

A path is split before it is percent-decoded, so `%2F` does not split a name. Literal parts take
precedence over placeholders. A placeholder still serves an HTTP method that the literal part does
not have: `GET /1/indexes/a/batch` reads the record `batch`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from svc_notebook.core.api import Endpoint
from svc_notebook.errors import BadInput, NotFound, Refused


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
    _family(
        "A/B testing",
        "/3/abtests",
        "`POST /2/abtests` and its family run tests",
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


class MethodNotAllowed(Refused):
    """The path does not support this HTTP method; `allowed` lists those that it supports."""

    def __init__(self, verb: str, path: str, allowed: list[str]) -> None:
        super().__init__(f"{verb} {path}: use {' or '.join(allowed)}", status=405)
        self.allowed = allowed


@dataclass
class _Node:
    parts: dict[str, _Node] = field(default_factory=dict)
    # By HTTP method: the endpoint, and its path that leads here.
    endpoints: dict[str, tuple[Endpoint, str]] = field(default_factory=dict)


class Router:
    """A tree of path parts, built from the declared endpoints."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._root = _Node()
        for endpoint in endpoints:
            for path in (endpoint.path, *endpoint.former_paths):
                self._add(endpoint, path)

    def _add(self, endpoint: Endpoint, path: str) -> None:
        node = self._root
        for part in path.split("/"):
            key = "{}" if part.startswith("{") else part
            node = node.parts.setdefault(key, _Node())
        node.endpoints[endpoint.verb] = endpoint, path

    def find(self, verb: str, raw_path: str) -> tuple[Endpoint, dict[str, str]]:
        """Return the endpoint and its decoded path parts.

        Raises `NotFound` for an unknown path and `MethodNotAllowed` for an unsupported method.
        """
        parts = raw_path.split("/")
        nodes = list(_matches(self._root, parts))
        for node in nodes:
            if verb in node.endpoints:
                endpoint, path = node.endpoints[verb]
                return endpoint, {
                    name[1:-1]: _decode(part)
                    for name, part in zip(path.split("/"), parts, strict=True)
                    if name.startswith("{")
                }
        refuse_missing_family(raw_path)
        if not nodes:
            raise NotFound(f"{raw_path[:200]} is not an endpoint", status=404)
        raise MethodNotAllowed(
            verb, raw_path[:200], sorted({v for node in nodes for v in node.endpoints})
        )

    def verbs(self, raw_path: str) -> list[str]:
        """Return the HTTP methods of a path, for CORS preflights."""
        return sorted(
            {v for node in _matches(self._root, raw_path.split("/")) for v in node.endpoints}
        )


def _matches(node: _Node, parts: list[str]) -> Iterator[_Node]:
    if not parts:
        if node.endpoints:
            yield node
        return
    for key in (parts[0], "{}"):
        if key in node.parts:
            yield from _matches(node.parts[key], parts[1:])


def _decode(part: str) -> str:
    try:
        return unquote_to_bytes(part).decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"the path part {part[:80]} is not percent-encoded UTF-8") from None

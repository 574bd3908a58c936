"""Build hits: the requested attributes of records with highlights and ranking info."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from svc_notebook.service.engine.execution import check_time, count_answer_bytes
from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import OBJECT_ID, split_excluded
from svc_notebook.service.engine.query.options import (
    EMBEDDED_LISTS,
    EffectiveParameters,
    cache_if_short,
)
from svc_notebook.service.engine.query.query import Query
from svc_notebook.service.engine.response.highlight import Style, highlight_hit, snippet_hit
from svc_notebook.service.engine.response.highlight_matcher import make_marker


@dataclass(eq=False)
class PathTree:
    """The paths below one attribute; `whole` means that the attribute itself is selected."""

    whole: bool = False
    inner: dict[str, PathTree] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Iterable[str]) -> PathTree:
        """Build the tree of some paths; its root is the record."""
        root = cls()
        for path in paths:
            node = root
            for name in path.split("."):
                node = node.inner.setdefault(name, cls())
            node.whole = True
        return root

    def find(self, name: str) -> PathTree | None:
        """Return the subtree of a member, whose name may contain dots."""
        if "." not in name:
            return self.inner.get(name)
        node: PathTree | None = self
        for part in name.split("."):
            node = node.inner.get(part) if node else None
        return node


Fetch = Callable[[Sequence[str]], Iterable[Mapping[str, Any] | None]]
Hit = dict[str, Any]
# Fewer records are small enough to be returned whatever they contain.
MAX_UNMEASURED_HITS = 100


def make_hits(
    ids: Sequence[str],
    infos: Sequence[Hit] | None,
    numbers: Sequence[int],
    fetch: Fetch,
    query: Query,
    options: EffectiveParameters,
) -> list[Hit]:
    """Fetch the records and build hits of those that still exist."""
    retrieve = make_retriever(tuple(options["attributesToRetrieve"]), options.hidden)
    embedded = [
        make_retriever(tuple(names), ()) for names in options.params.get(EMBEDDED_LISTS, ())
    ]
    markers = make_markers(query, options)
    hits = []
    for number, record in enumerate(fetch(ids)):
        check_time()
        if record is None:
            continue
        hit = _restrict(retrieve(record), embedded)
        if len(ids) > MAX_UNMEASURED_HITS:
            count_answer_bytes(len(msgspec.json.encode(hit)))
        for member, mark in markers.items():
            if marked := _restrict(mark(record), embedded):
                hit[member] = marked
        if infos is not None:
            hit["_rankingInfo"] = infos[number]
        if numbers:
            hit["_distinctSeqID"] = numbers[number]
        hits.append(hit)
    return hits


def make_markers(
    query: Query, options: EffectiveParameters
) -> dict[str, Callable[[Record], dict[str, Any]]]:
    """Return the functions that mark the matches of a record, by their members of the hit."""
    if options["attributesToHighlight"] == [] and not options["attributesToSnippet"]:
        return {}
    style = Style.of(options, [word.text for word in query.words])
    results = {
        "_snippetResult": (snippet_hit, style.snippeted),
        "_highlightResult": (highlight_hit, style.highlighted),
    }
    marker = make_marker(query, options)
    return {
        member: partial(mark, marker=marker, style=style)
        for member, (mark, selected) in results.items()
        if selected.numbers or selected.rest is not None
    }


@cache_if_short
def make_retriever(entries: tuple[str, ...], hidden: tuple[str, ...]) -> Callable[[Record], Hit]:
    """Return a function that reduces a record to its requested and visible attributes.

    `entries` are those of `attributesToRetrieve`.
    """
    named, excluded_names = split_excluded(entries)
    retrieve_all = "*" in named or (not named and bool(excluded_names))
    paths = None if retrieve_all else PathTree.of(named)
    excluded = PathTree.of(path for path in (*excluded_names, *hidden) if path != OBJECT_ID)

    def retrieve(record: Record) -> Hit:
        hit = dict(record) if paths is None else _pick(record, paths)
        if excluded.inner:
            hit = _without(hit, excluded)
        hit[OBJECT_ID] = record[OBJECT_ID]
        return hit

    return retrieve


def _restrict(hit: Hit, embedded: Sequence[Callable[[Record], Hit]]) -> Hit:
    """Reduce a hit or its highlights to what the embedded lists name."""
    if not embedded:
        return hit
    restricted = hit
    for pick in embedded:
        restricted = pick({OBJECT_ID: None, **restricted})
    if OBJECT_ID not in hit:
        restricted.pop(OBJECT_ID, None)
    return restricted


def _pick(value: Record, paths: PathTree) -> Hit:
    """Keep the values under the paths, in the record's structure."""
    picked = {}
    for name, inner in value.items():
        if _is_whole(name, paths):
            picked[name] = inner
        elif (below := paths.inner.get(name)) and (
            inner_part := _map_objects(inner, partial(_pick, paths=below))
        ) is not None:
            picked[name] = inner_part
    return picked


def _without(value: Record, paths: PathTree) -> Hit:
    kept = {}
    for name, inner in value.items():
        if not _is_whole(name, paths):
            below = paths.inner.get(name)
            inner_rest = _map_objects(inner, partial(_without, paths=below)) if below else None
            kept[name] = inner if inner_rest is None else inner_rest
    return kept


def _is_whole(name: str, paths: PathTree) -> bool:
    """Return whether a member is selected itself; its name may contain dots."""
    branch = paths.find(name)
    return branch is not None and branch.whole


def _map_objects(value: Any, change: Callable[[Record], Hit]) -> Any:
    """Apply a change to an object or to the objects of an array; None for other values."""
    if isinstance(value, Mapping):
        return change(value)
    if isinstance(value, list):
        return [change(item) if isinstance(item, Mapping) else item for item in value]
    return None

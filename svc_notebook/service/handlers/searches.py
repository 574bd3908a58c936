"""Handlers that search one index, several indices, or the values of a facet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any, Unpack, cast

import msgspec

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.shapes import FacetAnswer, ManyAnswers, SearchAnswer, SearchRequest
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.engine.deadline import MAX_ANSWER_BYTES, restart_time
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.search.search_response import (
    answer_facet,
    answer_search,
    skipped_response,
)

# Members of an entry that are not search parameters.
ENTRY_MEMBERS = {"indexName", "type", "facet", "facetQuery", "params"}


@serves(SearchApi.search)
def search(
    call: CallContext, index: str, query: str = "", **params: Unpack[SearchOptions]
) -> SearchAnswer:
    """Search one index."""
    return answer_search(call, index, {"query": query, **params} if query else params)[0]


@serves(SearchApi.get_search)
def get_search(
    call: CallContext, index: str, query: str = "", **params: Unpack[SearchOptions]
) -> SearchAnswer:
    """Search one index with all parameters in the URL."""
    return search(call, index, query, **params)


@serves(SearchApi.search_many)
def search_many(
    call: CallContext, requests: list[SearchRequest], strategy: str = "none"
) -> ManyAnswers:
    """Run several searches in order."""
    if len(requests) > limits.MAX_QUERIES:
        raise BadInput(
            f"`requests` has {len(requests):,} searches; one call takes at most "
            f"{limits.MAX_QUERIES}: send them in parts"
        )
    return {"results": list(_run_searches(call, requests, strategy == "stopIfEnoughMatches"))}


@serves(SearchApi.search_facet)
def search_facet(
    call: CallContext,
    index: str,
    facet: str,
    facetQuery: str = "",
    **params: Unpack[SearchParams],
) -> FacetAnswer:
    """Search the values of one facet."""
    return answer_facet(call, index, facet, facetQuery, params)


def _run_searches(
    call: CallContext, requests: list[SearchRequest], stop: bool
) -> Iterator[SearchAnswer | FacetAnswer]:
    enough, held = False, 0
    for number, request in enumerate(requests):
        restart_time()
        name, call = request["indexName"], replace(call, started=perf_counter())
        params = {key: value for key, value in request.items() if key not in ENTRY_MEMBERS}
        if request.get("type") == "facet":
            yield answer_facet(call, name, _facet(request, number), *_facet_query(request, params))
        elif enough:
            yield skipped_response(name, call.service.catalog.find(name), params)
        else:
            answer, full = answer_search(call, name, params)
            enough = stop and full
            if "hits" in answer:
                # Encoded hits need a fraction of the memory until the last search ends.
                hits = msgspec.json.encode(answer["hits"])
                held += len(hits)
                _check_size(held, number)
                answer["hits"] = cast("Any", msgspec.Raw(hits))
            if stop:
                answer["processed"] = True
            answer["index"] = name
            yield answer


def _check_size(held: int, number: int) -> None:
    if held > MAX_ANSWER_BYTES:
        raise BadInput(
            f"the hits of `requests[0]` to `requests[{number}]` take more than "
            f"{MAX_ANSWER_BYTES // 2**20} MB: send fewer searches in one call, or request "
            "fewer hits (`hitsPerPage`) or attributes (`attributesToRetrieve`)"
        )


def _facet(request: SearchRequest, number: int) -> str:
    if not request.get("facet"):
        raise BadInput(f"`requests[{number}].facet` is missing")
    return request["facet"]


def _facet_query(request: SearchRequest, params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return request.get("facetQuery", ""), params

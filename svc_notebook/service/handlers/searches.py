"""Handlers that search one index, several indices or the values of a facet, or browse an index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, Unpack, cast

import msgspec

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.shapes import (
    FacetAnswer,
    ManyAnswers,
    Record,
    SearchAnswer,
    SearchRequest,
)
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.engine.execution import MAX_ANSWER_BYTES, restart_time
from svc_notebook.service.engine.query.options import EMBEDDED_LISTS
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.cursors import PER_PAGE, Cursor, IdList, read_cursor, write_cursor
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.indices.records import read_bodies, read_page, read_window
from svc_notebook.service.search.search_response import (
    answer_facet,
    answer_search,
    effective_parameters,
    encode_params,
    given_parameters,
    keep_fields,
    new_query_id,
    option,
    record_impression,
    skipped_response,
)
from svc_notebook.service.search.visible_attributes import select_from_bodies
from svc_notebook.service.service import RequestContext

# Members of an entry that are not search parameters.
ENTRY_MEMBERS = {"indexName", "type", "facet", "facetQuery", "params"}
# Parameters that do not affect which records a browse returns, or their order.
ORDER_INDEPENDENT = {
    *PER_PAGE, "page", "offset", "length", "query", "clickAnalytics", "userToken",
    "responseFields", "_seeUnretrievable", EMBEDDED_LISTS,
}  # fmt: skip


class _ObjectID(msgspec.Struct, rename={"id": "objectID"}):
    """The objectID of a record."""

    id: str


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


@serves(SearchApi.browse)
def browse(
    call: RequestContext, index: str, cursor: str | None = None, **params: Unpack[SearchParams]
) -> SearchAnswer:
    """Return the next records; a cursor contains the parameters of the first call."""
    published = call.service.catalog.find(index)
    given = given_parameters(params)
    state = (
        read_cursor(cursor)
        if cursor
        else Cursor(published.id, given, _skipped_records(call, published, given))
    )
    if state.index_id != published.id:
        raise BadInput("`cursor` belongs to another index, or its index was replaced")
    again = {name: given[name] for name in PER_PAGE if name in given}
    state = state._replace(params={**state.params, **again})
    return _answer_browse(call, published, state)


@serves(SearchApi.get_browse)
def get_browse(
    call: RequestContext, index: str, cursor: str | None = None, **params: Unpack[SearchParams]
) -> SearchAnswer:
    """Return the next records, with all parameters in the URL."""
    return browse(call, index, cursor, **params)


def _skipped_records(
    call: RequestContext, published: PublishedIndex, given: Mapping[str, Any]
) -> int:
    params = effective_parameters(call, published, given, limits.MAX_BROWSED_RECORDS)
    return int(params.get("page", 0)) * _page_size(params)


def _fixed_start(call: RequestContext, published: PublishedIndex, size: int) -> int | None:
    """Return the only start position that the caller's key allows; it has no next page."""
    embedded = call.caller.restrict({}, published.name)
    if "page" in embedded:
        return int(embedded["page"]) * size
    return int(embedded["offset"]) if "offset" in embedded else None


def _page_size(params: Mapping[str, Any]) -> int:
    size = int(params.get("hitsPerPage", limits.MAX_BROWSED_RECORDS))
    if size < 1:
        raise BadInput("`hitsPerPage` of a browse must be at least 1")
    return size


def _answer_browse(call: RequestContext, published: PublishedIndex, state: Cursor) -> SearchAnswer:
    params = effective_parameters(call, published, state.params, limits.MAX_BROWSED_RECORDS)
    size = _page_size(params)
    if (start := _fixed_start(call, published, size)) is not None:
        state = Cursor(published.id, state.params, start)
    if _is_storage_order(published, params):
        total = len(published.engine.get())
        bodies, after = _next_stored(call, published, state, size)
    else:
        order, state = _find_order(call, published, state, params)
        total = len(order)
        bodies, after = _next_ordered(call, published, state, order, size)
        after = _cache_order(call, published, state, after, order, params)
    answer: SearchAnswer = {
        "hits": _select_attributes(call, published, params, bodies),
        "nbHits": total,
        "page": state.done // size,
        "nbPages": -(-total // size),
        "hitsPerPage": size,
        "processingTimeMS": call.elapsed,
        "query": str(params.get("query", "")),
        "params": encode_params(state.params),
        "exhaustiveNbHits": True,
    }
    if params.get("clickAnalytics"):
        answer["queryID"] = new_query_id()
        ids = [msgspec.json.decode(body, type=_ObjectID).id for body in bodies]
        record_impression(call, published.name, params, answer, state.done, ids)
    if after is not None and start is None:
        answer["cursor"] = write_cursor(after)
    return cast(
        "SearchAnswer", keep_fields({**answer}, option(published, params, "responseFields"))
    )


def _is_storage_order(published: PublishedIndex, params: Mapping[str, Any]) -> bool:
    """Return whether all records are returned in storage order."""
    sorts = published.settings.get("customRanking") or "(" in "".join(
        published.settings.get("ranking", ())
    )
    return not (sorts or params.get("query") or params.keys() - ORDER_INDEPENDENT)


def _next_stored(
    call: RequestContext, published: PublishedIndex, state: Cursor, size: int
) -> tuple[Sequence[bytes], Cursor | None]:
    store = call.service.store
    if state.place or not state.done:
        rows = read_page(store, published.records_id, state.place, size + 1)
    else:
        rows = read_window(store, published.records_id, state.done, size + 1)
    bodies = [body for _, body in rows[:size]]
    if len(rows) <= size:
        return bodies, None
    return bodies, state._replace(done=state.done + size, place=rows[size - 1][0])


def _next_ordered(
    call: RequestContext, published: PublishedIndex, state: Cursor, order: IdList, size: int
) -> tuple[Sequence[bytes], Cursor | None]:
    ids = order[state.done : state.done + size]
    stored = read_bodies(call.service.store, published.records_id, ids)
    bodies = [stored[object_id] for object_id in ids if object_id in stored]
    done = state.done + len(ids)
    return bodies, state._replace(done=done, last=ids[-1]) if done < len(order) else None


def _find_order(
    call: RequestContext, published: PublishedIndex, state: Cursor, params: Mapping[str, Any]
) -> tuple[IdList, Cursor]:
    """Return the order of a browse: the one of its first page, while that is cached."""
    cursors = call.service.cursors
    if state.order and (order := cursors.get(state.order, published.id, params)):
        return order, state
    knowledge = call.service.catalog.resources.language_resources(published.id)
    ids = IdList.of(published.engine.get().order(params, knowledge))
    return ids, state._replace(order="", done=_resume(ids, state))


def _cache_order(
    call: RequestContext,
    published: PublishedIndex,
    state: Cursor,
    after: Cursor | None,
    ids: IdList,
    params: Mapping[str, Any],
) -> Cursor | None:
    """Cache the order while the browse has more pages."""
    cursors = call.service.cursors
    if after is None:
        cursors.drop(state.order)
        return None
    return after if after.order else after._replace(order=cursors.cache(ids, published.id, params))


def _resume(ids: IdList, state: Cursor) -> int:
    """Return the position after the last returned record; by number if that record is gone."""
    position = ids.find(state.last) if state.last else -1
    return position + 1 if position >= 0 else state.done


def _select_attributes(
    call: RequestContext,
    published: PublishedIndex,
    params: Mapping[str, Any],
    bodies: Sequence[bytes],
) -> list[Record]:
    requested = option(published, params, "attributesToRetrieve")
    hidden = call.caller.hidden_attributes(published.name, published.settings)
    lists = call.caller.retrievable_lists(published.name)
    return cast("list[Record]", select_from_bodies(bodies, requested, hidden, lists))

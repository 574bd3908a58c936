"""Make the answers of searches: what the engine found, dressed as the API has it."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, cast
from urllib.parse import urlencode

import msgspec

from svc_notebook.api.checking import write_text
from svc_notebook.api.parameters import default_of
from svc_notebook.api.shapes import FacetAnswer, FacetHit, SearchAnswer
from svc_notebook.errors import BadInput
from svc_notebook.service import limits
from svc_notebook.service.attributes import withheld
from svc_notebook.service.catalog import Shelf
from svc_notebook.service.engine import Fetch, Found
from svc_notebook.service.handlers.registry import Call
from svc_notebook.service.records import read_bodies

# Members that `responseFields` does not take away (api-notes, section 2).
ALWAYS = {
    "message", "warning", "cursor", "abTestVariantID", "parsedQuery", "serverUsed", "indexUsed",
    "timeoutCounts", "timeoutHits", "processed",
}  # fmt: skip


def answer_search(call: Call, name: str, given: Mapping[str, Any]) -> tuple[SearchAnswer, bool]:
    """Search one index; tells also whether a page was filled, so that no more need be asked."""
    shelf = call.service.catalog.find(name)
    params = effective(call, shelf, given)
    found = shelf.engine.get().search(params, fetch_from(call, shelf))
    answer = _found_members(found) | _told_members(call, shelf, params, given)
    if option(shelf, params, "getRankingInfo"):
        answer |= _ranking_members(shelf, found)
    for hidden in withheld(call.caller, shelf.settings):
        for facets in (found.facets, found.facets_stats):
            (facets or {}).pop(hidden, None)
    full = len(found.hits) >= found.paging.get("hitsPerPage", found.paging.get("length", 0))
    kept = keep_fields(answer, option(shelf, params, "responseFields"))
    return cast("SearchAnswer", kept), full


def answer_facet(
    call: Call, name: str, facet: str, query: str, given: Mapping[str, Any]
) -> FacetAnswer:
    """Search inside one facet of an index."""
    shelf = call.service.catalog.find(name)
    params = effective(call, shelf, given)
    if facet in withheld(call.caller, shelf.settings):
        raise BadInput(f"the facet {facet} is not to be seen with this key")
    limit = option(shelf, params, "maxFacetHits")
    found = shelf.engine.get().facet_values(facet, query, params, limit)
    return {
        "facetHits": cast("list[FacetHit]", found.hits),
        "exhaustiveFacetsCount": found.exhaustive,
        "processingTimeMS": call.elapsed,
    }


def skipped(name: str, shelf: Shelf, given: Mapping[str, Any]) -> SearchAnswer:
    """The answer to a query that an earlier one made needless."""
    params = present(given)
    return {
        "hits": [],
        "nbHits": 0,
        "page": 0,
        "nbPages": 0,
        "hitsPerPage": option(shelf, params, "hitsPerPage"),
        "processed": False,
        "processingTimeMS": 0,
        "query": params.get("query", ""),
        "params": echo(params),
        "index": name,
    }


def effective(
    call: Call, shelf: Shelf, given: Mapping[str, Any], size: int | None = None
) -> dict[str, Any]:
    """The parameters a search runs with: those given, and what the caller's key makes of them.

    `size` is how many hits come where nobody says. Raises `BadInput` where a text is too long.
    """
    params = call.caller.bind(present(given), shelf.name)
    for name in ("query", "similarQuery"):
        if len(str(params.get(name, "")).encode(errors="replace")) > limits.QUERY:
            raise BadInput(f"`{name}` is longer than {limits.QUERY} bytes")
    if most := call.caller.most_hits(shelf.name):
        wanted = params.get("hitsPerPage", size or option(shelf, params, "hitsPerPage"))
        params["hitsPerPage"] = min(wanted, most)
        params |= {"length": min(params["length"], most)} if "length" in params else {}
    if call.caller.may("seeUnretrievableAttributes"):
        params["_seeUnretrievable"] = True
    return params


def present(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that are not null, which stands for the default."""
    return {name: value for name, value in given.items() if value is not None}


def option(shelf: Shelf, params: Mapping[str, Any], name: str) -> Any:
    """A parameter as the search has it, else as the index sets it, else its default."""
    return params[name] if name in params else shelf.settings.get(name, default_of(name))


def echo(params: Mapping[str, Any]) -> str:
    """The parameters as they were sent, as one URL-encoded text."""
    return urlencode(
        {
            name: msgspec.json.encode(value) if isinstance(value, list) else write_text(value)
            for name, value in params.items()
        }
    )


def fetch_from(call: Call, shelf: Shelf) -> Fetch:
    """Let the engine read the records it found."""

    def fetch(ids: Sequence[str]) -> list[dict[str, Any] | None]:
        bodies = read_bodies(call.service.store, shelf.id, ids)
        return [msgspec.json.decode(bodies[one]) if one in bodies else None for one in ids]

    return fetch


def keep_fields(answer: dict[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Keep only the members that `responseFields` names."""
    if "*" in fields:
        return answer
    return {name: value for name, value in answer.items() if name in ALWAYS or name in fields}


def _found_members(found: Found) -> dict[str, Any]:
    facets = {"facets": found.facets, "facets_stats": found.facets_stats}
    return {
        "hits": found.hits,
        "nbHits": found.nbHits,
        **found.paging,
        **{name: value for name, value in facets.items() if value is not None},
        **({"exhaustiveFacetsCount": True} if found.facets is not None else {}),
        **found.extra,
    }


def _told_members(
    call: Call, shelf: Shelf, params: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    told: dict[str, Any] = {
        "exhaustiveNbHits": True,
        "exhaustiveTypo": True,
        "exhaustive": {"nbHits": True, "typo": True},
        "query": params.get("query", ""),
        "params": echo(present(given)),
        "renderingContent": option(shelf, params, "renderingContent") or {},
        "processingTimeMS": call.elapsed,
        "processingTimingsMS": {},
        "serverTimeMS": call.elapsed,
    }
    if "userData" in shelf.settings:
        told["userData"] = shelf.settings["userData"]
    if params.get("clickAnalytics"):
        told["queryID"] = secrets.token_hex(16)
    return told


def _ranking_members(shelf: Shelf, found: Found) -> dict[str, Any]:
    return {
        "parsedQuery": found.parsed_query,
        "index": shelf.name,
        "indexUsed": shelf.name,
        "serverUsed": "local",
        "timeoutCounts": False,
        "timeoutHits": False,
    }

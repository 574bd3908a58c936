"""What a refused call probably meant: an index, a facet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_notebook.core.api.filter_advice import suggest_filter
from svc_notebook.data.client import AsyncClient
from svc_notebook.data.client.attribute_checks import check_filters
from svc_notebook.data.declarations.arguments import register_adviser
from svc_notebook.data.session.connection import asynchronous
from svc_notebook.errors import CallFailed, NotFound, SvcError, did_you_mean

# Parameters of functions that name an index.
INDEX_PARAMETERS = ("index", "indexName", "source", "other", "destination")


@register_adviser
async def advise(error: SvcError, arguments: Mapping[str, Any]) -> None:
    """Add a note with the index, filter or facet that was probably meant to the error of a call."""
    try:
        client = asynchronous(arguments.get("client"))
        if isinstance(error, NotFound):
            advice = await _index_meant(arguments, client)
        else:
            advice = await _filter_meant(error, arguments, client)
            if not advice and isinstance(error, CallFailed):
                advice = await _facet_meant(arguments, client)
    except SvcError:  # the advice is optional
        return
    if advice:
        error.add_note(advice)


async def _index_meant(arguments: Mapping[str, Any], client: AsyncClient) -> str:
    named = [arguments.get(name) for name in INDEX_PARAMETERS]
    answer = await client.list_indices()
    existing = [entry["name"] for entry in answer["items"]]
    unknown = [name for name in named if isinstance(name, str) and name not in existing]
    if not unknown:
        return ""
    listed = (
        "svc.read_indices() lists the existing ones"
        if existing
        else "no index exists yet; svc.load(...) creates one"
    )
    return did_you_mean(unknown[0], existing).removeprefix("; ") or listed


async def _filter_meant(error: SvcError, arguments: Mapping[str, Any], client: AsyncClient) -> str:
    """Return the filter that was probably meant, and why it may find nothing."""
    params = arguments.get("params")
    members = {**params, **arguments} if isinstance(params, Mapping) else arguments
    filters, index = members.get("filters"), members.get("index")
    if filters is None or "filters" not in str(error):
        return ""
    meant = suggest_filter(filters)
    if not meant:
        return ""
    faults = []
    if isinstance(index, str):
        faults = await check_filters(client, index, {"filters": meant})
    return "; ".join([f"did you mean filters={meant!r}?", *(fault.advice for fault in faults)])


async def _facet_meant(arguments: Mapping[str, Any], client: AsyncClient) -> str:
    facet, index = arguments.get("facet"), arguments.get("index")
    if not isinstance(facet, str) or not isinstance(index, str):
        return ""
    faults = await check_filters(client, index, {"facets": [facet]})
    return faults[0].advice if faults else ""

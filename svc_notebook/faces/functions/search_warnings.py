"""Warnings about searches: why there are no hits, and what a search cannot filter or count by."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.messages import PAGINATION_MESSAGE
from svc_notebook.core.api.warning import warn_user
from svc_notebook.data.client import (
    FACETS,
    AsyncClient,
    read_facet_entries,
    read_names,
    warn_of_filters,
)
from svc_notebook.data.frames import hits_of
from svc_notebook.errors import NoHitsWarning, SvcError
from svc_notebook.faces.functions.empty_search import PAGING, count_hits, summarize, without

# Words of a query that are left out one by one to find the reason for no hits.
MAX_WORDS = 10
OPTIONAL = ("optionalFilters", "optionalFacetFilters")
# Parameters with which a search returns no hits by intention, if they are 0.
SIZES = ("hitsPerPage", "length")


async def warn_of_search(
    client: AsyncClient, index: str, query: str, hits: DataFrame, params: Mapping[str, Any]
) -> None:
    """Warn of the reason why a search has no hits, else of facets that it cannot count."""
    facts = hits.attrs["svc"]
    if not hits_of(hits).empty or any(params.get(name) == 0 for name in SIZES):
        await _warn_of_no_words(client, index, query, facts.get("nbHits"), params)
        await warn_of_filters(client, index, _without_effect(params, facts.get("facets", {})))
    elif PAGINATION_MESSAGE in facts.get("message", ""):
        warn_user(
            f"no hits on this page of {index}: it is beyond paginationLimitedTo; "
            f"svc.read_browse({index!r}, ...) reads all records that match",
            NoHitsWarning,
        )
    elif reason := await summarize(client, index, {**params, "query": query}, MAX_WORDS):
        warn_user(f"no hits in {index}: {reason} (`why` lists each condition)", NoHitsWarning)


async def _warn_of_no_words(
    client: AsyncClient, index: str, query: str, hits: int | None, params: Mapping[str, Any]
) -> None:
    """Warn of a query without words, such as an emoji, that matches what an empty query does."""
    if not query.strip() or any(letter.isalnum() for letter in query):
        return
    every: list[int] = []
    with suppress(SvcError):
        every = await count_hits(client, index, [{**without(params, *PAGING), "query": ""}])
    if every == [hits]:
        warn_user(
            f"the query {query!r} has no letters or digits that are searched for: it matches every "
            f"record of {index}, as an empty query does"
        )


async def warn_of_searches(
    client: AsyncClient, index: str, hits: DataFrame, params: Mapping[str, Any]
) -> None:
    """Warn of attributes that cannot be filtered or counted, if searches found nothing."""
    shown = params if hits_of(hits).empty else _without_effect(params, ())
    await warn_of_filters(client, index, shown)


async def warn_of_counts(
    client: AsyncClient, index: str, query: str, counts: DataFrame, params: Mapping[str, Any]
) -> None:
    """Warn of facets that were not counted, and of the reason if nothing was."""
    shown = params if counts.empty else _without_effect(params, {*counts["facet"]})
    if not counts.empty or params.get("facets"):
        await warn_of_filters(client, index, shown)
        return
    with suppress(SvcError):
        word = query.strip()
        if word and word in await read_names(client, index):
            await warn_of_filters(client, index, {"facets": [word]})
        elif not await read_facet_entries(client, index):
            warn_user(
                f"{index} has no facets: name attributes in {FACETS}, such as "
                f"`svc.set_settings({index!r}, {{{FACETS!r}: ['brand']}})`",
                NoHitsWarning,
            )
        elif reason := await summarize(client, index, {**params, "query": query}, MAX_WORDS):
            warn_user(f"no hits in {index}: {reason}", NoHitsWarning)


def _without_effect(params: Mapping[str, Any], counted: Any) -> dict[str, Any]:
    """Return the conditions that do not reduce the hits: optional filters, uncounted facets."""
    facets = params.get("facets") or ()
    facets = facets.split(",") if isinstance(facets, str) else facets
    optional = {name: params[name] for name in OPTIONAL if name in params}
    uncounted = [name for name in facets if name not in counted] if counted != () else []
    return {**optional, "facets": uncounted}

"""Endpoints that search, browse and search facet values."""

from __future__ import annotations

from typing import Literal, Unpack

from svc_notebook.core.api.body_forms import read_params, read_requests
from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.core.api.shapes import FacetAnswer, ManyAnswers, SearchAnswer, SearchRequest


class SearchEndpoints(Api, interface="search"):
    """Endpoints that find records."""

    @endpoint("POST", "/1/indexes/{index}/query", acl="search", reads=True, accepts=(read_params,))
    async def search(
        self, index: str, query: str = "", **params: Unpack[SearchOptions]
    ) -> SearchAnswer:
        """Search the records of one index."""
        ...

    @endpoint("GET", "/1/indexes/{index}", acl="search")
    async def get_search(
        self, index: str, query: str = "", **params: Unpack[SearchOptions]
    ) -> SearchAnswer:
        """Search one index with all parameters in the URL; prefer `search`, which caches."""
        ...

    @endpoint("POST", "/1/indexes/*/queries", acl="search", reads=True, accepts=(read_requests,))
    async def search_many(
        self,
        requests: list[SearchRequest],
        strategy: Literal["none", "stopIfEnoughMatches"] = "none",
    ) -> ManyAnswers:
        """Run several searches in order."""
        ...

    @endpoint(
        "POST",
        "/1/indexes/{index}/facets/{facet}/query",
        acl="search",
        reads=True,
        accepts=(read_params,),
    )
    async def search_facet(
        self,
        index: str,
        facet: str,
        facetQuery: str = "",
        **params: Unpack[SearchParams],
    ) -> FacetAnswer:
        """Search the values of one facet; the search parameters select the records that count."""
        ...

    @endpoint("POST", "/1/indexes/{index}/browse", acl="browse", reads=True, accepts=(read_params,))
    async def browse(
        self, index: str, cursor: str | None = None, **params: Unpack[SearchParams]
    ) -> SearchAnswer:
        """Read the next page of a whole index; the response's `cursor` requests the page after."""
        ...

    @endpoint("GET", "/1/indexes/{index}/browse", acl="browse", accepts=(read_params,))
    async def get_browse(
        self, index: str, cursor: str | None = None, **params: Unpack[SearchParams]
    ) -> SearchAnswer:
        """Read the next page of a whole index with all parameters in the URL."""
        ...

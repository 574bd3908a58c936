"""Handlers that read and change the allowlist."""

from __future__ import annotations

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.shapes import CreatedAt, DeletedAt, Source, UpdatedAt
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.service import RequestContext


@serves(SearchApi.list_sources)
def list_sources(call: RequestContext) -> list[Source]:
    """List the networks on the allowlist."""
    return call.service.sources.all()


@serves(SearchApi.replace_sources)
def replace_sources(call: RequestContext, sources: list[Source]) -> UpdatedAt:
    """Replace the allowlist at once."""
    call.service.sources.replace(sources)
    return {"updatedAt": stamp_now()}


@serves(SearchApi.append_source)
def append_source(call: RequestContext, source: Source) -> CreatedAt:
    """Add a network to the allowlist."""
    call.service.sources.append(source)
    return {"createdAt": stamp_now()}


@serves(SearchApi.delete_source)
def delete_source(call: RequestContext, source: str) -> DeletedAt:
    """Remove a network from the allowlist."""
    call.service.sources.delete(source)
    return {"deletedAt": stamp_now()}

"""Say from which networks the service may be called."""

from __future__ import annotations

from typing import Any

from svc_notebook.api.shapes import Source
from svc_notebook.errors import NotFound, did_you_mean
from svc_notebook.functions.curated_lists import Done
from svc_notebook.functions.documents import Documents, take_documents
from svc_notebook.session.connection import AnyClient, asynchronous


async def add_source(
    source: str, *, description: str = "", client: AnyClient | None = None
) -> Done:
    """Let a network call; with the first one on the list, all others no longer may."""
    own = asynchronous(client)
    before = len(await own.list_sources())
    entry: Source = {"source": source}
    await own.append_source({**entry, "description": description} if description else entry)
    return {"source": source, "before": before, "after": len(await own.list_sources())}


async def replace_sources(sources: Documents, *, client: AnyClient | None = None) -> Done:
    """Put these networks in place of all that may call; none lets everybody call."""
    listed: list[Any] = take_documents(sources, Source, "sources")
    own = asynchronous(client)
    before = len(await own.list_sources())
    await own.replace_sources(listed)
    return {"before": before, "after": len(listed)}


async def delete_source(source: str, *, client: AnyClient | None = None) -> Done:
    """Take a network off the list; with the last one gone, everybody may call."""
    own = asynchronous(client)
    known = [entry["source"] for entry in await own.list_sources()]
    if source not in known:
        raise NotFound(f"{source} is not on the list{did_you_mean(source, known)}", status=404)
    await own.delete_source(source)
    return {"source": source, "before": len(known), "after": len(known) - 1}

"""List the networks that may call."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from svc_notebook.api.endpoint import Api, Whole, endpoint
from svc_notebook.api.shapes import CreatedAt, DeletedAt, Source, UpdatedAt

Sources = Annotated[list[Source], Meta(max_length=1000)]


class SourceRows(Api, interface="search"):
    """The allowlist."""

    @endpoint("GET", "/1/security/sources", acl="admin")
    async def list_sources(self) -> list[Source]:
        """List the networks that may call."""
        ...

    @endpoint("PUT", "/1/security/sources", acl="admin")
    async def replace_sources(self, sources: Whole[Sources]) -> UpdatedAt:
        """Replace the list; from then on only these may call."""
        ...

    @endpoint("POST", "/1/security/sources/append", acl="admin")
    async def append_source(self, source: Whole[Source]) -> CreatedAt:
        """Let one more network call."""
        ...

    @endpoint("DELETE", "/1/security/sources/{source}", acl="admin")
    async def delete_source(self, source: str) -> DeletedAt:
        """Take a network off the list."""
        ...

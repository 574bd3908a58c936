"""Endpoints that read and change the allowlist of networks."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.shapes import CreatedAt, DeletedAt, Source, UpdatedAt

Sources = Annotated[list[Source], Meta(max_length=1000)]


class SourceEndpoints(Api, interface="search"):
    """Endpoints for the allowlist."""

    @endpoint("GET", "/1/security/sources", acl="admin")
    async def list_sources(self) -> list[Source]:
        """List the networks on the allowlist."""
        ...

    @endpoint("PUT", "/1/security/sources", acl="admin")
    async def replace_sources(self, sources: Body[Sources]) -> UpdatedAt:
        """Replace the allowlist; from then on only these networks may call."""
        ...

    @endpoint("POST", "/1/security/sources/append", acl="admin")
    async def append_source(self, source: Body[Source]) -> CreatedAt:
        """Add a network to the allowlist."""
        ...

    @endpoint("DELETE", "/1/security/sources/{source}", acl="admin")
    async def delete_source(self, source: str) -> DeletedAt:
        """Remove a network from the allowlist."""
        ...

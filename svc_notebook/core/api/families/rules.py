"""Endpoints that read and write rules."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.shapes import Natural, Rule, RuleHits, Saved, Updated

RulePage = Annotated[int, Meta(ge=1, le=1000)]


class RuleEndpoints(Api, interface="search"):
    """Endpoints for the rules of an index."""

    @endpoint("PUT", "/1/indexes/{index}/rules/{object_id}", acl="editSettings")
    async def save_rule(
        self, index: str, object_id: str, rule: Body[Rule], *, forwardToReplicas: bool = False
    ) -> Saved:
        """Save one rule, or replace the one with its `objectID`."""
        ...

    @endpoint("POST", "/1/indexes/{index}/rules/batch", acl="editSettings")
    async def save_rules(
        self,
        index: str,
        rules: Body[list[Rule]],
        *,
        forwardToReplicas: bool = False,
        clearExistingRules: bool = False,
    ) -> Updated:
        """Save many rules; `clearExistingRules` replaces all rules at once."""
        ...

    @endpoint("GET", "/1/indexes/{index}/rules/{object_id}", acl="settings")
    async def get_rule(self, index: str, object_id: str) -> Rule:
        """Read one rule."""
        ...

    @endpoint("DELETE", "/1/indexes/{index}/rules/{object_id}", acl="editSettings")
    async def delete_rule(
        self, index: str, object_id: str, *, forwardToReplicas: bool = False
    ) -> Updated:
        """Delete one rule."""
        ...

    @endpoint("POST", "/1/indexes/{index}/rules/clear", acl="editSettings")
    async def clear_rules(self, index: str, *, forwardToReplicas: bool = False) -> Updated:
        """Delete all rules of an index."""
        ...

    @endpoint("POST", "/1/indexes/{index}/rules/search", acl="settings", reads=True)
    async def search_rules(
        self,
        index: str,
        query: str = "",
        anchoring: Literal["is", "startsWith", "endsWith", "contains"] | None = None,
        context: str | None = None,
        page: Natural = 0,
        hitsPerPage: RulePage = 20,
        enabled: bool | None = None,
    ) -> RuleHits:
        """Search the rules of an index."""
        ...

"""Endpoints that read and write synonyms."""

from __future__ import annotations

from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.shapes import (
    Deleted,
    Natural,
    SavedSynonym,
    Synonym,
    SynonymHits,
    Updated,
)


class SynonymEndpoints(Api, interface="search"):
    """Endpoints for the synonyms of an index."""

    @endpoint("PUT", "/1/indexes/{index}/synonyms/{object_id}", acl="editSettings")
    async def save_synonym(
        self,
        index: str,
        object_id: str,
        synonym: Body[Synonym],
        *,
        forwardToReplicas: bool = False,
    ) -> SavedSynonym:
        """Save one synonym, or replace the one with its `objectID`."""
        ...

    @endpoint("POST", "/1/indexes/{index}/synonyms/batch", acl="editSettings")
    async def save_synonyms(
        self,
        index: str,
        synonyms: Body[list[Synonym]],
        *,
        forwardToReplicas: bool = False,
        replaceExistingSynonyms: bool = False,
    ) -> Updated:
        """Save many synonyms; `replaceExistingSynonyms` replaces all synonyms at once."""
        ...

    @endpoint("GET", "/1/indexes/{index}/synonyms/{object_id}", acl="settings")
    async def get_synonym(self, index: str, object_id: str) -> Synonym:
        """Read one synonym."""
        ...

    @endpoint("POST", "/1/indexes/{index}/synonyms/clear", acl="editSettings")
    async def clear_synonyms(self, index: str, *, forwardToReplicas: bool = False) -> Updated:
        """Delete all synonyms of an index."""
        ...

    @endpoint("DELETE", "/1/indexes/{index}/synonyms/{object_id}", acl="editSettings")
    async def delete_synonym(
        self, index: str, object_id: str, *, forwardToReplicas: bool = False
    ) -> Deleted:
        """Delete one synonym."""
        ...

    @endpoint("POST", "/1/indexes/{index}/synonyms/search", acl="settings", reads=True)
    async def search_synonyms(
        self,
        index: str,
        query: str = "",
        type: str = "",
        page: Natural = 0,
        hitsPerPage: Natural = 100,
    ) -> SynonymHits:
        """Search the synonyms of an index; `type` is a comma-separated list of types."""
        ...

"""Endpoints that read and write synonyms, rules and dictionaries."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from svc_notebook.core.api.body_forms import read_dictionary_requests, read_synonym_types
from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.endpoint import Body
from svc_notebook.core.api.shapes import (
    Deleted,
    DictionaryHits,
    DictionaryName,
    DictionaryRequest,
    DictionarySettings,
    LanguageListing,
    Natural,
    Rule,
    RuleHits,
    Saved,
    SavedSynonym,
    StandardEntries,
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

    @endpoint(
        "POST",
        "/1/indexes/{index}/synonyms/search",
        acl="settings",
        reads=True,
        accepts=(read_synonym_types,),
    )
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


EntryPage = Annotated[int, Meta(ge=1, le=1000)]


class DictionaryEndpoints(Api, interface="search"):
    """Endpoints for the application's dictionaries."""

    @endpoint(
        "POST",
        "/1/dictionaries/{dictionary}/batch",
        acl="editSettings",
        accepts=(read_dictionary_requests,),
    )
    async def batch_dictionary(
        self,
        dictionary: DictionaryName,
        requests: list[DictionaryRequest],
        clearExistingDictionaryEntries: bool = False,
    ) -> Updated:
        """Add and delete custom entries; they override standard entries with the same word."""
        ...

    @endpoint("GET", "/1/dictionaries/{dictionary}/search", acl="settings")
    async def get_dictionary_entries(
        self,
        dictionary: DictionaryName,
        query: str,
        page: Natural = 0,
        hitsPerPage: EntryPage = 20,
        language: str | None = None,
    ) -> DictionaryHits:
        """Search dictionary entries with all parameters in the URL."""
        ...

    @endpoint("POST", "/1/dictionaries/{dictionary}/search", acl="settings", reads=True)
    async def search_dictionary(
        self,
        dictionary: DictionaryName,
        query: str,
        page: Natural = 0,
        hitsPerPage: EntryPage = 20,
        language: str | None = None,
    ) -> DictionaryHits:
        """Search dictionary entries, custom and standard."""
        ...

    @endpoint("PUT", "/1/dictionaries/*/settings", acl="editSettings")
    async def set_dictionary_settings(self, disableStandardEntries: StandardEntries) -> Updated:
        """Disable or enable standard entries by dictionary and language."""
        ...

    @endpoint("GET", "/1/dictionaries/*/settings", acl="settings")
    async def get_dictionary_settings(self) -> DictionarySettings:
        """Read for which languages standard entries are disabled."""
        ...

    @endpoint("GET", "/1/dictionaries/*/languages", acl="settings")
    async def list_languages(self) -> LanguageListing:
        """List the supported languages and the number of custom entries of each."""
        ...

"""Endpoints that read and write stop words, plurals and compounds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from svc_notebook.core.api.body_forms import read_dictionary_requests
from svc_notebook.core.api.declaration import Api, endpoint
from svc_notebook.core.api.shapes import (
    DictionaryHits,
    DictionaryName,
    DictionaryRequest,
    DictionarySettings,
    LanguageListing,
    Natural,
    StandardEntries,
    Updated,
)

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

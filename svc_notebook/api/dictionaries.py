"""Read and write stop words, plurals and compounds."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from svc_notebook.api.endpoint import Api, endpoint
from svc_notebook.api.shapes import (
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


class DictionaryRows(Api, interface="search"):
    """The application's dictionaries."""

    @endpoint("POST", "/1/dictionaries/{dictionary}/batch", acl="editSettings")
    async def batch_dictionary(
        self,
        dictionary: DictionaryName,
        requests: list[DictionaryRequest],
        clearExistingDictionaryEntries: bool = False,
    ) -> Updated:
        """Add and delete entries of your own; standard ones with the same word give way."""
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
        """Find entries, everything in the URL."""
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
        """Find entries, standard ones among them."""
        ...

    @endpoint("PUT", "/1/dictionaries/*/settings", acl="editSettings")
    async def set_dictionary_settings(self, disableStandardEntries: StandardEntries) -> Updated:
        """Switch standard entries off or on, language by language."""
        ...

    @endpoint("GET", "/1/dictionaries/*/settings", acl="settings")
    async def get_dictionary_settings(self) -> DictionarySettings:
        """Read which standard entries are switched off."""
        ...

    @endpoint("GET", "/1/dictionaries/*/languages", acl="settings")
    async def list_languages(self) -> LanguageListing:
        """List the languages and how many entries of your own each has."""
        ...

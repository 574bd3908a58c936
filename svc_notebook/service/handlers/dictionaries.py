"""Handlers that read and write the application's dictionaries."""

from __future__ import annotations

from collections import Counter
from typing import cast

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.shapes import (
    DictionaryHits,
    DictionaryName,
    DictionaryRequest,
    DictionarySettings,
    LanguageListing,
    StandardEntries,
    Updated,
)
from svc_notebook.errors import Refused
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import stamp_now
from svc_notebook.service.resources.dictionaries import (
    ENTRY_MEMBERS,
    LANGUAGES,
    MAX_ENTRIES,
    SWITCH_KINDS,
    check_entry,
    check_language,
    find_words,
    supports,
)
from svc_notebook.service.resources.entries import (
    APPLICATION_ID,
    EntriesChange,
    Entry,
    read_entries,
    take_page,
)
from svc_notebook.service.service import RequestContext

# The dictionary whose switches are returned even if none is set.
ALWAYS_RETURNED = "stopwords"


@serves(SearchApi.batch_dictionary)
def batch_dictionary(
    call: RequestContext,
    dictionary: DictionaryName,
    requests: list[DictionaryRequest],
    clearExistingDictionaryEntries: bool = False,
) -> Updated:
    """Queue entries as one task; of two operations on one entry the last one counts."""
    last: dict[str, Entry | None] = {}
    for number, request in enumerate(requests):
        body = request["body"]
        adds = request["action"] == "addEntry"
        at = f"requests[{number}].body"
        last[body["objectID"]] = check_entry(dictionary, body, at) if adds else None
    saved = [entry for entry in last.values() if entry]
    _check_quota(call, dictionary, saved, clear=clearExistingDictionaryEntries)
    gone = [name for name, entry in last.items() if not entry]
    change = EntriesChange(
        dictionary, clear=clearExistingDictionaryEntries, save=saved, delete=gone
    )
    return {"taskID": call.service.accept_for_all("entries", [change]), "updatedAt": stamp_now()}


def _check_quota(call: RequestContext, dictionary: str, saved: list[Entry], *, clear: bool) -> None:
    kept = [] if clear else read_entries(call.service.store, APPLICATION_ID, dictionary)
    if len({entry["objectID"] for entry in (*kept, *saved)}) > MAX_ENTRIES:
        raise Refused(f"{dictionary} may have at most {MAX_ENTRIES} custom entries", status=403)


@serves(SearchApi.search_dictionary)
def search_dictionary(
    call: RequestContext,
    dictionary: DictionaryName,
    query: str,
    page: int = 0,
    hitsPerPage: int = 20,
    language: str | None = None,
) -> DictionaryHits:
    """Search entries by their words."""
    if language:
        check_language(dictionary, language, "language")
    entries = find_words(call.service.store, dictionary, query, language)
    return cast("DictionaryHits", take_page(entries, page, hitsPerPage))


@serves(SearchApi.get_dictionary_entries)
def get_dictionary_entries(
    call: RequestContext,
    dictionary: DictionaryName,
    query: str,
    page: int = 0,
    hitsPerPage: int = 20,
    language: str | None = None,
) -> DictionaryHits:
    """Search entries with all parameters in the URL."""
    return search_dictionary(call, dictionary, query, page, hitsPerPage, language)


@serves(SearchApi.set_dictionary_settings)
def set_dictionary_settings(
    call: RequestContext, disableStandardEntries: StandardEntries
) -> Updated:
    """Queue for which languages standard entries are disabled; null resets a dictionary."""
    given = cast("dict[str, dict[str, bool] | None]", disableStandardEntries)
    for dictionary, languages in given.items():
        for language in languages or {}:
            check_language(dictionary, language, f"disableStandardEntries.{dictionary}")
    changes = [
        EntriesChange(
            SWITCH_KINDS[dictionary],
            clear=languages is None,
            save=[{"objectID": name, "off": off} for name, off in (languages or {}).items()],
        )
        for dictionary, languages in given.items()
    ]
    return {"taskID": call.service.accept_for_all("entries", changes), "updatedAt": stamp_now()}


@serves(SearchApi.get_dictionary_settings)
def get_dictionary_settings(call: RequestContext) -> DictionarySettings:
    """Return for which languages standard entries are disabled."""
    result = {
        name: {
            e["objectID"]: e["off"] for e in read_entries(call.service.store, APPLICATION_ID, kind)
        }
        for name, kind in SWITCH_KINDS.items()
    }
    shown = {
        name: languages
        for name, languages in result.items()
        if languages or name == ALWAYS_RETURNED
    }
    return {"disableStandardEntries": cast("StandardEntries", shown)}


@serves(SearchApi.list_languages)
def list_languages(call: RequestContext) -> LanguageListing:
    """Return for each language its dictionaries and their numbers of custom entries."""
    counts = {
        name: Counter(e["language"] for e in read_entries(call.service.store, APPLICATION_ID, name))
        for name in ENTRY_MEMBERS
    }
    return {
        language: {
            name: {"nbCustomEntries": count[language]} if supports(name, language) else None
            for name, count in counts.items()
        }
        for language in LANGUAGES
    }

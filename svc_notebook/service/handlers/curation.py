"""Handlers that read and write synonyms, rules and dictionaries."""

from __future__ import annotations

from collections import Counter
from typing import Literal, cast

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.messages import OBJECT_MISSING, SYNONYM_MISSING
from svc_notebook.core.api.shapes import (
    Deleted,
    DictionaryHits,
    DictionaryName,
    DictionaryRequest,
    DictionarySettings,
    LanguageListing,
    Rule,
    RuleHits,
    Saved,
    SavedSynonym,
    StandardEntries,
    Synonym,
    SynonymHits,
    Updated,
)
from svc_notebook.errors import BadInput, NotFound, Refused, did_you_mean
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
    RULE_ENTRIES,
    SYNONYM_ENTRIES,
    SYNONYM_MEMBERS,
    EntriesChange,
    Entry,
    check_rule,
    check_synonym,
    find_entries,
    read_entries,
    read_entry,
    take_page,
)
from svc_notebook.service.service import RequestContext

# The dictionary whose switches are returned even if none is set.
ALWAYS_RETURNED_DICTIONARY = "stopwords"


@serves(SearchApi.save_synonym)
def save_synonym(
    call: RequestContext,
    index: str,
    object_id: str,
    synonym: Synonym,
    *,
    forwardToReplicas: bool = False,
) -> SavedSynonym:
    """Queue one synonym."""
    if synonym["objectID"] != object_id:
        raise BadInput(f"`objectID` is {synonym['objectID']} in the body, {object_id} in the path")
    change = EntriesChange(
        SYNONYM_ENTRIES, save=[check_synonym(synonym, "")], forward=forwardToReplicas
    )
    return {**call.accept_entries(index, change), "id": object_id}


@serves(SearchApi.save_synonyms)
def save_synonyms(
    call: RequestContext,
    index: str,
    synonyms: list[Synonym],
    *,
    forwardToReplicas: bool = False,
    replaceExistingSynonyms: bool = False,
) -> Updated:
    """Queue many synonyms as one task, so that a replacement is atomic."""
    saved = [check_synonym(synonym, f"[{n}]") for n, synonym in enumerate(synonyms)]
    change = EntriesChange(
        SYNONYM_ENTRIES, clear=replaceExistingSynonyms, save=saved, forward=forwardToReplicas
    )
    return call.accept_entries(index, change)


@serves(SearchApi.get_synonym)
def get_synonym(call: RequestContext, index: str, object_id: str) -> Synonym:
    """Read one synonym."""
    published = call.service.catalog.find(index)
    synonym = read_entry(call.service.store, published.id, SYNONYM_ENTRIES, object_id)
    if synonym is None:
        raise NotFound(SYNONYM_MISSING, status=404)
    return cast("Synonym", synonym)


@serves(SearchApi.clear_synonyms)
def clear_synonyms(call: RequestContext, index: str, *, forwardToReplicas: bool = False) -> Updated:
    """Queue the deletion of all synonyms."""
    change = EntriesChange(SYNONYM_ENTRIES, clear=True, forward=forwardToReplicas)
    return call.accept_entries(index, change)


@serves(SearchApi.delete_synonym)
def delete_synonym(
    call: RequestContext, index: str, object_id: str, *, forwardToReplicas: bool = False
) -> Deleted:
    """Queue the deletion of one synonym."""
    change = EntriesChange(SYNONYM_ENTRIES, delete=[object_id], forward=forwardToReplicas)
    queued = call.accept_entries(index, change)
    return {"taskID": queued["taskID"], "deletedAt": queued["updatedAt"]}


@serves(SearchApi.search_synonyms)
def search_synonyms(
    call: RequestContext,
    index: str,
    query: str = "",
    type: str = "",
    page: int = 0,
    hitsPerPage: int = 100,
) -> SynonymHits:
    """Search synonyms by their words and types; an index that does not exist has none."""
    kinds = [kind.strip().lower() for kind in type.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in SYNONYM_MEMBERS:
            raise BadInput(f"`type`: {kind} is not a type{did_you_mean(kind, SYNONYM_MEMBERS)}")
    published = call.service.catalog.get(index)
    entries = read_entries(call.service.store, published.id, SYNONYM_ENTRIES) if published else []
    chosen = [entry for entry in entries if not kinds or entry["type"].lower() in kinds]
    return cast("SynonymHits", take_page(find_entries(chosen, query), page, hitsPerPage))


@serves(SearchApi.save_rule)
def save_rule(
    call: RequestContext, index: str, object_id: str, rule: Rule, *, forwardToReplicas: bool = False
) -> Saved:
    """Queue one rule."""
    if rule["objectID"] != object_id:
        raise BadInput(f"`objectID` is {rule['objectID']} in the body, {object_id} in the path")
    change = EntriesChange(RULE_ENTRIES, save=[check_rule(rule, "")], forward=forwardToReplicas)
    return {**call.accept_entries(index, change), "objectID": object_id}


@serves(SearchApi.save_rules)
def save_rules(
    call: RequestContext,
    index: str,
    rules: list[Rule],
    *,
    forwardToReplicas: bool = False,
    clearExistingRules: bool = False,
) -> Updated:
    """Queue many rules as one task, so that a replacement is atomic."""
    saved = [check_rule(rule, f"[{number}]") for number, rule in enumerate(rules)]
    change = EntriesChange(
        RULE_ENTRIES, clear=clearExistingRules, save=saved, forward=forwardToReplicas
    )
    return call.accept_entries(index, change)


@serves(SearchApi.get_rule)
def get_rule(call: RequestContext, index: str, object_id: str) -> Rule:
    """Read one rule."""
    published = call.service.catalog.find(index)
    rule = read_entry(call.service.store, published.id, RULE_ENTRIES, object_id)
    if rule is None:
        raise NotFound(OBJECT_MISSING, status=404)
    return cast("Rule", rule)


@serves(SearchApi.delete_rule)
def delete_rule(
    call: RequestContext, index: str, object_id: str, *, forwardToReplicas: bool = False
) -> Updated:
    """Queue the deletion of one rule."""
    change = EntriesChange(RULE_ENTRIES, delete=[object_id], forward=forwardToReplicas)
    return call.accept_entries(index, change)


@serves(SearchApi.clear_rules)
def clear_rules(call: RequestContext, index: str, *, forwardToReplicas: bool = False) -> Updated:
    """Queue the deletion of all rules."""
    change = EntriesChange(RULE_ENTRIES, clear=True, forward=forwardToReplicas)
    return call.accept_entries(index, change)


@serves(SearchApi.search_rules)
def search_rules(
    call: RequestContext,
    index: str,
    query: str = "",
    anchoring: Literal["is", "startsWith", "endsWith", "contains"] | None = None,
    context: str | None = None,
    page: int = 0,
    hitsPerPage: int = 20,
    enabled: bool | None = None,
) -> RuleHits:
    """Search rules by their words and conditions; an index that does not exist has none."""
    published = call.service.catalog.get(index)
    rules = read_entries(call.service.store, published.id, RULE_ENTRIES) if published else []
    chosen = [
        rule
        for rule in rules
        if enabled in (None, rule.get("enabled", True))
        and _has(rule, "anchoring", anchoring)
        and _has(rule, "context", context)
    ]
    return cast("RuleHits", take_page(find_entries(chosen, query), page, hitsPerPage))


def _has(rule: Entry, member: str, value: str | None) -> bool:
    return not value or any(c.get(member) == value for c in rule.get("conditions", ()))


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
        if languages or name == ALWAYS_RETURNED_DICTIONARY
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

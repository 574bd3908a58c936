"""Handlers that read and write synonyms."""

from __future__ import annotations

from typing import cast

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.messages import SYNONYM_MISSING
from svc_notebook.core.api.shapes import Deleted, SavedSynonym, Synonym, SynonymHits, Updated
from svc_notebook.errors import BadInput, NotFound, did_you_mean
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.resources.checks import SYNONYM_ENTRIES, SYNONYM_MEMBERS, check_synonym
from svc_notebook.service.resources.entries import (
    EntriesChange,
    find_entries,
    read_entries,
    read_entry,
    take_page,
)
from svc_notebook.service.service import RequestContext


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

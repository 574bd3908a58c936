"""Read and change settings."""

from __future__ import annotations

from typing import cast

import msgspec

from svc_notebook.api import SearchApi
from svc_notebook.api.parameters import Settings, default_of
from svc_notebook.api.shapes import Updated
from svc_notebook.errors import BadInput
from svc_notebook.service.effects import merge_settings, stamp_now
from svc_notebook.service.engine import Index
from svc_notebook.service.handlers.registry import Call, serves

# What reading tells even where nobody set it (api-notes, section 2).
TOLD = (
    "minWordSizefor1Typo", "minWordSizefor2Typos", "hitsPerPage", "maxValuesPerFacet",
    "paginationLimitedTo", "exactOnSingleWordQuery", "ranking", "separatorsToIndex",
    "removeWordsIfNoResults", "queryType", "highlightPreTag", "highlightPostTag",
    "alternativesAsExact",
)  # fmt: skip
USER_DATA = 32 * 1024


@serves(SearchApi.get_settings)
def get_settings(call: Call, index: str, *, getVersion: int = 1) -> Settings:
    """Tell what was set, and the defaults that are always told."""
    told = {name: default_of(name) for name in TOLD}
    return cast("Settings", told | call.service.catalog.find(index).settings)


@serves(SearchApi.set_settings)
def set_settings(
    call: Call,
    index: str,
    settings: Settings,
    *,
    forwardToReplicas: bool = False,
    forwardToSlaves: bool = False,
) -> Updated:
    """Queue a change of settings; what could not be applied later is refused now."""
    shelf = call.service.catalog.get(index)
    Index(merge_settings(shelf.settings if shelf else {}, settings))
    if len(msgspec.json.encode(settings.get("userData"))) > USER_DATA:
        raise BadInput(f"`userData` is larger than {USER_DATA // 1024} kB")
    return {"taskID": call.service.accept(index, "settings", settings), "updatedAt": stamp_now()}

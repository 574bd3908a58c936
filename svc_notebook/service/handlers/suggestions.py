"""Handlers that configure query suggestions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from svc_notebook.core.api.families.suggestions import SuggestionsApi
from svc_notebook.core.api.shapes import Received
from svc_notebook.core.api.shapes.suggestions import (
    SuggestionConfig,
    SuggestionFields,
    SuggestionLog,
    SuggestionStatus,
)
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.service.analytics.suggestion_configs import complete_config, write_time
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.indices.published_index import check_index_name
from svc_notebook.service.service import RequestContext


@serves(SuggestionsApi.create_suggestions_config)
def create_suggestions_config(
    call: RequestContext, indexName: str, **fields: Unpack[SuggestionFields]
) -> Received:
    """Store a configuration; the index is built within a second."""
    call.service.suggestions.create(_complete(call, indexName, fields))
    return {"status": 200, "message": "Configuration was created, a new indexing job is scheduled"}


@serves(SuggestionsApi.list_suggestions_configs)
def list_suggestions_configs(call: RequestContext) -> list[SuggestionConfig]:
    """Return the configurations of indices that the key reaches."""
    configs = (stored.config for stored in call.service.suggestions.all())
    return [config for config in configs if call.caller.may("settings", config["indexName"])]


@serves(SuggestionsApi.get_suggestions_config)
def get_suggestions_config(call: RequestContext, index: str) -> SuggestionConfig:
    """Return a configuration."""
    return call.service.suggestions.find(index).config


@serves(SuggestionsApi.update_suggestions_config)
def update_suggestions_config(
    call: RequestContext, index: str, **fields: Unpack[SuggestionFields]
) -> Received:
    """Replace a configuration; the index is built again within a second."""
    call.service.suggestions.update(_complete(call, index, fields))
    return {"status": 200, "message": "Configuration was updated, a new indexing job is scheduled"}


@serves(SuggestionsApi.delete_suggestions_config)
def delete_suggestions_config(call: RequestContext, index: str) -> Received:
    """Delete a configuration."""
    call.service.suggestions.delete(index)
    return {"status": 200, "message": "Configuration was deleted"}


@serves(SuggestionsApi.get_suggestions_status)
def get_suggestions_status(call: RequestContext, index: str) -> SuggestionStatus:
    """Return the times of the last build."""
    stored = call.service.suggestions.find(index)
    running = (stored.started or 0) > (stored.ended or 0)
    status: SuggestionStatus = {"indexName": index, "isRunning": running}
    if stored.ended:
        status["lastBuiltAt"] = write_time(stored.ended)
    if stored.succeeded:
        status["lastSuccessfulBuiltAt"] = write_time(stored.succeeded)
        status["lastSuccessfulBuildDuration"] = f"{(stored.duration or 0) / 1000:.3f}s"
    return status


@serves(SuggestionsApi.get_suggestions_log)
def get_suggestions_log(call: RequestContext, index: str) -> SuggestionLog:
    """Return the outcome of the last build."""
    log = call.service.suggestions.find(index).log
    if log is None:
        raise NotFound(f"The query suggestions of {index} were not built yet", status=404)
    return log


def _complete(call: RequestContext, index: str, fields: Mapping[str, Any]) -> SuggestionConfig:
    """Return a configuration, if the key may change the index and those that it is built from."""
    config = complete_config(call.service.keyring.facts["appId"], index, fields)
    sources = config["sourceIndices"]
    names = {source["indexName"] for source in sources}
    names |= {name for source in sources for name in source["external"] or ()}
    for name in (index, *sorted(names)):
        check_index_name(name)
    if index in names:
        raise BadInput(f"`sourceIndices`: {index} is the index of the suggestions itself")
    call.caller.require("editSettings", [index, *sorted(names)])
    call.service.refuse_replica(index)
    return config

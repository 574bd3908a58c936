"""Normalize alternative forms of request bodies that other clients send to the service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_notebook.core.api.parameters import ALIASES, SearchParams
from svc_notebook.core.api.validation import (
    Text,
    hints,
    mark_list_text,
    read_params,
    read_text,
)
from svc_notebook.errors import BadInput

# Members of settings that are returned and that no request can change.
READ_ONLY_SETTINGS = ("primary", "version")


def read_operations(body: Any) -> Any:
    """Move the `objectID` beside the record of a batched operation into the record.

    The JavaScript client up to release 3 and the Python client of release 1 send it in both places.
    """
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list) or not any(map(_has_id_beside, requests)):
        return body
    moved = [_move_id(request, number) for number, request in enumerate(requests)]
    return {**body, "requests": moved}


def _has_id_beside(request: Any) -> bool:
    return isinstance(request, dict) and "objectID" in request


def _move_id(request: Any, number: int) -> Any:
    if not _has_id_beside(request):
        return request
    members = {name: value for name, value in request.items() if name != "objectID"}
    record = {"objectID": request["objectID"]} if members.get("body") is None else members["body"]
    if not isinstance(record, dict):
        return members
    named = record.setdefault("objectID", request["objectID"])
    if str(named) != str(request["objectID"]):
        at = f"requests[{number}]"
        raise BadInput(
            f"`{at}.objectID` is {request['objectID']!r}, `{at}.body.objectID` {named!r}"
        )
    return {**members, "body": record}


def read_object_requests(body: Any) -> Any:
    """Read the lists of attributes that older clients send as comma-separated text."""
    requests = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(requests, list):
        return body
    return {**body, "requests": [_list_attributes(request) for request in requests]}


def _list_attributes(request: Any) -> Any:
    text = request.get("attributesToRetrieve") if isinstance(request, dict) else None
    if not isinstance(text, str):
        return request
    names = read_text(text, list[str], "attributesToRetrieve")
    return {**request, "attributesToRetrieve": names}


def read_dictionary_requests(body: Any) -> Any:
    """Expand one request for several entries to a list of requests.

    The JavaScript client of release 4 clears a dictionary with one request for no entry.
    """
    request = body.get("requests") if isinstance(body, dict) else None
    if not isinstance(request, dict):
        return body
    entries = request.get("body")
    if not isinstance(entries, list):
        entries = [entries]
    return {**body, "requests": [{**request, "body": entry} for entry in entries]}


def read_synonym_types(body: Any) -> Any:
    """Join a list of types of synonyms, which older clients send, to comma-separated text."""
    types = body.get("type") if isinstance(body, dict) else None
    if not isinstance(types, list) or not all(isinstance(kind, str) for kind in types):
        return body
    return {**body, "type": ",".join(types)}


def read_requests(body: Any) -> Any:
    """Expand `params` of each search in a list; a bare list is accepted as `requests`."""
    if isinstance(body, list):
        body = {"requests": body}
    if not isinstance(body, dict) or not isinstance(body.get("requests"), list):
        return body
    return body | {"requests": [_typed(read_params(request)) for request in body["requests"]]}


def drop_advanced(members: Any) -> Any:
    """Drop the parameter `advanced`, which the JavaScript client up to release 3 may send."""
    if not isinstance(members, dict):
        return members
    return {name: value for name, value in members.items() if name != "advanced"}


def _typed(request: Any) -> Any:
    if not isinstance(request, dict):
        return request
    kinds = hints(SearchParams)
    members = mark_list_text(request, SearchParams)
    return {
        name: read_text(value, kinds[name], name)
        if isinstance(value, Text) and name in kinds
        else value
        for name, value in members.items()
    }


def read_aliases(settings: Any) -> Any:
    """Replace former names of settings with the current ones (api-notes, section 2).

    A setting under its current name takes precedence over the same one under its former name.
    Read-only members, which the hosted service returns with the settings, are ignored.
    """
    if not isinstance(settings, dict):
        return settings
    renamed = rename_settings(settings)
    return {name: value for name, value in renamed.items() if name not in READ_ONLY_SETTINGS}


def rename_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under their current names, whose values take precedence."""
    former = {ALIASES[name]: value for name, value in settings.items() if name in ALIASES}
    return former | {name: value for name, value in settings.items() if name not in ALIASES}

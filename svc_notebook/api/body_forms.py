"""Normalize alternative forms of request bodies that other clients send to the service."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl

from svc_notebook.api.parameters import ALIASES, SearchParams
from svc_notebook.api.validation import Text, hints, read_text
from svc_notebook.errors import BadInput


def read_params(body: Any) -> Any:
    """Expand `params`, search parameters as one URL-encoded string (api.md, Search).

    A member of the body takes precedence over the same member in `params`. Older clients send an
    object or null in `params`.
    """
    if not isinstance(body, dict) or "params" not in body:
        return body
    own = {name: value for name, value in body.items() if name != "params"}
    params = body["params"] or ""
    return (params if isinstance(params, dict) else read_query_text(params)) | own


def read_query_text(text: Any) -> dict[str, Any]:
    """Parse URL-encoded parameters; values remain text until their type is known."""
    if not isinstance(text, str):
        raise BadInput("`params` must be a URL-encoded string such as `query=lamp&page=1`")
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000)
    except ValueError as error:
        raise BadInput(f"`params` is not URL-encoded text: {error}") from None
    return {name: Text(value) for name, value in pairs}


def read_requests(body: Any) -> Any:
    """Expand `params` of each search in a list; a bare list is accepted as `requests`."""
    if isinstance(body, list):
        body = {"requests": body}
    if not isinstance(body, dict) or not isinstance(body.get("requests"), list):
        return body
    return body | {"requests": [_typed(read_params(request)) for request in body["requests"]]}


def _typed(request: Any) -> Any:
    if not isinstance(request, dict):
        return request
    kinds = hints(SearchParams)
    return {
        name: read_text(value, kinds[name], name)
        if isinstance(value, Text) and name in kinds
        else value
        for name, value in request.items()
    }


def read_aliases(settings: Any) -> Any:
    """Replace former names of settings with the current ones (api-notes, section 2).

    The member `primary` of a replica's settings is read-only; it is ignored when sent back.
    """
    if not isinstance(settings, dict):
        return settings
    return {ALIASES.get(name, name): value for name, value in settings.items() if name != "primary"}

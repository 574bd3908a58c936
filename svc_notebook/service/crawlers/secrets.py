"""Mask keys, logins, headers and proxies of crawler configurations for the logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from svc_notebook.service.logs import shorten

STARS = "****"


def hide_secrets(value: Any) -> Any:
    """Return JSON with the secrets masked at any depth."""
    if isinstance(value, Mapping):
        return {name: HIDDEN.get(name, hide_secrets)(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [hide_secrets(item) for item in value]
    return value


def hide_in_body(body: bytes) -> bytes:
    """Return a request body with the secrets masked; empty if it cannot be parsed."""
    try:
        return msgspec.json.encode(hide_secrets(msgspec.json.decode(body))) if body else b""
    except (msgspec.MsgspecError, RecursionError, ValueError):  # ValueError: not UTF-8
        return b""


def _hide_key(value: Any) -> str:
    return shorten(value) if isinstance(value, str) else STARS


def _hide(value: Any) -> str:
    return STARS


HIDDEN: Mapping[str, Callable[[Any], Any]] = {
    "apiKey": _hide_key,
    "headers": _hide,
    "login": _hide,
    "proxy": _hide,
}

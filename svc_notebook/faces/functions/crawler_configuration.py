"""Configurations of crawlers as callers give them and as responses show them: scripts, secrets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from svc_notebook.data.client import Secret
from svc_notebook.errors import BadInput
from svc_notebook.faces.functions.crawler_scripts import (
    read_script,
    read_script_source,
)
from svc_notebook.faces.functions.documents import take_documents

Config = Mapping[str, Any] | str | Path
# Members of a configuration, at any depth, whose texts are all secret.
SECRETS = ("apiKey", "headers", "login", "proxy")
# Members that contain JavaScript; plain text is accepted.
FUNCTIONS = ("recordExtractor", "linkExtractor")
START_ADDRESS = re.compile(r"https?://\S+")
DEFAULT_RATE_LIMIT = 8
# A record of each page.
DEFAULT_EXTRACTOR = "({ helpers }) => helpers.page()"


def config_of_address(name: str, address: str) -> dict[str, Any]:
    """Return the configuration of a crawler of all pages below an address."""
    below = address.partition("?")[0].partition("#")[0]
    below = below if below.endswith("/") else below.rpartition("/")[0] + "/"
    pages = f"{address}/**" if below.endswith("://") else f"{below}**"
    extractor = {"__type": "function", "source": DEFAULT_EXTRACTOR}
    action = {"indexName": name, "pathsToMatch": [pages], "recordExtractor": extractor}
    return {"rateLimit": DEFAULT_RATE_LIMIT, "startUrls": [address], "actions": [action]}


def read_config(given: Config) -> dict[str, Any]:
    """Return a configuration in the form of the API; raises `BadInput` unless it is one object."""
    if script := read_script_source(given):
        return read_script(*script)
    documents = take_documents(given, dict, "config")
    if len(documents) != 1:
        raise BadInput(f"a configuration must be one object, not {len(documents)}")
    return {name: _encode_member(name, _unmask(value)) for name, value in documents[0].items()}


def _encode_member(name: str, value: Any) -> Any:
    """Return a member in the form of the API: functions are tagged, a new key is text."""
    if name == "apiKey" and isinstance(value, Mapping) and "key" in value:
        return value["key"]
    if name in FUNCTIONS and isinstance(value, str):
        return {"__type": "function", "source": value}
    if name == "actions" and isinstance(value, list):
        return [_encode_action(item) for item in value]
    return value


def _encode_action(action: Any) -> Any:
    if not isinstance(action, Mapping):
        return action
    return {name: _encode_member(name, value) for name, value in action.items()}


def mask_config(value: Any, mask: str | None = None, *, secret: bool = False) -> Any:
    """Return JSON in which each secret text is a `Secret`, or the mask."""
    if isinstance(value, Mapping):
        return {
            n: mask_config(held, mask, secret=secret or n in SECRETS) for n, held in value.items()
        }
    if isinstance(value, list):
        return [mask_config(item, mask, secret=secret) for item in value]
    return (mask or Secret(value)) if secret and isinstance(value, str) else value


def _unmask(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _unmask(held) for name, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_unmask(item) for item in value]
    return value.reveal() if isinstance(value, Secret) else value

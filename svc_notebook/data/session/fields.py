"""The names of connection values, and the masking of those that are keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_notebook.data.client import Secret
from svc_notebook.data.client.request_options import TIMEOUTS
from svc_notebook.errors import BadInput

Values = Mapping[str, Any]

VARIABLES = {
    "url": "SVC_URL",
    "app_id": "SVC_APP_ID",
    "api_key": "SVC_API_KEY",
    "vendor": "SVC_VENDOR",
    "domain": "SVC_DOMAIN",
    "crawler_user_id": "SVC_CRAWLER_USER_ID",
    "crawler_api_key": "SVC_CRAWLER_API_KEY",
    "allow_http": "SVC_ALLOW_HTTP",
}
FIELDS = (*VARIABLES, "fallback_domain", "hosts", "region", *TIMEOUTS)
KEYS = ("api_key", "crawler_api_key")
# The address is one choice: a source that sets one of these sets all of them.
ADDRESS = ("url", "domain", "fallback_domain", "hosts")
# The values that determine who receives a key.
DESTINATION = (*ADDRESS, "app_id", "allow_http")
LOCAL = "local"


def address_of(values: Values) -> dict[str, Any]:
    """Return the values that are the address; empty if there is none."""
    return {name: values[name] for name in ADDRESS if name in values}


def destination_of(values: Values) -> dict[str, Any]:
    """Return the values that determine who receives a key."""
    return {name: values[name] for name in DESTINATION if name in values}


def merge_destinations(*sources: Values) -> dict[str, Any]:
    """Return the first address and the first application id of several sources."""
    address = next((address for source in sources if (address := address_of(source))), {})
    named = [source["app_id"] for source in sources if "app_id" in source]
    return {**address, "app_id": named[0]} if named else address


def present(values: Values) -> dict[str, Any]:
    """Return the values that are set, with masked keys."""
    return hide_keys({name: value for name, value in values.items() if value is not None})


def hide_keys(values: Values) -> dict[str, Any]:
    """Mask the keys among values as early as possible: tracebacks and reprs show plain values."""
    return {
        name: _hide_key(name, value) if name in KEYS else value for name, value in values.items()
    }


def _hide_key(name: str, value: Any) -> Secret:
    """Mask a key; raise `BadInput` for what is no text, without showing it."""
    if isinstance(value, str):
        return Secret(value)
    if isinstance(value, Secret):
        return value
    member = (
        f", its member `key` for instance: {name}=answer['key']"
        if isinstance(value, Mapping)
        else ""
    )
    raise BadInput(f"`{name}` must be text, not {type(value).__name__}: pass the key alone{member}")

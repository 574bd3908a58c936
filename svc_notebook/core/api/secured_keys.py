"""Create, parse and verify secured API keys, which embed restrictions signed by a parent key.

A key is base64(hex(HMAC-SHA256(parent, text)) + text), where text is the URL-encoded
restrictions (api.md, Secured API keys).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, NamedTuple, Unpack
from urllib.parse import quote

import msgspec

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.core.api.validation import check_value, read_query_text
from svc_notebook.core.api.values import Integer
from svc_notebook.errors import BadInput

SIGNATURE_HEX_DIGITS = 64


class Restrictions(SearchParams, total=False):
    """The parameters that a secured key embeds: any search parameter, and limits of the key."""

    validUntil: Integer
    restrictIndices: list[str] | str
    restrictSources: str
    referers: list[str]


class SecuredKey(NamedTuple):
    """A parsed secured key; its signature is not verified yet."""

    signature: str
    text: str

    def signed_by(self, parent: str) -> bool:
        """Verify the signature over the original text, whose order and encoding vary by client."""
        return hmac.compare_digest(self.signature, sign(parent, self.text))

    def restrictions(self) -> dict[str, Any]:
        """Return the embedded parameters; their values are still text."""
        return read_query_text(self.text)


def make_secured_key(parent: str, **restrictions: Unpack[Restrictions]) -> str:
    """Create a secured key with the rights of `parent`, limited by `restrictions`; runs offline.

    The parent must not be the admin key or a secured key; only the service can verify that.
    """
    if not parent:
        raise BadInput("a secured key needs a parent key with the right `search`")
    check_value(restrictions, Restrictions, "")
    text = write_restrictions(restrictions)
    return base64.b64encode((sign(parent, text) + text).encode()).decode()


def write_restrictions(restrictions: Mapping[str, Any]) -> str:
    """URL-encode restrictions, sorted by name, flat lists comma-joined (api-notes, section 11)."""
    return "&".join(
        f"{quote(name, safe='')}={quote(_text(value), safe='')}"
        for name, value in sorted(restrictions.items())
        if value is not None
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict) or (isinstance(value, list) and any(map(_is_nested, value))):
        return msgspec.json.encode(value).decode()
    if isinstance(value, list):
        return ",".join(_text(item) for item in value)
    return str(value)


def _is_nested(item: Any) -> bool:
    return isinstance(item, (dict, list))


def sign(parent: str, text: str) -> str:
    """Return the signature: 64 lower-case hexadecimal digits."""
    return hmac.new(parent.encode(), text.encode(), hashlib.sha256).hexdigest()


def read_secured_key(key: str) -> SecuredKey | None:
    """Parse a secured key; return None for any other key."""
    try:
        decoded = base64.b64decode(key, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    signature, text = decoded[:SIGNATURE_HEX_DIGITS], decoded[SIGNATURE_HEX_DIGITS:]
    if len(signature) < SIGNATURE_HEX_DIGITS or set(signature) - set("0123456789abcdef"):
        return None
    return SecuredKey(signature, text)

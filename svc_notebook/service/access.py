"""Decide who calls, and whether the key may do what is asked."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from svc_notebook.api import Endpoint
from svc_notebook.errors import KeyRefused
from svc_notebook.service.keyring import Key, Keyring


@dataclass(frozen=True)
class Caller:
    """Whoever holds a valid key, and from where."""

    keys: tuple[Key, ...]
    admin: bool
    address: str = ""

    def require(self, right: str, indices: Iterable[str]) -> None:
        """Raise `KeyRefused` unless a key has the right on each index."""
        if self.admin:
            return
        if right == "admin":
            raise KeyRefused("this needs the admin key", status=403)
        able = [key for key in self.keys if right in key.fields.get("acl", ())]
        if not able:
            raise KeyRefused(f"this key lacks the right `{right}`", status=403)
        for index in indices:
            if not any(reaches(key, index) for key in able):
                raise KeyRefused(f"this key does not reach the index {index}", status=403)

    def may(self, right: str) -> bool:
        """Whether any of the keys has the right."""
        return self.admin or any(right in key.fields.get("acl", ()) for key in self.keys)


class Access:
    """The door: credentials in headers, or in the query string, become a caller."""

    def __init__(self, keyring: Keyring, vendor: str = "Service") -> None:
        self._keyring = keyring
        self.prefix = f"x-{vendor.lower()}-"

    def admit(
        self, row: Endpoint, headers: Mapping[str, str], query: Mapping[str, str], address: str
    ) -> Caller:
        """Return the caller; raises `KeyRefused` for a wrong key."""
        if row.interface == "crawler":
            return self._admit_crawler(headers, address)
        in_url = {name.lower(): value for name, value in query.items()}
        app, key = (
            headers.get(self.prefix + name) or in_url.get(self.prefix + name) or ""
            for name in ("application-id", "api-key")
        )
        facts = self._keyring.facts
        if same(app, facts["appId"]):
            if same(key, facts["adminKey"]):
                return Caller((), True, address)
            if keys := self._keyring.find(key):
                return Caller(tuple(keys), False, address)
        status = 401 if row.interface == "events" else 403
        raise KeyRefused("Invalid Application-ID or API key", status=status)

    def _admit_crawler(self, headers: Mapping[str, str], address: str) -> Caller:
        facts = self._keyring.facts
        wanted = f"{facts['crawlerUserId']}:{facts['crawlerApiKey']}"
        scheme, _, word = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic" or not same(decode_basic(word), wanted):
            raise KeyRefused("Invalid crawler user id or crawler API key", status=401)
        return Caller((), True, address)


def decode_basic(word: str) -> str:
    """Read the user and password of basic authentication, nothing where it is malformed."""
    try:
        return base64.b64decode(word, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def same(one: str, other: str) -> bool:
    """Compare in a time that does not tell how much is right."""
    return hmac.compare_digest(one.encode(errors="replace"), other.encode())


def reaches(key: Key, index: str) -> bool:
    """Whether a key is for this index: its own, or one that its patterns match."""
    if key.index:
        return key.index == index
    patterns = key.fields.get("indexes", ())
    return not patterns or any(matches(index, pattern) for pattern in patterns)


def matches(name: str, pattern: str) -> bool:
    """Match a name with a pattern that may begin and end with `*`; inside it is a plain letter."""
    head, tail = pattern.startswith("*"), pattern.endswith("*")
    core = pattern[head : len(pattern) - tail]
    return _FORMS[head, tail](name, core)


_FORMS: dict[tuple[bool, bool], Callable[[str, str], bool]] = {
    (False, False): str.__eq__,
    (False, True): str.startswith,
    (True, False): str.endswith,
    (True, True): str.__contains__,
}

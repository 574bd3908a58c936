"""Decide who calls, and whether the key may do what is asked."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from svc_notebook.api import Endpoint
from svc_notebook.api.secured import read_secured_key
from svc_notebook.errors import KeyRefused
from svc_notebook.service.keyring import Key, Keyring
from svc_notebook.service.meter import Meter
from svc_notebook.service.restrictions import Restriction, read_restriction
from svc_notebook.service.sources import Sources

# What wrong credentials of a crawler are answered with, where it is not 401 (api.md, Crawler API).
FORBIDDEN = {"list_domains": 403}
# Secured keys whose parent need not be looked for again.
REMEMBERED = 10_000
INVALID = "Invalid Application-ID or API key"


@dataclass(frozen=True)
class Caller:
    """Whoever holds a valid key, and from where; `secured` is what its own key embeds."""

    keys: tuple[Key, ...]
    admin: bool = False
    address: str = ""
    secured: Restriction | None = None

    @property
    def name(self) -> str:
        """What stands for all calls with one key, secured keys made of it included."""
        return self.keys[0].value if self.keys else ""

    def require(self, right: str, indices: Iterable[str] = ()) -> None:
        """Raise `KeyRefused` unless a key has the right on each index."""
        if self.admin:
            return
        if right == "admin":
            raise KeyRefused("this needs the admin key", status=403)
        able = [key for key in self.keys if right in key.fields.get("acl", ())]
        if not able:
            raise KeyRefused(f"this key lacks the right `{right}`", status=403)
        for index in indices:
            if not any(key.reaches(index) for key in able) or not self._secured_reaches(index):
                raise KeyRefused(f"this key does not reach the index {index}", status=403)

    def _secured_reaches(self, index: str) -> bool:
        return self.secured is None or self.secured.reaches(index)

    def may(self, right: str) -> bool:
        """Whether any of the keys has the right."""
        return self.admin or any(right in key.fields.get("acl", ()) for key in self.keys)

    def sees(self, index: str) -> bool:
        """Whether an index is among those the caller's keys are for."""
        reached = any(key.reaches(index) for key in self.keys) and self._secured_reaches(index)
        return self.admin or reached

    def bind(self, params: Mapping[str, Any], index: str) -> dict[str, Any]:
        """A query's parameters, with what the caller's keys force on it."""
        bound = dict(params)
        for restriction in self._restrictions(index):
            bound = restriction.force(bound)
        return bound

    def _restrictions(self, index: str) -> Iterable[Restriction]:
        for key in self.keys:
            if key.reaches(index) and key.fields.get("queryParameters"):
                yield read_restriction(key.fields["queryParameters"])
        if self.secured:
            yield self.secured

    def most_hits(self, index: str) -> int | None:
        """How many hits one query on the index may bring, if there is a limit."""
        caps = [key.fields.get("maxHitsPerQuery") for key in self.keys if key.reaches(index)]
        return min((cap for cap in caps if cap), default=None)


class Access:
    """The door: credentials in headers, or in the query string, become a caller."""

    def __init__(self, keyring: Keyring, sources: Sources, vendor: str = "Service") -> None:
        self._keyring = keyring
        self._sources = sources
        self._meter = Meter()
        self._parents: dict[str, str] = {}
        self.prefix = f"x-{vendor.lower()}-"

    def admit(
        self, row: Endpoint, headers: Mapping[str, str], query: Mapping[str, str], address: str
    ) -> Caller:
        """Return the caller; raises `KeyRefused` for a wrong key or a wrong place."""
        self._sources.admit(address)
        if row.interface == "crawler":
            return self._admit_crawler(row.name, headers, address)
        in_url = {name.lower(): value for name, value in query.items()}
        app, key = (
            headers.get(self.prefix + name) or in_url.get(self.prefix + name) or ""
            for name in ("application-id", "api-key")
        )
        caller = self._holder(key, address) if same(app, self._keyring.facts["appId"]) else None
        if caller and caller.admin:
            caller = self._on_behalf(headers, address)
        if caller is None:
            message = "Invalid credentials" if row.interface == "events" else INVALID
            raise KeyRefused(message, status=403)
        _admit_place(caller, headers)
        return caller

    def count(self, caller: Caller, token: str | None, queries: int) -> None:
        """Count queries against the limits of the caller's keys; raises `Refused` beyond."""
        embedded = caller.secured.params.get("userToken") if caller.secured else None
        for key in caller.keys:
            if most := key.fields.get("maxQueriesPerIPPerHour"):
                self._meter.count(key.value, embedded or token or caller.address, most, queries)

    def _holder(self, value: str, address: str) -> Caller | None:
        if same(value, self._keyring.facts["adminKey"]):
            return Caller((), True, address)
        if keys := self._keyring.find(value):
            return Caller(tuple(keys), address=address)
        return self._holder_of_secured(value, address)

    def _holder_of_secured(self, value: str, address: str) -> Caller | None:
        secured = read_secured_key(value)
        if secured is None:
            return None
        keys = self._keyring.find(self._parents.get(value, ""))
        if not keys:
            keys = [key for key in self._keyring.valid() if secured.signed_by(key.value)]
        if not keys:
            return None
        if len(self._parents) > REMEMBERED:
            self._parents.clear()
        self._parents[value] = keys[0].value
        return Caller(tuple(keys), address=address, secured=_embedded(secured.text))

    def _on_behalf(self, headers: Mapping[str, str], address: str) -> Caller | None:
        """Let a server with the admin key speak for one of its own callers."""
        address = headers.get("x-forwarded-for", address).split(",")[0].strip()
        if key := headers.get("x-forwarded-api-key"):
            return self._holder(key, address)
        return Caller((), True, address)

    def _admit_crawler(self, name: str, headers: Mapping[str, str], address: str) -> Caller:
        facts = self._keyring.facts
        wanted = f"{facts['crawlerUserId']}:{facts['crawlerApiKey']}"
        scheme, _, word = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic" or not same(decode_basic(word), wanted):
            status = FORBIDDEN.get(name, 401) if word else 401
            raise KeyRefused("Invalid crawler user id or crawler API key", status=status)
        return Caller((), True, address)


def _admit_place(caller: Caller, headers: Mapping[str, str]) -> None:
    """Check the page and the address a call comes from."""
    page = headers.get("referer") or headers.get("origin") or ""
    for key in caller.keys:
        Restriction(referers=tuple(key.fields.get("referers", ()))).admit(caller.address, page)
        if key.fields.get("queryParameters"):
            read_restriction(key.fields["queryParameters"]).admit(caller.address, page)
    if caller.secured:
        caller.secured.admit(caller.address, page)


@lru_cache(1000)
def _embedded(text: str) -> Restriction:
    return read_restriction(text)


def decode_basic(word: str) -> str:
    """Read the user and password of basic authentication, nothing where it is malformed."""
    try:
        return base64.b64decode(word, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def same(one: str, other: str) -> bool:
    """Compare in a time that does not tell how much is right."""
    return hmac.compare_digest(one.encode(errors="replace"), other.encode())

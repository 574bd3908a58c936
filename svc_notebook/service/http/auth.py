"""Authenticate callers; check the access rights and restrictions of their keys."""

from __future__ import annotations

import base64
import binascii
import hmac
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import Any

from svc_notebook.core.api import Endpoint
from svc_notebook.core.api.parameters import default_of
from svc_notebook.core.api.secured_keys import Restrictions, read_secured_key
from svc_notebook.core.api.shapes import Source
from svc_notebook.core.api.validation import check_members, read_query_text
from svc_notebook.errors import BadInput, KeyRefused, NotFound
from svc_notebook.service.engine.filters.filters import parse_filters, render
from svc_notebook.service.engine.query.options import EXTENDED_PARAMETERS, add_implied
from svc_notebook.service.http.messages import Accounts
from svc_notebook.service.http.rate_limit import HourlyQueryLimit
from svc_notebook.service.keyring import Keyring, StoredKey, matches
from svc_notebook.service.rules.filters import FILTERS
from svc_notebook.service.store import Store

# Statuses for wrong crawler credentials, where not 401 (api.md, Crawler API).
CREDENTIAL_STATUSES = {"list_domains": 403}
# Maximum number of secured keys whose parent is cached.
MAX_CACHED_SECURED_KEYS = 10_000
INVALID_CREDENTIALS = "Invalid Application-ID or API key"
# The messages of interfaces that have another one.
CREDENTIAL_MESSAGES = {"events": "Invalid credentials"}

GEO_PARAMETERS = ("aroundLatLng", "aroundLatLngViaIP", "insideBoundingBox", "insidePolygon")
# Parameters of a query that an embedded parameter removes, because they could bypass it.
REMOVED_BY = {
    **dict.fromkeys(GEO_PARAMETERS, GEO_PARAMETERS),
    "query": ("similarQuery",),
    "similarQuery": ("query",),
    "page": ("offset", "length"),
}
DEFAULT_HITS_PER_PAGE = default_of("hitsPerPage")
SEE_ALL_ATTRIBUTES = "seeUnretrievableAttributes"
# Special values (api.md, Allowed source): all addresses, and a support team that never calls here.
ALL_ADDRESSES = "0.0.0.0/0"
SUPPORT_TEAM = "SERVICE_SUPPORT"
MAX_SOURCES = 1000
KEY_LIMITS = ("validUntil", "restrictIndices", "restrictSources", "referers")


@dataclass(frozen=True)
class Caller:
    """The holder of a valid key and its address; `secured` is the restriction of a secured key.

    `accounts` identify the caller for memory limits: the key, then the secured key derived from it.
    """

    keys: tuple[StoredKey, ...]
    admin: bool = False
    address: str = ""
    secured: Restriction | None = None
    accounts: Accounts = ()
    secured_text: str | None = None  # what `secured` was read from

    @property
    def name(self) -> str:
        """The identity shared by all calls with one key, including secured keys derived from it."""
        return self.keys[0].value if self.keys else ""

    def require(self, right: str, indices: Iterable[str] = ()) -> None:
        """Raise `KeyRefused` unless a key has the right on each index."""
        if right == "admin" and not self.admin:
            raise KeyRefused("this request needs the admin key", status=403)
        self.require_any({right}, indices)

    def require_any(self, rights: Set[str], indices: Iterable[str] = ()) -> None:
        """Raise `KeyRefused` unless a key has at least one of the rights on each index."""
        if self.admin:
            return
        able = [key for key in self.keys if not rights.isdisjoint(key.fields.get("acl", ()))]
        if not able:
            words = " or ".join(f"`{right}`" for right in sorted(rights))
            raise KeyRefused(f"this key lacks the right {words}", status=403)
        for index in indices:
            if not any(self._reaches(key, index) for key in able):
                raise KeyRefused(f"this key does not reach the index {index}", status=403)

    def may(self, right: str, index: str) -> bool:
        """Return whether a key has the right on an index; `""` means no particular index."""
        return self.admin or any(
            right in key.fields.get("acl", ()) and self._reaches(key, index) for key in self.keys
        )

    def hidden_attributes(self, index: str, settings: Mapping[str, Any]) -> list[str]:
        """Return the attributes that an index with these settings hides from the caller."""
        if self.may(SEE_ALL_ATTRIBUTES, index):
            return []
        return list(settings.get("unretrievableAttributes", ()))

    def _reaches(self, key: StoredKey, index: str) -> bool:
        """Return whether a key is valid for an index, by its own fields and its restrictions."""
        return key.reaches(index) and all(
            restriction.reaches(index) for restriction in self._embedded_in(key)
        )

    def _embedded_in(self, key: StoredKey) -> Iterator[Restriction]:
        """Yield the restrictions of a key: those of the secured key first, the key's own last."""
        if self.secured:
            yield self.secured
        if key.fields.get("queryParameters"):
            yield read_embedded(key.fields["queryParameters"])

    def restrictions(self, index: str) -> list[Restriction]:
        """Return the restrictions on queries of an index; of two that conflict, the last counts.

        A secured key is at most as wide as the key it is derived from.
        """
        keys = [key for key in self.keys if self._reaches(key, index)]
        return list(
            dict.fromkeys(restriction for key in keys for restriction in self._embedded_in(key))
        )

    def restrict(self, params: Mapping[str, Any], index: str) -> dict[str, Any]:
        """Return a query's parameters after the restrictions of the caller's keys."""
        bound = dict(params)
        for restriction in self.restrictions(index):
            bound = restriction.apply(bound)
        return bound

    def retrievable_lists(self, index: str) -> list[list[str]]:
        """Return the embedded lists of attributes; a caller sees what all of them name."""
        lists = [
            restriction.params.get("attributesToRetrieve")
            for restriction in self.restrictions(index)
        ]
        return [names for names in lists if names is not None]

    def embedded_user_token(self, key: StoredKey) -> str | None:
        """Return the user token embedded in a key, or None."""
        tokens = [restriction.params.get("userToken") for restriction in self._embedded_in(key)]
        return next((token for token in reversed(tokens) if token), None)

    def max_hits(self, index: str) -> int | None:
        """Return the maximum number of hits of one query on the index, or None."""
        caps = [
            key.fields.get("maxHitsPerQuery") or None
            for key in self.keys
            if self._reaches(key, index)
        ]
        caps += [restriction.max_hits for restriction in self.restrictions(index)]
        return min((cap for cap in caps if cap is not None), default=None)


class Authenticator:
    """Authentication: converts credentials in headers or in the query string to a caller."""

    def __init__(self, keyring: Keyring, sources: Sources, vendor: str = "Service") -> None:
        self._keyring = keyring
        self._sources = sources
        self._query_limit = HourlyQueryLimit()
        self._parents: dict[str, str] = {}
        self.prefix = f"x-{vendor.lower()}-"

    def authenticate(
        self, endpoint: Endpoint, headers: Mapping[str, str], query: Mapping[str, str], address: str
    ) -> Caller:
        """Return the caller; raises `KeyRefused` for an invalid key, address or referer."""
        self._sources.check(address)
        if endpoint.interface == "crawler":
            return self._authenticate_crawler(endpoint.name, headers, address)
        in_url = {name.lower(): value for name, value in query.items()}
        app, key = (
            headers.get(self.prefix + name) or in_url.get(self.prefix + name) or ""
            for name in ("application-id", "api-key")
        )
        caller = (
            self._find_caller(key, headers, address)
            if equal_in_constant_time(app, self._keyring.facts["appId"])
            else None
        )
        if caller is None:
            message = CREDENTIAL_MESSAGES.get(endpoint.interface, INVALID_CREDENTIALS)
            raise KeyRefused(message, status=403)
        _check_origin(caller, headers)
        return caller

    def count_queries(self, caller: Caller, token: str | None, queries: int) -> None:
        """Count queries against the rate limits of the caller's keys; raises `Refused`."""
        for key in caller.keys:
            if most := key.fields.get("maxQueriesPerIPPerHour"):
                who = caller.embedded_user_token(key) or token or caller.address
                self._query_limit.count(key.value, who, most, queries)

    def _find_caller(self, value: str, headers: Mapping[str, str], address: str) -> Caller | None:
        """Return the caller with a key, or the one for whom a server with the admin key calls."""
        if equal_in_constant_time(value, self._keyring.facts["adminKey"]):
            address = headers.get("x-forwarded-for", "").split(",")[0].strip() or address
            forwarded = headers.get("x-forwarded-api-key")
            return (
                self._find_caller(forwarded, {}, address) if forwarded else _administrator(address)
            )
        if keys := self._keyring.find(value):
            return Caller(tuple(keys), address=address, accounts=((value, address),))
        return self._find_secured_caller(value, address)

    def _find_secured_caller(self, value: str, address: str) -> Caller | None:
        secured = read_secured_key(value)
        if secured is None:
            return None
        keys = self._keyring.find(self._parents.get(value, ""))
        if not keys:
            keys = [key for key in self._keyring.valid() if secured.signed_by(key.value)]
        if not keys:
            return None
        if len(self._parents) > MAX_CACHED_SECURED_KEYS:
            self._parents.clear()
        self._parents[value] = keys[0].value
        accounts = (keys[0].value, address), (value, address)
        return Caller(
            tuple(keys),
            address=address,
            secured=read_embedded(secured.text),
            accounts=accounts,
            secured_text=secured.text,
        )

    def _authenticate_crawler(self, name: str, headers: Mapping[str, str], address: str) -> Caller:
        facts = self._keyring.facts
        expected = f"{facts['crawlerUserId']}:{facts['crawlerApiKey']}"
        scheme, _, word = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic" or not equal_in_constant_time(decode_basic(word), expected):
            status = CREDENTIAL_STATUSES.get(name, 401) if word else 401
            raise KeyRefused("Invalid crawler user id or crawler API key", status=status)
        return _administrator(address)


def _administrator(address: str) -> Caller:
    return Caller((), True, address, accounts=(("", address),))


def _check_origin(caller: Caller, headers: Mapping[str, str]) -> None:
    """Check the referer and the address of a call."""
    page = headers.get("referer") or headers.get("origin") or ""
    for key in caller.keys:
        Restriction(referers=tuple(key.fields.get("referers", ()))).check_caller(
            caller.address, page
        )
        if key.fields.get("queryParameters"):
            read_embedded(key.fields["queryParameters"]).check_caller(caller.address, page)
    if caller.secured:
        caller.secured.check_caller(caller.address, page)


@lru_cache(1000)
def read_embedded(text: str) -> Restriction:
    """Return the restrictions embedded in a key; the same object for the same text."""
    return read_restriction(text)


def decode_basic(word: str) -> str:
    """Decode user and password of basic authentication; empty if malformed."""
    try:
        return base64.b64decode(word, validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def equal_in_constant_time(text: str, other: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(text.encode(errors="replace"), other.encode())


@dataclass(frozen=True, eq=False)
class Restriction:
    """The restrictions embedded in one key."""

    params: Mapping[str, Any] = field(default_factory=dict)
    indices: tuple[str, ...] = ()
    sources: str = ""
    referers: tuple[str, ...] = ()
    valid_until: float = float("inf")

    def check_caller(self, address: str, page: str) -> None:
        """Raise `KeyRefused` for an expired key, or a wrong address or referer."""
        if time.time() > self.valid_until:
            raise KeyRefused("this key has expired", status=403)
        if self.sources and not is_in_networks(address, self.sources):
            raise KeyRefused(f"this key is not valid for the address {address}", status=403)
        if self.referers and not any(matches(page, pattern) for pattern in self.referers):
            raise KeyRefused(
                f"this key is not valid for the referer {page or '(none)'}", status=403
            )

    def reaches(self, index: str) -> bool:
        """Return whether the key is valid for this index."""
        return not self.indices or any(matches(index, pattern) for pattern in self.indices)

    @property
    def _with_implied(self) -> Mapping[str, Any]:
        """The parameters with those that embedded `naturalLanguages` implies, unless additive."""
        read = add_implied(self.params)
        return {
            name: v
            for name, v in read.items()
            if name in self.params or name not in EXTENDED_PARAMETERS
        }

    @property
    def max_hits(self) -> int | None:
        """The maximum number of hits of one response, or None."""
        sizes = (self.params.get(name) for name in ("hitsPerPage", "length"))
        return min((size for size in sizes if size is not None), default=None)

    def apply(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters of a query after this restriction.

        Filters of the key and of the query are combined by AND; other parameters of the key replace
        those of the query.
        """
        members = {name: value for name, value in self._with_implied.items() if name not in FILTERS}
        # One geo parameter may override another; the same applies to queries and pages.
        removed = {
            name
            for replacing, others in REMOVED_BY.items()
            if replacing in members
            for name in others
        }
        params = {name: value for name, value in params.items() if name not in removed}
        # An offset without a length has no effect.
        if "offset" in members and "length" not in members:
            params = {"length": params.get("hitsPerPage", DEFAULT_HITS_PER_PAGE), **params}
        embedded = render(parse_filters(self.params))
        both = " AND ".join(text for text in (embedded, params.get("filters")) if text)
        return {**params, **members, **({"filters": both} if both else {})}


def read_restriction(text: str) -> Restriction:
    """Parse embedded parameters; raises `KeyRefused` if they are invalid."""
    try:
        given = check_members(read_query_text(text), Restrictions, "")
        indices = given.get("restrictIndices", [])
        return Restriction(
            params={name: value for name, value in given.items() if name not in KEY_LIMITS},
            indices=tuple(indices.split(",") if isinstance(indices, str) else indices),
            sources=given.get("restrictSources", ""),
            referers=tuple(given.get("referers", ())),
            valid_until=given.get("validUntil", float("inf")),
        )
    except BadInput as error:
        raise KeyRefused(f"this key embeds invalid restrictions: {error}", status=403) from error


class Sources:
    """The allowlist; an empty list allows all callers."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._networks = self._read_networks()

    def _read_networks(self) -> list[str]:
        return [source["source"] for source in self.all()]

    def all(self) -> list[Source]:
        """Return the list."""
        rows = self._store.read("SELECT source, description FROM sources ORDER BY source")
        return [
            {"source": name, "description": text} if text is not None else {"source": name}
            for name, text in rows
        ]

    def check(self, address: str) -> None:
        """Raise `KeyRefused` for an address that is not on the allowlist."""
        if self._networks and ALL_ADDRESSES not in self._networks:
            networks = ",".join(name for name in self._networks if name != SUPPORT_TEAM)
            if not is_in_networks(address, networks):
                raise KeyRefused(f"{address} is not an allowed source", status=403)

    def replace(self, sources: Sequence[Source]) -> None:
        """Replace the list."""
        self._write(sources, clear=True)

    def append(self, source: Source) -> None:
        """Add a network, or change its description."""
        if len(self._networks) >= MAX_SOURCES:
            raise BadInput(f"at most {MAX_SOURCES} sources are allowed")
        self._write([source], clear=False)

    def delete(self, source: str) -> None:
        """Remove a network; raises `NotFound`."""
        if source not in self._networks:
            raise NotFound(f"{source} is not on the allowlist", status=404)
        with self._store.writing() as connection:
            connection.execute("DELETE FROM sources WHERE source = ?", [source])
        self._networks = self._read_networks()

    def reset(self) -> None:
        """Clear the list, which allows all callers."""
        self.replace([])

    def _write(self, sources: Iterable[Source], *, clear: bool) -> None:
        rows = [(check_source(s["source"]), s.get("description")) for s in sources]
        with self._store.writing() as connection:
            if clear:
                connection.execute("DELETE FROM sources")
            connection.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?)", rows)
        self._networks = self._read_networks()


def check_source(source: str) -> str:
    """Return a network in prefix notation; raises `BadInput`."""
    try:
        if source != SUPPORT_TEAM:
            ip_network(source, strict=False)
    except ValueError as error:
        raise BadInput(f"`source`: {error}; write a network such as 10.0.0.0/8") from None
    return source


def is_in_networks(address: str, network: str) -> bool:
    """Return whether an address is in a list of networks such as `10.0.0.0/8,192.168.1.7`."""
    try:
        caller_address = ip_address(address)
        networks = [ip_network(part.strip(), strict=False) for part in network.split(",")]
    except ValueError:
        return False
    return any(caller_address in net for net in networks if net.version == caller_address.version)

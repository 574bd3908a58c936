"""The API keys of the application and of its indices, and the allowlist of networks."""

from __future__ import annotations

import math
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import Any, get_args

import msgspec

from svc_notebook.core.api.endpoint import Right
from svc_notebook.core.api.secured_keys import Restrictions
from svc_notebook.core.api.shapes import Source
from svc_notebook.core.api.shapes.administration import REDACTED
from svc_notebook.core.api.validation import check_members, read_query_text
from svc_notebook.errors import BadInput, KeyRefused, NotFound, did_you_mean
from svc_notebook.service.store import Store

# Facts generated at the first start and stored for later starts.
FACTS: dict[str, Callable[[], str]] = {
    "appId": lambda: "LOCAL" + secrets.token_hex(3).upper(),
    "adminKey": lambda: secrets.token_hex(16),
    "searchKey": lambda: secrets.token_hex(16),
    "crawlerUserId": lambda: "crawler-" + secrets.token_hex(4),
    "crawlerApiKey": lambda: secrets.token_hex(16),
}
# Rights for the vendor's own products, which other clients set; they have no effect here.
IGNORED_RIGHTS = {
    "inference", "personalization", "usage", "nluReadProject", "nluWriteProject", "nluReadEntity",
    "nluWriteEntity", "nluReadIntent", "nluWriteIntent", "nluReadAnswers", "nluPrediction",
}  # fmt: skip
RIGHTS = {*get_args(Right), *IGNORED_RIGHTS}
# Rights that a key of a single index cannot have (api.md, API key).
GLOBAL_RIGHTS = {"recommendation"}
_VALID = "deleted IS NULL AND (ends IS NULL OR ends > ?)"

# Special values (api.md, Allowed source): all addresses, and a support team that never calls here.
ALL_ADDRESSES = "0.0.0.0/0"
SUPPORT_TEAM = "SERVICE_SUPPORT"
MAX_SOURCES = 1000


@dataclass(frozen=True)
class StoredKey:
    """One key and its fields; `index` is set if the key belongs to a single index."""

    value: str
    fields: Mapping[str, Any]
    created: int
    index: str = ""
    ends: float | None = None

    def reaches(self, index: str) -> bool:
        """Return whether the key is valid for this index."""
        if self.index:
            return self.index == index
        patterns = self.fields.get("indexes", ())
        return not patterns or any(matches(index, pattern) for pattern in patterns)

    def to_api(self, *, hide_description: bool = False) -> dict[str, Any]:
        """Return the key as it is listed; its validity is the remaining time in seconds."""
        members = {"acl": [], **self.fields, "validity": self._seconds_left()}
        if hide_description and members.get("description"):
            members["description"] = REDACTED
        return {"value": self.value, "createdAt": self.created, **members}

    def _seconds_left(self) -> int:
        # A key that expired after it was read must not be returned as unlimited (0).
        return max(1, math.ceil(self.ends - time.time())) if self.ends else 0


class Keyring:
    """All keys in the store; a change is on disk before it is acknowledged."""

    def __init__(self, store: Store, given: Mapping[str, str | None] | None = None) -> None:
        self._store = store
        self.facts = self._store_facts({k: v for k, v in (given or {}).items() if v})

    def _store_facts(self, given: Mapping[str, str]) -> dict[str, str]:
        kept = dict(self._store.read("SELECT name, value FROM facts"))
        made = {name: make() for name, make in FACTS.items() if name not in kept}
        facts = {**made, **kept, **given}
        with self._store.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
            if "searchKey" in made:
                fields = {"acl": ["search"], "description": "Search, made at the first start"}
                _insert(connection, facts["searchKey"], "", fields)
        return facts

    def find(self, value: str) -> list[StoredKey]:
        """Return the valid keys with this value: one of the application, or some of indices."""
        return self._select("value = ?", value)

    def all(self, index: str = "") -> list[StoredKey]:
        """Return the valid keys of the application or of one index."""
        return self._select("index_name = ?", index)

    def admin(self) -> StoredKey:
        """Return the admin key with all rights; it is not listed."""
        [[created]] = self._store.read("SELECT min(created) FROM keys")
        return StoredKey(self.facts["adminKey"], {"acl": list(get_args(Right))}, created or 0)

    def valid(self) -> list[StoredKey]:
        """Return all valid keys."""
        return self._select("TRUE")

    def all_of_indices(self) -> list[StoredKey]:
        """Return the valid keys of all single indices."""
        return self._select("index_name <> ''")

    def _select(self, condition: str, *values: str) -> list[StoredKey]:
        rows = self._store.read(
            f"SELECT value, fields, created, index_name, ends FROM keys WHERE {condition} "
            f"AND {_VALID} ORDER BY created, value",
            *values,
            time.time(),
        )
        return [StoredKey(v, msgspec.json.decode(f), *facts) for v, f, *facts in rows]

    def get(self, value: str, index: str = "") -> StoredKey:
        """Return one valid key; raises `NotFound`."""
        for key in self.find(value):
            if key.index == index:
                return key
        raise NotFound("Key does not exist", status=404)

    def add(self, fields: Mapping[str, Any], index: str = "") -> str:
        """Create a key; return its value."""
        checked = check_fields(fields, index)
        value = secrets.token_hex(16)
        with self._store.writing() as connection:
            _insert(connection, value, index, checked)
        return value

    def update(self, value: str, fields: Mapping[str, Any], index: str = "") -> None:
        """Replace the fields of a key; omitted fields are reset to their defaults."""
        checked = check_fields(fields, index)
        with self._store.writing() as connection:
            connection.execute(
                "UPDATE keys SET fields = ?, ends = ? WHERE value = ? AND index_name = ?",
                (msgspec.json.encode(checked), _end(checked), value, index),
            )

    def delete(self, value: str, index: str = "") -> None:
        """Mark a key as deleted; it can be restored."""
        with self._store.writing() as connection:
            connection.execute(
                "UPDATE keys SET deleted = ? WHERE value = ? AND index_name = ?",
                (int(time.time()), value, index),
            )

    def restore(self, value: str) -> None:
        """Restore a deleted or expired key, without an expiry; raises `NotFound`."""
        rows = self._store.read(
            f"SELECT fields FROM keys WHERE value = ? AND index_name = '' AND NOT ({_VALID})",
            value,
            time.time(),
        )
        if not rows:
            raise NotFound("this key is not a deleted key", status=404)
        fields = {**msgspec.json.decode(rows[0][0]), "validity": 0}
        with self._store.writing() as connection:
            connection.execute(
                "UPDATE keys SET deleted = NULL, ends = NULL, fields = ? "
                "WHERE value = ? AND index_name = ''",
                (msgspec.json.encode(fields), value),
            )


def check_fields(fields: Mapping[str, Any], index: str) -> dict[str, Any]:
    """Raise `BadInput` for invalid fields of a key; return those that are set."""
    checked = {name: value for name, value in fields.items() if value is not None}
    for right in checked.get("acl", ()):
        if right not in RIGHTS:
            raise BadInput(f"`acl`: {right} is not a right{did_you_mean(right, RIGHTS)}")
        if index and right in GLOBAL_RIGHTS:
            raise BadInput(f"`acl`: {right} is only for keys of the application")
    if index and checked.get("indexes"):
        raise BadInput("`indexes`: a key of one index is valid for that index only")
    if checked.get("queryParameters"):
        check_members(read_query_text(checked["queryParameters"]), Restrictions, "queryParameters")
    return checked


def copy_keys(connection: sqlite3.Connection, source: str, target: str) -> None:
    """Add the keys of one index to another index."""
    connection.execute(
        "INSERT OR IGNORE INTO keys (value, index_name, fields, created, ends, deleted) "
        "SELECT value, ?, fields, created, ends, deleted FROM keys WHERE index_name = ?",
        (target, source),
    )


def drop_keys(connection: sqlite3.Connection, index: str) -> None:
    """Delete the keys of an index permanently."""
    connection.execute("DELETE FROM keys WHERE index_name = ?", [index])


def matches(name: str, pattern: str) -> bool:
    """Match a name with a pattern that may start and end with `*`; elsewhere `*` is literal."""
    head, tail = pattern.startswith("*"), pattern.endswith("*")
    core = pattern[head : len(pattern) - tail]
    return _MATCHERS[head, tail](name, core)


def _insert(
    connection: sqlite3.Connection, value: str, index: str, fields: Mapping[str, Any]
) -> None:
    connection.execute(
        "INSERT INTO keys (value, index_name, fields, created, ends) VALUES (?, ?, ?, ?, ?)",
        (value, index, msgspec.json.encode(fields), int(time.time()), _end(fields)),
    )


def _end(fields: Mapping[str, Any]) -> float | None:
    return time.time() + fields["validity"] if fields.get("validity") else None


_MATCHERS: dict[tuple[bool, bool], Callable[[str, str], bool]] = {
    (False, False): str.__eq__,
    (False, True): str.startswith,
    (True, False): str.endswith,
    (True, True): str.__contains__,
}


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

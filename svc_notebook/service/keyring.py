"""The API keys of the application and of its indices."""

from __future__ import annotations

import math
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import msgspec

from svc_notebook.core.api.endpoint import Right
from svc_notebook.core.api.secured_keys import Restrictions
from svc_notebook.core.api.shapes.administration import REDACTED
from svc_notebook.core.api.validation import check_members, read_query_text
from svc_notebook.errors import BadInput, NotFound, did_you_mean
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

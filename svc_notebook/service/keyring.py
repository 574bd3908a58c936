"""The API keys of the application and of its indices."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from svc_notebook.service.store import Store

# What is made at the first start and handed out again at each later one.
FACTS: dict[str, Callable[[], str]] = {
    "appId": lambda: "LOCAL" + secrets.token_hex(3).upper(),
    "adminKey": lambda: secrets.token_hex(16),
    "searchKey": lambda: secrets.token_hex(16),
    "crawlerUserId": lambda: "crawler-" + secrets.token_hex(4),
    "crawlerApiKey": lambda: secrets.token_hex(16),
}


@dataclass(frozen=True)
class Key:
    """One key and what it may do; `index` is set on a key of a single index."""

    value: str
    fields: Mapping[str, Any]
    created: int
    index: str = ""

    @property
    def expires(self) -> float:
        """When it ends, in Unix seconds."""
        validity = self.fields.get("validity", 0)
        return self.created + validity if validity else float("inf")


class Keyring:
    """Every key by its value; changes are on the disk before they are answered."""

    def __init__(self, store: Store, given: Mapping[str, str | None] | None = None) -> None:
        self._store = store
        self.facts = self._settle_facts({k: v for k, v in (given or {}).items() if v})
        rows = store.read(
            "SELECT value, fields, created, index_name FROM keys WHERE deleted IS NULL"
        )
        self._keys = {
            (value, index): Key(value, msgspec.json.decode(fields), created, index)
            for value, fields, created, index in rows
        }

    def _settle_facts(self, given: Mapping[str, str]) -> dict[str, str]:
        kept = dict(self._store.read("SELECT name, value FROM facts"))
        made = {name: make() for name, make in FACTS.items() if name not in kept}
        facts = {**made, **kept, **given}
        with self._store.writing() as connection:
            connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())
            if "searchKey" in made:
                fields = {"acl": ["search"], "description": "Search, made at the first start"}
                connection.execute(
                    "INSERT INTO keys (value, fields, created) VALUES (?, ?, ?)",
                    (facts["searchKey"], msgspec.json.encode(fields), int(time.time())),
                )
        return facts

    def find(self, value: str) -> list[Key]:
        """The valid keys of this value: one of the application, or some of single indices."""
        now = time.time()
        return [k for (v, _), k in self._keys.items() if v == value and k.expires > now]

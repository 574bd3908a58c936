"""Stored configurations of query suggestions, with the times of their builds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

import msgspec

from svc_notebook.core.api.shapes.suggestions import SuggestionConfig, SuggestionLog
from svc_notebook.errors import NotFound, Refused
from svc_notebook.service.store import DAY_MS, Store, current_milliseconds

DEFAULT_MIN_HITS, DEFAULT_MIN_LETTERS = 5, 4
REBUILD_MS = DAY_MS
_COLUMNS = "config, started, ended, succeeded, duration, log"


class StoredConfig(NamedTuple):
    """A configuration and its last build; times are in milliseconds."""

    config: SuggestionConfig
    started: int | None
    ended: int | None
    succeeded: int | None
    duration: int | None
    log: SuggestionLog | None


class SuggestionConfigs:
    """The table of configurations; a build is due at once after a change, then once a day."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> list[StoredConfig]:
        """Return the configurations by the names of their indices."""
        rows = self._store.read(f"SELECT {_COLUMNS} FROM suggestions ORDER BY index_name")
        return [_stored(row) for row in rows]

    def find(self, index: str) -> StoredConfig:
        """Return a configuration; raises `NotFound`."""
        rows = self._store.read(f"SELECT {_COLUMNS} FROM suggestions WHERE index_name = ?", index)
        if not rows:
            raise NotFound(f"Query suggestions of the index {index} do not exist", status=404)
        return _stored(rows[0])

    def create(self, config: SuggestionConfig) -> None:
        """Store a new configuration; raises `Refused` if the index has one."""
        with self._store.writing() as connection:
            added = connection.execute(
                "INSERT OR IGNORE INTO suggestions (index_name, config, due) VALUES (?, ?, ?)",
                (config["indexName"], msgspec.json.encode(config), current_milliseconds()),
            )
            if not added.rowcount:
                raise Refused(
                    f"the index {config['indexName']} has query suggestions: update them",
                    status=409,
                )

    def update(self, config: SuggestionConfig) -> None:
        """Replace a configuration, so that its build is due."""
        self.find(config["indexName"])
        self._set(
            config["indexName"], config=msgspec.json.encode(config), due=current_milliseconds()
        )

    def delete(self, index: str) -> None:
        """Delete a configuration; raises `NotFound`."""
        self.find(index)
        with self._store.writing() as connection:
            connection.execute("DELETE FROM suggestions WHERE index_name = ?", (index,))

    def due(self) -> list[SuggestionConfig]:
        """Return the configurations whose build is due."""
        rows = self._store.read(
            "SELECT config FROM suggestions WHERE due <= ?", current_milliseconds()
        )
        return [msgspec.json.decode(config) for (config,) in rows]

    def note_start(self, index: str) -> int:
        """Note that a build starts, and when the next one is due; return its time."""
        now = current_milliseconds()
        self._set(index, started=now, due=now + REBUILD_MS)
        return now

    def note_end(self, index: str, started: int, message: str, *, failed: bool) -> None:
        """Note the outcome of a build."""
        now = current_milliseconds()
        log: SuggestionLog = {
            "timestamp": write_time(now),
            "level": "ERROR" if failed else "INFO",
            "message": message,
            "contextLevel": 0,
        }
        success = {} if failed else {"succeeded": now, "duration": now - started}
        self._set(index, ended=now, log=msgspec.json.encode(log), **success)

    def _set(self, index: str, **columns: Any) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        with self._store.writing() as connection:
            connection.execute(
                f"UPDATE suggestions SET {names} WHERE index_name = ?", (*columns.values(), index)
            )


def complete_config(app_id: str, index: str, fields: Mapping[str, Any]) -> SuggestionConfig:
    """Return a configuration with the defaults of what it omits."""
    sources = [
        {
            "replicas": False, "analyticsTags": [], "facets": [], "minHits": DEFAULT_MIN_HITS,
            "minLetters": DEFAULT_MIN_LETTERS, "generate": [], "external": [],
            **{name: value for name, value in source.items() if value is not None},
        }
        for source in fields["sourceIndices"]
    ]  # fmt: skip
    return cast(
        "SuggestionConfig",
        {
            "appID": app_id,
            "indexName": index,
            "sourceIndices": sources,
            "languages": fields.get("languages", False),
            "exclude": fields.get("exclude") or [],
            "enablePersonalization": fields.get("enablePersonalization", False),
            "allowSpecialCharacters": fields.get("allowSpecialCharacters", False),
        },
    )


def write_time(milliseconds: int) -> str:
    """Return a time in the notation of ISO 8601."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _stored(row: tuple[Any, ...]) -> StoredConfig:
    config, started, ended, succeeded, duration, log = row
    decoded = msgspec.json.decode(log) if log else None
    return StoredConfig(msgspec.json.decode(config), started, ended, succeeded, duration, decoded)

"""A crawler's configuration, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Action:
    """What to make of the pages it matches."""

    index: str  # the full name: indexPrefix + indexName
    name: str | None
    schedule: str | None
    extractor: str


@dataclass(frozen=True)
class Configuration:
    """What a crawler may visit, and what it makes of it."""

    app_id: str
    api_key: str | None
    index_prefix: str
    actions: tuple[Action, ...]
    schedule: str | None
    initial_settings: Mapping[str, Mapping[str, Any]]  # by full index name
    max_lost_percentage: float
    max_failed_urls: int | None
    save_backup: bool


def read_configuration(config: Mapping[str, Any]) -> Configuration:
    """Check a configuration's JSON; raises `BadInput` naming the member and what it may hold."""
    raise NotImplementedError


def merge(config: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Put changed top-level members in the place of old ones; null takes one away."""
    merged = {**config, **changes}
    return {name: value for name, value in merged.items() if value is not None}

"""The configuration of an index as another index takes it over, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from svc_notebook.api.body_forms import READ_ONLY_SETTINGS, rename_settings
from svc_notebook.api.parameters import Settings
from svc_notebook.api.validation import hints
from svc_notebook.client import AsyncClient
from svc_notebook.client.curation import ResourceKind, write_all
from svc_notebook.client.operations import write_and_wait
from svc_notebook.tuning.changes.state import (
    KINDS,
    IndexConfiguration,
    Scope,
    holds,
    read_part,
)

# Settings that name indices of their own service; they are never copied as they are.
INDEX_SETTINGS = (*READ_ONLY_SETTINGS, "replicas")


async def read_configuration(
    client: AsyncClient, index: str, scopes: tuple[Scope, ...]
) -> tuple[IndexConfiguration, list[str]]:
    """Read some scopes of an index; also return the settings that this version does not know."""
    parts: dict[str, Any] = {scope: await read_part(client, index, scope) for scope in scopes}
    settings = rename_settings(parts.get("settings", {}))
    unknown = [name for name in settings if name not in hints(Settings)]
    if "settings" in parts:
        parts["settings"] = {n: v for n, v in settings.items() if n not in unknown}
    return IndexConfiguration(**parts), sorted(unknown)


def own_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those that name indices."""
    return {name: value for name, value in settings.items() if name not in INDEX_SETTINGS}


def without_index_settings(state: IndexConfiguration) -> IndexConfiguration:
    """Return a configuration without settings that name indices."""
    return IndexConfiguration(own_settings(state.settings), state.synonyms, state.rules)


async def write_configuration(
    client: AsyncClient, index: str, state: IndexConfiguration, scopes: tuple[Scope, ...]
) -> None:
    """Give an index that nobody searches yet these settings, synonyms and rules, and no others."""
    if "settings" in scopes:
        settings: Any = own_settings(state.settings)
        await write_and_wait(
            client, client.set_settings(index, settings), index=index,
            confirm=lambda: holds(client, index, "settings", settings),
        )  # fmt: skip
    for scope, kind in KINDS.items():
        if scope in scopes:
            await _replace_list(client, kind, index, state.part(scope))


async def _replace_list(
    client: AsyncClient, kind: ResourceKind, index: str, objects: Mapping[str, Any]
) -> None:
    documents = list(objects.values())
    if not documents and not (await kind.find(client, index, 0, 1))["nbHits"]:
        return
    await write_and_wait(
        client, write_all(client, kind, index, documents), index=index,
        confirm=lambda: holds(client, index, kind.name, objects, whole=True),
    )  # fmt: skip

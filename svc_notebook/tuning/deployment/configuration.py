"""The configuration of an index as another index takes it over, also at once by a moved copy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from svc_notebook.core.api.body_forms import READ_ONLY_SETTINGS, rename_settings
from svc_notebook.core.api.parameters import Settings
from svc_notebook.core.api.validation import hints
from svc_notebook.core.display import format_count
from svc_notebook.data.client import (
    AsyncClient,
    ResourceKind,
    TemporaryIndex,
    count_records,
    drop_temporary_indices,
    index_exists,
    list_temporary_indices,
    write_all,
    write_and_wait,
)
from svc_notebook.errors import BadInput, KeyRefused, did_you_mean
from svc_notebook.tuning.changes.journal import Change
from svc_notebook.tuning.changes.journalled_write import list_steps, recording
from svc_notebook.tuning.changes.state import (
    KINDS,
    Delta,
    IndexConfiguration,
    Objects,
    Scope,
    holds,
    read_part,
    write_part,
)

Replicas = bool | Mapping[str, str]
_VIRTUAL = re.compile(r"virtual\((.*)\)", re.DOTALL)

INDICES_PER_PAGE = 1000
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


async def list_entries(client: AsyncClient) -> list[Any]:
    """Return the entries of all indices of an application."""
    items: list[Any] = []
    page = 0
    while True:
        answer = await client.list_indices(page=page, hitsPerPage=INDICES_PER_PAGE)
        items += answer["items"]
        page += 1
        if page >= answer.get("nbPages", 1) or not answer["items"]:
            return items


def own_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without those that name indices."""
    return {name: value for name, value in settings.items() if name not in INDEX_SETTINGS}


def without_index_settings(state: IndexConfiguration) -> IndexConfiguration:
    """Return a configuration without settings that name indices."""
    return IndexConfiguration(own_settings(state.settings), state.synonyms, state.rules)


async def write_configuration(
    client: AsyncClient, index: str, state: IndexConfiguration, scopes: tuple[Scope, ...]
) -> None:
    """Replace the settings, synonyms and rules of an index that is not searched yet."""
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


def replica_name(entry: str) -> str:
    """Return the name of a replica in the setting `replicas`, without `virtual(...)`."""
    match = _VIRTUAL.fullmatch(entry.strip())
    return match[1].strip() if match else entry.strip()


def is_virtual(entry: str) -> bool:
    """Return whether an entry of the setting `replicas` is a virtual replica."""
    return _VIRTUAL.fullmatch(entry.strip()) is not None


def list_replicas(settings: Mapping[str, Any]) -> list[str]:
    """Return the entries of the setting `replicas`."""
    return [entry for entry in settings.get("replicas") or () if entry]


def map_replicas(
    entries: Sequence[str], index: str, target: str, given: Replicas
) -> dict[str, str]:
    """Return the entries of the target's setting by those of the source.

    A name that begins with the name of its primary begins with that of the target; others need
    `given`, unless the primaries have the same name.
    """
    if not given:
        return {}
    names_here = [replica_name(entry) for entry in entries]
    chosen = dict(given) if isinstance(given, Mapping) else dict.fromkeys(names_here, "")
    if unknown := [name for name in chosen if name not in names_here]:
        raise BadInput(
            f"{index} has no replica `{unknown[0]}`{did_you_mean(unknown[0], names_here)}"
        )
    mapped: dict[str, str] = {}
    for entry, name in zip(entries, names_here, strict=True):
        if name in chosen:
            other = chosen[name] or _rename(name, index, target)
            mapped[entry] = f"virtual({other})" if is_virtual(entry) else other
    _refuse_equal_names(target, [replica_name(entry) for entry in mapped.values()])
    return mapped


def _refuse_equal_names(target: str, names: list[str]) -> None:
    if len({*names, target}) <= len(names):
        raise BadInput(f"`replicas` must give each replica a different name, not {names}")


def _rename(name: str, index: str, target: str) -> str:
    if index == target:
        return name
    if name.startswith(index):
        return f"{target}{name[len(index) :]}"
    raise BadInput(
        f"the replica {name} of {index} needs a name as replica of {target}: "
        f"pass replicas={{{name!r}: '{target}_…'}}"
    )


async def check_free(client: AsyncClient, primary: str, names: Sequence[str]) -> None:
    """Refuse names of indices that exist: as replicas, they would lose their own records."""
    for name in names:
        if await index_exists(client, name):
            owner = (await client.get_settings(name)).get("primary")
            if owner != primary:
                raise BadInput(
                    f"the index {name} exists and is not a replica of {primary}: as its replica it "
                    "would lose its records. Choose another name for the replica, with "
                    "replicas={'REPLICA': 'NAME'} or in the file of the settings"
                )


def describe_price(index: str, records: int) -> str:
    """Describe the cost and the conditions of an atomic write."""
    return (
        f"{format_count(records, 'record')} of {index} will be copied within the service, which "
        "may count each as an operation and stores both until the move; if records of "
        f"{index} are written meanwhile, nothing is deployed"
    )


async def write_atomically(
    client: AsyncClient, index: str, deltas: Mapping[Scope, Delta], *, note: str
) -> Change | None:
    """Change a copy of an index and move it over the index: searches see all changes at once.

    What an interrupted call left is deleted first. Raises `BadInput` if the index was written
    while it was copied; until the move was accepted, the index is as it was.
    """
    await _drop_left(client, index)
    proposed: dict[Scope, Objects] = {scope: delta.after for scope, delta in deltas.items()}
    before = await _read_version(client, index)
    async with TemporaryIndex(client, index, "deploy") as copy:
        for scope, objects in list_steps(deltas):
            await write_part(client, copy.name, scope, objects)
        if await _read_version(client, index) != before:
            raise BadInput(
                f"{index} was written while it was copied; nothing was deployed. Deploy again, "
                "without atomic=True if it is written all the time"
            )
        async with recording(client, index, proposed, note=note) as recorded:
            await copy.promote([])
    return recorded.change


async def _drop_left(client: AsyncClient, index: str) -> None:
    """Delete the copies that interrupted calls of this machine left."""
    with suppress(KeyRefused):  # a key that may not list indices
        listed = await list_temporary_indices(client)
        names = [
            item["name"]
            for item, name in listed
            if name.index == index and name.purpose == "deploy" and name.is_left
        ]
        if names:
            await drop_temporary_indices(client, names, unused=True)


async def _read_version(client: AsyncClient, index: str) -> tuple[object, ...]:
    """Return what changes when an index is written; its number of records, if that is all."""
    try:
        entries = await list_entries(client)
    except KeyRefused:  # a key that may not list indices
        return (await count_records(client, index),)
    return tuple(
        entry.get(name)
        for entry in entries
        if entry["name"] == index
        for name in ("entries", "updatedAt", "dataSize")
    )

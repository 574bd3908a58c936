"""The setting `replicas`: parse it, check it, and link and unlink replicas."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index
from svc_notebook.service.engine.semantic.latent_model import ModelSettings
from svc_notebook.service.indices import records
from svc_notebook.service.indices.published_index import (
    LazyEngine,
    PublishedIndex,
    delete_index,
    insert_index,
)
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.indices.replica_group import ReplicaGroup, without_replicas
from svc_notebook.service.resources.entries import copy_entries

_VIRTUAL = re.compile(r"virtual\((.*)\)", re.DOTALL)
# The kinds of entries of an index, as the scope of a copy names them.
ENTRIES = {"rules", "synonyms"}


class ReplicaEntry(NamedTuple):
    """One entry of the setting."""

    name: str
    virtual: bool

    def __str__(self) -> str:
        return f"virtual({self.name})" if self.virtual else self.name


def read_links(entries: Sequence[str]) -> list[ReplicaEntry]:
    """Parse the setting; empty entries are ignored. Raises `BadInput` for a duplicate name."""
    texts = (text for entry in entries if (text := entry.strip()))
    links = [_parse_link(text) for text in texts]
    names = [link.name for link in links]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"`replicas` names {name} more than once")
    return links


def _parse_link(text: str) -> ReplicaEntry:
    if match := _VIRTUAL.fullmatch(text):
        return ReplicaEntry(match[1].strip(), True)
    if text.startswith("virtual("):
        raise BadInput(f'`replicas`: a parenthesis is never closed: "{text}"')
    return ReplicaEntry(text, False)


def check_links(catalog: IndexRegistry, name: str, links: Sequence[ReplicaEntry]) -> None:
    """Raise `BadInput` for replicas that an index cannot have."""
    index = catalog.get(name)
    if links and index and index.primary_id:
        primary = catalog.replica_group(index)[0].name
        raise BadInput(f"`replicas`: {name} is a replica of {primary} and can have none")
    for link in links:
        if link.name == name:
            raise BadInput(f"`replicas`: {name} cannot be its own replica")
        if why := _obstacle(catalog, link.name, index):
            raise BadInput(f"`replicas`: {link.name} {why}")


def _obstacle(catalog: IndexRegistry, name: str, primary: PublishedIndex | None) -> str:
    """Return why an index cannot become a replica; empty if it can."""
    other = catalog.get(name)
    if other is None or (primary and other.primary_id == primary.id):
        return ""
    first, *replicas = catalog.replica_group(other)
    if other.primary_id:
        return f"is a replica of {first.name} already; unlink it first"
    return "has replicas" if replicas else ""


def apply_links(
    connection: sqlite3.Connection, catalog: IndexRegistry, group: ReplicaGroup
) -> tuple[list[PublishedIndex], list[PublishedIndex]]:
    """Link and unlink replicas by the primary's settings; return the group and unlinked indices.

    Replicas that became impossible after the settings were accepted are removed from the settings.
    """
    primary, *replicas = group
    links = [
        link
        for link in read_links(primary.settings.get("replicas", ()))
        if link.name != primary.name and not _obstacle(catalog, link.name, primary)
    ]
    settings = primary.settings | {"replicas": [str(link) for link in links]}
    primary = replace(primary, settings=settings)
    by_name = {replica.name: replica for replica in replicas}
    following = [
        replace(by_name[link.name], virtual=link.virtual)
        if link.name in by_name
        else _make_replica(connection, catalog, primary, link)
        for link in links
    ]
    named = {link.name for link in links}
    gone = [replica for replica in replicas if replica.name not in named]
    return [primary, *following], [make_independent(connection, replica) for replica in gone]


def _make_replica(
    connection: sqlite3.Connection,
    catalog: IndexRegistry,
    primary: PublishedIndex,
    link: ReplicaEntry,
) -> PublishedIndex:
    """Create a replica with its primary's settings, or convert an index without its records."""
    if other := catalog.get(link.name):
        engine = LazyEngine(lambda: Index(other.settings))
        settings = without_replicas(other.settings)
        return replace(
            other, settings=settings, primary_id=primary.id, virtual=link.virtual, engine=engine
        )
    made = insert_index(
        connection,
        link.name,
        without_replicas(primary.settings),
        primary_id=primary.id,
        virtual=link.virtual,
    )
    copy_entries(connection, primary.id, made.id, ENTRIES)
    return made


def make_independent(connection: sqlite3.Connection, replica: PublishedIndex) -> PublishedIndex:
    """Convert a replica to an independent index with its own records."""
    records.create_table(connection, replica.id)
    records.copy_table(connection, replica.primary_id, replica.id)
    return replace(replica, primary_id=0, virtual=False)


def separate_engines(freed: Sequence[PublishedIndex]) -> None:
    """Separate the engines of former replicas from the shared segment store."""
    for index in freed:
        segment_store = index.engine.get().segment_store.fork()
        segment_store.model_settings = ModelSettings.of(index.settings)
        index.engine.set(index.build_engine(segment_store))


def delete_primary(connection: sqlite3.Connection, group: ReplicaGroup) -> list[PublishedIndex]:
    """Delete an index; return its replicas, which become independent indices."""
    primary, *replicas = group
    freed = [make_independent(connection, replica) for replica in replicas]
    delete_index(connection, primary)
    return freed

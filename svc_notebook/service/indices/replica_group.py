"""A replica group: a primary index and its replicas, which have the same records.

A group is a list: the primary first, then its replicas. Indices whose settings require the same
stored data, apart from sort orders, share one segment store: a write is indexed once, and all of
them see it at the same moment.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from svc_notebook.service.engine import Schema, SegmentStore
from svc_notebook.service.engine.index.segment_store import Chunks
from svc_notebook.service.engine.semantic.latent_model import ModelSettings
from svc_notebook.service.indices.published_index import PublishedIndex, stamp_now, update_index

ReplicaGroup = Sequence[PublishedIndex]

# Settings that a virtual replica inherits from its primary: those that define what is stored, and
# the ranking before the replica's own customRanking.
INHERITED = {
    "allowCompressionOfIntegerArray", "attributeForDistinct", "attributesForFaceting",
    "attributesToTransliterate", "camelCaseAttributes", "customNormalization",
    "decompoundedAttributes", "disablePrefixOnAttributes", "indexLanguages",
    "keepDiacriticsOnCharacters", "numericAttributesForFiltering", "ranking",
    "searchableAttributes", "separatorsToIndex", "unretrievableAttributes",
}  # fmt: skip


def without_replicas(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings without `replicas`, because a replica follows one primary only."""
    return {name: value for name, value in settings.items() if name != "replicas"}


def inherit(group: ReplicaGroup) -> list[PublishedIndex]:
    """Apply inherited settings to the virtual replicas of a group."""
    primary, *replicas = group
    given = {name: value for name, value in primary.settings.items() if name in INHERITED}
    return [
        primary,
        *(_inherit(replica, given) if replica.virtual else replica for replica in replicas),
    ]


def _inherit(replica: PublishedIndex, given: Mapping[str, Any]) -> PublishedIndex:
    kept = {name: value for name, value in replica.settings.items() if name not in INHERITED}
    return replace(replica, settings=kept | dict(given))


def store_group(
    connection: sqlite3.Connection, group: ReplicaGroup, task: int, touched: Collection[int] = ()
) -> list[PublishedIndex]:
    """Store a replica group after a task; `updated` changes for `touched` indices, or for all."""
    now = stamp_now()
    stored = [
        replace(
            member,
            stamp=task,
            updated=now if not touched or member.id in touched else member.updated,
        )
        for member in group
    ]
    for index in stored:
        update_index(connection, index)
    return stored


def segment_stores_of(group: ReplicaGroup) -> list[SegmentStore]:
    """Return the segment stores of a replica group, without duplicates."""
    return list(dict.fromkeys(index.engine.get().segment_store for index in group))


def split_by_schema(group: ReplicaGroup) -> list[list[PublishedIndex]]:
    """Group a replica group by stored data; the first index of each part owns the engine files."""
    groups: dict[Schema, list[PublishedIndex]] = {}
    for index in group:
        base = replace(Schema.of(index.settings), sorts=frozenset())
        groups.setdefault(base, []).append(index)
    return list(groups.values())


def merge_schemas(part: Sequence[PublishedIndex]) -> Schema:
    """Return the schema that serves all indices of a part."""
    schemas = [Schema.of(index.settings) for index in part]
    return replace(schemas[0], sorts=frozenset().union(*(schema.sorts for schema in schemas)))


def set_engines(group: ReplicaGroup, records: Chunks) -> None:
    """Set the engines of a replica group for its settings; suitable segment stores are reused."""
    stores = segment_stores_of([index for index in group if index.engine.is_open])
    for part in split_by_schema(group):
        schema = merge_schemas(part)
        segment_store = next((store for store in stores if store.schema.serves(schema)), None)
        if segment_store is None:
            segment_store = SegmentStore.from_chunks(schema, records())
        segment_store.model_settings = ModelSettings.of(part[0].settings)
        for index in part:
            index.engine.set(index.build_engine(segment_store))

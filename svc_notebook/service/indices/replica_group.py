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
from svc_notebook.service.indices.published_index import PublishedIndex, stamp_now, update_shelf

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


def inherit(family: ReplicaGroup) -> list[PublishedIndex]:
    """Apply inherited settings to the virtual replicas of a group."""
    primary, *replicas = family
    given = {name: value for name, value in primary.settings.items() if name in INHERITED}
    return [primary, *(_inherit(one, given) if one.virtual else one for one in replicas)]


def _inherit(replica: PublishedIndex, given: Mapping[str, Any]) -> PublishedIndex:
    own = {name: value for name, value in replica.settings.items() if name not in INHERITED}
    return replace(replica, settings=own | dict(given))


def mark(
    connection: sqlite3.Connection, family: ReplicaGroup, task: int, touched: Collection[int] = ()
) -> list[PublishedIndex]:
    """Store a replica group after a task; `updated` changes for `touched` indices, or for all."""
    now = stamp_now()
    marked = [
        replace(one, stamp=task, updated=now if not touched or one.id in touched else one.updated)
        for one in family
    ]
    for shelf in marked:
        update_shelf(connection, shelf)
    return marked


def stocks_of(family: ReplicaGroup) -> list[SegmentStore]:
    """Return the segment stores of a replica group, without duplicates."""
    return list(dict.fromkeys(shelf.engine.get().segment_store for shelf in family))


def group_alike(family: ReplicaGroup) -> list[list[PublishedIndex]]:
    """Group a replica group by stored data; the first index of each part owns the engine files."""
    groups: dict[Schema, list[PublishedIndex]] = {}
    for shelf in family:
        base = replace(Schema.of(shelf.settings), sorts=frozenset())
        groups.setdefault(base, []).append(shelf)
    return list(groups.values())


def join_shapes(group: Sequence[PublishedIndex]) -> Schema:
    """Return the schema that serves all indices of a part."""
    shapes = [Schema.of(shelf.settings) for shelf in group]
    return replace(shapes[0], sorts=frozenset().union(*(shape.sorts for shape in shapes)))


def arrange(family: ReplicaGroup, records: Chunks) -> None:
    """Set the engines of a replica group for its settings; suitable segment stores are reused."""
    known = stocks_of([shelf for shelf in family if shelf.engine.opened])
    for group in group_alike(family):
        shape = join_shapes(group)
        stock = next((one for one in known if one.schema.serves(shape)), None)
        if stock is None:
            stock = SegmentStore.from_chunks(shape, records())
        for shelf in group:
            shelf.engine.settle(shelf.over(stock))

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

from svc_notebook.service.engine import Shape, Stock
from svc_notebook.service.engine.index.segment_store import Chunks
from svc_notebook.service.indices.published_index import PublishedIndex, stamp_now, update_shelf

Family = Sequence[PublishedIndex]

# What a virtual replica has from its primary at any time: all that says what is stored and how
# it is ranked before the replica's own customRanking comes.
INHERITED = {
    "allowCompressionOfIntegerArray", "attributeForDistinct", "attributesForFaceting",
    "attributesToTransliterate", "camelCaseAttributes", "customNormalization",
    "decompoundedAttributes", "disablePrefixOnAttributes", "indexLanguages",
    "keepDiacriticsOnCharacters", "numericAttributesForFiltering", "ranking",
    "searchableAttributes", "separatorsToIndex", "unretrievableAttributes",
}  # fmt: skip


def without_replicas(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what is an index's own: a replica follows one primary only."""
    return {name: value for name, value in settings.items() if name != "replicas"}


def inherit(family: Family) -> list[PublishedIndex]:
    """Give virtual replicas what they have from their primary."""
    primary, *replicas = family
    given = {name: value for name, value in primary.settings.items() if name in INHERITED}
    return [primary, *(_inherit(one, given) if one.virtual else one for one in replicas)]


def _inherit(replica: PublishedIndex, given: Mapping[str, Any]) -> PublishedIndex:
    own = {name: value for name, value in replica.settings.items() if name not in INHERITED}
    return replace(replica, settings=own | dict(given))


def mark(
    connection: sqlite3.Connection, family: Family, task: int, touched: Collection[int] = ()
) -> list[PublishedIndex]:
    """Write a family down as a task left it; all of it was touched unless told otherwise."""
    now = stamp_now()
    marked = [
        replace(one, stamp=task, updated=now if not touched or one.id in touched else one.updated)
        for one in family
    ]
    for shelf in marked:
        update_shelf(connection, shelf)
    return marked


def stocks_of(family: Family) -> list[Stock]:
    """The stocks a family's records are in, each once."""
    return list(dict.fromkeys(shelf.engine.get().stock for shelf in family))


def group_alike(family: Family) -> list[list[PublishedIndex]]:
    """Group a family by what is stored; the first of each group answers for its files."""
    groups: dict[Shape, list[PublishedIndex]] = {}
    for shelf in family:
        base = replace(Shape.of(shelf.settings), sorts=frozenset())
        groups.setdefault(base, []).append(shelf)
    return list(groups.values())


def join_shapes(group: Sequence[PublishedIndex]) -> Shape:
    """Return the shape that serves a whole group."""
    shapes = [Shape.of(shelf.settings) for shelf in group]
    return replace(shapes[0], sorts=frozenset().union(*(shape.sorts for shape in shapes)))


def arrange(family: Family, records: Chunks) -> None:
    """Give each of a family an engine under its settings; stocks that will do are kept."""
    known = stocks_of([shelf for shelf in family if shelf.engine.opened])
    for group in group_alike(family):
        shape = join_shapes(group)
        stock = next((one for one in known if one.shape.serves(shape)), None)
        if stock is None:
            stock = Stock.filled(shape, records())
        for shelf in group:
            shelf.engine.settle(shelf.over(stock))

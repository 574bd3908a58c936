"""How a load treats an existing index: checks before its records change, and the final replacement.

A load of whole records would delete attributes that its rows lack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import msgspec
import pandas as pd

from svc_notebook.core.display import format_count
from svc_notebook.core.terminal import warn_user
from svc_notebook.data.client.operations import count_records, index_exists, is_own
from svc_notebook.data.client.temporary_index import TemporaryIndex
from svc_notebook.data.loading.history.recorder import read_records
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.preparation import Prepared, record_of
from svc_notebook.data.loading.options import IfExists
from svc_notebook.errors import (
    BadInput,
    CallFailed,
    KeyRefused,
    NotFound,
    UnexpectedAnswer,
    did_you_mean,
)

if TYPE_CHECKING:
    from svc_notebook.data.client import AsyncClient

# Minimum share of the old number of records, by default for an index of this many records, and for
# any index if rows were rejected.
DEFAULT_MIN_SHARE, MIN_GUARDED_RECORDS = 0.5, 1000
CHOICES: tuple[IfExists, ...] = ("append", "replace", "fail", "merge", "sync")
# Rows whose stored records are read: the first rows of a source, then rows of all its parts.
# Services return at most 1,000 records for one request.
FIRST_ROWS, SPREAD_ROWS = 200, 800
# Stored records are read until they have about this size.
MAX_STORED_BYTES = 4_000_000
# A row in memory whose record would lose more than half of its attributes, and at least this many,
# is a part of its record, even if other rows have these attributes.
MIN_LOST_OF_PART = 3
MAX_NAMED_ATTRIBUTES = 5
NOT_READABLE = "this key may not read records (right `search`)"
NOT_RETURNED = "the service did not return the records"

Record = Mapping[str, Any]


async def check_target(client: AsyncClient, index: str, if_exists: IfExists) -> None:
    """Reject an unknown choice, and an existing index if it must not exist."""
    if if_exists not in CHOICES:
        raise BadInput(
            f"`if_exists` must be one of {', '.join(CHOICES)}, not {if_exists!r}"
            f"{did_you_mean(str(if_exists), CHOICES)}"
        )
    if if_exists == "replace":
        await is_own(client, index)
    if if_exists == "fail" and await index_exists(client, index):
        raise BadInput(
            f"the index {index} exists; if_exists='append' adds to it, 'replace' replaces it"
        )


async def warn_of_hashes(client: AsyncClient, index: str) -> None:
    """Warn if hashes of rows are the ids of records that are added to existing records."""
    with suppress(CallFailed):  # a key with write access only
        if held := await count_records(client, index):
            warn_user(
                f"{index} already has {format_count(held, 'record')}, and the ids of this load are "
                "hashes of its rows: a row that has changed is added beside its old record; name "
                "the column of the ids, id='…', or replace the records, if_exists='replace'"
            )


def check_rejected(rows: int) -> None:
    """Raise `BadInput` if rows are rejected that the new index would lack."""
    if rows:
        raise BadInput(
            f"{format_count(rows, 'row')} cannot be sent; nothing was replaced. `plan` lists the "
            "reasons; `skip_rejected` skips these rows"
        )


async def check_share(
    client: AsyncClient, index: str, plan: LoadPlan, min_share: float | None
) -> None:
    """Refuse to replace an index with fewer records than the share `min_share` of it.

    By default, that is half of a large index, and of any index if rows were rejected.
    """
    if min_share == 0:
        return
    old = await count_records(client, index)
    share = default_share(old, plan.rejected_rows) if min_share is None else min_share
    if plan.sendable >= old * share:
        return
    would = f"{index} has {format_count(old, 'record')} and would have {plan.sendable:,}"
    if plan.rejected_rows:
        rejected = format_count(plan.rejected_rows, "row")
        raise BadInput(
            f"{would}, as {rejected} cannot be sent ({describe_first(plan)}); it is unchanged. "
            "Correct them, or allow fewer records: min_share=0"
        )
    raise BadInput(f"{would}; it is unchanged. To allow fewer records, pass min_share=0")


def default_share(old: int, rejected_rows: int = 0) -> float:
    """Return the minimum share of an index of `old` records for a load that names none."""
    return DEFAULT_MIN_SHARE if rejected_rows or old >= MIN_GUARDED_RECORDS else 0


def describe_first(plan: LoadPlan) -> str:
    """Describe the error of the first rejected row."""
    first = plan.rejected.iloc[0]
    of = f", column `{first['column']}`" if isinstance(first["column"], str) else ""
    return f"row {first['row']}{of} {first['reason']}"


def describe_no_rows(plan: LoadPlan, index: str, if_exists: IfExists) -> str:
    """Describe why a load has no row to send, and what to do."""
    if plan.rejected_rows:
        return (
            f"no row can be sent, and {index} is unchanged: {describe_first(plan)}; a dry run "
            "lists the rejected rows"
        )
    if if_exists == "replace":
        return (
            f"the source has no rows to replace {index} with; svc.clear_index({index!r}) empties it"
        )
    return f"{plan.source} has no rows, and {index} is unchanged; check that it is complete"


async def move_over(temporary: TemporaryIndex, rows: int) -> None:
    """Replace the old index by the new one, once that contains every sent row."""
    held = await count_records(temporary.client, temporary.name)
    if held != rows:
        raise BadInput(
            f"{temporary.name} holds {held:,} records and not the {rows:,} that were sent: "
            f"{temporary.index} is unchanged"
        )
    await temporary.promote()


def _find_unsent(
    source: object, index: str, prepared: Prepared, client: AsyncClient | None = None
) -> tuple[str, ...]:
    """Return the attributes with which a DataFrame was read from the index, and that are not sent.

    There are none if the source is from elsewhere.
    """
    facts = source.attrs.get("svc") if isinstance(source, pd.DataFrame) else None
    if not isinstance(facts, Mapping) or facts.get("index") != index:
        return ()
    service = (str(facts.get("application")), str(facts.get("address")))
    if client is not None and not client.connection.is_of(*service):
        return ()
    sent = _Sent.of(prepared)
    return tuple(name for name in facts.get("attributes") or () if not sent.has(name))


@dataclass(frozen=True)
class _Sent:
    """The attributes that the rows of a source have."""

    names: frozenset[str]
    # The names of the objects that columns such as `size.width` become, and the other names.
    roots: frozenset[str]
    objects: frozenset[str]

    @classmethod
    def of(cls, prepared: Prepared) -> Self:
        names = [row.name for row in prepared.plan.column_rows]
        if not prepared.options.nest:
            return cls(frozenset(names), frozenset(names), frozenset())
        parents = (name.split(".")[:end] for name in names for end in range(1, name.count(".") + 1))
        objects = frozenset(".".join(parent) for parent in parents)
        return cls(frozenset(names), frozenset(n.partition(".")[0] for n in names), objects)

    def has(self, name: str) -> bool:
        """Return whether rows have an attribute, or the object that contains it."""
        return name in self.names or name.partition(".")[0] in self.roots


def _lost(
    stored: Record, record: Record, names: Collection[str], objects: Collection[str], at: str = ""
) -> Iterator[str]:
    for name, value in stored.items():
        path = f"{at}{name}"
        inner = record.get(name)
        if path in objects and isinstance(value, Mapping) and isinstance(inner, Mapping):
            yield from _lost(value, inner, names, objects, f"{path}.")
        elif path not in names and name not in record and path != "objectID":
            yield path


@dataclass(frozen=True)
class AttributeLoss:
    """Attributes that a load would delete, the most frequent first."""

    attributes: tuple[str, ...] = ()
    # Stored records that were compared with their rows, and those of them that lose attributes.
    compared: int = 0
    losing: int = 0
    # Why the stored records could not be read; empty if they were.
    unread: str = ""
    # Whether there is no index yet.
    is_new: bool = False

    def describe(self, index: str) -> str:
        """Describe the attributes, and which records have them."""
        count = len(self.attributes)
        shown = ", ".join(f"`{name}`" for name in self.attributes[:MAX_NAMED_ATTRIBUTES])
        more = f" and {count - MAX_NAMED_ATTRIBUTES:,} more" if count > MAX_NAMED_ATTRIBUTES else ""
        noun = "attribute" if count == 1 else "attributes"
        share = f" ({self.losing:,} of {self.compared:,} compared)" if self.compared else ""
        return f"{count:,} {noun} of records that {index} has{share}: {shown}{more}"

    def refusal(self, index: str) -> BadInput:
        """Return the error that names both ways to continue."""
        return BadInput(
            f"nothing was sent: rows replace whole records, and would delete "
            f"{self.describe(index)}. To change only the attributes of the rows, pass "
            "action='update'; to replace the records, replace_records=True"
        )

    def note_in(self, plan: LoadPlan) -> LoadPlan:
        """Return the plan with the attributes that the load would delete."""
        if self.unread:
            text = (
                "whether the load deletes attributes of records that exist is not known: "
                f"{self.unread}"
            )
            return replace(plan, notes=(*plan.notes, text))
        if not self.attributes:
            return plan
        text = (
            f"the load deletes {self.describe(plan.index)}; action='update' keeps them, "
            "replace_records=True allows it"
        )
        return replace(plan, notes=(*plan.notes, text), deleted_attributes=self.attributes)


def replaces_records(prepared: Prepared, if_exists: str) -> bool:
    """Return whether the rows of a load replace whole records of an index."""
    return prepared.options.action == "replace" and if_exists in ("append", "merge", "sync")


def plan_attribute_loss(source: object, index: str, prepared: Prepared) -> LoadPlan:
    """Return a plan with the attributes that the load would delete, as far as the source tells."""
    if not replaces_records(prepared, "append"):
        return prepared.plan
    return AttributeLoss(_find_unsent(source, index, prepared)).note_in(prepared.plan)


async def find_attribute_loss(
    client: AsyncClient, source: object, index: str, prepared: Prepared
) -> AttributeLoss:
    """Compare rows with the stored records of the same ids.

    The first rows are compared, and if there are more, rows of all parts of the source. If the key
    may not read records, the columns that the DataFrame was read with are all that is known.
    """
    try:
        pairs = await _read_pairs(client, index, prepared)
    except NotFound:
        return AttributeLoss(is_new=True)
    except (KeyRefused, UnexpectedAnswer) as error:
        lost = _find_unsent(source, index, prepared, client)
        reason = NOT_READABLE if isinstance(error, KeyRefused) else NOT_RETURNED
        return AttributeLoss(lost, unread="" if lost else reason)
    loss = _count(pairs, _Sent.of(prepared), in_memory=prepared.table.origin is None)
    if pairs and prepared.plan.rows > len(pairs):
        unsent = _find_unsent(source, index, prepared, client)
        attributes = dict.fromkeys((*loss.attributes, *unsent))
        return replace(loss, attributes=tuple(attributes))
    return loss


async def _read_pairs(
    client: AsyncClient, index: str, prepared: Prepared
) -> list[tuple[Record, Record]]:
    """Return stored records, each with the record that the load would send."""
    pairs: list[tuple[Record, Record]] = []
    budget = MAX_STORED_BYTES
    for spread, rows in ((False, FIRST_ROWS), (True, SPREAD_ROWS)):
        records = await prepared.table.db.in_thread(_sample, prepared, rows, spread)
        stored = await read_records(client, index, [record["objectID"] for record in records])
        pairs += [(s, r) for s, r in zip(stored, records, strict=True) if s is not None]
        budget -= sum(len(msgspec.json.encode(record)) for record in stored if record)
        if prepared.plan.rows <= FIRST_ROWS or budget <= 0:
            break
    return pairs


def _count(
    pairs: Iterable[tuple[Record, Record]], sent: _Sent, *, in_memory: bool
) -> AttributeLoss:
    counts: Counter[str] = Counter()
    compared = losing = 0
    for stored, record in pairs:
        lost = [*_lost(stored, record, sent.names, sent.objects)]
        if not lost and in_memory:
            missing = [name for name in stored if name not in record]
            is_part = len(missing) * 2 > len(stored) and len(missing) >= MIN_LOST_OF_PART
            lost = missing if is_part else []
        counts.update(lost)
        compared += 1
        losing += bool(lost)
    return AttributeLoss(tuple(name for name, _ in counts.most_common()), compared, losing)


def _sample(prepared: Prepared, rows: int, spread: bool) -> list[Record]:
    """Return records that the load would send: the first ones, or some of all parts."""
    operations = prepared.operations
    if operations is None:
        operations = [text for (text,) in prepared.table.db.rows(_query(prepared, rows, spread))]
    elif spread:
        operations = operations[FIRST_ROWS :: max(len(operations) // rows, 1)]
    decoded = (_decode(text) for text in operations[:rows])
    return [record for record in decoded if record is not None]


def _query(prepared: Prepared, rows: int, spread: bool) -> str:
    table = prepared.table
    if spread:
        return f"SELECT {prepared.operation} FROM {table.sql} USING SAMPLE reservoir({rows} ROWS)"
    first = f"(SELECT * FROM {table.numbered} WHERE pos < {rows} LIMIT {rows})"
    return f"SELECT {prepared.operation} FROM {first} ORDER BY pos"


def _decode(operation: str | None) -> Record | None:
    """Return the record of an operation; None for a row that cannot be sent."""
    try:
        record = record_of(operation) if operation else {}
    except msgspec.DecodeError:
        return None
    object_id = record.get("objectID")
    return record if isinstance(object_id, str) and object_id else None

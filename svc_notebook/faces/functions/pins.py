"""Pin and hide records for one query, by the rule that applies to exactly this query."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Literal, Unpack

from svc_notebook.core.api.shapes import Rule
from svc_notebook.core.api.validation import check_members
from svc_notebook.data.client import RULES, AsyncClient, find_all, is_scratch, write_and_wait
from svc_notebook.data.declarations import public, verb
from svc_notebook.data.frames import id_text
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, KeyRefused, NotFound
from svc_notebook.faces.functions.curation import Forward, WriteSummary
from svc_notebook.tuning.changes import by_id, holds, journalled_write

Place = Literal["pin", "hide", "free"]
Consequence = Mapping[str, Any]
MAX_NAME_CHARACTERS = 100  # of a query, in the objectID of the rule that is made for it


@public(
    verb(
        "pin",
        "pin products lamp 17",
        "pin products 'desk lamp' 17 --position 2",
        operands=("index", "query", "object_id"),
        options=("forwardToReplicas", "position"),
        names={"object_id": "record"},
    ),
    endpoints=("save_rules",),
)
async def pin(
    index: str,
    query: str,
    object_id: Any,
    position: int = 0,
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Pin a record at a position of the hits of a query.

    The record appears there whether the query matches it or not; records pinned at or after the
    position move down. The pin is part of the rule for exactly this query, which is created if
    necessary. `unpin` and `svc.tuning.undo` revert it.

    Parameters
    ----------
    query : str
        Whole query; case is ignored.
    position : int, default 0
        Position of the record, from 0 for the first.

    Returns
    -------
    dict
        `index`, `rule` (its objectID), `change` (its id in the journal, None if nothing
        changed), `objectID` and `position`; `status` if the key may not read tasks.

    Raises
    ------
    BadInput
        If the position or the query is not valid.
    NotFound
        If the index or the record does not exist.
    TaskFailed

    Examples
    --------
    >>> pinned = svc.pin("products", "desk lamp", "LMP-004")
    >>> svc.search("products", "desk lamp")["objectID"].iloc[0]
    'LMP-004'
    """
    if position < 0:
        raise BadInput(f"`position` must be an integer, 0 for the first position, not {position!r}")
    aio, name = asynchronous(client), id_text(object_id)
    await _check_record(aio, index, name)
    done = await revise_rule(
        aio, index, query, f"pin {name}", replicas,
        lambda consequence: move_record(consequence, name, "pin", position),
    )  # fmt: skip
    return {**done, "objectID": name, "position": position}


@public(
    verb("hide", "hide products lamp 18", names={"object_id": "record"}),
    endpoints=("save_rules",),
    like=pin.__doc__,
)
async def hide(
    index: str,
    query: str,
    object_id: Any,
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Hide a record from the hits of a query.

    The hidden record is part of the rule for exactly this query, which is created if necessary.
    `unhide` and `svc.tuning.undo` revert it.

    Returns
    -------
    dict
        `index`, `rule` (its objectID), `change` (its id in the journal, None if nothing
        changed) and `objectID`; `status` if the key may not read tasks.

    Raises
    ------
    BadInput
        If the query is not valid.
    NotFound
        If the index or the record does not exist.
    TaskFailed

    Examples
    --------
    >>> hidden = svc.hide("products", "desk lamp", "LMP-001")
    >>> svc.search("products", "desk lamp")["objectID"].iloc[0]
    'LMP-003'
    """
    aio, name = asynchronous(client), id_text(object_id)
    await _check_record(aio, index, name)
    done = await revise_rule(
        aio, index, query, f"hide {name}", replicas,
        lambda consequence: move_record(consequence, name, "hide"),
    )  # fmt: skip
    return {**done, "objectID": name}


@public(
    verb("unpin", "unpin products lamp 17", names={"object_id": "record"}),
    endpoints=("save_rules",),
    like=pin.__doc__,
)
async def unpin(
    index: str,
    query: str,
    object_id: Any,
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Remove the pin of a record for a query.

    A rule without any remaining effect is deleted.

    Returns
    -------
    dict
        `index`, `rule` (its objectID), `change` (its id in the journal) and `objectID`;
        `status` if the key may not read tasks.

    Raises
    ------
    NotFound
        If the index does not exist, or the record is not pinned for the query.
    TaskFailed

    Examples
    --------
    >>> pinned = svc.pin("products", "desk lamp", "LMP-004")
    >>> svc.unpin("products", "desk lamp", "LMP-004")["rule"]
    'for-desk-lamp'
    """
    return await _remove_curation(
        asynchronous(client), index, query, id_text(object_id), "pin", replicas
    )


@public(
    verb("unhide", "unhide products lamp 18", names={"object_id": "record"}),
    endpoints=("save_rules",),
    like=unpin.__doc__,
)
async def unhide(
    index: str,
    query: str,
    object_id: Any,
    *,
    client: AnyClient | None = None,
    **replicas: Unpack[Forward],
) -> WriteSummary:
    """Stop hiding a record for a query.

    A rule without any remaining effect is deleted.

    Raises
    ------
    NotFound
        If the index does not exist, or the record is not hidden for the query.
    TaskFailed

    Examples
    --------
    >>> hidden = svc.hide("products", "desk lamp", "LMP-001")
    >>> svc.unhide("products", "desk lamp", "LMP-001")["rule"]
    'for-desk-lamp'
    """
    return await _remove_curation(
        asynchronous(client), index, query, id_text(object_id), "hide", replicas
    )


def move_record(
    consequence: Consequence, object_id: str, where: Place, position: int = 0
) -> dict[str, Any]:
    """Return a consequence in which one record is pinned, hidden, or neither."""
    left = (_without(pin, object_id) for pin in consequence.get("promote", ()))
    pins = [*filter(None, left)]
    hidden = [item for item in consequence.get("hide", ()) if item["objectID"] != object_id]
    if where == "pin":
        pins = _insert_pin(pins, {"objectID": object_id, "position": position})
    if where == "hide":
        hidden = [*hidden, {"objectID": object_id}]
    rest = {name: value for name, value in consequence.items() if name not in ("promote", "hide")}
    lists = {"promote": pins, "hide": hidden}
    return rest | {name: records for name, records in lists.items() if records}


def promoted(pin: Mapping[str, Any]) -> Sequence[str]:
    """Return the objectIDs of one pin."""
    ids: Sequence[str] = pin["objectIDs"] if "objectIDs" in pin else [pin["objectID"]]
    return ids


def does_something(consequence: Consequence) -> bool:
    """Return whether a consequence has an effect."""
    return any(value not in ({}, [], None, False) for value in consequence.values())


def is_for(rule: Mapping[str, Any], query: str) -> bool:
    """Return whether a rule is always active, and applies to exactly this query."""
    [condition, *others] = rule.get("conditions") or [{}]
    if others or rule.get("validity") or not rule.get("enabled", True):
        return False
    named = {name for name, value in condition.items() if value not in ("", False, None)}
    exact = condition.get("anchoring") == "is" and named <= {"pattern", "anchoring"}
    return exact and normalize_query(condition.get("pattern", "")) == normalize_query(query)


def rule_of(query: str, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return the rule for exactly a query, a new one without an effect if there is none."""
    existing = next((rule for rule in rules.values() if is_for(rule, query)), None)
    return existing or {
        "objectID": name_rule(query, rules),
        "conditions": [{"pattern": " ".join(query.split()), "anchoring": "is"}],
        "consequence": {},
    }


def name_rule(query: str, taken: Iterable[str]) -> str:
    """Return an objectID for the rule of a query."""
    name = f"for-{'-'.join(query.split()) or 'nothing-typed'}"[:MAX_NAME_CHARACTERS]
    return f"rule-{secrets.token_hex(4)}" if name in set(taken) else name


async def _check_record(client: AsyncClient, index: str, name: str) -> None:
    """Raise `NotFound` for a missing record: a rule ignores it silently."""
    try:
        records = await client.get_objects([{"indexName": index, "objectID": name}])
    except KeyRefused:  # a key that may write rules may lack the right to search
        return
    if not any(records["results"]):
        raise NotFound(f"{index} has no record `{name}`; nothing was changed", status=404)


async def _remove_curation(
    client: AsyncClient, index: str, query: str, name: str, from_: Place, replicas: Forward
) -> WriteSummary:
    def remove(consequence: Consequence) -> dict[str, Any]:
        pins = [entry for pin in consequence.get("promote", ()) for entry in promoted(pin)]
        hidden = [item["objectID"] for item in consequence.get("hide", ())]
        if name not in (pins if from_ == "pin" else hidden):
            what = "pinned" if from_ == "pin" else "hidden"
            raise NotFound(f"`{name}` is not {what} for the query `{query}` in {index}", status=404)
        changed = move_record(consequence, name, "free")
        kept = "hide" if from_ == "pin" else "promote"
        return {**changed, kept: consequence[kept]} if kept in consequence else changed

    done = await revise_rule(client, index, query, f"un{from_} {name}", replicas, remove)
    return {**done, "objectID": name}


async def revise_rule(
    client: AsyncClient,
    index: str,
    query: str,
    note: str,
    replicas: Forward,
    revise: Callable[[Consequence], dict[str, Any]],
) -> WriteSummary:
    """Change the consequence of the rule of a query, and record the change in the journal."""
    async with AsyncExitStack() as stack:
        if not is_scratch(index):  # temporary indices have no journal
            await stack.enter_async_context(journalled_write.alone(client, index))
        rules = by_id(await find_all(client, RULES, index))
        rule = rule_of(query, rules)
        consequence = revise(rule["consequence"])
        new = {**rule, "consequence": consequence} if does_something(consequence) else None
        if new:
            check_members(new, Rule, "")
        revision, facts = {rule["objectID"]: new}, dict[str, Any]()
        recording = journalled_write.recording(
            client, index, {"rules": revision}, note=f"{note} for {query!r}"
        )
        async with recording as kept:
            if kept.change:
                outcome = await write_and_wait(
                    client,
                    RULES.save(client, index, [new], False, replicas)
                    if new
                    else RULES.delete(client, index, rule["objectID"], replicas),
                    index=index,
                    confirm=lambda: holds(client, index, "rules", revision),
                )
                facts = outcome.facts()
    change = kept.change.change_id if kept.change else None
    return {"index": index, "rule": rule["objectID"], "change": change, **facts}


def normalize_query(query: str) -> str:
    """Normalize a query as rules do: case and runs of whitespace do not matter."""
    return " ".join(query.split()).casefold()


def _without(pin: Mapping[str, Any], object_id: str) -> dict[str, Any] | None:
    """Return a pin without one of its records, or nothing."""
    if "objectIDs" not in pin:
        return None if pin["objectID"] == object_id else dict(pin)
    left = [name for name in pin["objectIDs"] if name != object_id]
    return {**pin, "objectIDs": left} if left else None


def _insert_pin(pins: Sequence[Mapping[str, Any]], new: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Insert a pin; pins at its position or after it move down where they would overlap."""
    at = new["position"]
    before = [dict(pin) for pin in pins if pin["position"] < at]
    after: list[dict[str, Any]] = []
    free = at + 1
    for pin in sorted(pins, key=_position)[len(before) :]:
        after.append({**pin, "position": max(pin["position"], free)})
        free = after[-1]["position"] + len(promoted(pin))
    return [*sorted(before, key=_position), dict(new), *after]


def _position(pin: Mapping[str, Any]) -> int:
    return int(pin["position"])

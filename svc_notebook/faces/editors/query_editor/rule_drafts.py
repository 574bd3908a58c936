"""Drafts of the query editor: records to pin or hide, and the rules that would do it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from svc_notebook.data.client import RULES, AsyncClient, find_all
from svc_notebook.faces.editors.curation_editors.rule_description import (
    describe_conditions,
    describe_consequence,
)
from svc_notebook.faces.functions.curation import WriteSummary
from svc_notebook.faces.functions.pins import move_record, normalize_query, revise_rule, rule_of
from svc_notebook.tuning.changes import by_id


class Placement(TypedDict):
    """A record to pin at a position, from 0, or to hide, for one query of an index."""

    index: str
    query: str
    objectID: str
    title: str
    where: Literal["pin", "hide"]
    position: int


class DraftedRule(TypedDict):
    """A rule as it is saved, None if it is new, and as the placements of its query make it."""

    id: str
    index: str
    query: str
    when: str
    then: str
    before: dict[str, Any] | None
    after: dict[str, Any]


def key_of(placement: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what placements of one record for one query have in common."""
    return placement["index"], normalize_query(placement["query"]), placement["objectID"]


def put(placements: Sequence[Placement], new: Placement) -> list[Placement]:
    """Append a placement, or replace the one of the same record and query."""
    keys = [key_of(placement) for placement in placements]
    if key_of(new) not in keys:
        return [*placements, new]
    return [
        new if key == key_of(new) else placement
        for key, placement in zip(keys, placements, strict=True)
    ]


async def draft_rules(client: AsyncClient, placements: Sequence[Placement]) -> list[DraftedRule]:
    """Return the rule of each query with its placements; nothing is written."""
    indices = dict.fromkeys(placement["index"] for placement in placements)
    saved = {index: by_id(await find_all(client, RULES, index)) for index in indices}
    drafts: list[DraftedRule] = []
    for (index, query), placed in _by_query(placements).items():
        before = rule_of(query, saved[index])
        after = {**before, "consequence": _place(before["consequence"], placed)}
        drafts.append({
            "id": before["objectID"], "index": index, "query": query,
            "when": describe_conditions(after), "then": describe_consequence(after),
            "before": before if before["objectID"] in saved[index] else None, "after": after,
        })  # fmt: skip
    return drafts


async def write_rules(client: AsyncClient, placements: Sequence[Placement]) -> list[WriteSummary]:
    """Write the rule of each query, each as one change of the journal."""
    return [
        await revise_rule(
            client, index, query, _describe(placed), {},
            lambda consequence, placed=placed: _place(consequence, placed),  # type: ignore[misc]
        )
        for (index, query), placed in _by_query(placements).items()
    ]  # fmt: skip


def _by_query(placements: Sequence[Placement]) -> dict[tuple[str, str], list[Placement]]:
    """Group placements by index and query; the first spelling of a query names its group."""
    groups: dict[tuple[str, str], list[Placement]] = {}
    spellings: dict[tuple[str, str], str] = {}
    for placement in placements:
        query = spellings.setdefault(key_of(placement)[:2], placement["query"])
        groups.setdefault((placement["index"], query), []).append(placement)
    return groups


def _describe(placements: Iterable[Placement]) -> str:
    """Describe placements for the journal."""
    return "; ".join(f"{placement['where']} {placement['objectID']}" for placement in placements)


def _place(consequence: Mapping[str, Any], placements: Iterable[Placement]) -> dict[str, Any]:
    moved = dict(consequence)
    for placement in placements:
        moved = move_record(moved, placement["objectID"], placement["where"], placement["position"])
    return moved

"""Handlers that read and write rules."""

from __future__ import annotations

from typing import Literal, cast

from svc_notebook.core.api import SearchApi
from svc_notebook.core.api.messages import OBJECT_MISSING
from svc_notebook.core.api.shapes import Rule, RuleHits, Saved, Updated
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.service.handlers.registry import serves
from svc_notebook.service.resources.checks import RULE_ENTRIES, check_rule
from svc_notebook.service.resources.entries import (
    EntriesChange,
    Entry,
    find_entries,
    read_entries,
    read_entry,
    take_page,
)
from svc_notebook.service.service import RequestContext


@serves(SearchApi.save_rule)
def save_rule(
    call: RequestContext, index: str, object_id: str, rule: Rule, *, forwardToReplicas: bool = False
) -> Saved:
    """Queue one rule."""
    if rule["objectID"] != object_id:
        raise BadInput(f"`objectID` is {rule['objectID']} in the body, {object_id} in the path")
    change = EntriesChange(RULE_ENTRIES, save=[check_rule(rule, "")], forward=forwardToReplicas)
    return {**call.accept_entries(index, change), "objectID": object_id}


@serves(SearchApi.save_rules)
def save_rules(
    call: RequestContext,
    index: str,
    rules: list[Rule],
    *,
    forwardToReplicas: bool = False,
    clearExistingRules: bool = False,
) -> Updated:
    """Queue many rules as one task, so that a replacement is atomic."""
    saved = [check_rule(rule, f"[{number}]") for number, rule in enumerate(rules)]
    change = EntriesChange(
        RULE_ENTRIES, clear=clearExistingRules, save=saved, forward=forwardToReplicas
    )
    return call.accept_entries(index, change)


@serves(SearchApi.get_rule)
def get_rule(call: RequestContext, index: str, object_id: str) -> Rule:
    """Read one rule."""
    published = call.service.catalog.find(index)
    rule = read_entry(call.service.store, published.id, RULE_ENTRIES, object_id)
    if rule is None:
        raise NotFound(OBJECT_MISSING, status=404)
    return cast("Rule", rule)


@serves(SearchApi.delete_rule)
def delete_rule(
    call: RequestContext, index: str, object_id: str, *, forwardToReplicas: bool = False
) -> Updated:
    """Queue the deletion of one rule."""
    change = EntriesChange(RULE_ENTRIES, delete=[object_id], forward=forwardToReplicas)
    return call.accept_entries(index, change)


@serves(SearchApi.clear_rules)
def clear_rules(call: RequestContext, index: str, *, forwardToReplicas: bool = False) -> Updated:
    """Queue the deletion of all rules."""
    change = EntriesChange(RULE_ENTRIES, clear=True, forward=forwardToReplicas)
    return call.accept_entries(index, change)


@serves(SearchApi.search_rules)
def search_rules(
    call: RequestContext,
    index: str,
    query: str = "",
    anchoring: Literal["is", "startsWith", "endsWith", "contains"] | None = None,
    context: str | None = None,
    page: int = 0,
    hitsPerPage: int = 20,
    enabled: bool | None = None,
) -> RuleHits:
    """Search rules by their words and conditions; an index that does not exist has none."""
    published = call.service.catalog.get(index)
    rules = read_entries(call.service.store, published.id, RULE_ENTRIES) if published else []
    chosen = [
        rule
        for rule in rules
        if enabled in (None, rule.get("enabled", True))
        and _has(rule, "anchoring", anchoring)
        and _has(rule, "context", context)
    ]
    return cast("RuleHits", take_page(find_entries(chosen, query), page, hitsPerPage))


def _has(rule: Entry, member: str, value: str | None) -> bool:
    return not value or any(c.get(member) == value for c in rule.get("conditions", ()))

"""Apply an index's rules to a search, before the restrictions of the caller's key."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from svc_notebook.errors import BadInput, KeyRefused
from svc_notebook.service import limits
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.ranking.promoted_hits import NO_PINS
from svc_notebook.service.engine.response.facets import Named
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.rules.consequence import (
    MERGED_PARAMETERS,
    RENDERING,
    RuleOutcome,
    apply_consequences,
    merge,
)
from svc_notebook.service.rules.filters import FILTERS
from svc_notebook.service.rules.rule import AppliedRule, SearchContext


@dataclass(frozen=True, eq=False)
class SearchWithRules:
    """A search after its rules: its index, its original parameters and the rules' outcome.

    `original` are the parameters before the rules, `outcome.params` those after them. Neither
    includes the restrictions of the key.
    """

    index: PublishedIndex
    original: Mapping[str, Any]
    outcome: RuleOutcome


def apply_rules(
    call: CallContext,
    index: PublishedIndex,
    original: Mapping[str, Any],
    *,
    repair: bool = False,
) -> SearchWithRules:
    """Find and apply the rules of a search; with `repair`, omit invalid parameters of rules.

    The restrictions of the caller's key count when rules are selected. Rules cannot change them,
    because they are applied afterwards, and promoted records must match them too.
    """
    resources = call.service.catalog.resources
    untouched = SearchWithRules(index, original, RuleOutcome(original))
    bound = call.caller.restrict(original, index.name)
    options = EffectiveParameters(index.settings, bound, resources.language_resources(index.id))
    if not options["enableRules"]:
        return untouched
    search = SearchContext(options, partial(_find_named, index, options))
    applied = resources.rules(index.id).find(search, time.time())
    if not applied:
        return untouched
    faults: list[str] = []
    if len(applied) > limits.MAX_APPLIED_RULES:
        limit = limits.MAX_APPLIED_RULES
        faults.append(f"{len(applied):,} rules match; only the first {limit:,} were applied")
        applied = applied[:limit]
    if repair:
        applied = [_remove_invalid_params(index, rule, faults) for rule in applied]
    outcome = replace(
        apply_consequences(applied, original, search.words, options.rules), faults=tuple(faults)
    )
    if outcome.rendering is not None:
        base = [outcome.rendering, options[RENDERING] or {}]
        outcome = replace(outcome, params={**outcome.params, RENDERING: merge(iter(base))})
    target = _redirect_target(call, index, outcome)
    return SearchWithRules(target, original, _restrict_pins(call, target, outcome))


def without_rules(
    index: PublishedIndex, original: Mapping[str, Any], fault: str
) -> SearchWithRules:
    """Return a search without rules, and the reason."""
    return SearchWithRules(
        index, original, RuleOutcome(original, faults=(f"rules left out: {fault}",))
    )


def _remove_invalid_params(
    index: PublishedIndex, applied: AppliedRule, faults: list[str]
) -> AppliedRule:
    """Remove a rule's parameters that are invalid for this index, and report them."""
    rule = applied.rule
    params = rule.consequence.get("params") or {}
    wrong = {name: why for name in params if (why := _find_fault(index, name, params[name]))}
    if not wrong:
        return applied
    faults += [f"rule {rule.id}: `{name}` left out: {why}" for name, why in wrong.items()]
    kept = {name: value for name, value in params.items() if name not in wrong}
    consequence = {**rule.consequence, "params": kept}
    return applied._replace(rule=replace(rule, consequence=consequence))


def _find_fault(index: PublishedIndex, name: str, value: Any) -> str:
    """Return the error of one parameter alone; empty if it is valid."""
    if name in MERGED_PARAMETERS.difference(FILTERS):
        return ""
    try:
        index.engine.get().search({"hitsPerPage": 1, name: value}, lambda ids: [None] * len(ids))
    except BadInput as error:
        return str(error)
    return ""


def _find_named(
    index: PublishedIndex, options: EffectiveParameters, facet: str, words: Sequence[str]
) -> list[Named]:
    return index.engine.get().named(facet, words, options.rules)


def _redirect_target(
    call: CallContext, index: PublishedIndex, outcome: RuleOutcome
) -> PublishedIndex:
    """Return the index that a rule redirects to, if it exists and the key reaches it."""
    target = call.service.catalog.get(outcome.redirect) if outcome.redirect else None
    if target is None:
        return index
    try:
        call.caller.require("search", [target.name])
    except KeyRefused:
        return index
    call.redirects.add(target.name)
    return target


def _restrict_pins(call: CallContext, index: PublishedIndex, outcome: RuleOutcome) -> RuleOutcome:
    if outcome.pins == NO_PINS:
        return outcome
    return replace(outcome, pins=replace(outcome.pins, within=call.caller.restrict({}, index.name)))

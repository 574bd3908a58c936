"""Errors and warnings about one rule: missing parts, and parts without effect."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from itertools import groupby, islice, product
from typing import Any, NamedTuple

from svc_notebook.core.api.rule_checks import read_span
from svc_notebook.core.display import shorten
from svc_notebook.faces.editors.curation_editors.editor import ObjectProblem
from svc_notebook.faces.functions.pins import does_something, promoted

Rule = Mapping[str, Any]
# Browsers skip control characters and spaces at the start of an address.
SKIPPED_CHARACTERS = "".join(map(chr, range(33)))
SCRIPT_SCHEMES = ("javascript:", "vbscript:", "data:")

Words = tuple[str, ...]
Target = tuple[str, str]
MAX_CONFLICTS_PER_RULE = 5  # reported
# Members of a consequence's params that are combined, not overridden, if several rules apply.
COMBINED_PARAMS = (
    "filters", "facetFilters", "numericFilters", "tagFilters", "automaticFacetFilters",
    "automaticOptionalFacetFilters", "renderingContent",
)  # fmt: skip
ANY = "*"  # every context, or all filters


def find_own_faults(rule: Rule) -> Iterator[ObjectProblem]:
    """Yield the errors and warnings about one rule."""
    consequence = rule["consequence"]
    if not does_something(consequence):
        yield {
            "level": "error",
            "text": "no consequence: add a pin, a hidden record, a filter or a parameter",
        }
    for address in _script_addresses(consequence):
        text = f"`{shorten(address, 60)}` runs code in the page of the user who searches"
        yield {"level": "warning", "text": f"{text}; redirect to an http address"}
    for text in (*_repeated_pins(consequence), *_schedule_fault(rule)):
        yield {"level": "warning", "text": text}


def _repeated_pins(consequence: Mapping[str, Any]) -> Iterator[str]:
    pins = Counter(name for item in consequence.get("promote", ()) for name in promoted(item))
    yield from (f"`{name}` is pinned twice" for name, count in pins.items() if count > 1)
    hidden_ids = dict.fromkeys(hidden(consequence))
    yield from (f"`{name}` is pinned and hidden" for name in hidden_ids if name in pins)


def _schedule_fault(rule: Rule) -> Iterator[str]:
    spans = [read_span(span) for span in rule.get("validity") or ()]
    lasting = [end for start, end in spans if start != end]
    if spans and not lasting:
        yield "the schedule is empty: start and end are equal"
    elif spans and max(lasting) <= time.time():
        yield "the schedule is over"


def _script_addresses(value: Any) -> Iterator[str]:
    """Yield the texts in a consequence that a browser runs when it opens them."""
    if isinstance(value, str):
        if value.lstrip(SKIPPED_CHARACTERS).lower().startswith(SCRIPT_SCHEMES):
            yield value
    elif isinstance(value, Mapping | list):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from _script_addresses(member)


def applies_at(rule: Rule, at: float) -> bool:
    """Return whether a time, in seconds since 1970, is in the schedule of a rule, if it has one."""
    spans = [read_span(span) for span in rule.get("validity") or ()]
    return not spans or any(start <= at < end for start, end in spans)


def as_of(rules: Sequence[Rule], at: float) -> list[dict[str, Any]]:
    """Return rules without schedules that apply now as the given ones do at a time."""
    unscheduled = []
    for rule in rules:
        rest = {name: value for name, value in rule.items() if name != "validity"}
        unscheduled.append(rest if applies_at(rule, at) else {**rest, "enabled": False})
    return unscheduled


def hidden(consequence: Mapping[str, Any]) -> list[str]:
    """Return the objectIDs that a consequence hides."""
    return [item["objectID"] for item in consequence.get("hide", ())]


class PatternCondition(NamedTuple):
    """One condition: the words of its pattern, the anchoring, the context and the filters."""

    words: Words
    anchoring: str | None
    context: str | None
    filters: str | None


@dataclass(frozen=True)
class RuleSummary:
    """One enabled rule: its conditions and its effects."""

    rule: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The objectID."""
        return str(self.rule["objectID"])

    @cached_property
    def conditions(self) -> list[PatternCondition]:
        """The conditions; a rule without conditions has one that every search meets."""
        return [_read_condition(condition) for condition in self.rule.get("conditions") or [{}]]

    @cached_property
    def effects(self) -> dict[Target, Any]:
        """The effects of the rule, by their targets: records, positions, parameters, a redirect."""
        consequence = self.rule["consequence"]
        effects: dict[Target, Any] = {
            ("param", name): value
            for name, value in (consequence.get("params") or {}).items()
            if _overrides(name, value)
        }
        for item in consequence.get("promote") or ():
            effects |= {("record", name): item["position"] for name in promoted(item)}
            effects[("place", str(item["position"]))] = list(promoted(item))
        effects |= {("record", name): None for name in hidden(consequence)}
        if redirect := consequence.get("redirect"):
            effects[("redirect", "")] = redirect["indexName"]
        return effects

    @cached_property
    def effects_as_json(self) -> dict[Target, str]:
        """The effects as JSON, because an effect can be an unhashable list or object."""
        return {
            target: json.dumps(effect, sort_keys=True) for target, effect in self.effects.items()
        }


@dataclass
class RuleGroup:
    """The rules with an effect on one target, by their places, and the effects."""

    places: list[int] = field(default_factory=list)
    effects: set[str] = field(default_factory=set)


def _overrides(name: str, value: Any) -> bool:
    """Return whether a parameter of a consequence replaces that of another rule."""
    return name not in COMBINED_PARAMS and not (name == "query" and isinstance(value, dict))


def find_conflicts(
    rules: Iterable[Mapping[str, Any]], most: int = MAX_CONFLICTS_PER_RULE
) -> Iterator[tuple[str, str, str]]:
    """Yield conflicts as `(objectID, objectID of the other rule, description)`.

    Of each rule the first `most` conflicts are reported, in the order of the other rules.
    """
    summaries = [RuleSummary(rule) for rule in rules if rule.get("enabled", True)]
    by_target, by_words = _group_by_target(summaries), _group_by_words(summaries)
    for number, summary in enumerate(summaries):
        conflicts = (
            (summary.id, summaries[other].id, description)
            for other in _find_candidates(summary, by_target, by_words)
            if other != number
            for first, second in [sorted((number, other))]
            if (description := describe_conflict(summaries[first], summaries[second]))
        )
        yield from islice(conflicts, most)


def describe_conflict(rule: RuleSummary, other: RuleSummary) -> str:
    """Describe the conflict of two rules that match the same searches; empty without one."""
    for key, mine in rule.effects_as_json.items():
        if other.effects_as_json.get(key, mine) != mine:
            description = _describe(key, rule.effects[key], other.effects[key])
            return description if _can_match_together(rule, other) else ""
    return ""


def _group_by_target(summaries: Sequence[RuleSummary]) -> dict[Target, RuleGroup]:
    """Group rules by the targets of their effects."""
    groups: dict[Target, RuleGroup] = defaultdict(RuleGroup)
    for number, summary in enumerate(summaries):
        for target, effect in summary.effects_as_json.items():
            groups[target].places.append(number)
            groups[target].effects.add(effect)
    return groups


def _group_by_words(summaries: Sequence[RuleSummary]) -> dict[Any, list[int]]:
    """Group rules by the words of their conditions, and by all runs of these words."""
    groups: dict[Any, list[int]] = defaultdict(list)
    for number, summary in enumerate(summaries):
        keys = {
            (*at, context, filters)
            for words, _, *where in summary.conditions
            for at in [("has", words), *(("runs", run) for run in _runs(words))]
            for context, filters in product(*({value, ANY} for value in where))
        }
        for key in keys:
            groups[key].append(number)
    return groups


def _list_overlapping(summary: RuleSummary) -> set[Any]:
    """Return the keys of `_group_by_words` of the rules that can match together with one rule."""
    return {
        (*at, context, filters)
        for words, _, *where in summary.conditions
        for at in [("runs", words), *(("has", run) for run in _runs(words))]
        for context, filters in product(*((value, None) if value else (ANY,) for value in where))
    }


def _find_candidates(
    summary: RuleSummary, by_target: Mapping[Target, RuleGroup], by_words: Mapping[Any, list[int]]
) -> Iterator[int]:
    """Yield the places of the rules that can conflict with one rule, each once, in order."""
    matching = [by_words[key] for key in _list_overlapping(summary) if key in by_words]
    own_groups = [(by_target[target], effect) for target, effect in summary.effects_as_json.items()]
    contradicting = [group.places for group, effect in own_groups if group.effects != {effect}]
    fewest = min(matching, contradicting, key=lambda lists: sum(map(len, lists)))
    return (number for number, _ in groupby(merge(*fewest)))


def _runs(words: Words) -> Iterator[Words]:
    """Yield every run of consecutive words, the empty run included."""
    yield ()
    for start in range(len(words)):
        yield from (words[start:end] for end in range(start + 1, len(words) + 1))


def _describe(key: Target, mine: Any, yours: Any) -> str:
    kind, name = key
    if kind == "record" and None in (mine, yours):
        return f"one pins `{name}`, the other hides it"
    if kind == "record":
        return f"`{name}` is pinned at positions {mine + 1} and {yours + 1}"
    if kind == "place":
        return f"both pin a record at position {int(name) + 1}"
    return "they redirect to different indices" if kind == "redirect" else f"both set `{name}`"


def _can_match_together(rule: RuleSummary, other: RuleSummary) -> bool:
    return _schedules_overlap(rule.rule, other.rule) and any(
        _patterns_overlap(mine, yours) for mine, yours in product(rule.conditions, other.conditions)
    )


def _schedules_overlap(schedule: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    spans, others = schedule.get("validity"), other.get("validity")
    if not spans or not others:
        return True
    pairs = product(map(read_span, spans), map(read_span, others))
    return any(max(a[0], b[0]) < min(a[1], b[1]) for a, b in pairs)


def _patterns_overlap(mine: PatternCondition, yours: PatternCondition) -> bool:
    """Return whether one pattern's words are equal to, or part of, the other's.

    A query can contain any two patterns, and any two filters; that alone is not reported.
    """
    if _differ(mine.context, yours.context) or _differ(mine.filters, yours.filters):
        return False
    if mine.anchoring is None or yours.anchoring is None:
        return True
    return _within(mine, yours) or _within(yours, mine)


def _differ(value: str | None, other: str | None) -> bool:
    return value is not None and other is not None and value != other


def _within(short: PatternCondition, other: PatternCondition) -> bool:
    """Return whether every query that meets `other` also meets `short`."""
    some, words = short.words, other.words
    if short.anchoring == "is":
        return words == some
    if short.anchoring == "startsWith":
        same = other.anchoring in ("is", "startsWith")
        return words[: len(some)] == some and (same or words == some)
    if short.anchoring == "endsWith":
        same = other.anchoring in ("is", "endsWith")
        return words[len(words) - len(some) :] == some and (same or words == some)
    return any(words[at : at + len(some)] == some for at in range(len(words) - len(some) + 1))


def _read_condition(condition: Mapping[str, Any]) -> PatternCondition:
    return PatternCondition(
        tuple(str(condition.get("pattern", "")).casefold().split()),
        condition.get("anchoring"),
        condition.get("context") or None,
        condition.get("filters") or None,
    )

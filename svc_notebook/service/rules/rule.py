"""A compiled rule: its conditions, its time ranges and its precedence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from svc_notebook.core.api.rule_checks import read_span
from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.service.engine.filters.filters import parse_filters
from svc_notebook.service.rules.pattern import Capture, Pattern, PatternMatch
from svc_notebook.service.rules.search_context import SearchContext, SelectedValue, selected_value

ANCHORINGS = ("is", "startsWith", "endsWith", "contains")
# The match position of a condition without a pattern: after all conditions with a match.
NO_POSITION = 2**20

Precedence = tuple[int | str, ...]


@dataclass(frozen=True)
class CompiledRule:
    """A rule's consequence and time ranges; no ranges means always."""

    id: str
    consequence: Mapping[str, Any]
    spans: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> CompiledRule:
        """Compile a stored rule."""
        spans = tuple(map(read_span, entry.get("validity", ())))
        return cls(entry["objectID"], entry["consequence"], spans)

    def is_valid(self, now: float) -> bool:
        """Return whether the rule is valid at a time in Unix seconds."""
        return not self.spans or any(start <= now < end for start, end in self.spans)


@dataclass(frozen=True)
class CompiledCondition:
    """One condition of a rule; a search must meet all of its parts."""

    pattern: Pattern | None = None
    context: str | None = None
    selected: tuple[SelectedValue, ...] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any], rules: TokenizerSettings) -> CompiledCondition:
        """Compile a stored condition."""
        text = given.get("pattern")
        alternatives = bool(given.get("alternatives"))
        pattern = (
            None
            if text is None
            else Pattern.of(text, given["anchoring"], rules, alternatives=alternatives)
        )
        terms = [term for group in parse_filters(given) for term in group]
        selected = tuple(key for term in terms if (key := selected_value(term)))
        return cls(pattern, given.get("context") or None, selected)

    def find(self, search: SearchContext) -> PatternMatch | None:
        """Return where the condition matches a search, or None."""
        if self.context is not None and self.context not in search.contexts:
            return None
        if self.selected and not search.selected.issuperset(self.selected):
            return None
        return self.pattern.find(search) if self.pattern else PatternMatch(NO_POSITION, NO_POSITION)


class AppliedRule(NamedTuple):
    """A rule that applies to a search, with the captures of its pattern and its precedence."""

    rule: CompiledRule
    captures: Sequence[Capture]
    precedence: Precedence


def apply_rule(
    rule: CompiledRule, condition: CompiledCondition, search: SearchContext
) -> AppliedRule | None:
    """Match one condition of a rule with a search; return None if it does not apply."""
    match = condition.find(search)
    if match is None:
        return None
    pattern = condition.pattern
    precedence = (
        match.start,
        match.start - match.end,
        ANCHORINGS.index(pattern.anchoring) if pattern else len(ANCHORINGS),
        condition.context is None,
        not condition.selected,
        bool(pattern and pattern.placeholders),
        not rule.spans,
        rule.id,
    )
    return AppliedRule(rule, match.captures, precedence)

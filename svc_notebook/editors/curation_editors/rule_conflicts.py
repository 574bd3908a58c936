"""Conflicts between rules: rules that match the same searches but have contradicting effects.

Each rule is compared only with the rules that have another effect on the same record, position or
parameter, or with those whose words, context and filters can match together, whichever are fewer.
Only the first few conflicts of each rule are reported.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import merge
from itertools import groupby, islice, product
from typing import Any, NamedTuple

from svc_notebook.api.rule_checks import read_span
from svc_notebook.editors.curation_editors.rule_checks import hidden, promoted

Words = tuple[str, ...]
Wish = tuple[str, str]
MAX_CONFLICTS_PER_RULE = 5  # conflicts told of one rule
# Members of a consequence's params that add up, rather than take each other's place.
JOINED = ("filters", "facetFilters", "numericFilters", "tagFilters", "automaticFacetFilters",
          "automaticOptionalFacetFilters", "renderingContent")  # fmt: skip
ANY = "*"  # stands for every context, and for all filters


class PatternCondition(NamedTuple):
    """One condition: the words of its pattern, how they are met, and where."""

    words: Words
    anchoring: str | None
    context: str | None
    filters: str | None


@dataclass(frozen=True)
class RuleSummary:
    """One enabled rule: when it applies, and what it wants."""

    rule: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its objectID."""
        return str(self.rule["objectID"])

    @cached_property
    def conditions(self) -> list[PatternCondition]:
        """Its conditions; a rule without any has one that says nothing."""
        return [_read_condition(one) for one in self.rule.get("conditions") or [{}]]

    @cached_property
    def wishes(self) -> dict[Wish, Any]:
        """What it wants, by what that is about."""
        consequence = self.rule["consequence"]
        params = consequence.get("params") or {}
        wishes: dict[Wish, Any] = {
            ("param", name): value
            for name, value in params.items()
            if name not in JOINED and not (name == "query" and isinstance(value, dict))
        }
        for item in consequence.get("promote") or ():
            wishes |= {("record", name): item["position"] for name in promoted(item)}
            wishes[("place", str(item["position"]))] = list(promoted(item))
        wishes |= {("record", name): None for name in hidden(consequence)}
        if goal := consequence.get("redirect"):
            wishes[("redirect", "")] = goal["indexName"]
        return wishes

    @cached_property
    def spelled(self) -> dict[Wish, str]:
        """The same as texts, for any of it may be a list or an object."""
        return {wish: json.dumps(wanted, sort_keys=True) for wish, wanted in self.wishes.items()}


@dataclass
class RuleGroup:
    """Rules by their places, and what they want of one thing."""

    places: list[int] = field(default_factory=list)
    wants: set[str] = field(default_factory=set)


def find_conflicts(
    rules: Iterable[Mapping[str, Any]], most: int = MAX_CONFLICTS_PER_RULE
) -> Iterator[tuple[str, str, str]]:
    """Yield rules that disagree as `(objectID, the other's objectID, about what)`.

    Of each rule the first `most` others are told, in their order.
    """
    cards = [RuleSummary(rule) for rule in rules if rule.get("enabled", True)]
    by_wish, by_words = _shelve_wishes(cards), _shelve_words(cards)
    for place, card in enumerate(cards):
        near = (other for other in _find_near(card, by_wish, by_words) if other != place)
        told = ((card.id, cards[other].id, at_odds(*_in_order(cards, place, other)))
                for other in near)  # fmt: skip
        yield from islice((each for each in told if each[2]), most)


def at_odds(one: RuleSummary, other: RuleSummary) -> str:
    """Say about what two rules disagree that apply to the same searches, or nothing."""
    for key, mine in one.spelled.items():
        if other.spelled.get(key, mine) != mine:
            said = _describe(key, one.wishes[key], other.wishes[key])
            return said if _may_meet(one, other) else ""
    return ""


def _in_order(
    cards: Sequence[RuleSummary], one: int, other: int
) -> tuple[RuleSummary, RuleSummary]:
    return cards[min(one, other)], cards[max(one, other)]


def _shelve_wishes(cards: Sequence[RuleSummary]) -> dict[Wish, RuleGroup]:
    """Put rules together that want something of one thing."""
    shelves: dict[Wish, RuleGroup] = defaultdict(RuleGroup)
    for place, card in enumerate(cards):
        for wish, wanted in card.spelled.items():
            shelves[wish].places.append(place)
            shelves[wish].wants.add(wanted)
    return shelves


def _shelve_words(cards: Sequence[RuleSummary]) -> dict[Any, list[int]]:
    """Put rules where those that may meet them look: by their words, and by runs of them."""
    shelves: dict[Any, list[int]] = defaultdict(list)
    for place, card in enumerate(cards):
        keys = {
            (*at, context, filters)
            for words, _, *where in card.conditions
            for at in [("has", words), *(("runs", run) for run in _runs(words))]
            for context, filters in product(*({one, ANY} for one in where))
        }
        for key in keys:
            shelves[key].append(place)
    return shelves


def _find_near(
    card: RuleSummary, by_wish: Mapping[Wish, RuleGroup], by_words: Mapping[Any, list[int]]
) -> Iterator[int]:
    """The places of rules that may be at odds with this one, each once, in order."""
    keys = {
        (*at, context, filters)
        for words, _, *where in card.conditions
        for at in [("runs", words), *(("has", run) for run in _runs(words))]
        for context, filters in product(*((one, None) if one else (ANY,) for one in where))
    }
    met = [by_words[key] for key in keys if key in by_words]
    wanting = [(by_wish[wish], wanted) for wish, wanted in card.spelled.items()]
    rivals = [shelf.places for shelf, wanted in wanting if shelf.wants != {wanted}]
    fewer = min(met, rivals, key=lambda lists: sum(map(len, lists)))
    return (place for place, _ in groupby(merge(*fewer)))


def _runs(words: Words) -> Iterator[Words]:
    """Every run of words that stands in these, none at all among them."""
    yield ()
    for start in range(len(words)):
        yield from (words[start:end] for end in range(start + 1, len(words) + 1))


def _describe(key: Wish, mine: Any, yours: Any) -> str:
    kind, name = key
    if kind == "record" and None in (mine, yours):
        return f"one pins `{name}`, the other hides it"
    if kind == "record":
        return f"`{name}` is pinned to {mine + 1} and to {yours + 1}"
    if kind == "place":
        return f"both pin a record to {int(name) + 1}"
    return "they redirect to different indices" if kind == "redirect" else f"both set `{name}`"


def _may_meet(one: RuleSummary, other: RuleSummary) -> bool:
    return _same_time(one.rule, other.rule) and any(
        _same_query(mine, yours) for mine, yours in product(one.conditions, other.conditions)
    )


def _same_time(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    spans, others = one.get("validity"), other.get("validity")
    if not spans or not others:
        return True
    pairs = product(map(read_span, spans), map(read_span, others))
    return any(max(a[0], b[0]) < min(a[1], b[1]) for a, b in pairs)


def _same_query(mine: PatternCondition, yours: PatternCondition) -> bool:
    """Whether a query meets both: where the patterns' words are the same, or within another's.

    Any two words may stand in one query, and any two filters; that alone is no conflict worth a
    word.
    """
    if _differ(mine.context, yours.context) or _differ(mine.filters, yours.filters):
        return False
    if mine.anchoring is None or yours.anchoring is None:
        return True
    return _within(mine, yours) or _within(yours, mine)


def _differ(one: str | None, other: str | None) -> bool:
    return one is not None and other is not None and one != other


def _within(short: PatternCondition, other: PatternCondition) -> bool:
    """Whether the query that is, or has, some words also meets a pattern of fewer."""
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

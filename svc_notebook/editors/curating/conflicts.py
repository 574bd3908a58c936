"""Rules that apply to the same searches and want different things of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from svc_notebook.editors.curating.rule_faults import hidden, promoted

Words = tuple[str, ...]
# Members of a consequence's params that add up, rather than take each other's place.
JOINED = ("filters", "facetFilters", "numericFilters", "tagFilters", "automaticFacetFilters",
          "automaticOptionalFacetFilters", "renderingContent")  # fmt: skip
ANY = object()  # stands for every context


@dataclass(frozen=True)
class Card:
    """One enabled rule: when it applies, and what it wants."""

    rule: Mapping[str, Any]

    @property
    def id(self) -> str:
        """Its objectID."""
        return str(self.rule["objectID"])

    @cached_property
    def conditions(self) -> list[tuple[Mapping[str, Any], Words]]:
        """Its conditions with the words of their patterns."""
        return [(one, _words(one)) for one in self.rule.get("conditions") or [{}]]

    @cached_property
    def wishes(self) -> dict[tuple[str, str], Any]:
        """What it wants, by what that is about."""
        consequence = self.rule["consequence"]
        params = consequence.get("params") or {}
        wishes: dict[tuple[str, str], Any] = {
            ("param", name): value
            for name, value in params.items()
            if name not in JOINED and not (name == "query" and isinstance(value, dict))
        }
        for item in consequence.get("promote") or ():
            wishes |= {("record", name): item["position"] for name in promoted(item)}
            wishes[("place", str(item["position"]))] = tuple(promoted(item))
        wishes |= {("record", name): None for name in hidden(consequence)}
        if goal := consequence.get("redirect"):
            wishes[("redirect", "")] = goal["indexName"]
        return wishes


def find_conflicts(rules: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Yield rules that disagree as `(objectID, the other's objectID, about what)`."""
    cards = [Card(rule) for rule in rules if rule.get("enabled", True)]
    for one, other in _candidates(cards):
        said = _disagree(one, other)
        if said and _may_meet(one, other):
            yield one.id, other.id, said
            yield other.id, one.id, said


def _candidates(cards: Sequence[Card]) -> Iterator[tuple[Card, Card]]:
    """Pair rules of which one's words stand in the other's; those without any meet every other."""
    shelves: dict[tuple[Words, Any], set[int]] = defaultdict(set)
    for place, card in enumerate(cards):
        for condition, words in card.conditions:
            context = condition.get("context")
            shelves[words, context].add(place)
            shelves[words, ANY].add(place)
    pairs: set[tuple[int, int]] = set()
    for place, card in enumerate(cards):
        for key in _keys(card):
            near = shelves.get(key, set()) - {place}
            pairs |= {(min(place, other), max(place, other)) for other in near}
    return ((cards[one], cards[other]) for one, other in sorted(pairs))


def _keys(card: Card) -> Iterator[tuple[Words, Any]]:
    """Where rules are that may meet this one; without a context it is for every one."""
    for condition, words in card.conditions:
        context = condition.get("context")
        contexts = (context, None) if context else (ANY,)
        yield from product(_runs(words), contexts)


def _runs(words: Words) -> Iterator[Words]:
    """Every run of words that stands in these, none at all among them."""
    yield ()
    for start in range(len(words)):
        yield from (words[start:end] for end in range(start + 1, len(words) + 1))


def _disagree(one: Card, other: Card) -> str:
    """Say about what two rules disagree, or nothing."""
    for key in one.wishes.keys() & other.wishes.keys():
        mine, yours = one.wishes[key], other.wishes[key]
        if mine != yours:
            return _describe(key, mine, yours)
    return ""


def _describe(key: tuple[str, str], mine: Any, yours: Any) -> str:
    kind, name = key
    if kind == "record" and None in (mine, yours):
        return f"one pins `{name}`, the other hides it"
    if kind == "record":
        return f"`{name}` is pinned to {mine + 1} and to {yours + 1}"
    if kind == "place":
        return f"both pin a record to {int(name) + 1}"
    return "they redirect to different indices" if kind == "redirect" else f"both set `{name}`"


def _may_meet(one: Card, other: Card) -> bool:
    return _same_time(one.rule, other.rule) and any(
        _same_query(mine, yours) for mine, yours in product(one.conditions, other.conditions)
    )


def _same_time(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    spans, others = one.get("validity"), other.get("validity")
    if not spans or not others:
        return True
    return any(a["from"] < b["until"] and b["from"] < a["until"] for a, b in product(spans, others))


def _same_query(
    one: tuple[Mapping[str, Any], Words], other: tuple[Mapping[str, Any], Words]
) -> bool:
    """Whether a query meets both: where the patterns' words are the same, or within another's.

    Any two words may stand in one query; that alone is no conflict worth a word.
    """
    (mine, words), (yours, others) = one, other
    contexts = mine.get("context"), yours.get("context")
    if all(contexts) and contexts[0] != contexts[1]:
        return False
    if "pattern" not in mine or "pattern" not in yours:
        return True
    how, hows = mine["anchoring"], yours["anchoring"]
    return _within(words, how, others, hows) or _within(others, hows, words, how)


def _within(short: Words, how: str, words: Words, other: str) -> bool:
    """Whether the query that is, or has, some words also meets a pattern of fewer."""
    if how == "is":
        return words == short
    if how == "startsWith":
        return words[: len(short)] == short and (other in ("is", "startsWith") or words == short)
    if how == "endsWith":
        start = len(words) - len(short)
        return words[start:] == short and (other in ("is", "endsWith") or words == short)
    return any(words[at : at + len(short)] == short for at in range(len(words) - len(short) + 1))


def _words(condition: Mapping[str, Any]) -> Words:
    return tuple(str(condition.get("pattern", "")).casefold().split())

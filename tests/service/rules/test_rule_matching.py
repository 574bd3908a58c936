"""Rules found through the lookup table equal those found by a test of each rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from time import perf_counter
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from svc_notebook.core.tokenization.tokenizer import TokenizerSettings
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.response.facets import Named
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Thesaurus
from svc_notebook.service.resources.compiled import Rulebook
from svc_notebook.service.rules.rule import Pattern, SearchContext
from tests.conftest import examples
from tests.service.engine.oracle import typos_between

WORDS = ["red", "reed", "lamp", "lamps", "cabinet", "cabinets", "dark", "star", "a"]
VALUES = {"brand": ["red", "dark star", "star", "star lamp"], "colour": ["red", "red red"]}
SYNONYMS = [("lamp", "dark star"), ("a", "cabinet"), ("dark star", "red")]
ANCHORINGS = ["is", "startsWith", "endsWith", "contains"]


def find_named(facet: str, words: Sequence[str]) -> list[Named]:
    found = [
        Named(start, end, (value,))
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
        for value in VALUES.get(facet, ())
        if " ".join(words[start:end]) == value
    ]
    return sorted(found, key=lambda named: (named.start, -named.end))


def read(query: str, **params: Any) -> SearchContext:
    entries = [
        {"objectID": str(n), "type": "onewaysynonym", "input": one, "synonyms": [other]}
        for n, (one, other) in enumerate(SYNONYMS)
    ]
    knowledge = LanguageResources(Thesaurus(lambda: entries))
    return SearchContext(EffectiveParameters({}, {"query": query, **params}, knowledge), find_named)


# ------------------------------------------------------------------------ the same, by brute force


def spans_for(pattern: str, words: Sequence[str], loose: bool) -> Iterator[tuple[int, int]]:
    """Return where a pattern stands: every way to write it is compared with every run of words."""
    tokens = pattern.split()
    for start, end in product(range(len(words)), range(1, len(words) + 1)):
        if start < end and can_be(tokens, list(words[start:end]), loose):
            yield start, end


def can_be(tokens: Sequence[str], words: Sequence[str], loose: bool) -> bool:
    if not tokens or not words:
        return not tokens and not words
    if tokens[0].startswith("{"):
        values = VALUES.get(tokens[0][7:-1], [])
        return any(
            " ".join(words[:count]) in values and can_be(tokens[1:], words[count:], loose)
            for count in range(1, len(words) + 1)
        )
    if same(tokens[0], words[0], loose) and can_be(tokens[1:], words[1:], loose):
        return True
    forms = [(one.split(), other.split()) for one, other in SYNONYMS] if loose else []
    forms += [([f"{word}s"], [word]) for word in ("lamp", "cabinet")] if loose else []
    forms += [([word], [f"{word}s"]) for word in ("lamp", "cabinet")] if loose else []
    return any(
        list(words[: len(one)]) == one
        and list(tokens[: len(other)]) == other
        and can_be(tokens[len(other) :], words[len(one) :], loose)
        for one, other in forms
    )


def same(token: str, word: str, loose: bool) -> bool:
    allowed = 2 if len(word) >= 8 else 1 if len(word) >= 4 else 0
    return token == word or (loose and typos_between(word, token, False) <= allowed)


def anchored(spans: Iterator[tuple[int, int]], anchoring: str, count: int) -> list[tuple[int, int]]:
    return [
        (start, end)
        for start, end in spans
        if (start == 0 or anchoring in ("endsWith", "contains"))
        and (end == count or anchoring in ("startsWith", "contains"))
    ]


QUERIES = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
TOKENS = [*WORDS, "{facet:brand}", "{facet:colour}"]
PATTERNS = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=3).map(" ".join)


@settings(max_examples=examples(400), deadline=None)
@given(PATTERNS, st.sampled_from(ANCHORINGS), st.booleans(), QUERIES)
@example("dark star lamp", "is", True, "lamp lamps")
@example("{facet:brand} {facet:colour}", "contains", False, "star lamp red red")
def test_a_pattern_matches_where_one_of_its_forms_occurs(
    text: str, anchoring: str, loose: bool, query: str
) -> None:
    words = query.split()
    spans = anchored(spans_for(text, words, loose), anchoring, len(words))

    found = Pattern.of(text, anchoring, TokenizerSettings(), alternatives=loose).find(read(query))

    if not spans:
        assert found is None
    else:
        start = min(start for start, _ in spans)
        assert found
        assert found[:2] == (start, max(end for first, end in spans if first == start))


def make_condition(random: Random) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {
            "pattern": " ".join(random.choices(TOKENS, k=random.choice([1, 1, 2, 3]))),
            "anchoring": random.choice(ANCHORINGS),
            "alternatives": random.random() < 0.5,
        },
        {"context": random.choice(["m", "w"])},
        {"filters": random.choice(["brand:Red", "brand:red AND colour:blue"])},
    ]
    some = random.choice([(0,), (0,), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)])
    return {name: value for number in some for name, value in kinds[number].items()}


def make_rule(random: Random, number: int) -> dict[str, Any]:
    conditions = [make_condition(random) for _ in range(random.choice([0, 1, 1, 1, 1, 2]))]
    return {"objectID": str(number), "conditions": conditions, "consequence": {"userData": 1}}


@pytest.mark.parametrize("seed", range(20))
def test_rules_are_found_as_by_matching_each_one(seed: int) -> None:
    random = Random(seed)
    rules = [make_rule(random, number) for number in range(60)]
    book = Rulebook(lambda: rules)
    for _ in range(20):
        query = " ".join(random.choices(WORDS, k=random.randint(0, 4)))
        contexts = random.sample(["m", "w", "x"], random.randint(0, 2))
        filters = random.choice(FILTERS)

        found = book.find(read(query, ruleContexts=contexts, **filters), 0)

        expected = {
            rule["objectID"]
            for rule in rules
            if not rule["conditions"]
            or any(holds(one, query.split(), contexts, str(filters)) for one in rule["conditions"])
        }
        assert {one.rule.id for one in found} == expected, query
        assert [one.precedence for one in found] == sorted(one.precedence for one in found)


FILTERS: list[dict[str, Any]] = [
    {},
    {"filters": "brand:red"},
    {"facetFilters": ["brand:RED", "colour:blue"]},
]


def holds(
    condition: dict[str, Any], words: Sequence[str], contexts: list[str], filters: str
) -> bool:
    if "pattern" in condition:
        spans = spans_for(condition["pattern"], words, condition.get("alternatives", False))
        if not anchored(spans, condition["anchoring"], len(words)):
            return False
    if condition.get("context", "x") not in [*contexts, "x"]:
        return False
    wanted = condition.get("filters", "").lower().split(" and ")
    return all(one in filters.lower() for one in wanted)


# ------------------------------------------------------------------------------------ many rules


def make_rules(count: int) -> list[dict[str, Any]]:
    """Rules of every kind, nearly all for words of their own."""
    kinds: list[dict[str, Any]] = [
        {"pattern": "shoe {n}", "anchoring": "contains"},
        {"pattern": "brand{n} shoe", "anchoring": "startsWith"},
        {"pattern": "word{n}", "anchoring": "is", "alternatives": True},
        {"pattern": "{{facet:brand}} number{n}", "anchoring": "contains"},
        {"context": "page{n}"},
        {"filters": "brand:b{n}"},
    ]
    return [
        {
            "objectID": str(n),
            "conditions": [
                {
                    key: value.format(n=n) if isinstance(value, str) else value
                    for key, value in kinds[n % len(kinds)].items()
                }
            ],
            "consequence": {"userData": n},
        }
        for n in range(count)
    ]


def measure(count: int) -> float:
    book = Rulebook(lambda: make_rules(count))
    best = 1e9
    for turn in range(30):
        reading = read(f"red shoe 6 of brand {turn}", ruleContexts=["m"], filters="brand:red")
        started = perf_counter()
        found = book.find(reading, 0)
        best = min(best, perf_counter() - started)
        assert [one.rule.id for one in found] == ["6"]
    return best


@pytest.mark.slow
def test_a_hundred_times_more_rules_take_less_than_ten_times_as_long() -> None:
    assert measure(10_000) < 10 * measure(100)


@pytest.mark.parametrize("emptied", [True, False])
def test_a_changed_book_is_one_of_the_rules_there_are(emptied: bool) -> None:
    random = Random(1)
    rules = [make_rule(random, number) for number in range(60)]
    changed = [make_rule(random, number) for number in range(30, 70)]
    book = Rulebook(lambda: rules)
    readings = [read(" ".join(random.choices(WORDS, k=3))) for _ in range(20)]
    for reading in readings:
        book.find(reading, 0)

    revised = book.revised(["5", "40"], changed, emptied=emptied)

    kept = [] if emptied else rules[:30]
    fresh = Rulebook(lambda: [one for one in kept + changed if one["objectID"] not in ("5", "40")])
    for reading in readings:
        assert found_by(revised, reading) == found_by(fresh, reading)


def found_by(book: Rulebook, reading: SearchContext) -> list[str]:
    return [one.rule.id for one in book.find(reading, 0)]

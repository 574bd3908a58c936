"""Top-k pruning excludes no row that is among the best."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from svc_notebook.service.engine import Index
from svc_notebook.service.engine.query.options import EffectiveParameters
from svc_notebook.service.engine.query.query import read_query
from svc_notebook.service.engine.ranking.ranking import Order
from svc_notebook.service.engine.ranking.retrieval import SegmentMatch
from svc_notebook.service.engine.ranking.search_plan import STEP_HITS, SearchPlan
from svc_notebook.service.engine.ranking.top_k_pruning import MIN_CANDIDATES, prune_by_positions
from svc_notebook.service.engine.text.lexicon import LanguageResources
from svc_notebook.service.engine.text.synonyms import Thesaurus

WORDS = ["a", "lamp", "lamps", "red", "of", "oak", "table", "shade"]
OTHERS = [f"{first}{second}{first}" for first in "bcdfgk" for second in "eiou"]
COMMON = [40, 30, 10, 15, 30, 5, 5, 3, *[7] * len(OTHERS)]
RECORDS = 25_000
SETTINGS = {
    "searchableAttributes": ["title", "body", "unordered(notes)"],
    "attributesForFaceting": ["kind"],
    "customRanking": ["desc(sold)"],
}


# Side by side in few texts, and those lie deep; far apart, or not quite the same, at the beginning.
KINDS = [
    ("u vow fee", "bob fee"),
    ("u bob bob bob bob v", "bob"),
    ("bob", "bob fee u v"),
    ("bob", "fee u"),
    ("bob fee", f"bob u {'bob ' * 9}v"),
]
SHARES = [1, 4, 0.1, 2, 40]


def make_text(random: Random, most: int) -> str:
    return " ".join(random.choices(WORDS + OTHERS, COMMON, k=random.randint(0, most)))


def make_record(random: Random, number: int) -> dict[str, Any]:
    title, body = random.choices(KINDS, SHARES)[0]
    return {
        "objectID": f"{number:06}",
        "title": f"{title} {make_text(random, 5)}",
        "body": f"{body} {make_text(random, 30)}",
        "notes": make_text(random, 3),
        "kind": "rare" if number % 3000 == 7 else random.choice("xyz"),
        "sold": random.randint(0, 50),
    }


@pytest.fixture(scope="module")
def index() -> Index:
    """Return many records of few words, so that most have most of them."""
    random = Random(5)
    index = Index(SETTINGS)
    index.put([make_record(random, number) for number in range(RECORDS)])
    return index


RANKINGS: list[dict[str, Any]] = [
    {},
    {"ranking": ["typo", "words", "proximity", "attribute", "exact", "custom"], "minProximity": 3},
    {"ranking": ["attribute", "proximity", "custom"]},
    {
        "ranking": ["attribute", "proximity", "custom"],
        "attributeCriteriaComputedByMinProximity": True,
    },
    {"ranking": ["proximity", "exact", "attribute"]},
    {"ranking": ["exact", "proximity", "attribute", "custom"], "queryType": "prefixAll"},
    {"ranking": ["custom", "proximity", "attribute"], "optionalFilters": ["kind:x"]},
    {"ranking": ["proximity", "attribute", "custom"], "optionalWords": ["u", "v", "a", "of"]},
    {"ranking": ["exact", "attribute", "custom"]},
    {"optionalFilters": ["kind:rare"]},
    {"queryType": "prefixNone"},
    {"minProximity": 7},
    {"restrictSearchableAttributes": ["notes", "body"]},
    {"optionalWords": ["red", "of", "oak"]},
    {"enableReRanking": True},
    {"enableReRanking": True, "reRankingApplyFilter": "kind:x"},
    {"enableReRanking": True, "ranking": ["exact", "filters"], "optionalFilters": ["kind:y"]},
]
QUERIES = ["a", "l", "lam ", "of a", "a of red", "u v", "v u", "u", "bob u v", '"a of" a', "lamq"]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("params", RANKINGS)
@pytest.mark.sampled(50, quick=8)
def test_the_best_rows_are_the_first_of_the_full_order(
    index: Index, query: str, params: dict[str, Any]
) -> None:
    asked = {"query": query, "advancedSyntax": True, **params}
    plan = SearchPlan(index.segment_store.readers, EffectiveParameters(SETTINGS, asked))
    matches = plan.match(read_query(plan.options))
    everything = plan.rank(matches, RECORDS)

    for few in (1, 20, 700):
        assert plan.rank(matches, few)[:] == everything[:few]


SEARCHED = [
    ["title", "body"],
    ["unordered(title)", "body"],
    ["body,title"],
    ["unordered(title),body"],
    ["notes", "body", "title"],
    [],
]
SMALL_RANKINGS: list[dict[str, Any]] = [
    {},
    {"minProximity": 2},
    {"ranking": ["attribute", "proximity"]},
    {"ranking": ["proximity", "attribute"]},
    {"ranking": ["attribute"]},
    {"ranking": ["custom", "attribute"]},
    {"restrictSearchableAttributes": ["body"]},
    {"disableTypoToleranceOnAttributes": ["title"]},
    {"disablePrefixOnAttributes": ["title", "body"]},
    {"typoTolerance": "strict"},
    {"optionalWords": ["lamp", "red oak"]},
]
SMALL_QUERIES = ["lamp", "tabel", "lam", "red oak", "a lamp", "oak of", "lamp of", "lampa oak red"]
NEAR = ["red lamp shade of", "oak of"]
SYNONYMS = [
    {"objectID": "1", "type": "synonym", "synonyms": ["oak", "red lamp shade", "table"]},
    {"objectID": "2", "type": "onewaysynonym", "input": "red oak", "synonyms": ["of"]},
]


@pytest.mark.parametrize("searched", SEARCHED)
@pytest.mark.parametrize("params", SMALL_RANKINGS)
@pytest.mark.sampled(30, quick=6)
@pytest.mark.usefixtures("pruning_of_few_rows")
def test_the_best_of_few_rows_are_the_first_of_the_full_order(
    searched: list[str], params: dict[str, Any]
) -> None:
    if not searched:
        params = {name: params[name] for name in params.keys() - {"restrictSearchableAttributes"}}
    random = Random(repr((searched, params)))
    settings = {**SETTINGS, "searchableAttributes": searched}
    index = Index(settings)
    index.put(
        [
            {
                "objectID": f"{number:03}",
                "title": random.choice([*NEAR, make_text(random, 4), make_text(random, 4)]),
                "body": [make_text(random, 6), f"{'u ' * random.choice([0, 0, 20])}lamp table"],
                "notes": make_text(random, 2),
                "sold": random.randint(0, 3),
            }
            for number in range(300)
        ]
    )
    resources = LanguageResources(Thesaurus(lambda: SYNONYMS))

    for query in SMALL_QUERIES:
        asked = {"query": query, **params}
        options = EffectiveParameters(settings, asked, resources)
        plan = SearchPlan(index.segment_store.readers, options)
        matches = plan.match(read_query(options))
        everything = plan.rank(matches, 300)
        infos = plan.explain(matches, everything)
        for few in (1, 3, 10, 40):
            best = plan.rank(matches, few)
            assert best[:] == everything[:few], asked
            assert plan.explain(matches, best) == infos[:few], asked


@pytest.mark.parametrize("query", ["a", "of a"])
@pytest.mark.parametrize("rows", ["mask", "numbers", "ties"])
def test_most_rows_of_common_words_are_not_measured(index: Index, query: str, rows: str) -> None:
    plan = SearchPlan(
        index.segment_store.readers, EffectiveParameters(SETTINGS, {"query": f"{query} "})
    )
    (match,) = plan.match(read_query(plan.options))
    everything = plan.candidates(match, match.rows if rows == "mask" else match.rows.nonzero()[0])
    tied = np.ones(everything.count, bool) if rows == "ties" else None
    compared = ["proximity", "attribute"] if " " in query else ["attribute"]

    found = prune_by_positions(everything, compared, tied, 10)

    assert match.count > MIN_CANDIDATES
    assert found is not None
    assert 10 <= found[1].count < match.count / 4
    if tied is not None:
        assert (everything.rows[found[0]] == found[1].rows).all()


@pytest.mark.parametrize(
    "query", ["a of red oak", "oak shade table red", "lamps oak zzz shade red"]
)
def test_lower_ranks_require_more_words(index: Index, query: str) -> None:
    words = query.split()
    plan = SearchPlan(
        index.segment_store.readers,
        EffectiveParameters(SETTINGS, {"query": query, "optionalWords": words}),
    )
    asked = read_query(plan.options)

    _, found = plan.match_or_relax(asked)

    matches = plan.match(asked)
    order = plan.rank(matches, RECORDS)
    assert {*plan.rank(found, RECORDS)[:]} == keep_in_stages(order, matches, len(words))


def keep_in_stages(order: Order, matches: list[SegmentMatch], words: int) -> set[str]:
    """Keep a thousand of those with a word, a thousand more of those with two, and so on."""
    counts = np.zeros(len(order), int)
    for number, segment in enumerate(order.segments):
        match = next(match for match in matches if match.segment is segment)
        here = order.numbers == number
        counts[here] = match.word_count(order.rows[here])
    kept = np.zeros(len(order), bool)
    for needed in range(1, words + 1):
        enough = np.flatnonzero(counts >= needed)
        wanted = int(np.count_nonzero(kept[enough])) + STEP_HITS
        kept[enough[:wanted]] = True
        if len(enough) < wanted:
            break
    return {name for name, stays in zip(order[:], kept, strict=True) if stays}

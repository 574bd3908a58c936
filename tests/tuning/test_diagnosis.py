"""A diagnosis finds what was planted, and proposes what repairs it, from the tune queries alone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from svc_notebook import tuning
from svc_notebook.core.api.messages import FORMS_PENDING, VECTORS_PENDING
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret
from svc_notebook.errors import BadInput
from svc_notebook.tuning.diagnosis.diagnosis import Gain, TriedValue, _without_harmful
from svc_notebook.tuning.diagnosis.findings import Finding
from svc_notebook.tuning.diagnosis.levers import Lever, _text_rankings, find_levers, rank_by_text
from svc_notebook.tuning.diagnosis.record_evidence import _compare_words, rank_attributes
from svc_notebook.tuning.diagnosis.result import NO_EFFECT
from svc_notebook.tuning.evaluation.record_texts import (
    attribute_texts,
    detect_language,
    fold_words,
    index_words,
    is_one_typo,
    plural_forms,
    words_by_attribute,
)
from svc_notebook.tuning.evaluation.scores import evaluate
from svc_notebook.tuning.tables.tables import check_judgments
from tests.tuning.shop import client

__all__ = ["client"]

THINGS = ("lamp", "chair", "table", "sofa", "shelf", "mirror", "carpet", "vase", "clock", "stool")
RECORDS: list[dict[str, Any]] = [
    {"objectID": f"{thing}-{n}", "name": f"{thing} for the house", "maker": f"maker of {thing}s",
     "sold": n, "noise": (n * 7) % 4, "image": f"https://a.com/{thing}"}
    for thing in THINGS for n in range(4)
]  # fmt: skip
RATED: list[dict[str, Any]] = [
    {"query": f"{form} {thing}".strip(), "objectID": f"{thing}-{n}", "rating": n}
    for thing in THINGS for form in ("", "beautiful") for n in range(4)
]  # fmt: skip


@pytest.fixture
def house(client: Client) -> str:
    """An index in which a better grade was sold more often, and a word of queries is missing."""
    client.replace_all("diagnosed", RECORDS)
    settings: Any = {"searchableAttributes": ["name"]}
    client.wait(client.set_settings("diagnosed", settings), index="diagnosed")
    return "diagnosed"


@pytest.mark.slow
def test_what_was_planted_is_found_and_repaired(house: str) -> None:
    before = tuning.snapshot(house).hash

    found = tuning.diagnose(house, RATED, seed=3)

    by_name = found.findings.set_index("finding")["evidence"]
    assert "'beautiful'" in by_name["missing words"]
    assert "find nothing" in by_name["zero results"]
    assert "equal in every criterion" in by_name["ties"]
    best = found.proposals.set_index("name")
    assert best.loc["customRanking", "value"] == ["desc(sold)"]
    assert best.loc["optionalWords", "where"] == "request"
    assert best.loc["optionalWords", "change"] == {"request": {"optionalWords": {"words": "all"}}}
    assert found.proposals["gain"].is_monotonic_decreasing
    assert (found.proposals["low"] <= found.proposals["gain"]).all()
    assert tuning.snapshot(house).hash == before


@pytest.mark.slow
def test_a_run_stands_for_its_index(house: str) -> None:
    run = tuning.run(house, RATED, k=3)

    found = tuning.diagnose(run, RATED, budget=200)

    assert found.index == house
    with pytest.raises(BadInput, match="search parameters, which a diagnosis does not read"):
        tuning.diagnose(tuning.run(house, RATED, {"typoTolerance": False}), RATED)
    with pytest.raises(BadInput, match="no index attached; pass the name"):
        tuning.diagnose(pd.DataFrame(run.to_dict()), RATED)


@pytest.mark.slow
def test_two_judged_queries_are_looked_at_without_any_held_out(house: str) -> None:
    two = [row for row in RATED if row["query"] in ("lamp", "chair")]

    with pytest.raises(BadInput, match="holdout=0 reads all"):
        tuning.diagnose(house, two, seed=1)
    found = tuning.diagnose(house, two, holdout=0)

    assert (found.queries, found.held_out) == (2, 0)
    assert "on 2 queries (0 held out)" in repr(found)
    assert "2 queries are not enough to choose" in repr(found)


@pytest.mark.slow
def test_a_diagnosis_says_how_many_queries_it_held_out(house: str) -> None:
    found = tuning.diagnose(house, RATED, seed=3, budget=300)

    assert found.queries + found.held_out == len({row["query"] for row in RATED})
    assert f"({found.held_out} held out)" in found._repr_html_()


@pytest.mark.slow
def test_what_changes_no_hit_is_left_out_and_named(house: str) -> None:
    found = tuning.diagnose(house, RATED)

    idle = found.left_out[found.left_out["reason"].str.startswith("changes no hit")]
    assert len(idle)
    for name, value in zip(idle["name"], idle["value"], strict=True):
        assert value not in found.space.get(name, [])
    row = {"name": "mode", "value": "neuralSearch", "reason": NO_EFFECT}
    without = replace(found, left_out=pd.DataFrame([row]), space={})
    assert "left out: mode=neuralSearch" in repr(without)
    assert "mode=neuralSearch" in without._repr_html_()


@pytest.mark.slow
def test_a_proposed_change_gains_what_was_said(house: str) -> None:
    queries = tuning.split(RATED, holdout=0.3, seed=0)
    tune = queries[queries["split"] == "tune"]

    found = tuning.diagnose(house, RATED)

    assert found.queries == len(tune)
    for row in found.proposals.head(3).to_dict("records"):
        compared = tuning.impact(house, row["change"], tune, RATED).comparison
        assert compared
        assert compared.test()["delta"][0] == pytest.approx(row["gain"])


@pytest.mark.slow
def test_values_are_tried_again_with_the_best_one_in_place(house: str) -> None:
    queries = tuning.split(RATED, holdout=0.3, seed=0)
    tune = queries[queries["split"] == "tune"]

    found = tuning.diagnose(house, RATED)

    first = found.proposals.iloc[0]
    assert first["low"] > 0
    assert len(found.following)
    assert first["name"] not in set(found.following["name"])
    next_one = found.following.iloc[0]
    alone = tuning.impact(house, first["change"], tune, RATED).comparison
    both = tuning.impact(house, next_one["change"], tune, RATED).comparison
    assert alone
    assert both
    gain = both.test()["delta"][0] - alone.test()["delta"][0]
    assert gain == pytest.approx(next_one["gain"])
    assert [*found.space][:2] == [first["name"], next_one["name"]]
    assert "each tried with the first" in repr(found)
    assert "each tried with the first" in found._repr_html_()


@pytest.mark.slow
def test_re_ranking_and_stems_are_tried_with_what_they_need(client: Client) -> None:
    records: Any = [
        {"objectID": f"{thing}-{n}", "name": f"{word} {thing} for the house"}
        for thing in THINGS for n, word in enumerate(("painted", "painting", "small", "blue"))
    ]  # fmt: skip
    client.replace_all("stemmed", records)
    settings: Any = {"searchableAttributes": ["name"], "queryLanguages": ["en"]}
    client.wait(client.set_settings("stemmed", settings), index="stemmed")
    rated: Any = [
        {"query": f"paint {thing}s", "objectID": f"{thing}-{n}", "rating": 3 * (n < 2)}
        for thing in THINGS for n in range(4)
    ]  # fmt: skip

    found = tuning.diagnose("stemmed", rated)

    stems = found.proposals.set_index("name").loc["alternativesAsExact"]
    assert "ignoreConjugations" in stems["value"]
    assert stems["change"]["settings"]["ignorePlurals"]
    assert stems["gain"] > 0.5


def test_a_ranking_by_the_text_alone_is_tried_with_all_that_it_needs() -> None:
    queries = pd.DataFrame({"query": ["lamp"]})
    seen: Any = SimpleNamespace(
        settings={}, language="en", size=100, queries=queries, is_local=True
    )

    levers = find_levers(seen, [Finding("zero results", 1, 0.5, "")])

    [lever] = [each for each in levers if each.name == "ranking"]
    assert lever.values == [["exact", "custom"]]
    assert lever.together == {
        "enableReRanking": True,
        "optionalWords": {"words": "all"},
        "ignorePlurals": ["en"],
        "alternativesAsExact": ["ignorePlurals", "singleWordSynonym", "ignoreConjugations"],
    }
    positions, scores = (each for each in levers if each.name == "semanticSearch")
    assert positions.together == {"mode": "neuralSearch"}
    assert scores.together == {
        "mode": "neuralSearch", "ranking": ["exact", "custom"], **lever.together,
    }  # fmt: skip
    assert {"localWeight": 0.67, "localFeedbackHits": 5} in scores.values
    assert len(positions.values) + len(scores.values) <= 7


def test_values_that_do_harm_alone_are_not_tried_again() -> None:
    lever = Lever("ties", "minProximity", [2, 4, 8])
    harm = TriedValue(lever, 2, Gain(-0.2, -0.3, -0.1, 9))
    idle = TriedValue(lever, 4, failure=NO_EFFECT)
    refused = TriedValue(lever, 8, failure="no such value")

    assert _without_harmful([lever], [harm, idle, refused]) == [lever._replace(values=[4])]
    assert _without_harmful([lever._replace(values=[2])], [harm]) == []


def test_the_score_may_be_compared_before_typos_and_words() -> None:
    seen: Any = SimpleNamespace(settings={})
    assert _text_rankings(seen) == [
        ["proximity", "typo", "geo", "words", "filters", "custom"],
        ["words", "proximity", "typo", "geo", "filters", "custom"],
    ]
    seen = SimpleNamespace(settings={"ranking": ["geo", "typo", "exact", "desc(a)"]})
    assert _text_rankings(seen) == [["geo", "exact", "typo", "desc(a)"]]
    assert _text_rankings(SimpleNamespace(settings={"ranking": ["custom"]})) == []  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_search_that_fails_is_a_finding_and_scores_0(house: str) -> None:
    bad = {"query": "lamp", "filters": "sold <", "split": "tune"}
    rated: Any = [*RATED, {"query": "lamp", "filters": "sold <", "objectID": "lamp-3", "rating": 3}]
    good = [{"query": each["query"], "filters": "", "split": "tune"} for each in RATED[::4]]

    diagnosis = tuning.diagnose(house, rated, [*good, bad], budget=300)

    failed = diagnosis.findings.set_index("finding").loc["failed searches"]
    assert failed["queries"] == 1
    assert "'lamp'" in failed["evidence"]
    assert "filter" in failed["evidence"]
    without = tuning.diagnose(house, RATED, good, budget=300)
    assert diagnosis.before == pytest.approx(without.before * len(good) / (len(good) + 1))


@pytest.mark.slow
def test_held_out_queries_are_not_read(house: str) -> None:
    queries = [
        {"query": row, "split": "holdout" if "beautiful" in row else "tune"}
        for row in dict.fromkeys(each["query"] for each in RATED)
    ]

    found = tuning.diagnose(house, RATED, queries)

    assert found.queries == len(THINGS)
    assert "missing words" not in set(found.findings["finding"])


@pytest.mark.slow
def test_a_search_without_a_space_takes_the_proposed_one(house: str) -> None:
    found = tuning.search(house, judgments=RATED, seed=3)

    assert found.diagnosis
    assert found.diagnosis.space.keys() <= set(found.trace.columns)
    assert found.plan.sampler == "coordinate"
    assert found.test()["after"][0] > 0.95
    held = tuning.split(RATED, holdout=0.3, seed=3).query("split == 'holdout'")
    after = tuning.impact(house, found.change, held, RATED).after
    again = evaluate(after, check_judgments(RATED), queries=held)
    assert again["value"].mean() == pytest.approx(found.test()["after"][0])


@pytest.mark.slow
def test_function_words_are_no_evidence_of_typos_and_plurals(client: Client) -> None:
    records: Any = [
        {"objectID": f"{thing}-{n}", "name": f"the {thing}s is than a foam of a kind"}
        for thing in THINGS for n in range(4)
    ]  # fmt: skip
    client.replace_all("function-words", records)
    settings: Any = {"searchableAttributes": ["name"], "queryLanguages": ["en"]}
    client.wait(client.set_settings("function-words", settings), index="function-words")
    rated: Any = [
        {"query": f"{words}{thing}", "objectID": f"{thing}-{n}", "rating": 3}
        for thing in THINGS for n in range(4) for words in ("", "i need them that from zzz ")
    ]  # fmt: skip

    evidence = tuning.diagnose("function-words", rated).findings.set_index("finding")["evidence"]

    shown = " ".join([*evidence.reindex(["plurals", "typos in records"]).dropna()])
    assert "/" in shown
    for pair in ("i/is", "them/the", "that/than", "from/foam"):
        assert pair not in shown
    assert any(f"{thing}/{thing}s" in shown for thing in THINGS)


@pytest.mark.slow
def test_a_diagnosis_is_planned_and_stays_within_its_budget(house: str, client: Client) -> None:
    plan = tuning.plan_diagnosis(RATED, seed=3)
    budget = plan.reading + 7 * plan.tune

    whole = tuning.diagnose(house, RATED, seed=3)
    cut = tuning.diagnose(house, RATED, seed=3, budget=budget)

    assert plan.tune + plan.holdout == len({row["query"] for row in RATED})
    assert plan.reading < whole.searches <= plan.budget
    assert not whole.is_cut
    assert budget - plan.tune < cut.searches <= budget
    assert cut.is_cut
    assert f"the budget ended the trials after {cut.searches:,} searches; not tried" in repr(cut)
    assert len(cut.left_out) > len(whole.left_out)
    with pytest.raises(BadInput, match=f"takes {plan.reading + 2 * plan.tune:,} searches or more"):
        tuning.diagnose(house, RATED, seed=3, budget=9)
    with pytest.raises(BadInput, match="must be a whole number, not True"):
        tuning.plan_diagnosis(RATED, budget=True)


class _RecordingClient(AsyncClient):
    """Counts the searches that it sends in batches.

    While the service builds vectors or tables of word forms, a single search is repeated, and then
    the searches that need them: each is counted when it is complete.
    """

    def __init__(self, connection: ClientConfig) -> None:
        super().__init__(connection)
        self.searches = 0
        self._incomplete: list[list[Any]] = []

    async def search_many(self, requests: Any, strategy: Any = "none") -> Any:
        batch = [*requests]
        answer = await super().search_many(requests, strategy)
        if batch in self._incomplete:
            self._incomplete.remove(batch)
            self.searches += len(batch)
        elif len(batch) > 1:
            results: list[Any] = [*answer["results"]]
            messages = [str(result.get("message")) for result in results]
            incomplete = [
                request
                for request, message in zip(batch, messages, strict=True)
                if VECTORS_PENDING in message or FORMS_PENDING in message
            ]
            self.searches += len(batch) - len(incomplete)
            if incomplete:
                self._incomplete.append(incomplete)
        return answer


@pytest.mark.slow
def test_the_searches_of_a_diagnosis_are_counted_as_the_service_gets_them(
    house: str, client: Client
) -> None:
    recording = _RecordingClient(client.connection)

    diagnosis = tuning.diagnose(house, RATED, seed=3, client=recording)

    assert diagnosis.searches == recording.searches


def test_many_searches_of_a_hosted_service_need_a_budget() -> None:
    config = ClientConfig(url="https://search.example", app_id="A", api_key=Secret("k"))
    many = [{**row, "query": f"{row['query']} {n}"} for row in RATED for n in range(3)]

    with Client(config) as hosted:
        with pytest.raises(BadInput, match=r"search\.example may bill: pass `budget="):
            tuning.diagnose("products", many, client=hosted)
        with pytest.raises(BadInput, match=r"search\.example may bill: pass `budget="):
            tuning.search("products", judgments=many, client=hosted)
        values: list[Any] = [False, True]
        space = {"minProximity": [*range(1, 8)], "ignorePlurals": values, "removeStopWords": values,
                 "decompoundQuery": values}  # fmt: skip
        with pytest.raises(BadInput, match=r"search\.example may bill: pass `budget="):
            tuning.search("products", space, judgments=many, client=hosted)


def test_a_diagnosis_needs_judged_queries(house: str) -> None:
    marked = [{"query": q, "split": "holdout"} for q in {each["query"] for each in RATED}]
    with pytest.raises(BadInput, match="0 of the 20 queries can be read"):
        tuning.diagnose(house, RATED, marked)
    with pytest.raises(BadInput, match="has a judgment"):
        tuning.diagnose(house, [{**RATED[0], "query": "x"}], [*"abcdefgh"])
    with pytest.raises(BadInput, match="`metric` must be text, not a list"):
        tuning.diagnose(house, RATED, metric=["p@5", "ndcg@10"])  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="needs judgments"):
        tuning.search(house)


def test_a_numeric_attribute_agrees_with_grades_or_not() -> None:
    records = {each["objectID"]: each for each in RECORDS}

    sold, noise = rank_attributes(check_judgments(RATED), records)

    assert (sold.name, sold.concordance, sold.sort) == ("sold", 1.0, "desc(sold)")
    assert noise.name == "noise"
    assert sold.pairs == 2 * len(THINGS) * 6


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [("lamp", "lamps", True), ("lamp", "lump", True), ("lamp", "damp", False),
     ("lamp", "lamp", False), ("lamps", "lmp", False), ("chair", "chiar", False)],
)  # fmt: skip
def test_one_typo(one: str, other: str, near: bool) -> None:
    assert is_one_typo(one, other) == is_one_typo(other, one) == near


@pytest.mark.parametrize(
    ("query", "text"),
    [("eau", "L'eau de parfum"), ("leau", "L\u2019eau de parfum"), ("usa", "made in U.S.A."),
     ("doesn't", "it doesnt fit"), ("tshirt", "TSHIRT"), ("creme", "Crème brûlée")],
)  # fmt: skip
def test_words_are_compared_as_the_engine_compares_them(query: str, text: str) -> None:
    words = words_by_attribute({"objectID": "1", "name": text}, index_words)["name"]

    assert {*fold_words(query)} <= words


def test_words_of_records() -> None:
    record = {"objectID": "x y", "_tags": "a", "b": {"c": ["one", {"d": "two"}]}, "u": "http://a"}

    assert list(attribute_texts(record)) == [("b.c", "one"), ("b.c.d", "two")]
    assert {"lady", "boxes", "box"} & plural_forms("ladies") == {"lady"}
    assert detect_language(["der Tisch und die Lampe"], {}) == "de"
    assert detect_language(["der Tisch"], {"queryLanguages": ["nl"]}) == "nl"
    assert detect_language(["lamp table"], {}) == detect_language([], {}) == ""


@pytest.mark.parametrize(("words", "is_long"), [(3, False), (8, True)])
def test_the_text_score_of_sentences_is_tried_without_stop_words(words: int, is_long: bool) -> None:
    queries = pd.DataFrame({"query": ["word " * words, "lamp", "word " * (words + 1)]})
    seen: Any = SimpleNamespace(settings={}, language="en", queries=queries)

    values = rank_by_text(seen)

    assert values["ranking"] == ["exact", "custom"]
    assert ("removeStopWords" in values) == is_long


@pytest.mark.parametrize("is_local", [True, False])
def test_weights_of_attributes_are_tried_where_a_service_has_them(is_local: bool) -> None:
    records = {"1": {"name": "oak", "text": "lamp"}, "2": {"name": "lamp", "text": "oak"}}
    judged = pd.DataFrame({
        "query": ["lamp", "lamp"], "filters": "", "objectID": ["1", "2"], "rating": [0.0, 3.0],
    })  # fmt: skip
    seen: Any = SimpleNamespace(
        settings={"searchableAttributes": ["text", "unordered(name)"]}, language="en",
        queries=judged[["query"]], judged=judged, records=records, threshold=1.0,
        words={name: {key: {word} for key, word in record.items()}
               for name, record in records.items()}, is_local=is_local,
    )  # fmt: skip

    levers = {lever.name: lever for lever in find_levers(seen, [])}

    assert ("attributeWeights" in levers) == is_local
    if is_local:
        assert levers["attributeWeights"].values == ["flat", {"name": 3}]
        assert levers["attributeWeights"].together["ranking"] == ["exact", "custom"]


@pytest.mark.slow
def test_units_are_found_and_repaired(client: Client) -> None:
    colours = ("red", "blue", "green", "white")
    records: Any = [
        {"objectID": f"{n}-{colour}", "name": name.format(colour)}
        for n, name in enumerate(("{} note book", "{} drill 5 mm", "{} lamp"))
        for colour in colours
    ]
    client.replace_all("compounds", records)
    settings: Any = {"searchableAttributes": ["name"]}
    client.wait(client.set_settings("compounds", settings), index="compounds")
    rated: list[dict[str, Any]] = [
        {"query": query.format(colour), "objectID": f"{n}-{colour}", "rating": 3}
        for n, query in enumerate(("{} notebook", "{} drill 5mm"))
        for colour in colours
    ]

    marked = [{"query": query, "split": "tune"} for query in {row["query"] for row in rated}]

    found = tuning.diagnose("compounds", rated, marked)

    evidence = found.findings.set_index("finding")["evidence"]
    assert "joined and split words" not in evidence  # the service divides words itself
    assert "5mm/5 mm" in evidence["units"]
    row = found.proposals.set_index("name").loc["synonyms"]
    assert row["where"] == "index"
    assert row["touched"] == 4
    compared = tuning.impact("compounds", row["change"], judgments=rated).comparison
    assert compared
    assert compared.test()["delta"][0] == pytest.approx(row["gain"])
    assert row["gain"] > 0


def test_words_are_compared_joined_and_apart() -> None:
    texts = [["red", "note", "book", "5", "mm"], ["x", "ray"], ["bedside"]]

    pairs = {
        query: [*_compare_words(query.split(), texts)]
        for query in ("red notebook", "5mm", "bed side", "note book", "xray", "red note")
    }

    assert pairs == {
        "red notebook": [("notebook", "note book")],
        "5mm": [("5mm", "5 mm")],
        "bed side": [("bed side", "bedside")],
        "note book": [],
        "xray": [],  # a single letter is no word
        "red note": [],
    }

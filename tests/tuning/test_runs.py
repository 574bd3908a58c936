"""Runs on a real index contain every query, also failed ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, cast

import pandas as pd
import pytest
from pandas import DataFrame
from pandas.testing import assert_frame_equal

import svc_notebook as svc
from svc_notebook.core.api.messages import FORMS_PENDING, NEURAL_MESSAGE, VECTORS_PENDING
from svc_notebook.errors import BadInput, KeyRefused, NotFound, Refused
from svc_notebook.tuning.evaluation.runs import (
    MAX_POLLS,
    MAX_QUERIES_PER_REQUEST,
    FailedSearch,
    search_all,
)
from svc_notebook.tuning.tables.schema import RUNS
from svc_notebook.tuning.tables.tables import check_runs
from tests.conftest import Running
from tests.data.client.clock import Clock
from tests.tuning.tables import judgments_of


def ids(run: DataFrame, query: str, filters: str = "") -> list[Any]:
    asked = run[(run["query"] == query) & (run["filters"] == filters)]
    return list(asked["objectID"])


def test_a_run_has_a_row_for_each_hit_with_its_criteria(measured: str) -> None:
    run = svc.tuning.run(measured, ["red lamp", "table"])

    assert list(run) == list(RUNS)
    assert ids(run, "table") == ["3", "4"]
    assert run["rank"].tolist() == [1, 1, 2]
    assert run["score"].tolist() == [-1, -1, -2]
    assert run["nbHits"].tolist() == [1, 2, 2]
    assert run["words"].tolist() == [2, 1, 1]
    assert not run["promoted"].any()
    assert run["sorted"].tolist() == [{"sold": 5}, {"sold": 7}, {"sold": 2}]
    assert_frame_equal(check_runs(run), run)


def test_a_query_without_hits_is_a_row_and_keeps_its_case(measured: str) -> None:
    run = svc.tuning.run(measured, ["Nothing At All", "LAMP"])

    assert pd.isna(ids(run, "Nothing At All")).tolist() == [True]
    assert run["nbHits"].tolist()[0] == 0
    assert ids(run, "LAMP")[0] == "2"


def test_a_query_that_fails_is_a_row_and_leaves_the_others_alone(measured: str) -> None:
    bad = {"query": "lamp", "filters": "price <"}
    many: list[Any] = [{"query": f"lamp {n}"} for n in range(2 * MAX_QUERIES_PER_REQUEST)]

    run = svc.tuning.run(measured, [*many, bad, "table"])

    failed = run[run["error"] != ""]
    assert failed[["query", "filters"]].to_numpy().tolist() == [["lamp", "price <"]]
    assert "filter" in failed["error"].item()
    assert ids(run, "table") == ["3", "4"]
    assert run["query"].nunique() == len(many) + 2


def test_where_every_query_fails_the_reason_is_raised(measured: str) -> None:
    with pytest.raises(Refused, match="filter"):
        svc.tuning.run(measured, ["lamp", "table"], {"filters": "price <"})
    with pytest.raises(NotFound):
        svc.tuning.run(f"{measured}-no", ["lamp"])


def test_a_key_that_cannot_search_is_reported(measured: str, service: Running) -> None:
    key = svc.add_key(acl=["listIndexes"])["key"]
    svc.connect(url=service.url, app_id=service.appId, api_key=key)

    with pytest.raises(KeyRefused):
        svc.tuning.run(measured, ["lamp"])


def test_the_same_words_under_other_filters_are_another_query(measured: str) -> None:
    run = svc.tuning.run(measured, [{"query": "lamp"}, {"query": "lamp", "filters": "brand:Acme"}],
                         {"filters": "price < 15"})  # fmt: skip

    assert ids(run, "lamp", "") == ["1", "5"]
    assert ids(run, "lamp", "brand:Acme") == ["1", "5"]
    assert run.attrs["svc"]["params"] == {"filters": "price < 15"}


def test_a_query_brings_parameters_of_its_own(measured: str) -> None:
    asked = {"query": "lump", "params": {"typoTolerance": False}}

    assert ids(svc.tuning.run(measured, [asked]), "lump") == ["5"]
    assert len(ids(svc.tuning.run(measured, "lump"), "lump")) > 1


def test_a_run_has_its_parameters_and_the_ranking_of_the_index(measured: str) -> None:
    run = svc.tuning.run(measured, "lamp", {"typoTolerance": False}, k=2)

    told = run.attrs["svc"]
    assert run["run"].unique().tolist() == [f"{measured} typoTolerance=false"]
    assert (told["index"], told["k"], len(run)) == (measured, 2, 2)
    assert told["ranking"]["customRanking"] == ["desc(sold)"]
    assert svc.tuning.run(measured, "lamp", name="now")["run"][0] == "now"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": 0}, "from 1 to 1000"),
        ({"k": "10"}, "`k` must be a whole number, not text"),
        ({"params": {"hitsPerPage": 3}}, "`k` is the number of hits"),
        ({"params": {"typoTolerence": False}}, "did you mean `typoTolerance`"),
        ({"queries": [3]}, "queries are a DataFrame"),
    ],
)
def test_what_cannot_be_run_is_refused_before_it_is_sent(
    options: Mapping[str, Any], words: str
) -> None:
    with pytest.raises(BadInput, match=words):
        asyncio.run(svc.tuning.aio.run("i", client=Silent(), **{"queries": "lamp", **options}))


def test_no_queries_are_an_empty_run(measured: str) -> None:
    run = svc.tuning.run(measured, [])

    assert list(run) == list(RUNS)
    assert run.empty


class Silent(svc.AsyncClient):
    """A client that nothing may be asked of."""

    def __init__(self) -> None:
        pass


class Counting:
    """Answers searches, and counts how many requests were under way at a time."""

    def __init__(self) -> None:
        self.under_way = self.most = self.requests = 0

    async def search_many(self, requests: Sequence[Mapping[str, Any]]) -> Any:
        self.under_way += 1
        self.requests += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        if any(request["query"] == "bad" for request in requests):
            raise Refused("bad query", status=400)
        return {"results": [{"asked": request["query"]} for request in requests]}


def test_requests_are_few_and_bounded_and_answers_in_order() -> None:
    client: Any = Counting()
    asked = [{"query": "bad" if n == 77 else str(n)} for n in range(MAX_QUERIES_PER_REQUEST * 8)]
    told: list[tuple[int, int]] = []

    answers = asyncio.run(search_all(client, asked, lambda done, total: told.append((done, total))))

    assert client.most <= 2
    assert client.requests <= 8 + 2 * MAX_QUERIES_PER_REQUEST.bit_length()
    kept = [answer for n, answer in enumerate(answers) if n != 77]
    assert [a if isinstance(a, FailedSearch) else a["asked"] for a in kept] \
        == [str(n) for n in range(MAX_QUERIES_PER_REQUEST * 8) if n != 77]  # fmt: skip
    assert isinstance(answers[77], FailedSearch)
    assert told[-1] == (len(asked), len(asked))


def test_an_index_is_measured_in_one_step(measured: str) -> None:
    judged = judgments_of(**{"red lamp": {"1": 1}, "table": {"4": 1}})

    told = svc.tuning.measure(measured, judged, ["rr", "p@2"], name="now")

    assert told[["run", "metric", "mean"]].to_numpy().tolist() == [
        ["now", "rr", 0.75], ["now", "p@2", 0.5],
    ]  # fmt: skip


def test_records_that_a_reindex_renamed_are_found(measured: str) -> None:
    judged = judgments_of(lamp={"1": 1, "old-1": 2, "2": 0}, table={"old-1": 1})

    gone = svc.tuning.missing(measured, judged)

    assert gone[["query", "objectID"]].to_numpy().tolist() == [
        ["lamp", "old-1"],
        ["table", "old-1"],
    ]
    assert gone.attrs["svc"] == {"index": measured, "records": 3, "gone": 1}


class _Computing:
    """Answers searches; those after the first `polls` have semantic hits."""

    def __init__(self, polls: int, note: str = VECTORS_PENDING) -> None:
        self.left, self.note = polls, f"{NEURAL_MESSAGE}{note}; hits are found by words only"

    async def search_many(self, requests: Sequence[Mapping[str, Any]]) -> Any:
        self.left -= 1
        more = {"message": self.note} if self.left >= 0 else {}
        return {"results": [{"asked": request["query"], **more} for request in requests]}


@pytest.mark.parametrize("note", [VECTORS_PENDING, FORMS_PENDING])
def test_runs_wait_for_what_is_being_computed(note: str) -> None:
    clock = Clock()
    client = cast("Any", _Computing(4, note))

    answers = asyncio.run(search_all(client, [{"query": "a"}, {"query": "b"}], sleep=clock.sleep))

    assert answers == [{"asked": "a"}, {"asked": "b"}]


@pytest.mark.parametrize("note", [VECTORS_PENDING, "the embedder m:f failed"])
def test_searches_without_semantic_hits_are_reported(note: str) -> None:
    client, clock = cast("Any", _Computing(MAX_POLLS + 99, note)), Clock()

    with pytest.warns(UserWarning, match=f"neuralSearch: {note}"):
        answers = asyncio.run(search_all(client, [{"query": "a"}], sleep=clock.sleep))

    assert len(answers) == 1

"""Queries are counted, sampled and split."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas import DataFrame

import svc_notebook as svc
from svc_notebook.data.client import Client, ClientConfig, Secret
from svc_notebook.errors import BadInput
from svc_notebook.tuning import (
    count_queries,
    no_results,
    plot_zero_shares,
    sample_queries,
    split,
    zero_shares,
)
from svc_notebook.tuning.tables.queries import join_filters, read_logged_query
from svc_notebook.tuning.tables.sampling import STRATA, share_out
from tests.conftest import Running, examples


def log(**frequencies: int) -> DataFrame:
    """A log added up; a name that begins with `no` is a query that finds nothing."""
    return DataFrame(
        {
            "query": [*frequencies],
            "frequency": [*frequencies.values()],
            "nbHits": [0 if name.startswith("no") else 5 for name in frequencies],
        }
    )


LONG = DataFrame(
    {
        "query": [f"q{n}" for n in range(400)],
        "frequency": [max(1, 2000 // (n + 1)) for n in range(400)],
        "nbHits": [0 if n % 10 == 9 else 3 for n in range(400)],
    }
)


def test_queries_are_counted_by_words_and_filters() -> None:
    rows = DataFrame(
        {
            "query": ["fox", "fox", "Fox", "fox", "", " ", None],
            "params": ["", "filters=a:b", "", "query=fox&filters=a:b", "", "", ""],
            "nbHits": [1, 0, 1, 2, 9, 9, 9],
        }
    )

    counted = count_queries(rows)

    assert counted[["query", "filters", "frequency", "zero"]].to_numpy().tolist() == [
        ["fox", "a:b", 2, 1],
        ["Fox", "", 1, 0],
        ["fox", "", 1, 0],
    ]


def test_strata_are_thirds_of_the_searches_and_what_never_found_anything() -> None:
    counted = count_queries(log(a=30, b=20, c=10, d=10, nobody=20))

    assert dict(zip(counted["query"], counted["stratum"], strict=True)) == {
        "a": "head", "b": "torso", "nobody": "zero", "c": "tail", "d": "tail",
    }  # fmt: skip


def test_searches_in_vain_are_listed_by_how_often_they_were() -> None:
    rows = pd.concat([log(a=60, nothing=6, nobody=30), log(a=0).assign(nbHits=0, frequency=4)])

    found = no_results(rows)

    assert found[["query", "frequency", "zero"]].to_numpy().tolist() == [
        ["nobody", 30, 30], ["nothing", 6, 6], ["a", 64, 4],
    ]  # fmt: skip
    assert found["share"].tolist() == pytest.approx([30 / 40, 6 / 40, 4 / 40])
    assert found["stratum"].tolist() == ["torso", "tail", "head"]
    assert no_results(rows, least=6)["query"].tolist() == ["nobody", "nothing"]
    assert found.attrs["svc"]["shares"]["all"] == pytest.approx(0.4)


def test_each_stratum_has_its_share_of_zero_result_searches() -> None:
    told = zero_shares(log(a=50, b=20, nobody=20, nothing=5, e=5))

    assert told.to_numpy().tolist() == [
        ["head", 1, 50, 0, 0.0],
        ["torso", 1, 20, 0, 0.0],
        ["tail", 3, 30, 25, 25 / 30],
        ["all", 5, 100, 25, 0.25],
    ]


def test_searches_in_vain_are_drawn_with_their_numbers() -> None:
    from matplotlib.figure import Figure

    drawn = plot_zero_shares(log(a=50, b=20, nobody=20, nothing=5, e=5), axes=Figure().subplots())
    empty = plot_zero_shares(log().assign(nbHits=0), axes=Figure().subplots())

    assert [text.get_text() for text in drawn.texts] == [
        "0.0%  (0 of 50)", "0.0%  (0 of 20)", "83.3%  (25 of 30)",
    ]  # fmt: skip
    assert "25.0% of 100" in drawn.get_title("left")
    assert [text.get_text() for text in empty.texts] == ["no searches"]


def test_a_log_that_found_everything_has_no_queries_in_vain() -> None:
    found = no_results(log(a=3))

    assert found.empty
    assert [*found] == ["query", "filters", "frequency", "zero", "stratum", "share"]


@pytest.mark.parametrize("how", ["stratified", "frequency", "uniform"])
def test_a_sample_is_of_different_queries_and_the_same_for_the_same_seed(how: Any) -> None:
    one, again, other = (sample_queries(LONG, 60, how, seed) for seed in (1, 1, 2))

    pd.testing.assert_frame_equal(one, again)
    assert len(one) == one["query"].nunique() == 60
    assert set(one["query"]) != set(other["query"])
    assert one["weight"].mean() == pytest.approx(1)


@pytest.mark.parametrize("how", ["stratified", "frequency", "uniform"])
def test_the_weighted_mean_of_samples_is_that_of_all_searches(how: Any) -> None:
    """What is measured is 1 for queries of few searches: the mean of all searches is known."""
    rare = LONG.set_index("query")["frequency"] < 10
    wanted = np.average(rare, weights=LONG["frequency"])
    samples = [sample_queries(LONG, 150, how, seed) for seed in range(12)]

    means = [np.average(rare[one["query"]], weights=one["weight"]) for one in samples]

    # Drawn without replacement, frequent queries come less often than their share.
    assert np.mean(means) == pytest.approx(wanted, abs=0.3 if how == "frequency" else 0.08)


def test_a_stratified_sample_has_as_many_of_each_stratum_as_there_are() -> None:
    drawn = sample_queries(LONG, 100)

    sizes = count_queries(LONG)["stratum"].value_counts()[[*STRATA]]
    counts = drawn["stratum"].value_counts()[[*STRATA]]
    assert counts.sum() == 100
    assert counts[counts < sizes].nunique() <= 2
    assert counts[counts == sizes].max() <= counts[counts < sizes].min()


@given(n=st.integers(0, 50), most=st.lists(st.integers(0, 20), min_size=1, max_size=5))
def test_a_number_is_shared_out_evenly_and_wholly(n: int, most: list[int]) -> None:
    given_ = share_out(n, most)

    assert sum(given_) == min(n, sum(most))
    assert all(0 <= one <= limit for one, limit in zip(given_, most, strict=True))
    left = [one for one, limit in zip(given_, most, strict=True) if one < limit]
    assert not left or max(given_) - min(left) <= 1 or max(given_) <= min(left) + 1


def test_a_sample_of_more_than_there_is_is_all_of_it() -> None:
    assert len(sample_queries(["a", "b", "a"], 10)) == 2


TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


@settings(max_examples=examples(25), deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4, unique=True), seed=st.integers(0, 3))
def test_a_query_stays_on_its_side_in_any_company(texts: list[str], seed: int) -> None:
    together = split(texts, seed=seed).set_index("query")["split"]

    for text in texts:
        frame = DataFrame({"query": [text, f" {text} ", text], "filters": ["", "", "a:b"]})
        assert set(split(frame, seed=seed)["split"]) == {together[text]}


def test_about_the_share_is_held_out_and_the_seed_changes_the_split() -> None:
    texts = [f"query {n}" for n in range(2000)]

    one, other = (split(texts, 0.25, seed)["split"] == "holdout" for seed in (0, 1))

    assert one.mean() == pytest.approx(0.25, abs=0.03)
    assert (one & other).mean() == pytest.approx(0.25**2, abs=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_queries(LONG, 0), "`n` must be 1 or more"),
        (lambda: sample_queries(LONG, 3, "stratifed"), "did you mean `stratified`"),  # type: ignore[arg-type]
        (lambda: sample_queries([], 3), "the log has no queries"),
        (lambda: sample_queries("fox", 3), "a list of queries"),
        (lambda: sample_queries(DataFrame({"querry": ["a"]}), 1), "did you mean `querry`"),
        (lambda: no_results(DataFrame({"query": ["a"]})), "needs a column `nbHits`"),
        (lambda: count_queries(log(a=1).assign(frequency="x")), "row 0, `frequency`"),
        (lambda: split(["a"], 1.5), "between 0 and 1"),
    ],
)
def test_what_cannot_be_is_said(call: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        call()


@pytest.mark.parametrize(
    ("params", "filters"),
    [
        ({}, ""),
        ({"filters": "a:b OR a:c"}, "a:b OR a:c"),
        ({"facetFilters": ["a:b c", ["d:-e", "d:f"]]}, 'a:"b c" AND (NOT d:"e" OR d:"f")'),
        ({"facetFilters": '["a:b"]'}, 'a:"b"'),
        ({"facetFilters": "a:b,c:d"}, 'a:"b" AND c:"d"'),
        ({"facetFilters": ['size:5" disk', r"n:\-1"]}, """size:'5" disk' AND n:"-1\""""),
        ({"facetFilters": '["a:b", "c'}, ""),
        ({"numericFilters": ["n > 3", "n:1 TO 5"]}, "n > 3 AND n:1 TO 5"),
        ({"tagFilters": ["x", "-y"]}, '_tags:"x" AND NOT _tags:"y"'),
        ({"filters": "a:b OR a:c", "tagFilters": "x"}, '(a:b OR a:c) AND _tags:"x"'),
        ({"filters": "a:b", "numericFilters": "n=3"}, "a:b AND n=3"),
    ],
)
def test_filters_of_every_kind_become_one_text(params: dict[str, Any], filters: str) -> None:
    assert join_filters(params) == filters


@pytest.fixture
def client(service: Running) -> Client:
    return Client(
        ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(service.adminKey))
    )


def test_logs_and_searches_of_the_service_are_logs_to_count(client: Client) -> None:
    index = f"sampling-{secrets.token_hex(4)}"
    svc.set_settings(index, client=client, attributesForFaceting=["kind"])
    svc.push(
        DataFrame({"id": ["1"], "title": ["fox"], "kind": ["a"]}), index, id="id", client=client
    )
    for query in ("fox", "fox", "zebra"):
        client.search(index, query, clickAnalytics=True, facetFilters=["kind:a"])

    told = [
        count_queries(svc.read_logs(limit=50, type="query", indexName=index, client=client)),
        count_queries(svc.read_searches(index, client=client)),
    ]

    for counted in told:
        assert counted[["query", "filters", "frequency", "zero"]].to_numpy().tolist() == [
            ["fox", 'kind:"a"', 2, 0],
            ["zebra", 'kind:"a"', 1, 1],
        ]
    # What was counted can be searched for again.
    again = svc.tuning.run(index, sample_queries(svc.read_searches(index, client=client), 5),
                           client=client)  # fmt: skip
    assert again["objectID"].dropna().tolist() == ["1"]


def test_a_log_keeps_no_query_that_was_not_written_in_it() -> None:
    assert read_logged_query(urlencode({"query": "a&b=c", "page": 2})) == ("a&b=c", "")

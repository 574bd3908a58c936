"""What belongs to each search is tried like a setting, and is never saved in an index."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook import tuning
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput, Refused
from svc_notebook.tuning.changes.request_part import WordCounts, fill_request, write_code
from tests.tuning.shop import client, hits, shop

__all__ = ["client", "shop"]

COUNTS = {"red": 3, "oak": 1, "lamp": 9, "zzz": 0}
ALL: Any = {"optionalWords": {"words": "all"}}
JUDGMENTS: list[dict[str, Any]] = [
    {"query": f"{color} {thing}", "objectID": object_id, "rating": 3}
    for color in ("green", "violet", "grey", "black")
    for thing, object_id in (("sofa", "5"), ("table", "3"))
]


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ({"words": "all"}, ["red oak lamp red zzz"]),
        ({"words": "all but rarest"}, ["red", "lamp", "zzz"]),
        ({"words": "rare", "records": 3}, ["oak", "zzz"]),
    ],
    ids=["all", "all but rarest", "rare"],
)
def test_a_template_is_filled_from_the_words_of_a_query(template: Any, words: list[str]) -> None:
    query = "red oak lamp red zzz"

    optional = fill_request(query, {"optionalWords": template}, COUNTS)
    similar = fill_request(query, {"similarQuery": template}, COUNTS)

    assert optional == {"optionalWords": words}
    assert similar == {"similarQuery": " ".join(words)}


def test_parameters_of_a_query_take_precedence() -> None:
    request = {"naturalLanguages": ["en"], "params": {"lamp": {"naturalLanguages": ["de"]}}}

    assert fill_request("lamp", request, {}) == {"naturalLanguages": ["de"]}
    assert fill_request("sofa", request, {}) == {"naturalLanguages": ["en"]}


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"filters": [{"words": "all"}]}, "cannot be filled"),
        ({"optionalWords": [{"words": "al"}]}, "did you mean `all`"),
        ({"optionalWords": [{"words": "rare"}]}, "give a number of records"),
        ({"optionalWords": [{"words": "all", "records": 3}]}, "have no `records`"),
        ({"naturalLanguages": [7]}, "naturalLanguages"),
        ({"params": [["lamp"]]}, "a dict of query texts"),
        ({"params": [{"lamp": {"hitsPerPage": 3}}]}, "no bearing"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_an_invalid_request_part_is_refused(space: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        tuning.search("nowhere", space, judgments=JUDGMENTS)


def test_a_search_finds_parameters_that_no_index_can_save(shop: str, client: Client) -> None:
    before = tuning.snapshot(shop).hash
    space = {"optionalWords": [None, ALL["optionalWords"]]}

    found = tuning.search(shop, space, judgments=JUDGMENTS, holdout=0.5, seed=1)

    assert found.best["optionalWords"] == {"words": "all"}
    assert found.change["request"]["optionalWords"] == {"words": "all"}
    assert found.test()["after"][0] == 1
    assert 'params["optionalWords"] = [query]' in found.code
    made = tuning.apply(shop, found.change)
    assert tuning.snapshot(shop).hash == before
    assert made.attrs["svc"]["code"] == found.code
    assert "Not saved in the index" in repr(made)
    assert "Not saved in the index" in made._repr_html_()
    assert hits(shop, "green sofa", client) == []


@pytest.mark.parametrize("word", ["won't", "t-shirt", "U.S.A.", "1,5", "été", "c++", "«neu»"])
@pytest.mark.parametrize("choice", [{"words": "all"}, {"words": "rare", "records": 1}])
def test_a_word_that_no_record_has_is_optional_however_it_is_written(
    shop: str, word: str, choice: Any
) -> None:
    query = f"{word} lamp"
    plain = tuning.run(shop, [query])
    change: Any = {"request": {"optionalWords": choice}}

    optional = tuning.impact(shop, change, [query]).after

    assert plain["objectID"].isna().all()
    assert set(optional["objectID"]) == {"1", "2", "4"}


def test_each_part_of_a_change_goes_where_it_belongs(shop: str) -> None:
    change: Any = {"settings": {"ignorePlurals": ["en"]}, "request": ALL}

    impact = tuning.impact(shop, change, judgments=JUDGMENTS)
    made = tuning.apply(shop, change)

    assert impact.comparison
    assert impact.comparison.test()["after"][0] == 1
    assert "2 changes tried by parameters" in repr(impact)
    assert made["name"].tolist() == ["ignorePlurals"]
    assert made.attrs["svc"]["request"] == ALL
    tuning.undo(shop, made.attrs["svc"]["change_id"])


def test_a_change_of_the_request_alone_is_tried_and_not_saved(shop: str) -> None:
    impact = tuning.impact(shop, {"request": ALL}, judgments=JUDGMENTS)

    assert impact.touched == len(JUDGMENTS)
    assert tuning.apply(shop, {"request": ALL}).empty
    with pytest.raises(BadInput, match="`request` must be"):
        tuning.apply(shop, {"request": ["x"]})


@pytest.mark.parametrize(
    "request_part",
    [
        {"optionalWords": {"words": "all"}, "naturalLanguages": ["en"]},
        {"optionalWords": {"words": "all but rarest"}},
        {"similarQuery": {"words": "rare", "records": 2}},
        {"params": {"blue oak lamp": {"optionalWords": ["oak"]}}},
    ],
    ids=["all", "rarest", "rare", "by query"],
)
def test_the_written_code_does_what_was_tried(shop: str, request_part: Any) -> None:
    queries = ["blue oak lamp", "red table"]
    code = write_code(shop, request_part).rsplit("\n\n\n", 1)[0]
    names: dict[str, Any] = {"svc": svc}
    exec(code, names)

    tried = tuning.impact(shop, {"request": request_part}, queries).after
    written = pd.DataFrame([{"query": q, "params": names["search_params"](q)} for q in queries])

    assert tuning.run(shop, written)["objectID"].tolist() == tried["objectID"].tolist()
    assert re.search(r"^def search_params\(query\):", code, re.MULTILINE)


class _FailingWord:
    """Answers counts of words; one word has a search that fails."""

    async def search_many(self, requests: Any) -> Any:
        if any(request["query"] == "bad" for request in requests):
            raise Refused("bad query", status=400)
        return {"results": [{"nbHits": 7} for _ in requests]}


def test_a_word_that_cannot_be_counted_is_reported_and_not_taken_for_missing() -> None:
    client: Any = _FailingWord()
    counts = WordCounts(client, "shop")

    with pytest.warns(UserWarning, match="1 of 2 words could not be counted, such as 'bad'"):
        asyncio.run(counts.read(["good", "bad"]))

    assert counts.known == {"good": 7}
    rare: Any = {"optionalWords": {"words": "rare", "records": 8}}
    assert fill_request("good bad", rare, counts.known) == {"optionalWords": ["good"]}

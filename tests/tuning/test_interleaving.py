"""Interleaving: lists of both variants, credit by events, and the errors of its decisions."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx
import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from pandas import DataFrame

import svc_notebook as svc
from benchmarks.simulations import simulate_interleaving
from svc_notebook.errors import BadInput, NotFound
from svc_notebook.faces.cli import main
from svc_notebook.tuning.interleaving.outcome import InterleavingOutcome, draft_teams
from tests.conftest import Running

WITHOUT_TYPOS = {"typoTolerance": False}


def test_a_list_has_the_best_hits_of_both_variants_in_turn() -> None:
    random = Random(1)
    faults = []
    for number in range(200):
        pool = [str(one) for one in range(12)]
        first, second = (random.sample(pool, random.randint(0, 12)) for _ in range(2))
        drafted = draft_teams(first, second, 8, str(number))
        names = [name for name, _ in drafted]
        for team, ranked in (("a", first), ("b", second)):
            own = [name for name, of in drafted if of == team]
            places = [ranked.index(name) for name in own]
            skipped = {*ranked[: max(places, default=-1) + 1]} - {*names}
            if places != sorted(places) or skipped:
                faults.append(number)
        balance = [sum(1 if of == "a" else -1 for _, of in drafted[:end]) for end in range(9)]
        complete = {*first} | {*second} == {*names} or len(drafted) == 8
        if not complete or len({*names}) < len(names):
            faults.append(number)
        if (
            {*first}.isdisjoint(second)
            and len(first) > 7 < len(second)
            and max(map(abs, balance)) > 1
        ):
            faults.append(number)
        if draft_teams(first, second, 5, str(number)) != drafted[:5]:
            faults.append(number)

    assert not faults
    starts = [draft_teams("x", "y", 2, str(number))[0][1] for number in range(400)]
    assert 150 < starts.count("a") < 250


def make_outcome(preferred: Sequence[str]) -> InterleavingOutcome:
    users = DataFrame({"preferred": pd.Series(preferred, dtype="str")})
    return InterleavingOutcome(len(preferred), users, 0)


@pytest.mark.slow
def test_statistics_are_those_of_scipy() -> None:
    from scipy.stats import binomtest

    for wins, losses in ((0, 1), (3, 3), (14, 5), (200, 260), (0, 30)):
        outcome = make_outcome(["b"] * wins + ["a"] * losses + [""] * 7)
        reference = binomtest(wins, wins + losses)
        interval = reference.proportion_ci(method="wilson")

        assert outcome.test() == pytest.approx(reference.pvalue), (wins, losses)
        assert outcome.interval() == pytest.approx((interval.low, interval.high))
    assert make_outcome([""]).test() == 1


# ------------------------------------------------------------------------------- simulated users


@pytest.mark.slow
def test_decisions_are_rarely_wrong_and_mostly_found_though_read_after_every_user() -> None:
    random = Random(5)
    equal = [simulate_interleaving(random, 0, 200) for _ in range(200)]
    better = [simulate_interleaving(random, 0.5, 1000) for _ in range(40)]

    assert sum(decision != "" for decision, _ in equal) <= 0.05 * len(equal)
    assert sum(decision == "b" for decision, _ in better) >= 0.8 * len(better)
    assert not [decision for decision, _ in better if decision == "a"]


def test_a_decision_stays_though_later_users_differ() -> None:
    outcome = make_outcome(["b"] * 10 + ["a"] * 10)

    assert outcome.decision == "b"
    assert outcome.evidence()[-1] < 1
    assert "users prefer b" in repr(outcome)
    assert make_outcome(["b", "a"]).decision == ""


# ---------------------------------------------------------------------------------- the service


def click(hit: dict[str, Any], index: str, user: str) -> None:
    event: dict[str, Any] = {
        "eventType": "click", "eventName": "Opened", "index": index, "userToken": user,
        "queryID": hit["_queryID"], "objectIDs": [hit["objectID"]], "positions": [1],
    }  # fmt: skip
    svc.send_events([event])


def test_clicks_are_credits_of_the_variant_that_contributed_the_hit(
    measured: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    by_brand: dict[str, Any] = {"optionalFilters": "brand:Acme"}
    mixed = svc.tuning.interleave(measured, {}, by_brand, log=log)

    shown = mixed.search("lamp", userToken="anna", hitsPerPage=3)
    again = mixed.search("lamp", userToken="anna", hitsPerPage=3)
    second = mixed.search("lamp", userToken="anna", hitsPerPage=2, page=1)
    entry = json.loads(log.read_text().splitlines()[0])
    teams = entry["teams"]
    for hit in shown["hits"]:
        assert hit["_queryID"] == entry["queryIDs"][teams[hit["objectID"]]]
    target = shown["hits"][0]
    click(target, measured, "anna")
    click({**target, "objectID": "unknown"}, measured, "anna")
    outcome = svc.tuning.read_interleaving(log, svc.read_events(measured))

    names = [hit["objectID"] for hit in shown["hits"]]
    assert names == [hit["objectID"] for hit in again["hits"]]
    assert second["hits"][0]["objectID"] == names[2]
    assert shown["nbHits"] == svc.search(measured, "lamp").attrs["svc"]["nbHits"]
    assert (shown["page"], shown["hitsPerPage"], second["page"]) == (0, 3, 1)
    assert outcome.wins[teams[target["objectID"]]] == 1
    assert (len(outcome.users), outcome.unmatched) == (1, 1)
    assert outcome.searches == len(log.read_text().splitlines())


def test_equal_lists_are_not_counted(measured: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    mixed = svc.tuning.interleave(measured, {}, {"highlightPreTag": "<b>"}, log=log)

    assert mixed.search("lamp")["hits"]
    assert log.read_text() == ""


def test_variants_that_cannot_be_compared_are_refused(measured: str, tmp_path: Path) -> None:
    faults: dict[str, tuple[Any, Any]] = {
        "are the same": ({}, measured),
        "belongs to the search of the user": ({}, {"hitsPerPage": 3}),
        "is not known": ({}, {"searchableAttribute": ["name"]}),
        "name of an index": ({}, 3),
    }
    missed = []
    for fault, (a, b) in faults.items():
        try:
            svc.tuning.interleave(measured, a, b, log=tmp_path / "log")
        except BadInput as error:
            missed += [] if fault in str(error) else [str(error)]
        else:
            missed.append(fault)

    assert not missed
    for a, b in ((measured, "no-such-index"), ("no-such-index", {})):
        with pytest.raises(NotFound, match="no-such-index"):
            svc.tuning.interleave(measured, a, b, log=tmp_path / "log")
    with pytest.raises(NotFound, match="no-such-index"):
        svc.tuning.interleave("no-such-index", {}, {"typoTolerance": False}, log=tmp_path / "log")
    assert not (tmp_path / "log").exists()
    with pytest.raises(BadInput, match="cannot be written: Is a directory"):
        svc.tuning.interleave(measured, {}, {"typoTolerance": False}, log=tmp_path)
    (tmp_path / "log").write_text('{"user": 3}\n')
    with pytest.raises(BadInput, match="line 1: no entry of an interleaving"):
        svc.tuning.read_interleaving(tmp_path / "log", svc.read_events(measured))


def test_a_page_calls_the_application_in_place_of_the_service(
    measured: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    mixed = svc.tuning.interleave(measured, {}, {"optionalFilters": "brand:Acme"}, log=log)
    many = "/1/indexes/*/queries"
    one = f"/1/indexes/{measured}/query"
    encoded = "query=lamp&hitsPerPage=2&facets=%5B%22brand%22%5D&userToken=7"

    async def send() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=mixed)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://front") as page:
            return [
                await page.post(one, json={"query": "lamp", "hitsPerPage": 2, "userToken": "7"}),
                await page.post(many, json={"requests": [
                    {"indexName": measured, "params": encoded},
                    {"indexName": measured, "query": "", "hitsPerPage": 1},
                ]}),
                await page.post(one, json={"query": 5}),
                await page.post(one, content=b"{"),
                await page.post("/1/indexes/other/query", json={}),
                await page.options(one),
            ]  # fmt: skip

    single, several, *refused, options = asyncio.run(send())

    assert [hit["objectID"] for hit in single.json()["hits"]] == [
        hit["objectID"] for hit in several.json()["results"][0]["hits"]
    ]
    assert several.json()["results"][0]["facets"] == {"brand": {"Bolt": 2, "Acme": 2}}
    assert len(several.json()["results"][1]["hits"]) == 1
    assert [answer.status_code for answer in refused] == [400, 400, 400]
    assert "this address answers POST" in refused[2].json()["message"]
    assert options.headers["access-control-allow-origin"] == "*"


def name_service(running: Running) -> dict[str, str]:
    """Return the variables that name a service with its search key."""
    return {"SVC_URL": running.url, "SVC_APP_ID": running.appId, "SVC_API_KEY": running.searchKey}


@contextmanager
def serving(*words: str, running: Running) -> Iterator[str]:
    """Run the command in a process of its own, and yield its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "svc_notebook", "interleave", *words, "--port", "0"],
        stderr=subprocess.PIPE, text=True, env={**os.environ, **name_service(running)},
    )  # fmt: skip
    assert process.stderr
    try:
        line = process.stderr.readline()
        [address] = re.findall(r"http://[\d.:]+", line) or [line + process.stderr.read()]
        yield address
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


@pytest.mark.slow
def test_a_page_calls_the_command_in_place_of_the_service(
    service: Running, measured: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.jsonl"
    words = (measured, "{}", '{"optionalFilters": "brand:Acme"}', "--log", str(log))

    with serving(*words, running=service) as address:
        asked = {"query": "lamp", "userToken": "anna", "hitsPerPage": 3}
        answer = httpx.post(f"{address}/1/indexes/{measured}/query", json=asked)

    assert answer.status_code == 200, answer.text
    hits = answer.json()["hits"]
    click(hits[0], measured, "anna")
    outcome = svc.tuning.read_interleaving(log, svc.read_events(measured))
    assert len(hits) == 3
    assert outcome.searches == 1
    assert sum(outcome.wins.values()) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["{}", "{}"], "are the same", id="equal"),
        pytest.param(["{bad"], "is not JSON", id="json"),
        pytest.param(['{"typoToleranc": false}'], "typoTolerance", id="parameter"),
        pytest.param(['{"typoTolerance": false}', "--port", "{taken}"], "port", id="port"),
        pytest.param(['{"typoTolerance": false}', "--port", "99999"], "use 1 to 65535", id="range"),
    ],
)
def test_the_command_refuses_what_it_cannot_serve(
    measured: str, tmp_path: Path, words: list[str], message: str, service: Running,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    for name, value in name_service(service).items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = [word.replace("{taken}", port) for word in words]
        status = main(["interleave", measured, *given, "--log", str(tmp_path / "log")])

    assert status != 0
    assert message in capsys.readouterr().err


def test_the_plot_shows_the_share_and_the_evidence() -> None:
    mpl.use("agg")
    left, right = make_outcome(["b"] * 12 + ["a"] * 3 + [""]).plot()

    assert np.asarray(left.get_lines()[-1].get_ydata())[-1] == pytest.approx(0.8)
    assert np.shape(right.get_lines()[-1].get_ydata()) == (15,)
    assert "80%" in left.get_title(loc="left") + left.get_title()
    assert make_outcome([]).plot()[0].texts

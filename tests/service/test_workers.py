"""Searches in worker processes answer like searches in the service, whatever happens to them."""

from __future__ import annotations

import base64
import os
import random
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import httpx
import msgspec
import psutil  # type: ignore[import-untyped]  # it has no types of its own
import pytest

from svc_notebook.core.api.secured_keys import sign
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.server import MAX_DEFAULT_WORKERS, choose_workers
from svc_notebook.service.service import WorkerCounts
from svc_notebook.service.store import Store
from svc_notebook.service.vector_builder import VectorTimes
from svc_notebook.service.workers import process
from svc_notebook.service.workers.messages import (
    LENGTH_BYTES,
    CallerFacts,
    SearchCall,
    WorkerReply,
    WorkerRequest,
)
from svc_notebook.service.workers.pool import SUPPORTED
from tests.conftest import start_service, stop_service
from tests.service.parameter_examples import SCENES
from tests.service.test_parameters import WAYS, stage
from tests.service.worker_calls import WithWorkers, with_workers

pytestmark = [
    pytest.mark.skipif(not SUPPORTED, reason="the system has no workers"),
    pytest.mark.timeout(240),  # starting processes takes long on a busy machine
]

WORDS = ["lamp", "lamps", "oak", "table", "red", "reed", "sofa", "couch", "light", "lightbulb"]
EXACT = {"typoTolerance": False}
SETTINGS = {
    "searchableAttributes": ["title", "unordered(text)"],
    "attributesForFaceting": ["searchable(brand)", "filterOnly(color)", "price"],
    "customRanking": ["desc(sold)"],
    "attributeForDistinct": "brand",
    "unretrievableAttributes": ["secret"],
    "replicas": ["shop by price", "virtual(shop by sold)"],
}


def make_record(chance: random.Random, number: int) -> dict[str, Any]:
    return {
        "objectID": str(number),
        "title": " ".join(chance.choices(WORDS, k=3)),
        "text": " ".join(chance.choices(WORDS, k=12)),
        "brand": chance.choice(["Acme", "Hooli", "Initech"]),
        "color": chance.choice(["red", "blue"]),
        "price": chance.randrange(100),
        "sold": chance.randrange(20),
        "secret": "hidden",
        "_geoloc": {"lat": chance.uniform(40, 50), "lng": chance.uniform(0, 10)},
    }


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WithWorkers]:
    """A shop with synonyms, rules and replicas, searched with and without workers."""
    with with_workers(tmp_path_factory.mktemp("workers"), seconds=60) as inside:
        chance = random.Random(5)
        inside.fill("shop", *(make_record(chance, n) for n in range(400)), **SETTINGS)
        path = "/1/indexes/shop"
        sofa = {"objectID": "s", "type": "synonym", "synonyms": ["sofa", "couch"]}
        inside.done("POST", f"{path}/synonyms/batch", [sofa])
        rules: list[dict[str, Any]] = [
            {"conditions": [{"pattern": "oak", "anchoring": "contains"}],
             "consequence": {"promote": [{"objectID": "7", "position": 1}], "userData": {"a": 1}}},
            {"conditions": [{"pattern": "{facet:brand}", "anchoring": "contains"}],
             "consequence": {"params": {"automaticFacetFilters": [{"facet": "brand"}]}}},
            {"conditions": [{"pattern": "elsewhere", "anchoring": "is"}],
             "consequence": {"params": {"filters": "price < 50"}}},
        ]  # fmt: skip
        named = [{"objectID": f"r{number}", **rule} for number, rule in enumerate(rules)]
        inside.done("POST", f"{path}/rules/batch", named)
        yield inside


def make_search(chance: random.Random) -> dict[str, Any]:
    """Make a search of a few parameters, some of which are refused."""
    query = " ".join(chance.choices([*WORDS, "acme", "lmap", "elsewhere", '"red lamp"'], k=2))
    optional: dict[str, Any] = {
        "facets": chance.choice([["*"], ["brand", "price"], ["unknown"]]),
        "filters": chance.choice(["price < 50", 'brand:"Acme" OR color:red', "price <", "x:1"]),
        "optionalFilters": ["color:red"],
        "getRankingInfo": True,
        "distinct": chance.choice([0, 1, 2]),
        "hitsPerPage": chance.choice([0, 3, 100]),
        "page": chance.choice([0, 2]),
        "attributesToHighlight": chance.choice([[], ["title"], ["*"]]),
        "attributesToSnippet": ["text:4"],
        "attributesToRetrieve": chance.choice([["title"], ["*", "-text"]]),
        "responseFields": ["hits", "nbHits"],
        "clickAnalytics": True,
        "removeWordsIfNoResults": "lastWords",
        "typoTolerance": chance.choice([False, "strict"]),
        "ignorePlurals": ["en"],
        "removeStopWords": True,
        "aroundLatLng": "45,5",
        "aroundRadius": 200_000,
        "queryType": chance.choice(["prefixNone", "prefixAll", "wrong"]),
        "ruleContexts": ["mobile"],
        "enablePersonalization": True,
        "relevancyStrictness": 50,
        "sumOrFiltersScores": True,
        "userToken": "anna",
    }
    chosen = chance.sample(sorted(optional), k=chance.randrange(5))
    return {"query": query, **{name: optional[name] for name in chosen}}


@pytest.mark.slow
def test_random_searches_are_answered_alike_to_the_byte(shop: WithWorkers) -> None:
    chance = random.Random(11)
    before = shop.workers.counts.answered
    for _ in range(250):
        index = chance.choice(["shop", "shop by price", "shop by sold"])
        shop.compare("POST", f"/1/indexes/{index}/query", make_search(chance))

    assert (
        shop.workers.counts.answered - before > 200
    )  # others were refused while they were decoded


@pytest.mark.slow
def test_several_searches_in_one_call_are_answered_alike(shop: WithWorkers) -> None:
    chance = random.Random(12)
    for size in (1, 3, 8, 30):
        for strategy in ("none", "stopIfEnoughMatches"):
            requests = [{"indexName": "shop", "query": "lamp", "hitsPerPage": n} for n in (1, 2)]
            requests += [{"indexName": "shop", "type": "facet", "facet": "brand"}]
            for _ in range(size):
                made = make_search(chance)
                if "wrong" not in made.values() and "price <" not in made.values():
                    requests.append({"indexName": "shop by price", **made})
            body = {"requests": requests, "strategy": strategy}

            assert shop.compare("POST", "/1/indexes/*/queries", body).status_code == 200


def test_an_error_names_its_search_in_the_whole_call(shop: WithWorkers) -> None:
    requests: list[dict[str, Any]] = [{"indexName": "shop"} for _ in range(20)]
    requests[17] = {"indexName": "shop", "type": "facet"}

    refused = shop.compare("POST", "/1/indexes/*/queries", {"requests": requests})

    assert refused.status_code == 400
    assert "requests[17]" in refused.json()["message"]


def test_facet_values_get_searches_and_restricted_keys_are_answered_alike(
    shop: WithWorkers,
) -> None:
    parent = shop.facts["searchKey"]
    text = "filters=color%3Ared&hitsPerPage=3"
    secured = base64.b64encode((sign(parent, text) + text).encode()).decode()
    for key in (None, parent, secured):
        shop.compare("POST", "/1/indexes/shop/facets/brand/query", {"facetQuery": "a"}, key=key)
        shop.compare("POST", "/1/indexes/shop/facets/color/query", {"facetQuery": "a"}, key=key)
        found = shop.compare("GET", "/1/indexes/shop?query=lamp&facets=brand", key=key).json()
        assert all(("secret" in hit) == (key is None) for hit in found["hits"])
    assert len(found["hits"]) == 3
    assert all(hit["color"] == "red" for hit in found["hits"])
    assert shop.compare("POST", "/1/indexes/unknown/query", {}).status_code == 404


@pytest.mark.parametrize(("name", "way"), WAYS)
@pytest.mark.sampled(60)
def test_every_parameter_has_the_same_effect(shop: WithWorkers, name: str, way: str) -> None:
    scene, index = SCENES[name], f"{name} {way}"
    stage(shop, scene, index)
    verb = f"facets/{scene.facet}/query" if scene.facet else "query"
    path, key = f"/1/indexes/{index}/{verb}", shop.facts["searchKey"]

    shop.compare("POST", path, scene.params, key=key)
    if way == "setting":
        value = [f"{index}-replica"] if name == "replicas" else scene.value
        shop.done("PUT", f"/1/indexes/{index}/settings", {name: value})
    given = {name: scene.value} if way == "parameter" else {}
    shop.compare("POST", path, {**scene.params, **given}, key=key)


@pytest.mark.slow
def test_what_was_published_is_in_every_answer(tmp_path: Path) -> None:
    chance = random.Random(3)
    with with_workers(tmp_path) as inside:
        inside.fill("films", *({"objectID": f"a{n}", "title": "old"} for n in range(50)))
        for turn in range(25):
            count = chance.choice([1, 5, 300])
            records = [{"objectID": f"{turn}-{n}", "title": f"turn{turn}"} for n in range(count)]
            requests = [{"action": "addObject", "body": record} for record in records]
            requests += [{"action": "deleteObject", "body": {"objectID": f"a{turn}"}}]
            inside.done("POST", "/1/indexes/films/batch", {"requests": requests})
            if turn % 5 == 0:
                synonym = {"objectID": "s", "type": "synonym", "synonyms": [f"turn{turn}", "now"]}
                inside.done("PUT", "/1/indexes/films/synonyms/s", synonym)
                rule = {"objectID": "r", "consequence": {"userData": {"turn": turn}}}
                inside.done("PUT", "/1/indexes/films/rules/r", rule)
            if turn % 7 == 0:
                inside.done("PUT", "/1/indexes/films/settings", {"hitsPerPage": 1 + turn})
            path = "/1/indexes/films/query"
            queries = [f"turn{turn}", "old", "now"] * 3

            answers = inside.send_all(
                [("POST", path, {"query": query, **EXACT}) for query in queries]
            )

            found = {q: one.json() for q, one in zip(queries, answers, strict=True)}
            assert [one.json()["nbHits"] for one in answers][:3] == [
                one["nbHits"] for one in found.values()
            ]
            assert found[queries[0]]["nbHits"] == count
            assert found["old"]["nbHits"] == 49 - turn
            assert found["now"]["userData"] == [{"turn": turn - turn % 5}]
            assert found["now"]["hitsPerPage"] == 1 + turn - turn % 7
            inside.compare("POST", path, {"query": "now"})
        assert inside.workers.counts.answered > 200


@pytest.mark.slow
def test_searches_during_writes_see_whole_batches(tmp_path: Path) -> None:
    """Each batch sets one value in all records: no answer contains two."""
    with with_workers(tmp_path) as inside:
        stop = threading.Event()

        def write() -> None:
            turn = 0
            while not stop.is_set():
                turn += 1
                records = [{"objectID": f"{n}", "title": "lamp", "turn": turn} for n in range(20)]
                inside.fill("films", *records)

        inside.fill("films", *({"objectID": f"{n}", "title": "lamp", "turn": 0} for n in range(20)))
        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(60):
                search = ("POST", "/1/indexes/films/query", {"query": "lamp"})
                for answer in inside.send_all([search] * 4):
                    turns = [hit["turn"] for hit in answer.json()["hits"]]
                    assert len(turns) == 20
                    assert len(set(turns)) == 1
        finally:
            stop.set()
            writer.join()
        assert inside.workers.counts.answered > 0


def test_a_deleted_or_renamed_index_is_not_searched_any_more(tmp_path: Path) -> None:
    with with_workers(tmp_path) as inside:
        for name in ("one", "two"):
            inside.fill(name, {"objectID": name, "title": "lamp"})
            inside.compare("POST", f"/1/indexes/{name}/query", {})
        inside.done("POST", "/1/indexes/one/operation", {"operation": "move", "destination": "two"})

        assert inside.compare("POST", "/1/indexes/one/query", {}).status_code == 404
        moved = inside.compare("POST", "/1/indexes/two/query", {}).json()
        assert [hit["objectID"] for hit in moved["hits"]] == ["one"]


def kill_all(processes: list[int]) -> None:
    for pid in processes:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_killed_workers_are_replaced_and_no_search_fails(tmp_path: Path) -> None:
    with with_workers(tmp_path) as inside:
        chance = random.Random(4)
        inside.fill("shop", *(make_record(chance, n) for n in range(300)))
        search = ("POST", "/1/indexes/shop/query", {"query": "lamp oak", "facets": ["*"]})
        expected = inside.call(*search).json()["hits"]
        first = set(inside.workers.processes)

        for _ in range(5):
            doomed = list(inside.workers.processes)
            killer = threading.Timer(0.02, kill_all, [doomed])
            killer.start()
            answers = inside.send_all([search] * 40)
            killer.join()

            assert [one.json()["hits"] for one in answers] == [expected] * 40
        inside.wait_for_workers()
        before = inside.workers.counts.answered
        inside.send_all([search] * 4)

        assert first.isdisjoint(inside.workers.processes)
        assert inside.workers.counts.answered == before + 4


@pytest.mark.slow
def test_a_search_has_its_time_limit_in_a_worker(tmp_path: Path) -> None:
    with with_workers(tmp_path, seconds=1e-9) as inside:
        inside.fill("films", *({"objectID": str(n), "title": "lamp"} for n in range(50)))

        refused = inside.compare("POST", "/1/indexes/films/query", {"query": "lamp"})

        assert refused.status_code == 408
        assert inside.workers.counts.answered == 1


@pytest.mark.slow
def test_logs_and_impressions_are_those_of_the_service(tmp_path: Path) -> None:
    with with_workers(tmp_path) as inside:
        inside.fill("films", {"objectID": "1", "title": "lamp"})
        body = {"query": "lamp", "clickAnalytics": True, "userToken": "anna"}
        answer = inside.compare("POST", "/1/indexes/films/query", body).json()
        several = {"requests": [{"indexName": "films", **body}] * 9}
        inside.compare("POST", "/1/indexes/*/queries", several)

        logs = inside.call("GET", "/1/logs?length=10&type=query").json()["logs"]
        pairs = [(logs[0], logs[1]), (logs[2], logs[3])]

        assert answer["queryID"] in inside.app.service.impressions.times([answer["queryID"]])
        for own, shared in pairs:
            for name in ("url", "nb_api_calls", "answer_code", "query_nb_hits", "index"):
                assert own.get(name) == shared.get(name)
            assert len(own.get("inner_queries", [])) == len(shared.get("inner_queries", []))


def search_until(url: str, facts: Any, stop: threading.Event, statuses: list[int]) -> None:
    headers = {"x-service-application-id": facts.appId, "x-service-api-key": facts.adminKey}
    with httpx.Client(base_url=url, headers=headers, timeout=30) as client:
        while not stop.is_set():
            found = client.post("/1/indexes/films/query", json={"query": "lamp"})
            statuses.append(found.status_code)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.sampled(1)
def test_no_process_outlives_the_service(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_WORKERS", "2")
    process, running = start_service(tmp_path)
    try:
        with running.client() as client:
            record = {"action": "addObject", "body": {"objectID": "1", "title": "lamp"}}
            client.post("/1/indexes/films/batch", json={"requests": [record]})
        stop = threading.Event()
        statuses: list[int] = []
        threads = [
            threading.Thread(target=search_until, args=(running.url, running, stop, statuses))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        children = wait_for_children(process, 2)
        stop.set()
        for thread in threads:
            thread.join()

        assert {*statuses} <= {200, 404}  # 404 until the index is published

        process.send_signal(number)
        process.wait(20)

        assert psutil.wait_procs(children, timeout=20)[1] == []
    finally:
        if process.poll() is None:
            stop_service(process)
        assert process.stdout
        process.stdout.close()


def wait_for_children(process: subprocess.Popen[str], count: int) -> list[psutil.Process]:
    end = time.monotonic() + 30
    while len(children := psutil.Process(process.pid).children()) < count:
        assert time.monotonic() < end, "the workers did not start"
        time.sleep(0.01)
    return list(children)


@pytest.mark.slow
def test_a_service_with_one_caller_at_a_time_starts_no_workers(tmp_path: Path) -> None:
    process, running = start_service(tmp_path, "--workers", "2")
    try:
        with running.client() as client:
            for _ in range(20):
                client.post("/1/indexes/films/query", json={})

        assert psutil.Process(process.pid).children() == []
    finally:
        stop_service(process)


@pytest.mark.slow
@pytest.mark.parametrize("count", ["-1", "1000"])
def test_an_invalid_number_of_workers_is_refused(tmp_path: Path, count: str) -> None:
    from tests.service.test_serve import run

    done = run("--data", str(tmp_path), "--workers", count)

    assert done.returncode == 1
    assert f"invalid number of workers {count}: use 0 to" in done.stderr


@pytest.mark.parametrize("text", ["two", "-1", "1.5", "65"])
def test_an_invalid_number_in_the_environment_is_refused(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("SVC_WORKERS", text)

    with pytest.raises(LocalServiceFailed, match=r"0 to 64"):
        choose_workers(None)


def test_a_given_number_of_workers_precedes_the_environment_and_the_processors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SVC_WORKERS", " 3 ")

    assert (choose_workers(2), choose_workers(0), choose_workers(None)) == (2, 0, 3)


def test_the_default_is_a_worker_for_each_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SVC_WORKERS", "")

    assert choose_workers(None) == min(len(os.sched_getaffinity(0)), MAX_DEFAULT_WORKERS)


@pytest.mark.slow
def test_searches_by_vectors_are_answered_in_the_service(tmp_path: Path) -> None:
    titles = ["flour butter oven", "sail sea wave"] * 10
    at_once = VectorTimes(poll_seconds=0.01, quiet_seconds=0.0)
    with with_workers(tmp_path, vectors=at_once) as inside:
        records = [{"objectID": str(n), "title": title} for n, title in enumerate(titles)]
        settings = {"mode": "neuralSearch", "attributesForFaceting": ["searchable(title)"]}
        inside.fill("shop", *records, **settings)
        path = "/1/indexes/shop"
        similar = {"semanticSearch": {"localMinSimilarity": 0.5}, "query": "sail flour"}
        end = time.monotonic() + 60
        while "message" in inside.call("POST", f"{path}/query", similar).json():
            assert time.monotonic() < end, "the vectors were not computed"
            time.sleep(0.01)

        before = inside.workers.counts.answered
        by_vectors = inside.compare("POST", f"{path}/query", {**similar, "getRankingInfo": True})
        inside.compare("POST", f"{path}/facets/title/query", {"facetQuery": "sail", "params": ""})
        assert inside.workers.counts.answered == before
        by_words = inside.compare("POST", f"{path}/query", {**similar, "mode": "keywordSearch"})
        assert inside.workers.counts.answered == before + 1
        assert by_words.json()["nbHits"] != by_vectors.json()["nbHits"]


@pytest.mark.slow
def test_the_status_counts_answered_and_declined_searches(tmp_path: Path) -> None:
    with with_workers(tmp_path) as inside:
        inside.fill("films", {"objectID": "1", "title": "lamp"})
        inside.fill("other", {"objectID": "2", "title": "oak"})
        rule = {
            "objectID": "r",
            "conditions": [{"pattern": "oak", "anchoring": "is"}],
            "consequence": {"redirect": {"indexName": "other"}},
        }
        inside.done("PUT", "/1/indexes/films/rules/r", rule)
        before = inside.call("GET", "/local/1/status").json()["searchWorkers"]

        inside.compare("POST", "/1/indexes/films/query", {"query": "lamp"})
        inside.compare("POST", "/1/indexes/films/query", {"query": "oak"})

        after = inside.call("GET", "/local/1/status").json()["searchWorkers"]
        assert after["processes"] == inside.count
        assert after["answered"] == before["answered"] + 1
        assert after["declined"] == {"another index": 1}


@pytest.mark.slow
def test_an_unexpected_error_of_a_worker_is_counted_and_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(call: CallContext, **params: Any) -> NoReturn:
        raise KeyError("title")

    monkeypatch.setitem(process.HANDLERS, "search", fail)
    ours, theirs = socket.socketpair()
    worker = process.SearchWorker(theirs, Store(tmp_path / "service.sqlite"))
    caller = CallerFacts([], True, "127.0.0.1", None)
    call = SearchCall("search", {"index": "films"}, caller, [], {}, 4)
    counts = WorkerCounts()

    for _ in range(2):
        body = worker._reply(msgspec.msgpack.encode(WorkerRequest([], [], call)))
        reply = msgspec.msgpack.decode(body[LENGTH_BYTES:], type=WorkerReply)
        counts.decline(reply.reason, reply.fault)

    ours.close()
    theirs.close()
    assert counts.declined == {"error: KeyError": 2}
    assert capsys.readouterr().err.count("KeyError: 'title'") == 1

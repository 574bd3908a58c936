"""Crawlers are created, listed, changed and stored; invalid ones are refused first."""

from __future__ import annotations

import asyncio
import base64
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from svc_notebook.errors import Refused
from svc_notebook.service.app import App
from svc_notebook.service.crawlers.crawl import Crawl
from svc_notebook.service.crawlers.crawler import StoredCrawlerTask, find_crawler
from svc_notebook.service.crawlers.jobs import run_reindex, run_urls
from svc_notebook.service.crawlers.reindex import begin_reindex, block_urls
from svc_notebook.service.folder import Idleness
from svc_notebook.service.migrations import MIGRATIONS
from svc_notebook.service.service import Service
from svc_notebook.service.store import Store
from tests.service.crawlers.conftest import CRAWLERS, Desk, Site, configuration

CONFIG = configuration()
NOBODY = "/5a0c7f3e-0000-4000-8000-000000000001"


def test_a_new_crawler_waits_to_be_run(desk: Desk) -> None:
    crawler = desk.make(CONFIG)

    state = desk.state(crawler)

    assert state["id"] == crawler[1:]
    assert state["name"] == "docs"
    assert [state[name] for name in ("running", "reindexing", "blocked")] == [False] * 3
    assert state["lastReindexStartedAt"] is state["lastReindexStartAt"] is None
    assert state["lastReindexEndedAt"] is None
    assert "config" not in state
    assert "blockingTaskId" not in state


def test_a_configuration_is_returned_as_stored(desk: Desk) -> None:
    crawler = desk.make({**CONFIG, "appId": desk.facts["appId"]})

    kept = desk.ask("GET", f"{crawler}?withConfig=true")["config"]

    assert kept == {**CONFIG, "appId": desk.facts["appId"]}


def test_a_configuration_without_an_application_is_for_this_one(desk: Desk) -> None:
    crawler = desk.make(CONFIG)

    assert desk.ask("GET", f"{crawler}?withConfig=true")["config"]["appId"] == desk.facts["appId"]


def test_a_deleted_crawler_ends_its_crawl_and_keeps_its_index(
    desk: Desk, site: Site, app: App
) -> None:
    site.fill(4)
    crawler, other = desk.make(configuration(site.url)), desk.make(CONFIG)
    desk.do(crawler, "reindex")
    site.open.clear()
    desk.ask("POST", f"{crawler}/reindex")
    desk.ask("POST", f"{crawler}/urls/crawl", {"urls": [f"{site.url}/p1"]})
    desk.until(lambda: len(site.visits) > 5)

    desk.ask("DELETE", f"/local/1/crawlers{crawler}")
    site.open.set()

    assert desk.refused("GET", crawler)[0] == 403
    assert [one["id"] for one in desk.ask("GET")["items"]] == [other[1:]]
    store = app.service.store
    tables = ("crawls", "crawl_urls", "crawler_tasks")
    desk.until(lambda: not any(store.read(f"SELECT 1 FROM {name}") for name in tables))
    desk.until(lambda: desk.indices() == ["docs"])
    assert len(desk.titles()) == 4


def test_a_running_crawl_and_pending_writes_count_as_use(
    desk: Desk, site: Site, app: App, tmp_path: Path
) -> None:
    site.fill(2)
    crawler = desk.make(configuration(site.url))
    site.open.clear()
    idleness = Idleness(tmp_path, 0.2, lambda: 0.0, app.service.is_busy)
    desk.ask("POST", f"{crawler}/reindex")
    desk.until(lambda: bool(site.visits))

    time.sleep(0.5)
    assert not idleness.is_over()

    site.open.set()
    desk.until(lambda: not app.service.is_busy())
    desk.until(idleness.is_over)
    assert len(desk.titles()) == 2


def test_a_crawler_deleted_between_two_steps_of_a_request_does_not_exist(
    desk: Desk, app: App
) -> None:
    dependencies, store = app.service.crawlers._dependencies, app.service.store
    path = desk.make(CONFIG)
    crawler = find_crawler(store, path[1:])
    desk.ask("DELETE", f"/local/1/crawlers{path}")

    for request in (
        lambda: begin_reindex(dependencies, crawler),
        lambda: begin_reindex(dependencies, crawler, CONFIG),
        lambda: app.service.crawlers._change(crawler, "pause", {"running": False}),
        lambda: app.service.crawlers._queue_urls(crawler, ["https://site.test/a"], None),
        lambda: app.service.crawlers.config(crawler),
    ):
        with pytest.raises(Refused, match="does not exist"):
            request()
    assert app.service.crawlers.domains() == []
    assert not store.read("SELECT 1 FROM crawler_tasks")
    assert not store.read("SELECT 1 FROM crawls WHERE state != 'dropped'")


def test_a_crawler_deleted_as_its_jobs_start_ends_them_without_output(
    desk: Desk, app: App, capsys: pytest.CaptureFixture[str]
) -> None:
    dependencies, scheduler = app.service.crawlers._dependencies, app.service.crawlers._scheduler
    path = desk.make(CONFIG)
    crawler = find_crawler(app.service.store, path[1:])
    task = StoredCrawlerTask("gone", "urls", "pending", 0)
    crawl = Crawl(0, crawler.number, task.id, CONFIG, "running")
    desk.ask("DELETE", f"/local/1/crawlers{path}")

    async def start_jobs() -> None:
        scheduler._begin(("urls", task.id), partial(run_urls, dependencies, crawler, task))
        scheduler._begin(("crawl", 0), partial(run_reindex, dependencies, crawler, crawl))
        await asyncio.gather(*(job.task for job in scheduler.jobs.values()))

    scheduler.run(start_jobs())
    with pytest.raises(Refused, match="does not exist"):
        block_urls(dependencies, crawler, task.id, "the crawl failed")

    assert not scheduler.jobs
    assert capsys.readouterr().err == ""
    assert not app.service.store.read("SELECT 1 FROM crawl_urls")


def test_crawlers_are_listed_a_page_at_a_time(desk: Desk) -> None:
    made = [desk.make(CONFIG, f"site {number}")[1:] for number in range(5)]

    page = desk.ask("GET", "?itemsPerPage=2&page=2")

    assert [item["id"] for item in page.pop("items")] == made[2:4]
    assert page == {"itemsPerPage": 2, "page": 2, "total": 5}


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["Docs", "docs of old", "shop"]),
        ("?name=docs", ["Docs", "docs of old"]),
        ("?name=none", []),
        ("?appId=ELSEWHERE", []),
        ("?page=2", []),
    ],
)
def test_the_list_is_filtered(desk: Desk, query: str, names: list[str]) -> None:
    for name in ("Docs", "docs of old", "shop"):
        desk.make(CONFIG, name)

    assert [item["name"] for item in desk.ask("GET", query)["items"]] == names


def test_a_crawler_gets_another_name_and_configuration(desk: Desk) -> None:
    crawler = desk.make(CONFIG)

    first = desk.ask("PATCH", crawler, {"name": "manual"})["taskId"]
    desk.ask("PATCH", crawler, {"config": {**CONFIG, "maxDepth": 3}})
    desk.ask("PATCH", f"{crawler}/config", {"rateLimit": 2, "maxDepth": None})

    state = desk.ask("GET", f"{crawler}?withConfig=true")
    assert state["name"] == "manual"
    assert state["config"]["rateLimit"] == 2
    assert "maxDepth" not in state["config"]
    assert state["config"]["startUrls"] == CONFIG["startUrls"]
    assert not desk.pending(crawler, first)


def test_concurrent_changes_all_apply(desk: Desk) -> None:
    crawler = desk.make(CONFIG)
    changes: dict[str, Any] = {
        "maxDepth": 7,
        "maxUrls": 9,
        "rateLimit": 3,
        "saveBackup": True,
        "indexPrefix": "p",
    }

    def change(name: str) -> None:
        desk.ask("PATCH", f"{crawler}/config", {name: changes[name]})

    with ThreadPoolExecutor(len(changes)) as pool:
        list(pool.map(change, changes))

    config = desk.ask("GET", f"{crawler}?withConfig=true")["config"]
    assert {name: config.get(name) for name in changes} == changes


def test_configuration_versions_are_kept(desk: Desk, app: App) -> None:
    crawler = desk.make(CONFIG)
    for number in range(2, 5):
        desk.ask("PATCH", f"{crawler}/config", {"rateLimit": number})

    kept = app.service.store.read("SELECT version FROM crawler_versions ORDER BY version")

    assert [version for (version,) in kept] == [1, 2, 3, 4]


def test_acknowledged_changes_are_on_disk(desk: Desk, tmp_path: Path) -> None:
    crawler = desk.make(CONFIG)
    desk.ask("POST", f"{crawler}/run")

    again = Store(tmp_path / "data" / "service.sqlite")

    assert find_crawler(again, crawler[1:]).running
    again.close()


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("PATCH", "/config", {"rateLimit": 1}),
        ("POST", "/run", None),
        ("POST", "/pause", None),
        ("POST", "/reindex", None),
        ("GET", "/stats/urls", None),
        ("POST", "/urls/crawl", {"urls": ["https://a.test"]}),
        ("POST", "/test", {"url": "https://a.test"}),
        ("GET", "/tasks/x", None),
        ("POST", "/tasks/x/cancel", None),
    ],
)
def test_a_crawler_that_does_not_exist_is_forbidden(
    desk: Desk, verb: str, path: str, body: Any
) -> None:
    status, message = desk.refused(verb, NOBODY + path, body)

    assert (status, message) == (403, f"Crawler {NOBODY[1:]} does not exist")


def test_without_credentials_the_error_names_the_required_ones(desk: Desk) -> None:
    refused = desk.inside.call("GET", CRAWLERS)

    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Basic ")
    assert refused.headers["access-control-allow-origin"] == "*"
    assert refused.json()["error"]["code"] == "unauthorized"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rateLimit": "fast"}, "rateLimit"),
        ({"startUrl": []}, "did you mean `startUrls`"),
        ({"actions": []}, "actions"),
        ({"appId": "ELSEWHERE"}, "this service is LOCAL"),
        ({"apiKey": "0" * 32}, "this key does not exist"),
        ({"initialIndexSettings": {"docs": {"hitsPerPag": 3}}}, "did you mean `hitsPerPage`"),
        ({"initialIndexSettings": {"docs": {"ranking": ["best"]}}}, "initialIndexSettings.docs"),
        ({"schedule": "every 1 minute"}, "schedule"),
        ({"startUrls": ["ftp://a.test"]}, "startUrls"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_unusable_configurations_are_refused(
    desk: Desk, changes: dict[str, Any], message: str
) -> None:
    status, said = desk.refused("POST", "", {"name": "docs", "config": {**CONFIG, **changes}})

    assert status == 400
    assert message in said
    assert desk.ask("GET", "")["total"] == 0


@pytest.mark.parametrize("name", ["", "   ", "x" * 65])
def test_a_name_has_a_length(desk: Desk, name: str) -> None:
    assert desk.refused("POST", "", {"name": name, "config": CONFIG})[0] == 400


def test_a_change_of_nothing_is_refused(desk: Desk) -> None:
    crawler = desk.make(CONFIG)

    assert desk.refused("PATCH", crawler, {})[0] == 400


@pytest.mark.parametrize(
    ("acl", "indexes", "message"),
    [
        (["addObject"], [], "lacks deleteObject, deleteIndex, settings, editSettings"),
        (["addObject", "deleteObject", "deleteIndex", "settings", "editSettings"], ["shop"],
         "on the index docs the key lacks addObject"),
    ],
    ids=["rights", "indices"],
)  # fmt: skip
def test_a_key_has_the_rights_that_a_crawl_needs(
    desk: Desk, acl: list[str], indexes: list[str], message: str
) -> None:
    key = desk.inside.call("POST", "/1/keys", {"acl": acl, "indexes": indexes}).json()["key"]

    status, said = desk.refused("POST", "", {"name": "docs", "config": {**CONFIG, "apiKey": key}})

    assert status == 400
    assert message in said


def test_the_domains_are_those_of_the_start_urls(desk: Desk) -> None:
    desk.make(configuration("https://b.test"))
    desk.make({**configuration("https://a.test"), "sitemaps": ["https://c.test/sitemap.xml"]})

    page = desk.ask("GET", "/api/1/domains?itemsPerPage=2")

    own = {"appId": desk.facts["appId"], "verified": True, "validated": True}
    assert page["items"] == [{"domain": "a.test", **own}, {"domain": "b.test", **own}]
    assert page["total"] == 3
    assert desk.ask("GET", "/api/1/domains?appId=ELSEWHERE")["items"] == []


def test_wrong_credentials_are_refused_for_the_domains(desk: Desk) -> None:
    wrong = {"authorization": "Basic " + base64.b64encode(b"a:b").decode()}

    answers = [
        desk.inside.call("GET", path, headers=headers).status_code
        for path in ("/api/1/domains", CRAWLERS)
        for headers in ({}, wrong)
    ]

    assert answers == [401, 403, 401, 401]


def test_no_secret_of_a_configuration_is_in_the_logs(desk: Desk, tmp_path: Path) -> None:
    key = desk.inside.call(
        "POST",
        "/1/keys",
        {"acl": ["addObject", "deleteObject", "deleteIndex", "settings", "editSettings"]},
    ).json()["key"]
    options = {"headers": {"X-Token": "open sesame"}}
    crawler = desk.make({**CONFIG, "apiKey": key, "requestOptions": options})
    desk.ask("GET", f"{crawler}?withConfig=true")
    desk.call("PATCH", f"{crawler}/config", {"apiKey": key, "rateLimit": "fast"})

    logs = desk.inside.call("GET", "/1/logs?length=50").json()["logs"]
    of_crawlers = [str(one) for one in logs if one["url"].startswith(CRAWLERS)]

    assert len(of_crawlers) == 3
    assert not [one for one in of_crawlers if key in one or "sesame" in one]


@pytest.mark.parametrize("body", [b'{"a":"\xff"}', b'"\\ud800"', b"[" * 2000, b"{", b"", b'"x"'])
def test_an_unparsable_body_is_refused_and_logged(desk: Desk, body: bytes) -> None:
    answer = desk.send("PATCH", NOBODY, body)

    [logged] = desk.inside.call("GET", "/1/logs?length=1").json()["logs"]
    assert answer.status_code in (400, 403)
    assert logged["answer_code"] == str(answer.status_code)


def test_a_database_of_the_previous_version_is_migrated(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with sqlite3.connect(tmp_path / "data" / "service.sqlite") as connection:
        for script in MIGRATIONS[:3]:
            connection.executescript(script)
        connection.execute("PRAGMA user_version = 3")
    connection.close()

    service = Service(tmp_path / "data")

    assert service.crawlers.all() == []
    service.store.close()


def test_a_task_of_another_crawler_does_not_exist(desk: Desk) -> None:
    one, other = desk.make(CONFIG), desk.make(CONFIG, "other")
    task = desk.ask("POST", f"{one}/pause")["taskId"]

    assert desk.refused("GET", f"{other}/tasks/{task}")[0] == 400
    assert not desk.pending(one, task)


def test_running_and_pausing_is_reported(desk: Desk) -> None:
    crawler = desk.make(CONFIG)

    desk.do(crawler, "run")
    running = desk.state(crawler)["running"]
    desk.do(crawler, "pause")

    assert (running, desk.state(crawler)["running"]) == (True, False)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"urls": []}, "`urls` is empty"),
        ({"urls": ["https://a.test"] * 51}, "urls"),
        ({"urls": ["https://a.test", "mailto:a@b.test"]}, "urls[1]"),
        ({"urls": ["https://"]}, "urls[0]"),
        ({}, "urls"),
    ],
)
def test_an_invalid_url_is_not_crawled(desk: Desk, body: Any, message: str) -> None:
    status, said = desk.refused("POST", f"{desk.make(CONFIG)}/urls/crawl", body)

    assert status == 400
    assert message in said


def test_crawlers_of_the_same_index_have_a_warning(desk: Desk) -> None:
    first = desk.make(configuration(indexPrefix="a_"), "first")
    own = desk.ask("POST", "", {"name": "own", "config": configuration(indexPrefix="b_")})
    action = {**configuration()["actions"][0], "indexName": "a_docs"}

    other = desk.ask("POST", "", {"name": "other", "config": configuration(actions=[action] * 2)})

    [warning] = other["warnings"]
    assert warning.startswith("the crawler first writes to a_docs, too")
    assert desk.state(f"/{other['id']}")["warnings"] == [warning]
    assert desk.ask("POST", f"{first}/run")["warnings"][0].startswith("the crawler other writes")
    assert "warnings" not in own
    assert "warnings" not in desk.state(f"/{own['id']}")


def test_a_crawler_with_another_index_clears_the_warning(desk: Desk) -> None:
    first, second = desk.make(configuration(), "first"), desk.make(configuration(), "second")
    same = desk.ask("PATCH", f"{second}/config", {"rateLimit": 2})

    moved = desk.ask("PATCH", f"{second}/config", {"indexPrefix": "new_"})

    assert "warnings" in same
    assert "warnings" not in moved
    assert "warnings" not in desk.state(first)


def test_there_is_one_warning_for_each_name_of_other_crawlers(desk: Desk) -> None:
    actions = [
        {**configuration()["actions"][0], "indexName": name} for name in ("warn_a", "warn_b")
    ]
    for name in ("twin", "twin", "single"):
        desk.ask("POST", "", {"name": name, "config": configuration(actions=actions)})

    made = desk.ask("POST", "", {"name": "last", "config": configuration(actions=actions)})

    assert [text.partition(":")[0] for text in made["warnings"]] == [
        "the crawler twin writes to warn_a, warn_b, too",
        "the crawler single writes to warn_a, warn_b, too",
    ]

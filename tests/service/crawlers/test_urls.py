"""URLs that are crawled on request, and URLs that are only tested."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.service.app import App
from svc_notebook.service.crawlers import jobs
from svc_notebook.service.crawlers.crawlers import MAX_CRAWL_CALLS_PER_DAY
from tests.service.crawlers.conftest import Clock, Desk, Site, configuration


@pytest.fixture
def crawler(desk: Desk, site: Site) -> str:
    """A crawler of a site of five pages."""
    site.fill(5)
    return desk.make(configuration(site.url))


def extra_urls(desk: Desk, crawler: str) -> list[str] | None:
    config = desk.ask("GET", f"{crawler}?withConfig=true")["config"]
    return config.get("extraUrls")  # type: ignore[no-any-return]


def test_urls_are_written_to_the_live_index_without_a_reindex(
    desk: Desk, site: Site, crawler: str
) -> None:
    site.put("/p1", "/p2")

    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/p1", f"{site.url}/none"]})

    assert desk.titles() == ["/p1"]
    assert desk.ends(crawler) == {"success": 1, "http_404": 1}
    assert [desk.state(crawler)[name] for name in ("running", "lastReindexStartedAt")] == [
        False,
        None,
    ]
    assert "/p2" not in site.visits


def test_records_of_a_url_replace_its_previous_ones(desk: Desk, site: Site, crawler: str) -> None:
    source = (
        "({url, $}) => $('a').toArray().map((a) => ({objectID: $(a).text(), title: $(a).text()}))"
    )
    config = configuration(site.url)
    config["actions"][0]["recordExtractor"]["source"] = source
    desk.ask("PATCH", crawler, {"config": config})
    site.put("/p1", "/one", "/two")
    site.put("/p2", "/two", "/three")
    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/p1", f"{site.url}/p2"]})
    before = desk.titles()
    site.put("/p1", "/four")

    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/p1"]})

    assert before == ["/one", "/three", "/two"]
    assert desk.titles() == ["/four", "/three", "/two"]


def test_urls_are_staged_during_a_reindex(desk: Desk, site: Site, crawler: str) -> None:
    desk.do(crawler, "reindex")
    site.fill(6)
    site.open.clear()
    whole = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.until(lambda: desk.state(crawler)["reindexing"])
    site.put("/alone")
    visit = desk.ask("POST", f"{crawler}/urls/crawl", {"urls": [f"{site.url}/alone"]})["taskId"]
    during = desk.titles()
    site.open.set()
    desk.until(lambda: not desk.pending(crawler, visit))
    desk.until(lambda: not desk.pending(crawler, whole))

    assert "/alone" not in during
    assert desk.titles() == sorted(site.pages)


@pytest.mark.parametrize(
    ("save", "kept"), [(True, ["/new", "/p1"]), (False, None), (None, ["/new"])]
)
def test_urls_are_saved_on_request_or_if_not_indexed(
    desk: Desk, site: Site, crawler: str, save: bool | None, kept: list[str] | None
) -> None:
    desk.do(crawler, "reindex")
    site.put("/new")
    urls = [site.url + path for path in ("/new", "/", "/p1")]

    desk.do(crawler, "urls/crawl", {"urls": urls, **({} if save is None else {"save": save})})

    assert extra_urls(desk, crawler) == (kept and [site.url + path for path in kept])


def test_a_url_that_redirects_is_followed_once(desk: Desk, site: Site, crawler: str) -> None:
    site.redirects = {"/old": "/p1", "/a": "/b", "/b": "/a"}

    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/old", f"{site.url}/a"], "save": False})

    assert desk.titles() == ["/p1"]
    assert desk.ends(crawler)["success"] == 1


def test_urls_that_cannot_be_crawled_at_all_block_their_crawler(
    desk: Desk, site: Site, crawler: str
) -> None:
    login = {"fetchRequest": {"url": f"{site.url}/no/login"}}
    urls = {"urls": [f"{site.url}/p1"], "save": False}
    desk.do(crawler, "reindex")
    live = desk.titles()
    desk.ask("PATCH", f"{crawler}/config", {"login": login})
    task = desk.ask("POST", f"{crawler}/urls/crawl", urls)["taskId"]
    desk.until(lambda: desk.state(crawler)["blocked"])
    blocked = desk.state(crawler)
    pending = desk.pending(crawler, task)

    desk.ask("POST", f"{crawler}/tasks/{task}/cancel")

    assert (blocked["blockingTaskId"], pending) == (task, True)
    assert "URLs were not crawled" in blocked["blockingError"]
    assert "/no/login" in blocked["blockingError"]
    assert not desk.pending(crawler, task)
    assert not desk.state(crawler)["blocked"]
    assert desk.titles() == live


@pytest.mark.parametrize("after", ["cancel", "reindex"])
def test_a_running_crawl_survives_blocking_urls(
    desk: Desk, site: Site, crawler: str, after: str
) -> None:
    site.open.clear()
    whole = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.until(lambda: "/" in site.visits)
    desk.ask("PATCH", f"{crawler}/config", {"externalData": [f"{site.url}/none.csv"]})
    urls = desk.ask("POST", f"{crawler}/urls/crawl", {"urls": [f"{site.url}/p1"], "save": False})
    site.open.set()
    desk.until(lambda: desk.state(crawler)["blocked"])
    desk.ask("PATCH", f"{crawler}/config", {"externalData": []})

    if after == "cancel":
        desk.ask("POST", f"{crawler}/tasks/{urls['taskId']}/cancel")
    else:
        whole = desk.do(crawler, "reindex")
    desk.until(lambda: not desk.pending(crawler, whole))

    assert not desk.pending(crawler, urls["taskId"])
    assert not desk.state(crawler)["blocked"]
    assert desk.titles() == sorted(site.pages)


def test_of_two_failed_tasks_one_blocks_and_none_stays_pending(
    desk: Desk, site: Site, crawler: str
) -> None:
    site.open.clear()
    desk.ask("PATCH", f"{crawler}/config", {"externalData": [f"{site.url}/none.csv"]})
    tasks = [
        desk.ask("POST", f"{crawler}/urls/crawl", {"urls": [f"{site.url}/p1"], "save": False}),
        desk.ask("POST", f"{crawler}/reindex"),
        desk.ask("POST", f"{crawler}/urls/crawl", {"urls": [f"{site.url}/p2"], "save": False}),
    ]
    site.open.set()
    ids = [task["taskId"] for task in tasks]
    desk.until(lambda: sum(desk.pending(crawler, one) for one in ids) == 1)
    desk.until(lambda: desk.inside.app.service.crawlers.is_idle())

    desk.ask("POST", f"{crawler}/tasks/{desk.state(crawler)['blockingTaskId']}/cancel")

    assert not any(desk.pending(crawler, one) for one in ids)
    assert not desk.state(crawler)["blocked"]


def test_endless_redirects_fail(desk: Desk, site: Site, crawler: str) -> None:
    site.redirects = {f"/{n}": f"/{n + 1}" for n in range(12)}

    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/0"], "save": False})
    named = [path for path in site.visits if path[1:].isdigit()]
    site.visits.clear()
    checks = {"safetyChecks": {"beforeIndexPublishing": {"maxFailedUrls": 1}}}
    desk.ask("PATCH", f"{crawler}/config", {"startUrls": [f"{site.url}/0"], **checks})
    desk.do(crawler, "reindex")

    assert named == [path for path in site.visits if path[1:].isdigit()]
    assert named == [f"/{n}" for n in range(6)]
    assert desk.ends(crawler) == {"http_redirect": 5, "too_many_redirects": 1}


def test_calls_per_day_are_limited(
    desk: Desk, site: Site, crawler: str, app: App, clock: Clock
) -> None:
    body = {"urls": [f"{site.url}/p1"], "save": False}
    with app.service.store.writing() as connection:
        connection.executemany(
            "INSERT INTO crawler_tasks (id, crawler, kind, time, state) "
            "VALUES (?, 1, 'urls', ?, 'done')",
            [(str(number), clock() - 60) for number in range(MAX_CRAWL_CALLS_PER_DAY)],
        )

    status, said = desk.refused("POST", f"{crawler}/urls/crawl", body)
    wait = int(desk.call("POST", f"{crawler}/urls/crawl", body).headers["retry-after"])
    clock.ahead = wait + 1

    assert (status, "200 calls per day" in said) == (429, True)
    assert 0 <= 24 * 3600 - 60 - wait < 20
    desk.do(crawler, "urls/crawl", body)


def test_a_trial_returns_records_and_stores_nothing(desk: Desk, site: Site, crawler: str) -> None:
    site.put("/p1", "/p2", "https://elsewhere.test/")

    told = desk.ask("POST", f"{crawler}/test", {"url": f"{site.url}/p1"})

    [of_index] = told["records"]
    assert of_index["indexName"] == "docs"
    assert [record["title"] for record in of_index["records"]] == ["/p1"]
    assert of_index["recordsPerExtractor"] == [
        {"index": 0, "type": "custom", "records": of_index["records"]}
    ]
    assert told["links"] == [f"{site.url}/p2"]
    assert (told["error"], told["externalData"]) == (None, {})
    assert told["startDate"] <= told["endDate"]
    assert desk.indices() == []
    assert desk.ends(crawler) == {}


def test_a_trial_configuration_is_not_stored(desk: Desk, site: Site, crawler: str) -> None:
    config = configuration(site.url)
    source = "({url}) => { console.log('seen', url.pathname); return [{title: 'tried'}]; }"
    config["actions"][0]["recordExtractor"]["source"] = source

    told = desk.ask(
        "POST",
        f"{crawler}/test",
        {"url": f"{site.url}/p1", "config": {"actions": config["actions"]}},
    )

    assert told["records"][0]["records"][0]["title"] == "tried"
    assert ["seen /p1"] in told["logs"]
    kept = desk.ask("GET", f"{crawler}?withConfig=true")["config"]
    assert kept["actions"][0]["recordExtractor"]["source"] != source


@pytest.mark.parametrize(
    ("path", "changes", "code"),
    [
        ("/none", {}, "http_404"),
        ("/p1", {"exclusionPatterns": ["**/p1"]}, "excluded"),
    ],
)
def test_a_trial_reports_why_a_url_is_not_indexed(
    desk: Desk, site: Site, crawler: str, path: str, changes: Any, code: str
) -> None:
    told = desk.ask("POST", f"{crawler}/test", {"url": site.url + path, "config": changes})

    assert told["error"]["code"] == code
    assert told["error"]["message"]


def test_logs_of_an_extractor_are_returned_once(desk: Desk, site: Site, crawler: str) -> None:
    config = configuration(site.url)
    config["actions"][0]["recordExtractor"]["source"] = "() => { console.log('here'); return []; }"

    told = desk.ask("POST", f"{crawler}/test", {"url": f"{site.url}/p1", "config": config})

    assert told["logs"] == [[f"Processing url '{site.url}/p1'"], ["here"]]


def test_a_url_is_tested_in_its_normalized_form(desk: Desk, site: Site, crawler: str) -> None:
    told = desk.ask("POST", f"{crawler}/test", {"url": f"{site.url}/a/../p1#part"})

    [record] = told["records"][0]["records"]
    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/p1"]})
    browsed = desk.inside.call("POST", "/1/indexes/docs/browse", {}).json()["hits"]
    assert [hit["objectID"] for hit in browsed] == [record["objectID"]]


def test_a_trial_timeout_names_the_last_step(
    desk: Desk, site: Site, crawler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "TRIAL_SECONDS", 0.5)
    site.open.clear()

    told = desk.ask("POST", f"{crawler}/test", {"url": f"{site.url}/p1"})

    site.open.set()
    assert told["error"]["code"] == "timeout"
    assert told["error"]["message"].endswith("last step: fetching the page")


def test_an_error_of_an_extractor_is_reported(desk: Desk, site: Site, crawler: str) -> None:
    config = configuration(site.url)
    config["actions"][0]["recordExtractor"]["source"] = "() => { throw new Error('no title'); }"

    told = desk.ask("POST", f"{crawler}/test", {"url": f"{site.url}/p1", "config": config})

    assert "no title" in str(told["error"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"url": "p1"}, "`url`"),
        ({"url": "https://a.test", "config": {"rateLimit": 0}}, "rateLimit"),
        (
            {
                "url": "https://a.test",
                "config": {"linkExtractor": {"__type": "function", "source": "("}},
            },
            "linkExtractor.source",
        ),
    ],
)
def test_an_invalid_trial_is_refused(desk: Desk, crawler: str, body: Any, message: str) -> None:
    status, said = desk.refused("POST", f"{crawler}/test", body)

    assert status == 400
    assert message in said

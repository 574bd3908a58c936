"""A whole crawl: the records that it publishes, and what prevents publication."""

from __future__ import annotations

import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from svc_notebook.service.crawlers.ledger import MAX_MESSAGE_CHARS
from tests.service.crawlers.conftest import Desk, Site, configuration

RIGHTS = ["addObject", "deleteObject", "deleteIndex", "settings", "editSettings"]


@pytest.fixture
def crawler(desk: Desk, site: Site) -> str:
    """A crawler of a site of ten pages."""
    site.fill(10)
    return desk.make(configuration(site.url))


def checks(**limits: Any) -> dict[str, Any]:
    return {"safetyChecks": {"beforeIndexPublishing": limits}}


def test_every_page_becomes_a_record(desk: Desk, site: Site, crawler: str) -> None:
    site.put("/p0", "/missing", "/")

    desk.do(crawler, "reindex")

    state = desk.state(crawler)
    assert desk.titles() == sorted(site.pages)
    assert desk.indices() == ["docs"]
    assert desk.ends(crawler) == {"success": 10, "http_404": 1}
    assert (state["running"], state["reindexing"], state["blocked"]) == (True, False, False)
    assert state["lastReindexStartedAt"] < state["lastReindexEndedAt"]


def test_initial_settings_apply_once(desk: Desk, site: Site) -> None:
    site.fill(4)
    initial = {"initialIndexSettings": {"docs": {"searchableAttributes": ["title"]}}}
    crawler = desk.make(configuration(site.url, indexPrefix="site_", **initial))
    desk.do(crawler, "reindex")
    first = desk.inside.call("GET", "/1/indexes/site_docs/settings").json()

    site.open.clear()
    task = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    change = {"customRanking": ["desc(links)"], "searchableAttributes": ["title", "links"]}
    desk.inside.call("PUT", "/1/indexes/site_docs/settings", change)
    synonym = {"objectID": "s", "type": "synonym", "synonyms": ["a", "b"]}
    desk.inside.call("PUT", "/1/indexes/site_docs/synonyms/s", synonym)
    site.open.set()
    desk.until(lambda: not desk.pending(crawler, task))

    kept = desk.inside.call("GET", "/1/indexes/site_docs/settings").json()
    assert first["searchableAttributes"] == ["title"]
    assert {name: kept[name] for name in change} == change
    assert desk.inside.call("GET", "/1/indexes/site_docs/synonyms/s").json() == synonym
    assert desk.titles("site_docs") == sorted(site.pages)


@pytest.mark.slow
def test_records_of_removed_pages_are_removed(desk: Desk, site: Site, crawler: str) -> None:
    desk.ask("PATCH", f"{crawler}/config", checks(maxLostRecordsPercentage=20))
    desk.do(crawler, "reindex")
    site.fill(9)
    site.put("/p3", title="changed")

    desk.do(crawler, "reindex")

    assert len(site.pages) == 9
    assert desk.titles() == sorted({*site.pages, "changed"} - {"/p3"})


@pytest.mark.slow
def test_a_crawl_that_loses_records_blocks_the_crawler(
    desk: Desk, site: Site, crawler: str
) -> None:
    desk.do(crawler, "reindex")
    before = desk.titles()
    site.fill(5)

    task = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.until(lambda: desk.state(crawler)["blocked"])

    state = desk.state(crawler)
    assert state["blockingTaskId"] == task
    assert "docs would go from 10 records to 5" in state["blockingError"]
    assert desk.titles() == before
    assert desk.pending(crawler, task)
    assert desk.ends(crawler) == {"success": 5}


@pytest.mark.slow
def test_a_cancelled_task_no_longer_blocks(desk: Desk, site: Site, crawler: str) -> None:
    other = desk.do(crawler, "reindex")
    site.fill(5)
    task = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.until(lambda: desk.state(crawler)["blocked"])

    refused = desk.refused("POST", f"{crawler}/tasks/{other}/cancel")
    desk.ask("POST", f"{crawler}/tasks/{task}/cancel")

    assert refused[0] == 400
    assert not desk.state(crawler)["blocked"]
    assert "blockingError" not in desk.state(crawler)
    assert not desk.pending(crawler, task)
    desk.until(lambda: desk.indices() == ["docs"])
    assert len(desk.titles()) == 10
    assert desk.refused("POST", f"{crawler}/tasks/{task}/cancel")[0] == 400


@pytest.mark.slow
def test_a_reindex_replaces_a_blocked_one(desk: Desk, site: Site, crawler: str) -> None:
    desk.do(crawler, "reindex")
    site.fill(5)
    desk.ask("POST", f"{crawler}/reindex")
    desk.until(lambda: desk.state(crawler)["blocked"])
    site.fill(12)

    desk.do(crawler, "reindex")

    assert not desk.state(crawler)["blocked"]
    assert desk.titles() == sorted(site.pages)
    desk.until(lambda: desk.indices() == ["docs"])


@pytest.mark.parametrize(("most", "blocked"), [(1, True), (2, False)])
def test_urls_that_fail_may_block(
    desk: Desk, site: Site, crawler: str, most: int, blocked: bool
) -> None:
    site.put("/p0", "/missing", "/gone")
    desk.ask("PATCH", f"{crawler}/config", checks(maxFailedUrls=most))

    desk.ask("POST", f"{crawler}/reindex")
    desk.until(lambda: not desk.state(crawler)["reindexing"])

    assert desk.state(crawler)["blocked"] == blocked


def break_pages(site: Site, whole: int, broken: int) -> None:
    """Make a start page with so many links that work, and so many that lead nowhere."""
    site.fill(whole + 1)
    names = [f"/p{number}" for number in range(whole)]
    site.put("/", *names, *(f"/gone{number}" for number in range(broken)))


@pytest.mark.slow
def test_a_first_crawl_whose_pages_nearly_all_fail_is_not_published(desk: Desk, site: Site) -> None:
    break_pages(site, 1, 20)
    crawler = desk.make(configuration(site.url))

    task = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.until(lambda: not desk.state(crawler)["reindexing"])

    state = desk.state(crawler)
    assert state["blockingTaskId"] == task
    assert "20 of 22 URLs failed (http_404 20)" in state["blockingError"]
    assert "maxFailedUrls" in state["blockingError"]
    assert "docs" not in desk.indices()


@pytest.mark.slow
def test_a_first_crawl_is_published_though_it_fails_where_that_is_allowed(
    desk: Desk, site: Site
) -> None:
    break_pages(site, 1, 20)
    crawler = desk.make(configuration(site.url, **checks(maxFailedUrls=20)))

    desk.do(crawler, "reindex")

    state = desk.state(crawler)
    assert desk.titles() == ["/", "/p0"]
    assert not state["blocked"]
    assert ["20 of 22 URLs failed" in one for one in state["warnings"]] == [True]


@pytest.mark.slow
def test_a_later_successful_crawl_clears_the_warning(desk: Desk, site: Site) -> None:
    break_pages(site, 4, 6)
    crawler = desk.make(configuration(site.url))
    desk.do(crawler, "reindex")
    warned = desk.state(crawler)["warnings"]
    site.fill(8)

    desk.do(crawler, "reindex")

    assert len(warned) == 1
    assert "warnings" not in desk.state(crawler)


def test_an_empty_index_causes_a_warning(desk: Desk, site: Site) -> None:
    site.fill(3)
    config = configuration(site.url)
    config["actions"][0]["recordExtractor"]["source"] = "() => []"
    crawler = desk.make(config)

    desk.do(crawler, "reindex")

    assert "no record in docs" in desk.state(crawler)["warnings"][0]


def each(desk: Desk, crawler: str, query: str = "") -> dict[str, Any]:
    """How each URL of a crawler's last crawl ended, by its path; pages of two."""
    found: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        path = f"/local/1/crawlers{crawler}/urls?length=2&after={after}{query}"
        page = desk.inside.call("GET", path, headers=desk.headers).json()
        found += page["urls"]
        after = page.get("cursor")
    assert len({one["url"] for one in found}) == len(found)
    return {one["url"].partition("//")[2].partition("/")[2]: one for one in found}


def test_each_url_has_its_outcome(desk: Desk, site: Site) -> None:
    site.put("/", "/a", "/old")
    site.put("/a", "/b", "/gone")
    site.put("/b", "/a", "/gone")
    site.redirects["/old"] = "/new"
    site.put("/new", "/gone2")
    crawler = desk.make(configuration(site.url))
    began = datetime.now(UTC)
    desk.do(crawler, "reindex")

    urls = each(desk, crawler)

    assert {path: (one["status"], one["reason"]) for path, one in urls.items()} == {
        "": ("DONE", "success"),
        "a": ("DONE", "success"),
        "b": ("DONE", "success"),
        "new": ("DONE", "success"),
        "old": ("SKIPPED", "http_redirect"),
        "gone": ("FAILED", "http_404"),
        "gone2": ("FAILED", "http_404"),
    }
    shown = {path: (one["referrer"], one["depth"]) for path, one in urls.items()}
    assert shown == {
        "": (None, 0),
        "a": (f"{site.url}/", 1),
        "old": (f"{site.url}/", 1),
        "b": (f"{site.url}/a", 2),
        "gone": (f"{site.url}/a", 2),
        "new": (f"{site.url}/old", 1),
        "gone2": (f"{site.url}/new", 2),
    }
    assert urls["old"]["message"].endswith(f"{site.url}/new")
    assert all(
        began - timedelta(seconds=1) < datetime.fromisoformat(one["time"]) <= datetime.now(UTC)
        for one in urls.values()
    )
    assert set(each(desk, crawler, "&status=FAILED")) == {"gone", "gone2"}
    assert set(each(desk, crawler, "&reason=http_redirect")) == {"old"}


@pytest.mark.slow
def test_the_outcomes_of_urls_add_up_to_the_counts(desk: Desk, site: Site) -> None:
    break_pages(site, 5, 4)
    crawler = desk.make(configuration(site.url, sitemaps=[f"{site.url}/p0", f"{site.url}/none"]))
    desk.do(crawler, "reindex")

    assert Counter(one["reason"] for one in each(desk, crawler).values()) == desk.ends(crawler)


def test_a_count_has_a_general_message_and_a_url_its_own(desk: Desk, site: Site) -> None:
    site.put("/", "/a", "/b")
    site.redirects |= {"/a": "/", "/b": "https://elsewhere.test/"}
    crawler = desk.make(configuration(site.url))
    desk.do(crawler, "reindex")

    data = desk.ask("GET", f"{crawler}/stats/urls")["data"]

    assert [one["readable"] for one in data if one["reason"] == "http_redirect"] == [
        "The URL redirects to another one"
    ]
    messages = {path: one["message"] for path, one in each(desk, crawler).items()}
    assert messages["b"].endswith("https://elsewhere.test/, which is not within the crawl")


def test_stored_messages_are_limited(desk: Desk, site: Site) -> None:
    site.put("/")
    config = configuration(site.url)
    config["actions"][0]["recordExtractor"]["source"] = "() => { throw Error('x'.repeat(9999)) }"
    crawler = desk.make({**config, **checks(maxFailedUrls=1)})
    desk.do(crawler, "reindex")

    assert len(each(desk, crawler)[""]["message"]) == MAX_MESSAGE_CHARS


@pytest.mark.slow
def test_a_url_crawled_on_request_has_its_outcome(desk: Desk, site: Site, crawler: str) -> None:
    desk.do(crawler, "reindex")
    site.put("/late")
    before = each(desk, crawler)

    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/late", f"{site.url}/p0"]})

    after = each(desk, crawler)
    assert set(after) - set(before) == {"late"}
    assert after["p0"]["time"] > before["p0"]["time"]
    assert after["p0"]["referrer"] == before["p0"]["referrer"] == f"{site.url}/"


@pytest.mark.slow
def test_a_paused_crawl_resumes(desk: Desk, site: Site, crawler: str) -> None:
    desk.ask("PATCH", f"{crawler}/config", {"rateLimit": 4})
    task = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.until(lambda: len(desk.ends(crawler)) > 0)

    desk.do(crawler, "pause")
    desk.until(lambda: desk.inside.app.service.crawlers.is_idle())
    paused, seen = desk.state(crawler), len(site.visits)
    time.sleep(0.1)
    rested = len(site.visits) == seen
    desk.do(crawler, "run")
    desk.until(lambda: not desk.pending(crawler, task))

    assert (paused["running"], paused["reindexing"], rested) == (False, True, True)
    assert desk.titles() == sorted(site.pages)


def test_a_reindex_starts_a_crawl_again(desk: Desk, site: Site, crawler: str) -> None:
    site.open.clear()
    first = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.until(lambda: "/" in site.visits)

    second = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    site.open.set()
    desk.until(lambda: not desk.pending(crawler, second))

    assert not desk.pending(crawler, first)
    assert desk.titles() == sorted(site.pages)


def test_a_deleted_key_blocks_before_anything_is_fetched(desk: Desk, site: Site) -> None:
    site.fill(2)
    key = desk.inside.call("POST", "/1/keys", {"acl": RIGHTS, "indexes": ["docs"]}).json()["key"]
    crawler = desk.make(configuration(site.url, apiKey=key))
    desk.inside.call("DELETE", f"/1/keys/{key}")

    desk.ask("POST", f"{crawler}/reindex")

    state = desk.state(crawler)
    assert state["blocked"]
    assert "this key does not exist" in state["blockingError"]
    assert key not in state["blockingError"]
    assert (desk.indices(), site.visits) == ([], [])


def test_a_crawl_into_a_replica_is_refused(desk: Desk, site: Site) -> None:
    desk.inside.call("PUT", "/1/indexes/all/settings", {"replicas": ["docs"]})
    desk.until(lambda: "docs" in desk.indices())

    status, said = desk.refused("POST", "", {"name": "x", "config": configuration(site.url)})

    assert (status, "docs is a replica of all" in said) == (400, True)


@pytest.mark.slow
def test_replicas_follow_what_a_crawl_publishes(desk: Desk, site: Site, crawler: str) -> None:
    desk.do(crawler, "reindex")
    desk.inside.call("PUT", "/1/indexes/docs/settings", {"replicas": ["docs_by_links"]})
    site.fill(11)

    desk.do(crawler, "reindex")

    assert desk.titles("docs_by_links") == sorted(site.pages)


@pytest.mark.slow
def test_a_backup_is_kept_on_request(desk: Desk, site: Site, crawler: str) -> None:
    desk.ask("PATCH", f"{crawler}/config", {"saveBackup": True})
    desk.do(crawler, "reindex")
    site.fill(11)

    desk.do(crawler, "reindex")

    assert (len(desk.titles("docs_backup")), len(desk.titles())) == (10, 11)


def test_a_configuration_change_applies_to_the_next_crawl(
    desk: Desk, site: Site, crawler: str
) -> None:
    site.open.clear()
    task = desk.ask("POST", f"{crawler}/reindex")["taskId"]
    desk.ask("PATCH", f"{crawler}/config", {"indexPrefix": "new_"})
    site.open.set()
    desk.until(lambda: not desk.pending(crawler, task))

    assert desk.indices() == ["docs"]


def test_a_page_without_a_record_leaves_an_empty_index(desk: Desk, site: Site) -> None:
    site.fill(1)
    config = configuration(site.url)
    config["actions"][0]["recordExtractor"]["source"] = "() => []"
    crawler = desk.make(config)

    desk.do(crawler, "reindex")

    assert desk.indices() == ["docs"]
    assert desk.titles() == []


def test_a_page_that_did_not_change_keeps_its_records(desk: Desk, site: Site) -> None:
    site.fill(3)
    site.tags = True
    config = configuration(site.url)
    config["actions"][0]["cache"] = {"enabled": True}
    crawler = desk.make(config)
    desk.do(crawler, "reindex")
    site.put("/p1", title="changed")

    desk.do(crawler, "reindex")

    assert desk.ends(crawler) == {"not_modified": 2, "success": 1}
    assert desk.titles() == ["/", "/p0", "changed"]

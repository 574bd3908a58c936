"""Schedules: those of a crawler, and those of its actions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from svc_notebook.service.crawlers.configurations import next_due, part_due
from tests.service.crawlers.conftest import EXTRACTOR, Clock, Desk, Site, configuration

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
DAY = 24 * 3600


def with_news(site: str = "https://a.test", **more: Any) -> dict[str, Any]:
    """A configuration with a second action, of its own schedule: every day at one o'clock."""
    config = configuration(site, appId="A", **more)
    news = {
        "name": "news",
        "indexName": "news",
        "schedule": "every 1 day at 1:00 pm",
        "pathsToMatch": [f"{site}/p1"],
        "recordExtractor": {"__type": "function", "source": EXTRACTOR},
    }
    return {**config, "actions": [*config["actions"], news]}


def indices(config: Any) -> list[str] | None:
    return config and [action["indexName"] for action in config["actions"]]


def test_without_a_schedule_nothing_is_due() -> None:
    assert next_due(configuration(appId="A"), NOON) is None


def test_the_next_time_is_that_of_any_schedule() -> None:
    assert next_due(with_news(), NOON) == NOON + 3600
    assert next_due(with_news(schedule="every 1 day at 12:30 pm"), NOON) == NOON + 1800


def test_an_action_is_crawled_alone_at_its_time() -> None:
    config = with_news(schedule="every 1 day at 12:30 pm")

    assert indices(part_due(config, NOON + 3600)) == ["news"]
    assert part_due(config, NOON + 1800) is None


def test_at_a_time_of_several_actions_all_are_crawled() -> None:
    config = with_news(schedule="every 1 day at 1:00 pm")

    assert part_due(config, NOON + 3600) is None


def test_actions_of_one_index_are_crawled_together() -> None:
    config = with_news()
    config["actions"].append({**config["actions"][0], "indexName": "news"})

    assert indices(part_due(config, NOON + 3600)) == ["news", "news"]


def test_a_crawl_of_one_action_leaves_other_indices_as_they_are(
    desk: Desk, site: Site, clock: Clock
) -> None:
    site.fill(4)
    config = with_news(site.url)
    del config["appId"]
    crawler = desk.make(config)
    desk.do(crawler, "reindex")
    began = desk.state(crawler)["lastReindexStartedAt"]
    site.put("/p1", title="new")
    site.put("/p0", title="new, too")

    clock.ahead = DAY
    desk.inside.app.service.crawlers.wake()
    desk.until(lambda: desk.state(crawler)["lastReindexEndedAt"] > began)
    desk.until(lambda: desk.titles("news") == ["new"])

    assert desk.titles() == ["/", "/p0", "/p1", "/p2"]
    assert desk.indices() == ["docs", "news"]
    desk.do(crawler, "urls/crawl", {"urls": [f"{site.url}/p0"]})
    assert desk.titles() == ["/", "/p1", "/p2", "new, too"]


def test_a_schedule_starts_a_crawl_at_its_time(desk: Desk, site: Site, clock: Clock) -> None:
    site.fill(3)
    crawler = desk.make(configuration(site.url, schedule="every 1 day"))
    desk.do(crawler, "run")
    waits = desk.state(crawler)["reindexing"]

    clock.ahead = DAY
    desk.inside.app.service.crawlers.wake()
    desk.until(lambda: desk.state(crawler)["lastReindexEndedAt"] is not None)
    desk.until(lambda: not desk.state(crawler)["reindexing"])

    assert not waits
    assert desk.titles() == sorted(site.pages)


def test_a_paused_crawler_skips_its_scheduled_time(desk: Desk, site: Site, clock: Clock) -> None:
    crawler = desk.make(configuration(site.url, schedule="every 1 day"))
    desk.do(crawler, "run")
    desk.do(crawler, "pause")

    clock.ahead = DAY
    desk.do(crawler, "run")

    assert not desk.state(crawler)["reindexing"]
    assert site.visits == []

"""What robots.txt allows, and what applies if it cannot be read."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from svc_notebook.service.crawl.site_files import MAX_ROBOTS_BYTES, read_rules
from svc_notebook.service.crawl.transport.fetcher import FetchResponse
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.site import Site, fill_shop


def rules(text: str) -> Any:
    return read_rules(FetchResponse("http://shop.test/robots.txt", 200, {}, text.encode()))


FILES = {
    "": True,
    "User-agent: *\nDisallow: /": False,
    "User-agent: *\nDisallow: /\nAllow: /a": True,
    "User-agent: SvcNotebookCrawler\nDisallow: /a\n\nUser-agent: *\nAllow: /": False,
    "User-agent: Other\nDisallow: /": True,
    "User-agent: *\nDisallow: /*.html$": True,
    "User-agent: *\nDisallow: /a*?x=": False,
    "\ufeffUser-agent: *\nDisallow: /a": False,
    "<html>Not found</html>": True,
    "\0\1\2": True,
}


@pytest.mark.parametrize(("text", "allowed"), FILES.items(), ids=range(len(FILES)))
def test_rules_are_read_as_they_are_written(text: str, allowed: bool) -> None:
    assert rules(text).allows("http://shop.test/a?x=1") is allowed


def test_sitemaps_and_delay_are_read() -> None:
    read = rules("Sitemap: /map.xml\nSitemap: mailto:x\nUser-agent: *\nCrawl-delay: 1.5\n")

    assert read.sitemaps == ("http://shop.test/map.xml",)
    assert read.delay == 1.5


WITHOUT: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({"status": 404}, "success"),
    "forbidden": ({"status": 403}, "success"),
    "broken": ({"status": 500}, "robotstxt_unavailable"),
    "too many": ({"status": 429}, "robotstxt_unavailable"),
    "elsewhere": (
        {"status": 302, "headers": {"Location": "/elsewhere.txt"}}, "forbidden_by_robotstxt"
    ),
    "circle": ({"status": 302, "headers": {"Location": "/robots.txt"}}, "success"),
    "huge": ({"body": b"#" * (MAX_ROBOTS_BYTES + 1)}, "success"),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "reason"), WITHOUT.values(), ids=WITHOUT)
def test_a_missing_file_allows_everything_unless_the_server_fails(
    site: Site, crawler: Crawler, reply: dict[str, Any], reason: str
) -> None:
    site.html("/", "Home")
    site.page("/robots.txt", **reply)
    site.page("/elsewhere.txt", "User-agent: *\nDisallow: /\n")

    outcome = crawler.visit(site.config(requestOptions={"retries": 1}), f"{site.url}/")

    assert outcome.reason == reason


def test_the_rules_may_be_ignored(site: Site, crawler: Crawler) -> None:
    site.html("/", "Home")
    site.page("/robots.txt", "User-agent: *\nDisallow: /\n")

    assert crawler.visit(site.config(ignoreRobotsTxtRules=True), f"{site.url}/").reason == "success"
    assert not any(asked.path == "/robots.txt" for asked in site.asked)


def test_the_file_is_read_once_for_a_host(site: Site, crawler: Crawler) -> None:
    fill_shop(site)

    crawler.crawl(site.config())

    assert Counter(asked.path for asked in site.asked)["/robots.txt"] == 1

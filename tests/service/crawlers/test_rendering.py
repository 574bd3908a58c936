"""Crawlers that render pages: what is refused, and what a test of a page shows."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.service.crawl.rendering.browser import BROWSER_VARIABLE
from tests.service.crawl.rendering.shop import wait_for_browsers
from tests.service.crawl.rendering.test_browser_login import FORM, open_site
from tests.service.crawl.site import Site as LoginSite
from tests.service.crawlers.conftest import Desk, Site, configuration

BUILT = (
    "<html><head><title>Shop</title></head><body><script>"
    "document.title = 'Built'; document.body.innerHTML = '<a href=\"/lamp\">Lamp</a>'"
    "</script></body></html>"
)


LOGIN = {"browserRequest": {"url": "https://a.test", "username": "ann", "password": "s3cret"}}


@pytest.mark.parametrize(
    ("change", "member"),
    [({"renderJavaScript": True}, "renderJavaScript"), ({"login": LOGIN}, "login.browserRequest")],
    ids=["rendering", "login"],
)
def test_without_a_browser_the_configuration_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], member: str
) -> None:
    crawler = desk.make(configuration())
    monkeypatch.setenv(BROWSER_VARIABLE, "/nowhere/chromium")

    status, message = desk.refused("PATCH", f"{crawler}/config", change)

    assert status == 400
    assert message.startswith(f"`{member}`: /nowhere/chromium, which SVC_BROWSER names")
    assert not {*change} & {*desk.ask("GET", f"{crawler}?withConfig=true")["config"]}


@pytest.mark.slow
def test_a_test_of_a_rendered_page_logs_in_once(desk: Desk) -> None:
    with LoginSite() as behind:
        login = open_site(behind, FORM)["login"]
        crawler = desk.make(configuration(behind.url, login=login, renderJavaScript=True))

        told = desk.ask("POST", f"{crawler}/test", {"url": f"{behind.url}/"})

    assert told["error"] is None
    assert behind.paths().count("/session") == 1
    assert [line[0].partition(":")[0] for line in told["logs"][-2:]] == [
        "without a browser", "with a browser",
    ]  # fmt: skip
    assert told["links"] == [f"{behind.url}/orders/1"]


@pytest.mark.slow
def test_a_test_of_a_page_compares_it_with_and_without_a_browser(desk: Desk, site: Site) -> None:
    site.pages["/"] = BUILT
    crawler = desk.make(configuration(site.url, renderJavaScript=True))

    told = desk.ask("POST", f"{crawler}/test", {"url": f"{site.url}/"})

    assert told["error"] is None
    [plain], [rendered] = told["logs"][-2:]
    assert plain.startswith("without a browser: ")
    assert plain.endswith("0 characters of text, 0 links to follow, 1 record")
    assert rendered.startswith("with a browser: ")
    assert rendered.endswith("4 characters of text, 1 link to follow, 1 record")
    assert told["records"][0]["records"][0]["title"] == "Built"
    assert told["links"] == [f"{site.url}/lamp"]


@pytest.mark.slow
def test_a_browser_that_vanished_blocks_the_crawl(
    desk: Desk, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/"] = BUILT
    crawler = desk.make(configuration(site.url, renderJavaScript=True))
    monkeypatch.setenv(BROWSER_VARIABLE, "/nowhere/chromium")

    desk.ask("POST", f"{crawler}/reindex")
    desk.until(lambda: desk.state(crawler)["blocked"])

    assert "/nowhere/chromium" in desk.state(crawler)["blockingError"]


@pytest.mark.slow
def test_a_rendered_crawl_is_published(desk: Desk, site: Site) -> None:
    site.pages["/"] = BUILT
    site.put("/lamp", title="Lamp")
    crawler = desk.make(configuration(site.url, renderJavaScript=True))

    desk.do(crawler, "reindex")
    desk.until(lambda: desk.titles() == ["Built", "Lamp"])

    assert wait_for_browsers() == []


@pytest.mark.slow
def test_an_incomplete_page_keeps_its_record_and_counts_as_failed(desk: Desk, site: Site) -> None:
    code = "fetch('/data').then(r => r.text()).then(text => document.title = text)"
    page = f"<html><head><title>Loading</title></head><body><script>{code}</script></body></html>"
    site.pages |= {"/": page, "/data": "Lamp"}
    crawler = desk.make(configuration(site.url, renderJavaScript=True))
    desk.do(crawler, "reindex")
    before = desk.titles()
    del site.pages["/data"]
    site.statuses["/data"] = 503

    for _ in range(2):
        desk.do(crawler, "reindex")

    assert before == desk.titles() == ["Lamp"]
    assert desk.ends(crawler) == {"rendered_incomplete": 1}
    [row] = desk.ask("GET", f"/local/1/crawlers{crawler}/urls")["urls"]
    assert f"status 503 {site.url}/data" in row["message"]
    checks = {"beforeIndexPublishing": {"maxFailedUrls": 0}}
    desk.ask("PATCH", f"{crawler}/config", {"safetyChecks": checks})
    desk.ask("POST", f"{crawler}/reindex")
    desk.until(lambda: desk.state(crawler)["blocked"])
    assert "1 URLs failed" in desk.state(crawler)["blockingError"]

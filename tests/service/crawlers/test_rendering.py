"""Crawlers that render pages: what is refused, and what a test of a page shows."""

from __future__ import annotations

import pytest

from svc_notebook.service.crawl.rendering.browser import BROWSER_VARIABLE
from tests.service.crawl.rendering.shop import wait_for_browsers
from tests.service.crawlers.conftest import Desk, Site, configuration

BUILT = (
    "<html><head><title>Shop</title></head><body><script>"
    "document.title = 'Built'; document.body.innerHTML = '<a href=\"/lamp\">Lamp</a>'"
    "</script></body></html>"
)


def test_without_a_browser_the_configuration_is_refused(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawler = desk.make(configuration())
    monkeypatch.setenv(BROWSER_VARIABLE, "/nowhere/chromium")

    status, message = desk.refused("PATCH", f"{crawler}/config", {"renderJavaScript": True})

    assert status == 400
    assert message.startswith("`renderJavaScript`: /nowhere/chromium, which SVC_BROWSER names")
    assert "renderJavaScript" not in desk.ask("GET", f"{crawler}?withConfig=true")["config"]


@pytest.mark.slow
def test_a_test_of_a_page_compares_it_with_and_without_a_browser(desk: Desk, site: Site) -> None:
    site.pages["/"] = BUILT
    crawler = desk.make(configuration(site.url, renderJavaScript=True))

    told = desk.ask("POST", f"{crawler}/test", {"url": f"{site.url}/"})

    assert told["error"] is None
    [plain], [rendered] = told["logs"][-2:]
    assert plain.startswith("without a browser: ")
    assert plain.endswith("0 characters of text, 0 links to follow, 1 records")
    assert rendered.startswith("with a browser: ")
    assert rendered.endswith("4 characters of text, 1 links to follow, 1 records")
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

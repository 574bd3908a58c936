"""A real page in a real Chromium against a real service."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.lab import CHROMIUM, FLAGS
from tests.conftest import Running, start_service, stop_service
from tests.page.shop import PACKAGES, serve_pages, stock
from tests.peers.javascript import install


class Shop(NamedTuple):
    """Where the page is, and the service it asks."""

    origin: str
    service: Running

    def address(self, **other: str) -> str:
        """The page's address, with all that it has to know."""
        own = {"app": self.service.appId, "key": self.service.searchKey, "index": "shop"}
        return f"{self.origin}/index.html?{urlencode({**own, 'url': self.service.url, **other})}"


@pytest.fixture(scope="package")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service that reads the names of headers as the vendor's clients write them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVC_VENDOR", "Algolia")
        process, running = start_service(tmp_path_factory.mktemp("shop"))
    with running.client() as client:
        for name in ("Application-Id", "API-Key"):
            client.headers[f"X-Algolia-{name}"] = client.headers.pop(f"X-Service-{name}")
        stock(client)
    yield running
    stop_service(process)


@pytest.fixture(scope="package")
def shop(vendor: Running, pytestconfig: pytest.Config) -> Iterator[Shop]:
    """The page, served from an origin of its own."""
    packages = install(pytestconfig.cache.mkdir("page-packages"), PACKAGES)
    with serve_pages(packages) as origin:
        yield Shop(origin, vendor)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """A browser without a window, closed with its last test: it keeps an event loop running."""
    if CHROMIUM is None:
        pytest.fail("these tests need Chromium; on Debian: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def empty(chromium: Browser) -> Iterator[Page]:
    """A page without anything on it yet."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def page(empty: Page, shop: Shop) -> Iterator[Page]:
    """The shop's page, loaded; nothing may have gone wrong on it by the end."""
    troubles: list[str] = []
    empty.on("pageerror", lambda error: troubles.append(str(error)))
    empty.on("console", lambda said: troubles.append(said.text) if said.type == "error" else None)
    empty.on("requestfailed", lambda request: troubles.append(request.url))
    empty.goto(shop.address())
    empty.wait_for_selector(".ais-Hits-item")
    yield empty
    assert not troubles
    assert empty.locator("#error").inner_text() == ""

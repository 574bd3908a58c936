"""Clients and integrations that others wrote, at a real service."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import expect

from tests.conftest import Running, start_service, stop_service
from tests.page.conftest import chromium, empty
from tests.page.shop import serve_pages
from tests.peers.javascript import install

__all__ = ["chromium", "empty"]
PACKAGES = (
    "algoliasearch@5.64.0", "instantsearch.js@4.118.0", "search-insights@2.17.3",
    "@docsearch/js@3.9.0", "@algolia/autocomplete-js@1.19.4",
    "@algolia/autocomplete-plugin-query-suggestions@1.19.4",
)  # fmt: skip
# The machine may be busy with other tests.
expect.set_options(timeout=30_000)
PAGES = Path(__file__).parent / "pages"
OPTIONS = ("--clusters", "2", "--allow-private-crawl")


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with two clusters; it reads headers as the vendor's clients name them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVC_VENDOR", "Algolia")
        process, running = start_service(tmp_path_factory.mktemp("clients"), *OPTIONS)
    yield running
    stop_service(process)


@pytest.fixture
def api(service: Running) -> Iterator[httpx.Client]:
    """A plain HTTP client with the admin key."""
    names = {"Application-Id": service.appId, "API-Key": service.adminKey}
    headers = {f"X-Algolia-{name}": value for name, value in names.items()}
    with httpx.Client(base_url=service.url, headers=headers, timeout=30) as client:
        yield client


@pytest.fixture(scope="package")
def origin(pytestconfig: pytest.Config) -> Iterator[str]:
    """Where the pages are, with the libraries that they load."""
    packages = install(pytestconfig.cache.mkdir("clients-pages"), PACKAGES)
    with serve_pages(packages, PAGES) as origin:
        yield origin

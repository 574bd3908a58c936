"""DocSearch, unchanged, searches the crawled pages of a Docusaurus site in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Running
from tests.service.crawl.site import Site

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
INDEX = "handbook"
CRAWLERS = "/api/1/crawlers"
# The extractor and the settings that the site generator's users are given.
EXTRACTOR = """({ $, helpers }) => {
  const active = ".menu__link--sublist.menu__link--active, .navbar__item.navbar__link--active";
  const lvl0 = $(active).last().text() || "Documentation";
  return helpers.docsearch({
    recordProps: {
      lvl0: { selectors: "", defaultValue: lvl0 },
      lvl1: ["header h1", "article h1"],
      lvl2: "article h2", lvl3: "article h3", lvl4: "article h4",
      content: "article p, article li, article td:last-child",
    },
    indexHeadings: true, aggregateContent: true, recordVersion: "v3",
  });
}"""
SETTINGS = {
    "attributesForFaceting": ["type", "lang", "language", "version", "docusaurus_tag"],
    "attributesToRetrieve": ["hierarchy", "content", "anchor", "url", "url_without_anchor", "type"],
    "attributesToHighlight": ["hierarchy", "content"],
    "attributesToSnippet": ["content:10"],
    "camelCaseAttributes": ["hierarchy", "content"],
    "searchableAttributes": [
        *(f"unordered(hierarchy.lvl{level})" for level in range(7)),
        "content",
    ],
    "distinct": True,
    "attributeForDistinct": "url",
    "customRanking": ["desc(weight.pageRank)", "desc(weight.level)", "asc(weight.position)"],
    "ranking": ["words", "filters", "typo", "attribute", "proximity", "exact", "custom"],
    "highlightPreTag": '<span class="algolia-docsearch-suggestion--highlight">',
    "highlightPostTag": "</span>",
    "minWordSizefor1Typo": 3, "minWordSizefor2Typos": 7,
    "allowTyposOnNumericTokens": False, "minProximity": 1, "ignorePlurals": True,
    "advancedSyntax": True, "attributeCriteriaComputedByMinProximity": True,
    "removeWordsIfNoResults": "allOptional",
}  # fmt: skip


def write_page(tag: str, version: str, title: str, *sections: str) -> str:
    """Write a page as the site generator renders it."""
    body = "".join(
        f'<h2 class="anchor" id="{name.lower()}">{name}<a class="hash-link" href="#{name}"></a>'
        f"</h2><p>How to {name.lower()} it.</p>"
        for name in sections
    )
    return f"""<!doctype html><html lang="en" class="docs-wrapper plugin-docs"><head>
<meta charset="UTF-8"><meta name="generator" content="Docusaurus v3.9.2">
<title>{title} | Site</title>
<meta name="docusaurus_locale" content="en"><meta name="docsearch:language" content="en">
<meta name="docusaurus_version" content="{version}"><meta name="docusaurus_tag" content="{tag}">
<meta name="docsearch:version" content="{version}">
<meta name="docsearch:docusaurus_tag" content="{tag}"></head><body>
<nav class="navbar"><a class="navbar__item navbar__link navbar__link--active">Handbook</a></nav>
<main><article><header><h1>{title}</h1></header><p>About the {title.lower()}.</p>{body}</article>
<a href="/docs/pump">Pump</a><a href="/docs/valve">Valve</a><a href="/docs/1.0/pump">1.0</a></main>
</body></html>"""


@pytest.fixture
def site() -> Iterator[Site]:
    """A documentation of two pages, one of them in two versions."""
    with Site() as site:
        for path, tag, version, title in (
            ("/docs/pump", "docs-default-current", "current", "Pump"),
            ("/docs/valve", "docs-default-current", "current", "Valve"),
            ("/docs/1.0/pump", "docs-default-1.0", "1.0", "Pump"),
        ):
            site.page(path, write_page(tag, version, title, "Install", "Clean"))
        yield site


def crawl(
    service: Running, address: str, index: str = INDEX, extractor: str = EXTRACTOR, **more: Any
) -> None:
    """Crawl a site into an index and wait until it can be searched."""
    action = {
        "indexName": index,
        "pathsToMatch": [f"{address}/**"],
        "recordExtractor": {"__type": "function", "source": extractor},
    }
    config: dict[str, Any] = {
        "appId": service.appId, "rateLimit": 50, "startUrls": [f"{address}/"],
        "actions": [action], "initialIndexSettings": {index: SETTINGS}, **more,
    }  # fmt: skip
    auth = (service.crawlerUserId, service.crawlerApiKey)
    with httpx.Client(base_url=service.url, auth=auth, timeout=30) as client:
        made = client.post(CRAWLERS, json={"name": index, "config": config})
        assert made.is_success, made.text
        path = f"{CRAWLERS}/{made.json()['id']}"
        task = client.post(f"{path}/reindex").json()["taskId"]
        while client.get(f"{path}/tasks/{task}").json()["pending"]:
            time.sleep(0.05)


def test_contextual_search_shows_the_sections_of_one_version(
    empty: Page, api: httpx.Client, service: Running, origin: str, site: Site
) -> None:
    crawl(service, site.url, startUrls=[f"{site.url}/docs/pump"])
    everything = {"attributesToRetrieve": ["*"]}
    records = api.post(f"/1/indexes/{INDEX}/browse", json=everything).json()["hits"]
    assert {record["docusaurus_tag"] for record in records} == {
        "docs-default-current", "docs-default-1.0",
    }  # fmt: skip
    assert {tuple(record["version"]) for record in records} == {("current",), ("1.0",)}
    facts = {"app": service.appId, "key": service.searchKey, "index": INDEX, "url": service.url}
    troubles: list[str] = []
    empty.on("pageerror", lambda error: troubles.append(str(error)))

    for tag, pages in (("docs-default-current", ["pump", "valve"]), ("docs-default-1.0", ["pump"])):
        address = f"{origin}/docs.html?{urlencode({**facts, 'tag': tag})}"
        hits = empty.locator(".DocSearch-Hit a")
        for _ in range(5):  # a page that was still starting misses what is typed
            empty.goto(address)
            empty.locator(".DocSearch-Button").click()
            empty.locator(".DocSearch-Input").press_sequentially("instal", delay=20)
            empty.wait_for_timeout(3000)
            if hits.count():
                break
        expect(hits).to_have_count(len(pages))
        below = "1.0/" if tag.endswith("1.0") else ""
        addresses = sorted(f"{hit.get_attribute('href')}" for hit in hits.all())
        assert addresses == [f"{site.url}/docs/{below}{page}#install" for page in pages]
        expect(hits.first.locator("mark")).to_have_text("Instal")
    assert not troubles

"""What a server receives for addresses with unusual characters, from each of the two fetchers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from svc_notebook.service.crawl.configuration import read_configuration
from svc_notebook.service.crawl.transport.fetcher import MAX_PAGE_BYTES, Fetcher, PageRequest
from svc_notebook.service.crawl.urls import normalize
from tests.service.crawl.conftest import Crawler
from tests.service.crawl.site import Site, html

# The address of a link, and the target of the request that a browser sends for it.
ADDRESSES = {
    "/semi;sid=1": "/semi;sid=1",
    "/semi;": "/semi;",
    "/;": "/;",
    ";": "/;",
    "/a;v=1/b": "/a;v=1/b",
    "/a;v=1/b;w=2": "/a;v=1/b;w=2",
    "/a;v=1?q=2;r=3": "/a;v=1?q=2;r=3",
    "/a;v=1?q;r#part;s": "/a;v=1?q;r",
    "/a;b;c;d": "/a;b;c;d",
    "/a%3Bb": "/a%3Bb",
    "/a,b=c&d+e": "/a,b=c&d+e",
    "/a:b@c": "/a:b@c",
    "/a'b(c)*!$": "/a'b(c)*!$",
    "/a%2Fb;c%20d": "/a%2Fb;c%20d",
    "/é;è": "/%C3%A9;%C3%A8",
    "/x?": "/x",
    "/x?a=b?c=d": "/x?a=b?c=d",
    "/x?url=http://h/p;q": "/x?url=http://h/p;q",
    "/./a/../b;c": "/b;c",
}


def resolve(site: Site, link: str) -> tuple[str, str]:
    """Return the normalized address of a link, and its target."""
    address = normalize(link, f"{site.url}/")
    assert address is not None
    return address, address.removeprefix(site.url)


@pytest.mark.parametrize("link", ADDRESSES)
def test_the_server_receives_the_whole_address(site: Site, link: str) -> None:
    address, target = resolve(site, link)
    sent = PageRequest(address, f"{site.url}/")

    async def work() -> list[str]:
        configuration = read_configuration(site.config())
        async with Fetcher(configuration, allow_private=True, backoff=0.01) as fetcher:
            plain = await fetcher.fetch(address)
            rendered = await fetcher.load(sent, limit=MAX_PAGE_BYTES)
        return [plain.url, rendered.url]

    urls = asyncio.run(work())

    assert target == ADDRESSES[link]
    assert [asked.path for asked in site.asked] == [target, target]
    assert urls == [address, address]


def test_redirects_keep_the_whole_address(site: Site) -> None:
    site.redirect("/old;a", "/new;sid=1?x;y", 301)

    async def work() -> str:
        async with Fetcher(read_configuration(site.config()), allow_private=True) as fetcher:
            return (await fetcher.follow(f"{site.url}/old;a")).url

    assert asyncio.run(work()) == f"{site.url}/new;sid=1?x;y"
    assert site.paths() == ["/old;a", "/new;sid=1?x;y"]


LINKS = ["/semi;sid=1", "/semi;sid=2", "/semi", "/a;v=1/b;w=2?q;r"]


def crawl_links(site: Site, crawler: Crawler, **changes: Any) -> dict[str, str]:
    """Crawl pages that differ after a semicolon; return the title of each address."""
    site.html("/", "start", LINKS)
    for link in LINKS:
        site.page(link, html(f"title of {link}"))
    outcomes = crawler.crawl(site.config(**changes)).outcomes
    return {
        url.removeprefix(site.url): outcome.records["pages"][0]["title"]
        for url, outcome in outcomes.items()
    }


def test_pages_that_differ_after_a_semicolon_are_told_apart(site: Site, crawler: Crawler) -> None:
    titles = crawl_links(site, crawler)

    assert titles == {"/": "start", **{link: f"title of {link}" for link in LINKS}}
    assert sorted(site.paths()) == sorted(["/", *LINKS])


@pytest.mark.slow
def test_rendered_pages_that_differ_after_a_semicolon_are_told_apart(
    site: Site, crawler: Crawler
) -> None:
    titles = crawl_links(site, crawler, renderJavaScript=True)

    assert titles == {"/": "start", **{link: f"title of {link}" for link in LINKS}}
    assert sorted(set(site.paths())) == sorted(["/", *LINKS])

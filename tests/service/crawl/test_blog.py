"""A whole crawl of a site with WordPress's structure: one request for each page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest

from tests.service.crawl.conftest import Crawler
from tests.service.crawl.site import Site

POSTS, PER_PAGE = 180, 10
# 180 posts, 18 pages of lists (the first is the home page) and 3 pages.
PAGES = 201


def head(site: Site, path: str, number: int) -> str:
    """Write what WordPress puts into a page's head."""
    url, api = f"{site.url}{path}", f"{site.url}/wp-json"
    embed = f"{api}/oembed/1.0/embed?url={url}"
    return f"""<link rel="canonical" href="{url}">
<link rel="alternate" type="application/rss+xml" title="Feed" href="{site.url}/feed/">
<link rel="alternate" type="application/rss+xml" title="Comments" href="{site.url}/comments/feed/">
<link rel="alternate" type="application/rss+xml" title="Of this page" href="{url}feed/">
<link rel="alternate" title="JSON" type="application/json" href="{api}/wp/v2/posts/{number}">
<link rel="alternate" title="oEmbed (JSON)" type="application/json+oembed" href="{embed}">
<link rel="alternate" title="oEmbed (XML)" type="text/xml+oembed" href="{embed}&amp;format=xml">
<link rel="alternate stylesheet" title="High contrast" href="{site.url}/contrast.css?{number}">
<link rel="https://api.w.org/" href="{api}/"><link rel="shortlink" href="{site.url}/?p={number}">
<link rel="EditURI" type="application/rsd+xml" title="RSD" href="{site.url}/xmlrpc.php?rsd">
<link rel="pingback" href="{site.url}/xmlrpc.php"><link rel="dns-prefetch" href="//s.w.org">
<link rel="stylesheet" href="{site.url}/style.css?ver={number}">"""


SHARE = (
    '<svg viewBox="0 0 9 9"><use xlink:href="#share"/>'
    '<a xlink:href="{0}#comments"><text>Comments</text></a></svg>'
)


def fill_blog(site: Site) -> list[str]:
    """Put a blog there; returns the paths of its pages."""
    posts = [f"/2024/{1 + n % 12:02}/post-{n};v={n % 3}/" for n in range(POSTS)]
    lists = ["/", *(f"/page/{number}/" for number in range(2, POSTS // PER_PAGE + 1))]
    paths = [*lists, *posts, "/about/", "/contact/", "/imprint;/"]
    links: dict[str, list[str]] = {
        path: ["/", "/about/", "/contact/", "/imprint;/"] for path in paths
    }
    for at, path in enumerate(lists):
        links[path] += posts[at * PER_PAGE : (at + 1) * PER_PAGE]
    for one, other in pairwise(lists):
        links[one].append(other)
    for one, other in pairwise(posts):
        links[one].append(other)
    for number, path in enumerate(paths):
        anchors = "".join(f'<a href="{link}">{link}</a>' for link in links[path])
        site.page(path, f"<html><head><title>{path}</title>{head(site, path, number)}</head>"
                        f"<body>{SHARE.format(path)}{anchors}</body></html>")  # fmt: skip
    return paths


@pytest.fixture
def blog() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.mark.slow
def test_a_blog_is_crawled_with_one_request_per_page(blog: Site, crawler: Crawler) -> None:
    paths = fill_blog(blog)

    ledger = crawler.crawl(blog.config())

    assert len(paths) == PAGES
    assert Counter(blog.paths()) == Counter(paths)
    assert Counter(one.reason for one in ledger.outcomes.values()) == {"success": PAGES}

"""Sitemaps of every kind, and invalid ones."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.crawl.site_files import MAX_SITEMAP_BYTES, MAX_SITEMAP_URLS, read_sitemap
from svc_notebook.service.crawl.visits import FetchFailure

SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PLAIN = (
    f"<urlset {SPACE}><url><loc> http://a/?x=1&amp;y=2 </loc><lastmod>2026</lastmod></url></urlset>"
)
KINDS: dict[str, tuple[bytes, list[str]]] = {
    "xml": (PLAIN.encode(), ["http://a/?x=1&y=2"]),
    "no namespace": (b"<urlset><url><loc>http://a/</loc></url></urlset>", ["http://a/"]),
    "packed": (gzip.compress(PLAIN.encode()), ["http://a/?x=1&y=2"]),
    "utf-16": (f'<?xml version="1.0" encoding="utf-16"?>{PLAIN}'.encode("utf-16"), ["http://a/?x=1&y=2"]),
    "byte order mark": (b"\xef\xbb\xbf" + PLAIN.encode(), ["http://a/?x=1&y=2"]),
    "cdata": (b"<urlset><url><loc><![CDATA[http://a/]]></loc></url></urlset>", ["http://a/"]),
    "images": (
        b'<urlset xmlns:i="http://i"><url><loc>http://a/</loc><i:image><i:loc>http://a/b.png</i:loc>'
        b"</i:image></url></urlset>",
        ["http://a/"],
    ),
    "text": (b"\xef\xbb\xbfhttp://a/\r\n\r\n# no\nhttps://b/ \n", ["http://a/", "https://b/"]),
    "rss": (b"<rss><channel><item><link>http://a/</link></item></channel></rss>", ["http://a/"]),
    "atom": (b'<feed><entry><link href="http://a/"/></entry></feed>', ["http://a/"]),
    "empty": (b"<urlset/>", []),
    "nothing": (b"", []),
    "cut": (b"<urlset><url><loc>http://a/</loc></url><url><lo", ["http://a/"]),
}  # fmt: skip


@pytest.mark.parametrize(("body", "pages"), KINDS.values(), ids=KINDS)
def test_a_sitemap_names_pages(body: bytes, pages: list[str]) -> None:
    assert read_sitemap(body).pages == pages


def test_an_index_names_sitemaps() -> None:
    body = b"<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap></sitemapindex>"

    sitemap = read_sitemap(body)

    assert (sitemap.pages, sitemap.sitemaps) == ([], ["http://a/1.xml"])


def test_urls_beyond_the_limit_are_omitted_and_reported() -> None:
    body = b"http://a/\n" * (MAX_SITEMAP_URLS + 5)

    sitemap = read_sitemap(body)

    assert len(sitemap.pages) == MAX_SITEMAP_URLS
    assert sitemap.log == ["5 pages beyond the 50000th omitted"]


PAGE = b"<urlset><url><loc>&c;</loc></url></urlset>"
LAUGHS = b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]>' + PAGE
FILE = b'<!DOCTYPE a [<!ENTITY c SYSTEM "file:///etc/passwd">]>' + PAGE
JUNK = {
    "laughs": (LAUGHS, "invalid_sitemap"),
    "a file": (FILE, "invalid_sitemap"),
    "html": (b"<!doctype html><html><body>Not found</body></html>", "invalid_sitemap"),
    "words": (b"not found", "invalid_sitemap"),
    "zeros": (bytes(100), "invalid_sitemap"),
    "deep": (b"<a>" * 1000, "invalid_sitemap"),
    "bomb": (gzip.compress(bytes(MAX_SITEMAP_BYTES + 1)), "page_too_big"),
    "no gzip": (b"\x1f\x8bnothing", "invalid_sitemap"),
    "no encoding": (b'<?xml version="1.0" encoding="no-such"?><urlset/>', "invalid_sitemap"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "reason"), JUNK.values(), ids=JUNK)
def test_junk_is_refused(body: bytes, reason: str) -> None:
    with pytest.raises(FetchFailure) as failure:
        read_sitemap(body)

    assert failure.value.reason == reason


@given(st.binary(max_size=100), st.sampled_from([b"", b"<urlset>", b"\x1f\x8b\x08", b"http://a\n"]))
def test_any_bytes_are_read_or_refused(body: bytes, start: bytes) -> None:
    try:
        sitemap = read_sitemap(start + body)
    except FetchFailure:
        return

    assert all(isinstance(url, str) for url in sitemap.pages)

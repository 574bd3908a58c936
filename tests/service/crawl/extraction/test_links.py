"""Links of pages."""

from __future__ import annotations

import pytest

from svc_notebook.service.crawl.extraction import FetchedPage, Link, read_document

URL = "https://shop.test/lamps/desk?page=2#top"


def links(html: str, **headers: str) -> tuple[Link, ...]:
    return read_document(FetchedPage(URL, html.encode(), "text/html", headers)).links


def urls(html: str) -> list[str]:
    return [link.url for link in links(html)]


KINDS = [
    ('<a href="/x">', "a"),
    ('<map><area href="/x"></map>', "area"),
    ('<iframe src="/x"></iframe>', "iframe"),
    ('<link rel="canonical" href="/x">', "canonical"),
    ('<link rel="ALTERNATE" hreflang="de" href="/x">', "alternate"),
    ('<link rel="next" href="/x">', "next"),
    ('<link rel="prev" href="/x">', "prev"),
    ('<meta http-equiv="Refresh" content="5; URL=\'/x\'">', "refresh"),
]


@pytest.mark.parametrize(("html", "kind"), KINDS, ids=[kind for _, kind in KINDS])
def test_a_page_links_to_the_urls_of_its_elements(html: str, kind: str) -> None:
    assert links(html) == (Link("https://shop.test/x", False, kind),)


ALTERNATES = [
    ('hreflang="de"', True),
    ('hreflang="x-default" type="text/html; charset=utf-8"', True),
    ('type="Application/XHTML+xml"', True),
    ('type="text/html" media="only screen and (max-width: 640px)"', True),
    ("", False),
    ('hreflang=""', False),
    ('media="handheld"', False),
    ('type="application/rss+xml" title="Feed"', False),
    ('type="application/atom+xml" hreflang="de"', False),
    ('type="application/json+oembed"', False),
    ('type="text/xml+oembed"', False),
    ('type="application/json"', False),
    ('type="application/pdf"', False),
]


@pytest.mark.parametrize(("attributes", "followed"), ALTERNATES)
def test_an_alternate_is_followed_if_it_is_a_page(attributes: str, followed: bool) -> None:
    assert bool(links(f'<link rel="alternate" href="/x" {attributes}>')) is followed


@pytest.mark.parametrize("rel", ["alternate stylesheet", "stylesheet alternate"])
def test_an_alternate_stylesheet_is_never_followed(rel: str) -> None:
    assert links(f'<link rel="{rel}" hreflang="de" type="text/html" href="/x.css">') == ()


SVG = [
    ('<svg><a xlink:href="/x"><text>x</text></a></svg>', ["https://shop.test/x"]),
    ('<svg><a href="/x" xlink:href="/y"></a></svg>', ["https://shop.test/x"]),
    ('<svg><a xlink:href></a></svg><a href="/x">', ["https://shop.test/x"]),
    ('<svg><use xlink:href="#icon"/></svg><a href="/x">', ["https://shop.test/x"]),
    ('<math><a xlink:href="/x"></a></math>', ["https://shop.test/x"]),
    ('<svg><link rel="next" xlink:href="/x"/></svg>', ["https://shop.test/x"]),
]


@pytest.mark.parametrize(("html", "found"), SVG)
def test_links_in_drawings_are_links(html: str, found: list[str]) -> None:
    assert [one for one in urls(html) if "#" not in one and one != URL.partition("#")[0]] == found


@pytest.mark.parametrize("html", ['<svg><link rel="canonical" xlink:href="/x"/></svg>'])
def test_a_canonical_link_in_a_drawing_is_read(html: str) -> None:
    assert (
        read_document(FetchedPage(URL, html.encode(), "text/html")).canonical
        == "https://shop.test/x"
    )


ADDRESSES = [
    ("?page=3", "https://shop.test/lamps/desk?page=3"),
    ("wall", "https://shop.test/lamps/wall"),
    ("../chairs/#best", "https://shop.test/chairs/"),
    ("//cdn.test/a", "https://cdn.test/a"),
    (" \n/with\nbreaks\t ", "https://shop.test/withbreaks"),
]


@pytest.mark.parametrize(("written", "url"), ADDRESSES)
def test_an_address_is_relative_to_the_page(written: str, url: str) -> None:
    assert urls(f'<a href="{written}">') == [url]


@pytest.mark.parametrize(
    "written",
    ["mailto:a@b.test", "javascript:void(0)", "data:text/html,x", "tel:1", "http://[", "http://",
     "http://a.test:x/", "ftp://a.test/"],
)  # fmt: skip
def test_uncrawlable_urls_are_not_links(written: str) -> None:
    assert urls(f'<a href="{written}">') == []


def test_addresses_are_relative_to_a_base_where_there_is_one() -> None:
    html = '<base target=x><base href="/elsewhere/"><base href="/late/"><a href="x">'

    assert urls(html) == ["https://shop.test/elsewhere/x"]


def test_a_repeated_url_is_one_link_and_followed_if_any_is() -> None:
    html = '<a href="/x" rel="nofollow">1</a><a href="/x#y">2</a><a href="/z" rel="a NoFollow b">'

    assert links(html) == (
        Link("https://shop.test/x", False, "a"),
        Link("https://shop.test/z", True, "a"),
    )


@pytest.mark.parametrize(
    ("html", "headers"),
    [
        ('<meta name="robots" content="nofollow">', {}),
        ('<meta name="ROBOTS" content="none">', {}),
        ("", {"X-Robots-Tag": "noindex, nofollow"}),
    ],
)
def test_a_page_may_forbid_following_its_links(html: str, headers: dict[str, str]) -> None:
    assert links(f'{html}<a href="/x"><a href="/y">', **headers) == (
        Link("https://shop.test/x", True, "a"),
        Link("https://shop.test/y", True, "a"),
    )

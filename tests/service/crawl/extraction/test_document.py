"""HTML documents."""

from __future__ import annotations

from typing import Any

import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.extraction import (
    Document,
    Extractors,
    FetchedPage,
    Unreadable,
    read_document,
)

URL = "https://shop.test/lamps/desk"


def document(html: str, **headers: str) -> Document:
    return read_document(FetchedPage(URL, html.encode(), "text/html; charset=utf-8", headers))


def test_a_page_is_parsed_as_html() -> None:
    page = document("<title> Desk\n lamp </title><p>one<p>two &amp; <b>three")

    assert page.file_type == "html"
    assert page.title == "Desk lamp"
    assert page.html == (
        "<html><head><title> Desk\n lamp </title></head>"
        "<body><p>one</p><p>two &amp; <b>three</b></p></body></html>"
    )


def test_the_length_is_that_of_what_was_fetched() -> None:
    assert document("<p>é").content_length == len("<p>é".encode())


def test_the_title_is_not_that_of_a_drawing() -> None:
    assert document("<svg><title>No</title></svg><p>x").title == "No"
    assert document("<title>Yes</title><svg><title>No</title></svg>").title == "Yes"


CANONICAL = [
    ('<link rel="canonical" href="/x">', {}, "https://shop.test/x"),
    ('<base href="/b/"><link rel="nofollow Canonical" href="x">', {}, "https://shop.test/b/x"),
    ("", {"Link": '<https://a.test/z>; rel="canonical"'}, "https://a.test/z"),
    ("", {"link": '</1>; rel=next, </2>; type="text/html"; rel=canonical'}, "https://shop.test/2"),
    ('<link rel="canonical" href="javascript:1">', {}, None),
    ("<p>", {"link": "</1>; rel=next"}, None),
]


@pytest.mark.parametrize(("html", "headers", "url"), CANONICAL)
def test_a_page_may_declare_a_canonical_url(
    html: str, headers: dict[str, str], url: str | None
) -> None:
    assert document(html, **headers).canonical == url


ROBOTS = [
    ('<meta name="robots" content="NoIndex, follow">', {}, {"noindex", "follow"}),
    ('<meta name="robots" content="none">', {}, {"none", "noindex", "nofollow"}),
    ("", {"x-robots-tag": "noindex"}, {"noindex"}),
    ("", {"X-Robots-Tag": "otherbot: noindex, nofollow"}, set()),
    ("", {"X-Robots-Tag": "nofollow, otherbot: noindex"}, {"nofollow"}),
    ("", {"X-Robots-Tag": "max-snippet: 20, noindex"}, {"max-snippet: 20", "noindex"}),
    ('<meta name="robotics" content="noindex">', {}, set()),
]


@pytest.mark.parametrize(("html", "headers", "said"), ROBOTS)
def test_a_page_declares_robots_directives(
    html: str, headers: dict[str, str], said: set[str]
) -> None:
    assert document(html, **headers).robots == said


MATCHES: list[tuple[list[str], bool]] = [
    ([], True),
    (["p"], True),
    (["i", ".x"], True),
    (["i"], False),
    (["!i"], True),
    (["!p"], False),
    (["p", "!.x"], False),
    (["i", "!b"], False),
]


@pytest.mark.parametrize(("selectors", "expected"), MATCHES, ids=str)
def test_selectors_decide_whether_a_page_matches(
    extractors: Extractors, selectors: list[str], expected: bool
) -> None:
    page = document('<p class="x">one</p>')

    assert page.matches(selectors) is expected
    assert extractors.matches(page, selectors) is expected


def test_engines_take_cheerio_s_selectors(extractors: Extractors) -> None:
    assert extractors.matches(document("<p>Sold out</p>"), ["p:contains('Sold')", "!:header"])


def test_invalid_selectors_are_refused(extractors: Extractors) -> None:
    page = document("<p>")

    with pytest.raises(BadInput, match=r"`a\["):
        page.matches(["a["])
    with pytest.raises(BadInput, match=r"`a\[` is not a valid selector.*character 3"):
        extractors.matches(page, ["a["])
    with pytest.raises(BadInput, match=":nope"):
        extractors.check_selectors(["p", "!p:nope"])
    extractors.check_selectors(["p", "!p:first"])


UNREADABLE: list[tuple[str, bytes, str]] = [
    ("image/png", b"\x89PNG", "unsupported_file_type"),
    ("", b"?", "unsupported_file_type"),
    (
        "application/msword",
        bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512),
        "unsupported_file_format",
    ),
    ("application/msword", b"{\\rtf1}", "broken_file"),
    ("application/pdf", b"%PDF-1.7 not quite", "broken_file"),
    ("message/rfc822", b"", "broken_file"),
]


@pytest.mark.parametrize(("content_type", "body", "reason"), UNREADABLE, ids=str)
def test_an_unreadable_file_is_refused_with_the_reason(
    extractors: Extractors, content_type: str, body: bytes, reason: str
) -> None:
    page = FetchedPage(URL, body, content_type)

    with pytest.raises(Unreadable) as alone:
        read_document(page)
    with pytest.raises(Unreadable) as isolated:
        extractors.read(page)

    assert alone.value.reason == isolated.value.reason == reason
    assert str(alone.value) == str(isolated.value)


def test_a_document_is_the_same_from_another_process(read: Any) -> None:
    html = '<title>x</title><a href="/y" rel=nofollow><meta name=robots content=none>'

    assert read(html, url=URL) == document(html)

"""The links of a page as absolute URLs, and the page's robots directives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from svc_notebook.service.crawl.urls import resolve

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# The elements with URLs; the kind of a `link` is its relation.
SOURCES = (
    ("a[href]", "a", "href"),
    ("area[href]", "area", "href"),
    ("iframe[src]", "iframe", "src"),
    ("link[rel~=canonical i][href]", "canonical", "href"),
    ("link[rel~=alternate i][href]", "alternate", "href"),
    ("link[rel~=next i][href]", "next", "href"),
    ("link[rel~=prev i][href]", "prev", "href"),
)
# The media types of alternates that are followed.
HTML_TYPES = ("text/html", "application/xhtml+xml")
REFRESH = re.compile(
    r"[\s\d.]*[;,]?\s*(?:url\s*=)?\s*(['\"]?)(.+?)\1\s*\Z", re.IGNORECASE | re.DOTALL
)


@dataclass(frozen=True)
class Link:
    """A URL that a page links to; `kind` is the element or relation."""

    url: str
    nofollow: bool = False
    kind: str = "a"


def read_links(tree: LexborHTMLParser, url: str, *, nofollow: bool = False) -> tuple[Link, ...]:
    """Return the links of a page without duplicates; `nofollow` applies to the whole page."""
    base = base_of(tree, url)
    links: dict[str, Link] = {}
    for link in find_links(tree, base):
        earlier = links.get(link.url)
        if earlier is None:
            links[link.url] = replace(link, nofollow=link.nofollow or nofollow)
        elif earlier.nofollow and not nofollow and not link.nofollow:
            links[link.url] = replace(earlier, nofollow=False)
    return tuple(links.values())


def base_of(tree: LexborHTMLParser, url: str) -> str:
    """Return the base URL of the page's links."""
    node = tree.css_first("base[href]")
    return (resolve(value_of(node, "href"), url) if node else None) or url


def find_links(tree: LexborHTMLParser, base: str) -> Iterator[Link]:
    """Yield every URL that a page links to, with its `nofollow` flag."""
    for selector, kind, attribute in SOURCES:
        for node in tree.css(selector):
            if kind == "alternate" and not is_translation(node):
                continue
            if url := resolve(value_of(node, attribute), base):
                yield Link(url, "nofollow" in words(node, "rel"), kind)
    for node in tree.css("meta[http-equiv=refresh i][content]"):
        target = REFRESH.match(value_of(node, "content"))
        if target and (url := resolve(target[2], base)):
            yield Link(url, kind="refresh")


def is_translation(node: LexborNode) -> bool:
    """Return whether an alternate is a page, not a feed, stylesheet or metadata."""
    media_type = value_of(node, "type").partition(";")[0].strip().lower()
    named = media_type in HTML_TYPES if media_type else bool(value_of(node, "hreflang").strip())
    return named and "stylesheet" not in words(node, "rel")


def value_of(node: LexborNode, name: str) -> str:
    """Return an attribute's value, empty if it is missing; in SVG it may be `xlink:href`.

    A selector for `[href]` also matches elements that only have `xlink:href`.
    """
    attributes = node.attributes
    value = attributes.get(name, attributes.get(f"xlink:{name}"))
    return value or ""


def words(node: LexborNode, attribute: str) -> set[str]:
    """Return the words of an attribute such as `rel`."""
    return set(value_of(node, attribute).lower().split())

"""A parsed page: its tree, title, links and robots directives."""

from __future__ import annotations

import email.policy
import io
import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from email.message import EmailMessage
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.extraction.office import read_office
from svc_notebook.service.crawl.extraction.page import (
    FetchedPage,
    Unreadable,
    decode,
    file_type,
    own_code_location,
    paragraph,
    sniff_media_type,
    write_page,
)
from svc_notebook.service.crawl.urls import resolve

if TYPE_CHECKING:
    from pypdf import PdfReader
    from selectolax.lexbor import LexborHTMLParser, LexborNode


MAX_PDF_PAGES = 5000
# Elements with code; data for machines has other types.
SCRIPTS = "script[src], script:not([type]), script[type=module i], script[type*=javascript i]"
# A blank line, or the end of a sentence before a line that begins a new one.
PARAGRAPH_BREAK = re.compile(r"\n\s*\n|(?<=[.!?:])\n(?=\s*[A-Z0-9•])")
HYPHENATED_LINE_END = re.compile(r"(?<=[a-z])-\n(?=[a-z])")
PDF_META_NAMES = {"author": "author", "subject": "description", "keywords": "keywords"}
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


def read_pdf(body: bytes) -> str:
    """Convert a PDF file to HTML with a `div.page` of paragraphs per page; raises `Unreadable`."""
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(body))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("it is protected by a password", reason="protected")
        return write_pdf(reader)
    except (Unreadable, MemoryError):
        raise
    except (PyPdfError, Exception) as error:  # pypdf raises any exception for broken files
        if own_code_location(error):
            raise
        text = f"the PDF file cannot be read: {error}"
        raise Unreadable(text, reason="broken_file") from error


def write_pdf(reader: PdfReader) -> str:
    """Convert the pages of an opened PDF file to HTML."""
    info = {key.lower().lstrip("/"): str(value) for key, value in (reader.metadata or {}).items()}
    meta = {PDF_META_NAMES[name]: info[name] for name in PDF_META_NAMES if name in info}
    return write_page(pdf_pages(reader), title=info.get("title", ""), meta=meta)


def pdf_pages(reader: PdfReader) -> Iterator[str]:
    """Yield the paragraphs of each page."""
    for number, page in enumerate(reader.pages):
        if number == MAX_PDF_PAGES:
            raise Unreadable(f"it has more than {MAX_PDF_PAGES} pages", reason="too_large")
        text = HYPHENATED_LINE_END.sub("", page.extract_text())
        yield f'<div class="page">{"".join(map(paragraph, PARAGRAPH_BREAK.split(text)))}</div>'


def read_mail(body: bytes) -> str:
    """Convert a message to HTML with its subject as title; raises `Unreadable`."""
    message = email.message_from_bytes(body, policy=email.policy.default)
    if not message.keys():
        raise Unreadable("it is not a message: it has no header", reason="broken_file")
    meta = {name: mail_header(message, name) for name in ("from", "to", "date")}
    html, text = mail_part(message, "html"), mail_part(message, "plain")
    blocks = [html] if html else map(paragraph, text.split("\n\n"))
    subject = mail_header(message, "subject")
    return write_page([f"<h1>{escape(subject)}</h1>", *blocks], title=subject, meta=meta)


def mail_header(message: EmailMessage, name: str) -> str:
    """Return a header as text, empty if it is malformed."""
    try:
        return str(message.get(name, ""))
    except (ValueError, IndexError, AttributeError):  # raised by its parser
        return ""


def mail_part(message: EmailMessage, kind: str) -> str:
    """Return the body of a subtype, empty if there is none."""
    part = message.get_body((kind,))
    try:
        return str(part.get_content()) if part else ""
    except (LookupError, ValueError):  # an unknown encoding
        payload = part.get_payload(decode=True) if part else b""
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


CANONICAL_HEADER = re.compile(r'<([^>]*)>\s*;[^,]*\brel\s*=\s*"?canonical\b', re.IGNORECASE)
# The directives that `none` in `robots` implies.
NONE_DIRECTIVES = frozenset({"noindex", "nofollow"})
# Header directives with a value; any other name before a colon is the name of an agent.
VALUED_DIRECTIVES = ("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after")


@dataclass(frozen=True)
class Link:
    """A URL that a page links to; `kind` is the element or relation."""

    url: str
    nofollow: bool = False
    kind: str = "a"


@dataclass(frozen=True)
class Document:
    """A parsed page; `html` is its tree as serialized by the parser, for any file type."""

    url: str
    file_type: str
    content_length: int
    html: str = field(repr=False)
    title: str
    canonical: str | None
    robots: frozenset[str]
    links: tuple[Link, ...] = field(repr=False)
    has_scripts: bool = False
    text_characters: int = 0  # of the text that is shown

    def matches(self, selectors: Sequence[str]) -> bool:
        """Return whether any selector matches and none with a leading `!` does."""
        required = [selector for selector in selectors if not selector.startswith("!")]
        unwanted = [selector[1:] for selector in selectors if selector.startswith("!")]
        return not any(map(self.has, unwanted)) and (not required or any(map(self.has, required)))

    def has(self, selector: str) -> bool:
        """Return whether a selector matches; raises `BadInput` if it is invalid."""
        from selectolax.lexbor import SelectolaxError

        try:
            return self.tree.css_first(selector) is not None
        except SelectolaxError as error:
            raise BadInput(f"`{selector}` is not a valid selector") from error

    @cached_property
    def tree(self) -> LexborHTMLParser:
        """The page's tree, parsed from `html`."""
        from selectolax.lexbor import LexborHTMLParser

        return LexborHTMLParser(self.html)


def read_document(page: FetchedPage) -> Document:
    """Parse a page of any supported type; raises `Unreadable`.

    Hostile pages may take minutes or gigabytes: `Extractors.read` does the same in a process that
    may be killed.
    """
    kind = file_type(page.content_type, page.url, page.body)
    if kind == "html":
        return from_html(page, kind, decode(page.body, page.content_type))
    if kind is None:
        named = page.content_type or sniff_media_type(page.body) or "unknown"
        text = f"files of the type {named} cannot be read"
        raise Unreadable(text, reason="unsupported_file_type")
    return from_html(page, kind, READERS[kind](page.body))


READERS: dict[str, Callable[[bytes], str]] = {
    "pdf": read_pdf,
    "email": read_mail,
    **dict.fromkeys(("doc", "odp", "ods", "odt", "ppt", "xls"), read_office),
}


def from_html(page: FetchedPage, kind: str, html: str) -> Document:
    """Build the document of an HTML text."""
    from selectolax.lexbor import LexborHTMLParser, SelectolaxError

    try:
        tree = LexborHTMLParser(html)
    except SelectolaxError as error:  # any text is valid HTML: only memory can run out
        raise Unreadable("parsing it took too much memory", reason="too_large") from error
    robots = frozenset(read_robots(tree, page.headers))
    # Before the tree is reduced to its text.
    parsed, title, canonical = tree.html or "", read_title(tree), read_canonical(tree, page)
    links = read_links(tree, page.url, nofollow="nofollow" in robots)
    has_scripts = tree.css_first(SCRIPTS) is not None
    return Document(
        url=page.url,
        file_type=kind,
        content_length=len(page.body),
        html=parsed,
        title=title,
        canonical=canonical,
        robots=robots,
        links=links,
        has_scripts=has_scripts,
        text_characters=count_text(tree),
    )


def count_text(tree: LexborHTMLParser) -> int:
    """Count the characters of the text that the page shows; removes other elements."""
    tree.strip_tags(["script", "style", "noscript", "template"])
    return len(" ".join(tree.body.text(separator=" ").split())) if tree.body else 0


def read_title(tree: LexborHTMLParser) -> str:
    """Return the title on one line."""
    node = tree.css_first("head > title") or tree.css_first("title")
    return " ".join(node.text().split()) if node else ""


def read_canonical(tree: LexborHTMLParser, page: FetchedPage) -> str | None:
    """Return the canonical URL that the page declares, None if there is none."""
    if node := tree.css_first("link[rel~=canonical i][href]"):
        return resolve(value_of(node, "href"), base_of(tree, page.url))
    named = CANONICAL_HEADER.search(header(page.headers, "link"))
    return resolve(named[1], page.url) if named else None


def read_robots(tree: LexborHTMLParser, headers: Mapping[str, str]) -> Iterator[str]:
    """Yield the directives for all crawlers, from the head and from `X-Robots-Tag`."""
    directives = [value_of(node, "content") for node in tree.css("meta[name=robots i][content]")]
    for directive in ",".join([*directives, for_all_agents(header(headers, "x-robots-tag"))]).split(
        ","
    ):
        word = directive.strip().lower()
        yield from NONE_DIRECTIVES if word == "none" else ()
        if word:
            yield word


def for_all_agents(value: str) -> str:
    """Remove directives for one agent: `bot: noindex, nofollow` applies to `bot` alone."""
    kept: list[str] = []
    addressed = False
    for part in value.split(","):
        name, colon, _ = part.partition(":")
        addressed = addressed or bool(colon and name.strip().lower() not in VALUED_DIRECTIVES)
        kept += [] if addressed else [part]
    return ",".join(kept)


def header(headers: Mapping[str, str], name: str) -> str:
    """Return a header, repetitions joined; its name is case-insensitive."""
    return ",".join(value for key, value in headers.items() if key.lower() == name)


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

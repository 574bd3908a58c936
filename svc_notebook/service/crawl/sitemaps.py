"""Read the URLs of a sitemap: XML, sitemap index, feed or plain text, compressed or not."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from svc_notebook.service.crawl.outcomes import FetchFailure

# The limits of the protocol (sitemaps.org).
MAX_SITEMAP_URLS = 50_000
MAX_SITEMAP_BYTES = 50 << 20
# Deeper nesting of sitemap indexes is a loop.
MAX_INDEX_DEPTH = 3
_MAX_URL_CHARACTERS = 4000


@dataclass
class Sitemap:
    """The URLs of a sitemap; `log` lists what was omitted."""

    pages: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)


def read_sitemap(body: bytes) -> Sitemap:
    """Parse a sitemap; raises `FetchFailure` if it is not one."""
    if body[:2] == b"\x1f\x8b":
        body = _decompress(body)
    start = body[:200].removeprefix(b"\xef\xbb\xbf").lstrip()
    if not start.startswith(b"<") and b"\0" not in start:
        return _cap(Sitemap(pages=_read_lines(body)))
    return _cap(_SitemapReader().read(body))


def _decompress(body: bytes) -> bytes:
    decompressor = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        decompressed = decompressor.decompress(body, MAX_SITEMAP_BYTES + 1)
    except zlib.error as error:
        raise FetchFailure(
            "invalid_sitemap", f"the sitemap cannot be decompressed: {error}"
        ) from None
    if len(decompressed) > MAX_SITEMAP_BYTES:
        raise FetchFailure("page_too_big", f"the sitemap has more than {MAX_SITEMAP_BYTES:,} bytes")
    return decompressed


def _read_lines(body: bytes) -> list[str]:
    lines = (line.strip() for line in body.decode("utf-8-sig", "replace").splitlines())
    urls = [line for line in lines if line.startswith(("http://", "https://"))]
    if not urls and body.strip():
        raise FetchFailure("invalid_sitemap", "the sitemap is neither XML nor a list of URLs")
    return urls


def _cap(sitemap: Sitemap) -> Sitemap:
    for name in ("pages", "sitemaps"):
        entries = getattr(sitemap, name)
        if len(entries) > MAX_SITEMAP_URLS:
            sitemap.log.append(
                f"{len(entries) - MAX_SITEMAP_URLS} {name} beyond the {MAX_SITEMAP_URLS}th omitted"
            )
            del entries[MAX_SITEMAP_URLS:]
    return sitemap


class _SitemapReader:
    """A streaming XML parser that rejects entity declarations, which allow XML bombs."""

    def __init__(self) -> None:
        self.found = Sitemap()
        self.path: list[str] = []
        self.text: list[str] | None = None
        self.root = ""
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.EntityDeclHandler = self.reject_entity
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters

    def read(self, body: bytes) -> Sitemap:
        try:
            self.parser.Parse(body, True)
        except (expat.ExpatError, LookupError, ValueError) as error:  # also unknown encodings
            if not (self.found.pages or self.found.sitemaps):
                raise FetchFailure("invalid_sitemap", f"the sitemap is not XML: {error}") from None
            self.found.log.append(f"the sitemap is truncated: {error}")
        if self.root not in ("urlset", "sitemapindex", "rss", "feed", "RDF"):
            raise FetchFailure("invalid_sitemap", f"<{self.root}> is not the root of a sitemap")
        return self.found

    def reject_entity(self, *declared: object) -> None:
        raise FetchFailure("invalid_sitemap", "the sitemap declares entities, which are not read")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(" ")[2]
        self.root = self.root or local
        self.path.append(local)
        if len(self.path) > 50:
            raise FetchFailure("invalid_sitemap", "the sitemap is nested too deeply")
        if self.path[-2:] in (["url", "loc"], ["sitemap", "loc"], ["item", "link"]):
            self.text = []
        elif self.path[-2:] == ["entry", "link"] and "href" in attributes:
            self.found.pages.append(attributes["href"])

    def characters(self, data: str) -> None:
        if self.text is not None and sum(map(len, self.text)) < _MAX_URL_CHARACTERS:
            self.text.append(data)

    def end(self, name: str) -> None:
        if self.text is not None:
            url = "".join(self.text).strip()
            goal = self.found.sitemaps if self.path[-2] == "sitemap" else self.found.pages
            if url and len(url) < _MAX_URL_CHARACTERS:
                goal.append(url)
            self.text = None
        self.path.pop()

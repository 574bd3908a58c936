"""robots.txt rules and sitemaps: what a host says about its pages to crawlers."""

from __future__ import annotations

import asyncio
import zlib
from dataclasses import dataclass, field
from xml.parsers import expat

from protego import Protego

from svc_notebook.service.crawl.transport.fetcher import USER_AGENT, Fetcher, FetchResponse
from svc_notebook.service.crawl.urls import normalize, origin
from svc_notebook.service.crawl.visits import FetchFailure

# The maximum size of the file (RFC 9309, 2.5, requires at least as much).
MAX_ROBOTS_BYTES = 500 << 10
MAX_SITEMAPS_PER_HOST = 100
MAX_CACHED_HOSTS = 1000

# The limits of the protocol (sitemaps.org).
MAX_SITEMAP_URLS = 50_000
MAX_SITEMAP_BYTES = 50 << 20
# Deeper nesting of sitemap indexes is a loop.
MAX_INDEX_DEPTH = 3
_MAX_URL_CHARACTERS = 4000


@dataclass(frozen=True)
class RobotsRules:
    """The rules of one host; without a file everything is allowed."""

    file: Protego | None = field(default=None, repr=False)
    sitemaps: tuple[str, ...] = ()
    delay: float | None = None

    def allows(self, url: str) -> bool:
        """Return whether a URL may be fetched."""
        return self.file is None or self.file.can_fetch(url, USER_AGENT)


class Robots:
    """The rules of all hosts of a crawl, cached."""

    def __init__(self, fetcher: Fetcher) -> None:
        self._fetcher = fetcher
        self._rules: dict[str, asyncio.Task[RobotsRules]] = {}

    async def rules(self, url: str) -> RobotsRules:
        """Return the rules for a URL; raises `FetchFailure` if the file is unavailable."""
        site = origin(url)
        task = self._rules.get(site)
        if task is None:
            while len(self._rules) >= MAX_CACHED_HOSTS:
                self._rules.pop(next(iter(self._rules)))
            task = self._rules[site] = asyncio.create_task(self._read(site))
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel requests in progress."""
        for task in self._rules.values():
            task.cancel()
        await asyncio.gather(*self._rules.values(), return_exceptions=True)

    async def _read(self, site: str) -> RobotsRules:
        try:
            response = await self._fetcher.follow(f"{site}/robots.txt", limit=MAX_ROBOTS_BYTES)
        except FetchFailure as failure:
            if failure.reason in ("page_too_big", "too_many_redirects"):
                return RobotsRules()
            raise
        if response.status >= 500 or response.status == 429:
            raise FetchFailure(
                "robotstxt_unavailable",
                f"{site}/robots.txt answers with status {response.status}: its rules are unknown"
                " is allowed",
            )
        rules = read_rules(response) if response.status == 200 else RobotsRules()
        if rules.delay:
            self._fetcher.throttle.delay(site.partition("://")[2], rules.delay)
        return rules


def read_rules(response: FetchResponse) -> RobotsRules:
    """Parse a robots.txt; other content gives no rules."""
    file = Protego.parse(response.body.decode("utf-8-sig", "replace").replace("\0", ""))
    named = [normalize(url, response.url) for url in file.sitemaps]
    delay = file.crawl_delay(USER_AGENT)
    return RobotsRules(
        file,
        tuple(dict.fromkeys(url for url in named[:MAX_SITEMAPS_PER_HOST] if url)),
        delay if delay and delay > 0 else None,
    )


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

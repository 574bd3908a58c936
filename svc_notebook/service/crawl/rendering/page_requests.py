"""The requests of one rendered page: each is answered by the crawler's fetcher, or refused.

The policy says what is not loaded, and who may read the responses (CORS).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urlsplit

from svc_notebook.service.crawl.transport.fetcher import (
    MAX_PAGE_BYTES,
    MAX_REDIRECTS,
    RETRIED_STATUSES,
    Fetcher,
    FetchResponse,
    PageRequest,
    redirect,
    too_many_redirects,
)
from svc_notebook.service.crawl.urls import normalize, origin
from svc_notebook.service.crawl.visits import FetchFailure, refuse_status

if TYPE_CHECKING:
    from playwright.async_api import Page, Request, Route

    from svc_notebook.service.crawl.request_options import Rendering

# Types of resources that may affect the text and links of a page (Chrome DevTools Protocol,
# Network.ResourceType). Everything else is refused: fonts, media, event streams, beacons, frames.
LOADED_TYPES = frozenset({"document", "script", "stylesheet", "xhr", "fetch"})
# Images are answered with a transparent pixel instead of an error, on which many pages replace the
# address of an image by that of a placeholder.
PIXEL = bytes.fromhex(
    "47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b"
)
# Hosts, with their subdomains, that measure visitors; a page has the same text without them.
TRACKERS = frozenset(
    {
        "amplitude.com", "bat.bing.com", "browser.sentry-cdn.com", "bugsnag.com", "chartbeat.com",
        "clarity.ms", "connect.facebook.net", "crazyegg.com", "criteo.com", "criteo.net",
        "demdex.net", "fullstory.com", "google-analytics.com", "googletagmanager.com", "heap.io",
        "heapanalytics.com", "hotjar.com", "hotjar.io", "logrocket.com", "mc.yandex.ru",
        "mixpanel.com", "mouseflow.com", "newrelic.com", "nr-data.net", "omtrdc.net",
        "optimizely.com", "plausible.io", "quantserve.com", "scorecardresearch.com", "segment.com",
        "segment.io", "sentry.io", "snap.licdn.com", "statcounter.com",
    }
)  # fmt: skip
# Hosts, with their subdomains, that show advertisements (`adBlock`).
ADVERTISERS = frozenset(
    {
        "adform.net", "adnxs.com", "adroll.com", "adsafeprotected.com", "adsrvr.org",
        "amazon-adsystem.com", "casalemedia.com", "doubleclick.net", "googleadservices.com",
        "googlesyndication.com", "media.net", "openx.net", "outbrain.com", "pubmatic.com",
        "rubiconproject.com", "smartadserver.com", "taboola.com", "teads.tv", "yieldlab.net",
    }
)  # fmt: skip

ALLOW_ORIGIN = "access-control-allow-origin"
# The value for a response that allows no other origin: the driver would add one that allows all.
NO_ORIGIN = "https://origin.invalid"
_SAFE_HEADERS = frozenset({"accept", "accept-language", "content-language", "range"})
_SAFE_CONTENT_TYPES = (
    "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"
)  # fmt: skip
# Headers that the browser sets, and that pages cannot.
_BROWSER_HEADERS = frozenset(
    {
        "accept-charset", "accept-encoding", "connection", "content-length", "cookie", "date",
        "dnt", "expect", "host", "keep-alive", "origin", "priority", "referer", "save-data", "te",
        "trailer", "transfer-encoding", "upgrade", "upgrade-insecure-requests", "user-agent",
    }
)  # fmt: skip
# Values that the browser gives these headers for the cache modes of `fetch`.
_CACHE_VALUES = {"cache-control": ("no-cache", "max-age=0"), "pragma": ("no-cache",)}
MAX_SAFE_VALUE_BYTES = 128

log = logging.getLogger(__name__)
MAX_PAGE_REQUESTS = 500
MAX_PAGE_TOTAL_BYTES = 50 << 20
MAX_SENT_BYTES = 1 << 20
METHODS = ("GET", "HEAD", "POST")
# Scripts and styles are the same for all pages of a crawl.
MAX_CACHE_BYTES = 64 << 20
CACHED_TYPES = ("script", "stylesheet")
DATA_TYPES = ("xhr", "fetch")
# Headers that the fetcher sets, or that say what the browser is.
_UNSENT = ("accept-encoding", "connection", "content-length", "cookie", "host", "user-agent")
# Headers that describe the body as it was sent, or make the browser send further requests.
_UNPASSED = frozenset(
    {
        "alt-svc", "clear-site-data", "connection", "content-encoding", "content-length",
        "content-security-policy-report-only", "keep-alive", "link", "nel", "report-to",
        "reporting-endpoints", "set-cookie", "speculation-rules", "strict-transport-security",
        "trailer", "transfer-encoding",
    }
)  # fmt: skip
# Applies in addition to the page's own policy, also to frames without a document of their own.
POLICY = (
    "connect-src http: https:; frame-src 'none'; object-src 'none'; webrtc 'block';"
    " worker-src blob:"
)


class ScriptCache:
    """Scripts and styles that pages of a crawl loaded, up to a total size."""

    def __init__(self) -> None:
        self._kept: dict[str, FetchResponse] = {}
        self._size = 0

    def find(self, url: str, *, public_only: bool) -> FetchResponse | None:
        """Return a kept response, for a page of a public host only if it is public."""
        response = self._kept.get(url)
        return response if response and (response.is_public or not public_only) else None

    def keep(self, url: str, response: FetchResponse) -> None:
        """Keep a response unless it forbids that; the oldest ones make room."""
        forbids = "no-store" in response.headers.get("cache-control", "").lower()
        if response.status != 200 or forbids or url in self._kept:
            return
        self._kept[url] = response
        self._size += len(response.body)
        while self._size > MAX_CACHE_BYTES:
            self._size -= len(self._kept.pop(next(iter(self._kept))).body)


class PageRequests:
    """The requests of one page, from its document until `close`."""

    def __init__(
        self,
        page: Page,
        document: FetchResponse | None,
        url: str,
        tools: tuple[Fetcher, ScriptCache],
        rendering: Rendering,
    ) -> None:
        self._page = page
        self._document = document
        self.url = url
        self._fetcher, self._cache = tools
        self._rendering = rendering
        self._is_public = document is not None and document.is_public
        self._tasks: set[asyncio.Task[FetchResponse | None]] = set()
        self.documents = 0  # that the page loaded, with reloads
        self._requests = self._bytes = 0
        self._last_change = monotonic()
        self._closed = False
        self.target: str | None = None  # the URL to which the page navigates
        self.failure: FetchFailure | None = None  # of the page's own document
        self.logs: list[str] = []
        # Requests for data or scripts that failed for now, with what failed and the address.
        self.missing: list[str] = []

    @property
    def quiet_seconds(self) -> float:
        """For how long no request was in progress."""
        return 0.0 if self._tasks else monotonic() - self._last_change

    @property
    def is_over(self) -> bool:
        """Whether the page need not be read, because it failed or leads elsewhere."""
        return self.target is not None or self.failure is not None

    def close(self) -> None:
        """Cancel the requests in progress and refuse further ones."""
        self._closed = True
        for task in self._tasks:
            task.cancel()

    async def answer(self, route: Route) -> None:
        """Answer one request of the browser; errors of the network are errors of the request."""
        from playwright.async_api import Error

        task = asyncio.create_task(self._answer(route.request))
        self._tasks.add(task)
        await asyncio.wait((task,))
        self._tasks.discard(task)
        self._last_change = monotonic()
        try:
            if task.cancelled() or self._closed:
                await route.abort("aborted")
            elif error := task.exception():
                if not isinstance(error, FetchFailure | Error):
                    log.error("a request of %s", self.url, exc_info=error)
                await route.abort("failed")
            elif (response := task.result()) is None:
                # After any other error of a navigation, an error page replaces the page.
                is_navigation = route.request.is_navigation_request()
                await route.abort("aborted" if is_navigation else "blockedbyclient")
            else:
                headers = _passed_headers(response, is_document=is_main(self._page, route.request))
                if "origin" in route.request.headers:
                    headers.setdefault(ALLOW_ORIGIN, NO_ORIGIN)
                await route.fulfill(status=response.status, headers=headers, body=response.body)
        except Error:  # the page was closed meanwhile
            return

    async def _answer(self, request: Request) -> FetchResponse | None:
        """Return the response to a request; None if it is refused."""
        if self._closed or urlsplit(request.url).scheme not in ("http", "https"):
            return None
        if request.is_navigation_request():
            return await self._navigate(request) if is_main(self._page, request) else None
        if request.resource_type == "image":
            return FetchResponse(request.url, 200, {"content-type": "image/gif"}, PIXEL)
        if (
            request.resource_type not in LOADED_TYPES
            or request.method not in METHODS
            or is_blocked(request.url, blocks_ads=self._rendering.blocks_ads)
        ):
            return None
        return await self._load(request)

    async def _navigate(self, request: Request) -> FetchResponse | None:
        """Answer the document itself, also when the page reloads; a navigation away ends it."""
        if self.is_over:
            return None
        if request.method != "GET":
            # The browser stops to parse a page that leaves: what is there may be a part of it.
            self.failure = FetchFailure(
                "rendering_failed", f"the page sends a form to {request.url[:200]} and leaves"
            )
            return None
        self.documents += 1
        if self.documents == 1 and self._document:
            return self._document
        if normalize(request.url) != normalize(self.url):
            self.target = urldefrag(request.url).url
            return None
        try:
            if self.documents > MAX_REDIRECTS:
                raise too_many_redirects()
            response = await self._load(request)
            if response is not None and response.status != 200:
                raise refuse_status(response.status)
        except FetchFailure as failure:
            self.failure = failure
            raise
        return response

    async def _load(self, request: Request) -> FetchResponse | None:
        is_cached = _is_cacheable(request)
        if is_cached and (cached := self._cache.find(request.url, public_only=self._is_public)):
            return cached
        if self._exceeds_limits(request):
            return None
        # Other requests may load bytes until this one is built: the limit would not be positive.
        limit = min(MAX_PAGE_BYTES, MAX_PAGE_TOTAL_BYTES - self._bytes)
        sent = await self._build(request)
        try:
            response = await self._send(sent, limit)
        except FetchFailure as failure:
            self._note(f"the browser did not load {request.url[:200]}: {failure}")
            if failure.reason in _TEMPORARY_REASONS:
                self._miss(request, failure.reason)
            raise
        if response is None:
            return None
        self._bytes += len(response.body)
        self._note_status(request, response.status)
        if request.resource_type in DATA_TYPES and not _may_read(response, request.url, sent.page):
            return None
        if is_cached:
            self._cache.keep(request.url, response)
        return response

    def _exceeds_limits(self, request: Request) -> bool:
        """Count a request; return whether there are too many, or it or what is loaded is large."""
        self._requests += 1
        body = request.post_data_buffer or b""
        if self._requests > MAX_PAGE_REQUESTS or len(body) > MAX_SENT_BYTES:
            self._note(f"the page makes more than {MAX_PAGE_REQUESTS} requests, or large ones")
            return True
        if self._bytes >= MAX_PAGE_TOTAL_BYTES:
            self._note(f"the page loads more than {MAX_PAGE_TOTAL_BYTES:,} bytes")
            return True
        return False

    async def _build(self, request: Request) -> PageRequest:
        opened, cookies = self._page_of(request), []
        if origin(request.url) == origin(opened):
            cookies = await self._page.context.cookies(request.url)
        return PageRequest(
            urldefrag(request.url).url,
            opened,
            request.method,
            _sent_headers(request.headers),
            request.post_data_buffer,
            "; ".join(f"{cookie.get('name')}={cookie.get('value')}" for cookie in cookies),
            public_only=self._is_public and not is_main(self._page, request),
        )

    def _note_status(self, request: Request, status: int) -> None:
        if status >= 400:
            self._note(f"{request.url[:200]} answers with status {status}")
        if status in RETRIED_STATUSES or status >= 500:
            self._miss(request, f"status {status}")

    def _page_of(self, request: Request) -> str:
        """Return the URL of the page that makes a request."""
        return self.url

    async def _send(self, request: PageRequest, limit: int) -> FetchResponse | None:
        """Send a request and follow redirects; None if another origin does not allow it."""
        for _ in range(MAX_REDIRECTS + 1):
            if origin(request.url) != origin(request.page) and not await self._may_send(request):
                return None
            response = await self._fetcher.load(request, limit=limit)
            self._receive(response)
            if response.target is None:
                return response
            request = self._redirect(request, response)
        raise too_many_redirects()

    def _receive(self, response: FetchResponse) -> None:
        """Do nothing; a login keeps the cookies of every response."""

    def _redirect(self, request: PageRequest, response: FetchResponse) -> PageRequest:
        return redirect(request, response.target or "", response.status)

    async def _may_send(self, request: PageRequest) -> bool:
        """Return whether another origin allows a request, by a preflight if one is needed."""
        if not (names := unsafe_headers(request.headers)):
            return True
        preflight = replace(
            request,
            method="OPTIONS",
            headers=preflight_headers(request.page, request.method, names),
            body=None,
            cookie="",
        )
        answer = await self._fetcher.load(preflight, limit=MAX_PAGE_BYTES)
        if allows_request(answer.status, answer.headers, request.page, names):
            return True
        self._note(
            f"{origin(request.url)} does not allow requests of {origin(request.page)} with the"
            f" headers {', '.join(names)}"
        )
        return False

    def _miss(self, request: Request, what: str) -> None:
        """Count a request without whose response the page may lack text."""
        if request.resource_type in (*DATA_TYPES, "script"):
            self.missing.append(f"{what} {request.url[:200]}")

    def _note(self, line: str) -> None:
        if line not in self.logs and len(self.logs) < MAX_LOGS:
            self.logs.append(line)


# Failures that may be over at the next visit; others are the same for every visitor of the page, as
# the unknown name of a service for statistics that has ended.
_TEMPORARY_REASONS = frozenset(
    {"connection_refused", "network_error", "timeout", "tls_error", "truncated_body"}
)
# Lines per page about requests that failed.
MAX_LOGS = 20


def is_main(page: Page, request: Request) -> bool:
    """Return whether a request is for the page's own document, not that of a frame or popup."""
    return request.is_navigation_request() and request.frame == page.main_frame


def _is_cacheable(request: Request) -> bool:
    return request.resource_type in CACHED_TYPES and request.method == "GET"


def _sent_headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in headers.items()
        if name.lower() not in _UNSENT
        and not name.lower().startswith(("sec-", "proxy-"))
        and value.isascii()
    }


def _passed_headers(response: FetchResponse, *, is_document: bool) -> dict[str, str]:
    """Return the headers of a response for the browser."""
    headers = {name: value for name, value in response.headers.items() if name not in _UNPASSED}
    if response.cookies:
        headers["set-cookie"] = "\n".join(response.cookies)
    if is_document:
        headers.pop("content-disposition", None)  # would download the page
        policy = headers.get("content-security-policy")
        headers["content-security-policy"] = f"{policy}, {POLICY}" if policy else POLICY
    return headers


def _may_read(response: FetchResponse, asked: str, page: str) -> bool:
    """Return whether a page may read a response to which redirects to another origin led.

    The browser checks the origin of a request, but does not see its redirects.
    """
    ends_there = origin(response.url) in (origin(asked), origin(page))
    return ends_there or allows_origin(response.headers, page)


def is_blocked(url: str, *, blocks_ads: bool) -> bool:
    """Return whether a URL is of a tracker, or of an advertiser if these are blocked."""
    names = (urlsplit(url).hostname or "").split(".")
    suffixes = {".".join(names[at:]) for at in range(len(names))}
    return bool(suffixes & TRACKERS) or (blocks_ads and bool(suffixes & ADVERTISERS))


def unsafe_headers(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of headers that another origin must allow in a preflight, sorted."""
    return tuple(
        sorted(name for name, value in headers.items() if _is_unsafe(name.lower(), value.strip()))
    )


def _is_unsafe(name: str, value: str) -> bool:
    if name in _BROWSER_HEADERS or name.startswith(("sec-", "proxy-")):
        return False
    if value in _CACHE_VALUES.get(name, ()):
        return False
    if len(value.encode()) > MAX_SAFE_VALUE_BYTES:
        return True
    if name == "content-type":
        return value.partition(";")[0].strip().lower() not in _SAFE_CONTENT_TYPES
    return name not in _SAFE_HEADERS


def preflight_headers(page: str, method: str, names: Iterable[str]) -> dict[str, str]:
    """Return the headers of a preflight for a request of a page with such headers."""
    return {
        "accept": "*/*",
        "origin": origin(page),
        "access-control-request-method": method,
        "access-control-request-headers": ",".join(name.lower() for name in names),
    }


def allows_origin(headers: Mapping[str, str], page: str) -> bool:
    """Return whether a response lets a page of another origin read it."""
    return headers.get(ALLOW_ORIGIN, "").strip() in ("*", origin(page))


def allows_request(
    status: int, headers: Mapping[str, str], page: str, names: Iterable[str]
) -> bool:
    """Return whether the response to a preflight allows a request of a page with such headers.

    GET, HEAD and POST, the only methods that pages may use, need no permission.
    """
    listed = headers.get("access-control-allow-headers", "").lower().split(",")
    allowed = {name.strip() for name in listed}
    required = {name.lower() for name in names}
    if "*" in allowed:
        required &= {"authorization"}
    return 200 <= status < 300 and allows_origin(headers, page) and required <= allowed

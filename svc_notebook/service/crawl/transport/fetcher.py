"""Fetch pages over HTTP within rate and size limits, from public addresses only."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore
import httpx
import msgspec

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.configuration import Configuration
from svc_notebook.service.crawl.link_policy import Scope
from svc_notebook.service.crawl.request_options import LoginRequest
from svc_notebook.service.crawl.transport.decompression import ACCEPTED_ENCODINGS, Body
from svc_notebook.service.crawl.transport.host_state import HostCookies, Throttle
from svc_notebook.service.crawl.transport.ssrf_guard import AddressGuard
from svc_notebook.service.crawl.urls import normalize, origin
from svc_notebook.service.crawl.visits import FetchFailure

USER_AGENT = "SvcNotebookCrawler"
MAX_PAGE_BYTES = 10 << 20
MAX_REDIRECTS = 5
REDIRECT_STATUSES = (301, 302, 303, 307, 308)
# Temporary server errors, which are retried.
RETRIED_STATUSES = (408, 425, 429, 500, 502, 503, 504)
# Statuses about the whole server, not only this page.
BUSY_STATUSES = (429, 503)
MAX_RETRY_WAIT_SECONDS = 30.0
# Headers that are not sent to other sites, to which links and redirects lead.
_SECRET_HEADERS = ("authorization", "cookie")
_ACCEPTED_TYPES = "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"


@dataclass(frozen=True)
class FetchResponse:
    """A server's response; header names are in lower case.

    `is_public` says whether it came from a public address.
    """

    url: str
    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)
    cookies: tuple[str, ...] = field(default=(), repr=False)
    is_public: bool = False

    @property
    def target(self) -> str | None:
        """The URL of a redirect, None for other responses."""
        location = self.headers.get("location", "")
        return (
            normalize(location, self.url) if self.status in REDIRECT_STATUSES and location else None
        )


@dataclass(frozen=True)
class PageRequest:
    """A request that a rendered page makes: its own headers and cookies, and the page's URL.

    One of a page that came from a public address is `public_only`: it reaches no private address,
    even if private crawling is allowed.
    """

    url: str
    page: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    cookie: str = field(default="", repr=False)
    public_only: bool = False


class Fetcher:
    """The HTTP connections of one crawl; `async with` opens and closes them."""

    def __init__(
        self,
        configuration: Configuration,
        *,
        allow_private: bool = False,
        backoff: float = 0.5,
    ) -> None:
        self.configuration = configuration
        self.throttle = Throttle(configuration.rate_limit)
        self._requests = configuration.requests
        self._scope = Scope(configuration)
        self._backoff = backoff
        self._ssrf_guard = AddressGuard(allow_private=allow_private)
        self._public_guard = AddressGuard(allow_private=False, from_public_page=allow_private)
        self.cookies = HostCookies()
        self._login_cookies = httpx.Cookies()
        self._token: str | None = None
        self._logging_in = asyncio.Lock()
        # A login with a browser is made by the browser, whose requests are sent here, too.
        self._logged_in = not isinstance(configuration.login, LoginRequest)
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        # A connection to a private address must not be used again for a page that may not reach it.
        self._pool, self._public_pool = [
            await self._stack.enter_async_context(self._open(guard))
            for guard in (self._ssrf_guard, self._public_guard)
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        await self._stack.aclose()

    async def fetch(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        limit: int = MAX_PAGE_BYTES,
        cookies: HostCookies | None = None,
    ) -> FetchResponse:
        """Fetch a URL with retries; redirects are returned, not followed. Raises `FetchFailure`.

        `cookies` are sent in addition to those kept for the crawl.
        """
        await self.log_in()
        host = urlsplit(url).netloc
        for attempt in range(self._requests.retries + 1):
            is_last = attempt == self._requests.retries
            try:
                response = await self._get(url, headers or {}, limit, cookies)
            except FetchFailure as failure:
                if is_last or failure.reason not in _RETRIED_REASONS:
                    raise
                await asyncio.sleep(self._backoff_seconds(attempt))
                continue
            if is_last or response.status not in RETRIED_STATUSES:
                return response
            wait = _retry_after(response)
            if wait is not None or response.status in BUSY_STATUSES:
                self.throttle.pause(host, wait or self._backoff_seconds(attempt))
            else:  # one broken page does not slow down the others
                await asyncio.sleep(self._backoff_seconds(attempt))
        raise AssertionError("the last attempt returns or raises")

    async def follow(self, url: str, *, limit: int = MAX_PAGE_BYTES) -> FetchResponse:
        """Fetch a URL and follow redirects; raises `FetchFailure`."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await self.fetch(url, limit=limit)
            if response.target is None:
                return response
            url = response.target
        raise too_many_redirects()

    async def load(self, request: PageRequest, *, limit: int) -> FetchResponse:
        """Send a rendered page's request once; redirects are returned. Raises `FetchFailure`.

        It counts in `rateLimit`; a Crawl-delay applies between pages, not to what they load. Logins
        are sent only to the origin of the page: the browser does not know them, and would let a
        page of another origin read the response.
        """
        await self.log_in()
        async with self.throttle.slot():
            sent = httpx.Request(
                request.method,
                request.url,
                headers=self._page_headers(request),
                content=request.body,
            )
            pool = self._public_pool if request.public_only else self._pool
            response = await self._send(sent, self._requests.timeout, limit, pool)
        if response.status in BUSY_STATUSES:
            self.throttle.pause(urlsplit(request.url).netloc, _retry_after(response) or 0.0)
        return response

    def keep_login_cookies(self, url: str, lines: Iterable[str]) -> None:
        """Send cookies with later requests of the hosts they are for.

        `lines` are values of `Set-Cookie`, of a response to `url`.
        """
        request = httpx.Request("GET", url)
        raw = [(b"set-cookie", line.encode()) for line in lines if line.isascii()]
        self._login_cookies.extract_cookies(httpx.Response(200, headers=raw, request=request))

    async def log_in(self) -> None:
        """Log in once if the configuration has a login; raises `BadInput` if it fails."""
        async with self._logging_in:
            login = self.configuration.login
            if not self._logged_in and isinstance(login, LoginRequest):
                try:
                    await self._log_in(login)
                except FetchFailure as failure:
                    raise BadInput(f"`login`: {failure.readable}") from failure
                self._logged_in = True

    def _open(self, guard: AddressGuard) -> httpcore.AsyncConnectionPool:
        options = {
            "ssl_context": _context(),
            "max_connections": 100,
            "max_keepalive_connections": 100,
            "keepalive_expiry": 15.0,
            "network_backend": guard,
        }
        if proxy := self._requests.proxy:
            login = self._requests.proxy_login
            return httpcore.AsyncHTTPProxy(proxy, proxy_auth=login, **options)  # type: ignore[arg-type]
        return httpcore.AsyncConnectionPool(**options)  # type: ignore[arg-type]

    async def _get(
        self, url: str, headers: Mapping[str, str], limit: int, cookies: HostCookies | None
    ) -> FetchResponse:
        async with self.throttle.turn(urlsplit(url).netloc):
            sent = httpx.Request("GET", url, headers=self._headers(url, headers, cookies))
            return await self._send(sent, self._requests.timeout, limit)

    async def _send(
        self,
        request: httpx.Request,
        timeout_seconds: float,
        limit: int,
        pool: httpcore.AsyncConnectionPool | None = None,
    ) -> FetchResponse:
        """Send one request and read its response within the timeout; raises `FetchFailure`."""
        try:
            async with asyncio.timeout(timeout_seconds):
                return await self._exchange(request, timeout_seconds, limit, pool or self._pool)
        except (TimeoutError, httpcore.TimeoutException):
            raise FetchFailure(
                "timeout", f"no complete response within {timeout_seconds:g} seconds"
            ) from None
        except httpcore.ConnectError as error:
            raise _connect_failure(request, error) from error
        except (httpcore.ProtocolError, httpcore.NetworkError, httpcore.ProxyError) as error:
            raise FetchFailure(
                "network_error", f"the connection failed: {error or 'closed'}"
            ) from error

    async def _exchange(
        self,
        request: httpx.Request,
        timeout_seconds: float,
        limit: int,
        pool: httpcore.AsyncConnectionPool,
    ) -> FetchResponse:
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), timeout_seconds)
        async with pool.stream(
            request.method,
            _raw_url(request.url),
            headers=request.headers.raw,
            content=request.content or None,
            extensions={"timeout": timeouts},
        ) as response:
            received = httpx.Headers(response.headers)
            headers = dict(received.items())
            body = Body(headers.get("content-encoding", ""), limit)
            if response.status not in REDIRECT_STATUSES and response.status != 304:
                _check_length(headers, limit)
                await _read_body(response, body)
            return FetchResponse(
                str(request.url),
                response.status,
                headers,
                body.read(),
                tuple(received.get_list("set-cookie")),
                response.extensions["network_stream"].get_extra_info("is_public") is not False,
            )

    @property
    def user_agent(self) -> str:
        """The `User-Agent` of all page requests."""
        given = httpx.Headers(self._requests.headers)
        return str(given.get("User-Agent", f"{USER_AGENT}/1.0"))

    def _page_headers(self, request: PageRequest) -> httpx.Headers:
        """Return the headers of a rendered page's request."""
        is_own = origin(request.url) == origin(request.page)
        headers = self._headers(request.url, request.headers, sends_login=is_own)
        pairs = [request.cookie, headers.get("Cookie", "")]
        if joined := _join_cookies(pairs):
            headers["Cookie"] = joined
        return headers

    def _headers(
        self,
        url: str,
        more: Mapping[str, str],
        cookies: HostCookies | None = None,
        *,
        sends_login: bool = True,
    ) -> httpx.Headers:
        headers = httpx.Headers(
            {
                "User-Agent": f"{USER_AGENT}/1.0",
                "Accept": _ACCEPTED_TYPES,
                "Accept-Encoding": ACCEPTED_ENCODINGS,
            }
        )
        on_site = sends_login and self._scope.is_on_site(url)
        headers.update(
            {
                name: value
                for name, value in self._requests.headers.items()
                if on_site or name.lower() not in _SECRET_HEADERS
            }
        )
        if self._token and on_site:
            headers["Authorization"] = self._token
        headers.update(more)
        if sends_login:
            self._add_cookies(headers, url, cookies)
        return headers

    def _add_cookies(self, headers: httpx.Headers, url: str, cookies: HostCookies | None) -> None:
        """Add the cookies of the login, of the crawl and of a page."""
        request = httpx.Request("GET", url)
        self._login_cookies.set_cookie_header(request)
        if login := request.headers.get("Cookie"):
            headers["Cookie"] = login
        named = [headers.get("Cookie", ""), self.cookies.header(url)]
        named += [cookies.header(url)] if cookies else []
        if joined := _join_cookies(named):
            headers["Cookie"] = joined

    async def _log_in(self, login: LoginRequest) -> None:
        request = httpx.Request(
            login.method,
            login.url,
            headers={"User-Agent": f"{USER_AGENT}/1.0", "Accept": "*/*", **login.headers},
            content=login.body.encode(),
        )
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send_login(request, login)
            if response.target is None:
                break
            request = httpx.Request(
                "GET", response.target, headers={"User-Agent": f"{USER_AGENT}/1.0"}
            )
            self._login_cookies.set_cookie_header(request)
        if response.status >= 400:
            raise FetchFailure(
                "login_refused", f"{login.url} answers with status {response.status}"
            )
        if login.token:
            self._token = _read_token(response)

    async def _send_login(self, request: httpx.Request, login: LoginRequest) -> FetchResponse:
        async with self.throttle.turn(request.url.netloc.decode()):
            response = await self._send(request, login.timeout, MAX_PAGE_BYTES)
        self.keep_login_cookies(str(request.url), response.cookies)
        return response

    def _backoff_seconds(self, attempt: int) -> float:
        """Return the exponential backoff with jitter, in seconds."""
        return float(
            min(self._backoff * 2**attempt, MAX_RETRY_WAIT_SECONDS) * random.uniform(0.5, 1)
        )


# Failures that are retried.
_RETRIED_REASONS = frozenset({"timeout", "network_error", "connection_refused", "truncated_body"})


def too_many_redirects() -> FetchFailure:
    """Return the failure for too many redirects."""
    return FetchFailure("too_many_redirects", f"more than {MAX_REDIRECTS} consecutive redirects")


def redirect(request: PageRequest, target: str, status: int) -> PageRequest:
    """Return the request to which a redirect leads, as browsers make it (Fetch, 4.5)."""
    left = origin(target) != origin(request.url)
    keeps = status in (307, 308) or request.method in ("GET", "HEAD")
    headers = {
        name: value
        for name, value in request.headers.items()
        if not (left and name.lower() in _SECRET_HEADERS)
        and (keeps or name.lower() != "content-type")
    }
    return replace(
        request,
        url=target,
        method=request.method if keeps else "GET",
        headers=headers,
        body=request.body if keeps else None,
        cookie="" if left else request.cookie,
    )


def _raw_url(url: httpx.URL) -> httpcore.URL:
    """Return a URL in parts: from text, httpcore would leave out what follows a `;` in its path."""
    return httpcore.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )


def _connect_failure(request: httpx.Request, error: httpcore.ConnectError) -> FetchFailure:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return FetchFailure(
                "tls_error", f"{request.url.host} has no valid certificate: {cause}"
            )
        cause = cause.__cause__ or cause.__context__
    return FetchFailure("connection_refused", f"{request.url.host} refuses the connection")


async def _read_body(response: httpcore.Response, body: Body) -> None:
    """Read a whole body; raises `FetchFailure` if the connection closes early."""
    size = 0
    try:
        async for chunk in response.aiter_stream():
            size += len(chunk)
            body.add(chunk)
    except (httpcore.ProtocolError, httpcore.NetworkError) as error:
        raise FetchFailure(
            "truncated_body", f"the body ends early after {size:,} bytes: {error or 'closed'}"
        ) from error


def _join_cookies(headers: Iterable[str]) -> str:
    """Join `Cookie` headers; the last of several cookies with the same name wins."""
    pairs = [pair.strip() for header in headers for pair in header.split(";") if pair.strip()]
    return "; ".join({pair.partition("=")[0]: pair for pair in pairs}.values())


def _check_length(headers: Mapping[str, str], limit: int) -> None:
    """Raise if Content-Length exceeds the limit, before the body is read."""
    length = headers.get("content-length", "")
    if length.isdigit() and int(length) > limit:
        raise FetchFailure(
            "page_too_big", f"the body has {int(length):,} bytes; the limit is {limit:,}"
        )


def _retry_after(response: FetchResponse) -> float | None:
    """Parse Retry-After, seconds or a date, into seconds."""
    value = response.headers.get("retry-after", "")
    if value.isdigit():
        return float(value)
    try:
        until = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - datetime.now(UTC)).total_seconds(), 0.0)


def _read_token(response: FetchResponse) -> str:
    try:
        token = msgspec.json.decode(response.body)["access_token"]
    except (msgspec.DecodeError, KeyError, TypeError):
        raise FetchFailure("login_refused", "the response has no `access_token`") from None
    return f"Bearer {token}"


@cache
def _context() -> ssl.SSLContext:
    """Return the shared TLS context: loading the certificates takes 20 ms."""
    return httpcore.default_ssl_context()

"""Request options of a crawler: headers, timeouts, retries, login, and which pages are rendered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.url_patterns import Patterns, read_patterns
from svc_notebook.service.crawl.urls import normalize

DEFAULT_MAX_WAIT_SECONDS = 20.0
# A page must end within the time of a visit, and a crawl has many pages.
MAX_WAIT_SECONDS = 60.0
_RENDERING = "renderJavaScript"


@dataclass(frozen=True)
class Rendering:
    """The pages that a browser renders; `patterns` is None for all of them."""

    patterns: Patterns | None = None
    blocks_ads: bool = False
    min_wait_seconds: float = 0.0
    max_wait_seconds: float = DEFAULT_MAX_WAIT_SECONDS
    scrolls_to_end: bool = False

    def applies(self, url: str) -> bool:
        """Return whether the page at a URL is rendered."""
        return self.patterns is None or self.patterns.match(url)


def read_rendering(given: bool | Sequence[str] | Mapping[str, Any]) -> Rendering | None:
    """Parse `renderJavaScript`; None if no page is rendered."""
    if isinstance(given, bool):
        return Rendering() if given else None
    if not isinstance(given, Mapping):
        return Rendering(read_patterns(given, _RENDERING)) if given else None
    shortest, longest = read_wait_seconds(given, _RENDERING)
    patterns = given.get("patterns")
    if not given["enabled"]:
        return None
    if patterns is not None and not patterns:
        raise BadInput(
            f"`{_RENDERING}.patterns` is empty: list patterns of URLs, or remove it to"
            " render all pages"
        )
    return Rendering(
        None if patterns is None else read_patterns(patterns, f"{_RENDERING}.patterns"),
        given.get("adBlock", False),
        shortest,
        longest,
        given.get("scrollToEnd", False),
    )


def read_wait_seconds(given: Mapping[str, Any], member: str) -> tuple[float, float]:
    """Parse `waitTime`: how long to wait for scripts at least and at most, in seconds."""
    wait = given.get("waitTime", {})
    shortest = wait.get("min", 0) / 1000
    longest = wait.get("max", max(DEFAULT_MAX_WAIT_SECONDS, shortest) * 1000) / 1000
    if longest > MAX_WAIT_SECONDS or shortest > MAX_WAIT_SECONDS:
        limit = f"{MAX_WAIT_SECONDS * 1000:,.0f} milliseconds"
        raise BadInput(f"`{member}.waitTime`: the limit is {limit}")
    if shortest > longest:
        raise BadInput(f"`{member}.waitTime`: `min` is larger than `max`")
    return shortest, longest


_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True)
class Requests:
    """The options of page requests; `timeout` in seconds."""

    timeout: float = 30.0
    retries: int = 3
    headers: Mapping[str, str] = field(default_factory=dict)
    proxy: str | None = None
    proxy_login: tuple[str, str] | None = None


@dataclass(frozen=True)
class LoginRequest:
    """The login request; with `token` its response provides the `Authorization` header."""

    url: str
    method: str
    headers: Mapping[str, str]
    body: str
    timeout: float
    token: bool = False


@dataclass(frozen=True)
class BrowserLogin:
    """A login with a browser: the page of the form, and what is entered there."""

    url: str
    username: str
    password: str = field(repr=False)
    min_wait_seconds: float
    max_wait_seconds: float


def read_requests(options: Mapping[str, Any]) -> Requests:
    """Parse `requestOptions`."""
    return Requests(
        timeout=options.get("timeout", 30_000) / 1000,
        retries=options.get("retries", 3),
        headers=_read_headers(options.get("headers", {}), "requestOptions.headers"),
        **_read_proxy(options.get("proxy", "")),
    )


def _read_proxy(written: str) -> dict[str, Any]:
    """Parse a proxy URL, which may contain a user name and password."""
    if not written:
        return {}
    before, at, address = written.rpartition("@")
    scheme, _, login = before.partition("://")
    url = read_url(f"{scheme}://{address}" if at else written, "requestOptions.proxy")
    name, _, password = login.partition(":")
    return {"proxy": url, "proxy_login": (unquote(name), unquote(password)) if at else None}


def _read_headers(headers: Mapping[str, str], name: str) -> dict[str, str]:
    for header, value in headers.items():
        if not _HEADER.fullmatch(header):
            raise BadInput(f"`{name}`: `{header}` cannot be a header's name")
        if not all(" " <= sign <= "~" or sign == "\t" for sign in value):
            raise BadInput(f"`{name}.{header}`: a header is ASCII text on one line")
        if header.lower() in ("host", "content-length", "transfer-encoding", "connection"):
            raise BadInput(f"`{name}.{header}` is set by the crawler; remove it")
    return dict(headers)


def read_login(login: Mapping[str, Any]) -> LoginRequest | BrowserLogin | None:
    """Parse `login`; None if it is empty."""
    if len(login) > 1:
        raise BadInput(
            "`login`: give one of fetchRequest, browserRequest and oauthRequest, not several"
        )
    if browser := login.get("browserRequest"):
        return _read_browser_login(browser)
    if fetch := login.get("fetchRequest"):
        return _read_fetch_login(fetch)
    if oauth := login.get("oauthRequest"):
        return _read_token_login(oauth["accessTokenRequest"])
    return None


def _read_fetch_login(fetch: Mapping[str, Any]) -> LoginRequest:
    options = fetch.get("requestOptions", {})
    headers = _read_headers(options.get("headers", {}), "login.fetchRequest.requestOptions.headers")
    if options.get("body") and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    return LoginRequest(
        url=read_url(fetch["url"], "login.fetchRequest.url"),
        method=options.get("method", "GET"),
        headers=headers,
        body=options.get("body", ""),
        timeout=options.get("timeout", 30_000) / 1000,
    )


def _read_browser_login(request: Mapping[str, Any]) -> BrowserLogin:
    member = "login.browserRequest"
    return BrowserLogin(
        read_url(request["url"], f"{member}.url"),
        request["username"],
        request["password"],
        *read_wait_seconds(request, member),
    )


def _read_token_login(request: Mapping[str, Any]) -> LoginRequest:
    form = {
        "grant_type": request["grantType"],
        "client_id": request["clientId"],
        "client_secret": request["clientSecret"],
        **({"scope": request["scope"]} if request.get("scope") else {}),
        **request.get("extraParameters", {}),
    }
    return LoginRequest(
        url=read_url(request["url"], "login.oauthRequest.accessTokenRequest.url"),
        method="POST",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        body=urlencode(form),
        timeout=30.0,
        token=True,
    )


def read_url(url: str, name: str) -> str:
    """Return the normalized URL; raises `BadInput` if it cannot be fetched."""
    spelled = normalize(url)
    if spelled is None:
        raise BadInput(f"`{name}`: `{url[:200]}` is not a URL that begins with http:// or https://")
    if "@" in urlsplit(url.strip()).netloc:
        raise BadInput(
            f"`{name}` contains a password; put it into `requestOptions.headers.Authorization`"
        )
    return spelled

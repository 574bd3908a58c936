"""Requests of rendered pages: what is not loaded, and who may read the responses (CORS)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from svc_notebook.service.crawl.urls import origin

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

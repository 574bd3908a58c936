"""What a rendered page does not load: types of resources, trackers and advertisements."""

from __future__ import annotations

from urllib.parse import urlsplit

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


def is_blocked(url: str, *, blocks_ads: bool) -> bool:
    """Return whether a URL is of a tracker, or of an advertiser if these are blocked."""
    names = (urlsplit(url).hostname or "").split(".")
    suffixes = {".".join(names[at:]) for at in range(len(names))}
    return bool(suffixes & TRACKERS) or (blocks_ads and bool(suffixes & ADVERTISERS))

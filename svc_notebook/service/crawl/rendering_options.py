"""Rendering options of a crawler: which pages a browser renders, and how long it waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from svc_notebook.errors import BadInput
from svc_notebook.service.crawl.url_patterns import Patterns, read_patterns

DEFAULT_MAX_WAIT_SECONDS = 20.0
# A page must end within the time of a visit, and a crawl has many pages.
MAX_WAIT_SECONDS = 60.0
_MEMBER = "renderJavaScript"


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
        return Rendering(read_patterns(given, _MEMBER)) if given else None
    shortest, longest = read_wait_seconds(given, _MEMBER)
    patterns = given.get("patterns")
    if not given["enabled"]:
        return None
    if patterns is not None and not patterns:
        raise BadInput(
            f"`{_MEMBER}.patterns` is empty: list patterns of URLs, or remove it to"
            " render all pages"
        )
    return Rendering(
        None if patterns is None else read_patterns(patterns, f"{_MEMBER}.patterns"),
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

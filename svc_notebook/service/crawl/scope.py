"""Which URLs a configuration crawls, and which of its actions process a page."""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

from svc_notebook.service.crawl.configuration import Action, Configuration
from svc_notebook.service.crawl.urls import path_depth

# Pages of a site link to the same URLs repeatedly, and matching patterns is slow.
MAX_CACHED_URLS = 10_000


class Scope:
    """Which URLs belong to a crawl."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration
        self._hosts = configuration.hosts
        self._discovery = (
            configuration.discovery,
            *(action.discovery for action in configuration.actions),
        )
        self.actions = lru_cache(MAX_CACHED_URLS)(self._find_actions)
        self.excludes = lru_cache(MAX_CACHED_URLS)(self._find_exclusion)

    def takes(self, url: str, *, seed: bool = False) -> bool:
        """Return whether a found URL is visited; seeds may be deeper than `maxDepth`."""
        return (
            not self.excludes(url)
            and (seed or self._is_shallow(url))
            and (bool(self.actions(url)) or self._is_discovered(url))
        )

    def _find_exclusion(self, url: str) -> bool:
        """Return whether a URL matches an exclusion pattern."""
        return self._configuration.exclusions.match(url)

    def belongs(self, url: str) -> bool:
        """Return whether a URL is on the site: a start host, or matched by a pattern."""
        return (
            urlsplit(url).netloc in self._hosts
            or bool(self.actions(url))
            or self._is_discovered(url)
        )

    def _find_actions(self, url: str) -> tuple[tuple[int, Action], ...]:
        """Return the actions whose paths match a URL, with their indexes."""
        return tuple(
            (place, action)
            for place, action in enumerate(self._configuration.actions)
            if (
                urlsplit(url).netloc in self._hosts
                if action.paths is None
                else action.paths.match(url)
            )
        )

    def _is_shallow(self, url: str) -> bool:
        depth = self._configuration.max_depth
        return depth is None or path_depth(url) <= depth

    def _is_discovered(self, url: str) -> bool:
        return any(patterns.match(url) for patterns in self._discovery)

"""Which links of a page a crawl follows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from svc_notebook.service.crawl.configuration import Action, Configuration
from svc_notebook.service.crawl.urls import path_depth

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extraction import Document, Extractors


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

    def includes(self, url: str, *, seed: bool = False) -> bool:
        """Return whether a found URL is visited; seeds may be deeper than `maxDepth`."""
        return (
            not self.excludes(url)
            and (seed or self._is_shallow(url))
            and (bool(self.actions(url)) or self._is_discovered(url))
        )

    def _find_exclusion(self, url: str) -> bool:
        """Return whether a URL matches an exclusion pattern."""
        return self._configuration.exclusions.match(url)

    def is_on_site(self, url: str) -> bool:
        """Return whether a URL is on the site: a start host, or matched by a pattern."""
        return (
            urlsplit(url).netloc in self._hosts
            or bool(self.actions(url))
            or self._is_discovered(url)
        )

    def _find_actions(self, url: str) -> tuple[tuple[int, Action], ...]:
        """Return the actions whose paths match a URL, with their indexes."""
        return tuple(
            (number, action)
            for number, action in enumerate(self._configuration.actions)
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


# Maximum links followed per page; pages with more are machine-generated.
MAX_LINKS_PER_PAGE = 10_000


class LinkPolicy:
    """The links that a configuration follows."""

    def __init__(self, configuration: Configuration, scope: Scope) -> None:
        self._configuration = configuration
        self._scope = scope

    def links_of(self, document: Document, extractors: Extractors) -> tuple[str, ...]:
        """Return the URLs to visit next, from `linkExtractor` if the configuration has one."""
        configuration = self._configuration
        if "nofollow" in document.robots and not configuration.ignores_nofollow:
            return ()
        if configuration.link_extractor:
            urls = extractors.links(document, configuration.link_extractor)
            return self.within_crawl(urls, document.url)
        ignored_kinds = ("next", "prev") if configuration.ignores_pagination else ()
        links = (
            link.url
            for link in document.links
            if link.kind not in ignored_kinds
            and (configuration.ignores_nofollow or not link.nofollow)
        )
        return self.within_crawl(links, document.url)

    def canonical(self, document: Document) -> str | None:
        """Return the canonical URL of a page if it is another URL and not ignored."""
        ignored = self._configuration.ignores_canonical
        if document.canonical is None or ignored is True:
            return None
        normalized = self.normalize(document.canonical, document.url)
        if normalized is None or normalized == document.url:
            return None
        return None if ignored and ignored.match(normalized) else normalized

    def within_crawl(
        self,
        urls: Iterable[str],
        base: str,
        *,
        seed: bool = False,
        max_links: int = MAX_LINKS_PER_PAGE,
    ) -> tuple[str, ...]:
        """Normalize found URLs, without duplicates, and keep those within the crawl."""
        normalized = dict.fromkeys(
            url for url in (self.normalize(url, base) for url in urls) if url
        )
        kept = (url for url in normalized if url != base and self._scope.includes(url, seed=seed))
        return tuple(islice(kept, max_links))

    def normalize(self, url: str, base: str) -> str | None:
        """Normalize one found URL."""
        return self._configuration.url_normalizer.normalize_found(url, base)

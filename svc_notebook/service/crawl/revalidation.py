"""Revalidation: what the next crawl needs to skip a page that has not changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import msgspec

from svc_notebook.service.crawl.configuration import Configuration
from svc_notebook.service.crawl.external_data import Row
from svc_notebook.service.crawl.link_policy import Scope
from svc_notebook.service.crawl.outcomes import ActionResult, Remembered
from svc_notebook.service.crawl.transport.fetcher import FetchResponse


class Revalidation:
    """Decides whether the results of an earlier crawl are still valid."""

    def __init__(self, configuration: Configuration, scope: Scope) -> None:
        self._configuration = configuration
        self._scope = scope

    def usable(
        self, url: str, remembered: Remembered | None, rows: Mapping[str, Row]
    ) -> Remembered | None:
        """Return what is remembered of a page if its records would be the same today."""
        is_valid = (
            remembered is not None
            and remembered.fingerprint == self._fingerprint(rows)
            and all(action.caches for _, action in self._scope.actions(url))
        )
        return remembered if is_valid else None

    def keep(
        self,
        response: FetchResponse,
        rows: Mapping[str, Row],
        yielded: tuple[ActionResult, ...],
        links: tuple[str, ...],
    ) -> Remembered | None:
        """Return what the next crawl needs if the response has an ETag or Last-Modified header."""
        values = (response.headers.get(name, "") for name in ("etag", "last-modified"))
        # Non-ASCII values cannot be sent in a request.
        etag, modified = (value if value.isascii() else "" for value in values)
        if not etag and not modified:
            return None
        return Remembered(etag or None, modified or None, self._fingerprint(rows), links, yielded)

    def _fingerprint(self, rows: Mapping[str, Row]) -> str:
        """Return a hash of everything besides the page that affects its records."""
        if not any(rows.values()):
            return self._configuration.fingerprint
        text = self._configuration.fingerprint.encode() + msgspec.json.encode(rows, order="sorted")
        return hashlib.sha256(text).hexdigest()


def conditional_headers(remembered: Remembered | None) -> dict[str, str]:
    """Return the headers of a conditional request."""
    if remembered is None:
        return {}
    headers = {"If-None-Match": remembered.etag, "If-Modified-Since": remembered.modified}
    return {name: value for name, value in headers.items() if value}

"""The results of a page: its records with objectIDs, and what the next crawl needs to keep them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from svc_notebook.service.crawl.configuration import Action, Configuration
from svc_notebook.service.crawl.external_data import Row
from svc_notebook.service.crawl.link_policy import Scope
from svc_notebook.service.crawl.transport.fetcher import FetchResponse
from svc_notebook.service.crawl.visits import ActionResult, FetchFailure, Remembered

# As compact JSON; the service's limit for any record.
MAX_RECORD_BYTES = 100_000
# Duplicate objectIDs listed in a message.
MAX_NAMED_IDS = 5


def name_records(
    yields: Sequence[ActionResult], actions: Sequence[Action], url: str
) -> tuple[ActionResult, ...]:
    """Validate the records of a page and add missing objectIDs; raises `FetchFailure`.

    A generated objectID consists of the page's URL and the record's number among those of the page
    in the same index, so that the next crawl generates the same ones.
    """
    counts: dict[str, int] = {}
    named = []
    for yielded in yields:
        records = []
        for record in yielded.records:
            number = counts[yielded.index] = counts.get(yielded.index, -1) + 1
            records.append(_name(record, actions[yielded.action], url, number))
        named.append(replace(yielded, records=records))
    return tuple(named)


def find_duplicates(yields: Sequence[ActionResult]) -> str:
    """Return a message about records replaced by later ones of the page, empty if none is.

    Records that are equal in every member count as one.
    """
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    lost: dict[str, int] = {}
    for yielded in yields:
        for record in yielded.records:
            before = kept.setdefault((yielded.index, record["objectID"]), record)
            if before != record:
                lost[record["objectID"]] = lost.get(record["objectID"], 0) + 1
                kept[yielded.index, record["objectID"]] = record
    if not lost:
        return ""
    named = ", ".join(f"`{object_id}`" for object_id in list(lost)[:MAX_NAMED_IDS])
    more = f" and {len(lost) - MAX_NAMED_IDS} more" if len(lost) > MAX_NAMED_IDS else ""
    records = sum(len(result.records) for result in yields)
    return (
        f"{sum(lost.values())} of {records} records were replaced"
        f" by a later one of the page with the same objectID: {named}{more}"
    )


def _name(record: dict[str, Any], action: Action, url: str, number: int) -> dict[str, Any]:
    object_id = record.get("objectID")
    if object_id in (None, ""):
        if not action.makes_ids:
            raise FetchFailure(
                "missing_object_id",
                f"record {number} has no objectID, and `autoGenerateObjectIDs` is off",
            )
        object_id = f"{number}-{url}"
    elif isinstance(object_id, bool) or not isinstance(object_id, (str, int)):
        raise FetchFailure(
            "invalid_object_id", f"the objectID of record {number} is neither text nor a number"
        )
    named = {**record, "objectID": str(object_id)}
    _check_size(named, number)
    return named


def _check_size(record: dict[str, Any], number: int) -> None:
    try:
        size = len(msgspec.json.encode(record))
    except (TypeError, ValueError, RecursionError, OverflowError) as error:
        raise FetchFailure(
            "invalid_record", f"record {number} is not valid JSON: {error}"
        ) from None
    if size > MAX_RECORD_BYTES:
        raise FetchFailure(
            "record_too_big",
            f"record {number} has {size:,} bytes; the limit is {MAX_RECORD_BYTES:,}",
        )


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

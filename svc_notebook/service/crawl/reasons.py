"""How visits can end: each reason with its status, its category and a sentence for people.

Failures have reasons of their own besides (`failure.py`): `http_404`, `timeout`, `dns_error`.
"""

from __future__ import annotations

from http import HTTPStatus

from svc_notebook.service.crawl.failure import Failure
from svc_notebook.service.crawl.outcome import Category, Status

REASONS: dict[str, tuple[Status, Category, str]] = {
    "success": ("DONE", "success", "The page was read and gave records"),
    "not_modified": ("DONE", "success", "The page has not changed: its records stay"),
    "duplicate_object_id": (
        "DONE",
        "indexing",
        "Records of the page share an objectID: the last of them was kept",
    ),
    "sitemap": ("DONE", "success", "The sitemap was read"),
    "excluded": ("SKIPPED", "fetch", "An exclusion pattern holds the URL"),
    "forbidden_by_robotstxt": ("SKIPPED", "fetch", "The site's robots.txt forbids the URL"),
    "http_redirect": ("SKIPPED", "fetch", "The URL leads on to another one"),
    "unsupported_file_type": ("SKIPPED", "fetch", "No action reads files of this type"),
    "canonical": ("SKIPPED", "extraction", "The page names another URL as its canonical one"),
    "noindex": ("SKIPPED", "extraction", "The page asks not to be indexed"),
    "no_action_matched": ("SKIPPED", "extraction", "The page was visited for its links only"),
    "selectors_not_matched": ("SKIPPED", "extraction", "No action's selectors match the page"),
    "no_records": ("SKIPPED", "extraction", "The extractors made no record of the page"),
}


# What each failure says of every URL that ended by it; a URL's own message says more.
FAILURES: dict[str, str] = {
    "broken_file": "The file is broken",
    "connection_refused": "The host does not accept a connection",
    "dns_error": "The host's name is not known",
    "extractor_error": "An extractor failed on the page",
    "internal_error": "The crawler itself failed",
    "invalid_body": "The body cannot be unpacked",
    "invalid_object_id": "The objectID of a record is neither text nor a number",
    "invalid_record": "A record cannot be stored",
    "invalid_sitemap": "It is not a sitemap",
    "login_refused": "The login did not work",
    "missing_object_id": "A record has no objectID",
    "network_error": "The connection failed",
    "page_too_big": "The body is larger than a page may be",
    "private_address": "The host is on this machine or its network",
    "protected": "The file is protected by a password",
    "reading_timed_out": "Reading the page took too long",
    "record_too_big": "A record is larger than an index takes",
    "robotstxt_unavailable": "The site's robots.txt cannot be read",
    "timeout": "The whole answer did not arrive in time",
    "tls_error": "The host has no valid certificate",
    "too_large": "Reading the page took too much memory",
    "too_many_redirects": "Too many redirects, one after another",
    "truncated_body": "The body breaks off before its end",
    "unsupported_encoding": "The body is encoded in a way that is not read",
    "unsupported_file_format": "Files of this format cannot be read",
}


def describe_reason(reason: str) -> str:
    """Say what a reason means for every URL that ended by it."""
    if reason in REASONS:
        return REASONS[reason][2]
    if reason.startswith("http_") and reason[5:].isdigit():
        return refuse_status(int(reason[5:])).readable
    return FAILURES.get(reason, reason.replace("_", " "))


def refuse_status(status: int) -> Failure:
    """Make the failure of a status that brings no page."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "unknown"
    return Failure(f"http_{status}", f"The server answers {status} ({phrase})")

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


def refuse_status(status: int) -> Failure:
    """Make the failure of a status that brings no page."""
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "unknown"
    return Failure(f"http_{status}", f"The server answers {status} ({phrase})")

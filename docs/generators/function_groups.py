"""The public functions by the job that they are for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

# A page and its title, with the modules whose functions it describes. The first match counts.
PAGES = {
    "connection": (
        "Connections",
        (
            "functions.connection",
            "functions.endpoint_calls",
            "functions.paths",
            "functions.tutorials",
            "session.",
        ),
    ),
    "searches": (
        "Searches and reads",
        (
            "functions.search",
            "functions.browse",
            "functions.hit_renderer",
            "functions.explanation",
            "functions.why",
            "functions.polars_frames",
        ),
    ),
    "loads": (
        "Loads and exports",
        ("functions.loads", "functions.load_history", "functions.records", "samples"),
    ),
    "indices": ("Indices and settings", ("functions.indices", "functions.settings")),
    "deployment": (
        "Between services",
        ("functions.transfers", "functions.configuration_files"),
    ),
    "curation": (
        "Synonyms, rules and dictionaries",
        ("functions.synonyms", "functions.rules", "functions.dictionaries", "functions.pins"),
    ),
    "keys": (
        "Keys, users and sources",
        ("functions.keys", "functions.secured_keys", "functions.users", "functions.sources"),
    ),
    "operation": (
        "Tasks, logs, events and plots",
        (
            "functions.tasks",
            "functions.logs",
            "functions.analytics",
            "functions.suggestions",
            "functions.ab_tests",
            "functions.overview",
            "functions.events",
            "functions.plots",
            "functions.task_plot",
        ),
    ),
    "crawlers": ("Crawlers", ("functions.crawlers", "functions.crawls")),
    "judgments": ("Judgments and queries", ("tuning.tables.", "tuning.evaluation.rater")),
    "evaluation": (
        "Runs, metrics and comparisons",
        ("tuning.evaluation.", "tuning.interleaving.", "tuning.plots.", "tuning.html_report."),
    ),
    "changes": (
        "Changes and variants",
        ("tuning.changes.", "tuning.variants.", "tuning.diagnosis.", "tuning.sugg"),
    ),
    "clicks": ("Clicks", ("tuning.clicks.",)),
    "editors": ("Editors", ("editors.",)),
}
APART = {"export": "loads"}  # functions that are described away from their module's others


def find_page(function: Callable[..., Any]) -> str:
    """Return the page of a function by the module that defines it."""
    if function.__name__ in APART:
        return APART[function.__name__]
    module = inspect.unwrap(function).__module__.removeprefix("svc_notebook.")
    for page, (_, prefixes) in PAGES.items():
        if any(module.startswith(prefix) for prefix in prefixes):
            return page
    raise LookupError(f"{module} has no page; add it to PAGES in {__name__}")

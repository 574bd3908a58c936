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
            "faces.functions.connection",
            "faces.functions.endpoint_calls",
            "faces.functions.paths",
            "faces.functions.tutorials",
            "data.session.",
        ),
    ),
    "searches": (
        "Searches and reads",
        (
            "faces.functions.search",
            "faces.functions.browse",
            "faces.functions.hit_renderer",
            "faces.functions.explanation",
            "faces.functions.why",
            "faces.functions.polars_frames",
        ),
    ),
    "loads": (
        "Loads and exports",
        (
            "faces.functions.loads",
            "faces.functions.load_history",
            "faces.functions.records",
            "samples",
        ),
    ),
    "indices": ("Indices and settings", ("faces.functions.indices", "faces.functions.settings")),
    "deployment": (
        "Between services",
        ("faces.functions.transfers", "faces.functions.configuration_files"),
    ),
    "curation": (
        "Synonyms, rules and dictionaries",
        (
            "faces.functions.synonyms",
            "faces.functions.rules",
            "faces.functions.dictionaries",
            "faces.functions.pins",
        ),
    ),
    "keys": (
        "Keys, users and sources",
        (
            "faces.functions.keys",
            "faces.functions.secured_keys",
            "faces.functions.users",
            "faces.functions.sources",
        ),
    ),
    "operation": (
        "Tasks, logs, events and plots",
        (
            "faces.functions.tasks",
            "faces.functions.logs",
            "faces.functions.analytics",
            "faces.functions.suggestions",
            "faces.functions.ab_tests",
            "faces.functions.overview",
            "faces.functions.events",
            "faces.functions.plots",
            "faces.functions.task_plot",
        ),
    ),
    "crawlers": ("Crawlers", ("faces.functions.crawlers", "faces.functions.crawls")),
    "judgments": ("Judgments and queries", ("tuning.tables.", "tuning.evaluation.rater")),
    "evaluation": (
        "Runs, metrics and comparisons",
        ("tuning.evaluation.", "tuning.interleaving.", "tuning.plots.", "tuning.html_report."),
    ),
    "changes": (
        "Changes and variants",
        (
            "tuning.changes.",
            "tuning.proposed_changes.",
            "tuning.variants.",
            "tuning.diagnosis.",
            "tuning.sugg",
        ),
    ),
    "clicks": ("Clicks", ("tuning.clicks.",)),
    "editors": ("Editors", ("faces.editors.",)),
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

"""The tools that a server offers."""

from __future__ import annotations

from typing import Any

from pandas import DataFrame

from svc_notebook.faces.agents.planned_changes import PlannedChanges
from svc_notebook.faces.agents.tool import PARAMS, Tool
from svc_notebook.faces.commands.verb import Option
from svc_notebook.faces.functions.analytics import (
    read_no_clicks,
    read_no_results,
    read_top_searches,
)
from svc_notebook.faces.functions.browse import read_records
from svc_notebook.faces.functions.crawls import read_crawled_urls, read_crawlers
from svc_notebook.faces.functions.evaluation import compare
from svc_notebook.faces.functions.explanation import explain, why
from svc_notebook.faces.functions.indices import read_indices
from svc_notebook.faces.functions.keys import whoami
from svc_notebook.faces.functions.logs import read_logs
from svc_notebook.faces.functions.overview import overview
from svc_notebook.faces.functions.rules import read_rules
from svc_notebook.faces.functions.search import facets_or_values, search
from svc_notebook.faces.functions.settings import read_settings
from svc_notebook.faces.functions.synonyms import read_synonyms
from svc_notebook.faces.functions.tasks import read_writes
from svc_notebook.faces.functions.transfers import deploy
from svc_notebook.tuning.changes import history, undo
from svc_notebook.tuning.diagnosis import diagnose
from svc_notebook.tuning.evaluation import measure
from svc_notebook.tuning.html_report import preview
from svc_notebook.tuning.proposed_changes import impact
from svc_notebook.tuning.suggestions import suggest_synonyms

DIAGNOSIS_SEARCHES = 500  # budget of a diagnosis, unless the agent sets another one
# Tools whose results are kept as reports.
REPORTED = ("evaluate", "compare", "diagnose", "impact", "preview", "suggest_synonyms")


def list_tools(
    judgments: DataFrame | None, planned: PlannedChanges, *, allow_writes: bool
) -> dict[str, Tool]:
    """Return the tools by name: those that read, and with `allow_writes` those that plan."""
    filled: dict[str, Any] = {} if judgments is None else {"judgments": judgments}
    tools = [*_list_readers(), *_list_measurements(filled)]
    if allow_writes:
        tools += _list_planners(planned, filled)
    else:
        tools.append(
            Tool(
                "plan_deployment", deploy, ("index", "to", "name"), required=("index", "to"),
                fixed={"dry_run": True},
                summary="Show what a deployment of the settings, synonyms and rules of an index "
                "to the service of another profile would write; nothing is written.",
            )
        )  # fmt: skip
    return {tool.name: tool for tool in tools}


def _list_readers() -> list[Tool]:
    return [
        Tool("read_indices", read_indices),
        Tool("search", search, ("index", "query", "columns", PARAMS), spread=True),
        Tool("explain", explain, ("index", "query", PARAMS), spread=True),
        Tool("why", why, ("index", "query", PARAMS), spread=True),
        Tool(
            "count_facets", facets_or_values, ("index", "query", PARAMS), spread=True,
            summary="Count the values of the facets that `params` names in `facets`, among the "
            "hits of a search; ['*'] names all.",
        ),
        Tool("read_records", read_records, ("index", "ids", "columns")),
        Tool("read_settings", read_settings, ("index",)),
        Tool("read_synonyms", read_synonyms, ("index", "query", "type")),
        Tool("read_rules", read_rules, ("index", "query", "context", "enabled")),
        Tool("read_history", history, ("index",)),
        Tool("read_logs", read_logs, ("limit",)),
        Tool("read_tasks", read_writes, ("index", "limit")),
        Tool("read_top_searches", read_top_searches, ("index", "since", "until", "limit")),
        Tool("read_no_results", read_no_results, ("index", "since", "until", "limit")),
        Tool("read_no_clicks", read_no_clicks, ("index", "since", "until", "limit")),
        Tool("overview", overview),
        Tool("read_crawlers", read_crawlers),
        Tool("read_crawled_urls", read_crawled_urls, ("crawlers", "status", "reason", "limit")),
        Tool("whoami", whoami),
    ]  # fmt: skip


def _list_measurements(filled: dict[str, Any]) -> list[Tool]:
    return [
        Tool(
            "evaluate", measure, ("index", "judgments", "metrics", "k", PARAMS), filled=filled
        ),
        Tool(
            "compare",
            compare,
            ("index", "other", "judgments", "metrics", "k"),
            required=("judgments",),
            filled=filled,
        ),
        Tool(
            "diagnose", diagnose, ("index", "judgments", "metric", "budget"),
            filled={"budget": DIAGNOSIS_SEARCHES, **filled},
        ),
        Tool("impact", impact, ("index", "change", "queries", "judgments"), filled=filled),
        Tool("preview", preview, ("index", "change", "top")),
        Tool(
            "suggest_synonyms", suggest_synonyms, ("index", "queries", "judgments"), filled=filled
        ),
    ]  # fmt: skip


def _list_planners(planned: PlannedChanges, filled: dict[str, Any]) -> list[Tool]:
    token = Option("token", "Token of the plan", required=True, positional=True)
    return [
        Tool(
            "plan_change", impact, ("index", "change", "queries", "judgments"),
            perform=planned.plan_change, filled=filled,
            summary="Plan a change of settings, synonyms and rules of an index: what it changes, "
            "its impact on queries or judgments, and a token for `apply_plan`.",
        ),
        Tool(
            "plan_undo", undo, ("index", "change_id"), perform=planned.plan_undo,
            summary="Plan the undo of a change of an index, and return a token for `apply_plan`.",
        ),
        Tool(
            "plan_deployment", deploy, ("index", "to", "name"), required=("index", "to"),
            perform=planned.plan_deployment,
            summary="Plan a deployment of the settings, synonyms and rules of an index to the "
            "service of another profile, and return a token for `apply_plan`.",
        ),
        Tool(
            "apply_plan", planned.apply_plan, is_read=False, perform=planned.apply_plan,
            described=(token,),
            summary="Apply a planned change as it was planned. The change is in the journal, and "
            "`plan_undo` reverts it.",
        ),
    ]  # fmt: skip

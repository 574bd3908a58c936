"""The tools that a server offers, each a declared function.

A tool has a JSON schema, checked arguments, a call and an answer. Answers are rows and texts with a
limited number of characters.
"""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec
from pandas import DataFrame

from svc_notebook.core.api.validation import check_value
from svc_notebook.core.display import format_count
from svc_notebook.data.declarations import read_entries
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.faces.agents.planned_changes import PlannedChanges
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
from svc_notebook.faces.functions.output import with_unique_columns
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
Rows = list[dict[str, Any]]
# Tables of the agent are rows: a tool reads no file of the machine.
TYPES: dict[str, Any] = {
    "judgments": Rows,
    "queries": list[str],
    "change": dict[str, Any],
    "metrics": list[str],
    "params": dict[str, Any],
    "ids": list[str],
    "columns": list[str],
    "crawlers": list[str],
    "since": str,
    "until": str,
}
HELP = {
    "judgments": "Rows with the members `query`, `objectID` and `rating`; if omitted, those of "
    "the file that the server was started with",
    "queries": "Texts of queries",
    "params": "Search parameters, such as {'filters': 'brand:Acme', 'hitsPerPage': 5}; the "
    "resource svc://parameters lists them",
    "metrics": "Metrics, such as ndcg@10",
}
PARAMS = "params"
MAX_ANSWER_CHARACTERS = 20_000
MAX_CELL_CHARACTERS = 2_000
# Members of `attrs["svc"]` that a reader of the rows needs.
FACTS = ("nbHits", "message", "missing", "absent", "change_id", "request", "code")


@dataclass(frozen=True)
class Tool:
    """A function that an agent can call, with those of its parameters that are offered.

    `spread` says that `params` holds what the function takes as further keywords; `filled` are
    parameters that the server fills if the agent omits them, and `fixed` those of every call.
    `perform` is called in place of the function whose parameters it takes; `required` are those
    that it needs and the function does not.
    """

    name: str
    function: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    spread: bool = False
    required: tuple[str, ...] = ()
    summary: str = ""
    is_read: bool = True
    filled: Mapping[str, Any] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    perform: Callable[..., Any] | None = None
    described: tuple[Option, ...] = ()

    @cached_property
    def options(self) -> dict[str, Option]:
        """The parameters by name, with types and descriptions of the function's declaration."""
        if self.described:
            return {option.parameter: option for option in self.described}
        if not self.spread:
            return self._read_declaration(self.parameters)
        options = self._read_declaration(name for name in self.parameters if name != PARAMS)
        return {**options, PARAMS: Option(PARAMS, HELP[PARAMS], dict[str, Any])}

    def _read_declaration(self, names: Iterable[str]) -> dict[str, Option]:
        entries = read_entries(inspect.getdoc(self.function) or "")
        signature = inspect.signature(self.function).parameters
        kinds = get_type_hints(inspect.unwrap(self.function), include_extras=True)
        return {
            name: Option(
                name,
                HELP.get(name) or entries[name].text,
                TYPES.get(name) or plain_type(kinds[name]),
                required=name in self.required or signature[name].default is Parameter.empty,
            )
            for name in names
        }

    @property
    def description(self) -> str:
        """The first paragraph of the function's docstring, unless the tool has its own."""
        doc = inspect.getdoc(self.function) or ""
        return self.summary or " ".join(doc.partition("\n\nParameters\n")[0].split())

    @property
    def input_schema(self) -> dict[str, Any]:
        """The parameters as a JSON schema."""
        members = {
            name: {**msgspec.json.schema(option.type), "description": option.help}
            for name, option in self.options.items()
        }
        required = [
            name
            for name, option in self.options.items()
            if option.required and name not in self.filled
        ]
        return {
            "type": "object", "properties": members, "required": required,
            "additionalProperties": False,
        }  # fmt: skip

    def check(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the function; raise `BadInput` for wrong ones."""
        given = {name: value for name, value in arguments.items() if value is not None}
        for name in given:
            if name not in self.options:
                raise BadInput(
                    f"`{self.name}` has no argument `{name}`{_advise(name, list(self.options))}"
                )
            check_value(given[name], self.options[name].type, name)
        given = {**self.filled, **given}
        for name, option in self.options.items():
            if option.required and name not in given:
                raise BadInput(f"`{self.name}` needs `{name}`: {option.help}")
        params = given.pop(PARAMS, {}) if self.spread else {}
        if clash := params.keys() & (given.keys() | {"client", *self.fixed}):
            raise BadInput(f"`params` cannot contain `{min(clash)}`; it is no search parameter")
        return {**params, **given, **self.fixed}

    async def call(self, arguments: Mapping[str, Any], **context: Any) -> Any:
        """Call the function with checked arguments, and with what it takes of the context.

        A coroutine ends with its task; another function runs in a thread.
        """
        called = self.perform or self.function
        taken = inspect.signature(called).parameters
        context = {name: value for name, value in context.items() if name in taken}
        if inspect.iscoroutinefunction(called):
            return await called(**arguments, **context)
        return await asyncio.to_thread(called, **arguments, **context)


def plain_type(kind: Any) -> Any:
    """Return the type of a parameter as values of JSON have it: without None, and one of several.

    A table and a path have no such type; `TYPES` has those of the parameters that are tables.
    """
    if get_origin(kind) is Annotated:
        return plain_type(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return plain_type(next(member for member in get_args(kind) if member is not type(None)))
    return kind


def _advise(name: str, names: Sequence[str]) -> str:
    return did_you_mean(name, names) or f"; it takes {', '.join(names) or 'none'}"


def shape_answer(value: Any, limit: int = MAX_ANSWER_CHARACTERS) -> dict[str, Any]:
    """Return a result as an object of JSON, cut to this number of characters.

    A DataFrame becomes `rows`, `total` and `left_out`; other results become `summary`, with their
    tables as members of the same form.
    """
    if isinstance(value, DataFrame):
        return _shape_frame(value, limit)
    if isinstance(value, Mapping):
        return _shape_mapping(value, limit)
    answer: dict[str, Any] = {"summary": _cut(str(value), limit // 2)}
    tables = _list_tables(value)
    for name, table in tables:
        answer[name] = _shape_frame(table, limit // 2 // len(tables))
    return answer


def _list_tables(value: Any) -> list[tuple[str, DataFrame]]:
    """Return the tables of a result that are members, except runs, which have a row per hit."""
    if not dataclasses.is_dataclass(value):
        return []
    names = dict.fromkeys([*(item.name for item in dataclasses.fields(value)), "queries"])
    tables = ((name, getattr(value, name, None)) for name in names)
    return [
        (name, table)
        for name, table in tables
        if isinstance(table, DataFrame) and name not in ("before", "after")
    ]


def _shape_frame(frame: DataFrame, limit: int) -> dict[str, Any]:
    named = frame if frame.index.name is None else frame.reset_index()
    rows = _cut_rows(_read_rows(named), limit)
    answer: dict[str, Any] = {"rows": rows, "total": len(frame)}
    if len(rows) < len(frame):
        answer["left_out"] = (
            f"{format_count(len(frame) - len(rows), 'row')}: ask for fewer columns or rows"
        )
    facts = frame.attrs.get("svc", {})
    return answer | {name: facts[name] for name in FACTS if facts.get(name)}


def _read_rows(frame: DataFrame) -> Iterable[dict[str, Any]]:
    text = with_unique_columns(frame).to_json(orient="records", date_format="iso")
    rows: list[dict[str, Any]] = msgspec.json.decode(text)
    # A record without an attribute and one with `null` look the same in a table.
    return ({k: v for k, v in row.items() if v is not None} for row in rows)


def _cut_rows(rows: Iterable[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    shown: list[dict[str, Any]] = []
    for row in rows:
        cut = {name: _cut_value(value) for name, value in row.items()}
        limit -= len(msgspec.json.encode(cut))
        if limit < 0 and shown:
            break
        shown.append(cut)
    return shown


def _shape_mapping(value: Mapping[str, Any], limit: int) -> dict[str, Any]:
    members = msgspec.json.decode(msgspec.json.encode(dict(value), enc_hook=str))
    [shown] = _cut_rows([members], limit)
    if len(msgspec.json.encode(shown)) <= limit:
        return shown
    names = list(shown)
    return {"left_out": f"too large; its members are {_cut(', '.join(names), MAX_CELL_CHARACTERS)}"}


def _cut_value(value: Any) -> Any:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return value if len(text) <= MAX_CELL_CHARACTERS else _cut(text, MAX_CELL_CHARACTERS)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text):,} characters)"


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

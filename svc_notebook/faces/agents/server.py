"""The server of the Model Context Protocol, over standard streams or HTTP on loopback."""

from __future__ import annotations

import asyncio
import sys
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

import mcp_types as protocol
import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from pandas import DataFrame

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.core.redaction import mask_secrets
from svc_notebook.core.release import read_version
from svc_notebook.data.session import AnyClient, asynchronous, serve_application
from svc_notebook.errors import BadInput, CallFailed, SvcError, did_you_mean
from svc_notebook.faces.agents.planned_changes import PlannedChanges
from svc_notebook.faces.agents.tools import REPORTED, Tool, list_tools, shape_answer
from svc_notebook.faces.functions.indices import read_indices
from svc_notebook.tuning.changes import snapshot

SCHEME = "svc://"
PARAMETERS_URI = f"{SCHEME}parameters"
CONFIGURATION_TEMPLATE = f"{SCHEME}indices/{{index}}/configuration"
REPORT_TEMPLATE = f"{SCHEME}reports/{{number}}"
MAX_REPORTS = 20
MAX_REPORT_CHARACTERS = 400_000

NAME = "svc-notebook"
HOST = "127.0.0.1"
JSON = "application/json"
INSTRUCTIONS = (
    "Tools for the indices of a search service. Tools read, and change nothing; `impact` may use "
    "a temporary copy of an index. A change is planned first; `apply_plan` applies it by its "
    "token, is journalled, and can be undone. Ask the user before you apply a plan."
)
Context = ServerRequestContext[Any]
# Warnings of the call that runs: each call is a task with a context of its own.
_warned: ContextVar[list[str] | None] = ContextVar("warned", default=None)


class Reports:
    """The last results of measurements, at most `MAX_REPORTS`, by their numbers."""

    def __init__(self) -> None:
        self._reports: OrderedDict[int, tuple[str, Any]] = OrderedDict()
        self._count = 0

    def keep(self, title: str, result: Any) -> str:
        """Keep a result, and return the address of its report."""
        self._count += 1
        self._reports[self._count] = (title, result)
        while len(self._reports) > MAX_REPORTS:
            self._reports.popitem(last=False)
        return f"{SCHEME}reports/{self._count}"

    def list_titles(self) -> dict[str, str]:
        """Return the titles of the reports by address."""
        return {f"{SCHEME}reports/{n}": title for n, (title, _) in self._reports.items()}

    def read(self, number: str) -> str:
        """Return a report with the tables that its answer cut."""
        if not number.isdecimal() or int(number) not in self._reports:
            present = ", ".join(map(str, self._reports)) or "none yet"
            raise BadInput(f"there is no report {number}; the last {MAX_REPORTS} are: {present}")
        title, result = self._reports[int(number)]
        return _encode({"title": title, **shape_answer(result, MAX_REPORT_CHARACTERS)})


@dataclass(frozen=True)
class AgentServer:
    """The tools, resources and prompts that one server offers to agents."""

    client: AnyClient
    tools: dict[str, Tool]
    planned: PlannedChanges
    reports: Reports = field(default_factory=Reports)

    def build(self) -> Server[Any]:
        """Return the server of the protocol."""
        return Server(
            NAME,
            version=read_version(),
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    async def _list_tools(self, _: Context, __: Any) -> protocol.ListToolsResult:
        return protocol.ListToolsResult(tools=[_describe_tool(t) for t in self.tools.values()])

    async def _call_tool(
        self, context: Context, params: protocol.CallToolRequestParams
    ) -> protocol.CallToolResult:
        warned: list[str] = []
        _warned.set(warned)
        try:
            answer = await self._answer(context, params.name, params.arguments or {})
        except SvcError as error:
            text = "\n".join([str(error), *getattr(error, "__notes__", ()), *warned])
            return _result({"error": mask_secrets(text)}, is_error=True)
        if warned:
            answer["warnings"] = warned
        return _result(answer)

    async def _answer(
        self, context: Context, name: str, arguments: dict[str, Any]
    ) -> dict[str, Any]:
        tool = self.tools.get(name)
        if tool is None:
            raise BadInput(f"there is no tool `{name}`{did_you_mean(name, self.tools)}")
        loop = asyncio.get_running_loop()

        def report(done: int, total: int) -> None:
            asyncio.run_coroutine_threadsafe(context.session.report_progress(done, total), loop)

        result = await tool.call(tool.check(arguments), client=self.client, on_progress=report)
        answer = shape_answer(result)
        if name in REPORTED:
            title = f"{name} of {arguments.get('index', '')}"
            answer["report"] = self.reports.keep(title, result)
        return answer

    async def _list_resources(self, _: Context, __: Any) -> protocol.ListResourcesResult:
        try:
            names = list((await read_indices(client=asynchronous(self.client)))["name"])
        except CallFailed:  # such as a key without the right to list them
            names = []
        resources = [("Search parameters and settings", PARAMETERS_URI)]
        resources += [(f"Configuration of {name}", configuration_uri(name)) for name in names]
        resources += [(title, uri) for uri, title in self.reports.list_titles().items()]
        return protocol.ListResourcesResult(
            resources=[protocol.Resource(name=t, uri=uri, mime_type=JSON) for t, uri in resources]
        )

    async def _list_templates(self, _: Context, __: Any) -> protocol.ListResourceTemplatesResult:
        templates = (
            ("Settings, synonyms and rules of an index", CONFIGURATION_TEMPLATE),
            ("Whole result of a measurement", REPORT_TEMPLATE),
        )
        return protocol.ListResourceTemplatesResult(
            resource_templates=[
                protocol.ResourceTemplate(name=title, uri_template=uri, mime_type=JSON)
                for title, uri in templates
            ]
        )

    async def _read_resource(
        self, _: Context, params: protocol.ReadResourceRequestParams
    ) -> protocol.ReadResourceResult:
        with _errors_of_protocol():
            text = await read_resource(str(params.uri), self.reports, self.client)
        contents = protocol.TextResourceContents(uri=params.uri, mime_type=JSON, text=text)
        return protocol.ReadResourceResult(contents=[contents])

    async def _list_prompts(self, _: Context, __: Any) -> protocol.ListPromptsResult:
        index = protocol.PromptArgument(name="index", description="Index", required=True)
        return protocol.ListPromptsResult(
            prompts=[
                protocol.Prompt(name=p.name, description=p.description, arguments=[index])
                for p in PROMPTS.values()
            ]
        )

    async def _get_prompt(
        self, _: Context, params: protocol.GetPromptRequestParams
    ) -> protocol.GetPromptResult:
        with _errors_of_protocol():
            text = fill_prompt(params.name, params.arguments or {})
        content = protocol.TextContent(text=text)
        return protocol.GetPromptResult(
            description=PROMPTS[params.name].description,
            messages=[protocol.PromptMessage(role="user", content=content)],
        )


def serve(
    client: AnyClient,
    *,
    judgments: DataFrame | None,
    allow_writes: bool,
    port: int | None,
) -> None:
    """Serve until the client closes the streams or the process is stopped.

    Without a port, the streams of the process are the transport.
    """
    planned = PlannedChanges()
    tools = list_tools(judgments, planned, allow_writes=allow_writes)
    server = AgentServer(client, tools, planned).build()
    with _collect_warnings():
        asyncio.run(_serve_streams(server) if port is None else _serve_http(server, port))


async def _serve_streams(server: Server[Any]) -> None:
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


async def _serve_http(server: Server[Any], port: int) -> None:
    """Serve on loopback; requests of web pages are refused by their Host and Origin."""
    application = server.streamable_http_app(host=HOST)
    announcement = "agents connect to {address}/mcp"
    await serve_application(application, host=HOST, port=port, announcement=announcement)


def _describe_tool(tool: Tool) -> protocol.Tool:
    hints = protocol.ToolAnnotations(
        read_only_hint=tool.is_read, destructive_hint=not tool.is_read, open_world_hint=False
    )
    return protocol.Tool(
        name=tool.name, description=tool.description, input_schema=tool.input_schema,
        annotations=hints,
    )  # fmt: skip


def _result(answer: dict[str, Any], *, is_error: bool = False) -> protocol.CallToolResult:
    text = answer["error"] if is_error else msgspec.json.encode(answer, enc_hook=str).decode()
    return protocol.CallToolResult(
        content=[protocol.TextContent(text=text)],
        structured_content=None if is_error else msgspec.json.decode(text),
        is_error=is_error,
    )


@contextmanager
def _errors_of_protocol() -> Iterator[None]:
    """Raise our errors as those of the protocol, whose text reaches the agent."""
    try:
        yield
    except SvcError as error:
        raise MCPError(protocol.INVALID_PARAMS, mask_secrets(str(error))) from error


@contextmanager
def _collect_warnings() -> Iterator[None]:
    """Add warnings to the answer of the call in whose task they occur."""

    def add(message: Warning | str, *_: Any, **__: Any) -> None:
        warned = _warned.get()
        if warned is None:
            sys.stderr.write(f"svc: {message}\n")
        else:
            warned.append(mask_secrets(str(message)))

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = add
        yield


@dataclass(frozen=True)
class Prompt:
    """The text of a job; `{index}` in it is the index that the user names."""

    name: str
    description: str
    text: str


PROMPTS = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "mend_zero_results",
            "Find searches without results, and plan synonyms for them",
            "Find searches of the index `{index}` that have no results: call `read_no_results`, "
            "and `why` for the most frequent of them. Where another word of the records means the "
            "same, propose a synonym; a misspelt or unrelated query needs none. Try all synonyms "
            "together by `impact` with these queries, which changes nothing. Show the queries "
            "before and after. If `plan_change` is offered, plan what helps and show the plan. Do "
            "not call `apply_plan` before the user agrees to the plan.",
        ),
        Prompt(
            "improve_ranking",
            "Find out why judged queries of an index score low, and plan a change",
            "Improve the ranking of the index `{index}`: call `evaluate`, then `diagnose`, with "
            "the judgments of the server or those that the user gives. Explain the findings with "
            "the most queries, and `explain` the first hits of one query of each. Try the best "
            "proposal by `impact` with the judgments, and say how the score changes, with its "
            "interval, and which queries lose. If `plan_change` is offered, plan the change and "
            "show the plan. Do not call `apply_plan` before the user agrees to it.",
        ),
        Prompt(
            "review_deployment",
            "Review what a deployment of an index would change",
            "Review the deployment of the index `{index}`: ask for the profile of the target if "
            "the user did not name it, call `plan_deployment`, and explain each change in a "
            "sentence, with its risk for searches: removed facets that rules filter by, fewer "
            "searchable attributes, another order of criteria, removed synonyms. Compare with "
            "`read_history`, and name the changes that nobody explained. Do not call `apply_plan` "
            "before the user agrees.",
        ),
    )
}


def fill_prompt(name: str, arguments: Mapping[str, str]) -> str:
    """Return the text of a prompt with its arguments."""
    if name not in PROMPTS:
        raise BadInput(f"there is no prompt `{name}`{did_you_mean(name, PROMPTS)}")
    if not arguments.get("index"):
        raise BadInput(f"the prompt `{name}` needs `index`: the name of the index")
    return PROMPTS[name].text.replace("{index}", arguments["index"])


async def read_resource(uri: str, reports: Reports, client: AnyClient | None) -> str:
    """Return a resource as JSON; raise `BadInput` for an address of none."""
    if uri == PARAMETERS_URI:
        return _encode(
            {name: {"meaning": parameter.meaning, "default": parameter.default}
             for name, parameter in PARAMETERS.items()}
        )  # fmt: skip
    match uri.removeprefix(SCHEME).split("/"):
        case ["indices", index, "configuration"]:
            taken = await snapshot(unquote(index), client=asynchronous(client))
            return _encode(taken.to_json())
        case ["reports", number]:
            return reports.read(number)
    raise BadInput(
        f"there is no resource {uri}; there are {PARAMETERS_URI}, {CONFIGURATION_TEMPLATE} and "
        f"{REPORT_TEMPLATE}"
    )


def configuration_uri(index: str) -> str:
    """Return the address of the configuration of an index."""
    return CONFIGURATION_TEMPLATE.replace("{index}", quote(index, safe=""))


def _encode(document: dict[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(document, enc_hook=str), indent=1).decode()

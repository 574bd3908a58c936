"""A service with products, and the server of agents on it, as a client of the protocol sees it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.faces.agents.planned_changes import PlannedChanges
from svc_notebook.faces.agents.tools import list_tools
from tests.conftest import Running

if TYPE_CHECKING:
    from mcp import Client as AgentClient
    from mcp import StdioServerParameters
    from mcp.server.lowlevel.server import Server

INDEX = "agents-products"
JUDGMENTS = [
    {"query": "mug", "objectID": "MUG-001", "rating": 3},
    {"query": "desk lamp", "objectID": "LMP-001", "rating": 3},
    {"query": "tumbler", "objectID": "MUG-001", "rating": 3},
]


@pytest.fixture(scope="module")
def products(service: Running) -> Iterator[Client]:
    """The client of a service whose index has 240 products."""
    client = svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)
    svc.load(svc.samples.products(), INDEX, id="sku", if_exists="replace", min_share=0)
    svc.set_settings(INDEX, {"attributesForFaceting": ["brand"]})
    yield client
    svc.drop_index(INDEX)


@pytest.fixture
def command(service: Running, products: Client, tmp_path: Path) -> StdioServerParameters:
    """How an agent starts the server, in a folder of its own."""
    from mcp import StdioServerParameters

    named = {"SVC_URL": service.url, "SVC_APP_ID": service.appId, "SVC_API_KEY": service.adminKey}
    words = ["-P", "-m", "svc_notebook", "mcp", "--allow-writes"]
    return StdioServerParameters(
        command=sys.executable, args=words, env={**os.environ, **named}, cwd=tmp_path
    )


@pytest.fixture
def inside(products: Client) -> Server[Any]:
    """A server in this process, with tools that plan changes."""
    from svc_notebook.faces.agents.server import AgentServer

    planned = PlannedChanges()
    return AgentServer(products, list_tools(None, planned, allow_writes=True), planned).build()


def open_agent(server: Server[Any] | StdioServerParameters | str) -> AgentClient:
    """A client of a server in this process, of a command that starts one, or of its address."""
    from mcp import Client as AgentClient

    return AgentClient(server)


def text_of(result: Any) -> str:
    """The text of an answer."""
    [content] = result.content
    return str(content.text)


def arguments_of(tool: Any) -> Mapping[str, Any]:
    """Arguments that each tool takes, as far as it has these parameters."""
    values = {
        "index": INDEX, "other": INDEX, "query": "lamp", "ids": ["LMP-001"],
        "judgments": JUDGMENTS, "queries": ["mug"], "change": {"settings": {"hitsPerPage": 5}},
        "limit": 3, "crawlers": [], "columns": ["name"], "params": {"typoTolerance": "strict"},
        "budget": 60, "top": 5,
    }  # fmt: skip
    return {name: values[name] for name in tool.input_schema["properties"] if name in values}

"""Answers fit into their limits and say what they leave out; any arguments get an answer."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from svc_notebook.faces.agents.planned_changes import PLAN_SECONDS, PlannedChanges
from svc_notebook.faces.agents.tools import MAX_ANSWER_CHARACTERS, list_tools, shape_answer
from tests.faces.agents.conftest import INDEX, JUDGMENTS, open_agent, text_of

if TYPE_CHECKING:
    import mcp_types as protocol

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=5,
)  # fmt: skip


def test_rows_are_cut_at_the_limit_and_counted() -> None:
    frame = pd.DataFrame({"objectID": map(str, range(5000)), "text": "x" * 50, "none": None})

    answer = shape_answer(frame)

    shown = len(answer["rows"])
    assert len(json.dumps(answer["rows"], separators=(",", ":"))) <= MAX_ANSWER_CHARACTERS + shown
    assert 100 < shown < 5000
    assert answer["total"] == 5000
    assert answer["left_out"].startswith(f"{5000 - shown:,} rows")
    assert "none" not in answer["rows"][0]


def test_a_long_value_is_shortened_and_one_row_is_always_shown() -> None:
    answer = shape_answer(pd.DataFrame({f"c{n}": ["y" * 100_000] for n in range(30)}))

    assert answer["total"] == len(answer["rows"]) == 1
    assert answer["rows"][0]["c0"].endswith("(100,000 characters)")


def test_a_plan_expires() -> None:
    now = [0.0]
    planned = PlannedChanges(clock=lambda: now[0])

    async def nothing() -> dict[str, Any]:
        return {}

    token = planned._keep("a change", nothing)["token"]
    now[0] = PLAN_SECONDS

    with pytest.raises(BadInput, match="no plan has the token"):
        asyncio.run(planned.apply_plan(token))


@pytest.mark.slow
def test_a_port_in_use_is_an_error_with_the_way_on(products: Client) -> None:
    from svc_notebook.faces.agents.server import serve

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BadInput, match=f"cannot listen on port {port}: .*; pass another one"):
            serve(products, judgments=None, allow_writes=False, port=port)


@pytest.mark.slow
@given(data=st.data())
def test_any_arguments_are_answered(data: st.DataObject, products: Client) -> None:
    """No argument raises an error of the protocol, which would hide its reason from the agent."""
    from svc_notebook.faces.agents.server import AgentServer

    planned = PlannedChanges()
    tools = list_tools(pd.DataFrame(JUDGMENTS), planned, allow_writes=True)
    tool = data.draw(st.sampled_from(sorted(tools)))
    names = [*tools[tool].options, "absent"]
    arguments = data.draw(st.dictionaries(st.sampled_from(names), JSON_VALUES, max_size=4))
    if data.draw(st.booleans()) and "index" in names:
        arguments["index"] = INDEX

    async def call() -> protocol.CallToolResult:
        async with open_agent(AgentServer(products, tools, planned).build()) as agent:
            return await agent.call_tool(tool, arguments)

    answer = asyncio.run(call())

    assert text_of(answer)

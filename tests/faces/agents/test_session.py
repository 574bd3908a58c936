"""The server over both transports, as the clients of the protocol use it."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from tests.conftest import Running
from tests.faces.agents.conftest import INDEX, arguments_of, open_agent, text_of

if TYPE_CHECKING:
    from mcp import StdioServerParameters
    from mcp.server.lowlevel.server import Server

WRITERS = {"plan_change", "plan_undo", "apply_plan"}
# Tools for which these services have nothing to read.
REFUSED = {"read_crawlers", "read_crawled_urls", "plan_deployment", "plan_undo", "apply_plan"}


@pytest.fixture
def http(service: Running, products: Client) -> Iterator[str]:
    """The address of a server that only reads, over HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    named = {"SVC_URL": service.url, "SVC_APP_ID": service.appId, "SVC_API_KEY": service.adminKey}
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "svc_notebook", "mcp", "--port", str(port)],
        env={**os.environ, **named}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr
    assert "agents connect to" in process.stderr.readline()
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.stderr.close()
    process.wait(10)


@pytest.mark.slow
def test_every_tool_answers_over_standard_streams(
    command: StdioServerParameters, service: Running
) -> None:
    """No answer holds a key, and an answer over a limit says what it left out."""

    async def call_all() -> dict[str, Any]:
        async with open_agent(command) as agent:
            tools = (await agent.list_tools()).tools
            return {t.name: await agent.call_tool(t.name, dict(arguments_of(t))) for t in tools}

    answers = asyncio.run(call_all())

    assert answers.keys() >= WRITERS
    failed = {name: text_of(answer) for name, answer in answers.items() if answer.is_error}
    assert failed.keys() <= REFUSED, failed
    texts = {name: text_of(answer) for name, answer in answers.items()}
    keys = (service.adminKey, service.searchKey, service.crawlerApiKey)
    assert not [name for name, text in texts.items() if any(key in text for key in keys)]
    assert max(map(len, texts.values())) < 25_000
    assert answers["search"].structured_content["rows"][0]["name"].endswith("lamp")


@pytest.mark.slow
def test_a_server_over_http_reads_and_refuses_pages_of_the_web(http: str) -> None:
    async def talk() -> tuple[set[str], Any]:
        async with open_agent(http) as agent:
            tools = {tool.name for tool in (await agent.list_tools()).tools}
            return tools, await agent.call_tool("search", {"index": INDEX, "query": "mug"})

    tools, answer = asyncio.run(talk())
    refused = [
        httpx.post(http, json={}, headers={"Accept": "application/json", **headers}).status_code
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"})
    ]

    assert not tools & WRITERS
    assert answer.structured_content["nbHits"] > 0
    assert all(400 <= status < 500 for status in refused)


def test_a_tuning_session_from_zero_results_to_an_undone_change(inside: Server[Any]) -> None:
    """Find the query, try a synonym on a copy, measure, plan, apply, undo."""
    svc.search(INDEX, "tumbler")
    time.sleep(2)  # searches are counted within a second

    async def tune() -> dict[str, Any]:
        async with open_agent(inside) as agent:

            async def call(name: str, **arguments: Any) -> dict[str, Any]:
                answer = await agent.call_tool(name, arguments)
                assert not answer.is_error, text_of(answer)
                content: dict[str, Any] = answer.structured_content
                return content

            searched = await call("read_no_results", index=INDEX)
            zero = [row["query"] for row in searched["rows"]]
            reasons = await call("why", index=INDEX, query=zero[0])
            synonym = {"objectID": "t", "type": "synonym", "synonyms": ["tumbler", "mug"]}
            change = {"synonyms": [synonym]}
            tried = await call("impact", index=INDEX, change=change, queries=zero)
            untouched = await call("read_synonyms", index=INDEX)
            plan = await call("plan_change", index=INDEX, change=change, queries=zero)
            applied = await call("apply_plan", token=plan["token"])
            again = await agent.call_tool("apply_plan", {"token": plan["token"]})
            hits = await call("search", index=INDEX, query="tumbler")
            undo = await call("plan_undo", index=INDEX, change_id=applied["change_id"])
            await call("apply_plan", token=undo["token"])
            after = await call("search", index=INDEX, query="tumbler")
            report = await agent.read_resource(tried["report"])
            prompt = await agent.get_prompt("mend_zero_results", {"index": INDEX})
            return locals()

    outcome = asyncio.run(tune())

    assert "tumbler" in outcome["zero"]
    assert outcome["reasons"]["rows"][0]["reason"] == "no record contains it"
    assert "1 of 1 queries affected" in outcome["tried"]["summary"]
    assert outcome["untouched"]["total"] == 0
    assert outcome["plan"]["changes"][0]["name"] == "t"
    assert outcome["again"].is_error
    assert outcome["hits"]["nbHits"] > 0
    assert outcome["after"]["total"] == 0
    assert "impact of" in outcome["report"].contents[0].text
    assert INDEX in outcome["prompt"].messages[0].content.text


def test_a_plan_is_refused_after_another_change(inside: Server[Any]) -> None:
    async def race() -> Any:
        async with open_agent(inside) as agent:
            change = {"settings": {"hitsPerPage": 7}}
            plan = await agent.call_tool(
                "plan_change", {"index": INDEX, "change": change, "queries": ["mug"]}
            )
            await svc.aio.set_settings(INDEX, {"hitsPerPage": 9})
            return await agent.call_tool("apply_plan", {"token": plan.structured_content["token"]})

    answer = asyncio.run(race())

    assert answer.is_error
    assert "changed since the plan" in text_of(answer)
    svc.reset_settings(INDEX, ["hitsPerPage"])


@pytest.mark.slow
def test_a_long_call_reports_progress_and_ends_when_it_is_cancelled(
    command: StdioServerParameters, products: Client
) -> None:
    reported: list[float] = []
    judged = [{"query": f"lamp {n}", "objectID": "LMP-001", "rating": 1} for n in range(3000)]

    async def report(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    async def cancel() -> tuple[int, int]:
        async with open_agent(command) as agent:
            arguments = {"index": INDEX, "judgments": judged}
            call = asyncio.create_task(
                agent.call_tool("evaluate", arguments, progress_callback=report)
            )
            while not reported:
                assert not call.done(), await call
                await asyncio.sleep(0.01)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await agent.call_tool("read_indices", {})
            before = len(reported)
            await asyncio.sleep(0.5)
            return before, len(reported)

    before, after = asyncio.run(cancel())

    assert before == after
    assert max(reported) < len(judged)


def test_wrong_arguments_are_answered_with_their_remedy(inside: Server[Any]) -> None:
    from mcp.shared.exceptions import MCPError

    cases: list[tuple[str, dict[str, Any], str]] = [
        ("serch", {}, "did you mean `search`?"),
        ("search", {"indx": INDEX}, "did you mean `index`?"),
        ("search", {}, "`search` needs `index`"),
        ("search", {"index": 5}, "`index` must be text"),
        ("search", {"index": INDEX, "params": {"hitPerPage": 1}}, "did you mean `hitsPerPage`?"),
        ("search", {"index": INDEX, "params": {"client": 1}}, "cannot contain `client`"),
        ("search", {"index": "absent"}, "absent"),
        ("evaluate", {"index": INDEX}, "`evaluate` needs `judgments`"),
        ("evaluate", {"index": INDEX, "judgments": "/etc/passwd"}, "`judgments` must be"),
        ("impact", {"index": INDEX, "change": {"settngs": {}}, "queries": ["x"]}, "settngs"),
        ("apply_plan", {"token": "x"}, "no plan has the token `x`"),
        ("plan_undo", {"index": "absent"}, "absent"),
    ]

    async def call_all() -> list[str]:
        async with open_agent(inside) as agent:
            answers = [await agent.call_tool(name, given) for name, given, _ in cases]
            for uri in ("svc://reports/7", "svc://x", "file:///etc/passwd"):
                with pytest.raises(MCPError, match="there is no re"):
                    await agent.read_resource(uri)
            return [text_of(answer) if answer.is_error else "no error" for answer in answers]

    texts = asyncio.run(call_all())

    wrong = [(case, text) for case, text in zip(cases, texts, strict=True) if case[2] not in text]
    assert not wrong

"""The list of threads and processes in the architecture page is complete."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys

import pytest

from svc_notebook.service.workers.pool import SUPPORTED
from tests.conftest import ROOT, Running
from tests.parsed_modules import MODULES, parse

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Threads and processes")[2].partition("\n## ")[0]
LISTED = re.findall(r"^\| `([\w. -]+)` \|", SECTION, re.MULTILINE)
# What runs in every service with a client and an editor beside it.
EXPECTED = {
    *("MainThread", "svc-read", "svc-write", "svc-writer", "svc-maintenance", "svc-periodic"),
    *("svc-vectors", "svc-crawl", "svc-portal"),
}
WORKER = "svc_notebook.service.workers.process"


@pytest.mark.slow
def test_all_running_threads_and_processes_are_listed(service: Running) -> None:
    command = [sys.executable, "-m", "tests.project.running_threads"]
    out = subprocess.run(
        [*command, service.url, service.appId, service.adminKey],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )
    assert out.returncode == 0, out.stderr
    running = json.loads(out.stdout)
    names = {re.sub(r"_\d+$", "", name) for name in running["threads"]}

    assert names - set(LISTED) == set()
    assert EXPECTED - names == set()
    assert [line for line in running["processes"] if not any(n in line for n in LISTED)] == []
    assert any(WORKER in line for line in running["processes"]) or not SUPPORTED


def test_every_thread_that_the_code_starts_has_a_listed_name() -> None:
    calls = [
        (path, node)
        for path in MODULES
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Call)
        and name_of(node.func) in ("Thread", "BackgroundThread", "ThreadPoolExecutor")
    ]
    unlisted = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, node in calls
        if path.stem != "background_thread" and not constants(node) & set(LISTED)
    ]

    assert len(calls) > 10
    assert unlisted == []


def name_of(called: ast.expr) -> str:
    """The name that is called, without what it is an attribute of."""
    return str(getattr(called, "attr", getattr(called, "id", "")))


def constants(call: ast.Call) -> set[object]:
    """The constants among the arguments of a call."""
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    return {value.value for value in values if isinstance(value, ast.Constant)}

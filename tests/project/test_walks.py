"""The ways of three calls through the package: a reader follows each through few modules."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT, Running

# The most functions and modules that a call may pass; lower them when a way gets shorter.
MAX_FUNCTIONS_AND_MODULES = {
    "search": (320, 45),
    "refused key": (47, 11),
    "keystroke": (179, 30),
}


@pytest.fixture(scope="module")
def walks(service: Running) -> dict[str, dict[str, list[str]]]:
    command = [sys.executable, "-m", "tests.project.walks"]
    out = subprocess.run(
        [*command, service.url, service.appId, service.adminKey],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert out.returncode == 0, out.stderr
    walks: dict[str, dict[str, list[str]]] = json.loads(out.stdout)
    return walks


def test_calls_pass_few_functions_and_modules(walks: dict[str, dict[str, list[str]]]) -> None:
    counts = {
        name: (sum(map(len, modules.values())), len(modules)) for name, modules in walks.items()
    }

    assert {
        name: count
        for name, count in counts.items()
        if any(map(int.__gt__, count, MAX_FUNCTIONS_AND_MODULES[name]))
    } == {}, counts
    # A thread that was not followed would make a way look short.
    assert "service/engine/response/search.py" in walks["search"]
    assert "service/http/auth.py" in walks["refused key"]
    assert {"faces/editors/rpc.py", "data/client/transport/sender.py"} <= walks["keystroke"].keys()

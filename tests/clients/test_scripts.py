"""Scripts that call the vendor's clients, of each release in use, as their users call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Running
from tests.kernels.overlays import put_before
from tests.peers.javascript import install

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
FOLDER = Path(__file__).parent / "scripts"
TIMEOUT_SECONDS = 120
PYTHON = {"python_1": "1.20.0", "python_2": "2.6.3", "python_3": "3.0.0", "python_4": "4"}
PACKAGES = (
    "algoliasearch-3@npm:algoliasearch@3.35.1", "algoliasearch-4@npm:algoliasearch@4.27.0",
    "algoliasearch@5.64.0",
)  # fmt: skip
STEPS = {
    "records", "batches", "reads", "settings", "searches", "facet values", "browse", "synonyms",
    "rules", "indices", "keys", "secured keys", "dictionaries", "users", "logs", "events",
}  # fmt: skip
# What a release has no methods for.
MISSING_STEPS = {
    "python_1": {"dictionaries"},
    "javascript_3": {"dictionaries", "events"},
    "javascript_4": {"events"},
}


def run(command: Sequence[str], service: Running, release: str, **environment: str) -> Any:
    """Run a script; returns the steps that were done and those that failed."""
    facts = json.dumps({**asdict(service), "release": release})
    done = subprocess.run(
        [*command, facts],
        cwd=FOLDER,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(client: str, reported: Mapping[str, Any]) -> None:
    """Check that every step was done."""
    assert reported["failed"] == {}
    assert set(reported["done"]) == STEPS - MISSING_STEPS.get(client, set())


@pytest.mark.parametrize("client", PYTHON)
def test_a_script_of_the_python_client_runs(
    service: Running, request: pytest.FixtureRequest, client: str
) -> None:
    release = PYTHON[client]
    before = put_before(request.config.cache, "algoliasearch", release)
    # Releases 2 and 3 have the same methods.
    script = "python_2.py" if client == "python_3" else f"{client}.py"

    path = os.pathsep.join([*before, str(FOLDER)])
    reported = run([sys.executable, script], service, release[0], PYTHONPATH=path)

    check(client, reported)


@pytest.mark.parametrize("client", ["javascript_3", "javascript_4", "javascript_5"])
def test_a_script_of_the_javascript_client_runs(
    service: Running, pytestconfig: pytest.Config, client: str
) -> None:
    packages = install(pytestconfig.cache.mkdir("clients-javascript"), PACKAGES)

    reported = run(["node", f"{client}.cjs"], service, client[-1], PACKAGES=str(packages))

    check(client, reported)


def test_the_javascript_client_reads_analytics_suggestions_and_tests(
    service: Running, pytestconfig: pytest.Config
) -> None:
    packages = install(pytestconfig.cache.mkdir("clients-javascript"), PACKAGES)

    script = "javascript_5_analytics.cjs"
    reported = run(["node", script], service, "5", PACKAGES=str(packages))

    assert reported == {"done": ["analytics", "query suggestions", "A/B tests"], "failed": {}}

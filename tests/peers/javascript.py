"""The vendor's JavaScript client: installed from its registry, run by Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from tests.conftest import Running
from tests.installation import give_up, install_once

PACKAGE = "algoliasearch@5.64.0"
SCRIPT = Path(__file__).with_name("javascript.mjs")
# What npm says where there is no way to the registry; anything else it says is a failure.
NO_NETWORK = ("EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ENETUNREACH", "ENOTFOUND", "TIMEDOUT")


class Failed(Exception):
    """A method's promise was rejected."""

    def __init__(self, name: str, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.name = name
        self.status = status


class Script:
    """A running script; each call goes through a new client."""

    def __init__(self, process: subprocess.Popen[str], key: str) -> None:
        self._process = process
        self._key = key

    def call(
        self,
        method: str,
        argument: Any = None,
        *,
        client: str = "full",
        key: str | None = None,
        other: Running | None = None,
    ) -> Any:
        """Call a method; raises `Failed` where its promise is rejected.

        `other` is an application that the method itself goes to.
        """
        line = {
            "client": client,
            "key": key or self._key,
            "method": method,
            "argument": argument,
            "others": {other.appId: other.url} if other else {},
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()
        told = json.loads(self._process.stdout.readline())
        if "error" in told:
            raise Failed(**told["error"])
        return told["result"]

    def finish(self, index: str, accepted: dict[str, Any]) -> None:
        """Wait for a write with the client's own helper."""
        self.call("waitForTask", {"indexName": index, "taskID": accepted["taskID"]})

    def fill(self, index: str, *records: dict[str, Any]) -> None:
        """Save records and wait until they can be searched."""
        self.call("saveObjects", {"indexName": index, "objects": records, "waitForTasks": True})

    def stored(self, index: str) -> dict[str, dict[str, Any]]:
        """All records of an index by objectID."""
        pages = self.call("browseObjects", {"indexName": index})
        return {hit["objectID"]: hit for page in pages for hit in page["hits"]}


@contextmanager
def run_script(folder: Path, service: Running) -> Iterator[Script]:
    """Start Node with the script, and end it."""
    command = ["node", str(SCRIPT), str(folder), service.url, service.appId]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        yield Script(process, service.adminKey)


def install(folder: Path, packages: Sequence[str] = (PACKAGE,)) -> Path:
    """Install packages once, all or none; skips where that cannot be done, but fails in CI."""
    return install_once(folder / "installed", partial(_install, packages))


def _install(packages: Sequence[str], folder: Path) -> None:
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        give_up("Node.js and npm are not installed")
    quiet = ["--no-audit", "--no-fund", "--loglevel=error", "--fetch-retries=0"]
    done = subprocess.run(
        [npm, "install", f"--prefix={folder}", *quiet, *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and any(code in done.stderr for code in NO_NETWORK):
        give_up("the npm registry cannot be reached")
    assert done.returncode == 0, done.stderr


def ids(answer: dict[str, Any]) -> list[str]:
    """The objectIDs of an answer's hits."""
    return [hit["objectID"] for hit in answer["hits"]]

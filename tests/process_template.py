"""Processes that are forked from one that has imported the package, for tests that need many.

A process that only imports the package and pandas takes a second of a core. Where a test is not
about that start, its processes are forked from a template of one thread, which has imported all of
it and connected to nothing. Each has its own environment, working folder and arguments.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import svc_notebook as svc
from tests.conftest import ROOT

SECONDS = 120


def run_code(code: str, arguments: list[str]) -> tuple[int, str]:
    """Run code in a process of its own; return its exit status and what it wrote to stderr."""
    if sys.platform != "linux":  # no fork, or none that is safe
        ended = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            check=False, timeout=SECONDS, capture_output=True, text=True,
        )  # fmt: skip
        return ended.returncode, ended.stderr
    template = _start_template()
    assert template.stdin
    assert template.stdout
    task = {
        "code": code,
        "arguments": arguments,
        "environ": dict(os.environ),
        "cwd": str(Path.cwd()),
    }
    template.stdin.write(f"{json.dumps(task)}\n")
    template.stdin.flush()
    status, errors = json.loads(template.stdout.readline())
    return status, errors


@functools.cache
def _start_template() -> subprocess.Popen[str]:
    """Start the template of this process of tests; it ends with it."""
    template = subprocess.Popen(
        [sys.executable, "-m", "tests.process_template"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    )  # fmt: skip
    atexit.register(_end, template)
    return template


def _end(template: subprocess.Popen[str]) -> None:
    with template:
        assert template.stdin
        template.stdin.close()


def _serve() -> None:
    """Fork a process for each line of stdin, and answer with its end."""
    for module in (svc, svc.tuning):
        for name in dir(module):
            getattr(module, name)  # imports what is imported when it is first used
    assert threading.active_count() == 1
    for line in sys.stdin:
        with tempfile.TemporaryFile() as errors:
            if not (child := os.fork()):
                _run(json.loads(line), errors.fileno())
                return
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            errors.seek(0)
            written = errors.read().decode(errors="replace")
        sys.stdout.write(f"{json.dumps([status, written])}\n")
        sys.stdout.flush()


def _run(task: dict[str, Any], errors: int) -> None:
    """Be a process that runs code alone; its end is that of the interpreter."""
    signal.alarm(SECONDS)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream, target in enumerate((nothing, nothing, errors)):
        os.dup2(target, stream)
    os.environ.clear()
    os.environ.update(task["environ"])
    os.chdir(task["cwd"])
    tempfile.tempdir = None
    sys.argv = ["-c", *task["arguments"]]
    exec(task["code"], {"__name__": "__main__"})


if __name__ == "__main__":
    _serve()

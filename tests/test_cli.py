"""The `svc` command, as processes."""

from __future__ import annotations

import subprocess
import sys

import pytest


def svc(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "svc_notebook.cli", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_help_lists_the_verbs_and_succeeds() -> None:
    done = svc("--help")

    assert done.returncode == 0
    assert "load " in done.stdout
    assert done.stderr == ""


def test_no_verb_is_misuse() -> None:
    assert svc().returncode == 2


def test_a_verb_tells_what_it_takes() -> None:
    done = svc("load", "--help")

    assert done.returncode == 0
    assert "svc load SOURCE INDEX" in done.stdout
    assert "--if-exists append|replace|fail|merge" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["laod"], "svc: `laod` is not a verb; did you mean `load`?"),
        (["load", "a.csv"], "svc: INDEX is missing: svc load SOURCE INDEX [options]"),
        (["load", "a.csv", "x", "--bach", "3"], "did you mean `--batch`?"),
        (["connect", "local"], "`connect` is not a verb"),
    ],
)
def test_misuse_is_said_on_stderr_with_status_2(words: list[str], message: str) -> None:
    done = svc(*words)

    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""

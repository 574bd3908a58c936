"""The groups and extras that the Makefile installs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

LINES = re.findall(r"^WITHIN_(\w+) = (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
PAIRS = [(extra, other) for extra, others in LINES for other in others.split()]


@pytest.mark.parametrize(("extra", "other"), PAIRS)
def test_an_extra_brings_along_what_is_not_installed_after_it(extra: str, other: str) -> None:
    assert needs(other) <= needs(extra)


def needs(name: str) -> set[str]:
    command = [sys.executable, ".ci/versions.py", "list", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n"))

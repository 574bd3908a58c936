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


# Packages of other extras than `local`, by the name of their module.
OTHERS = (
    *("anywidget", "bm25s", "duckdb", "IPython", "matplotlib", "playwright", "protego"),
    *("py_mini_racer", "pyarrow", "pypdf", "scipy", "selectolax", "tokenizers", "yaml"),
)
START_WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({others!r}))
import svc_notebook.service.server
"""


@pytest.mark.slow
def test_the_local_service_needs_no_package_of_another_extra() -> None:
    code = START_WITHOUT.format(others=OTHERS)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    modules = subprocess.run(
        [sys.executable, "-c", "import svc_notebook.service.server, sys; print(*sys.modules)"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert "regex>=2024.11.6" in needs("local")
    assert not {*OTHERS} & {*modules}


def needs(name: str) -> set[str]:
    command = [sys.executable, ".ci/versions.py", "list", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split("\n"))

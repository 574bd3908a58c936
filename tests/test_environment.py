"""The installation of a fresh clone, and the environment of the tests."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
NEEDED = [
    Requirement(line)
    for lines in [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for line in lines
    if not line.startswith("svc-notebook")
]


@pytest.mark.parametrize("need", NEEDED, ids=lambda need: need.name)
def test_every_dependency_has_a_pin_that_the_project_supports(need: Requirement) -> None:
    pins = [pin for pin in PINS if canonicalize_name(pin.name) == canonicalize_name(need.name)]

    assert pins
    for pin in pins:
        assert need.specifier.contains(str(pin.specifier).removeprefix("=="))


def test_constraints_hold_names_and_exact_versions_only() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    line = r'#.*|[a-z0-9-]+==[\w.!+]+(; python_version (==|>=) "3\.\d+")?'

    assert all(re.fullmatch(line, row) for row in text.splitlines())


def test_pins_of_a_package_never_contradict_each_other() -> None:
    for python in ("3.11", "3.12", "3.13", "3.14"):
        names = [
            pin.name
            for pin in PINS
            if not pin.marker or pin.marker.evaluate({"python_version": python})
        ]

        assert len(names) == len(set(names))


@pytest.mark.slow
def test_the_suite_can_be_stopped_where_a_shell_ignores_sigint() -> None:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import tests.conftest\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)

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
from tests.looping import loop_over

CONTENT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = CONTENT["project"]
DECLARED = {**PROJECT["optional-dependencies"], **CONTENT["dependency-groups"]}
PINS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]
NEEDED = [
    Requirement(line)
    for lines in [PROJECT["dependencies"], *DECLARED.values()]
    for line in lines
    if isinstance(line, str) and not line.startswith("svc-notebook")
]


@loop_over("need", NEEDED)
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


def hashed_requirements() -> dict[str, list[str]]:
    """The requirements of hashes.txt, each with its hashes."""
    entries: dict[str, list[str]] = {}
    for line in (ROOT / "hashes.txt").read_text(encoding="utf-8").splitlines():
        text = line.removesuffix("\\").strip()
        if text.startswith("--hash="):
            entries[next(reversed(entries))].append(text)
        elif not text.startswith("#"):
            entries[text] = []
    return entries


@pytest.mark.slow
@loop_over("pin", PINS)
def test_every_pin_has_the_hashes_of_its_files(pin: Requirement) -> None:
    hashes = [
        listed
        for text, listed in hashed_requirements().items()
        if (entry := Requirement(text)).name == pin.name and entry.specifier == pin.specifier
    ]

    assert hashes, "run `make hashes`"
    assert all(hashes)


def test_hashes_name_no_address() -> None:
    line = r"#.*|[a-z0-9-]+==[\w.!+]+( ; [^\\/]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?"

    text = (ROOT / "hashes.txt").read_text(encoding="utf-8")

    assert not [row for row in text.splitlines() if not re.fullmatch(line, row)]


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["bench", "demo", "dev", "docs", "test"])
def test_what_make_installs_is_verified_and_has_all_that_an_extra_names(extra: str) -> None:
    def needs(name: str) -> set[str]:
        names: set[str] = set()
        for line in DECLARED[name]:
            if isinstance(line, dict):
                names |= needs(line["include-group"])
                continue
            need = Requirement(line)
            own = need.name == "svc-notebook"
            names |= (
                set().union(*map(needs, need.extras)) if own else {canonicalize_name(need.name)}
            )
        return names

    lines = subprocess.run(
        [sys.executable, ".ci/versions.py", "select", extra],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    named = {line.partition("==")[0] for line in lines if not line.startswith(" ")}
    command = ["make", "--dry-run", "VENV=/tmp/no-venv", f"/tmp/no-venv/.{extra}"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert needs(extra) | {"hatchling", "httpx"} <= named
    [packages, project] = [line for line in printed.splitlines() if " pip install " in line]
    assert "--require-hashes --no-deps --only-binary :all:" in packages
    assert "--no-deps --no-index --no-build-isolation --editable ." in project


@pytest.mark.slow
def test_the_suite_can_be_stopped_where_a_shell_ignores_sigint() -> None:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "import tests.conftest\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
    )

    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)

"""The extras that the Makefile installs."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
LINES = re.findall(r"^WITHIN_(\w+) = (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
PAIRS = [(extra, other) for extra, others in LINES for other in others.split()]


@pytest.mark.parametrize(("extra", "other"), PAIRS)
def test_an_extra_brings_along_what_is_not_installed_after_it(extra: str, other: str) -> None:
    assert needs(other) <= needs(extra)


def needs(extra: str) -> set[str]:
    found = set()
    for need in EXTRAS[extra]:
        own = re.fullmatch(r"svc-notebook\[(.+)\]", need)
        found |= set().union(*map(needs, own[1].split(","))) if own else {need}
    return found

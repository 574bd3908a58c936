"""Tests run the code as users do: few of them replace a part of it."""

from __future__ import annotations

import ast

from tests.conftest import ROOT
from tests.parsed_modules import parse

# Calls of `monkeypatch` that replace code: variables of the environment and folders are none.
PATCHES = {"setattr", "setitem", "delattr", "delitem"}
MAX_PATCHES_PER_TEST = 0.02


def test_few_tests_patch_code() -> None:
    tests, patches = 0, []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                tests += node.name.startswith("test_")
            elif isinstance(node, ast.Attribute) and node.attr in PATCHES:
                patches.append(f"{path.relative_to(ROOT)}:{node.lineno}")

    assert patches
    assert len(patches) <= MAX_PATCHES_PER_TEST * tests, "\n".join(patches)

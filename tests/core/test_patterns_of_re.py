"""Patterns of `re` hold to what every supported Python matches rightly.

CPython before 3.11.5 (Debian 12 has 3.11.2) matches possessive repeats and atomic groups of groups
wrongly. The package `regex` matches them rightly.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "svc_notebook"
FUNCTIONS = {
    "compile",
    "search",
    "match",
    "fullmatch",
    "split",
    "findall",
    "finditer",
    "sub",
    "subn",
}
# A class or an escape is passed over whole, so that `[*+]+` and `\*+` are not taken for others.
POSSESSIVE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(\(\?>|[*+?]\+|\{\d*,?\d*\}\+)", re.DOTALL)


def possessive(pattern: str) -> list[str]:
    """List the possessive repeats and atomic groups of a pattern."""
    return [found[1] for found in POSSESSIVE.finditer(pattern) if found[1]]


def text_of(node: ast.expr) -> str:
    """Put the constant texts of an expression together, a name standing for anything."""
    return "".join(
        (one.value if isinstance(one.value, str) else one.value.decode("latin-1"))
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, (str, bytes))
    )


def patterns_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield what a module hands to `re`, with the texts of the names that are used for it."""
    named = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        owner = node.func.value
        if not (isinstance(owner, ast.Name) and owner.id == "re" and node.func.attr in FUNCTIONS):
            continue
        yield node.lineno, text_of(node.args[0])
        for one in ast.walk(node.args[0]):
            if isinstance(one, ast.Name) and one.id in named:
                yield node.lineno, text_of(named[one.id])


@pytest.mark.slow
def test_no_pattern_of_re_repeats_possessively() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line} has {' and '.join(possessive(pattern))}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, pattern in patterns_in(ast.parse(path.read_text(encoding="utf-8")))
        if possessive(pattern)
    ]

    assert found == []


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"(?:[.-][a-z]++)*+x", ["++", "*+"]),
        (r"(?>a|b)?+[?+]{2,3}+", ["(?>", "?+", "{2,3}+"]),
        (r"\*+[*+]+[]+*]+[^]?+]+\++", []),
        (r"a{0,9}+", ["{0,9}+"]),
    ],
)
def test_possessive_repeats_are_recognised(pattern: str, found: list[str]) -> None:
    assert possessive(pattern) == found


def test_patterns_are_found_through_names() -> None:
    source = (
        'A = "a*+"\nB = re.compile(rf"x{A}")\nC = re.sub("b++" "c", "", "")\nD = regex.sub("d++")'
    )

    assert list(patterns_in(ast.parse(source))) == [(2, "x"), (2, "a*+"), (3, "b++c")]

"""A new function with a verb is one function in one file; everything else is generated."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
FUNCTION = '''

@public(verb("count", "count products lamp --words 2"), endpoints=("search",))
async def count_hits(
    index: str, query: str = "", *, words: int = 1, client: AnyClient | None = None
) -> int:
    """Count the hits of a query.

    Parameters
    ----------
    query : str, default ""
        Words to search for.
    words : int, default 1
        Minimum number of words.

    Returns
    -------
    int
        Number of hits.
    """
    found = await search(index, query, client=client)
    return len(found)
'''
USE = """
import svc_notebook as svc
from typing import assert_type

assert_type(svc.count_hits("products", "lamp", words=2), int)

async def count() -> None:
    assert_type(await svc.aio.count_hits("products"), int)

svc.count_hits("products", words="2")
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with one more function, after the generator ran."""
    tree = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("svc_notebook", "docs", "widgets"):
        shutil.copytree(ROOT / name, tree / name, ignore=ignored)
    with (tree / "svc_notebook" / "faces" / "functions" / "search.py").open(
        "a", encoding="utf-8"
    ) as file:
        file.write(FUNCTION)
    run(tree, "docs/generate.py")
    return tree


def run(tree: Path, *arguments: str, status: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, capture_output=True, text=True, check=False,
        env={"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(tree)},
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_it_is_a_function_of_both_kinds(tree: Path) -> None:
    code = (
        "import inspect, svc_notebook as svc\n"
        "assert 'count_hits' in dir(svc)\n"
        "assert 'Name of the index.' in inspect.getdoc(svc.count_hits)\n"
        "print(inspect.signature(svc.count_hits), inspect.iscoroutinefunction(svc.count_hits))\n"
        "print(inspect.iscoroutinefunction(svc.aio.count_hits))\n"
        "print(inspect.getdoc(svc.count_hits).splitlines()[0])"
    )

    told = run(tree, "-c", code).splitlines()

    assert "words: 'int' = 1" in told[0]
    assert told[0].endswith("False")
    assert told[1:] == ["True", "Count the hits of a query."]


def test_it_is_a_verb_with_help_and_completion(tree: Path) -> None:
    code = (
        "from svc_notebook.faces.commands.help import help\n"
        "from svc_notebook.faces.commands.registry import find_verb\n"
        "print(help('count', face='magic'))\n"
        "print(find_verb('count', 'magic').named('magic')['words'].type)"
    )

    magic = run(tree, "-c", code)
    command = run(tree, "-m", "svc_notebook", "count", "--help")

    assert "%svc count INDEX [QUERY...]" in magic
    assert "--words N" in magic
    assert "minimum number of words" in command
    assert "<class 'int'>" in magic


def test_the_pages_list_it(tree: Path) -> None:
    verbs = (tree / "docs" / "magics.md").read_text(encoding="utf-8")
    endpoints = (tree / "docs" / "endpoints.md").read_text(encoding="utf-8")

    assert "## count\n" in verbs
    assert "`count_hits`" in endpoints


def test_a_type_checker_knows_both(tree: Path) -> None:
    pytest.importorskip("mypy")
    (tree / "use.py").write_text(USE, encoding="utf-8")

    told = run(tree, "-m", "mypy", "--follow-imports=silent", "use.py", status=1)

    assert 'Argument "words" to "count_hits" has incompatible type "str"' in told
    assert "Found 1 error" in told

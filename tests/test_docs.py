"""The pages read off the code are what the code says, and the site of them has no dead link."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.test_examples import PUBLIC

DOCS = ROOT / "docs"


def run_script(name: str) -> dict[str, Any]:
    """Return the names that a script of `docs/` defines."""
    return runpy.run_path(str(DOCS / f"{name}.py"))


GENERATE = run_script("generate")
FUNCTION_PAGES = run_script("function_pages")


@pytest.mark.parametrize("name", GENERATE["PAGES"])
def test_a_generated_page_is_up_to_date(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")

    assert written == GENERATE["PAGES"][name](), "run `python docs/generate.py`"


def test_the_site_builds_without_a_dead_link(tmp_path: Path) -> None:
    command = [sys.executable, str(DOCS / "build.py"), "--no-run", "--into", str(tmp_path)]

    built = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    assert built.returncode == 0, built.stdout + built.stderr


@pytest.mark.parametrize(
    ("link", "dead"),
    [
        ("other.html", False),
        ("other.html#there", False),
        ("#here", False),
        ("https://search.example/nowhere", False),
        ("nowhere.html", True),
        ("other.html#nowhere", True),
        ("#nowhere", True),
        ("picture.png", True),
    ],
)
def test_dead_links_are_found(link: str, dead: bool, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f'<h1 id="here">A</h1><a href="{link}">x</a>')
    (tmp_path / "other.html").write_text('<h1 id="there">B</h1>')

    found = run_script("links")["find_dead_links"](tmp_path)

    assert found == ([f"page.html: {link}"] if dead else [])


def test_every_public_function_has_its_entry() -> None:
    lists = FUNCTION_PAGES
    described = {
        **lists["list_functions"](),
        **lists["list_methods"](lists["CLIENTS"]),
        **lists["list_methods"](lists["ACCESSORS"]),
    }

    assert {*described.values()} == {*PUBLIC.values()}
    text = "".join(lists["write_pages"]().values())
    assert [name for name in described if f"{{ #{name} }}" not in text] == []

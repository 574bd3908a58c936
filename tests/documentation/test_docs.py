"""Generated pages agree with the code, and the site of the documentation has no dead link."""

from __future__ import annotations

import ast
import base64
import inspect
import re
import runpy
import subprocess
import sys
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from algoliasearch.search.client import SearchClientSync

import svc_notebook as svc
from svc_notebook.data.session.local_service import IDLE_VARIABLE
from svc_notebook.data.session.profile_files import FIELDS, VARIABLES
from svc_notebook.faces.commands.interpolation import SETTING
from svc_notebook.service.server import ADMIN_KEY_VARIABLE, WORKERS_VARIABLE
from tests.conftest import ROOT
from tests.documentation.test_examples import PUBLIC
from tests.looping import loop_over
from tests.parsed_modules import MODULES, parse

DOCS = ROOT / "docs"


def run_script(name: str) -> dict[str, Any]:
    """Return the names that a script of `docs/` defines."""
    return runpy.run_path(str(DOCS / f"{name}.py"))


GENERATE = run_script("generate")
FUNCTION_PAGES = run_script("function_pages")
WIDGET = "application/vnd.jupyter.widget-view+json"


@loop_over("name", GENERATE["PAGES"])
def test_a_generated_page_is_up_to_date(name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")

    assert written == GENERATE["PAGES"][name](), "run `python docs/generate.py`"


def test_reference_pages_begin_with_what_is_used_most() -> None:
    pages = FUNCTION_PAGES["write_pages"]()

    firsts = {page: re.findall(r"^## `([\w.]+)", text, re.M)[:1] for page, text in pages.items()}

    assert firsts["connection"] == ["svc.connect"]
    assert firsts["searches"] == ["svc.search"]
    assert firsts["loads"] == ["svc.load"]
    assert firsts["evaluation"] == ["svc.tuning.evaluate"]
    assert [name for first in firsts.values() for name in first if ".clear_" in name] == []


@pytest.mark.slow
@pytest.mark.timeout(180)
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


@pytest.mark.slow
def test_a_notebook_is_written_with_its_outputs(tmp_path: Path) -> None:
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

    picture = {"image/png": base64.b64encode(b"PNG").decode(), "text/plain": "<Figure>"}
    outputs = [
        new_output("stream", text="10%\r100%\n\x1b[1mdone\x1b[0m\n```\n"),
        new_output("display_data", data=picture),
        new_output("display_data", data={WIDGET: {}, "text/plain": "QueryEditor(...)"}),
        new_output("display_data", data={"text/html": "<table>\n\n  <tr></tr></table>"}),
    ]
    cells = [new_markdown_cell("See [more](02.ipynb)"), new_code_cell("1 + 1", outputs=outputs)]

    write_cells = run_script("tutorial_pages")["write_cells"]
    written = [*write_cells(new_notebook(cells=cells), tmp_path, "one")]

    assert written == [
        "See [more](02.md)",
        "```python\n1 + 1\n```",
        "````{ .text .output-text }\n100%\ndone\n```\n````",
        "![Output of the cell above](one-1.png){ .output-picture }",
        '<div class="output">\n<table>\n<tr></tr></table>\n</div>',
    ]
    assert (tmp_path / "one-1.png").read_bytes() == b"PNG"


def write_text(node: ast.AST) -> str | None:
    """Return a text of the code, with `…` for each value that is put into it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(write_text(part) or "…" for part in node.values)
    return None


@pytest.fixture(scope="module")
def texts() -> str:
    """Every text of the package, one in a line."""
    written = [write_text(node) for path in MODULES for node in ast.walk(parse(path))]
    return "\n".join(text for text in written if text)


MESSAGES = re.findall(
    r"^### `([^`]+)`$", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.mark.slow
@loop_over("message", MESSAGES)
def test_a_quoted_message_exists(message: str, texts: str) -> None:
    parts = [re.escape(part) for part in message.split("…")]

    assert re.search("(?:.{0,40}?)".join(parts), texts), "no such message: quote the new one"


def test_the_page_for_the_official_client_has_each_of_its_methods() -> None:
    page = (DOCS / "coming-from" / "python-client.md").read_text(encoding="utf-8")
    methods = {
        name
        for name, one in vars(SearchClientSync).items()
        if inspect.isfunction(one) and not name.startswith("_")
    }
    own = {name for name in methods if not name.endswith("_with_http_info")}

    listed = re.findall(r"^\| `(\w+)` \| (.*)$", page.partition("## Every method")[2], re.MULTILINE)

    assert sorted(name for name, _ in listed) == sorted(own)
    assert f"The {len(own)} methods" in page
    for _, here in listed:
        for owner, name in re.findall(r"`(svc|client)\.([\w.]+)", here):
            assert attrgetter(name)(svc if owner == "svc" else svc.Client)


SERVICE_VARIABLES = (ADMIN_KEY_VARIABLE, IDLE_VARIABLE, WORKERS_VARIABLE)
NAME = re.compile(r"`(svc(?:\.[a-z_]\w*)+)(?:\(|`)")


@loop_over("path", sorted(DOCS.rglob("*.md")))
def test_functions_that_a_page_names_exist(path: Path) -> None:
    for name in set(NAME.findall(path.read_text(encoding="utf-8"))) - {"svc.toml"}:
        assert attrgetter(name.removeprefix("svc."))(svc), name


def test_the_page_on_configuration_has_every_value_and_variable() -> None:
    page = (DOCS / "reference" / "configuration.md").read_text(encoding="utf-8")
    rows = {*re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)}
    variables = {*VARIABLES.values(), "SVC_PROFILE", "SVC_CONFIG", SETTING, *SERVICE_VARIABLES}

    assert rows == {*FIELDS, *variables}
    assert page.count("`SVC_CONFIG`") == 1

"""The types of documented scripts, as the editor of a user sees them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documented_code import PAGES, write_script

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
IMPORTS = "import pandas as pd\nimport svc_notebook as svc\n"
MISTAKES = 'import svc_notebook as svc\n\nsvc.serach("a")\nsvc.search("a", hitsPerPage="x")\n'
# Members of a response depend on the service, and expressions at the end of a cell are shown.
RULES_OFF = (
    "reportOptionalMemberAccess", "reportTypedDictNotRequiredAccess", "reportUnusedExpression",
)  # fmt: skip
# npx installs it once, as the type checks of the editors' scripts do with TypeScript.
PYRIGHT = ("npx", "--yes", "--package=pyright@1.1.414", "--", "pyright")
ACCESSOR = ".svc."  # pandas' types do not know registered accessors


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    """A folder with the script of each page and one with mistakes."""
    for page in PAGES:
        text = write_script(page, IMPORTS)
        (tmp_path / f"page_{page.stem.replace('-', '_')}.py").write_text(text, encoding="utf-8")
    (tmp_path / "mistakes.py").write_text(MISTAKES, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(dict.fromkeys(RULES_OFF, "none")))
    return tmp_path


def check_with_pyright(folder: Path) -> list[tuple[str, int]]:
    """Return the files and lines of errors."""
    done = subprocess.run(
        [*PYRIGHT, "--outputjson", "--pythonpath", sys.executable, str(folder)],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    errors = [
        each for each in json.loads(done.stdout)["generalDiagnostics"]
        if each["severity"] == "error"
    ]  # fmt: skip
    return [(Path(e["file"]).name, e["range"]["start"]["line"] + 1) for e in errors]


@pytest.mark.skipif(shutil.which("npx") is None, reason="npm is not installed")
def test_pyright_finds_nothing_but_mistakes(scripts: Path) -> None:
    found = check_with_pyright(scripts)

    assert {line for name, line in found if name == "mistakes.py"} == {3, 4}
    offenders = [
        f"{name}:{line}: {text}"
        for name, line in found
        if name != "mistakes.py"
        if ACCESSOR not in (text := (scripts / name).read_text().splitlines()[line - 1])
    ]
    assert offenders == []


def test_mypy_finds_the_mistakes(scripts: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-incremental", "mistakes.py"],
        capture_output=True, text=True, check=False, cwd=scripts,
    )  # fmt: skip

    found = {line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line}
    assert found == {"3", "4"}, done.stdout

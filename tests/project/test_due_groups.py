"""The groups of long tests that a run of CI may leave out."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

DUE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "due.py"))
GROUPS: dict[str, tuple[str, ...]] = DUE["GROUPS"]


def due_after(*changed: str) -> set[str]:
    """The groups that are due where these paths changed."""
    return {name for name, paths in GROUPS.items() if DUE["is_due"]([*changed], paths)}


def test_groups_name_paths_that_exist() -> None:
    paths = [path for group in GROUPS.values() for path in group]

    assert not [path for path in paths if not list(ROOT.glob(f"{path.rstrip('/')}*"))]


def test_a_change_makes_its_groups_due() -> None:
    assert due_after("README.md") == set()
    assert due_after("README.md", "notebooks/cinema.py") == {"tutorials", "jupyterlab"}
    assert due_after("svc_notebook/service/crawl/site_files.py") == {"soak", "hostile-pages"}
    extracted = {"soak", "hostile-pages", "generated-sites"}
    assert due_after("svc_notebook/service/crawl/extraction/links.py") == extracted
    assert due_after("hashes.txt") == set(GROUPS)
    assert due_after("tests/conftest.py") == set(GROUPS) - {"newest-releases"}


@pytest.mark.parametrize("base", ["", "0" * 40, "a-name-that-is-not-there"])
def test_every_group_is_due_where_changes_are_unknown(base: str) -> None:
    assert DUE["list_changes"](base) is None
    assert all(DUE["is_due"](None, paths) for paths in GROUPS.values())


def test_new_and_changed_files_are_changes(tmp_path: Path) -> None:
    script = tmp_path / ".ci" / "due.py"
    script.parent.mkdir()
    script.write_text((ROOT / ".ci" / "due.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "README.md").write_text("a")
    commit = ["-c", "user.name=a", "-c", "user.email=a@b.test", "commit", "--quiet", "-m", "a"]
    for words in (["init", "--quiet"], ["add", "."], commit):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)

    def run(base: str, *options: str) -> list[str]:
        return subprocess.run(
            [sys.executable, str(script), *options],
            env={"CI_BASE": base}, capture_output=True, text=True, check=True,
        ).stdout.split()  # fmt: skip

    assert run("HEAD") == []
    (tmp_path / "README.md").write_text("b")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "05.ipynb").write_text("{}")
    assert run("HEAD") == ["jupyterlab", "tutorials"]
    assert run("unknown") == [*GROUPS]
    assert "soak:" in run("HEAD", "--left-out")

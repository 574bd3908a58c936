"""The groups of long tests that a run of CI may leave out."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.rotation import ROTATION_VARIABLE

DUE: dict[str, Any] = runpy.run_path(str(ROOT / ".ci" / "due.py"))
GROUPS: dict[str, Any] = DUE["GROUPS"]


def due_after(*changed: str) -> set[str]:
    """The groups that are due where these paths changed."""
    return {name for name, group in GROUPS.items() if group.is_due([*changed])}


def test_groups_name_paths_that_exist() -> None:
    paths = [path for group in GROUPS.values() for path in (*group.tests, *group.paths)]

    assert not [path for path in paths if not list(ROOT.glob(f"{path.rstrip('/')}*"))]


def test_every_slow_test_is_in_a_group() -> None:
    folders = tuple(folder for group in DUE["FOLDERS"].values() for folder in group.tests)
    modules = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("tests/**/test_*.py")]

    assert not [module for module in modules if not module.startswith(folders)]


def test_a_change_makes_its_groups_due() -> None:
    assert due_after("README.md") == set()
    notebooks = {"browser", "tutorials", "jupyterlab", "site"}
    assert due_after("README.md", "notebooks/films.py") == notebooks
    crawl = {"crawl", "project", "soak", "hostile-pages"}
    assert due_after("svc_notebook/service/crawl/site_files.py") == crawl
    extracted = crawl | {"generated-sites"}
    assert due_after("svc_notebook/service/crawl/extraction/links.py") == extracted
    assert due_after("svc_notebook/tuning/runs.py") == {"tuning", "tutorials", "project"}
    assert due_after("hashes.txt") == set(GROUPS)


def test_a_changed_module_of_tests_makes_no_other_due() -> None:
    assert due_after("tests/data/loading/test_ids.py") == set()
    assert due_after("tests/data/loading/tables.py") == {"loading"}
    assert due_after("tests/service/test_soak.py") == {"soak"}

    def options(*changed: str) -> list[str]:
        return [*DUE["make_options"](sorted(due_after(*changed)), [*changed])]

    assert (
        options("tests/data/loading/test_ids.py")[0] == "--slow-in=tests/data/loading/test_ids.py"
    )
    assert "--ignore=tests/service/test_soak.py" in options("svc_notebook/tuning/runs.py")
    soak = options("tests/service/test_soak.py")
    assert "--slow-in=tests/service/test_soak.py" in soak
    assert "--ignore=tests/service/test_soak.py" not in soak


def test_slow_tests_that_protect_no_data_run_by_half_where_many_groups_are_due(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def options(*names: str) -> list[str]:
        return [*DUE["make_options"]([*names], [])]

    assert "--slow-in=tests/browser/" in options("browser", "loading")
    halved = options(*GROUPS)
    assert {"--half-in=tests/browser/", "--slow-in=tests/data/loading/"} < {*halved}
    assert "--slow-in=tests/browser/" not in halved
    monkeypatch.setenv("CI_ALL", "1")
    assert not [option for option in options(*GROUPS) if "--half-in" in option]


@pytest.mark.slow
def test_two_days_run_all_slow_tests_that_run_by_half() -> None:
    module = "tests/browser/test_lab_explorer.py"
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]

    def collect(day: int, *options: str) -> set[str]:
        done = subprocess.run(
            [*command, "--quick", *options, module], cwd=ROOT, capture_output=True, text=True,
            check=False, env={**os.environ, ROTATION_VARIABLE: str(day)},
        )  # fmt: skip
        return {line for line in done.stdout.splitlines() if "::" in line}

    every = collect(0, f"--slow-in={module}")
    halves = [collect(day, f"--half-in={module}") for day in (0, 1)]
    assert halves[0] | halves[1] == every
    assert not halves[0] & halves[1]
    assert all(halves)


@pytest.mark.slow
def test_slow_tests_run_in_the_named_modules_only() -> None:
    modules = ("tests/service/test_kill.py", "tests/service/test_soak.py")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]

    def collect(*options: str) -> set[str]:
        done = subprocess.run(
            [*command, *options, *modules], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return {line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line}

    assert collect("--quick") == set()
    assert collect("--quick", f"--slow-in={modules[0]}") == {modules[0]}
    assert collect("--quick", "--slow-in=tests/service/") == set(modules)


@pytest.mark.parametrize("base", ["", "0" * 40, "a-name-that-is-not-there"])
def test_every_group_is_due_where_changes_are_unknown(base: str) -> None:
    assert DUE["list_changes"](base) is None
    assert all(group.is_due(None) for group in GROUPS.values())


@pytest.mark.slow
def test_new_and_changed_files_are_changes(tmp_path: Path) -> None:
    script = tmp_path / ".ci" / "due.py"
    script.parent.mkdir()
    script.write_text((ROOT / ".ci" / "due.py").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "README.md").write_text("a")
    project = tmp_path / "pyproject.toml"
    project.write_text('[project]\nversion = "1"\ndependencies = []\n')
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
    due = ["browser", "tutorials", "jupyterlab", "site"]
    assert run("HEAD") == due
    project.write_text('[project]\nversion = "2"\ndependencies = []\n[tool.ruff]\n')
    assert run("HEAD") == due
    assert "soak:" in run("HEAD", "--left-out")
    project.write_text('[project]\nversion = "2"\ndependencies = ["a"]\n')
    assert run("HEAD") == run("unknown") == [*GROUPS]

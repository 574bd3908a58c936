"""No child process imports modules of the folder that a user works in."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_notebook.core.child_process import add_package_path, script_command, start_process
from tests.conftest import ROOT

PACKAGE = ROOT / "svc_notebook"
HELPER = PACKAGE / "core" / "child_process.py"
# Modules that start programs other than Python.
OTHERS = {PACKAGE / "service" / "crawl" / "rendering" / "browser.py": {"subprocess.run"}}
STARTERS = {
    *("subprocess.Popen", "subprocess.run", "subprocess.call", "subprocess.check_call"),
    *("subprocess.check_output", "asyncio.create_subprocess_exec", "sys.executable"),
    *("asyncio.create_subprocess_shell", "os.system", "os.popen", "os.posix_spawn", "os.fork"),
    *("os.execv", "os.execve", "os.spawnv", "runpy.run_module", "runpy.run_path"),
}
MODULES_OF_STARTERS = {"multiprocessing", "concurrent.futures.process"}
DEPENDENCIES = (
    *("numpy", "pandas", "msgspec", "httpx", "httptools", "uvicorn", "scipy", "Stemmer"),
    *("simplemma", "lemminflect", "stopwordsiso", "jaconv", "regex", "py_mini_racer", "selectolax"),
    *("pypdf", "platformdirs", "svc_notebook_pytest", "sitecustomize", "usercustomize"),
)
TRAP = """
import os
with open(os.environ["TRAP_FILE"], "a") as file:
    print(__name__, os.getpid(), file=file)
"""
SCRIPT = """
import json, pathlib, threading

from svc_notebook.core import files
from svc_notebook.service.crawl.extraction.extractors import ENGINE_MODULE
from svc_notebook.service.crawl.extraction.worker import Worker
from svc_notebook.service.engine.text import word_forms
from svc_notebook.service.engine.text.word_forms import has_table
from svc_notebook.service.service import Service
from svc_notebook.data.session.local_service import local
from tests.service.worker_calls import WithWorkers

service = Service(pathlib.Path("searched"))  # relative, as users write it
service.start()
searching = WithWorkers(service, 2)
searching.start()
assert len(searching.workers.processes) == 2
searching.shared.close()

worker = Worker(ENGINE_MODULE, "67108864")
worker._running()
worker.close()

word_forms.start_build("it")
word_forms._builds["it"].join()
assert has_table("it")

running = local("local-data")
assert running.url
running.stop()
print("all started")
"""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of modules named like Python's, like ours and like those that we depend on."""
    folder = tmp_path / "cloned"
    (folder / "svc_notebook").mkdir(parents=True)
    (folder / "svc_notebook" / "__init__.py").write_text(TRAP)
    for name in (*sys.stdlib_module_names, *DEPENDENCIES):
        (folder / f"{name}.py").write_text(TRAP)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_child_runs_the_modules_of_the_working_folder(hostile: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trapped"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "TRAP_FILE": str(trap),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], cwd=hostile, env=environment, capture_output=True, text=True
        )
        return done.stdout + done.stderr

    run("-m", "json.tool", "--help")
    assert trap.exists(), "the modules of the folder do not shadow anything"
    trap.unlink()

    said = run("-P", "-c", SCRIPT)

    assert "all started" in said, said
    assert not trap.exists(), trap.read_text()


def test_folders_in_pythonpath_are_kept_and_the_working_folder_is_not(tmp_path: Path) -> None:
    given = os.pathsep.join(["", "relative", str(tmp_path), ""])

    paths = add_package_path({"PYTHONPATH": given, "A": "1"})["PYTHONPATH"].split(os.pathsep)

    assert "" not in paths
    assert paths[-2:] == [str(Path.cwd() / "relative"), str(tmp_path)]


def test_a_child_starts_although_pythonhome_names_another_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))

    child = start_process(script_command("print(1)"), stdout=subprocess.PIPE)

    assert child.communicate(timeout=60)[0] == b"1\n"
    environment = {"PYTHONHOME": sys.base_prefix}
    assert add_package_path(environment)["PYTHONHOME"] == sys.base_prefix


def starters(path: Path) -> Iterator[str]:
    """The functions that start processes, and modules for it, that a module names."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (name := f"{node.value.id}.{node.attr}") in STARTERS:
                # Popen is the type of the processes, too.
                yield name
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES_OF_STARTERS)
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from names & STARTERS
            if node.module in MODULES_OF_STARTERS:
                yield str(node.module)


def calls_of(path: Path) -> set[str]:
    """Those of them that are not the annotation of a type."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    called = {
        f"{node.func.value.id}.{node.func.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
    }
    return {name for name in starters(path) if name != "subprocess.Popen" or name in called}


@pytest.mark.slow
def test_only_one_module_starts_python() -> None:
    found = {path: calls_of(path) for path in PACKAGE.rglob("*.py") if path != HELPER}

    assert {path: names for path, names in found.items() if names} == OTHERS
    assert calls_of(HELPER) == {"subprocess.Popen", "sys.executable"}

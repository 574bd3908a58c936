"""The JupyterLab extension, installed from the wheel into an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.lab import open_lab
from tests.browser.labextension import fresh
from tests.browser.shop import connect, fill, products
from tests.conftest import ROOT, Running

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]
EXTENSION = Path("share/jupyter/labextensions/svc-notebook")
# JupyterLab's own pages lie where JupyterLab is installed.
LAB_PAGES = {"JUPYTERLAB_DIR": str(Path(sys.prefix) / "share" / "jupyter" / "lab")}

# An extension of the server that is configured where JupyterLab is installed.
OF_ANOTHER = "/lsp/status"


def run(python: Path, *arguments: str) -> str:
    done = subprocess.run(
        [str(python), "-m", *arguments],
        env={**os.environ, **LAB_PAGES},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the built wheel, and else what this one has."""
    folder = tmp_path_factory.mktemp("environment")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    venv.create(folder / "env", with_pip=False)
    own = folder / "env" / "bin" / "python"
    [site] = (folder / "env" / "lib").glob("python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib"))
    run(
        own,
        "pip",
        "install",
        "--no-deps",
        "--no-index",
        "--quiet",
        "--ignore-installed",
        f"{wheel}",
    )
    return own


def test_the_wheel_is_all_that_is_installed(
    python: Path, page: Page, service: Running, tmp_path: Path
) -> None:
    fill(service, "from-the-wheel", products()[:3])
    prefix = python.parents[1]

    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status == 404 else None)

    listed = run(python, "jupyterlab.labextensions", "list")
    for name in ("home", "lab"):
        (tmp_path / name).mkdir()
    with open_lab(tmp_path / "home", tmp_path / "lab", python=str(python), **LAB_PAGES) as lab:
        lab_page = fresh(page, lab)
        lab_page.run(connect(service))
        expect(lab_page.row("from-the-wheel")).to_contain_text("3")
        place = str(lab_page.ask("svc.__file__"))

    line = next(line for line in listed.splitlines() if "svc-notebook" in line)
    assert "enabled" in line
    assert "OK" in line
    assert place.startswith(str(prefix))
    assert not [url for url in missing if OF_ANOTHER not in url]
    assert not [each for each in lab_page.complaints if "404" not in each]
    files = {path.name for path in (prefix / EXTENSION).rglob("*") if path.is_file()}
    assert {
        "remoteEntry.js",
        "explorer.js",
        "language.json",
        "tuning.ipynb",
        "plugin.json",
    } <= files

    run(python, "pip", "uninstall", "--yes", "--quiet", "svc-notebook")

    assert not (prefix / EXTENSION).exists()
    assert "svc-notebook" not in run(python, "jupyterlab.labextensions", "list")


def test_the_extension_has_the_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = json.loads((ROOT / "widgets/lab/package.json").read_text(encoding="utf-8"))

    assert (package["name"], package["version"]) == (project["name"], project["version"])


def test_make_lab_links_what_the_wheel_installs() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shared = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-data"]
    linked = next(
        line.partition("=")[2].replace("$(addprefix widgets/,", "").replace(")", "").split()
        for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
        if line.startswith("EXTENSION =")
    )

    places = {target.removeprefix(f"{EXTENSION}/").split("/")[0] for target in shared.values()}

    assert {Path(name).name for name in linked} == places

"""What a release is made of: the sdist, the metadata, the recipe and the workflow."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT

CONTENT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = CONTENT["project"], CONTENT["dependency-groups"]
# The names of packages of conda-forge that differ from those of PyPI.
CONDA_NAMES = {
    "msgspec": "msgspec-python",
    "duckdb": "python-duckdb",
    "matplotlib": "matplotlib-base",
}
# Early patch releases of Python 3.11 have no filters.
EXTRACTION: Any = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def build(kind: str, source: Path, target: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(target)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    [built] = target.iterdir()
    return built


def read_wheel(path: Path) -> tuple[dict[str, bytes], Message]:
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    [metadata] = (name for name in files if name.endswith(".dist-info/METADATA"))
    return files, HeaderParser().parsestr(files[metadata].decode())


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_sdist_builds_the_wheel_of_the_checkout(tmp_path: Path) -> None:
    sdist = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", **EXTRACTION)
    [source] = (tmp_path / "unpacked").iterdir()

    files, metadata = read_wheel(build("wheel", source, tmp_path / "from-sdist"))
    expected, _ = read_wheel(build("wheel", ROOT, tmp_path / "from-checkout"))

    assert {name for name in files if files[name] != expected.get(name)} == set()
    assert files.keys() == expected.keys()
    assert not {*GROUPS} & {*metadata.get_all("Provides-Extra", [])}
    assert {"all", "bulk", "lab", "local"} <= {*metadata.get_all("Provides-Extra", [])}
    labels = {address.partition(",")[0] for address in metadata.get_all("Project-URL", [])}
    assert {"Documentation", "Changelog"} <= labels
    assert not {"demo-out", "build", "dist", ".venv"} & {path.name for path in source.iterdir()}


def test_the_metadata_names_status_and_the_pythons_on_which_the_wheel_is_tried() -> None:
    classifiers = PROJECT["classifiers"]
    pythons = {row.rpartition(" ")[2] for row in classifiers if ":: Python :: 3." in row}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [pinned] = re.findall(r"versions.py pin (.+)", makefile)

    assert any(row.startswith("Development Status ::") for row in classifiers)
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    bare = yaml.safe_load(text)["jobs"]["bare"]
    assert pythons == {*bare["strategy"]["matrix"]["python"]}
    assert pythons >= {name.removeprefix("python") for name in pinned.split()}
    assert any("pip install dist/*.whl" in step.get("run", "") for step in bare["steps"])


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.stem
)
def test_a_workflow_is_valid_and_needs_jobs_that_it_has(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))

    for job in workflow["jobs"].values():
        needs = job.get("needs", [])
        assert {*([needs] if isinstance(needs, str) else needs)} <= workflow["jobs"].keys()
        assert all("run" in step or "uses" in step for step in job["steps"])


def test_the_recipe_needs_what_the_project_needs() -> None:
    recipe: dict[str, Any] = yaml.safe_load((ROOT / "recipe" / "recipe.yaml").read_text())
    extras = {need for needs in PROJECT["optional-dependencies"].values() for need in needs}

    def spell(need: str) -> str:
        name, sign, version = need.partition(">=")
        return f"{CONDA_NAMES.get(name, name)} {sign}{version}"

    assert recipe["context"]["version"] == PROJECT["version"]
    _, *run = recipe["requirements"]["run"]
    assert run == [spell(need) for need in PROJECT["dependencies"]]
    assert {*recipe["requirements"]["run_constraints"]} <= {spell(need) for need in extras}
    [script] = recipe["build"]["python"]["entry_points"]
    name, _, target = script.partition(" = ")
    assert PROJECT["scripts"] == {name: target}
    lowest = yaml.safe_load((ROOT / "recipe" / "variants.yaml").read_text())["python_min"]
    assert PROJECT["requires-python"] == f">={lowest[0]}"


def test_the_workflow_checks_signs_and_lists_what_it_publishes() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)["jobs"]
    steps = jobs["build"]["steps"]
    uses = [step.get("uses", "").partition("@")[0] for step in steps]
    runs = "\n".join(step.get("run", "") for step in steps)

    assert "twine check --strict dist/*" in runs
    assert "cyclonedx-py environment" in runs
    assert {"actions/attest-build-provenance", "actions/attest-sbom"} <= {*uses}
    assert jobs["build"]["permissions"] == {
        "contents": "read", "id-token": "write", "attestations": "write",
    }  # fmt: skip
    assert jobs["publish"]["permissions"] == {"id-token": "write"}

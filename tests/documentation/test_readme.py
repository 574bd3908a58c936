"""The README's code runs as it stands."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from svc_notebook import samples
from tests.conftest import ROOT

README = ROOT / "README.md"
SHOWN = "\nprint(svc.search('products', 'desk lmap', filters='price < 50').to_json())\n"
COMMAND = [sys.executable, "-m", "svc_notebook"]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def own_home(folder: Path) -> dict[str, str]:
    """The surroundings of a user who has configured nothing."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
    homes = {name: str(folder / name) for name in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
    return own | homes | {"PYTHONPATH": str(ROOT), "SVC_CONFIG": str(folder / "none.toml")}


def run(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, env=own_home(folder), capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


@contextmanager
def served(folder: Path) -> Iterator[None]:
    """`svc serve`, as it is typed in another terminal."""
    process = subprocess.Popen(
        [*COMMAND, "serve"], cwd=folder, env=own_home(folder), stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        process.stdout.readline()
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)


def test_the_first_example_finds_the_lamps(tmp_path: Path) -> None:
    [code] = blocks("python")
    products = samples.products()
    lamps = products[products["name"].str.contains("desk lamp") & (products["price"] < 50)]

    ran = run([sys.executable, "-W", "error", "-c", code + SHOWN], tmp_path)

    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert {*found["sku"].values()} == {*lamps["sku"]}
    assert len(lamps) >= 5


def test_the_command_loads_into_the_service_that_runs(tmp_path: Path) -> None:
    [line] = [line for block in blocks("console") for line in block.splitlines() if "load" in line]
    samples.products().to_csv(tmp_path / "products.csv", index=False)

    with served(tmp_path):
        loaded = run([*COMMAND, *shlex.split(line.removeprefix("$ svc "))], tmp_path)
        found = run([*COMMAND, "search", "products", "desk lamp", "--format", "json"], tmp_path)

    assert loaded.returncode == 0, loaded.stderr
    assert "240 published" in loaded.stdout
    assert json.loads(found.stdout)[0]["name"].endswith("desk lamp")


def test_links_are_absolute_and_name_pages_of_the_documentation() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    site = project["urls"]["Documentation"]
    links = re.findall(r"\]\((.*?)\)", README.read_text(encoding="utf-8"))

    # The page of a package index resolves no relative link.
    assert [link for link in links if not link.startswith(site)] == []
    files = [ROOT / "docs" / link.removeprefix(site) for link in links]
    assert [
        file for file in files if not file.exists() and not file.with_suffix(".md").exists()
    ] == []
    assert len(files) >= 10

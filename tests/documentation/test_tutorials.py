"""The tutorials, copied to a folder of the user."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import svc_notebook as svc
from svc_notebook.errors import BadInput
from svc_notebook.faces.cli import main
from tests.conftest import ROOT

NOTEBOOKS = ROOT / "notebooks"


def test_all_notebooks_and_what_they_import_are_copied(tmp_path: Path) -> None:
    copied = svc.copy_tutorials(tmp_path / "a" / "b")

    files = {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()}
    assert copied["file"].tolist() == [
        str(tmp_path / "a" / "b" / path.name) for path in sorted(NOTEBOOKS.glob("[0-9]*"))
    ]
    assert files == {name: (NOTEBOOKS / name).read_bytes() for name in files}
    imported = re.findall(r"from (\w+) import", "".join(read_code(NOTEBOOKS)))
    own = {name for name in imported if (NOTEBOOKS / f"{name}.py").exists()}
    modules = {name.removesuffix(".py") for name in files if name.endswith(".py")}
    assert modules == {*own, "06-search-in-marimo"}
    assert copied["title"].iloc[5] == "Search in marimo"


def read_code(folder: Path) -> list[str]:
    """The lines of all code cells."""
    notebooks = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.ipynb")]
    cells = [cell for notebook in notebooks for cell in notebook["cells"]]
    return [line for cell in cells if cell["cell_type"] == "code" for line in cell["source"]]


def test_own_work_in_a_copy_is_kept(tmp_path: Path) -> None:
    svc.copy_tutorials(tmp_path)
    (tmp_path / "films.py").write_text("mine")
    (tmp_path / "cinema.py").unlink()

    with pytest.raises(BadInput, match=r"^films\.py in .* would be replaced; .* overwrite=True$"):
        svc.copy_tutorials(tmp_path)

    assert (tmp_path / "films.py").read_text() == "mine"
    assert not (tmp_path / "cinema.py").exists()
    svc.copy_tutorials(tmp_path, overwrite=True)
    assert "mine" not in (tmp_path / "films.py").read_text()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(BadInput, match=r"file cannot be created: "):
        svc.copy_tutorials(tmp_path / "file")


def test_the_command_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["tutorials"]) == 0

    assert "01-from-csv-to-search.ipynb" in capsys.readouterr().out
    assert (tmp_path / "svc-tutorials" / "04-measure-and-improve.ipynb").is_file()


def test_the_launcher_copies_the_same_files(tmp_path: Path) -> None:
    script = (ROOT / "widgets/lab/static/launcher.js").read_text(encoding="utf-8")
    listed = re.search(r"TUTORIAL_FILES = (\[.*?\])", script, re.DOTALL)
    svc.copy_tutorials(tmp_path)

    assert listed
    assert set(re.findall(r'"(.*?)"', listed[1])) == {path.name for path in tmp_path.iterdir()}

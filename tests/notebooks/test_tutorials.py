"""Each tutorial runs from its first cell to its last, offline."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "notebooks"
TUTORIALS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path: Path, tmp_path: Path) -> None:
    for source in FOLDER.glob("*.py"):
        shutil.copy(source, tmp_path)
    notebook = nbformat.read(path, as_version=4)

    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    said = "".join(
        str(output.get("data", output.get("text", ""))) for cell in cells for output in cell.outputs
    )
    assert "Traceback" not in said
    assert "Warning" not in said
    shown = [output.get("data", {}) for cell in cells for output in cell.outputs]
    figures = [data for data in shown if data.get("text/plain", "").startswith("<Figure")]
    assert all("image/png" in figure for figure in figures)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]

    assert not [cell for cell in cells if cell.outputs or cell.execution_count]

"""Notebooks that the launcher creates from templates run from the first cell to the last."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT

TEMPLATES = sorted((ROOT / "widgets" / "lab" / "static" / "templates").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    notebook = nbformat.read(path, as_version=4)

    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    said = "".join(
        str(output.get("data", output.get("text", ""))) for cell in cells for output in cell.outputs
    )
    assert "Traceback" not in said
    assert "Warning" not in said


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_is_stored_without_outputs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)

    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]

    assert not [cell for cell in cells if cell.outputs or cell.execution_count]

"""A stored notebook, run from its first cell to its last."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def run(path: Path, folder: Path) -> list[dict[str, Any]]:
    """Run a notebook in a folder and return its outputs; no error or warning may be among them."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)

    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}}).execute()

    return read_outputs(notebook)


def read_outputs(notebook: Any) -> list[dict[str, Any]]:
    """Return the outputs of a notebook that has run; no error or warning may be among them."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    said = "".join(str(output.get("data", output.get("text", ""))) for output in outputs)
    assert "Traceback" not in said
    assert "Warning" not in said
    return outputs


def assert_no_outputs(path: Path) -> None:
    """A notebook is stored without outputs and counts of executions."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [cell for cell in cells if cell.outputs or cell.execution_count]

"""Each tutorial runs from its first cell to its last, offline."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.notebooks.running import assert_no_outputs, read_outputs

TUTORIALS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_runs(path: Path) -> None:
    from tutorial_pages import run_notebook

    outputs = read_outputs(run_notebook(path))

    shown = [output.get("data", {}) for output in outputs]
    figures = [data for data in shown if data.get("text/plain", "").startswith("<Figure")]
    assert all("image/png" in figure for figure in figures)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_is_stored_without_outputs(path: Path) -> None:
    assert_no_outputs(path)

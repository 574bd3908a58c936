"""Notebooks that the launcher creates from templates run from the first cell to the last."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.notebooks.running import assert_no_outputs, run

TEMPLATES = sorted((ROOT / "widgets" / "lab" / "static" / "templates").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))

    assert run(path, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_a_template_is_stored_without_outputs(path: Path) -> None:
    assert_no_outputs(path)

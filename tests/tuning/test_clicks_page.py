"""The code on the page about clicks runs as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.tuning.clicks import MODELS
from tests.conftest import start_service, stop_service

PAGE = (Path(__file__).parents[2] / "docs" / "clicks.md").read_text(encoding="utf-8")


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A service whose index `products` nobody else knows."""
    process, running = start_service(tmp_path / "data")
    monkeypatch.setenv("SVC_CONFIG", str(tmp_path / "config.toml"))
    svc.connect(url=running.url, app_id=running.appId, api_key=running.adminKey)
    yield
    stop_service(process)


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_the_page_leads_from_a_click_to_judgments() -> None:
    svc.push(pd.DataFrame({"id": ["1", "2"], "name": ["a lamp", "a lamp"]}), "products", id="id")
    names: dict[str, Any] = {"svc": svc}

    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, names)

    assert names["judged"]["objectID"].tolist() == ["2"]
    assert names["by_hand"]["objectID"].tolist() == ["17", "4"]
    assert names["queries"]["query"].tolist() == ["lamp"]
    assert names["zero_results"].empty


def test_the_page_names_every_model_with_its_smoothing() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", PAGE, re.MULTILINE))

    assert rows.keys() == MODELS.keys()
    for name, method in MODELS.items():
        assert ("s = 2" in rows[name]) == (method.smoothing == 2)

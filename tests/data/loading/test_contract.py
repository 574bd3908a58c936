"""Saved plans as contracts of later loads."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput

ROWS = pd.DataFrame({"k": ["a", "b"], "n": [1, 2], "g": ["x|y", "z"]})


def load(client: Client, source: Any, index: str, **options: Any) -> loading.LoadResult:
    return background_loop.run(loading.load(client.aio, source, index, **options))


def test_a_saved_plan_is_the_contract_of_later_loads(client: Client, tmp_path: Path) -> None:
    index, saved = f"contract-{uuid4().hex[:8]}", tmp_path / "p.plan.yaml"
    loading.plan(ROWS, index, id="k", dtype={"g": "list"}, geo=None).save(saved)

    result = load(client, ROWS, index, plan=saved)

    assert result.plan.ids == "column `k`"
    assert client.get_object(index, "a")["g"] == ["x", "y"]
    drifted: list[tuple[pd.DataFrame, str]] = [
        (ROWS.assign(z=1), "`z` is new"),
        (ROWS.drop(columns="n"), "`n` is missing"),
        (ROWS.assign(n=["1", "2"]), "`n` is sent as text, not integer"),
        (ROWS.assign(g=pd.Series(["x", None], dtype="str")), "`g` lacks 50% of its values, not 0%"),
    ]
    for frame, message in drifted:
        with pytest.raises(BadInput, match=f"is not sent.*{message}"):
            load(client, frame, index, plan=saved)


def test_plans_and_schemas_are_contracts(client: Client, tmp_path: Path) -> None:
    index = f"contract-{uuid4().hex[:8]}"
    column = SimpleNamespace(dtype="int64", nullable=False, required=True)
    schema = SimpleNamespace(columns={"n": column}, strict=False, name="s")

    load(client, ROWS, index, plan=loading.plan(ROWS, index, id="k"))
    load(client, ROWS, index, id="k", plan=schema)

    with pytest.raises(BadInput, match="differs from the schema s: `n` is sent as number"):
        load(client, ROWS.assign(n=[1.5, 2]), index, id="k", plan=schema)
    (tmp_path / "x.yaml").write_text("a: 1")
    for wrong in (3, tmp_path / "no.yaml", tmp_path / "x.yaml"):
        with pytest.raises(BadInput, match="plan"):
            load(client, ROWS, index, plan=wrong)

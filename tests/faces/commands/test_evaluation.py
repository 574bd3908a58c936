"""The verbs `evaluate` and `compare`, on a real service."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.errors import BadOption
from tests.faces.commands.conftest import Typed, type_line

JUDGED = pd.DataFrame(
    {"query": ["lamp", "lamp", "lump"], "objectID": ["1", "2", "3"], "rating": [1, 3, 2]}
)


@pytest.fixture
def shop(admin: svc.Client, tmp_path: Path) -> str:
    name = f"measuring-{tmp_path.name}"
    names = ["lamp", "lamp of oak", "lump of coal"]
    svc.push(pd.DataFrame({"objectID": ["1", "2", "3"], "name": names}), name, progress=False)
    return name


def test_an_index_is_evaluated_by_a_file_or_a_variable(
    typed: Typed, shop: str, tmp_path: Path
) -> None:
    JUDGED.to_csv(tmp_path / "judged.csv", index=False)

    by_file = typed(f"evaluate {shop} {tmp_path}/judged.csv --metrics ndcg@10,p@2")
    by_name = type_line(f"evaluate {shop} --from judged --metrics ndcg@10,p@2", judged=JUDGED)

    pd.testing.assert_frame_equal(by_file, by_name)
    assert by_file["metric"].tolist() == ["ndcg@10", "p@2"]
    assert by_file["queries"].tolist() == [2, 2]


def test_an_index_is_compared_with_itself_under_parameters(typed: Typed, shop: str) -> None:
    found = type_line(
        f"compare {shop} {shop} --from judged --typoTolerance false --metrics p@3 --seed 3",
        judged=JUDGED,
    )

    assert found.variants == (f"{shop} typoTolerance=false",)
    assert found.seed == 3
    assert found.metrics == ["p@3"]


def test_judgments_are_required(typed: Typed, shop: str) -> None:
    with pytest.raises(BadOption, match="judgments are missing"):
        typed(f"evaluate {shop}")

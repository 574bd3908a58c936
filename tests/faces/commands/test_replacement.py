"""All records of an index replaced at once, on a real service."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import svc_notebook as svc
from tests.faces.commands.conftest import Typed

OLD = pd.DataFrame({"objectID": ["1", "2", "3", "4"], "name": ["a", "b", "c", "d"]})
NEW = pd.DataFrame({"objectID": ["3", "4", "5"], "name": ["x", "y", "z"]})


@pytest.fixture
def index(admin: svc.Client, tmp_path: Path) -> str:
    """An index of this test's own: four records and a setting."""
    name = f"replacing-{tmp_path.name}"
    svc.push(OLD, name)
    svc.settings(name, hitsPerPage=7)
    return name


def held(index: str) -> list[list[str]]:
    found = svc.read_browse(index).sort_values("objectID")
    return [list(row) for row in found[["objectID", "name"]].itertuples(index=False)]


def leftovers(index: str) -> list[str]:
    return [name for name in svc.read_indices()["name"] if name.startswith(f"{index}_")]


@pytest.mark.parametrize("way", ["file", "frame"])
def test_new_records_replace_the_old(typed: Typed, index: str, tmp_path: Path, way: str) -> None:
    NEW.to_csv(tmp_path / "new.csv", index=False)
    source = f'{tmp_path / "new.csv"} --dtype {{"objectID":"string"}}'

    result = typed(f"replace {index} {source if way == 'file' else '--from new'} --yes", new=NEW)

    assert held(index) == [["3", "x"], ["4", "y"], ["5", "z"]]
    assert (result.index, result.published) == (index, 3)
    assert svc.current().get_settings(index)["hitsPerPage"] == 7
    assert leftovers(index) == []


def test_too_few_new_ones_replace_nothing(typed: Typed, index: str) -> None:
    with pytest.raises(svc.errors.BadInput, match="has 4 records and would have 1"):
        typed(f"replace {index} --from new --yes", new=NEW[:1])

    assert len(held(index)) == 4
    assert leftovers(index) == []


def test_few_records_replace_many_on_request(typed: Typed, index: str) -> None:
    typed(f"replace {index} --from new --min-share 0 --yes", new=NEW[:1])

    assert held(index) == [["3", "x"]]


def test_a_row_that_cannot_be_sent_replaces_nothing(typed: Typed, index: str) -> None:
    bad = NEW.assign(size=[1.0, float("inf"), 2.0])

    with pytest.raises(svc.errors.BadInput, match="1 row cannot be sent; nothing was replaced"):
        typed(f"replace {index} --from bad --yes", bad=bad)
    left = held(index)
    typed(f"replace {index} --from bad --skip-rejected --yes", bad=bad)

    assert len(left) == 4
    assert [row[0] for row in held(index)] == ["3", "5"]
    assert leftovers(index) == []


def test_an_index_that_is_not_there_is_made(typed: Typed, index: str) -> None:
    typed(f"replace {index}-new --from new --yes", new=NEW)

    assert len(held(f"{index}-new")) == 3


@pytest.mark.parametrize("least", [-1, 2, 50])
def test_a_share_is_from_nought_to_one(index: str, least: float) -> None:
    with pytest.raises(svc.errors.BadInput, match="must be a share from 0 to 1"):
        svc.replace_records(index, NEW, min_share=least)

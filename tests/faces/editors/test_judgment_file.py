"""Judgments are saved to a file while grades are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadOption
from svc_notebook.faces.editors.judgment_editor.judgments import (
    check_file,
    read_judgments,
    to_frame,
)
from svc_notebook.tuning.tables import write_table

HARD: list[dict[str, Any]] = [
    {"query": "lamp", "objectID": "007", "rating": 0},
    {"query": "", "objectID": "1e5", "unrateable": True, "rater": "null"},
    {"query": "NA", "objectID": "a,b", "note": 'two\nlines, "quoted"', "filters": "price < 9"},
    {"query": "é", "objectID": " 7 ", "rating": 2.5, "judged_at": "2026-01-02T03:04:05.678901Z"},
    {"query": "own", "objectID": "1", "rating": 3, "source": "click", "mine": 1.5},
]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_gives_back_what_it_was_given(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"judgments{suffix}"
    frame = to_frame(read_judgments(HARD))

    write_table(frame, path)

    assert_frame_equal(to_frame(read_judgments(path)), frame)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_without_judgments_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"judgments{suffix}"

    write_table(to_frame([]), path)

    assert read_judgments(path) == []


def test_each_judgment_is_in_the_file_at_once_and_continued_with(
    client: Client, shop: str, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.csv"
    editor = svc.edit.judgments(shop, ["lamp"], rater="ada", file=path, client=client)

    editor.grade("2", 3)
    editor.grade("1", 0)
    kept = pd.read_csv(path)
    editor.undo()
    later = svc.edit.judgments(shop, file=path, client=client)

    assert list(kept.rating) == [3, 0]
    assert list(later.frame.objectID) == ["2"]
    assert later.sheet["query"] == "lamp"


@pytest.mark.parametrize(
    ("name", "words"), [("judgments.xls", ".csv or .parquet"), ("no/such.csv", "does not exist")]
)
def test_an_invalid_file_name_is_refused(tmp_path: Path, name: str, words: str) -> None:
    with pytest.raises(BadOption, match=words):
        check_file(tmp_path / name)


def test_judgments_and_a_file_that_has_some_are_not_mixed(
    client: Client, shop: str, tmp_path: Path
) -> None:
    path = tmp_path / "judgments.parquet"
    frame = to_frame(read_judgments(HARD[:1]))
    write_table(frame, path)

    with pytest.raises(BadOption, match="already has judgments"):
        svc.edit.judgments(shop, judgments=frame, file=path, client=client)

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.loading import database, plan
from tests.data.loading.encoded_records import values

COLUMNS = 300
MISSING = {"": None}


def wide_frame(columns: int, rows: int = 4) -> pd.DataFrame:
    """Columns of every type that a delimited file can have, with missing values and misfits."""
    kinds: list[list[Any]] = [
        [1, 2, 3, 40], [1.5, 2.25, None, 4.0], ["a", "b", None, "d e"], [True, False, True, True],
        ["01", "02", "03", "04"], [None, None, None, None], ["NA", "1", "2", "3"],
        ["x", "1", "2", "3"],
    ]  # fmt: skip
    cells = {
        f"c {n}": [*kinds[n % len(kinds)], *kinds[n % len(kinds)]][:rows] for n in range(columns)
    }
    return pd.DataFrame({"sku": [f"s{n}" for n in range(rows)], **cells})


@pytest.fixture(params=["csv", "ndjson", "parquet"])
def wide_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    frame = wide_frame(COLUMNS)
    path = tmp_path / f"wide.{request.param}"
    if request.param == "csv":
        frame.to_csv(path, index=False)
    elif request.param == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_json(path, orient="records", lines=True)
    return path


@pytest.mark.slow
@pytest.mark.sampled(1)
def test_columns_computed_together_have_the_profile_of_columns_side_by_side(
    wide_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = plan(str(wide_file), "wide", id="sku")
    sent = values(str(wide_file), id="sku")
    monkeypatch.setattr(database, "MIN_CELLWISE_COLUMNS", 10_000)
    side_by_side = plan(str(wide_file), "wide", id="sku")

    pd.testing.assert_frame_equal(together.columns, side_by_side.columns)
    assert together.notes == side_by_side.notes
    assert together.sample == side_by_side.sample
    assert sent == values(str(wide_file), id="sku")


@pytest.mark.slow
def test_wide_documents_are_sent_unchanged(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    choices: list[Any] = [1, 2.5, "ü\n", True, None, [1, {"a": None}], {"b": "null"}, "null"]
    documents = [
        {f"m {n}": choices[rng.integers(len(choices))] for n in rng.permutation(400)[:200]}
        for _ in range(30)
    ]
    path = tmp_path / "wide.ndjson"
    path.write_text("".join(f"{json.dumps(each)}\n" for each in documents), encoding="utf-8")

    sent = values(str(path))

    assert sent == [{k: v for k, v in each.items() if v is not None} for each in documents]


@pytest.mark.slow
def test_broken_rows_of_a_wide_file_are_counted_once(tmp_path: Path) -> None:
    frame = wide_frame(COLUMNS)
    path = tmp_path / "wide.csv"
    frame.to_csv(path, index=False)
    whole = plan(str(path), "wide", id="sku")
    path.write_bytes(path.read_bytes() + b"s9" + b",1" * (COLUMNS + 150) + b"\n")

    found = plan(str(path), "wide", id="sku")

    assert (found.rows, found.rejected_rows) == (len(frame) + 1, 1)
    assert list(found.columns["missing"]) == list(whole.columns["missing"])


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("suffix", ["csv", "ndjson"])
def test_the_time_of_a_plan_grows_with_the_cells(tmp_path: Path, suffix: str) -> None:
    def seconds(columns: int) -> float:
        path = tmp_path / f"{columns}.{suffix}"
        frame = wide_frame(columns)
        if suffix == "csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_json(path, orient="records", lines=True)
        started = time.process_time()
        plan(str(path), "wide", id="sku")
        return time.process_time() - started

    seconds(10)  # imports

    # Four times the columns: 16 times the time, or more, if it grew with the square.
    # The best of two rounds, for what else the process does counts, too.
    assert min(map(seconds, [1200] * 2)) < 10 * min(map(seconds, [300] * 2))


def test_the_time_of_a_load_includes_reading_the_source(client: Client) -> None:
    def slow() -> Iterator[dict[str, Any]]:
        for number in range(3):
            time.sleep(0.1)
            yield {"objectID": str(number)}

    started = time.monotonic()
    result = svc.load(slow(), "timed", client=client)
    passed = time.monotonic() - started

    assert 0.3 <= result.seconds <= passed

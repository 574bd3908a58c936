"""The memory that a load may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from svc_notebook.data.loading import database
from svc_notebook.data.loading.database import MIN_MEGABYTES, Database, MemoryShort
from svc_notebook.data.loading.sources.parquet import needed_megabytes, read_footers
from tests.data.loading.encoded_records import pack


def megabytes(db: Database) -> float:
    shown = str(db.rows("SELECT current_setting('memory_limit')")[0][0])
    amount, unit = shown.split()
    return float(amount) * {"MiB": 1.048576, "GiB": 1073.741824}[unit]


@pytest.mark.slow
def test_a_wide_table_with_missing_words_is_read(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {f"v{i}": ["NA" if (i + j) % 5 == 0 else str(j * i) for j in range(50)] for i in range(32)}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)

    packed = pack(tmp_path / "t.csv")

    assert len(packed.records) == 50
    assert packed.records[1]["v31"] == 31


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_parquet_of_one_wide_row_group_is_read(tmp_path: Path) -> None:
    make = np.random.default_rng(1)
    words = [f"some text {n}" for n in range(60_000)]
    frame = pd.DataFrame(
        {
            f"c{i}": np.where(make.random(60_000) < 0.1, "NA", make.choice(words, 60_000))
            for i in range(53)
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")

    packed = pack(tmp_path / "t.parquet")

    assert len(packed.records) == 60_000
    assert packed.records[-1]["c52"] == frame["c52"].iloc[-1]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_parquet_of_a_million_rows_in_one_group_is_read(tmp_path: Path) -> None:
    make = np.random.default_rng(2)
    rows = 1_000_000
    frame = pd.DataFrame({"id": np.arange(rows)} | {f"x{n}": make.random(rows) for n in range(9)})
    frame.to_parquet(tmp_path / "t.parquet")

    packed = pack(tmp_path / "t.parquet", columns=["id", "x8"])

    assert sum(batch.rows for batch in packed.batches) == rows


@pytest.mark.slow
def test_the_memory_follows_the_row_group(tmp_path: Path) -> None:
    frame = pd.DataFrame({f"c{n}": np.random.default_rng(n).random(200_000) for n in range(20)})
    frame.to_parquet(tmp_path / "one.parquet")
    frame.to_parquet(tmp_path / "many.parquet", row_group_size=10_000)

    one = needed_megabytes(read_footers([tmp_path / "one.parquet"]), 2)
    many = needed_megabytes(read_footers([tmp_path / "many.parquet"]), 2)

    assert one - MIN_MEGABYTES > 10 * (many - MIN_MEGABYTES - 20)
    assert needed_megabytes(read_footers([tmp_path / "none.parquet"]), 2) == MIN_MEGABYTES


@pytest.mark.slow
def test_a_query_that_needs_more_memory_gets_it_as_far_as_the_machine_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = "SELECT len(list(i || ' and some more text')) FROM range(6000000) AS t(i)"

    with Database() as db:
        assert db.rows(query) == [(6_000_000,)]
        assert megabytes(db) > MIN_MEGABYTES

    monkeypatch.setattr(database, "machine_megabytes", lambda: 100)
    with Database() as db, pytest.raises(MemoryShort, match="load it in parts"):
        db.rows(query)


def test_the_machine_has_memory_and_a_container_less(tmp_path: Path) -> None:
    whole = database.machine_megabytes()
    limit, none = tmp_path / "memory.max", tmp_path / "none"
    limit.write_text("256000000\n")
    none.write_text("max\n")

    assert whole > 256
    assert database.machine_megabytes([str(none), str(limit)]) == 256


@pytest.mark.slow
@pytest.mark.parametrize("chunk_rows", [700, 1000, 4096])
def test_a_load_that_runs_out_of_memory_goes_on_with_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk_rows: int
) -> None:
    path = tmp_path / "t.csv"
    lines = [f"{n},{'' if n % 7 else 'x' * 40}" for n in range(9_000)]
    path.write_text("\n".join(["id,text", *lines, "17,again"]) + "\n")
    whole = pack(path, id="id", batch=1000)
    stream = Database._stream
    granted: list[str] = []

    def run_short(self: Database, sql: str, rows: int) -> Iterator[Any]:
        """Raise the error of a short memory after some rows, twice."""
        if "SELECT pos, digest" in sql or len(granted) == 2:
            yield from stream(self, sql, chunk_rows)
            return
        granted.append(sql)
        for _, chunk in zip(range(2 * len(granted)), stream(self, sql, 1500), strict=False):
            yield chunk
        raise MemoryShort("t.csv cannot be read")

    monkeypatch.setattr(Database, "_stream", run_short)
    again = pack(path, id="id", batch=1000)

    assert len(granted) == 2
    assert again.steps == whole.steps
    assert again.rejected == whole.rejected
    assert len(whole.steps) == 9_000

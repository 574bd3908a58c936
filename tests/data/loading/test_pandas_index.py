"""Tables that pandas or Dask wrote with the index among the columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bokeh_sampledata
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from svc_notebook.data import loading
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.parquet import scan
from svc_notebook.data.loading.sources.partitions import _files
from tests.data.loading.encoded_records import pack, values

FRAME = pd.DataFrame(
    {"name": ["lamp", "desk", "chair", "rug", "bed"], "price": [9, 120, 40, 130, 50]}
)
# Of an index whose steps are not even, for pandas stores one of even steps as no column.
CHEAP = FRAME[FRAME["price"] != 120].drop(index=3).rename(index={4: 7})
NOT_SENT = (
    "`__index_level_0__` is the index of a DataFrame: not sent; name it in `columns` to send it"
)


def written(frame: pd.DataFrame, path: Path) -> Path:
    frame.to_parquet(path)
    return path


def test_the_index_of_a_filtered_frame_is_not_sent(tmp_path: Path) -> None:
    path = written(CHEAP, tmp_path / "cheap.parquet")
    assert "__index_level_0__" in pq.read_schema(path).names

    from_file, from_frame = pack(path), pack(CHEAP)
    from_arrow = pack(pa.Table.from_pandas(CHEAP))

    assert from_file.records == from_frame.records == from_arrow.records
    assert NOT_SENT in from_file.plan.notes
    assert NOT_SENT in from_arrow.plan.notes
    assert list(from_file.plan.columns["column"]) == ["name", "price"]


@pytest.mark.parametrize(
    "options",
    [{"columns": ["__index_level_0__", "name"]}, {"id": "__index_level_0__"}],
    ids=["columns", "id"],
)
def test_an_index_is_sent_if_an_option_names_it(tmp_path: Path, options: dict[str, Any]) -> None:
    path = written(CHEAP, tmp_path / "cheap.parquet")

    found = values(path, **options)

    assert [row["__index_level_0__"] for row in found] == [0, 2, 7]
    assert NOT_SENT not in pack(path, **options).plan.notes


@pytest.mark.slow
def test_an_index_with_a_name_is_a_column_as_it_is_of_the_frame(tmp_path: Path) -> None:
    frame = FRAME.set_index("name")
    path = written(frame, tmp_path / "named.parquet")

    found = pack(path)

    assert values(path) == [{"price": p, "name": n} for n, p in FRAME.to_numpy().tolist()]
    assert [r["objectID"] for r in found.records] == [r["objectID"] for r in pack(frame).records]
    assert found.plan.notes[0] == "`name` is the index of a DataFrame: sent as a column"


def test_levels_of_an_index_are_identified_by_their_names(tmp_path: Path) -> None:
    levels = pd.MultiIndex.from_arrays([range(7, 12), list("vwxyz")], names=[None, "code"])

    found = values(written(FRAME.set_axis(levels), tmp_path / "levels.parquet"))

    assert [sorted(row) for row in found] == [["code", "name", "price"]] * 5


def test_a_column_of_that_name_is_a_column(tmp_path: Path) -> None:
    table = pa.table({"__index_level_0__": [1, 2], "n": [3, 4]})
    pq.write_table(table, tmp_path / "own.parquet")

    assert values(tmp_path / "own.parquet") == [
        {"__index_level_0__": 1, "n": 3},
        {"__index_level_0__": 2, "n": 4},
    ]


def test_invalid_pandas_metadata_is_ignored(tmp_path: Path) -> None:
    for number, facts in enumerate([b"[]", b"\xff", b'{"index_columns": [1, "gone"]}']):
        table = pa.table({"n": [1]}).replace_schema_metadata({b"pandas": facts})
        pq.write_table(table, tmp_path / f"{number}.parquet")

        assert values(tmp_path / f"{number}.parquet") == [{"n": 1}]


def test_files_of_which_some_have_an_index_lose_it_together(tmp_path: Path) -> None:
    written(CHEAP, tmp_path / "a.parquet")
    written(FRAME, tmp_path / "b.parquet")

    found = values(tmp_path / "*.parquet")

    assert [sorted(row) for row in found] == [["name", "price"]] * 8


@pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning")  # Dask's
def test_workers_exclude_the_index_too(tmp_path: Path) -> None:
    import dask.dataframe as dd

    dd.from_pandas(CHEAP, npartitions=1).to_parquet(tmp_path / "dask")
    files = sorted((tmp_path / "dask").glob("*.parquet"))
    assert "__null_dask_index__" in scan_names(files)

    parts = _files("dask", files, LoadSettings())

    assert parts.columns == ("name", "price")
    assert [values(query) for _, query in parts] == [
        [dict(row) for row in CHEAP.to_dict("records")]
    ]
    assert values(tmp_path / "dask") == CHEAP.to_dict("records")


def scan_names(files: list[Path]) -> list[str]:
    from svc_notebook.data.loading.database import Database

    with Database() as db:
        return db.names(f"SELECT * FROM {scan(files)}")


def test_a_filtered_natural_table_is_stored_as_the_frame_is(tmp_path: Path) -> None:
    penguins = pd.read_csv(Path(bokeh_sampledata.__file__).parent / "_data" / "penguins.csv")
    some = penguins[penguins["year"] != 2008] if "year" in penguins else penguins.iloc[::3].tail(50)

    path = written(some, tmp_path / "some.parquet")

    assert pack(path).records == pack(some).records
    assert "__index_level_0__" not in repr(loading.plan(some, "x"))

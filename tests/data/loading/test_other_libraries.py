"""Frames and relations of other libraries, compared with what these libraries say they contain."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pytest
from bokeh_sampledata.autompg import autompg
from bokeh_sampledata.penguins import data as penguins

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

ROW = {
    "n": 1,
    "big": 2**62,
    "price": Decimal("1.10"),
    "when": dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC),
    "day": dt.date(2024, 1, 2),
    "tags": ["a", None],
    "size": {"w": 1, "h": None},
    "kind": "x",
    "none": None,
}
SENT = {
    "n": 1, "big": 2**62, "price": 1.1, "when": "2024-01-02T03:00:00Z", "day": "2024-01-02",
    "tags": ["a", None], "size": {"w": 1, "h": None}, "kind": "x",
}  # fmt: skip


def polars_frame() -> pl.DataFrame:
    schema: dict[str, Any] = {
        "price": pl.Decimal(10, 2),
        "kind": pl.Enum(["x", "y"]),
        "none": pl.Null,
    }
    return pl.DataFrame([ROW], schema_overrides=schema)


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["x", "y"])], ids=["category", "enum"])
@pytest.mark.parametrize("lazy", [False, True], ids=["frame", "lazy"])
def test_a_polars_frame_keeps_its_types(kind: Any, lazy: bool) -> None:
    frame = polars_frame().with_columns(pl.col("kind").cast(kind))

    (sent,) = values(frame.lazy() if lazy else frame)

    # Polars has one struct for all rows: a missing member is null.
    assert {k: v for k, v in sent.items() if k != "size"} == {
        k: v for k, v in SENT.items() if k != "size"
    }
    assert sent["size"]["w"] == 1


def test_integers_of_128_bits_are_exact_or_refused() -> None:
    frame = pl.DataFrame({"i": [7, 2**100 + 1]}, schema={"i": pl.Int128})

    packed = pack(frame)

    assert [record["i"] for record in packed.records] == [7]
    assert [row for row, *_ in packed.rejected] == [2]


def test_a_duckdb_relation_is_read_once_with_its_types() -> None:
    relation = duckdb.sql(
        "SELECT 1 AS n, 4611686018427387904 AS big, 1.10::DECIMAL(10,2) AS price, "
        "TIMESTAMPTZ '2024-01-02 03:00:00+00' AS \"when\", DATE '2024-01-02' AS day, "
        "['a', NULL] AS tags, {'w': 1, 'h': NULL} AS size, 'x'::ENUM('x', 'y') AS kind, "
        "NULL AS none"
    )

    (sent,) = values(relation)

    assert {k: v for k, v in sent.items() if k != "size"} == {
        k: v for k, v in SENT.items() if k != "size"
    }
    assert sent["size"]["w"] == 1


def test_rows_of_a_random_query_are_those_that_were_planned() -> None:
    relation = duckdb.sql("SELECT range AS id, random() AS r FROM range(2000)")

    packed = pack(relation, id="id")

    assert sorted(record["id"] for record in packed.records) == list(range(2000))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis 12 on DuckDB 2
def test_ibis_and_duckdb_and_polars_give_the_records_of_pandas(tmp_path: Path) -> None:
    penguins.to_parquet(tmp_path / "penguins.parquet")
    con = ibis.duckdb.connect()
    relation = con.read_parquet(tmp_path / "penguins.parquet")
    long = relation.filter(relation.bill_length_mm > 50).order_by("bill_length_mm", "body_mass_g")
    expected = penguins[penguins["bill_length_mm"] > 50]
    expected = expected.sort_values(["bill_length_mm", "body_mass_g"], ignore_index=True)

    sources = (long, long.to_polars(), long.to_polars().lazy())

    for source in sources:
        assert values(source) == values(expected)
    assert len(long.to_pyarrow()) == len(expected)  # the connection is free


def test_a_lazy_frame_is_published_and_its_rejected_rows_can_be_fixed(client: Client) -> None:
    frame = pl.from_pandas(autompg).with_row_index("id").lazy()
    bad = frame.with_columns(
        pl.when(pl.col("id") == 5).then(pl.lit(float("inf"))).otherwise(pl.col("mpg")).alias("mpg")
    )

    result = svc.load(bad, "autompg", id="id", client=client)
    fixed = result.rejected.assign(mpg=15.0)
    again = svc.push(fixed, "autompg", id="id", client=client)

    assert (result.published, result.rejected_rows, again.published) == (len(autompg) - 1, 1, 1)
    stored = svc.read_browse("autompg", client=client)
    expected = pd.Series([15.0 if n == 5 else m for n, m in enumerate(autompg["mpg"])])
    by_id = stored.set_index(stored["id"].astype(int))["mpg"].sort_index()
    assert by_id.tolist() == expected.tolist()


def test_a_relation_cannot_be_resumed(client: Client) -> None:
    with pytest.raises(BadInput, match="only a load of files can be resumed"):
        svc.load(polars_frame().lazy(), "lazy", client=client, resume=True)


def test_a_query_that_fails_says_why() -> None:
    broken = pl.LazyFrame({"a": ["x"]}).with_columns(pl.col("a").cast(pl.Int64))

    with pytest.raises(BadInput, match=r"the Polars LazyFrame cannot be read: .*conversion"):
        pack(broken)


def test_a_connection_of_duckdb_is_refused() -> None:
    with duckdb.connect() as connection, pytest.raises(BadInput, match="pass a relation"):
        pack(connection)

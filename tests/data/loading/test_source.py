"""Sources that are recognized, and errors for all others."""

from __future__ import annotations

import datetime as dt
import http.server
import threading
from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from svc_notebook.errors import BadInput, BadRecord
from tests.data.loading.encoded_records import pack, values

TABLE = pa.table(
    {
        "id": ["1", "2"],
        "n": [1, None],
        "price": [Decimal("1.10"), Decimal("20.00")],
        "when": pa.array([dt.datetime(2024, 1, 2, tzinfo=dt.UTC), None], pa.timestamp("us", "UTC")),
        "tags": [["a"], []],
        "size": [{"w": 1, "h": None}, None],
    }
)
SENT = [
    {
        "id": "1",
        "n": 1,
        "price": 1.1,
        "when": "2024-01-02T00:00:00Z",
        "tags": ["a"],
        "size": {"w": 1, "h": None},
    },
    {"id": "2", "price": 20.0, "tags": []},
]


def test_parquet_and_arrow_give_the_same_records(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")

    assert values(tmp_path / "t.parquet") == SENT
    assert values(str(tmp_path / "*.parquet")) == SENT
    assert values(TABLE) == SENT


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM '{path}' ORDER BY n DESC NULLS LAST;",
        "from '{path}' order by id",
        "WITH t AS (FROM '{path}') SELECT * FROM t ORDER BY id",
    ],
)
def test_sql_is_a_source(tmp_path: Path, query: str) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")

    assert values(query.format(path=tmp_path / "t.parquet")) == SENT


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELECT FROM WHERE", "syntax"),
        ("SELECT INTERVAL 1 DAY AS age", "total_seconds"),
        ("SELECT 'a'::BLOB AS raw", "decode"),
        ("SELECT TIMESTAMP '2024-01-02' AS at", "timezone='UTC'"),
        ("SELECT [TIMESTAMP '2024-01-02'] AS times", "dtype="),
    ],
)
def test_sql_that_gives_no_records_is_refused_with_advice(query: str, match: str) -> None:
    with pytest.raises(BadInput, match=match):
        pack(query)


@pytest.mark.parametrize(
    ("expression", "sent"),
    [
        ("1::HUGEINT", 1),
        ("'x'::ENUM('x', 'y')", "x"),
        ("TIME '03:04:05'", "03:04:05"),
        ("DATE '2024-01-02'", "2024-01-02"),
        ("TIMESTAMPTZ '2024-01-02 03:04:05+02'", "2024-01-02T01:04:05Z"),
        ("MAP {'a': 1}", {"a": 1}),
        ("[1.5::DOUBLE, 2]", [1.5, 2.0]),
        ("'{\"a\": [1]}'::JSON", {"a": [1]}),
        ("uuid '12345678-1234-5678-1234-567812345678'", "12345678-1234-5678-1234-567812345678"),
    ],
)
def test_types_of_sql_are_sent_as_what_they_mean(expression: str, sent: object) -> None:
    assert values(f"SELECT {expression} AS x") == [{"x": sent}]


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("170141183460469231731687303715884105727", "64 bits"),
        ("'inf'::DOUBLE", "infinite"),
        ("0.12345678901234567890::DECIMAL(38, 20)", "exactly"),
        ("DATE 'infinity'", "years 1 to 9999"),
        ("TIMESTAMPTZ '-infinity'", "years 1 to 9999"),
        ("['nan'::DOUBLE]", "NaN"),
    ],
)
def test_values_of_sql_without_json_are_rejected(expression: str, reason: str) -> None:
    packed = pack(f"SELECT 'a' AS id, {expression} AS x", id="id")

    ((row, column, told),) = packed.rejected
    assert (row, column) == (1, "x")
    assert reason in told


@pytest.mark.parametrize(
    ("source", "match"),
    [
        ("nowhere.csv", "there is no file"),
        ("nowhere/*.csv", "there is no file"),
        (object(), "cannot be loaded; pass a path"),
        (7, "cannot be loaded"),
        (pd.DataFrame(), "no columns"),
    ],
)
def test_what_is_no_source_is_refused_with_advice(source: object, match: str) -> None:
    with pytest.raises(BadInput, match=match):
        pack(source)


def test_a_pattern_leaves_out_the_lock_files_of_office(tmp_path: Path) -> None:
    pd.DataFrame({"id": ["1"]}).to_excel(tmp_path / "book.xlsx", index=False)
    (tmp_path / "~$book.xlsx").write_bytes(b"\x05Maria" + bytes(159))

    assert pack(str(tmp_path / "*.xlsx"), id="id").plan.rows == 1


@pytest.mark.parametrize(
    ("hidden", "message"), [(".venv", "is a folder"), ("_delta_log", "is a table of Delta")]
)
def test_a_folder_without_parquet_of_its_own_is_refused(
    tmp_path: Path, hidden: str, message: str
) -> None:
    (tmp_path / hidden).mkdir()
    pd.DataFrame({"id": ["1"]}).to_parquet(tmp_path / hidden / "a.parquet")

    with pytest.raises(BadInput, match=message):
        pack(str(tmp_path))


def test_files_of_several_formats_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id\n1\n")
    (tmp_path / "b.ndjson").write_text('{"id": 1}\n')

    with pytest.raises(BadInput, match="several formats: delimited, lines"):
        pack(str(tmp_path / "*"))


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """A server of files; yields its address."""
    handler = partial(Quiet, directory=str(tmp_path))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_url_is_a_source(tmp_path: Path, web: str) -> None:
    (tmp_path / "my films.csv").write_text("id,name\n1,lamp\n")

    assert values(f"{web}/my%20films.csv?x=1") == [{"id": 1, "name": "lamp"}]


@pytest.mark.parametrize("path", ["/nowhere.csv", ":x/"])
def test_a_url_that_brings_nothing_is_refused(web: str, path: str) -> None:
    with pytest.raises(BadInput, match="cannot be downloaded"):
        pack(f"{web}{path}")


def test_an_index_that_is_named_as_the_id_comes_along() -> None:
    frame = pd.DataFrame({"n": [1, 2]}, index=pd.Index(["a", "b"], name="sku"))

    assert [record["objectID"] for record in pack(frame, id="sku").records] == ["a", "b"]


def test_an_error_names_the_column_it_is_about() -> None:
    with pytest.raises(BadRecord) as caught:
        pack("SELECT INTERVAL 1 DAY AS age")

    assert caught.value.column == "age"


@pytest.mark.parametrize("query", ["-- one\nSELECT 1 AS id", "/* one */ SELECT 1 AS id -- so"])
def test_sql_may_begin_and_end_with_a_comment(query: str) -> None:
    assert [record["objectID"] for record in pack(query).records] == ["1"]


def test_an_index_whose_name_a_column_has_stays_behind() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "n": [1, 2]}).set_index("id", drop=False)

    assert [record["objectID"] for record in pack(frame).records] == ["a", "b"]


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("SELECT 'x'::INT AS id", "^the SQL query cannot be read: .*TRY_CAST"),
        ("SELECT * FROM nowhere", "^the SQL query cannot be read: Table"),
    ],
)
def test_sql_that_fails_is_told_in_plain_words(query: str, match: str) -> None:
    with pytest.raises(BadInput, match=match) as caught:
        pack(query)

    assert "Error" not in str(caught.value)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 and no more")

    with pytest.raises(BadInput, match=r"^a\.parquet cannot be read: .*check that it is complete"):
        pack(str(path))

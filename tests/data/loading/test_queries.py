"""SQL queries with an order or a result that changes between runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

# Every thousandth row is refused; groups come in whatever order two threads make them.
GROUPED = """
    SELECT i AS id, CASE WHEN i % 1000 = 0 THEN 'inf'::DOUBLE ELSE i END AS v
    FROM (SELECT range * 7919 % 200000 AS i FROM range(400000) GROUP BY 1)
"""


@pytest.mark.slow
def test_the_rejected_rows_are_those_that_are_not_sent() -> None:
    found = pack(GROUPED)

    assert {record["objectID"] for record in found.records} == {
        str(n) for n in range(200_000) if n % 1000
    }
    assert all(record["v"] == record["id"] for record in found.records)
    assert found.plan.rejected_rows == 200


def test_a_query_with_changing_rows_runs_once() -> None:
    found = pack(
        "SELECT uuid() AS id, CASE WHEN random() < 0.1 THEN 'inf'::DOUBLE ELSE 1 END AS v "
        "FROM range(5000)"
    )

    assert all(record["v"] == 1 for record in found.records)
    assert len(found.records) + found.plan.rejected_rows == 5000


def test_a_limit_applies_to_the_query() -> None:
    rows = values("SELECT i FROM range(10000000000) t(i)", limit=3)

    assert rows == [{"i": 0}, {"i": 1}, {"i": 2}]


def test_names_that_differ_in_case_are_two_columns() -> None:
    assert values("SELECT 1 AS a, 2 AS A") == [{"a": 1, "A": 2}]


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(BadInput, match="several columns are named `id`; rename all but one"):
        pack("SELECT * FROM (SELECT 1 AS id) a JOIN (SELECT 1 AS id) b ON true")


def test_files_of_a_query_are_read_as_by_a_load_of_them(tmp_path: Path) -> None:
    bad, other = tmp_path / "bad.csv", tmp_path / "o'k.csv"
    bad.write_text('Stock report\n\nid;name;price\n1;lamp;1.5\n2;"oak;2\n3;chair;3\n4;shelf;4\n')
    other.write_text("id,stock\n1,7\n3,8\n")
    quoted = str(other).replace("'", "''")

    packed = pack(
        f"SELECT bad.*, k.stock FROM '{bad}' LEFT JOIN '{quoted}' AS k USING (id) WHERE price < 4"
    )

    assert [{k: v for k, v in record.items() if k != "objectID"} for record in packed.records] == [
        {"id": 1, "name": "lamp", "price": 1.5, "stock": 7},
        {"id": 3, "name": "chair", "price": 3.0, "stock": 8},
    ]
    assert packed.plan.notes == (
        "bad.csv: 2 lines before the table skipped: `Stock report`",
        "bad.csv: row 2 is left out: it has a quote that is never closed, or text after a closing "
        "quote",
    )


def test_files_of_one_name_in_a_query_are_two_tables(tmp_path: Path) -> None:
    for folder, value in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.csv").write_text(f"id,v\n1,{value}\n")

    first, second = tmp_path / "a/t.csv", tmp_path / "b/t.csv"
    query = f"SELECT x.id, x.v, y.v AS w FROM '{first}' x JOIN '{second}' y ON x.id = y.id"

    assert values(query) == [{"id": 1, "v": 1, "w": 2}]


def test_a_query_of_a_missing_file_names_it(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there is no file .*none\.csv"):
        pack(f"SELECT * FROM '{tmp_path / 'none.csv'}'")

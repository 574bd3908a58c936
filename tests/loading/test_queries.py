"""SQL queries with an order or a result that changes between runs."""

from __future__ import annotations

import pytest

from svc_notebook.errors import BadInput
from tests.loading.encoded_records import pack, values

# Every thousandth row is refused; groups come in whatever order two threads make them.
GROUPED = """
    SELECT i AS id, CASE WHEN i % 1000 = 0 THEN 'inf'::DOUBLE ELSE i END AS v
    FROM (SELECT range * 7919 % 200000 AS i FROM range(400000) GROUP BY 1)
"""


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

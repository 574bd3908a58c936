"""Plans of loads."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from svc_notebook.data import loading
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack

FILMS = pd.DataFrame({"id": ["1", "2", "3"], "title": ["Jaws", None, "Alien"]})


def ids(source: Any, **options: Any) -> list[str]:
    return [record["objectID"] for record in pack(source, **options).records]


@pytest.mark.parametrize("name", ["objectID", "id", "_id", "sku"])
def test_an_id_is_found_by_its_name(name: str) -> None:
    packed = pack(FILMS.rename(columns={"id": name}))

    assert [record["objectID"] for record in packed.records] == ["1", "2", "3"]
    assert packed.plan.ids == f"column `{name}`"


@pytest.mark.parametrize("column", [["1", "1", "2"], ["1", None, "2"], ["1", "", "2"]])
def test_a_column_with_duplicate_or_missing_values_is_not_the_id(column: list[Any]) -> None:
    packed = pack(FILMS.assign(id=column))

    assert packed.plan.ids == "hash of the row"
    assert "`id` is not the id: 1 row " in packed.plan.notes[0]
    assert len({record["objectID"] for record in packed.records}) == 3


@pytest.mark.slow
def test_hashed_ids_are_the_same_every_time_and_follow_the_content() -> None:
    frame = FILMS.drop(columns="id")
    changed = frame.replace("Jaws", "Jaws 2")

    assert ids(frame) == ids(frame)
    assert ids(frame)[1:] == ids(changed)[1:]
    assert ids(frame)[0] != ids(changed)[0]


def test_equal_rows_get_a_number_in_their_ids() -> None:
    packed = pack(pd.DataFrame({"n": [1, 2, 1, 1]}))

    first, other, second, third = (record["objectID"] for record in packed.records)
    assert (second, third) == (f"{first}-2", f"{first}-3")
    assert first != other
    assert packed.plan.notes == (
        "2 rows equal an earlier row; a number at the end makes their ids unique",
    )
    assert [record["n"] for record in packed.records] == [1, 2, 1, 1]


TWINS = pd.DataFrame({"id": ["a", "b", "a", "", "a"], "n": [1, 2, 3, 4, 5]})


@pytest.mark.parametrize(
    ("duplicates", "sent", "rejected"),
    [
        ("reject", [1, 2], [(3, "row 1"), (4, "no id"), (5, "row 1")]),
        ("last", [2, 5], [(1, "row 5"), (3, "row 5"), (4, "no id")]),
        ("keep", [1, 2, 3, 5], [(4, "no id")]),
    ],
)
def test_a_duplicate_id_is_reported_with_both_rows(
    duplicates: str, sent: list[int], rejected: list[tuple[int, str]]
) -> None:
    packed = pack(TWINS, id="id", duplicates=duplicates)

    assert [record["n"] for record in packed.records] == sent
    assert [row for row, _, _ in packed.rejected] == [row for row, _ in rejected]
    assert all(
        words in told for (_, words), (_, _, told) in zip(rejected, packed.rejected, strict=True)
    )


@pytest.mark.parametrize(
    ("duplicates", "sent"), [("reject", [3, 4]), ("last", [3, 4]), ("error", [3, 4])]
)
def test_an_unsendable_row_does_not_count_as_a_duplicate(duplicates: str, sent: list[int]) -> None:
    frame = pd.DataFrame({"id": ["a", "b", "a", "b"], "n": [inf, inf, 3.0, 4.0]})

    packed = pack(frame, id="id", duplicates=duplicates)

    assert [record["n"] for record in packed.records] == sent
    assert [(row, told) for row, _, told in packed.rejected] == [
        (1, "is infinite; JSON has no infinity"),
        (2, "is infinite; JSON has no infinity"),
    ]


def test_duplicate_ids_can_be_an_error() -> None:
    with pytest.raises(BadInput, match="row 1 and row 3 both have the id 'a'"):
        pack(TWINS, id="id", duplicates="error")


@pytest.mark.parametrize(
    ("nulls", "sent"),
    [
        ("omit", [{}, {"b": 2}]),
        ("null", [{"a": None, "b": None}, {"a": None, "b": 2}]),
        ({"a": "null"}, [{"a": None}, {"a": None, "b": 2}]),
        ({"b": "error"}, [{"b": 2}]),
    ],
)
def test_missing_values_follow_the_policy(nulls: Any, sent: list[dict[str, Any]]) -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "a": [None, None], "b": pd.array([None, 2], "Int64")})

    packed = pack(frame, id="id", columns=["a", "b"], nulls=nulls)

    assert [{k: v for k, v in r.items() if k != "objectID"} for r in packed.records] == sent
    if nulls == {"b": "error"}:
        assert packed.rejected == [(1, "b", "is missing")]


def test_nan_is_missing_under_every_policy() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "x": [1.5, float("nan")]})

    assert pack(frame, id="id").records[1] == {"objectID": "2", "id": "2"}
    assert pack(frame, id="id", nulls="null").records[1]["x"] is None


def test_records_that_are_too_large_are_rejected_with_their_size() -> None:
    frame = pd.DataFrame({"id": ["1", "2", "3"], "text": ["x" * 70, "é" * 70, "y"]})

    packed = pack(frame, id="id", record_bytes=150)

    assert [record["objectID"] for record in packed.records] == ["1", "3"]
    ((row, column, reason),) = packed.rejected
    assert (row, column) == (2, None)
    assert reason.startswith("is larger than 150 bytes")


def test_the_reported_size_is_that_of_the_record() -> None:
    frame = pd.DataFrame({"id": ["1"], "text": ["x" * 100]})
    exact = len('{"objectID":"1","id":"1","text":"' + "x" * 100 + '"}')

    assert pack(frame, id="id", record_bytes=exact).rejected == []
    assert pack(frame, id="id", record_bytes=exact - 1).plan.rejected["value"].tolist() == [exact]


def test_columns_are_chosen_and_ordered() -> None:
    packed = pack(FILMS, id="id", columns=["title"])

    assert packed.records[0] == {"objectID": "1", "title": "Jaws"}


def test_dotted_columns_nest_only_on_request() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "size.w": [1.0, None], "size.h.cm": [2.0, None]})

    assert pack(frame, id="id").records[0]["size.w"] == 1
    nested = pack(frame, id="id", columns=["size.w", "size.h.cm"], nest=True).records
    assert nested == [{"objectID": "1", "size": {"w": 1.0, "h": {"cm": 2.0}}}, {"objectID": "2"}]


@pytest.mark.parametrize(
    ("action", "wire"),
    [
        ("replace", "updateObject"),
        ("update", "partialUpdateObject"),
        ("update_existing", "partialUpdateObjectNoCreate"),
    ],
)
def test_an_action_is_written_as_in_the_api(action: str, wire: str) -> None:
    assert {step["action"] for step in pack(FILMS, id="id", action=action).steps} == {wire}


def test_a_deletion_contains_only_the_id() -> None:
    assert pack(FILMS, id="id", action="delete").steps[0] == {
        "action": "deleteObject",
        "body": {"objectID": "1"},
    }


def test_operations_are_written_by_column_and_never_repeated() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "stock": pd.array([3, None], "Int64")})

    packed = pack(
        frame, id="id", action="update", columns=["stock"], operations={"stock": "Increment"}
    )

    assert packed.records == [
        {"objectID": "1", "stock": {"_operation": "Increment", "value": 3}},
        {"objectID": "2"},
    ]
    assert [batch.repeatable for batch in packed.batches] == [False]


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"id": "idd"}, "no column `idd`; did you mean `id`"),
        ({"columns": ["titel"]}, "did you mean `title`"),
        ({"columns": "title"}, r"columns=\['title'\]"),
        ({"dtype": {"titel": "string"}}, "did you mean `title`"),
        ({"dtype": {"title": "words"}}, "`dtype` must be one of"),
        ({"nulls": "skip"}, "`nulls` must be one of omit"),
        ({"nulls": {"title": "skip"}}, "`nulls` must be one of omit"),
        ({"duplicates": "frist"}, "`duplicates` must be one of"),
        ({"action": "updat"}, "did you mean `update`"),
        ({"operations": {"title": "Increment"}}, "action='update'"),
        ({"action": "update", "operations": {"title": "Incr"}}, "`operations` must be one of"),
        ({"action": "update"}, None),
        ({"timezone": "Mars"}, "not a time zone"),
        ({"batch": 0}, "`batch` must be a whole number, 1 or more"),
        ({"limit": -1}, "`limit` must be a whole number, 1 or more"),
        ({"record_bytes": 0}, "`record_bytes` must be a whole number"),
        ({"batch_bytes": 0}, "`batch_bytes` must be a whole number"),
        ({"batch_bytes": 10_000_000}, "8,000,000"),
        ({"bach": 1}, "did you mean `batch`"),
    ],
)
def test_wrong_options_are_refused_with_advice(options: dict[str, Any], match: str | None) -> None:
    if match is None:
        pack(FILMS, **options)
        return
    with pytest.raises(BadInput, match=match):
        pack(FILMS, **options)


def test_an_update_wants_an_id_of_the_data() -> None:
    with pytest.raises(BadInput, match="pass the column of the ids"):
        pack(FILMS.drop(columns="id"), action="update")


def test_a_limit_takes_the_first_rows() -> None:
    assert ids(FILMS, limit=2) == ["1", "2"]


def test_a_plan_shows_what_would_happen(tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    path.write_text("id,title,year\n1,Jaws,1975\n2,<b>,1977\n2,Alien,1979\n")

    plan = loading.plan(path, "films", id="id")

    shown = repr(plan)
    assert shown.startswith("films.csv -> films: 3 rows, 1 cannot be sent; ids: column `id`")
    assert '"title":"Jaws"' in shown
    assert "duplicate objectID (same as row 2" in shown
    assert plan.sendable == 2
    assert plan.columns["sent as"].tolist() == ["integer", "text", "integer"]
    assert dict(plan.sample[0]) == {"objectID": "1", "id": 1, "title": "Jaws", "year": 1975}
    page = plan._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_the_schema_of_what_is_rejected_does_not_depend_on_it() -> None:
    empty, full = loading.plan(FILMS, "x").rejected, loading.plan(TWINS, "x", id="id").rejected

    assert list(empty.columns) == ["row", "column", "value", "reason", *FILMS.columns]
    assert list(full.columns) == ["row", "column", "value", "reason", *TWINS.columns]
    assert empty.dtypes.tolist() == full.dtypes.tolist()


def test_a_number_may_have_a_large_exponent() -> None:
    frame = pd.DataFrame({"id": ["1", "2", "3"], "x": ["1e+250", "-2.5E-250", "1e999"]})

    packed = pack(frame, id="id", columns=["x"], dtype={"x": "number"})

    assert [record["x"] for record in packed.records] == [1e250, -2.5e-250]
    assert packed.rejected == [(3, "x", "is not a number")]


def test_a_whole_number_has_64_bits() -> None:
    frame = pd.DataFrame({"id": ["1", "2", "3"], "x": [str(2**63 - 1), str(-(2**60)), str(2**63)]})

    packed = pack(frame, id="id", columns=["x"], dtype={"x": "integer"})

    assert [record["x"] for record in packed.records] == [2**63 - 1, -(2**60)]
    assert packed.rejected == [(3, "x", "is not a whole number")]


@pytest.mark.slow
def test_rejected_rows_that_are_not_listed_are_counted() -> None:
    frame = pd.DataFrame({"id": range(10_500), "x": float("inf")})

    plan = pack(frame, id="id").plan

    assert (len(plan.rejected), plan.rejected_rows) == (10_000, 10_500)
    assert plan.notes == ("`rejected` lists only some of the rejected rows: 500 more are rejected",)


def test_a_plan_explains_each_decision_by_its_signals(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(
        "Stock;2025\n\nid;größe;price\na;1,5;2\nb;2,5;3\nc;3,5;4\nd;4,5;5\n".encode("cp1252")
    )

    table = pack(path).plan.explain()

    assert dict(table.dtypes.astype(str)) | {"signal": ""} == {
        **dict.fromkeys(["decision", "reading"], str(table["decision"].dtype)),
        "chosen": "bool", "signal": "", "points": "float64", "distance": "float64",
    }  # fmt: skip
    chosen = table[table["chosen"]].groupby("decision", sort=False)["reading"].first()
    assert dict(chosen) == {
        "encoding": "cp1252", "reading": "3 cells between `;`", "quote": '"', "separator": ";",
        "titles": "2", "header": "first row",
        "column id": "text", "column größe": "number", "column price": "integer",
    }  # fmt: skip
    separators = table[table["decision"] == "separator"].groupby("reading")["points"].sum()
    assert separators[";"] > separators[","]
    distances = table[table["decision"] == "separator"].groupby("reading")["distance"].first()
    assert distances[";"] == pytest.approx(separators[";"] - separators[","])
    assert distances[","] == pytest.approx(-distances[";"])
    assert table.loc[table["decision"] == "header", "points"].sum() > 0


def test_a_plan_of_other_sources_explains_its_columns() -> None:
    empty = pack(pd.DataFrame({"a": [None], "b": [1.5]})).plan.explain()

    assert empty["decision"].tolist() == ["column a", "column b"]
    assert empty["points"].tolist() == [0, 1]

"""Amounts in columns of text: as people and programs write numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest

from svc_notebook.data.loading.table import Advice
from tests.data.loading.encoded_records import pack

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str) -> Path:
        path = tmp_path / "t.csv"
        path.write_text(content, encoding="utf-8")
        return path

    return write


def read_column(write: Write, cells: list[str], separator: str = ";") -> list[object]:
    rows = "".join(f"a{n}{separator}{cell}\n" for n, cell in enumerate(cells))
    packed = pack(write(f"name{separator}x\n{rows}"))
    return [record.get("x") for record in packed.records]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.234,50", "19,90", "0,5"], [1234.5, 19.9, 0.5]),
        (["1 234,50", "7"], [1234.5, 7]),
        (["1\u00a0234,50", "1\u202f000"], [1234.5, 1000]),
        (["1'234.50", "1'000'000.00"], [1234.5, 1_000_000]),
        (["1\u2019234.50", "3"], [1234.5, 3]),
        (["$1,200.00", "$85.00", "$0.99"], [1200, 85, 0.99]),
        (["-$5.00", "$-6.10"], [-5, -6.1]),
        (["23,90 €", "1.028,68 €"], [23.9, 1028.68]),
        (["CHF 1'200.00", "CHF 3"], [1200, 3]),
        (["R$ 1.234,50", "R$ 2,00"], [1234.5, 2]),
        (["1,23,456.00", "500.00"], [123_456, 500]),
        (["₹1,23,456", "₹99"], [123_456, 99]),
        (["12,50-", "3,00"], [-12.5, 3]),
        (["(12.50)", "3.00"], [-12.5, 3]),
        (["\u22123.5", "2.0"], [-3.5, 2]),
        (["\u20134.1812", "\u20135.0"], [-4.1812, -5]),
        ([".28", "-.5", "1"], [0.28, -0.5, 1]),
        (["45.12%", "3 %"], [45.12, 3]),
        (["12,5 %", "5 %"], [12.5, 5]),
        (["165,987,995", "881,000"], [165_987_995, 881_000]),
        (["+3", "-2", "0"], [3, -2, 0]),
        (["1,50", "NA", "n/a", "\\N"], [1.5, None, None, None]),
        (["1", "nil", "NIL", "2"], [1, None, None, 2]),
    ],
)
def test_amounts_of_one_form_are_numbers(
    write: Write, cells: list[str], numbers: list[object]
) -> None:
    assert read_column(write, cells) == numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["030 123 456", "1"],
        ["1990\u2013", "1991\u2013"],
        ["123 456 789", "223 456 789"],
        ["12.06.2023", "1.07.2023"],
        ["+49", "+33"],
        ["192.168.1.1", "10.0.0.1"],
        ["5€", "6$"],
        ["12 kg", "3 kg"],
        ["007,5", "1,5"],
        ["1,5", "2.5"],
        ["1.2.3", "1.10.0"],
        ["5:30", "6:00"],
        ["3-4", "5-6"],
        ["1,2,3", "4,5"],
        ["€110.5M", "€3M"],
    ],
)
def test_codes_dates_and_texts_with_units_stay_text(write: Write, cells: list[str]) -> None:
    assert read_column(write, cells) == cells


STOCK = "Artikel;Preis;Bestand\nStuhl;19,90;12\nTisch;1.249,00;7\nBett;3,50;1.250\n"


def test_points_between_thousands_follow_the_other_columns(write: Write) -> None:
    packed = pack(write(STOCK))

    assert [record["Bestand"] for record in packed.records] == [12, 7, 1250]
    assert packed.plan.changes == (
        "`Preis`: 3 amounts with a decimal comma and points between thousands",
        "`Bestand`: 3 amounts with points between thousands",
    )


def test_a_column_that_can_be_two_forms_stays_text_with_the_options(write: Write) -> None:
    path = write("Artikel;Bestand\nStuhl;12\nTisch;7\nBett;1.250\n")
    packed = pack(path)

    (doubt,) = [note for note in packed.plan.advice if "`Bestand`" in note and "1.250" in note]
    assert isinstance(doubt, Advice)
    assert "decimal=','" in doubt
    assert [record["Bestand"] for record in packed.records] == ["12", "7", "1.250"]
    assert [r["Bestand"] for r in pack(path, decimal=",").records] == [12, 7, 1250]
    assert [r["Bestand"] for r in pack(path, decimal=".").records] == [12, 7, 1.25]


@pytest.mark.slow
def test_the_first_rows_of_whole_numbers_do_not_hide_later_thousands(write: Write) -> None:
    rows = "".join(f"a{n};{n},50;{n}\n" for n in range(3_000))
    packed = pack(write(f"name;price;stock\n{rows}z;1,50;1.250\n"))

    assert packed.records[-1]["stock"] == 1250
    assert packed.records[2]["stock"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 30_000], ids=["in Python", "in DuckDB"])
def test_amounts_are_the_same_in_both_readers(write: Write, rows: int) -> None:
    cells = ["1.234,50", "-3,25", "7", ",5", "12,00-"]
    lines = "".join(f"{n};{cells[n % 5]}\n" for n in range(rows))
    packed = pack(write(f"n;x\n{lines}"))

    expected = [1234.5, -3.25, 7, 0.5, -12]
    assert [r["x"] for r in packed.records[:5]] == expected[: len(packed.records)]
    assert len(packed.records) == rows


@pytest.mark.parametrize(
    ("content", "column", "kept"),
    [
        ("n;x\n1;\\N\n2;a\n", "x", [None, "a"]),
        ("n;x\n1;NULL\n2;a b\n3;c\n", "x", [None, "a b", "c"]),
        ("n;x;y\n1;NA;NA\n2;male;3\n3;female;4\n", "x", [None, "male", "female"]),
        ("n;iso\n1;NA\n2;DE\n3;FR\n", "iso", ["NA", "DE", "FR"]),
        ("n;iso;y\n1;NA;NA\n2;DE;5\n3;FR;6\n", "iso", ["NA", "DE", "FR"]),
        ("n;name\n1;SMITH\n2;NULL\n3;JONES\n", "name", ["SMITH", "NULL", "JONES"]),
        ("n;title\n1;Lamp\n2;N/A\n3;Tofu\n", "title", ["Lamp", "N/A", "Tofu"]),
        ("n;t\n1;Lamp\n2;N/A\n3;N/A\n4;Tofu\n", "t", ["Lamp", None, None, "Tofu"]),
        ("n;t;u\n1;N/A;\\N\n2;N/A;b\n3;Tofu;c\n", "t", ["N/A", "N/A", "Tofu"]),
        ("n;pain\n1;None\n2;Mild\n3;None\n4;Mild\n", "pain", ["None", "Mild", "None", "Mild"]),
        ("n;x\n1;#N/A\n2;a\n", "x", [None, "a"]),
        ("n;x\n1;..\n2;5\n3;6.5\n", "x", [None, 5, 6.5]),
    ],
)
def test_words_for_missing_values_are_what_the_table_says(
    write: Write, content: str, column: str, kept: list[object]
) -> None:
    packed = pack(write(content))

    assert [record.get(column) for record in packed.records] == kept


def test_missing_words_in_text_are_named_in_a_note(write: Write) -> None:
    plan = pack(write("n;x\n1;\\N\n2;a\n")).plan

    assert plan.changes == ("`x`: 1 word such as \\N is a missing value",)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["number", "float", "float64", float])
def test_dtype_number_takes_amounts_and_rejects_the_others(write: Write, dtype: object) -> None:
    packed = pack(write("n;x\n1;1.234,50\n2;19,90\n3;free\n"), dtype={"x": dtype})

    assert [record["x"] for record in packed.records] == [1234.5, 19.9]
    assert packed.plan.rejected["reason"].tolist() == ["is not a number"]
    assert packed.plan.rejected["value"].tolist() == ["free"]


def test_a_column_that_is_mostly_amounts_is_advised(write: Write) -> None:
    rows = "".join(f"{n};{n},50\n" for n in range(1, 100))
    packed = pack(write(f"n;x\n{rows}100;free\n"))

    assert packed.records[0]["x"] == "1,50"
    (note,) = [note for note in packed.plan.advice if note.startswith("`x` is sent as text")]
    assert "99 of 100 values are amounts with a decimal comma" in note
    assert "dtype={'x': 'number'}" in note


@pytest.mark.parametrize(
    ("dates", "cells", "sent"),
    [
        ("dmy", ["13/04/2024", "1.2.24"], ["2024-04-13", "2024-02-01"]),
        ("mdy", ["04/13/2024", "1-2-99"], ["2024-04-13", "1999-01-02"]),
        ("ymd", ["2024/04/13", "2024-1-2"], ["2024-04-13", "2024-01-02"]),
        ("mdy", ["13/04/2024", "1.2.24"], ["13/04/2024", "1.2.24"]),
        ("dmy", ["31.02.2024", "1.2.2024"], ["31.02.2024", "1.2.2024"]),
    ],
)
def test_dates_are_read_in_the_order_of_the_option(
    write: Write, dates: str, cells: list[str], sent: list[str]
) -> None:
    path = write("n;x\n" + "".join(f"{n};{cell}\n" for n, cell in enumerate(cells)))

    assert [record["x"] for record in pack(path).records] == cells
    assert [record["x"] for record in pack(path, dates=dates).records] == sent


def test_dtype_date_takes_the_order_and_rejects_the_others(write: Write) -> None:
    packed = pack(write("n;x\n1;13/04/2024\n2;soon\n"), dtype={"x": "date"}, dates="dmy")

    assert [record["x"] for record in packed.records] == ["2024-04-13"]
    assert packed.plan.rejected["value"].tolist() == ["soon"]


COLUMNS: dict[str, tuple[list[object], list[object], str]] = {
    "decimal commas": (["1.234,50", "99,90", "N/A"], [1234.5, 99.9, None], "`x`: 2 amounts with"),
    "a currency": (["$1,200.00", "$9.50", None], [1200, 9.5, None], "`$` is left out"),
    "plain numbers as texts": (["12", "7.5", "8"], ["12", "7.5", "8"], ""),
    "numbers": ([1.25, 3, 2.5], [1.25, 3, 2.5], ""),
    "two forms": (["1.250", "3.000", "9.999"], ["1.250", "3.000", "9.999"], ""),
    "one of two forms": (["1,250", "3,000", "9,999"], ["1,250", "3,000", "9,999"],
                         "`1,250` is 1250 with decimal='.', 1.250 with decimal=','"),
    "texts and numbers": (["1.234,50", 3, "9,90"], ["1.234,50", 3, "9,90"], ""),
}  # fmt: skip


@pytest.mark.sampled(quick=3)
@pytest.mark.parametrize("suffix", [".json", ".ndjson", ".xlsx"])
@pytest.mark.parametrize("name", COLUMNS)
def test_texts_of_documents_and_workbooks_are_amounts_as_in_delimited_files(
    tmp_path: Path, name: str, suffix: str
) -> None:
    cells, expected, note = COLUMNS[name]
    path = tmp_path / f"t{suffix}"
    if suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [("name", "x"), *((f"a{n}", cell) for n, cell in enumerate(cells))]:
            book.active.append(row)
        book.save(path)
    else:
        lines = [json.dumps({"name": f"a{n}", "x": cell}) for n, cell in enumerate(cells)]
        path.write_text("\n".join(lines) if suffix == ".ndjson" else f"[{','.join(lines)}]")

    packed = pack(path)

    assert [record.get("x") for record in packed.records] == expected
    notes = [str(each) for each in packed.plan.notes if "`x`" in each]
    assert any(note in each for each in notes) if note else not notes


def test_texts_that_are_amounts_only_in_the_first_rows_stay_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.ndjson"
    rows = [{"x": f"{n},50"} for n in range(3000)]
    path.write_text("\n".join(map(json.dumps, [*rows, {"x": "on request"}, {"x": [1]}])))

    packed = pack(path)

    assert packed.records[0]["x"] == "0,50"
    assert [record["x"] for record in packed.records[-2:]] == ["on request", [1]]


@pytest.mark.slow
def test_dtype_number_takes_amounts_of_documents(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"x": "1.234,50"}, {"x": "9,90"}, {"x": "none of them"}]))

    packed = pack(path, dtype={"x": "number"})

    assert [record.get("x") for record in packed.records] == [1234.5, 9.9]
    assert packed.rejected == [(3, "x", "is not a number")]
    assert pack(path, dtype={"x": "string"}).records[0]["x"] == "1.234,50"


@pytest.mark.parametrize(
    ("late", "numbers"),
    [
        ([".0220994", "-.5"], [0.0220994, -0.5]),
        (["nil", "2.5"], [None, 2.5]),
        (["1,234", "2.5"], [1234, 2.5]),
        (["12A", ".5"], ["12A", ".5"]),
    ],
)
def test_late_values_of_another_form_are_numbers_if_all_values_have_one_form(
    write: Write, late: list[str], numbers: list[object]
) -> None:
    values = read_column(write, [*(f"{n}.25" for n in range(3_000)), *late], "\t")

    assert values[-2:] == numbers
    assert isinstance(values[0], type(values[-1]))


def test_two_numbers_between_a_comma_are_text_among_decimal_points(write: Write) -> None:
    rows = "".join(f'{n},{n}.75,"{n % 7},{n % 10}"\n' for n in range(1, 40))
    packed = pack(write(f"id,weight,pair\n{rows}"), id="id")

    assert packed.records[0]["pair"] == "1,1"
    (note,) = packed.plan.advice
    assert note == (
        "`pair` is kept as text: `1,1` has a comma, and `weight` has decimal points; decimal=',' "
        "reads numbers"
    )
    prices = "".join(f'{n},{n}.75,"{n},90"\n' for n in range(1, 40))
    packed = pack(write(f"id,weight,price\n{prices}"), id="id")
    assert packed.records[0]["price"] == 1.9
    sessions = "".join(f'{n},{n}.75,"1,{n}00"\n' for n in range(1, 10))
    packed = pack(write(f"id,weight,sessions\n{sessions}"), id="id")
    assert packed.records[0]["sessions"] == 1100


def test_missing_words_far_below_are_counted_without_an_example(write: Write) -> None:
    rows = "".join(f"{n},{n if n < 3_000 else 'nil'}\n" for n in range(3_002))
    packed = pack(write(f"id,x\n{rows}"), id="id")

    assert packed.plan.columns["note"].tolist()[1] == "2 words are missing values"

"""Lines of a delimited file that are no rows: titles above the table, totals and remarks below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from svc_notebook.data.loading.load_plan.plan import LoadPlan
from tests.data.loading.encoded_records import pack

TABLE = "id;name;qty\na1;Lamp;5\na2;Table;7\na3;Chair;9\na4;Bed;2\n"


def plan_of(tmp_path: Path, text: str, **options: Any) -> LoadPlan:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return pack(path, **options).plan


def test_a_line_with_the_size_of_the_table_names_no_columns(tmp_path: Path) -> None:
    rows = "".join(f"{n}.5,{n}.25,{n * n},{n % 3}.1,{n % 2},{n}\n" for n in range(1, 21))

    plan = plan_of(tmp_path, f"20,5,high,low\n{rows}")

    assert plan.rows == 20
    assert plan.columns["column"].tolist() == [f"column{n}" for n in range(6)]
    assert "1 line before the table skipped: `20,5,high,low`" in plan.changes
    plan = plan_of(tmp_path, f"a,b,c,d\n{rows}")
    assert plan.columns["column"].tolist()[:4] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "title",
    [
        "Stock report; 2025\n",
        "Stock report; 2025\n\n",
        "Company:;Acme\nDate:;1.2.2025\n",
        "Report;by;Anna;on;Monday\n",
        "Stock report;;\n",
        "Stock report\n\n",
        "TemplateType=x;Version=2023;Signature=a9\n",
    ],
)
def test_a_title_with_separators_is_left_out(tmp_path: Path, title: str) -> None:
    plan = plan_of(tmp_path, title + TABLE)

    assert plan.columns["column"].tolist() == ["id", "name", "qty"]
    assert plan.rows == 4
    assert any("before the table skipped" in note for note in plan.changes)


@pytest.mark.parametrize(
    "text",
    [
        "x;y\n1;2;3\n4;5;6\n7;8;9\n",
        "Name;City;Note\nAnn;Rome;a b\nBen;Oslo;c d\n",
        "a;b\nr1;1;2\nr2;3;4\nr3;5;6\n",
    ],
)
def test_a_header_is_no_title(tmp_path: Path, text: str) -> None:
    plan = plan_of(tmp_path, text)

    assert plan.rows == len(text.splitlines()) - 1
    assert not any("before the table" in note for note in plan.notes)


@pytest.mark.parametrize(
    ("footer", "shown"),
    [
        ("Summe;;23\n", "Summe;;23"),
        ("Gesamt:;;23\n", "Gesamt:"),
        ("Total;;23\n", "Total"),
        (";;23\n", ";;23"),
        ("(4 rows)\n", "(4 rows)"),
        ("\nConfidential, do not share\n", "Confidential"),
        ("\n* preliminary;;\n", "* preliminary"),
        ("Source: warehouse;;\n", "Source: warehouse"),
        ("合计;;23\n", "合计"),
        ("Total;;23\n\nGenerated on Monday\n", "Total"),
    ],
)
def test_a_footer_is_left_out_with_a_note_that_holds_it(
    tmp_path: Path, footer: str, shown: str
) -> None:
    plan = plan_of(tmp_path, TABLE + footer)

    assert plan.rows == 4
    assert plan.columns["sent as"].tolist() == ["text", "text", "integer"]
    (note,) = [note for note in plan.changes if "after the last row left out" in note]
    assert shown in note
    lines = [line for line in (TABLE + footer).splitlines() if line.strip()]
    assert len(lines) == 1 + plan.rows + plan.skipped_lines
    assert plan_of(tmp_path, TABLE + footer, strict=True).rows > 0


@pytest.mark.parametrize(
    "row", ["a5;;\n", "a5;Total;3\n", "Total;Oil;3\n", "a5;Sofa;23\n", "a5;;23\n", "Oak lamp;;\n"]
)
def test_a_last_row_is_a_row(tmp_path: Path, row: str) -> None:
    assert plan_of(tmp_path, TABLE + row).rows == 5


FULL = "land;year;kind;value\n" + "".join(f"L{n};{1990 + n};x;{n}.5\n" for n in range(20))


@pytest.mark.parametrize(
    ("end", "rows"),
    [
        ("id;note\n1;Projected\n", 20),
        ("id;note\n1;Projected\n2;Estimated\n", 20),
        ("L20;2010\n", 21),  # the download ended here
        ("L20;2010;y\nL21;2011;y\n", 22),
    ],
)
def test_short_rows_below_full_ones_are_another_table(tmp_path: Path, end: str, rows: int) -> None:
    plan = plan_of(tmp_path, FULL + end)

    assert plan.rows == rows
    assert plan.skipped_lines == 20 + end.count("\n") - rows


def test_the_footer_of_a_large_file_is_left_out(tmp_path: Path) -> None:
    rows = "".join(f"{n};name of {n};{n}\n" for n in range(30_000))
    plan = plan_of(tmp_path, f"id;name;qty\n{rows}Summe;;449985000\n")

    assert plan.rows == 30_000
    assert any("`Summe;;449985000`" in note for note in plan.changes)


@pytest.mark.parametrize(
    ("text", "rows", "rejected"),
    [
        ('id,name,n\n1,"Lamp,3\n2,Bed,4\n3,"So, fa",5\n4,Chair,6\n', 4, [1]),
        ('id,name,n\n1,"Lamp,3\n2,"Bed",4\n3,"Sofa",5\n', 3, [1]),
        ('id,name,n\n1,Lamp,3\n2,Bed,"4\n3,Sofa,5\n4,Chair,6\n', 4, [2]),
        ('id,name,n\n1,"Salad, big,3\n2,6" nail,4\n3,"So, fa",5\n4,"Ch ""x""",6\n', 4, [1]),
    ],
)
def test_one_unclosed_quote_costs_one_row(
    tmp_path: Path, text: str, rows: int, rejected: list[int]
) -> None:
    plan = plan_of(tmp_path, text)

    assert plan.rows == rows
    assert plan.rejected["row"].tolist() == rejected


def test_quotes_that_enclose_nothing_are_parts_of_values(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text('id\ttitle\tn\n1\t"Rome\t3\n2\tNail 6"\t4\n3\t"Blue"\t5\n4\t"x\t6\n')

    packed = pack(path)

    assert [row["title"] for row in packed.records] == ['"Rome', 'Nail 6"', '"Blue"', '"x']
    assert any("encloses none" in note for note in packed.plan.changes)


def test_a_row_with_a_separator_in_a_value_is_rejected_not_shifted(tmp_path: Path) -> None:
    rows = "".join(f"{n},Ann {n},{n}.5,2024-01-0{n}\n" for n in range(1, 8))
    plan = plan_of(tmp_path, f"id,author,price,day\n{rows}8,Dave, Jr.,4.5,2024-01-08\n")

    assert plan.rejected["row"].tolist() == [8]
    assert "do not fit their columns" in plan.rejected["reason"].iloc[0]
    assert plan.columns["sent as"].tolist() == ["integer", "text", "number", "text"]

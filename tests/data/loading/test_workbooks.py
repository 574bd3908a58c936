from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pytest
from bokeh_sampledata.autompg import autompg

import svc_notebook as svc
from svc_notebook.data.client import Client
from svc_notebook.data.loading import plan
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values


def write(path: Path, **sheets: list[list[Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_a_workbook_has_the_records_of_its_table(tmp_path: Path) -> None:
    path = tmp_path / "cars.xlsx"
    autompg.to_excel(path, index=False)

    assert values(str(path)) == values(pd.read_excel(path, engine="openpyxl"))
    assert len(values(str(path))) == len(autompg)


@pytest.mark.slow
def test_dates_and_times_and_numbers_keep_their_kind(tmp_path: Path) -> None:
    day, time = dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4, 5)
    midnight = dt.datetime(2024, 1, 2)
    header = ["day", "time", "midnight", "whole", "number", "flag", "text"]
    path = write(tmp_path / "t.xlsx", S=[header, [day, time, midnight, 3, 2.5, True, "007"]])

    assert values(str(path), timezone="UTC") == [
        {
            "day": "2024-01-02",
            "time": "2024-01-02T03:04:05Z",
            "midnight": "2024-01-02T00:00:00Z",
            "whole": 3,
            "number": 2.5,
            "flag": True,
            "text": "007",
        }
    ]
    (record,) = values(str(path))
    assert (record["time"], record["midnight"]) == ("2024-01-02T03:04:05", "2024-01-02T00:00:00")
    notes = plan(str(path), "x").notes
    assert any("`time`, `midnight`: times without a time zone, sent as texts" in n for n in notes)


def test_a_title_merged_headers_and_blank_rows_are_told(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in [
        ["Sales of 2024"], [], ["sku", "Sales", None], [None, "Q1", "Q2"], ["a", 1, 2], [],
        ["b", 3, None],
    ]:  # fmt: skip
        sheet.append(row)
    sheet.merge_cells("B3:C3")
    path = tmp_path / "sales.xlsx"
    book.save(path)

    found = plan(str(path), "sales", id="sku")

    assert values(str(path)) == [
        {"sku": "a", "Sales Q1": 1, "Sales Q2": 2},
        {"sku": "b", "Sales Q1": 3},
    ]
    notes = "\n".join(found.notes)
    assert "row above the table: not sent (Sales of 2024)" in notes or "Sales of 2024" in notes
    assert "the header has 2 rows, because `Sales` is over several columns" in notes
    assert "1 blank row of the sheet" in notes


def test_sheets_are_named_and_chosen(tmp_path: Path) -> None:
    path = write(tmp_path / "t.xlsx", Films=[["a"], [1]], Notes=[["b"], [2]])

    assert values(str(path)) == [{"a": 1}]
    assert values(str(path), sheet="Notes") == [{"b": 2}]
    assert "sheet='Notes' loads another" in plan(str(path), "films").notes[0]
    with pytest.raises(BadInput, match="no sheet `notes`; did you mean `Notes`"):
        plan(str(path), "films", sheet="notes")


def test_errors_and_missing_values_of_formulas_are_missing_with_a_note(
    tmp_path: Path,
) -> None:
    rows: list[list[Any]] = [
        ["sku", "share", "sum"],
        ["a", "#DIV/0!", 1],
        ["b", 0.5, "=1+1"],
        ["c", "#N/A", 2],
        ["d", "#DIV/0!", "#REF!"],
    ]
    path = write(tmp_path / "t.xlsx", S=rows)

    packed = pack(str(path), id="sku")

    assert packed.rejected == []
    assert [{n: v for n, v in r.items() if n != "objectID"} for r in packed.records] == [
        {"sku": "a", "sum": 1},
        {"sku": "b", "share": 0.5},
        {"sku": "c", "sum": 2},
        {"sku": "d"},
    ]
    assert "4 cells with #DIV/0!, #N/A, #REF!: missing values" in packed.plan.notes
    assert any("1 formulas have no stored value" in note for note in packed.plan.notes)


def test_a_workbook_is_published_and_can_be_resumed(tmp_path: Path, client: Client) -> None:
    path = tmp_path / "cars.xlsx"
    autompg.to_excel(path, index=False)

    result = svc.load(str(path), "workbook", client=client, resume=True)

    assert result.published == len(autompg)


def test_the_package_that_is_missing_is_named(
    tmp_path: Path, without_package: Callable[..., None]
) -> None:
    path = write(tmp_path / "t.xlsx", S=[["a"], [1]])
    without_package("openpyxl")

    with pytest.raises(BadInput, match=r'pip install "svc-notebook\[excel\]"'):
        plan(str(path), "films")


@pytest.mark.parametrize("name", ["t.csv", "t.ndjson"])
def test_a_sheet_is_an_option_of_workbooks_only(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"a": 1}\n{"a": 2}\n')

    with pytest.raises(BadInput, match="is not an Excel workbook"):
        plan(str(tmp_path / name), "films", sheet="S")


@pytest.mark.parametrize("name", ["report.xls", "report", "report.xlsx.download", "report.csv"])
def test_the_content_of_a_workbook_decides_and_not_its_suffix(name: str, tmp_path: Path) -> None:
    path = tmp_path / "report.xlsx"
    pd.DataFrame({"id": ["1", "2"], "n": [5, 6]}).to_excel(path, index=False)

    assert pack(path.rename(tmp_path / name), id="id").plan.rows == 2

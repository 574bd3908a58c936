"""Sheets as people make them: title pages, groups, totals, remarks, codes and times."""

from __future__ import annotations

import base64
import datetime as dt
import zipfile
import zlib
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from svc_notebook.data.loading import plan
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

HEADER = ["sku", "name", "price"]
ROWS: list[list[Any]] = [["a", "lamp", 1.5], ["b", "desk", 2.5], ["c", "chair", 3.0]]
RECORDS = [dict(zip(HEADER, row, strict=True)) for row in ROWS]


def write(path: Path, rows: list[list[Any]], *merged: str, title: str = "S") -> Path:
    book = openpyxl.load_workbook(path) if path.exists() else openpyxl.Workbook()
    if path.exists():
        sheet = book.create_sheet(title)
    else:
        sheet = book.active
        sheet.title = title
    for row in rows:
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    book.save(path)
    return path


@pytest.mark.parametrize(
    "below",
    [
        [["Total", None, 7.5]],
        [["Gesamt:", None, 7.5]],
        [["Summe Möbel", None, 7.5]],
        [[], ["Grand Total", None, 7.5], [], ["Created by Ada"]],
        [[], [None, None, 7.5]],
        [["* without tax"]],
        [[], ["Prices without tax, as of May"]],
        [["Source: the shop"], ["© 2024"]],
    ],
    ids=["total", "sum", "of", "blank rows", "sum alone", "star", "remark", "source"],
)
def test_totals_and_remarks_below_a_table_are_left_out_with_a_note(
    tmp_path: Path, below: list[list[Any]]
) -> None:
    path = write(tmp_path / "t.xlsx", [HEADER, *ROWS, *below])

    packed = pack(str(path))

    assert values(str(path)) == RECORDS
    (note,) = [note for note in packed.plan.notes if "below the table: not sent" in note]
    shown = [str(cell) for row in below for cell in row if cell is not None]
    assert all(text in note for text in shown)


@pytest.mark.parametrize(
    "last",
    [["Total Recall", "film", 4.0], ["d", None, 7.5], ["sum41", "band", 1.0], ["d", "Total", 1.0]],
    ids=["name", "gap", "word", "cell"],
)
def test_rows_that_only_look_like_totals_are_sent(tmp_path: Path, last: list[Any]) -> None:
    path = write(tmp_path / "t.xlsx", [HEADER, *ROWS, last])

    assert len(values(str(path))) == 4


def test_rows_after_a_blank_row_are_sent(tmp_path: Path) -> None:
    path = write(tmp_path / "t.xlsx", [HEADER, *ROWS, [], ["d", "sofa", 9]])

    assert len(values(str(path))) == 4
    assert any("1 blank row of the sheet" in note for note in plan(str(path), "x").notes)


def test_merged_groups_hold_for_all_their_rows(tmp_path: Path) -> None:
    rows = [["kind", *HEADER], ["soft", *ROWS[0]], [None, *ROWS[1]], ["hard", *ROWS[2]], [None]]
    rows[4] = [None, "d", "rug", None]
    path = write(tmp_path / "t.xlsx", rows, "A2:A3", "A4:A5", "D4:D5")

    records = values(str(path))

    assert [record["kind"] for record in records] == ["soft", "soft", "hard", "hard"]
    assert [record["price"] for record in records] == [1.5, 2.5, 3, 3]
    notes = plan(str(path), "x").notes
    assert "`kind`: merged cells hold for all their rows, 2 cells filled" in notes


def test_a_title_page_is_not_the_table(tmp_path: Path) -> None:
    path = write(tmp_path / "t.xlsx", [[], [None, "Report"], [], [None, "by Ada"]], title="Cover")
    write(path, [["Field", "Meaning"], [], ["sku", "the code"]], title="Legend")
    write(path, [HEADER, *ROWS], title="Data")

    assert values(str(path)) == RECORDS
    assert "sheet `Data` is read; sheet='Cover' loads another" in plan(str(path), "x").notes[0]


@pytest.mark.parametrize(
    ("header", "merged", "names"),
    [
        ([["Item", None, "2024"], ["sku", "name", "price"]], ["A1:B1"],
         ["Item sku", "Item name", "2024 price"]),
        ([["sku", "Item", None], [None, "name", "price"]], [], ["sku", "Item name", "Item price"]),
        ([["sku", "Item", None], [None, "name", "price"]], ["A1:A2", "B1:C1"],
         ["sku", "Item name", "Item price"]),
        ([["All", None, None], ["sku", "Item", None], [None, "name", "price"]], ["B2:C2", "A1:C1"],
         ["sku", "Item name", "Item price"]),
    ],
    ids=["merged", "not merged", "merged down", "title"],
)  # fmt: skip
def test_headers_of_several_rows_are_joined(
    tmp_path: Path, header: list[list[Any]], merged: list[str], names: list[str]
) -> None:
    path = write(tmp_path / "t.xlsx", [*header, *ROWS], *merged)

    assert [list(record) for record in values(str(path))] == [names] * 3
    assert any("the header has 2 rows" in note for note in plan(str(path), "x").notes)


def test_header_rows_sets_the_depth(tmp_path: Path) -> None:
    rows: list[list[Any]] = [["x", "y", "z"], HEADER, *ROWS]
    path = write(tmp_path / "t.xlsx", rows)

    assert list(values(str(path), header_rows=2)[0]) == ["x sku", "y name", "z price"]


def test_codes_times_and_missing_values_are_as_the_sheet_shows_them(tmp_path: Path) -> None:
    opens, lasts = dt.time(8, 30), dt.timedelta(hours=30, seconds=5)
    rows: list[list[Any]] = [
        ["zip", "opens", "lasts", "found"],
        [1067, opens, lasts, "#N/A"],
        [99, None, None, 1],
    ]
    path = write(tmp_path / "t.xlsx", rows)
    book = openpyxl.load_workbook(path)
    for number in (2, 3):
        book["S"][f"A{number}"].number_format = "00000"
    book.save(path)

    assert values(str(path)) == [
        {"zip": "01067", "opens": "08:30", "lasts": "30:00:05"},
        {"zip": "00099", "found": 1},
    ]
    notes = "\n".join(plan(str(path), "x").notes)
    assert "1 cell with #N/A: missing values" in notes
    assert "`zip`: texts" in notes


@pytest.mark.slow
def test_a_formatted_cell_at_the_end_of_a_sheet_costs_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.xlsx", [HEADER, *ROWS])
    book = openpyxl.load_workbook(path)
    book["S"]["XFD1048576"].font = openpyxl.styles.Font(bold=True)
    book.save(path)

    assert values(str(path)) == RECORDS


# `ROWS` in the format of Excel 97.
OLD_WORKBOOK = zlib.decompress(
    base64.b64decode(
        "eNrtWE1oE0EU/mY3mz/aNKmp0AolFKxaexEvXtpVQXuyVD0oKug2WTAkTcNWD3rQas1REDwpXgq9eKl68Qc96M2DUN"
        "GDIIiJHnsSFHpos755O6up5tCAFn/2W+bNmzfz7UzmvXnZ3ZcLqersvZ4afsAwdNTdGMINNkEl5jeSoH7XlapfR6m4"
        "Af4qxKLkyLCBx+0vItKH0t81aLgbekYS+EDlBMoYnSzZmXXEXl6DJeQahkgK3CJLAt28qk6WWZYbWN7hkU9Y7mbLVZ"
        "ZDNLYqjmHBHB3YpaL4qNbHfQnI+z5gzlu27EAXnssovnhNeGMN7HHyVvHP7OgNtWEO5LcRu2Q7VrGKNDlwDl/cDPDZ"
        "P6lPM4F9fe0CZF9abY80sV/XQsA03FMc4BVKru91z8GHl2FyrpWFbFOFszS0ZE3YBlB28lmbIsEiU9GaKJM6TmrOni"
        "qQmqUR2dNW3olLOh/v5Krj3c5h30Yyhw7WUxz8SUrgy7c/vTowPmaeZMs0p3Qv8W+Wa4WLS5JB5AT3hFjKRQ8wYzvL"
        "y3zXTaz3sExTyFLdP9allP0zPOYK9/bTPDsZr80tDfpW0iuLBx/2Vj6a20ifH6mdT8+/MWfRRxuTI768ZjAoBsXNGx"
        "KPTL8WKkm8Y9n9U8KIakm1dlf9u3VgBXFWUyy9ltwd8a2lqb2SbNGELZitq/GC2XKPLmiyJdnHNY+tNWFrzDYU2/NM"
        "WLE1Zi/qHltvwtaZHVFsndlRxdaZLX02rHXivpyI0uR3xBEgQIAAAQIECBDgv4Dgh1rvEV4+qBrqJSGivuusUKkHn0"
        "n+WRzCJF1n6MV0H0pUOzjXUvxshCH8e4k1cvzvhRJHaHYHBYzzOgotxy+95InG37NmYvLXHaFW56+3ss7fPP9XHw3R"
        "Tg=="
    )
)


def write_open_document(path: Path, cells: list[list[tuple[str, str]]]) -> None:
    """Write the cells of a sheet, each with the attributes of its type and its text."""
    rows = "".join(
        "<table:table-row>"
        + "".join(
            f"<table:table-cell {kind}><text:p>{text}</text:p></table:table-cell>"
            for kind, text in row
        )
        + "</table:table-row>"
        for row in cells
    )
    names = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{name}="{names}:{name}:1.0"' for name in ("office", "table", "text"))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="S">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )


def test_old_workbooks_and_those_of_open_document_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.xls").write_bytes(OLD_WORKBOOK)
    text = 'office:value-type="string"'
    day = 'office:value-type="date" office:date-value="2024-01-02"'
    number = 'office:value-type="float" office:value="1.5"'
    whole = 'office:value-type="float" office:value="3"'
    write_open_document(
        tmp_path / "t.ods",
        [
            [(text, "sku"), (text, "price"), (text, "day"), (text, "n")],
            [(text, "007"), (number, "1.5"), (day, "02.01.2024"), (whole, "3")],
            [(text, "008"), (number, "1.5"), (day, "02.01.2024"), (whole, "3")],
        ],
    )

    row = {"price": 1.5, "day": "2024-01-02", "n": 3}

    assert values(str(tmp_path / "t.xls")) == RECORDS
    assert values(str(tmp_path / "t.ods")) == [{"sku": "007", **row}, {"sku": "008", **row}]


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.ods", "t.csv"])
def test_an_old_workbook_can_have_another_suffix(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(OLD_WORKBOOK)

    assert values(str(tmp_path / name)) == RECORDS


def test_a_workbook_with_a_password_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))

    with pytest.raises(BadInput, match=r"cannot be read as a workbook: .*if it has a password"):
        plan(str(path), "x")

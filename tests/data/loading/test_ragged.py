"""Rows with more or fewer cells than the header, and unusual headers."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_file import open_delimited
from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

BODY = "".join(f"{n},a{n},b{n}\n" for n in range(10))
TEN = [{"id": n, "name": f"a{n}", "x": f"b{n}"} for n in range(10)]
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str) -> Path:
        path = tmp_path / "t.csv"
        path.write_bytes(content.encode())
        return path

    return write


def crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


@pytest.mark.parametrize(
    ("header", "rows", "name"),
    [
        ('id,"na\nme",x\r\n', crlf(BODY), "na\nme"),
        ('id,"na\r\nme",x\r\n', crlf(BODY), "na\r\nme"),
        ('id,"na\r\nme",x\n', BODY, "na\r\nme"),
        ('id,"na\nme",x\n', BODY, "na\nme"),
        ('id,na"me,x\n', BODY, 'na"me'),
        ('id,na"me,x\r\n', crlf(BODY), 'na"me'),
        ('id,"na"me,x\n', BODY, "name"),
        ('id,"na ""me""",x\n', BODY, 'na "me"'),
    ],
    ids=["lf in crlf", "crlf in crlf", "crlf in lf", "lf in lf", "stray", "stray crlf",
         "text after", "doubled"],
)  # fmt: skip
def test_a_header_that_is_hard_to_read_loses_no_row(
    write: Write, header: str, rows: str, name: str
) -> None:
    packed = pack(write(header + rows), id="id")

    assert [record[name] for record in packed.records] == [row["name"] for row in TEN]
    assert packed.plan.rows == 10


def test_an_unclosed_quote_in_the_header_of_a_short_file_is_refused(write: Write) -> None:
    with pytest.raises(BadInput, match="the header has an unclosed quote"):
        pack(write('id,"name,x\n1,a,b\n2,c,d\n'))


def test_lines_without_a_row_are_never_a_success(write: Write) -> None:
    with Database() as db:
        table = open_delimited([write("id,name,x\n" + BODY)], "t.csv", LoadSettings(), db)

        with pytest.raises(BadInput, match="has lines, but none could be read as a row"):
            table.check_lost_rows(0, 0, ())


def test_a_separator_too_many_at_the_end_of_every_row_shifts_nothing(write: Write) -> None:
    packed = pack(write("id,name,x\n" + BODY.replace("\n", ",\n")), id="id")

    assert [{n: r[n] for n in TEN[0]} for r in packed.records] == TEN
    assert any("one separator more than the header" in note for note in packed.plan.notes)


def test_a_header_one_name_short_leaves_the_first_column_without_a_name(write: Write) -> None:
    packed = pack(write("name,x\n" + BODY))

    assert values(write("name,x\n" + BODY)) == [
        {"column0": row["id"], "name": row["name"], "x": row["x"]} for row in TEN
    ]
    assert "sent as `column0`" in packed.plan.notes[0]


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("11,a,b,", [11, "a", "b"]),
        ('11,a,b,""', [11, "a", "b"]),
        ("11,,a,", [11, None, "a"]),
        ("11,a,b,c", [11, "a", "b"]),
        ('11,"a,\nb",c,', [11, "a,\nb", "c"]),
        ('11,"a""b",c,d,e', [11, 'a"b', "c"]),
    ],
    ids=["empty", "quoted empty", "doubled", "more", "lines", "two more"],
)
def test_a_row_with_a_cell_too_many_is_rejected_with_its_cells_and_its_line(
    write: Write, row: str, cells: list[object]
) -> None:
    packed = pack(write(f"id,name,x\n{BODY}{row}\n12,c,d\n"), id="id", strict=True)

    (told,) = packed.plan.rejected.to_dict("records")
    assert [record["id"] for record in packed.records] == [*range(10), 12]
    assert (told["row"], told["value"]) == (11, row)
    assert "more columns than the header" in told["reason"]
    assert [told[name] for name in ("id", "name", "x")] == cells


def test_a_last_cell_that_is_often_empty_is_no_separator_too_many(write: Write) -> None:
    rows = "".join(f'{n},"a, {n}\n…",\n' for n in range(50))

    packed = pack(write(f"id,name,x\n{rows}"), id="id")

    assert packed.rejected == []
    assert [record["name"] for record in packed.records] == [f"a, {n}\n…" for n in range(50)]


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["lf", "crlf", "cr"])
def test_separators_put_into_any_row_are_never_passed_over(write: Write, end: str) -> None:
    """Every row in turn gets a separator too many, at every place."""
    rows = [[str(n), f"a{n}", "" if n % 2 else f"b{n}"] for n in range(6)]
    for row in range(6):
        for place in range(1, 4):
            wider = [[*r[:place], "", *r[place:]] if n == row else r for n, r in enumerate(rows)]
            lines = ["id,name,x", *(",".join(cells) for cells in wider)]

            packed = pack(write(end.join(lines) + end), id="id", strict=True)

            assert [found for found, _, _ in packed.rejected] == [row + 1]
            assert [record["id"] for record in packed.records] == [n for n in range(6) if n != row]


@pytest.mark.slow
@pytest.mark.usefixtures("small_csv_pieces")
def test_short_rows_of_a_large_file_are_filled_as_the_csv_module_reads_them(tmp_path: Path) -> None:
    make = random.Random(5)
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "name", "text"])
        for n in range(8000):
            row = [f"p{n}", f"name {n}", make.choice(['a, "b"', "two\r\nlines", "x" * 60])]
            writer.writerow(row[: make.choice([1, 2])] if make.random() < 0.01 else row)
    with path.open(newline="") as file:
        read = list(csv.DictReader(file))

    packed = pack(path, id="id")

    assert [{n: r.get(n) for n in read[0]} for r in packed.records] == read
    short = [n for n, row in enumerate(read, 1) if row["text"] is None]
    assert packed.plan.notes[0].startswith(
        f"{len(short)} rows have fewer cells than the header; the missing cells are empty "
        f"(rows {', '.join(f'{n:,}' for n in short[:5])}, …)"
    )


@pytest.mark.usefixtures("small_csv_pieces")
def test_a_line_of_a_cell_is_never_read_as_a_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    cell = "one\n" + "so, he said, again\n" * 12
    path.write_text("id,name,x\n" + "".join(f'{n},name,"{cell}"\n' for n in range(3000)))

    packed = pack(path, id="id", dtype={"x": "string"})

    assert [record["id"] for record in packed.records] == list(range(3000))
    assert {record["x"] for record in packed.records} == {cell}


@pytest.mark.parametrize(
    ("value", "kind", "what"),
    [("free", "number", "numbers"), ("1x5", "number", "numbers"), ("maybe", "boolean", "true or")],
)
def test_the_value_that_makes_a_column_text_is_reported(
    tmp_path: Path, value: str, kind: str, what: str
) -> None:
    path = tmp_path / "t.csv"
    usual = ["7", "-1.5"] if kind == "number" else ["true", "false"]
    rows = "".join(f"{n};{usual[n % 2]}\n" for n in range(200))
    path.write_text(f"id;n\n{rows}200;{value}\n")

    packed = pack(path, id="id")

    (note,) = packed.plan.notes
    assert f"200 of 201 values are {what}" in note
    assert f"`{value}` in row 201 is not" in note
    assert f"dtype={{'n': '{kind}'}}" in note
    assert packed.plan.columns["note"].tolist()[1].startswith("200 of 201 are")
    assert pack(path, id="id", dtype={"n": kind}).plan.notes == ()


def test_a_late_value_that_makes_a_column_text_is_told_by_its_row(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{n},{n}" for n in range(30_000)]
    rows[20_000], rows[25_000] = "20000,open", "25000,A1"
    path.write_text("id,code\n" + "\n".join(rows) + "\n")

    (note,) = pack(path, id="id").plan.notes

    assert "29,998 of 30,000 values are numbers; `open` in row 20,001 and 1 more are not" in note


def test_late_codes_with_leading_zeros_are_no_reason_to_propose_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{n},{n + 10_001}" for n in range(5_000)]
    rows[4_000] = "4000,00501"
    path.write_text("id,zip\n" + "\n".join(rows) + "\n")

    plan = pack(path, id="id").plan

    assert plan.notes == ()
    assert plan.columns["note"].tolist()[1] == "leading zeros: kept as text"


def test_a_column_of_words_is_text_without_a_note(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,code\n" + "".join(f"{n},{'A' * (n % 3 > 0)}{n}\n" for n in range(100)))

    assert pack(path, id="id").plan.notes == ()


PRICES = "".join(f"P{n:03},lamp {n},{n}.5,ok\n" for n in range(1, 20))


@pytest.mark.parametrize(
    "row", ["P900,,desk,9.5,no", ",P900,desk,9.5,no", 'P900,"",desk,9.5,no', "P900,,desk,9.5,"]
)
def test_an_empty_cell_too_many_is_left_out_if_the_others_then_have_their_forms(
    write: Write, row: str
) -> None:
    path = write(f"sku,name,price,note\n{PRICES}{row}\n")

    packed = pack(path, id="sku")

    last = packed.records[-1]
    assert (last["sku"], last["name"], last["price"]) == ("P900", "desk", 9.5)
    assert last.get("note") == ("no" if row.endswith("no") else None)
    assert "column4" not in packed.plan.columns["column"].tolist()
    assert any("one separator too many" in note for note in packed.plan.notes)
    assert any("(row 20)" in note for note in packed.plan.notes)


@pytest.mark.parametrize("row", ["P900,desk,9.5,,no", "P900,desk,,9.5,no,more", "P900,,,x,no"])
def test_a_row_with_a_cell_too_many_keeps_all_cells_in_doubt(write: Write, row: str) -> None:
    path = write(f"sku,name,price,note\n{PRICES}{row}\n")

    packed = pack(path, id="sku", dtype={"price": "string"})

    record = packed.records[-1]
    names = ("sku", "name", "price", "note", "column4", "column5")
    assert [record.get(name) or "" for name in names] == [*row.split(","), ""][:6]


def test_an_empty_cell_too_many_rejects_the_row_if_strict(write: Write) -> None:
    path = write(f"sku,name,price,note\n{PRICES}P900,,desk,9.5,no\n")

    packed = pack(path, id="sku", strict=True)

    assert [row for row, _, _ in packed.rejected] == [20]


QUOTED = "".join(f'"{n}","item {n}","ok"\n' for n in range(20))


@pytest.mark.parametrize(
    ("line", "last"),
    [
        ('"7","item","""', '"'),
        ('"7","item","ok""', 'ok"'),
        ('"7","item",""ok"', '"ok'),
        ('"7","item",""he said ""fine"""', '"he said "fine"'),
    ],
)
@pytest.mark.parametrize("place", [0, 7, 20])
def test_a_quote_too_many_does_not_continue_a_value_on_the_next_row(
    write: Write, line: str, last: str, place: int
) -> None:
    lines = QUOTED.splitlines(keepends=True)
    text = "".join([*lines[:place], line + "\n", *lines[place:]])

    packed = pack(write(f'"n","name","note"\n{text}'))

    assert packed.plan.rows == len(packed.records) == 21
    assert packed.records[place]["note"] == last
    assert [r["note"] for n, r in enumerate(packed.records) if n != place] == ["ok"] * 20
    assert any("inside of values" in note for note in packed.plan.notes)


def test_a_value_of_several_lines_can_end_a_line_with_a_quote(write: Write) -> None:
    rows = [["n", "note"], ["1", 'he said "fine"\nand left'], ["2", '"'], ["3", '\n"'], ["4", "x"]]
    path = write("")
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)

    assert [row["note"] for row in values(path)] == [note for _, note in rows[1:]]

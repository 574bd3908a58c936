"""Tables as programs print them: boxes, Markdown, fixed widths, long separators, escapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.loading.encoded_records import pack, values

LAMPS = [{"id": 1, "name": "Oak lamp", "price": 0.5}, {"id": 2, "name": "Tea, pot"}]
PSQL = """\
 id |   name   | price
----+----------+-------
  1 | Oak lamp |  0.50
  2 | Tea, pot |
(2 rows)

"""
MYSQL = """\
mysql> select * from lamps;
+----+----------+-------+
| id | name     | price |
+----+----------+-------+
|  1 | Oak lamp |  0.50 |
|  2 | Tea, pot |  NULL |
+----+----------+-------+
2 rows in set (0.00 sec)
"""
MARKDOWN = """\
# Lamps

| id | name | price |
|---:|:-----|------:|
| 1 | Oak lamp | 0.50 |
| 2 | Tea, pot | |
"""
BOX = """\
┌────┬──────────┬───────┐
│ id │   name   │ price │
├────┼──────────┼───────┤
│  1 │ Oak lamp │  0.50 │
│  2 │ Tea, pot │       │
└────┴──────────┴───────┘
"""
SAP = """\
20.11.2023   Lamps   1
----------------------
|id|name    |price|
----------------------
| 1|Oak lamp| 0.50|
| 2|Tea, pot|     |
----------------------
"""
SQLCMD = """\
id          name                 price
----------- -------------------- ------------
          1 Oak lamp                     0.50
          2 Tea, pot                     NULL

(2 rows affected)
"""
SQLPLUS = """\

        ID NAME            PRICE
---------- ---------- ----------
         1 Oak lamp          .50
         2 Tea, pot

2 rows selected.
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "text",
    [PSQL, MYSQL, MARKDOWN, BOX, SAP, SQLCMD, SQLPLUS],
    ids=["psql", "mysql", "markdown", "box", "sap", "sqlcmd", "sqlplus"],
)
def test_a_printed_table_is_read_without_its_frame(
    tmp_path: Path, text: str, line_end: str
) -> None:
    path = tmp_path / "lamps.txt"
    path.write_text(text, encoding="utf-8", newline=line_end)

    packed = pack(path)

    names = {"ID": "id", "NAME": "name", "PRICE": "price"}
    rows = [{names.get(k, k): v for k, v in row.items()} for row in values(path)]
    assert [{k: v for k, v in row.items() if v is not None} for row in rows] == LAMPS
    assert packed.plan.changes


@pytest.mark.parametrize("text", [MYSQL, SQLCMD, PSQL, SAP], ids=["mysql", "sqlcmd", "psql", "sap"])
def test_lines_that_are_not_rows_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lamps.txt"
    path.write_text(text, encoding="utf-8")

    plan = pack(path).plan

    others = ("rows", "mysql>", "20.11.2023")
    assert any(word in note for note in plan.changes for word in others)
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1 + plan.rows + plan.skipped_lines


def test_a_separator_of_several_characters(tmp_path: Path) -> None:
    path = tmp_path / "ratings.dat"
    path.write_text("1::Tom's, party::5\n2::Blue (1999)::3\n3::Old::4\n")

    assert [[*row.values()] for row in values(path)] == [
        [1, "Tom's, party", 5],
        [2, "Blue (1999)", 3],
        [3, "Old", 4],
    ]


def test_empty_cells_are_not_a_separator_of_two_characters(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a|b||d\n1|2||4\n5|6||8\n")

    assert pack(path).plan.columns["column"].tolist() == ["a", "b", "column2", "d"]


def test_escapes_of_mysql_are_read(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("id\tname\n1\ttab\\there\n2\tnew\\nline\n3\tback\\\\slash\n4\t\\N\n")

    assert [row.get("name") for row in values(path)] == [
        "tab\there", "new\nline", "back\\slash", None,
    ]  # fmt: skip


def test_paths_of_windows_are_not_escapes(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("id\tpath\n1\tC:\\temp\\new\n2\tC:\\new\\table\n")

    assert [row["path"] for row in values(path)] == ["C:\\temp\\new", "C:\\new\\table"]


def test_a_blank_inside_of_all_values_begins_no_column(tmp_path: Path) -> None:
    names = ["Ann Miller", "Charlie Brown Jr", "Bob"]
    rows = [(n, names[n % 2 or 2 * (n > 6)], f"{n * 7.25:8.2f}") for n in range(12)]
    lines = ["ID        NAME                AMOUNT", *(f"{a:<10}{b:20}{c}" for a, b, c in rows)]
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines), encoding="utf-8")

    assert [(r["ID"], r["NAME"]) for r in values(path)] == [(a, b) for a, b, _ in rows]


def test_counts_between_blanks_need_no_header(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "".join(f"en Page_{n} {n * 37} {n}000\n" for n in range(1, 9)), encoding="utf-8"
    )

    assert [[*row.values()] for row in values(path)] == [
        ["en", f"Page_{n}", n * 37, n * 1000] for n in range(1, 9)
    ]


def test_groups_of_digits_are_one_number(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"L{n} {n} 120 {n}50\n" for n in range(3, 9)), encoding="utf-8")

    assert len(values(path)[0]) == 1


@pytest.mark.parametrize(
    ("footer", "note"),
    [
        ("(2 rows)\n", "1 line that is not a row left out: `(2 rows)`"),
        ("(2 rows)\n" + "Time: 1 ms\n" * 8, "9 lines that are not rows left out: `(2 rows)`, "),
    ],
)
def test_lines_that_are_no_rows_are_counted(tmp_path: Path, footer: str, note: str) -> None:
    path = tmp_path / "out.txt"
    path.write_text(PSQL.replace("(2 rows)\n", footer))

    assert any(text.startswith(note) for text in pack(path).plan.changes)

"""Delimited files of any layout: lines that are not rows, rare separators, missing headers."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sources.csv_layout import find_layout
from svc_notebook.data.loading.text_cells.cell_kinds import value_form, value_forms
from svc_notebook.errors import BadInput
from tests.conftest import examples
from tests.data.loading.encoded_records import pack, values
from tests.data.loading.test_delimited import Write, write

__all__ = ["write"]

ROWS = [
    ["id", "name", "price", "day"],
    ["1", "lamp", "1.5", "2020-01-02"],
    ["2", "oak, table", "20", "2020-01-03"],
    ["3", "Men's chair", "30", "2020-01-04"],
    ["4", "shelf", "12.5", "2020-01-05"],
]
RECORDS = [
    {"id": 1, "name": "lamp", "price": 1.5, "day": "2020-01-02"},
    {"id": 2, "name": "oak, table", "price": 20, "day": "2020-01-03"},
    {"id": 3, "name": "Men's chair", "price": 30, "day": "2020-01-04"},
    {"id": 4, "name": "shelf", "price": 12.5, "day": "2020-01-05"},
]


@given(st.lists(st.text(st.sampled_from("aB é9٣-.\n\r\x0b\x85")), max_size=8))
@settings(max_examples=examples(300))
def test_the_forms_of_many_values_are_those_of_each(values: list[str]) -> None:
    assert value_forms(values) == [*map(value_form, values)]


@given(st.text(st.sampled_from("aZz09B_-. \n\x7f")))
@settings(max_examples=examples(300))
def test_the_form_of_an_ascii_text_is_that_of_any_text(value: str) -> None:
    assert value_form(value) == re.sub("[a-z]+", "a", re.sub(r"\d+", "9", value.lower()))


def written(separator: str = ",", rows: list[list[str]] = ROWS) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue()


def padded(separator: str) -> str:
    cells = [[f'"{c}"' if separator in c else c for c in row] for row in ROWS]
    return "".join(f"{separator} ".join(row) + "\n" for row in cells)


def aligned() -> str:
    cells = [[(f'"{c}"' if " " in c else c).ljust(14) for c in row] for row in ROWS]
    return "".join("".join(row) + "\n" for row in cells)


LAYOUTS = {
    "space": written(" "),
    "colon": written(":"),
    "caret": written("^"),
    "tilde": written("~"),
    "comma and blank": padded(","),
    "semicolon and blank": padded(";"),
    "aligned": aligned(),
    "aligned, CRLF": aligned().replace("\n", "\r\n"),
    "title": "Sales\n" + written(),
    "titles": "Sales\nmade in 2020\n\n" + written(),
    "titles of a spreadsheet": "Sales,,,\n,,,\n" + written(),
    "title with a separator": "Sales; all shops\n\n" + written(),
    "comments": "# made by x\n" + written().replace("3,Men", "# in the middle, of it\n3,Men"),
    "sep=": "sep=;\n" + written(";"),
    "sep=, CRLF": "SEP=^\r\n" + written("^").replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_gives_the_same_records(write: Write, name: str) -> None:
    packed = pack(write(LAYOUTS[name]), id="id")

    assert [{k: v for k, v in one.items() if k != "objectID"} for one in packed.records] == RECORDS
    assert packed.plan.notes  # nothing is decided silently


def test_a_note_shows_what_was_skipped(write: Write) -> None:
    path = write("Sales\nmade in 2020\n\n" + written().replace("3,", "#x\n3,"))

    notes = pack(path, id="id").plan.notes

    assert "1 line with `#` skipped: `#x`" in notes
    assert "3 lines before the table skipped: `Sales`, `made in 2020`" in notes


def test_options_replace_what_is_inferred(write: Write) -> None:
    path = write("a,b,c,d\nx\n" + written().replace("3,", "%x\n3,"))

    packed = pack(path, id="id", skip=2, comment="%")

    assert len(packed.records) == 4
    assert [record["objectID"] for record in packed.records] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(("option", "value"), [("skip", -1), ("skip", "2"), ("comment", "//")])
def test_bad_options_are_refused(write: Write, option: str, value: object) -> None:
    with pytest.raises(BadInput, match=f"`{option}` must be"):
        pack(write(written()), **{option: value})


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("1,lamp\n2,oak\n", None),
        ("1.5e-02,2.5e+01\n1.0e-02,2.0e+01\n", None),
        ("ann,red,A-1\nbob,blue,A-2\ncid,red,A-3\ndan,red,A-4\n", None),
        ("country,1990,1991\nFrance,1,2\nPeru,4,5\n", ["country", "1990", "1991"]),
        ("name,city\nann,paris\nbob,rome\n", ["name", "city"]),
        ("name,city\nname,rome\nbob,rome\ncid,paris\n", ["name", "city"]),
        ("name,city\nann,paris\nname,city\nbob,rome\n", ["name", "city"]),
        ("#id,name\n1,a\n2,b\n", ["#id", "name"]),
        ("code,name\nA-1,x\nA-2,y\n", ["code", "name"]),
    ],
)
def test_a_header_is_found_or_not(write: Write, content: str, names: list[str] | None) -> None:
    columns = pack(write(content)).plan.columns.iloc[:, 0].tolist()

    assert columns == (names or [f"column{n}" for n in range(len(columns))])


@pytest.mark.parametrize(
    "content",
    [
        "full name\nJohn Smith\nMary Jones\nAnn Lee\n",
        "time\n12:30:00\n12:31:00\n13:00:01\n",
        "when\n2020-01-01 10:00\n2020-01-02 11:00\n2020-01-03 12:00\n",
        "text\nthis is one\nand that two\nhere is three\n",
        "url\nhttp://a.example/1\nhttp://a.example/2\nhttp://a.example/3\n",
        "range\n1 ~ 2 ~ 3\nabc\n2 ~ 3\n",
    ],
)
def test_text_that_contains_rare_separators_is_one_column(write: Write, content: str) -> None:
    assert pack(write(content)).plan.columns.iloc[:, 0].tolist() == [content.splitlines()[0]]


def test_separators_inside_quotes_do_not_count(write: Write) -> None:
    rows = "".join(f'{n},"type1|{n}",9\n' for n in range(30))

    assert values(write(f"los,kind,codes\n{rows}"))[2] == {"los": 2, "kind": "type1|2", "codes": 9}


def test_padding_inside_quotes_stays(write: Write) -> None:
    path = write('id, text\n1, "a,  b"\n2, "c\n,  d ""e"", f"\n3, x\n')

    assert [record["text"] for record in values(path)] == ["a,  b", 'c\n,  d "e", f', "x"]


def test_rejected_rows_after_a_preamble_have_the_numbers_of_the_table(write: Write) -> None:
    path = write("Sales\n\n" + written() + "5,a,1,2020-01-06,surplus\n")

    packed = pack(path, id="id", strict=True)

    assert packed.plan.rows == 5
    assert packed.rejected == [(5, None, "has more columns than the header")]


CELLS = st.text("ab1 ,;|'\"-", max_size=6).filter(lambda text: text == text.strip())


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=2, max_size=6))
def test_a_table_as_csv_writes_it_is_never_cut(rows: list[list[str]]) -> None:
    table = [["first", "second", "third"], *([*row[:2], f"x{row[2]}"] for row in rows)]
    text = written(rows=table)

    layout = find_layout(text, LoadSettings(separator=","))

    assert (layout.skipped, layout.preamble, layout.comment) == (0, 0, "")


MARKDOWN = "# Title\nlines, of text\n## Part\n#tag"


def test_lines_of_a_value_are_no_comments(write: Write) -> None:
    rows = "".join(f'{n},"{MARKDOWN}",{n}\n' for n in range(30))

    packed = pack(write(f"id,text,n\n# a comment\n{rows}"), id="id")

    assert {record["text"] for record in packed.records} == {MARKDOWN}
    assert len(packed.records) == 30
    assert "1 line with `#` skipped: `# a comment`" in packed.plan.notes


def test_lines_of_a_padded_value_are_no_comments(write: Write) -> None:
    packed = pack(write(f'id, text, n\n# a comment\n1, "{MARKDOWN}", 2\n3, x, 4\n'), id="id")

    assert [record["text"] for record in packed.records] == [MARKDOWN, "x"]


def test_lines_of_a_value_are_kept_if_an_option_names_comments(write: Write) -> None:
    path = write(f'id,text\n#x\n1,"{MARKDOWN}"\n#2,y\n')

    packed = pack(path, id="id", comment="#")

    assert [record["text"] for record in packed.records] == [MARKDOWN]
    assert "2 lines with `#` skipped: `#x`, `#2,y`" in packed.plan.notes


@pytest.mark.slow
def test_comments_and_rows_far_below_are_told_apart_and_counted(write: Write) -> None:
    rows = "".join(f"{n},plain text that fills the sample,{n}\n" for n in range(20_000))

    packed = pack(write(f"id,text,n\n# first\n{rows}# last\n#20000,a row,1\n"), id="id")

    assert len(packed.records) == 20_001
    assert packed.records[-1]["objectID"] == "#20000"
    assert "2 lines with `#` skipped: `# first`, `# last`" in packed.plan.notes


def test_rows_that_begin_with_a_hash_are_rows(write: Write) -> None:
    path = write("tag,n,m\n#red,1,2\n#blue,3,4\n#green,5\n")

    assert [record["tag"] for record in values(path)] == ["#red", "#blue", "#green"]


@pytest.mark.parametrize("ending", ["\u2028", "\x0c", "\x85", "\x1d"])
def test_only_line_ends_end_lines(write: Write, ending: str) -> None:
    path = write(f"Sales{ending}2020{ending}all\n" + written().replace("lamp", f"la{ending}#mp"))

    names = [record["name"] for record in values(path)]

    assert names == [f"la{ending}#mp", "oak, table", "Men's chair", "shelf"]


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ("x\n1,5\n2,6\n", [{"column0": 1, "x": 5}, {"column0": 2, "x": 6}]),
        ("anna,,\nbob,1,2\ncid,3,4\n", 3),
        ("Peru,1990,1995\nFrance,1991,1996\nChad,1992,1997\n", 3),
        ("hello, world\nhi\nbye\n", 2),
    ],
    ids=["short header", "first row with gaps", "years below years", "one column"],
)
def test_no_row_is_taken_for_a_title_or_a_header(
    write: Write, content: str, records: int | list[dict[str, object]]
) -> None:
    found = values(write(content))

    assert (found if isinstance(records, list) else len(found)) == records


def test_empty_rows_of_one_column_are_counted(write: Write) -> None:
    packed = pack(write('name\nann\n""\n\n"bob"\n""\n'))

    assert [record["name"] for record in packed.records] == ["ann", "bob"]
    assert packed.plan.skipped_lines == 2
    assert "2 rows are empty and are skipped" in packed.plan.notes


@pytest.mark.parametrize(
    "content",
    [
        "time\n12:30\n12:31\n13:00\n",
        "room\nroom 1\nroom 2\nroom 3\n",
        "id,n\n1,'a b'\n2,don't\n3,'tis\n4,'c'\n",
        "id,n\n1,'a b'\n2,c\n3,d\n4,'e'\n5,f\n",
        'n\tm\tjson\n"# a\n# b"\tc\t"{""a"": ""b""}"\n"1,2\n3,4"\td\t"{""a"": 1, ""b"": 2}"\n',
    ],
    ids=["times", "numbered words", "apostrophes", "few single quotes", "# inside quotes"],
)
def test_an_ordinary_file_is_read_as_the_csv_module_does(write: Write, content: str) -> None:
    separator = "\t" if "\t" in content else ","
    rows = list(csv.DictReader(io.StringIO(content), delimiter=separator))

    packed = pack(write(content), dtype=dict.fromkeys(rows[0], "string"))

    found = [{k: v for k, v in one.items() if k != "objectID"} for one in packed.records]
    assert found == rows


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n" + "1" * 200_000 + "x,2\n",
        "a b\n" + " " * 200_000 + "x\n",
        'a,b\n"' + 'x\\"' * 60_000 + '",2\n',
        ",".join(["a"] * 5_000) + "\n",
        ", ".join(["a"] * 60_000) + "\n",
    ],
    ids=["digits", "blanks", "escaped quotes", "equal names", "padded cells"],
)
def test_the_time_of_an_inference_is_linear_in_the_length_of_a_line(content: str) -> None:
    dialect = find_layout(content, LoadSettings()).dialect

    assert len(set(dialect.names)) == len(dialect.names)


def test_numbers_in_aligned_cells_are_numbers(write: Write) -> None:
    text = " name, count , price\n" + "".join(
        f" {name:<8}, {n:>6} , {n}.5   \n" for n, name in enumerate(["desk", "oak lamp", "shelf"])
    )

    assert values(write(text)) == [
        {"name": "desk", "count": 0, "price": 0.5},
        {"name": "oak lamp", "count": 1, "price": 1.5},
        {"name": "shelf", "count": 2, "price": 2.5},
    ]
    assert "blanks around `,` are removed" in pack(write(text)).plan.notes


@pytest.mark.parametrize(
    "lines",
    [
        [f"{n / 7:.4f} 0.0{n}" for n in range(1, 9)],
        [f"  {n:4}   {n * 37:5}" for n in range(1, 9)],
        [f" {n}.0000 {n}.5000  {n}.25 UMi" for n in range(1, 9)],
        [f"  {n}.0  -{n}.25" for n in range(1, 4)],
    ],
    ids=["decimals", "several blanks", "and a text", "three lines of decimals"],
)
def test_a_table_between_blanks_needs_no_header(write: Write, lines: list[str]) -> None:
    packed = pack(write("".join(f"{line}\n" for line in lines)))

    found = [
        [str(record[name]) for name in packed.plan.columns["column"]] for record in packed.records
    ]
    assert [[float(x) if x[-1].isdigit() else x for x in row] for row in found] == [
        [float(x) if x[-1].isdigit() else x for x in line.split()] for line in lines
    ]
    assert "cells are separated by blanks" in packed.plan.notes


@pytest.mark.parametrize(
    "lines",
    [
        [f"{n} 345" for n in range(1, 9)],
        [f"2020-01-0{n} 10:00" for n in range(1, 9)],
        [f"version {n}.5" for n in range(1, 9)],
    ],
    ids=["groups of digits", "times", "a word and a number"],
)
def test_blanks_inside_of_values_are_not_separators(write: Write, lines: list[str]) -> None:
    packed = pack(write("".join(f"{line}\n" for line in lines)))

    assert len(packed.plan.columns) == 1


def test_a_header_with_a_separator_too_many_is_found_below_titles(write: Write) -> None:
    text = "Series:   L1\n\nTitle:    Rate\n\nSeries id,Year,Period,Value,\n" + "".join(
        f"L1,19{n},Q01,5.{n}\n" for n in range(60, 80)
    )

    packed = pack(write(text))

    assert packed.plan.columns["column"].tolist() == ["Series id", "Year", "Period", "Value"]
    assert (packed.plan.rows, packed.plan.skipped_lines) == (20, 2)
    assert any("one separator too many" in note for note in packed.plan.notes)


# Everyday files: the text, and the records without their ids.
EVERYDAY = {
    "total with a separator": (
        'Item,Clicks,Cost\nBrand,"1,200",350.2\nShoes,300,80.1\nBags,40,12\n'
        'Total: Shop,"1,540",442.3\n',
        [{"Item": "Brand", "Clicks": 1200, "Cost": 350.2},
         {"Item": "Shoes", "Clicks": 300, "Cost": 80.1},
         {"Item": "Bags", "Clicks": 40, "Cost": 12}],
    ),
    "more remarks than rows": (
        "name,qty,stage\na,1,x\nb,2,y\nc,3,z\n\n\nOpen pipeline\nAll rights reserved.\n"
        "Confidential\nGenerated by Ann\nAcme Inc\n",
        [{"name": "a", "qty": 1, "stage": "x"}, {"name": "b", "qty": 2, "stage": "y"},
         {"name": "c", "qty": 3, "stage": "z"}],
    ),
    "signs for missing values": (
        "team,won,lost,notes\nReds,10,-,good\nBlues,-,4,-\nGreens,7,3,late\n",
        [{"team": "Reds", "won": 10, "notes": "good"}, {"team": "Blues", "lost": 4},
         {"team": "Greens", "won": 7, "lost": 3, "notes": "late"}],
    ),
    "printed DataFrame": (
        "   name  qty\n0  Lamp    3\n1  Sofa    4\n2   Bed    1\n",
        [{"column0": 0, "name": "Lamp", "qty": 3}, {"column0": 1, "name": "Sofa", "qty": 4},
         {"column0": 2, "name": "Bed", "qty": 1}],
    ),
    "columns of fixed width": (
        "NAME       CITY        QTY\nLamp       New York      3\nSofa       Berlin       14\n"
        "Big bed    Los Angeles   5\n",
        [{"NAME": "Lamp", "CITY": "New York", "QTY": 3},
         {"NAME": "Sofa", "CITY": "Berlin", "QTY": 14},
         {"NAME": "Big bed", "CITY": "Los Angeles", "QTY": 5}],
    ),
    "rules of reStructuredText": (
        "====  ======\nqty   name\n====  ======\n1     Lamp\n2     Sofa\n====  ======\n",
        [{"qty": 1, "name": "Lamp"}, {"qty": 2, "name": "Sofa"}],
    ),
    "blanks and tabs": (
        '18.0   8   307.0\t"one car"\n15.0   8   350.0\t"other car"\n18.0   8   318.0\t"third"\n',
        [{"column0": 18.0, "column1": 8, "column2": 307.0, "column3": "one car"},
         {"column0": 15.0, "column1": 8, "column2": 350.0, "column3": "other car"},
         {"column0": 18.0, "column1": 8, "column2": 318.0, "column3": "third"}],
    ),
    "names of rows between blanks": (
        '"mpg" "cyl"\n"Mazda RX4" 21 6\n"Datsun 710" 22.8 4\n"Valiant" 18.1 6\n',
        [{"column0": "Mazda RX4", "mpg": 21, "cyl": 6},
         {"column0": "Datsun 710", "mpg": 22.8, "cyl": 4},
         {"column0": "Valiant", "mpg": 18.1, "cyl": 6}],
    ),
    "documents between commas": (
        '{"a": 1},\n{"a": 2},\n{"a": 3}\n', [{"a": 1}, {"a": 2}, {"a": 3}],
    ),
}  # fmt: skip


def test_everyday_layouts_are_read_as_a_person_reads_them(tmp_path: Path) -> None:
    wrong = {}
    for name, (text, expected) in EVERYDAY.items():
        path = tmp_path / f"{name}.txt"
        path.write_text(text, encoding="utf-8")
        packed = pack(path)
        records = [{k: v for k, v in r.items() if k != "objectID"} for r in packed.records]
        if records != expected or not packed.plan.changes:
            wrong[name] = records, packed.plan.notes

    assert wrong == {}


def test_texts_that_are_no_tables_are_refused_by_name(tmp_path: Path) -> None:
    for text, name in (
        ("[[product]]\nid = 1\n[[product]]\nid = 2\n", "a TOML file"),
        ("[server]\nport=1\n[client]\nport=2\n", "a file of settings"),
        ('callback({"data": [1, 2]});', "a file of JavaScript"),
        ('window.rows = [{"a": 1}];', "a file of JavaScript"),
        ('// rows\n[{"a": 1}]', "JSON with comments"),
        ('/* rows\n of 2024 */\n{"a": 1}\n', "JSON with comments"),
    ):
        path = tmp_path / "t.txt"
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match=name):
            pack(path)


def test_a_single_column_of_values_between_blanks_comes_with_advice(write: Write) -> None:
    plan = pack(write("name city\nlamp  berlin\nchair paris\nsofa rome\ntable oslo\n")).plan

    assert any("separator=' ' reads 2 values" in note for note in plan.advice)


def test_too_many_columns_are_refused_in_words_of_the_load(write: Write) -> None:
    names = ",".join(f"c{number}" for number in range(20_000))

    with pytest.raises(BadInput, match="20,000 columns, the maximum is 16,000"):
        pack(write(f"{names}\n{names}\n"))


def test_an_index_of_texts_without_a_name_is_not_dropped_silently() -> None:
    plan = pack(pd.DataFrame({"a": [1, 2]}, index=["x", "y"])).plan

    assert any("the index of the DataFrame has no name" in note for note in plan.changes)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 40])
def test_a_column_of_lists_is_not_taken_for_the_separator_of_the_file(
    write: Write, rows: int
) -> None:
    for separator, mark in ((",", "|"), (",", ";"), ("\t", "|"), (";", "|"), ("|", ",")):
        table = [["id", "name", "tags"], *([f"{n}", f"n{n}", f"a{mark}b"] for n in range(rows))]
        for lines in (table, table[1:]):
            path = write("".join(f"{separator.join(line)}\n" for line in lines))
            widths = {len(record) for record in values(path)}
            assert widths == {3}, (separator, mark, lines[0])


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3, 40])
def test_commas_in_every_cell_do_not_separate_the_cells_of_other_separators(
    write: Write, rows: int
) -> None:
    for cell in ("1,5", "Last, First", "last,first"):
        for separator in (";", "\t", "|"):
            header, row = separator.join(["author", "editor"]), separator.join([cell, cell])
            records = values(write(f"{header}\n" + f"{row}\n" * rows))
            assert {*records[0]} == {"author", "editor"}, (cell, separator)


def test_a_separator_that_is_as_likely_is_advised(write: Write) -> None:
    plan = pack(write("a,b;c\n1,2;3\n4,5;6\n7,8;9\n")).plan

    assert [note for note in plan.advice if "likely" in note] == [
        "rows are read as 2 cells between `;`; 2 cells between `,` are nearly as likely: "
        "separator=',' reads them so"
    ]


def test_a_separator_of_lists_in_a_column_is_not_advised(write: Write) -> None:
    plan = pack(write("0;n0;a|b\n1;n1;a|b\n2;n2;a|b\n")).plan

    assert not any("separator=" in note for note in plan.advice)

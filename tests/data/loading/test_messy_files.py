"""Headers of several rows, several tables, unusual quotes and escapes, and other encodings."""

from __future__ import annotations

from pathlib import Path

import pytest

from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values
from tests.data.loading.test_delimited import Write, write

__all__ = ["write"]

NUMBERS = "Peru,1,2,3,4\nChile,5,6,7,8\nFiji,9,1,2,3\n"


def names_of(path: Path, **options: object) -> list[str]:
    return pack(path, **options).plan.columns["column"].tolist()


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (
            ",2019,,2020,\ncountry,min,max,min,max\n",
            ["country", "2019 min", "2019 max", "2020 min", "2020 max"],
        ),
        (
            "country,sales,,costs,\n,min,max,min,max\n",
            ["country", "sales min", "sales max", "costs min", "costs max"],
        ),
        (
            "place,speed,mass,heat,force\nname,mps,kg,degC,newton\n",
            ["place name", "speed mps", "mass kg", "heat degC", "force newton"],
        ),
        (
            ",all,,,\n,north,,south,\ncountry,min,max,min,max\n",
            ["country", "all north min", "all north max", "all south min", "all south max"],
        ),
    ],
    ids=["years", "merged", "units", "three"],
)
def test_the_names_of_a_header_of_several_rows_are_joined(
    write: Write, header: str, names: list[str]
) -> None:
    packed = pack(write(header + NUMBERS))

    found = packed.plan.columns["column"].tolist()
    if header.startswith(",all"):  # one name above all others is a title
        names = [name.removeprefix("all ") for name in names]
    assert found == names
    assert [record[names[0]] for record in packed.records] == ["Peru", "Chile", "Fiji"]
    assert any("the header has 2 rows" in note for note in packed.plan.notes)


@pytest.mark.parametrize(
    "row", ["Oslo,n.a.,unknown,-,x", "Oslo,<5,>100,?,*", "Oslo,low,low,low,low", "Oslo,,,,"]
)
def test_a_row_of_words_for_missing_numbers_is_no_header(write: Write, row: str) -> None:
    packed = pack(write(f"country,a,b,c,d\n{row}\n{NUMBERS}"))

    assert [record["country"] for record in packed.records] == ["Oslo", "Peru", "Chile", "Fiji"]


def test_an_option_sets_the_number_of_header_rows(write: Write) -> None:
    path = write("kind,name\nred,green\na,b\n")

    assert names_of(path) == ["kind", "name"]
    assert names_of(path, header_rows=2) == ["kind red", "name green"]
    assert values(path, header_rows=2) == [{"kind red": "a", "name green": "b"}]
    with pytest.raises(BadInput, match="`header_rows` must be"):
        pack(path, header_rows=0)


TWO = "metric,value\ntotal,5\nmean,3\n\nStock\nid,name,price\n1,lamp,2\n2,oak,3\n3,elm,4\n"


def test_the_largest_of_several_tables_is_loaded_and_the_others_are_named(write: Write) -> None:
    packed = pack(write(TWO), id="id")

    assert [record["name"] for record in packed.records] == ["lamp", "oak", "elm"]
    assert packed.plan.skipped_lines == 4
    assert packed.plan.notes == (
        "2 lines before the table skipped: `Stock`",
        "lines 1 to 3 are another table and are not loaded (`metric`, `value`; 2 rows): "
        "skip=0 loads it",
    )


def test_the_option_in_the_note_loads_the_other_table(write: Write) -> None:
    path = write("# made by x\n" + TWO)

    assert "skip=1 loads it" in pack(path).plan.notes[1]
    assert values(path, skip=1) == [{"metric": "total", "value": 5}, {"metric": "mean", "value": 3}]
    assert "skip=6 loads it" in pack(path, skip=1).plan.notes[0]
    assert [row["name"] for row in values(path, skip=6)] == ["lamp", "oak", "elm"]


@pytest.mark.slow
def test_a_table_that_goes_on_beyond_the_sample_is_the_largest(write: Write) -> None:
    first = "".join(f"name {n},{n}\n" for n in range(12_000))
    second = "".join(f"{n},a table that fills more,{n}\n" for n in range(15_000))
    path = write(f"metric,value\n{first}\nid,name,price\n{second}")

    assert len(pack(path, id="id").records) == 15_000
    assert "lines 12,003 to the last are another table" in pack(path, skip=0).plan.notes[0]
    assert len(pack(path, skip=0).records) == 12_000


@pytest.mark.parametrize(
    "content",
    [
        "id,name,price\n1,lamp,2\n\n2,oak,3\n\n3,elm,4\n",
        "id,name,price\n1,lamp,2\n\nsum,,2\n\n2,oak,3\n3,elm,4\n",
        "id,name,price\n1,lamp,2\n2,oak,3\n\nSource: our shop\n",
    ],
    ids=["blank lines", "a sum", "a footnote"],
)
def test_in_doubt_all_rows_are_loaded(write: Write, content: str) -> None:
    lines = [line for line in content.splitlines() if line]

    assert len(pack(write(content)).records) == len(lines) - 1


@pytest.mark.slow
def test_a_table_that_goes_on_after_the_sample_is_loaded(write: Write) -> None:
    rows = "".join(f"{n},item number {n} of the shop,2\n" for n in range(9_000))
    path = write("metric,value\ntotal,5\nmean,3\n\nid,name,price\n" + rows)

    packed = pack(path, id="id")

    assert len(packed.records) == 9_000
    assert packed.plan.skipped_lines == 3
    note = pack(path, skip=0).plan.notes[0]
    assert note.startswith("lines 5 to the last are another table and are not loaded")
    assert " or more rows): skip=4 loads it" in note


def test_a_line_that_repeats_the_header_is_skipped(write: Write) -> None:
    packed = pack(write('id,name,n\n1,lamp,2\n"id",name,n\n2,oak,3\nid,name,n'), id="id")

    assert [record["n"] for record in packed.records] == [2, 3]
    assert packed.plan.skipped_lines == 2
    assert "2 lines repeat the header and are skipped (before rows 2, 3)" in packed.plan.notes


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("'id','n'\n'1','Men''s'\n'2','x \"y\"'\n", ["Men's", 'x "y"']),
        ("'id' 'n' 'm'\n1 2 3\n2 3 4\n3 4 5\n", [2, 3, 4]),
        ("id,n\n1,Men's\n2,'tis\n", ["Men's", "'tis"]),
        ('id,n\n1,"a \\"b\\""\n2,"C:\\new\\\\x"\n', ['a "b"', "C:\\new\\x"]),
        ('id,n\n1,"a \\"b\\" c"\n2,"d ""e"" f"\n3,"C:\\new"\n', ['a "b" c', 'd "e" f', "C:\\new"]),
        ('id,n\n1,"a \\""b\\"" c"\n2,"d ""e"" f"\n', ['a \\"b\\" c', 'd "e" f']),
        ('id,n\n1,"5" disc"\n2,"he said, "hi, you" ok"\n', ['5" disc', 'he said, "hi, you" ok']),
        ('id,n\n1,""a"\n2,b"c\n', ['"a', 'b"c']),
        ('id,m,n\n1,""a","b ""c"""\n2,,x\n', ['b "c"', "x"]),
    ],
    ids=[
        "doubled",
        "names",
        "apostrophes",
        "backslash",
        "mixed",
        "JSON",
        "not escaped",
        "extra",
        "beside",
    ],
)
def test_quotes_and_escapes_of_every_kind(write: Write, content: str, texts: list[object]) -> None:
    packed = pack(write(content), id="id")

    assert [record["n"] for record in packed.records] == texts


def test_misplaced_quotes_are_reported_or_rejected(write: Write) -> None:
    path = write('id,n\n1,x\n2,"5" disc"\n')

    (note,) = pack(path, id="id").plan.notes
    assert note.startswith("1 row has quotes inside of values that are escaped otherwise")
    assert "(row 2)" in note
    assert [row for row, _, _ in pack(path, id="id", strict=True).rejected] == [2]


@pytest.mark.parametrize(
    "row",
    ['#4,"x,y",6', '#5,"a\nb",3', '#6,"a\n#b",3'],
    ids=["separator", "line end", "another #"],
)
def test_a_row_that_begins_with_a_hash_is_never_a_comment(write: Write, row: str) -> None:
    packed = pack(write(f"a,b,c\n1,2,3\n{row}\n"))

    assert packed.records[1]["a"] == row[:2]
    assert packed.plan.skipped_lines == 0


def test_a_comment_as_wide_as_a_row_is_loaded_and_the_others_are_skipped(write: Write) -> None:
    packed = pack(write("# note, one\nid,n,m\n1,2,3\n# tail, of, it\n2,3,4\n"))

    assert [record["id"] for record in packed.records] == ["1", "# tail", "2"]
    assert packed.plan.notes[0] == "1 line with `#` skipped: `# note, one`"


def test_a_surplus_of_any_length_is_kept_without_its_empty_end(write: Write) -> None:
    path = write("x,y\n1,2,3,,,\n4,5,,,,\n6,7,,8\n")

    assert values(path) == [
        {"x": 1, "y": 2, "column2": 3},
        {"x": 4, "y": 5},
        {"x": 6, "y": 7, "column3": 8},
    ]


WORDS = {
    "cp932": "商品,価格\nランプ,1200\n椅子,3000\n",
    "euc_jp": "商品,価格\nランプ,1200\n椅子,3000\n",
    "gb18030": "名称,价格\n台灯,12\n椅子,30\n书架,22\n",
    "cp949": "이름,가격\n램프,12\n의자,30\n",
    "cp1251": "имя,город\nИван,Москва\nАнна,Казань\nПётр,Тула\n",  # noqa: RUF001
    "koi8_r": "имя,город\nИван,Москва\nАнна,Казань\nПётр,Тула\n",  # noqa: RUF001
    "cp1253": "όνομα,πόλη\nΝίκος,Αθήνα\nΜαρία,Πάτρα\n",  # noqa: RUF001
    "cp1250": "id,nazwa\n1,Łódź\n2,Kraków\n3,Wrocław\n",
}


@pytest.mark.parametrize("encoding", WORDS)
def test_the_encoding_of_another_script_is_guessed(write: Write, encoding: str) -> None:
    packed = pack(write(WORDS[encoding], encoding=encoding))

    assert packed.plan.columns["column"].tolist() == WORDS[encoding].splitlines()[0].split(",")
    assert any(f"read as {encoding}, because" in note for note in packed.plan.notes)


@pytest.mark.parametrize("row", [0, 2], ids=["first", "last"])
def test_a_broken_byte_does_not_change_other_rows_of_utf8(tmp_path: Path, row: int) -> None:
    lines = ["1,café".encode(), "2,東京".encode()]
    lines.insert(row, b"3,x\xff")
    path = tmp_path / "x.csv"
    path.write_bytes(b"\n".join([b"id,name", *lines]))

    packed = pack(path, id="id")

    assert [record["name"] for record in packed.records] == ["café", "東京"]
    assert packed.rejected == [(row + 1, None, "contains bytes that are not UTF-8")]


@pytest.mark.parametrize(
    "text",
    [
        "name,city\nJosé,Köln\nZoë,Orléans\n",
        "t,°C,µg\n1,20°,£5a\n",
        "id,n\n1,ÄÖÜ\n2,ÉÈ\n",
        "a\nß\n",
        "id,price\n" + "a,€ 5b\n" * 20,
        "£m,US£\na,£k\n",
        "vol m³,kg/m³\na,m³\n",
        "n,v\nTotal¹,a\nSum¹,b\n",
        "name,v\n1¾in,a\n2¼in,b\n",
        "año,¿qué?\nEspaña,¡sí!\nniño,¿dónde?\n",
        "n,c\nÅ,Ö\nÄ,å\nö,ä\nÅÄÖ,åäö\n",
    ],
)
def test_western_text_is_never_read_as_another_script(write: Write, text: str) -> None:
    path = write(text, encoding="cp1252")
    header, *lines = text.splitlines()

    packed = pack(path)
    assert any("read as cp1252, because" in note for note in packed.plan.notes)
    assert packed.plan.columns["column"].tolist() == header.split(",")
    assert [list(map(str, row.values())) for row in values(path)] == [
        line.split(",") for line in lines
    ]


def test_dates_are_not_proposed_as_ids_but_with_the_option_that_makes_them_numbers(
    write: Write,
) -> None:
    path = write("day,code,at\n2020-01-02,a,2020-01-02 10:00\n2020-01-03,b,2020-01-02 11:00\n")

    plan = pack(path).plan

    assert plan.notes == ("`code` is unique; pass id='code'",)
    notes = dict(zip(plan.columns["column"], plan.columns["note"], strict=True))
    assert "dtype={'day': 'epoch'}, timezone='UTC'" in notes["day"]
    assert "dtype={'at': 'epoch'}, timezone='UTC'" in notes["at"]
    (first, _) = values(path, dtype={"day": "epoch", "at": "epoch"}, timezone="UTC")
    assert first == {"day": 1577923200, "code": "a", "at": 1577959200}

"""Delimited files."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from svc_notebook.errors import BadInput
from tests.data.loading.encoded_records import pack, values

LAMPS = [{"name": "lamp", "price": 1.5}, {"name": "oak, table", "price": 20}]


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(content: str | bytes, name: str = "t.csv", encoding: str = "utf-8") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write


Write = Callable[..., Path]


@pytest.mark.parametrize(
    "content",
    [
        'name,price\nlamp,1.5\n"oak, table",20\n',
        'name;price\r\nlamp;1.5\r\n"oak, table";20\r\n',
        "name\tprice\nlamp\t1.5\noak, table\t20",
        "name|price\nlamp|1.5\noak, table|20\n",
        "name;price\n'lamp';1.5\n'oak, table';20\n",
        "\n\nname;price\nlamp;1.5\n\noak, table;20\n\n",
        'name,price\rlamp,1.5\r"oak, table",20\r',
        "\ufeffname;price\nlamp;1.5\noak, table;20\n",
        " name ;price\nlamp;1.5\noak, table;20\n",
    ],
    ids=["comma", "semicolon", "tab", "pipe", "single", "blank", "cr", "bom", "padded"],
)
def test_every_dialect_gives_the_same_records(write: Write, content: str) -> None:
    assert values(write(content)) == LAMPS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_every_encoding_gives_the_same_text(write: Write, encoding: str) -> None:
    path = write("name;stadt\nStühle „neu“;Köln\nTisch;Genève\n", encoding=encoding)

    assert values(path) == [
        {"name": "Stühle „neu“", "stadt": "Köln"},
        {"name": "Tisch", "stadt": "Genève"},
    ]


@pytest.mark.parametrize(
    "squeeze",
    [
        gzip.compress,
        bz2.compress,
        lzma.compress,
        lambda raw: pa.compress(raw, "zstd", asbytes=True),
    ],
    ids=["gz", "bz2", "xz", "zst"],
)
def test_compressed_files_are_decompressed(write: Write, squeeze: Callable[[bytes], bytes]) -> None:
    path = write(squeeze(b'name,price\nlamp,1.5\n"oak, table",20\n'), "t.csv.packed")

    assert values(path) == LAMPS


@pytest.mark.parametrize("fault", ["truncated", "damaged"])
def test_a_faulty_compressed_file_is_refused(write: Write, fault: str) -> None:
    chance = random.Random(1)
    content = gzip.compress(b"".join(b"%d\n" % chance.getrandbits(40) for _ in range(500)))
    faulty = content[:-20] if fault == "truncated" else content[:100] + b"\xff" * 99 + content[199:]
    path = write(faulty, "t.csv.gz")

    with pytest.raises(BadInput, match="cannot be decompressed"):
        pack(path)


@pytest.mark.slow
def test_a_byte_that_is_not_utf8_late_in_the_file_changes_how_all_is_read(write: Write) -> None:
    rows = b"".join(b"%d,plain text that fills the sample\n" % n for n in range(40_000))
    path = write(b"n,name\n" + rows + b"40000,K\xf6ln\n")

    packed = pack(path)

    assert packed.records[-1]["name"] == "Köln"
    assert "cp1252" in packed.plan.notes[-1]


@pytest.mark.slow
def test_broken_utf8_among_good_is_a_rejected_row(write: Write) -> None:
    rows = "".join(f"{n},Köln\n" for n in range(200_000)).encode()
    path = write(b"n,name\n" + rows + b"200000,K\xf6ln\n")

    packed = pack(path, id="n")

    assert len(packed.records) == 200_000
    assert packed.rejected == [(200_001, None, "contains bytes that are not UTF-8")]


def test_mixed_line_ends_are_all_line_ends(write: Write) -> None:
    packed = pack(write("name,price\r\nlamp,1.5\noak,2\r\nelm,3\n"))

    assert [record["name"] for record in packed.records] == ["lamp", "oak", "elm"]
    assert any("line ends" in note for note in packed.plan.notes)


RAGGED = 'id,n\n1,"a\nb"\n2\n\n3,c,extra\n4,d\n,e\n5,f,\n'


def test_short_rows_are_filled_and_long_ones_keep_their_surplus(write: Write) -> None:
    packed = pack(write(RAGGED), id="id")

    assert [record["objectID"] for record in packed.records] == ["1", "2", "3", "4", "5"]
    assert packed.records[1] == {"objectID": "2", "id": 2}
    assert packed.records[2] == {"objectID": "3", "id": 3, "n": "c", "column2": "extra"}
    assert packed.records[4] == {"objectID": "5", "id": 5, "n": "f"}
    assert packed.rejected == [(5, "id", "has no id")]
    assert packed.plan.rows == 6
    assert packed.plan.notes == (
        "1 row has fewer cells than the header; the missing cells are empty (row 2)",
        "2 rows have more cells than the header; the surplus is sent as `column2` (rows 3, 6). "
        "strict=True rejects such rows",
    )


def test_strict_rejects_short_and_long_rows_with_their_numbers(write: Write) -> None:
    packed = pack(write(RAGGED), id="id", strict=True)

    assert [record["objectID"] for record in packed.records] == ["1", "4"]
    assert packed.rejected == [
        (2, None, "has fewer columns than the header"),
        (3, None, "has more columns than the header"),
        (5, "id", "has no id"),
        (6, None, "has more columns than the header: one separator too many, and the last cell is "
         "empty"),
    ]  # fmt: skip
    assert packed.plan.rows == 6


def test_an_unclosed_quote_is_reported(write: Write) -> None:
    packed = pack(write('id,n\n1,a\n2,"b\n'), id="id")

    assert [record["objectID"] for record in packed.records] == ["1"]
    assert "quote" in packed.rejected[0][2]


SWALLOWED = "".join(f"{n},film {n}\n" for n in range(100, 160))


@pytest.mark.sampled(quick=2)
@pytest.mark.parametrize(
    ("content", "row"),
    [
        ('id,n\n1,a\n2,"b\n3,c\n', 2),
        (f'id,n\n1,"a\nb"\n2,"b\n{SWALLOWED}', 2),
        (f'id,n\n1,a\n2,"b\n{SWALLOWED}3,"c"\n{SWALLOWED}', 2),
        (f'id,n\n1,a\n2,"b\n{SWALLOWED * 400}', 2),
        (f'id,n\n1,a\n2,"b\n{SWALLOWED * 400}3,"c"\n', 2),
        (f'id,n\n{SWALLOWED * 400}1,a\n2,"b\n{SWALLOWED}3,"c"\n', 24_002),
    ],
    ids=["one", "multi-line", "before a quoted", "many", "many before a quoted", "late"],
)
def test_an_unclosed_quote_costs_its_row_and_no_other(write: Write, content: str, row: int) -> None:
    packed = pack(write(content), duplicates="keep", id="id")

    assert packed.plan.rejected["row"].tolist() == [row]
    assert "never closed" in packed.plan.rejected["reason"].iloc[0]
    lines = [line for line in content.splitlines()[1:] if "," in line]
    assert len(packed.records) == len(lines) - 1


def test_an_unclosed_quote_in_the_header_is_refused(write: Write) -> None:
    with pytest.raises(BadInput, match="the header has an unclosed quote"):
        pack(write(f'id,"n\n{SWALLOWED}'))


def test_a_value_of_many_lines_is_a_value(write: Write) -> None:
    poem = "".join(f"so, he said, line {n}\n\n" for n in range(400))

    assert values(write(f'id,n\n1,a\n2,"{poem}"\n'))[1]["n"] == poem


def test_a_value_that_looks_like_rows_is_a_value_if_dtype_names_its_column(write: Write) -> None:
    path = write(f'id,n\n1,a\n2,"{SWALLOWED}"\n')

    assert 2 in pack(path).plan.rejected["row"].tolist()
    assert pack(path).records[5]["n"] == "film 105"
    assert values(path, dtype={"n": "string"})[1]["n"] == SWALLOWED


def test_quotes_inside_quotes_and_line_ends_inside_values_survive(write: Write) -> None:
    path = write('name,text\n"5"" disc","one\ntwo"\n')

    assert values(path) == [{"name": '5" disc', "text": "one\ntwo"}]


def test_duplicate_and_empty_names_of_columns_are_made_unique(write: Write) -> None:
    packed = pack(write("name,name,,Name\na,b,c,d\n"))

    (record,) = packed.records
    assert {n: v for n, v in record.items() if n != "objectID"} == {
        "name": "a",
        "name_2": "b",
        "column2": "c",
        "Name": "d",
    }
    assert len(packed.plan.notes) == 2


def test_a_file_without_a_header_is_noticed(write: Write) -> None:
    path = write("1,lamp\n2,oak\n")

    assert values(path) == [{"column0": 1, "column1": "lamp"}, {"column0": 2, "column1": "oak"}]
    assert values(path, header=True) == [{"1": 2, "lamp": "oak"}]


def test_one_column_and_its_blank_lines(write: Write) -> None:
    assert values(write("word\nlamp\n\noak\n\n")) == [{"word": "lamp"}, {"word": "oak"}]


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"], ids=["empty", "blank", "bom"])
def test_an_empty_file_is_refused(write: Write, content: str) -> None:
    with pytest.raises(BadInput, match="is empty"):
        pack(write(content))


def test_a_header_alone_gives_no_rows(write: Write) -> None:
    packed = pack(write("id,name\n"))

    assert packed.records == []
    assert packed.plan.rows == 0


def test_options_override_the_inferred_separator_and_encoding(write: Write) -> None:
    path = write("a,b;c,d\nx,2;y,4\n", encoding="cp1250")

    assert values(path, separator=";", encoding="cp1250") == [{"a,b": "x,2", "c,d": "y,4"}]


def test_an_unknown_encoding_is_refused_with_advice(write: Write) -> None:
    with pytest.raises(BadInput, match="one such as 'utf-8'"):
        pack(write("a\n1\n"), encoding="klingon")


def test_files_of_one_header_are_one_table_and_others_are_refused(write: Write) -> None:
    folder = write("id,n\n1,a\n", "a1.csv").parent
    write("id,n\n2,b\n", "a2.csv")

    assert [r["objectID"] for r in pack(folder / "a*.csv").records] == ["1", "2"]

    write("id,m\n3,c\n", "a3.csv")
    with pytest.raises(BadInput, match=r"a3\.csv has another header than"):
        pack(folder / "a*.csv")


@pytest.mark.parametrize(
    ("cells", "kept"),
    [
        (["1", "20", "-3"], [1, 20, -3]),
        (["007", "010", "1"], ["007", "010", "1"]),
        (["1.50", "2", "-0.25e2"], [1.5, 2, -25.0]),
        (["1,50", "2,00", "3"], [1.5, 2.0, 3]),
        (["true", "FALSE", "True"], [True, False, True]),
        (["12345678901234567890", "1", "2"], ["12345678901234567890", "1", "2"]),
        (["2024-01-02", "2024-01-03", ""], ["2024-01-02", "2024-01-03", None]),
        (["1", "NA", "3"], [1, None, 3]),
        (["NA", "NO", "DE"], ["NA", "NO", "DE"]),
        (["+1", "2", "3"], [1, 2, 3]),
        (["+1", "+49", "+33"], ["+1", "+49", "+33"]),
        (["NaN", "", "nan"], [None, None, None]),
        (["1e400", "2", "3"], ["1e400", "2", "3"]),
        (["1", "0." + "3" * 301], ["1", "0." + "3" * 301]),
        (["true", "fal\u017fe"], ["true", "fal\u017fe"]),
    ],
)
def test_a_column_is_what_all_of_its_values_are(
    write: Write, cells: list[str], kept: list[object]
) -> None:
    path = write("id;x\n" + "".join(f"{n};{cell}\n" for n, cell in enumerate(cells)))

    assert [record.get("x") for record in pack(path).records] == kept


@pytest.mark.slow
def test_a_value_late_in_the_file_decides_too(write: Write) -> None:
    rows = "".join(f"{n},{n}\n" for n in range(30_000))
    packed = pack(write(f"id,code\n{rows}30000,A1\n"))

    assert packed.records[0]["code"] == "0"
    assert packed.records[-1]["code"] == "A1"


def test_an_id_keeps_its_text(write: Write) -> None:
    packed = pack(write("id,n\n007,1\n7,2\n"), id="id")

    assert [record["objectID"] for record in packed.records] == ["007", "7"]


@pytest.mark.slow
def test_a_table_of_hundreds_of_columns_is_read(tmp_path: Path) -> None:
    names = [f"c{n}" for n in range(150)]
    row = {name: n for n, name in enumerate(names)}
    path = tmp_path / "wide.csv"
    pd.DataFrame([row, row]).assign(c7=["x", ""]).to_csv(path, index=False)

    assert values(path) == [row | {"c7": "x"}, {name: row[name] for name in names if name != "c7"}]
    assert values(pd.DataFrame([row])) == [row]


@pytest.mark.parametrize(
    "broken",
    ['2,"y"z,2', '2,"y" z,"b"', "2,x,2,2", "2,x,2,", '2,,x,""'],
    ids=["text after", "text apart", "many", "one empty", "quoted empty"],
)
def test_good_rows_after_a_broken_one_are_all_sent(write: Callable[..., Path], broken: str) -> None:
    more = "".join(f'{n},"two\nlines",{n}\n' for n in range(3, 3000))

    found = pack(write(f"id,a,b\n1,x,1\n{broken}\n{more}"), strict=True)

    assert [record["id"] for record in found.records] == [1, *range(3, 3000)]
    assert [row for row, _, _ in found.rejected] == [2]


@pytest.mark.slow
def test_lines_of_a_long_text_are_not_rows(write: Callable[..., Path]) -> None:
    cell = "1,2,3\n" * 800_000
    path = write(f'id,a,b\n1,"{cell}",x\n2,short,y\n')

    found = pack(path, dtype={"a": "string"})
    everything = pack(path, dtype={"a": "string"}, record_bytes=10_000_000)

    assert [record["id"] for record in found.records] == [2]
    assert found.rejected[0][2].startswith("is larger than 100,000 bytes")
    assert [record["a"] for record in everything.records] == [cell, "short"]


def test_the_largest_and_smallest_numbers_are_numbers(write: Callable[..., Path]) -> None:
    path = write("a,b\n1e300,1e-300\n9.9e+307,-2.5E-308\n")

    assert values(path) == [{"a": 1e300, "b": 1e-300}, {"a": 9.9e307, "b": -2.5e-308}]


@pytest.mark.slow
def test_every_number_in_the_range_of_a_float_is_a_number(write: Callable[..., Path]) -> None:
    found = pack(write("a\n1.7976931348623157e+308\n1e309\n12345e305\n"), dtype={"a": "number"})

    assert [record["a"] for record in found.records] == [1.7976931348623157e308]
    assert [row for row, _, _ in found.rejected] == [2, 3]

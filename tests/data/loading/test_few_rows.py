"""Delimited files of a few rows are read in Python, as a scan of DuckDB reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.load_plan.fast_path import MAX_CELLS
from svc_notebook.data.loading.load_plan.preparation import prepare
from svc_notebook.data.loading.load_plan.type_inference import (
    HINTS,
    LIKELY_TYPES,
    TYPES,
    ColumnTexts,
)
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sending.batches import pack_batches
from svc_notebook.data.loading.sources.csv_cells import _row_pattern
from svc_notebook.errors import BadInput
from tests.conftest import examples
from tests.data.loading.encoded_records import Packed, assert_same, pack, pack_small

WORDS = st.sampled_from(["oak", "a b", " a", "Tür", "😀", "NA", "n/a", "-", "null", "it's", "\x0b"])
WHOLE = st.sampled_from(["0", "-0", "7", "007", "+7", "-12", "9" * 18, "9" * 19, "1_0"])
NUMBERS = st.sampled_from(["1.50", ".5", "1e2", "1E400", "-0.0", "1,5", "NaN", "0.1e-301", "٣"])
BOOLEANS = st.sampled_from(["true", "TRUE", "False", "NA", "yes"])
DATES = st.sampled_from(["2024-01-02", "2024-01-02T03:04:05Z", "12:30"])
EMPTY = st.just("")
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters='",\r\n\0'), max_size=3)
QUOTES = st.sampled_from(['""', '"a,b"', '"a ""b"" c"', '"NA"', '"7"', 'a"b', '"a"b', ' "a"', '"a'])
COLUMNS = st.sampled_from(
    [
        WORDS | EMPTY,
        WHOLE,
        WHOLE | EMPTY | st.just("NA"),
        WHOLE | NUMBERS,
        BOOLEANS,
        DATES,
        TEXTS,
        QUOTES | WORDS,
        WHOLE | st.sampled_from(['"7"', '""']),
        QUOTES | WHOLE | NUMBERS | BOOLEANS | TEXTS,
    ]
)
NAMES = ["id", "name", "a.b", "sku", "objectID", "Größe"]
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["id", "name"]),
        "nulls": st.sampled_from(["omit", "null", "error"]),
        "limit": st.integers(1, 3),
        "columns": st.just(["name", "id"]),
        "action": st.sampled_from(["update", "delete"]),
        "duplicates": st.sampled_from(["first", "last", "keep"]),
        "strict": st.booleans(),
        "record_bytes": st.integers(30, 90),
    },
)


@settings(max_examples=examples(500))
@given(row=st.text(st.sampled_from('a,";')), separator=st.sampled_from(",;"))
def test_a_row_is_well_quoted_if_each_cell_is(row: str, separator: str) -> None:
    assert bool(_row_pattern(separator, '"').fullmatch(row)) == is_well_quoted(row, separator)


def is_well_quoted(row: str, separator: str) -> bool:
    """Read a row one character after the other."""
    inside = quoted = False
    for before, one, after in zip(separator + row, row, row[1:] + separator, strict=False):
        if one == '"' and inside:
            quoted = not quoted  # the first of two quotes, or the last of the cell
            if not quoted and after != '"':
                inside = False
                if after != separator:
                    return False
        elif one == '"':
            if before != separator:
                return False
            inside, quoted = True, True
        elif inside and not quoted:
            return False
    return not inside


@settings(max_examples=examples(300))
@given(
    texts=st.lists(st.none() | WORDS | WHOLE | NUMBERS | BOOLEANS | DATES, max_size=9),
    least=st.integers(0, 10),
)
def test_the_first_texts_decide_what_all_texts_would(texts: list[str | None], least: int) -> None:
    column = ColumnTexts(texts)
    for condition in (*TYPES.values(), *LIKELY_TYPES.values(), *HINTS.values()):
        fitting = [text for text in texts if text is not None and condition.holds(text)]
        assert column.fits(condition, least) == (len(fitting) >= least)


@st.composite
def files(draw: st.DrawFn) -> bytes:
    width, rows = draw(st.integers(1, 4)), draw(st.integers(0, 6))
    names = ["id", "name", *draw(st.permutations(NAMES[2:]))][:width]
    columns = [draw(st.lists(draw(COLUMNS), min_size=rows, max_size=rows)) for _ in names]
    lines = [",".join(cells) for cells in (names, *zip(*columns, strict=True))]
    end = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    if draw(st.integers(0, 9)) == 0:  # a line that is no row
        lines.insert(
            draw(st.integers(0, len(lines))), draw(st.sampled_from(["", " ", "x", ",,,,"]))
        )
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return (mark + end.join(lines) + draw(st.sampled_from(["", end]))).encode()


@pytest.mark.slow
@pytest.mark.timeout(240)  # each example scans, which takes long on a busy machine
@settings(max_examples=examples(60), deadline=None)
@given(content=files(), options=OPTIONS)
def test_few_rows_are_read_as_a_scan_reads_them(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, options: dict[str, Any]
) -> None:
    path = tmp_path_factory.mktemp("few") / "t.csv"
    path.write_bytes(content)

    compare(path, options)


def compare(path: Path, options: dict[str, Any]) -> None:
    """Pack a file by both ways, which must agree or fail alike."""
    found = attempt(lambda: pack(path, **options))  # compares the two
    if isinstance(found, str):
        assert attempt(lambda: pack_small(path, LoadSettings.of(options))) in (None, found)


def attempt(work: Callable[[], Packed | None]) -> Packed | str | None:
    """Return what is packed, or the message of the error."""
    try:
        return work()
    except BadInput as error:
        return str(error)


ORDINARY = 'id,name,price,stock,on\n1,"an ""oak"", old",1.50,NA,TRUE\n2,Tür 😀,,7,false\n'


def test_an_ordinary_file_opens_no_database(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(ORDINARY)

    with Database() as db:
        prepared = prepare(path, "index", LoadSettings.of({}), db)
        opened = "connection" in vars(db)

    assert not opened
    assert Packed(prepared.plan, [*pack_batches(prepared)]).records == [
        {"objectID": "1", "id": 1, "name": 'an "oak", old', "price": 1.5, "on": True},
        {"objectID": "2", "id": 2, "name": "Tür 😀", "stock": 7, "on": False},
    ]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a\n1\n", {}),
        ("a,b\n", {}),
        ("a,b\n1,2\n3\n", {}),
        ("a,b\n1,2\n3,4,5\n", {}),
        ('a,b\n1,"x\ny"\n', {}),
        ('a,b\n1,x"y\n', {}),
        ("a,b\r\n1,x\n2,y\r\n", {}),
        ("a,b\na,b\n1,x\n", {}),
        ("a,b\n1,x\n1,x\n", {}),
        ("a,b\n1,\x1f\n", {}),
        ("a,b\n" + "1,x\n" * 9 + "z,y\n", {}),
        ("a,b\n" + "".join(f"{n},x\n" for n in range(MAX_CELLS // 2 + 1)), {}),
        ("a,b\n1," + "x" * 200_000, {}),
        ("a,b\n1,x\n", {"dtype": {"a": "string"}}),
    ],
    ids=["one column", "no row", "short", "long", "line end", "quote", "line ends", "header",
         "twins", "control", "mixed", "many", "long cell", "dtype"],
)  # fmt: skip
def test_a_file_that_is_out_of_the_ordinary_is_scanned(
    tmp_path: Path, content: str, options: dict[str, Any]
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode())

    assert quick(path, **options) is None
    compare(path, options)


@pytest.mark.parametrize("content", [ORDINARY, "a,b\n1\n2,x\n"], ids=["ordinary", "other"])
def test_a_load_prepares_what_both_ways_prepare(tmp_path: Path, content: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)

    with Database() as db:
        prepared = prepare(path, "index", LoadSettings.of({}), db)
        found = Packed(prepared.plan, pack(path).batches)

    assert (prepared.operations is None) is (content != ORDINARY)
    assert_same(found, pack(path))


@pytest.mark.slow
def test_a_wide_table_of_more_cells_opens_no_database(tmp_path: Path) -> None:
    columns = MAX_CELLS // 20
    rows = [",".join(f"{n}{'x' * (c % 2)}" for c in range(columns)) for n in range(30)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join(f"c{c}" for c in range(columns)), *rows]))

    assert quick(path, id="c0") is not None
    compare(path, {"id": "c0"})


def quick(path: Path, **options: Any) -> Packed | None:
    return pack_small(path, LoadSettings.of(options))

"""Pages decoded as rows give the same DataFrames as pages decoded as dicts."""

from __future__ import annotations

from typing import Any

import msgspec
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from svc_notebook.data.frames import columns, page_decoder
from svc_notebook.data.frames.columns import Columns
from svc_notebook.data.frames.page_decoder import PageReader, RecordRow
from tests.conftest import examples

NAMES = st.sampled_from(["objectID", "a", "b", "é", "", "f0", "a.b", 'with "quotes"', "\u2028"])
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-9, 9),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=3),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2)
)
# The neighbours of the largest whole number that a float holds exactly, and of the ends of `int64`.
LARGE = st.sampled_from([s * 2**e + d for e in (53, 63) for s in (1, -1) for d in (-1, 0, 1)])
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INTEGERS = st.integers(-9, 9)
# Most indices have one kind of value in each attribute; some have gaps, and some any value.
KINDS = st.sampled_from(
    [
        INTEGERS,
        INTEGERS | st.none(),
        INTEGERS | LARGE,
        st.booleans(),
        st.booleans() | st.none(),
        st.booleans() | INTEGERS,
        st.text(max_size=2),
        st.text(max_size=2) | INTEGERS,
        FLOATS | st.none(),
        FLOATS | INTEGERS | st.none(),
        FLOATS | LARGE,
        VALUES,
    ]
)
PAGES = KINDS.flatmap(
    lambda kind: st.lists(st.lists(st.dictionaries(NAMES, kind), max_size=4), max_size=6)
)


@pytest.mark.slow
@settings(max_examples=examples(250), deadline=None)
@given(
    PAGES,
    st.sampled_from([None, ["b", "a"], ["absent", "objectID"]]),
    st.booleans(),
    st.sampled_from([1, columns.CHUNK_RECORDS]),
)
def test_rows_and_dicts_give_equal_frames(
    pages: list[list[dict[str, Any]]], wanted: list[str] | None, peek: bool, chunk: int
) -> None:
    bodies = [encoded({"hits": hits}) for hits in pages]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "CHUNK_RECORDS", chunk)
        by_dicts = Columns(wanted)
        for body in bodies:
            by_dicts.add(msgspec.json.decode(body)["hits"])
        by_rows = read(bodies, wanted, peek=peek and wanted is None)

    expected = by_dicts.frame()
    assert_frame_equal(by_rows, expected)
    assert types_of(by_rows) == types_of(expected)


def types_of(frame: pd.DataFrame) -> list[list[type]]:
    """Return the type of each value: to pandas, 1 in a column of objects equals 1.0 and True."""
    return [[type(value) for value in frame[name]] for name in frame]


def read(bodies: list[bytes], wanted: list[str] | None, *, peek: bool) -> pd.DataFrame:
    reader, gathered = PageReader(only=wanted is not None, peek=peek), Columns(wanted)
    for body in bodies:
        reader.expect(gathered.kinds)
        gathered.add(reader(body)["hits"])
    return gathered.frame()


def encoded(page: dict[str, Any]) -> bytes:
    return msgspec.json.encode(page)


HITS: list[dict[str, Any]] = [{"objectID": "1", "n": 1}, {"objectID": "2"}]


def test_attributes_that_are_expected_are_read_into_rows() -> None:
    reader = PageReader()
    reader.expect({"objectID": None, "n": None})

    page = reader(encoded({"hits": HITS, "cursor": "next", "nbHits": 2}))

    assert all(isinstance(hit, RecordRow) for hit in page["hits"])
    pivoted = page["hits"][0].pivot(page["hits"])
    assert [*pivoted] == [("objectID", ["1", "2"], None), ("n", [1, None], None)]
    assert page["cursor"] == "next"


@pytest.mark.parametrize(
    ("hits", "are_rows"),
    [(HITS, True), (HITS[::-1], False), ([], False), ([7], False)],
    ids=["the first has all", "another has more", "no record", "no records"],
)
def test_the_first_record_determines_the_expected_attributes(
    hits: list[Any], are_rows: bool
) -> None:
    reader = PageReader(peek=True)

    page = reader(encoded({"hits": hits}))

    assert [isinstance(hit, RecordRow) for hit in page["hits"]] == [are_rows] * len(hits)


@pytest.mark.parametrize(
    "expected",
    [[], ["objectID"], ["objectID", "n", '"'],
     [f"a{n}" for n in range(page_decoder.MAX_STRUCT_FIELDS + 1)]],
    ids=["nothing expected", "others besides", "a name with a quote", "too many names"],
)  # fmt: skip
def test_a_page_is_read_into_dicts_where_rows_do_not_suit_it(expected: list[str]) -> None:
    reader = PageReader()
    reader.expect(dict.fromkeys(expected))

    assert reader(encoded({"hits": HITS}))["hits"] == HITS


def test_unrequested_attributes_are_skipped() -> None:
    reader = PageReader(only=True)
    reader.expect({"n": None})

    page = reader(encoded({"hits": HITS}))

    assert [*page["hits"][0].pivot(page["hits"])] == [("n", [1, None], None)]


def test_invalid_json_is_an_error() -> None:
    reader = PageReader()
    reader.expect({"n": None})

    with pytest.raises(msgspec.DecodeError):
        reader(b'{"hits":[{"n":')


@pytest.mark.parametrize(
    ("n", "is_row"), [(2, True), (None, True), (2.5, False), ("2", False), (True, False)]
)
def test_an_attribute_that_held_one_kind_of_value_may_come_to_hold_another(
    n: Any, is_row: bool
) -> None:
    reader = PageReader()
    reader.expect({"objectID": str, "n": int})

    [hit] = reader(encoded({"hits": [{"objectID": "1", "n": n}]}))["hits"]

    assert isinstance(hit, RecordRow) is is_row


@pytest.mark.parametrize("values", [[1, None], [1, 2], [1.5, None], [True, False]], ids=str)
def test_columns_of_rows_can_be_changed(values: list[Any]) -> None:
    reader = PageReader()
    reader.expect({"n": type(values[0])})
    gathered = Columns()
    gathered.add(reader(encoded({"hits": [{"n": value} for value in values]}))["hits"])
    frame = gathered.frame()

    frame.loc[0, "n"] = type(values[0])(0)

    assert frame["n"][0] == 0


def test_kinds_that_change_all_the_time_are_learned_only_so_often() -> None:
    reader = PageReader()
    for number in range(2 * page_decoder.MAX_EXPECTATIONS):
        reader.expect({"n": (str, int)[number % 2]})

    [hit] = reader(encoded({"hits": [{"n": 2.5}]}))["hits"]

    assert isinstance(hit, RecordRow)

"""Columns of several parts are equal in whatever order the parts were joined."""

from __future__ import annotations

from typing import Any

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_series_equal

from svc_notebook.data.frames.columns import CHUNK_RECORDS, CHUNKS_PER_PART, Columns
from svc_notebook.data.frames.page_decoder import TEXT, join_parts, pack_values, settle_parts
from tests.conftest import examples

TEXTS = st.none() | st.text(st.characters(codec="utf-8"), max_size=3)
MIXED = TEXTS | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False)
PARTS = st.sampled_from([TEXTS, TEXTS, st.none(), st.integers(-9, 9) | st.none(), MIXED]).flatmap(
    lambda kind: st.lists(st.lists(kind, min_size=1, max_size=4), min_size=1, max_size=6)
)


@settings(max_examples=examples(200), deadline=None)
@given(PARTS, st.lists(st.integers(1, 3), max_size=4))
def test_settled_parts_make_the_same_column(parts: list[list[Any]], counts: list[int]) -> None:
    settled = []
    for place, values in enumerate(parts):
        settled.append(pack_values(values))
        if place < len(counts):
            settle_parts(settled, counts[place])

    assert_series_equal(join_parts(settled), join_parts([pack_values(each) for each in parts]))


def test_a_long_column_of_text_comes_in_few_pieces() -> None:
    count, gathered = CHUNK_RECORDS * (CHUNKS_PER_PART + 2), Columns()
    records = [{"a": str(n)} if n % 7 else {"b": "é" * (n % 9)} for n in range(count)]

    for start in range(0, count, CHUNK_RECORDS):
        gathered.add(records[start : start + CHUNK_RECORDS])
    frame = gathered.frame()

    expected = pd.DataFrame(records, dtype=TEXT)[list(frame)]
    assert_frame_equal(frame.fillna(""), expected.fillna(""))
    if isinstance(TEXT, pd.StringDtype):  # where text is no column of Python's own strings
        assert frame["a"].array.__arrow_array__().num_chunks == 2

"""Blanks after separators in the rows of the csv module."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data.loading.sources.csv_candidates import parse_rows
from tests.conftest import examples

CELLS = ["a", " a", "", " ", '"a"', ' "a"', '" a"', '"a,b"', ' "a, b"', '"a""b"', 'a"b', '"a', 'b"']
LINES = st.lists(
    st.lists(st.sampled_from(CELLS), min_size=1, max_size=6).map(",".join), min_size=1, max_size=8
)


@pytest.mark.slow
@settings(max_examples=examples(1000))
@given(lines=LINES, end=st.sampled_from(["\n", "\r\n"]))
def test_rows_without_blanks_before_cells_are_not_read_again(lines: list[str], end: str) -> None:
    text = "".join(line + end for line in lines)

    rows = parse_rows(text, ",", '"')

    if not any(cell.startswith(" ") for _, row in rows for cell in row):
        assert parse_rows(text, ",", '"', padded=True) == rows

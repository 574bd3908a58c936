"""Blanks after separators: the quick answer of the csv module, and the cells one by one."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from svc_notebook.loading.sources import csv_separator
from svc_notebook.loading.sources.csv_dialect import Dialect, parse_rows
from svc_notebook.loading.sources.csv_separator import is_padded
from tests.conftest import examples

CELLS = ["a", " a", "", " ", '"a"', ' "a"', '" a"', '"a,b"', ' "a, b"', '"a""b"', 'a"b', '"a', 'b"']
LINES = st.lists(
    st.lists(st.sampled_from(CELLS), min_size=1, max_size=6).map(",".join), min_size=1, max_size=8
)


@settings(max_examples=examples(1000))
@given(lines=LINES, escape=st.sampled_from(['"', "\\"]), end=st.sampled_from(["\n", "\r\n"]))
@example(lines=["a, a, a"] * 5, escape='"', end="\n")
@example(lines=["a,a,a"] * 5, escape='"', end="\n")
def test_both_ways_agree(lines: list[str], escape: str, end: str) -> None:
    dialect = Dialect(",", '"', escape, header=True, names=())
    whole = [line + end for line in lines]
    rows = parse_rows("".join(whole), ",", dialect.quote)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_separator, "_has_few_blanks", lambda *_: False)
        expected = is_padded(whole, rows, dialect)

    assert is_padded(whole, rows, dialect) == expected


@settings(max_examples=examples(1000))
@given(lines=LINES, end=st.sampled_from(["\n", "\r\n"]))
def test_rows_without_blanks_before_cells_are_not_read_again(lines: list[str], end: str) -> None:
    text = "".join(line + end for line in lines)

    rows = parse_rows(text, ",", '"')

    if not any(cell.startswith(" ") for _, row in rows for cell in row):
        assert parse_rows(text, ",", '"', padded=True) == rows

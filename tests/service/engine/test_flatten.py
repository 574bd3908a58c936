"""Columns of records that have different attributes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.service.engine.index import flatten
from svc_notebook.service.engine.index.flatten import Leaf, read_leaves

VALUES = st.none() | st.integers(0, 3) | st.text(max_size=2) | st.lists(st.integers(0, 3))
OBJECTS = st.dictionaries(st.sampled_from("abcd"), VALUES, max_size=4)
RECORDS = st.dictionaries(st.sampled_from("abcdef"), VALUES | OBJECTS, max_size=6)


def written(leaves: dict[str, Leaf]) -> list[tuple[str, list[int], list[Any]]]:
    return [(path, [*leaf.rows], leaf.values) for path, leaf in leaves.items()]


@given(st.lists(RECORDS, max_size=6))
def test_columns_are_equal_whether_read_one_by_one_or_record_by_record(
    records: list[dict[str, Any]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        leaves = []
        for cells in (1_000_000, 0):
            patch.setattr(flatten, "MAX_CELLS_PER_VALUE", cells)
            leaves.append(written(read_leaves(records)))

    by_column, by_record = leaves
    assert by_column == by_record

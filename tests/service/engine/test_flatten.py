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
        patch.setattr(flatten, "MAX_CELLS_PER_VALUE", 1_000_000)
        by_column = read_leaves(records)
        patch.setattr(flatten, "MAX_CELLS_PER_VALUE", 0)
        by_record = read_leaves(records)

    assert written(by_column) == written(by_record)

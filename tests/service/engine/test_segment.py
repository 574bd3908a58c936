"""Segments: a merged segment equals one that was indexed as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

import numpy as np
import pytest

from svc_notebook.service.engine import term_dictionary
from svc_notebook.service.engine.arrays import Arrays
from svc_notebook.service.engine.index import postings
from svc_notebook.service.engine.index.columns import Labels, Numbers
from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import OBJECT_ID, Schema
from svc_notebook.service.engine.index.segment import Segment, merge_segments
from tests.service.engine import cases


def arrays_of(segment: Segment) -> Arrays:
    columns: dict[str, Labels | Numbers] = {}
    for kind in ("labels", "texts", "numbers"):
        columns |= {f"{kind} {path}": column for path, column in getattr(segment, kind).items()}
    found = {
        f"{path} {name}": array
        for path, column in columns.items()
        for name, array in column.arrays().items()
    }
    return {**found, **segment.ids.arrays(), **segment.postings.arrays(), "groups": segment.groups}


def _in_order(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: str(record[OBJECT_ID]))


@pytest.mark.parametrize(
    ("block", "at_once"), [(3, 7), (term_dictionary.BLOCK_STRINGS, postings.CHUNK_OCCURRENCES)]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_merge_equals_indexing_all_records_together(
    seed: int, block: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(term_dictionary, "BLOCK_STRINGS", block)
    monkeypatch.setattr(postings, "CHUNK_OCCURRENCES", at_once)
    random = Random(seed)
    shape = Schema.of(cases.make_settings(random))
    records = _in_order(cases.make_record(random, number) for number in range(60))
    parts = [records[start::4] for start in range(4)]
    alive = [np.array([random.random() < 0.8 for _ in part], bool) for part in parts]
    left = [
        record
        for part, mask in zip(parts, alive, strict=True)
        for record, lives in zip(part, mask, strict=True)
        if lives
    ]

    merged = merge_segments([Segment.of(part, shape) for part in parts], alive)

    whole = Segment.of(_in_order(left), shape)
    assert merged.slots == whole.slots
    found, expected = arrays_of(merged), arrays_of(whole)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, name)
        assert found[name].dtype == array.dtype

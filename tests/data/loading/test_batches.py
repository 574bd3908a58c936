"""Batches of records: their size in bytes and rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from svc_notebook.data.loading.sending.batches import Batch, BatchCutter, Span, merge_spans
from tests.conftest import examples
from tests.data.loading.encoded_records import pack

PREFIX = ',{"id":'
LARGEST = 200


def texts(sizes: list[int]) -> list[str]:
    return [f'{PREFIX}"{number:032d}","x":"{"é" * size}"}}' for number, size in enumerate(sizes)]


def cut(
    rows: list[str],
    chunk: int,
    dropped: set[int] = frozenset(),  # type: ignore[assignment]
    settled: list[Span] | None = None,
    repeats: dict[int, int] | None = None,
    kind: pa.DataType | None = None,
) -> list[Batch]:
    positions = np.array(sorted(dropped), dtype=np.int64)
    cutter = BatchCutter(positions, settled or [], repeats or {}, LARGEST, len(PREFIX))
    # A slice of a longer array: its buffers begin before it does.
    arrays = [
        pa.array(["before", *rows[at : at + chunk]], kind)[1:] for at in range(0, len(rows), chunk)
    ]
    return [batch for array in arrays for batch in cutter.cut(array)]


def steps(batches: list[Batch]) -> list[dict[str, Any]]:
    return [step for b in batches for step in msgspec.json.decode(b.body)["requests"]]


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.integers(0, 120), max_size=30),
    st.integers(1, 9),
    st.sets(st.integers(0, 29)),
    st.lists(st.tuples(st.integers(0, 29), st.integers(0, 29)).map(lambda s: Span(*sorted(s)))),
    st.sets(st.integers(0, 29)),
    st.sampled_from([pa.string(), pa.large_string()]),
)
def test_every_row_is_in_exactly_one_batch_unless_dropped_or_settled(
    sizes: list[int],
    chunk: int,
    dropped: set[int],
    settled: list[Span],
    repeated: set[int],
    kind: pa.DataType,
) -> None:
    rows = texts(sizes)

    batches = cut(rows, chunk, dropped, settled, dict.fromkeys(repeated, 7), kind)

    done = dropped | {n for span in settled for n in range(*span)}
    left = [n for n in range(len(rows)) if n not in done]
    ids = [step["id"] for step in steps(batches)]
    assert ids == [f"{n:032d}{'-7' if n in repeated else ''}" for n in left]
    assert sum(batch.rows for batch in batches) == len(left)
    covered = {n for batch in batches for n in range(*batch.span)}
    assert set(left) <= covered
    assert all(len(b.body) <= LARGEST or b.rows == 1 for b in batches)


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)).map(lambda s: Span(*sorted(s)))))
def test_merged_spans_cover_the_same_and_never_touch(spans: list[Span]) -> None:
    merged = merge_spans(spans)

    assert {n for s in merged for n in range(*s)} == {n for s in spans for n in range(*s)}
    assert all(a.last < b.first for a, b in pairwise(merged))


def test_batches_are_bounded_in_records_and_in_bytes() -> None:
    table = pa.table({"id": [str(n) for n in range(1000)], "text": ["x" * 90] * 1000})

    by_records = pack(table, id="id", batch=300).batches
    by_bytes = pack(table, id="id", batch_bytes=20_000).batches

    assert [batch.rows for batch in by_records] == [300, 300, 300, 100]
    assert all(len(batch.body) <= 20_000 for batch in by_bytes)
    assert sum(batch.rows for batch in by_bytes) == 1000


def test_a_row_that_changes_what_is_stored_makes_its_batch_unrepeatable() -> None:
    table = pa.table({"id": ["1"], "n": ['{"_operation": "Increment", "value": 1}']})

    sent = pack(table, id="id", dtype={"n": "json"}, action="update").batches

    assert [batch.repeatable for batch in sent] == [False]


def test_an_operation_nested_by_column_names_is_found() -> None:
    table = pa.table({"id": ["1"], "n._operation": ["Increment"], "n.value": [1]})

    sent = pack(table, id="id", nest=True, action="update").batches

    assert [batch.repeatable for batch in sent] == [False]


def test_text_that_looks_like_an_operation_is_repeatable() -> None:
    table = pa.table({"id": ["1"], "n": ["_operation"], "m": ['{"_operation": "Add"}']})

    sent = pack(table, id="id").batches

    assert [batch.repeatable for batch in sent] == [True]

"""Segments: a merged segment equals one that was indexed as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from svc_notebook.service.engine import term_dictionary
from svc_notebook.service.engine.arrays import Arrays, add_prefix
from svc_notebook.service.engine.index import postings
from svc_notebook.service.engine.index.attribute_lengths import (
    MAX_LENGTH_WORDS,
    MAX_STORED_ATTRIBUTES,
    measure_lengths,
    no_word_counts,
)
from svc_notebook.service.engine.index.columns import Labels, Numbers
from svc_notebook.service.engine.index.flatten import Record
from svc_notebook.service.engine.index.schema import OBJECT_ID, Schema
from svc_notebook.service.engine.index.segment import Segment, SegmentReader, merge_segments
from svc_notebook.service.engine.index.storage import decode_segment, encode_segment
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
    found |= {**segment.ids.arrays(), **segment.postings.arrays()}
    return {**found, "groups": segment.groups, "word_counts": segment.word_counts}


def _in_order(records: Iterable[Record]) -> list[Record]:
    return sorted(records, key=lambda record: str(record[OBJECT_ID]))


@pytest.mark.parametrize(
    ("block", "at_once"), [(3, 7), (term_dictionary.BLOCK_STRINGS, postings.CHUNK_OCCURRENCES)]
)
@pytest.mark.parametrize("seed", range(5))
def test_a_merge_equals_indexing_all_records_together(
    seed: int, block: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ((term_dictionary, "BLOCK_STRINGS", block), (postings, "CHUNK_OCCURRENCES", at_once))
    for module, name, count in limits:
        monkeypatch.setattr(module, name, count)
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


@pytest.mark.parametrize("attributes", [1, 5, MAX_STORED_ATTRIBUTES, MAX_STORED_ATTRIBUTES + 1])
def test_stored_lengths_equal_those_of_the_postings(attributes: int) -> None:
    random = Random(attributes)
    records = [
        {
            OBJECT_ID: f"{number:02}",
            **{
                f"a{slot}": " ".join(["word"] * random.randrange(4))
                for slot in range(attributes)
                if random.random() < 0.7
            },
        }
        for number in range(40)
    ]
    records[7]["a0"] = "word " * (MAX_LENGTH_WORDS + 10)
    parts = [Segment.of(part, Schema()) for part in (records[::2], records[1::2])]
    alive = [np.arange(20) % 5 > 0, np.ones(20, bool)]

    merged = merge_segments(parts, alive)

    for segment in (*parts, merged, decode_segment(encode_segment(merged), "a")):
        slots = len(segment.slots)
        assert len(segment.word_counts) == (slots if attributes <= MAX_STORED_ATTRIBUTES else 0)
        for groups in (np.arange(slots), np.zeros(slots, np.intp), np.arange(slots)[::-1] // 2):
            count = int(groups.max()) + 1
            expected = measure_lengths(segment.postings, groups, count)
            np.testing.assert_array_equal(segment.lengths(groups, count)[0], expected)


def test_a_file_without_lengths_is_counted_when_they_are_needed() -> None:
    segment = Segment.of([{OBJECT_ID: "1", "a": "one two"}, {OBJECT_ID: "2"}], Schema())
    earlier = replace(segment, word_counts=no_word_counts())

    read = decode_segment(encode_segment(earlier), "a")

    assert read.lengths(np.zeros(1, np.intp), 1)[0].tolist() == [[2, 0]]
    assert merge_segments([read], [np.ones(2, bool)]).word_counts.shape == (0, 0)


@pytest.mark.parametrize("stored", [0, postings.MIN_STORED_OCCURRENCES])
@pytest.mark.parametrize("seed", range(6))
def test_leading_occurrences_are_those_at_the_first_positions(
    seed: int, stored: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {"MIN_STORED_OCCURRENCES": stored, "CHUNK_OCCURRENCES": 1 << (seed * 3)}
    for name, count in limits.items():
        monkeypatch.setattr(postings, name, count)
    random = Random(seed)
    shape = Schema.of(cases.make_settings(random))
    records = _in_order(cases.make_record(random, number) for number in range(50))
    parts = [Segment.of(part, shape) for part in (records[:9], records[9:])]
    stored_parts = [decode_segment(encode_segment(part), "a") for part in parts]
    merged = merge_segments(stored_parts, [np.ones(len(part), bool) for part in parts])

    for segment in (*parts, *stored_parts, merged, decode_segment(encode_segment(merged), "b")):
        found, spots = segment.postings, segment.postings.spots.tolist()
        slots = sorted(random.sample(range(len(segment.slots)), min(2, len(segment.slots))))
        for low, high in ((0, 1), (0, 8), (3, 5), (7, 8)):
            first, last = sorted(random.choices(range(len(spots) + 1), k=2))
            expected = [
                number
                for number in range(first, last)
                if spots[number] >> postings.SLOT_SHIFT in slots
                and low <= spots[number] & postings.POSITION_MASK < high
            ]
            numbers = found.leading.find(slots, range(low, high), slice(first, last))
            assert numbers.tolist() == expected
            alone = found.leading.find_alone(slice(first, last)).tolist()
            assert alone == [n for n in range(first, last) if spots[n] & postings.ALONE_FLAG]


def test_a_file_with_some_leading_occurrences_is_read_as_one_with_none() -> None:
    found = Segment.of([{OBJECT_ID: "1", "a": ["one", "two three"]}], Schema()).postings
    stored = {**found.arrays(), **add_prefix("leading", found.leading.arrays())}
    earlier = {name: array for name, array in stored.items() if not name.endswith("alone")}

    assert postings.Postings.from_arrays(stored).stored_leading is not None
    read = postings.Postings.from_arrays(earlier)
    assert read.stored_leading is None
    assert read.leading.find_alone(slice(0, 9)).tolist() == [found.vocabulary.names.find("one")]


@pytest.mark.parametrize("seed", range(8))
def test_texts_that_repeat_are_indexed_as_others(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    shape = Schema.of(cases.make_settings(random))
    few = [cases.make_record(random, number) for number in range(6)]
    some = ["", "a <b c> d", "<e>", "É\x01 1.5", "one", "two one"]
    records = _in_order(
        {**random.choice(few), OBJECT_ID: f"{number:03}", "title": random.choice(some)}
        for number in range(80)
    )

    once = Segment.of(records, shape)

    monkeypatch.setattr(postings, "SAMPLED_TEXTS", 1)  # which is as many as distinct ones
    each = Segment.of(records, shape)
    found, expected = arrays_of(once), arrays_of(each)
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, name)
        assert found[name].dtype == array.dtype


def test_deleted_records_are_found_among_those_of_other_segments() -> None:
    reader = SegmentReader.of(Segment.of([{OBJECT_ID: name} for name in "bdf"], Schema()))

    assert reader.without(["a"]) is reader
    assert reader.without(["c", "g"]) is reader
    assert reader.without([*"abcfg"]).alive.tolist() == [False, True, False]
    empty = SegmentReader.of(Segment.of([], Schema()))
    assert empty.without(["a"]) is empty

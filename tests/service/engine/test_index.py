"""The index: writing, publishing, merging, storing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import psutil  # type: ignore[import-untyped]  # it has no types of its own
import pytest

from svc_notebook.errors import BadInput
from svc_notebook.service.engine import Index, Schema, SegmentStore
from svc_notebook.service.engine.index import segment_store
from svc_notebook.service.engine.index.segment import Segment, SegmentReader, merge_readers
from svc_notebook.service.engine.index.segment_store import SegmentLimits
from svc_notebook.service.engine.index.storage import read_segment
from tests.service.engine import cases

Record = dict[str, Any]
LAMPS = [
    {"objectID": "1", "title": "Red lamp", "brand": "Acme", "price": 3},
    {"objectID": "2", "title": "Blue lamp", "brand": "Bolt", "price": 2},
    {"objectID": "3", "title": "Lampshade", "brand": "Acme", "price": 1},
]
SETTINGS = {"searchableAttributes": ["title"], "attributesForFaceting": ["brand"]}


def make_index(records: Sequence[Record] = LAMPS, settings: Mapping[str, Any] = SETTINGS) -> Index:
    index = Index(settings)
    index.put(records)
    return index


def make_limited_index(
    records: Sequence[Record] = LAMPS, settings: Mapping[str, Any] = SETTINGS, **limits: int
) -> Index:
    index = Index(settings, SegmentStore(Schema.of(settings), limits=SegmentLimits(**limits)))
    index.put(records)
    return index


def find(index: Index, query: str = "", **params: Any) -> list[str]:
    def fetch(ids: Sequence[str]) -> list[Record]:
        return [{"objectID": name} for name in ids]

    found = index.search({"query": query, "hitsPerPage": 1000, **params}, fetch)
    assert found.nbHits == len(found.hits)
    return [hit["objectID"] for hit in found.hits]


def count(index: Index, facet: str) -> dict[str, int]:
    found = index.search({"facets": [facet]}, lambda ids: [None for _ in ids])
    assert found.facets is not None
    return found.facets[facet]


def test_a_record_put_again_is_replaced_everywhere() -> None:
    index = make_index()

    index.put([{"objectID": "1", "title": "Green chair", "brand": "Bolt"}])

    assert find(index, "red") == []
    assert find(index, "green") == ["1"]
    assert count(index, "brand") == {"Bolt": 2, "Acme": 1}
    assert len(index) == 3


def test_of_a_record_put_twice_in_one_write_the_last_one_counts() -> None:
    index = make_index([{"objectID": "1", "title": "old"}, {"objectID": "1", "title": "new"}])

    assert find(index, "old") == []
    assert find(index, "new") == ["1"]


def test_a_deleted_record_is_neither_found_nor_counted() -> None:
    index = make_index()

    index.delete(["1", "never there"])

    assert sorted(find(index, "lamp")) == ["2", "3"]
    assert count(index, "brand") == {"Acme": 1, "Bolt": 1}
    assert len(index) == 2


def test_a_cleared_index_is_empty_and_takes_records_again() -> None:
    index = make_index()

    index.clear()
    index.put(LAMPS[:1])

    assert find(index) == ["1"]


def test_a_copy_is_independent() -> None:
    index = make_index()
    copy = index.copy()

    copy.delete(["1"])
    index.put([{"objectID": "4", "title": "Lamp four"}])

    assert sorted(find(index)) == ["1", "2", "3", "4"]
    assert sorted(find(copy)) == ["2", "3"]


def never() -> Iterator[list[Record]]:
    raise AssertionError("nothing had to be indexed again")


@pytest.mark.parametrize(
    "changed",
    [
        {"ranking": ["custom", "typo"]},
        {"hitsPerPage": 3},
        {"typoTolerance": False},
        {"attributesForFaceting": ["searchable(brand)"]},
        {"searchableAttributes": ["unordered(title)"]},
    ],
    ids=str,
)
def test_a_search_setting_reindexes_nothing(changed: dict[str, Any]) -> None:
    index = make_index()

    index.configure(SETTINGS | changed, never)

    assert index.settings == SETTINGS | changed
    assert len(find(index, "lamp")) == 3


def test_a_new_facet_or_attribute_reindexes_the_records() -> None:
    index = make_index()
    chunks = [LAMPS[:2], LAMPS[2:]]

    index.configure(
        {"searchableAttributes": ["brand"], "attributesForFaceting": ["price"]}, lambda: chunks
    )

    assert find(index, "acme") == ["1", "3"]
    assert find(index, "lamp") == []
    assert count(index, "price") == {"1": 1, "2": 1, "3": 1}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ranking": ["typoo"]}, 'ranking: expected asc.*"typoo"'),
        ({"customRanking": ["price"]}, 'customRanking: expected asc.*"price"'),
        ({"customRanking": ["desc()"]}, "customRanking"),
        ({"attributesForFaceting": ["serchable(a)"]}, "attributesForFaceting.*serchable"),
        ({"searchableAttributes": ["orderly(a)"]}, "searchableAttributes.*orderly"),
    ],
    ids=str,
)
def test_unusable_settings_are_refused_and_change_nothing(
    settings: dict[str, Any], message: str
) -> None:
    index = make_index()

    with pytest.raises(BadInput, match=message):
        index.configure(settings, never)

    assert index.settings == SETTINGS


def test_many_small_writes_end_in_few_segments_and_lose_nothing() -> None:
    index = Index(SETTINGS)
    expected = {}

    for number in range(300):
        record = {"objectID": str(number % 97), "title": f"lamp {number}"}
        expected[record["objectID"]] = number
        index.put([record])

    assert sorted(find(index, "lamp")) == sorted(expected)
    assert all(find(index, f"{n}", queryType="prefixNone") == [k] for k, n in expected.items())


def test_a_search_never_sees_a_partial_write() -> None:
    """Every write moves all records to the next version; a search sees one version only."""
    index = Index({"attributesForFaceting": ["version"]})
    seen: list[dict[str, int]] = []
    stop = threading.Event()

    def write(version: int) -> None:
        index.put(
            [
                {"objectID": str(n), "version": str(version), "title": f"lamp {version}"}
                for n in range(50)
            ]
        )

    def read() -> None:
        while not stop.is_set():
            seen.append(count(index, "version"))

    write(0)
    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for version in range(1, 150):
        write(version)
    stop.set()
    for reader in readers:
        reader.join()

    assert len(seen) > 3
    assert all(list(counts.values()) == [50] for counts in seen)


@pytest.mark.slow
def test_compacting_during_writes_loses_and_restores_nothing() -> None:
    index = Index(SETTINGS)
    stop = threading.Event()

    def compact() -> None:
        while not stop.is_set():
            index.compact()

    compacting = threading.Thread(target=compact)
    compacting.start()
    random = Random(1)
    alive: set[str] = set()
    for _ in range(250):
        names = {str(random.randrange(60)) for _ in range(5)}
        index.put([{"objectID": name, "title": "lamp"} for name in names])
        gone = {str(random.randrange(60)) for _ in range(3)}
        index.delete(gone)
        alive = (alive | names) - gone
        assert len(index) == len(alive)
    stop.set()
    compacting.join()

    assert set(find(index, "lamp")) == alive


@pytest.mark.slow
def test_a_loaded_index_answers_like_the_original(tmp_path: Path) -> None:
    random = Random(3)
    settings = cases.make_settings(random) | {"attributeForDistinct": "brand"}
    index = Index(settings)
    for _ in range(3):
        index.put([cases.make_record(random, number) for number in range(40)])
    index.delete(find(index)[:5])

    index.save(tmp_path, 17)
    loaded = Index.load(tmp_path, settings)

    assert loaded is not None
    assert loaded[1] == 17
    for _ in range(50):
        params = cases.make_params(random, settings)
        assert answer(loaded[0], params) == answer(index, params)


def answer(index: Index, params: Mapping[str, Any]) -> object:
    return index.search(params, lambda ids: [{"objectID": name} for name in ids])


def test_a_loaded_index_takes_writes_and_is_saved_again(tmp_path: Path) -> None:
    make_index().save(tmp_path, 1)
    index, _ = Index.load(tmp_path, SETTINGS) or pytest.fail("nothing loaded")

    index.put([{"objectID": "4", "title": "Lamp four"}])
    index.delete(["1"])
    index.compact()
    index.save(tmp_path, 2)

    again, stamp = Index.load(tmp_path, SETTINGS) or pytest.fail("nothing loaded")
    assert stamp == 2
    assert sorted(find(again)) == ["2", "3", "4"]
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("limit", ["large_segment_records", "large_segment_bytes"])
@pytest.mark.sampled(3, quick=1)
def test_a_saved_segment_is_mapped_and_answers_the_same(
    tmp_path: Path, limit: str, seed: int
) -> None:
    random = Random(seed)
    settings = cases.make_settings(random) | {"attributeForDistinct": "brand"}
    index, kept = make_limited_index([], settings, **{limit: 1}), Index(settings)
    for stamp in range(8):
        some = [cases.make_record(random, random.randrange(200)) for _ in range(60)]
        gone = random.sample(find(index), 2) if stamp else []
        for each in (index, kept):
            each.put(some)
            each.delete(gone)
            if stamp == 5:
                each.compact()

        index.save(tmp_path, stamp)

        assert all(reader.segment.mapped for reader in index.segment_store.readers)
        assert not any(reader.segment.mapped for reader in kept.segment_store.readers)
        for _ in range(15):
            params = cases.make_params(random, settings)
            assert answer(index, params) == answer(kept, params)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled(3, quick=1)
def test_merged_segments_stay_below_the_maximum(seed: int) -> None:
    random = Random(seed)
    settings = cases.make_settings(random) | {"attributeForDistinct": "brand"}
    limited = make_limited_index([], settings, max_merged_records=100)
    whole = Index(settings)
    for step in range(30):
        some = [cases.make_record(random, random.randrange(900)) for _ in range(30)]
        gone = random.sample(find(whole), 5) if step else []
        for index in (limited, whole):
            index.put(some)
            index.delete(gone)
            if step % 10 == 9:
                index.compact()

        params = cases.make_params(random, settings)
        assert answer(limited, params) == answer(whole, params)
    sizes = sorted(reader.count for reader in limited.segment_store.readers)
    assert sizes[-1] <= 100
    assert sizes[0] + sizes[1] > 100
    assert len(whole.segment_store.readers) == 1


def test_compacting_leaves_full_segments_alone() -> None:
    index = make_limited_index([], max_merged_records=5)
    for start in (0, 4, 8, 10):
        count = 4 if start < 8 else 2
        index.put([{"objectID": str(start + place), "title": "lamp"} for place in range(count)])
    index.delete(["0"])
    full = {
        reader.segment.name
        for reader in index.segment_store.readers
        if reader.segment.ids.find_many(["4"])[0] >= 0
    }

    index.compact()

    readers = index.segment_store.readers
    assert sorted(reader.count for reader in readers) == [3, 4, 4]
    assert all(reader.count == len(reader.segment) for reader in readers)
    assert len(full & {reader.segment.name for reader in readers}) == 1


def test_only_large_segments_are_read_from_their_files(tmp_path: Path) -> None:
    words = " ".join(f"{number:x}" for number in range(400))
    few, many = make_index(), Index()
    many.put([{"objectID": str(number), "text": words} for number in range(4000)])

    few.save(tmp_path / "few", 1)
    many.save(tmp_path / "many", 1)

    assert not any(reader.segment.mapped for reader in few.segment_store.readers)
    assert all(reader.segment.mapped for reader in many.segment_store.readers)
    assert len(many) < many.segment_store.limits.large_segment_records


def test_records_deleted_while_a_file_is_mapped_stay_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_limited_index(large_segment_records=1)

    def read_slowly(folder: Path, name: str) -> Segment:
        index.delete(["1"])
        return read_segment(folder, name)

    monkeypatch.setattr(segment_store, "read_segment", read_slowly)
    index.save(tmp_path, 1)

    assert sorted(find(index)) == ["2", "3"]


def test_a_merge_succeeds_while_its_segments_are_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = make_limited_index(large_segment_records=1)
    index.put([{"objectID": "4", "title": "Lamp four"}])

    def merge_slowly(run: Sequence[SegmentReader]) -> SegmentReader:
        merged = merge_readers(run)
        index.save(tmp_path, 1)
        index.delete(["2"])
        return merged

    monkeypatch.setattr(segment_store, "merge_readers", merge_slowly)
    index.compact()

    assert len(index.segment_store.readers) == 1
    assert sorted(find(index)) == ["1", "3", "4"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which pages are of files")
def test_pages_of_files_are_released_before_a_merge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"lamp {number}" for number in range(60_000)]
    index = make_index(
        [{"objectID": text, "title": text} for text in texts], {"searchableAttributes": ["title"]}
    )
    index.save(tmp_path, 1)
    (segment,) = (reader.segment for reader in index.segment_store.readers)
    sums = [array.sum() for array in segment.postings.arrays().values()]
    pages: list[int] = []

    def measure_and_merge(run: Sequence[SegmentReader]) -> SegmentReader:
        pages.append(psutil.Process().memory_info().shared)
        return merge_readers(run)

    monkeypatch.setattr(segment_store, "merge_readers", measure_and_merge)
    index.delete(texts[:1])
    before = psutil.Process().memory_info().shared
    index.compact()

    size = next(tmp_path.glob("*.segment")).stat().st_size
    assert before - pages[0] > size / 2
    assert [array.sum() for array in segment.postings.arrays().values()] == sums
    assert len(index) == len(texts) - 1
    small = make_index()
    small.delete(["1"])
    before = psutil.Process().memory_info().shared
    small.compact()
    assert before - psutil.Process().memory_info().shared < size / 4


def test_a_kept_order_references_only_rows() -> None:
    order = make_index().order({"filters": "brand:Acme"})

    assert order[:] == ["1", "3"]
    assert not order.ranked


def damage(folder: Path, kind: str) -> None:
    [segment] = folder.glob("*.segment")
    manifest = folder / "manifest.json"
    whole = segment.read_bytes()
    match kind:
        case "no manifest":
            manifest.unlink()
        case "half a manifest":
            manifest.write_bytes(manifest.read_bytes()[:40])
        case "another format":
            manifest.write_bytes(manifest.read_bytes().replace(b'"format":', b'"format":9'))
        case "no segment":
            segment.unlink()
        case "half a segment":
            segment.write_bytes(whole[: len(whole) // 2])
        case "an empty segment":
            segment.write_bytes(b"")
        case "a header of another kind":
            segment.write_bytes(b"12\n{}" + whole[5:])


@pytest.mark.parametrize(
    "kind",
    [
        "no manifest",
        "half a manifest",
        "another format",
        "no segment",
        "half a segment",
        "an empty segment",
        "a header of another kind",
    ],
)
def test_an_unreadable_folder_counts_as_missing(tmp_path: Path, kind: str) -> None:
    make_index().save(tmp_path, 1)

    damage(tmp_path, kind)

    assert Index.load(tmp_path, SETTINGS) is None


def test_an_index_saved_under_other_settings_is_not_loaded(tmp_path: Path) -> None:
    make_index().save(tmp_path, 1)

    assert Index.load(tmp_path, SETTINGS | {"hitsPerPage": 3}) is not None
    assert Index.load(tmp_path, {"searchableAttributes": ["brand"]}) is None
    assert Index.load(tmp_path / "elsewhere", SETTINGS) is None


def nested(depth: int) -> Record:
    record: Record = {"leaf": "deep"}
    for _ in range(depth):
        record = {"a": [record]}
    return record


HOSTILE: list[Record] = [
    {"objectID": ""},
    {"objectID": "\0", "t": "\0\0"},
    {"objectID": "a\0b", "t": "😀 emoji \ufb01 ß İ"},
    {"objectID": "s\ud800", "t": "x\ud800y"},
    {"objectID": "x" * 3000, "t": "zalgo " + "a" + "\u0301" * 2000},
    {"objectID": "long", "t": "w" * 5000},
    {"objectID": "many", "t": " ".join(f"w{n % 977}" for n in range(10_000))},
    {"objectID": "wide", **{f"a{n}": f"text {n}" for n in range(500)}},
    {"objectID": "numbers", "x": 10**400, "y": -(10**30), "z": 1e308, "v": float("inf")},
    {"objectID": "deep", **nested(200)},
    {"objectID": "odd", "": "none", "a.b": "dotted", "a": {"b": "nested"}, "l": [None, [], {}]},
    {"objectID": "tags", "_tags": ["a", 1, None, {"x": 1}], "_geoloc": [{"lat": 1, "lng": 2}]},
    {"objectID": "bom", "t": "\ufeff\u202e\u200d\u200b\u2028", "b": True},
]
QUERIES = ["", "w" * 5000, "w1", "\0", "😀", "a", "emoji ß", "'''", "\ud800", '"', '-"', '"a b" -c']


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "searchableAttributes": ["t", "unordered(a.b)", "", "x"],
            "attributesForFaceting": ["t", "x", "z", "_tags", "", "searchable(y)"],
            "customRanking": ["desc(t)", "asc(x)", "asc(v)", "desc(l)", "asc(b)"],
            "attributeForDistinct": "z",
            "distinct": True,
        },
        {
            "camelCaseAttributes": ["t"],
            "separatorsToIndex": "😀+\0",
            "keepDiacriticsOnCharacters": "ß",
            "customNormalization": {"default": {"a": "b"}},
        },
    ],
    ids=["defaults", "every column", "other words"],
)
@pytest.mark.parametrize("query", [*QUERIES, " ".join(f"w{n}" for n in range(300))])
@pytest.mark.sampled(10, quick=3)
def test_hostile_records_and_queries_cause_no_error(
    settings: dict[str, Any], query: str, tmp_path: Path
) -> None:
    index = Index(settings)
    for record in HOSTILE:
        index.put([record])
    by_id = {record["objectID"]: record for record in HOSTILE}

    for params in (
        {"advancedSyntax": True, "getRankingInfo": True, "facets": ["*"]},
        {"queryType": "prefixAll", "minWordSizefor1Typo": 0, "minWordSizefor2Typos": 0},
        {"typoTolerance": "min", "attributesToSnippet": ["*:3"], "distinct": 2},
    ):
        index.search({"query": query, **params}, lambda ids: [by_id[name] for name in ids])
    index.save(tmp_path, 1)
    loaded = Index.load(tmp_path, settings)

    assert loaded is not None
    assert sorted(loaded[0].order({})[:]) == sorted(by_id)


def shuffled(random: Random, records: Iterable[Record]) -> list[Record]:
    mixed = list(records)
    random.shuffle(mixed)
    return mixed


@pytest.mark.sampled(quick=3)
@pytest.mark.parametrize("seed", range(15))
def test_the_order_of_records_changes_nothing(seed: int) -> None:
    random = Random(seed)
    settings = cases.make_settings(random)
    records = [cases.make_record(random, number) for number in range(60)]
    records = list({record["objectID"]: record for record in records}.values())
    one, other = Index(settings), Index(settings)
    one.put(records)
    for record in shuffled(random, records):
        other.put([record])

    for _ in range(10):
        params = cases.make_params(random, settings)
        assert answer(one, params) == answer(other, params)


@pytest.mark.parametrize("seed", range(15))
def test_a_stricter_filter_never_adds_and_an_optional_word_never_loses(seed: int) -> None:
    random = Random(seed)
    settings = cases.make_settings(random)
    index = Index(settings)
    index.put([cases.make_record(random, number) for number in range(60)])

    for _ in range(10):
        query, word = cases.make_query(random), random.choice(cases.WORDS)
        loose, strict = cases.make_filter(random), cases.make_filter(random)
        some = set(find(index, query, filters=cases.write_filter(loose)))
        fewer = set(find(index, query, filters=cases.write_filter(loose + strict)))
        plain = {"queryType": "prefixNone"}
        more = set(find(index, f"{query} {word}", optionalWords=[word], **plain))

        assert fewer <= some
        assert set(find(index, query, **plain)) <= more or not query


def test_large_segments_are_merged_later_while_writes_wait() -> None:
    store = SegmentStore(Schema(), limits=SegmentLimits(busy_segment_records=2))

    def write(records: int, *, busy: bool) -> int:
        names = [f"{len(store)}-{number}" for number in range(records)]
        store.prepare([{"objectID": name} for name in names])()
        store.merge_small_segments(busy=busy)
        return len(store.readers)

    assert [write(2, busy=True) for _ in range(8)] == [1, 2, 3, 4, 5, 6, 7, 1]
    assert [write(1, busy=True) for _ in range(3)] == [2, 3, 1]
    assert [write(2, busy=True) for _ in range(3)] == [2, 3, 4]
    assert write(2, busy=False) == 1
    assert len(store) == 27


@pytest.mark.parametrize(("sort", "expected"), [("asc", "cdab"), ("desc", "dcab")])
@pytest.mark.parametrize("first", ["ab", "cd"])
def test_texts_sort_across_segments_of_which_one_has_none(
    sort: str, expected: str, first: str
) -> None:
    index = Index({"customRanking": [f"{sort}(kind)"]})
    kinds: dict[str, Record] = {"a": {}, "b": {}, "c": {"kind": "oak"}, "d": {"kind": "pine"}}

    for ids in (first, sorted({*"abcd"} - {*first})):
        index.put([{"objectID": name, **kinds[name]} for name in ids])

    assert len(index.segment_store.readers) == 2
    assert index.order({})[:] == [*expected]

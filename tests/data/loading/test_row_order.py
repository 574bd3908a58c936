"""Rows are identified by position, whatever the order of a scan."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import numpy as np
import pandas as pd
import pytest

from svc_notebook.data.loading.database import Database
from svc_notebook.data.loading.load_plan.preparation import Prepared, prepare_any
from svc_notebook.data.loading.load_plan.row_errors import MarkedRows
from svc_notebook.data.loading.options import LoadSettings
from svc_notebook.data.loading.sending.batches import Batch, RowOrder, Span, digest_of, pack_batches
from svc_notebook.errors import BadInput
from tests.data.loading.csv_oracle import MISSING, expect
from tests.data.loading.encoded_records import pack

WORDS = ["amber", "brass", "cedar", "desk", 'oak "fine"', "lamp, large", "two\nlines", "é"]


def write_table(path: Path, names: Sequence[str], rows: Iterator[Sequence[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)
    return path


def records(batches: Sequence[Batch]) -> list[dict[str, Any]]:
    return [step["body"] for b in batches for step in msgspec.json.decode(b.body)["requests"]]


def products(path: Path, rows: int, make: random.Random, **share: float) -> Path:
    """A table of products with a share of each kind of trouble."""

    def row(n: int) -> list[object]:
        own = n if make.random() >= share["repeated"] else make.randrange(rows)
        rating: object = make.randrange(5)
        if make.random() < share["missing"]:
            rating = make.choice([*sorted(MISSING), ""])
        elif make.random() < share["bad"]:
            rating = "good"
        name = "" if make.random() < share["nameless"] else f"product {n}"
        text = " ".join(make.choices(WORDS, k=12))
        cells = [f"p{own}" if make.random() >= share["lost"] else "", name, rating, text]
        if make.random() < share["long"]:
            return [*cells, make.choice(["", "more"])]
        return cells[: make.choice([1, 2, 3])] if make.random() < share["short"] else cells

    return write_table(path, ["id", "name", "rating", "text"], (row(n) for n in range(rows)))


TROUBLES = ["repeated", "bad", "nameless", "lost", "long", "short"]


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(16))
def test_files_of_many_pieces_are_sent_as_the_csv_module_reads_them(
    small_csv_pieces: None, tmp_path: Path, seed: int
) -> None:
    make = random.Random(seed)
    share = {name: make.choice([0, 0, 0.0005, 0.02]) for name in TROUBLES}
    share["missing"] = make.choice([0, 0.001, 0.15])
    path = products(tmp_path / "t.csv", 9000, make, **share)
    options: dict[str, Any] = {
        "dtype": make.choice([{}, {"rating": "integer"}]),
        "duplicates": make.choice(["reject", "last"]),
        "nulls": make.choice([{}, {"name": "error"}]),
    }
    batch, done = make.choice([500, 3000]), set(make.sample(range(20), make.randrange(12)))
    expected = expect(path, key="id", **options)

    with Database() as db:
        prepared = prepare_any(
            path, "index", LoadSettings.of(options | {"id": "id", "batch": batch}), db
        )
        batches = list(pack_batches(prepared))
        # As if a load had stopped after some of the batches, in any order.
        sent = [each for n, each in enumerate(batches) if n in done]
        rest = list(
            pack_batches(prepared, [b.span for b in sent], {b.span: b.digest for b in sent})
        )

    assert without_nulls(records(batches)) == without_nulls(expected.records)
    assert set(prepared.plan.rejected["row"]) == expected.rejected
    assert prepared.plan.rejected_rows == len(expected.rejected)
    by_id = {record["objectID"]: record for record in without_nulls(records([*sent, *rest]))}
    assert by_id == {record["objectID"]: record for record in without_nulls(expected.records)}
    assert sum(b.rows for b in (*sent, *rest)) == len(expected.records)


def without_nulls(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records without ratings such as `null`, which are missing if they occur often."""
    return [
        {name: value for name, value in record.items() if name != "rating" or value not in MISSING}
        for record in rows
    ]


def sixty_thousand(path: Path) -> Path:
    make = random.Random(1)
    twice = set(make.sample(range(1000, 60_000), 120))
    return write_table(
        path,
        ["id", "name", "rating", "text"],
        (
            [f"p{n - (n in twice)}", f"product {n}", "NA" if n % 7 == 0 else n % 5,
             " ".join(make.choices(["amber", "brass", "cedar", "oak"], k=20))]
            for n in range(60_000)
        ),
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("dtype", [{}, {"rating": "integer"}], ids=["found", "said"])
def test_the_first_row_of_each_id_is_the_one_that_is_sent(
    tmp_path: Path, dtype: dict[str, str]
) -> None:
    path = sixty_thousand(tmp_path / "t.csv")
    expected = expect(path, key="id", dtype=dtype)

    packed = pack(path, id="id", dtype=dtype)

    assert packed.records == expected.records
    assert {row for row, _, _ in packed.rejected} == expected.rejected


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_good_rows_of_a_film_table_are_sent_and_those_without_a_budget_are_not(
    tmp_path: Path,
) -> None:
    make = random.Random(2)
    path = write_table(
        tmp_path / "films.csv",
        ["title", "year", "length", "budget", "rating", "votes", "mpaa", *"abcdefgh"],
        (
            [f"Film {n}", make.randrange(1893, 2006), make.randrange(1, 400),
             "NA" if make.random() < 0.9 else make.randrange(10**8), make.randrange(10),
             make.randrange(10**5), make.choice(["", "R", "PG"]), *make.choices("0123", k=8)]
            for n in range(58_788)
        ),
    )  # fmt: skip
    with path.open(newline="") as file:
        meant = [row["title"] for row in csv.DictReader(file) if row["budget"] != "NA"]

    packed = pack(path, nulls={"budget": "error"})

    assert [record["title"] for record in packed.records] == meant
    assert packed.plan.rejected_rows == 58_788 - len(meant)


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_equal_rows_are_each_sent_once(tmp_path: Path) -> None:
    make = random.Random(3)
    rows = [
        [n, "NA" if n % 7 == 0 else n % 5, " ".join(make.choices(WORDS[:4], k=20))]
        for n in range(58_000)
    ]
    again = make.sample(rows, 2000)
    every = [*rows, *again]
    make.shuffle(every)
    path = write_table(tmp_path / "t.csv", ["n", "rating", "text"], iter(every))

    packed = pack(path)

    assert [record["n"] for record in packed.records] == [row[0] for row in every]
    assert len({record["objectID"] for record in packed.records}) == 60_000


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_one_bad_value_late_in_a_large_file_is_one_rejected_row(tmp_path: Path) -> None:
    path = write_table(
        tmp_path / "t.csv",
        ["id", "rating", "text"],
        ([n, "NA" if n % 7 == 0 else "bad" if n == 50_003 else n % 5, "x" * 100]
         for n in range(60_000)),
    )  # fmt: skip

    packed = pack(path, id="id", dtype={"rating": "integer"})

    assert packed.rejected == [(50_004, "rating", "is not a whole number")]
    assert [record["id"] for record in packed.records] == [n for n in range(60_000) if n != 50_003]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["frame", "dicts", "sql", "parquet", "json"])
def test_rows_of_every_source_keep_their_order(tmp_path: Path, kind: str) -> None:
    make = random.Random(4)
    rows = [
        {"id": f"p{n if make.random() > 0.01 else make.randrange(n + 1)}", "n": n, "x": "y" * 40}
        for n in range(30_000)
    ]
    frame = pd.DataFrame(rows)
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=2500)
    frame.to_json(tmp_path / "t.ndjson", orient="records", lines=True)
    sources: dict[str, Callable[[], Any]] = {
        "frame": lambda: frame,
        "dicts": lambda: iter(rows),
        "sql": lambda: f"SELECT * FROM '{tmp_path / 't.parquet'}'",
        "parquet": lambda: tmp_path / "t.parquet",
        "json": lambda: tmp_path / "t.ndjson",
    }
    firsts: dict[str, int] = {}
    for row in rows:
        firsts.setdefault(str(row["id"]), int(str(row["n"])))

    packed = pack(sources[kind](), id="id")

    assert [(r["objectID"], r["n"]) for r in packed.records] == list(firsts.items())


@pytest.mark.parametrize("limit", [1, 2500, 11_999])
def test_a_limit_takes_the_first_rows(small_csv_pieces: None, tmp_path: Path, limit: int) -> None:
    rows = ([n, "NA" if n % 7 == 0 else n % 5, "x" * 90] for n in range(12_000))
    path = write_table(tmp_path / "t.csv", ["id", "rating", "text"], rows)

    packed = pack(path, id="id", limit=limit, dtype={"rating": "integer"})

    assert [record["id"] for record in packed.records] == list(range(limit))


@pytest.mark.slow
def test_several_files_are_read_one_after_the_other(small_csv_pieces: None, tmp_path: Path) -> None:
    for number in range(4):
        rows = (
            [(number * 3000 + n) - (n % 1000 == 999), "NA" if n % 7 == 0 else 1, "x" * 90]
            for n in range(3000)
        )
        write_table(tmp_path / f"{number}.csv", ["id", "rating", "text"], rows)

    packed = pack(tmp_path / "*.csv", id="id", dtype={"rating": "integer"})

    assert [r["id"] for r in packed.records] == [n for n in range(12_000) if n % 1000 != 999]
    assert packed.plan.rejected["row"].tolist() == [1000, 2000, 3000] * 4
    assert [Path(f).name for f in packed.plan.rejected["file"]] == [
        f"{n}.csv" for n in range(4) for _ in range(3)
    ]


def prepared_of(path: Path, db: Database) -> Prepared:
    return prepare_any(path, "index", LoadSettings.of({"id": "id", "batch": 1000}), db)


def test_a_source_whose_rows_change_places_is_refused_before_they_are_sent(tmp_path: Path) -> None:
    names = [f"p{n - (n == 2500)}" for n in range(5000)]
    path = write_table(tmp_path / "t.csv", ["id", "n"], ([name, name[1:]] for name in names))

    with Database() as db:
        prepared = prepared_of(path, db)
        names[2500], names[3000] = names[3000], names[2500]
        write_table(path, ["id", "n"], ([name, name[1:]] for name in names))
        sent: list[Batch] = []
        with pytest.raises(BadInput, match="another order than when they were checked"):
            sent.extend(pack_batches(prepared))

    assert all(batch.span.last <= 2500 for batch in sent)


def test_a_resumed_load_refuses_other_rows_than_those_it_sent(tmp_path: Path) -> None:
    path = write_table(tmp_path / "t.csv", ["id", "n"], ([n, n] for n in range(10_000, 15_000)))

    with Database() as db:
        prepared = prepared_of(path, db)
        first, *_ = pack_batches(prepared)
        write_table(path, ["id", "n"], ([n, n] for n in range(15_000, 10_000, -1)))
        with pytest.raises(BadInput, match="load it again without resume=True"):
            list(pack_batches(prepared, [first.span], {first.span: first.digest}))


def digests(values: Sequence[int]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    return np.array(values, dtype=np.uint64)


@pytest.mark.parametrize(
    ("positions", "found", "passes"),
    [
        ([0, 1, 2, 3], [5, 6, 7, 8], True),
        ([0, 1, 2, 3], [5, 6, 8, 7], False),
        ([0, 2, 1, 3], [5, 6, 7, 8], False),
        ([1, 2, 3, 4], [5, 6, 7, 8], False),
    ],
    ids=["same", "another row", "another order", "a row missing"],
)
def test_rows_are_compared_with_marked_rows(
    positions: list[int], found: list[int], passes: bool
) -> None:
    marks = MarkedRows.of([(np.array([2], dtype=np.int64), digests([7]))])
    order = RowOrder("t.csv", marks, {})

    if passes:
        order.check(np.array(positions), digests(found))
    else:
        with pytest.raises(BadInput, match="another order"):
            order.check(np.array(positions), digests(found))


def test_sent_spans_are_compared_with_their_digests_over_several_chunks() -> None:
    values = digests(list(range(100, 120)))
    spans = {Span(3, 14): digest_of(values[3:14]), Span(15, 20): digest_of(values[15:20]) + 1}
    order = RowOrder("t.csv", MarkedRows.of([]), spans)

    for start in (0, 5, 10):
        order.check(np.arange(start, start + 5), values[start : start + 5])

    with pytest.raises(BadInput, match="sent before have changed or moved"):
        order.check(np.arange(15, 20), values[15:20])


@pytest.mark.slow
def test_no_query_that_writes_rows_joins_them(tmp_path: Path) -> None:
    """A join keeps no order of rows; DuckDB makes one of `IN` and of `list_contains`."""
    rows = [["NA" if n % 7 == 0 else n % 5, "yes", "x" * 90] for n in range(3000)]
    path = write_table(tmp_path / "t.csv", ["rating", "flag", "text"], iter(rows))
    kinds = [{}, {"rating": "integer", "flag": "boolean"}, {"rating": "number"}]

    for dtype in kinds:
        with Database() as db:
            prepared = prepare_any(path, "index", LoadSettings.of({"dtype": dtype}), db)
            plan = db.rows(f"EXPLAIN SELECT {prepared.operation} FROM {prepared.table.numbered}")

        assert "JOIN" not in str(plan).upper(), duckdb.__version__

"""Loads of increments by a cursor column or by files, compared with all rows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.errors import BadInput
from tests.conftest import Running
from tests.kill_points import run_killed


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def index() -> str:
    return f"increment-{uuid4().hex[:8]}"


def load(client: Client, source: Any, index: str, **options: Any) -> loading.LoadResult:
    options = {"id": "id", "replace_records": True, **options}
    return background_loop.run(loading.load(client.aio, source, index, **options))


def ids(client: Client, index: str) -> set[str]:
    return {hit["objectID"] for page in client.browse_pages(index) for hit in page["hits"]}


# Older pandas compares 1e20 with integers.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
def test_rows_at_and_beyond_the_cursor_are_sent(client: Client, index: str, tmp_path: Path) -> None:
    times = ["2024-01-05 10:00:00", "2024-01-31T09:00:00", "2024-02-01 00:00:00.5"]
    kinds: dict[str, list[Any]] = {
        "integers": [9, 10, 11], "numbers": [0.5, 9.25, 1e20], "times": times,
        "dates": ["2024-01-05", "2024-01-31", "2024-02-01"], "texts": ["a-1", "a-10", "a-2"],
        "large": [2**62 - 1, 2**62, 2**62 + 1],
    }  # fmt: skip
    for kind, (low, middle, high) in kinds.items():
        first = pd.DataFrame({"id": [1, 2, 3], "at": [low, middle, None]}, dtype=object)
        # Another row has the highest value, and one is older.
        rows = {"id": [1, 2, 3, 4, 5, 6], "at": [low, middle, None, middle, high, low]}
        second = pd.DataFrame(rows, dtype=object)
        if kind in ("times", "dates"):
            for frame in (first, second):
                frame["typed"] = pd.to_datetime(frame["at"], format="ISO8601")
        if kind == "large":
            first, second = (frame.astype({"at": "Int64"}) for frame in (first, second))
        for form in ("frame", "csv", "sql"):
            name, path = f"{index}-{kind}-{form}", tmp_path / f"{kind}.csv"
            column = "typed" if form == "frame" and "typed" in first else "at"
            counts = []
            for frame in (first, second, second):
                source: Any = frame.convert_dtypes() if form == "frame" else path
                frame.to_csv(path, index=False)
                if form == "sql":
                    source = f"SELECT * FROM read_csv_auto('{path}')"
                counts.append(load(client, source, name, cursor=column, timezone="UTC").sent)

            assert counts == [3, 4, 2], (kind, form)
            assert ids(client, name) == {"1", "2", "3", "4", "5"}
            listed = svc.loads(name, client=client)
            assert set(listed["cursor"]) == {column}
            assert (
                listed["cursor_value"][0] == listed["cursor_value"][1] != listed["cursor_value"][2]
            )


@pytest.mark.slow
def test_only_new_and_changed_files_are_read(client: Client, index: str, tmp_path: Path) -> None:
    chance, pattern = random.Random(5), f"{tmp_path}/part-*.csv"
    written: dict[int, int] = {}
    for step in range(5):
        changed = dict.fromkeys(chance.sample(range(12), step and 3), step)
        if not step:
            changed = dict.fromkeys(range(4), 0)
        for number, value in changed.items():
            (tmp_path / f"part-{number}.csv").write_text(f"id,n\n{number}a,{value}\n{number}b,1\n")
        written |= changed

        result = load(client, pattern, index, cursor="files")

        assert result.sent == 2 * len(changed)
        assert len(ids(client, index)) == 2 * len(written)
    assert load(client, pattern, index, cursor="files").sent == 0
    assert load(client, pattern, index, cursor="files", reset_cursor=True).sent == 2 * len(written)


@pytest.mark.slow
def test_an_undone_load_and_a_reset_move_the_cursor_back(client: Client, index: str) -> None:
    first, second = ({"id": number, "n": number} for number in (1, 2))
    load(client, [first], index, cursor="n")
    load(client, [first, second], index, cursor="n")
    svc.undo_load(str(svc.loads(index, client=client).loc[0, "load_id"]), client=client)

    assert load(client, [first, second], index, cursor="n", dry_run=True).plan.rows == 2
    assert load(client, [first, second], index, cursor="n").sent == 2
    assert load(client, [first, second], index, cursor="n").sent == 1
    assert load(client, [first, second], index, cursor="n", reset_cursor=True).sent == 2
    assert load(client, pd.DataFrame({"id": [], "n": []}), index, cursor="n").sent == 0
    assert load(client, [first, second], index, cursor="n").sent == 1


@pytest.mark.slow
def test_a_killed_increment_loses_nothing(
    service: Running, client: Client, index: str, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,n\n" + "".join(f"{key},{key // 7}\n" for key in range(500)))
    load(client, path, index, cursor="n")
    path.write_text("id,n\n" + "".join(f"{key},{key // 7}\n" for key in range(1500)))
    options = "id='id', cursor='n', batch=100, in_flight=1, replace_records=True"
    assert not run_killed(service, f"svc.load({str(path)!r}, {index!r}, {options})", 3, "after")

    result = load(client, path, index, cursor="n", batch=100, in_flight=1, resume=True)

    assert (result.resumed, result.sent) == (300, 1003)
    assert len(ids(client, index)) == 1500
    assert load(client, path, index, cursor="n").sent == 2


def test_options_that_lose_rows_are_refused(client: Client, index: str) -> None:
    rows = [{"id": "1", "n": 1, "deep": {"a": 1}}]
    load(client, rows, index, cursor="n")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"cursor": "m"}, "no column `m`"),
        ({"cursor": "n", "if_exists": "sync"}, "leaves rows out"),
        ({"cursor": "n", "limit": 1}, "`limit`"),
        ({"cursor": "n", "action": "update", "operations": {"n": "Increment"}}, "twice"),
        ({"cursor": "files"}, "of a pattern"),
        ({"reset_cursor": True}, "needs `cursor`"),
        ({"cursor": "deep"}, "cannot be a cursor"),
    ]
    for options, message in refused:
        with pytest.raises(BadInput, match=message):
            load(client, rows, index, **options)
    with pytest.raises(BadInput, match=r"has texts, but the last load ended at '1' \(numbers\)"):
        load(client, [{"id": "2", "n": "x"}], index, cursor="n")


@pytest.mark.slow
def test_columns_keep_their_types_over_increments(
    client: Client, index: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    increments = [
        [("A-1", "1.5", "true"), ("17", "2", "false")],
        [("18", "on request", "true"), ("19", "3", "maybe")],
        [("20", "4", "false")],
    ]
    results = []
    for number, rows in enumerate(increments):
        lines = [f"{number}{n},{number},{','.join(row)}" for n, row in enumerate(rows)]
        path.write_text("\n".join(["id,at,code,price,new", *lines, ""]))
        results.append(load(client, path, index, cursor="at"))

    records = [hit for page in client.browse_pages(index) for hit in page["hits"]]

    assert [result.rejected_rows for result in results] == [0, 2, 0]
    noted = [any("corrected is sent if its `at` rises" in n for n in r.notes) for r in results]
    assert noted == [False, True, False]
    assert {type(record["code"]) for record in records} == {str}
    assert {type(record["new"]) for record in records} == {bool}
    assert {type(record["price"]) for record in records} <= {int, float}


def test_a_row_above_the_limit_of_records_is_rejected_and_sent_when_its_cursor_rises(
    client: Client, index: str
) -> None:
    rows: list[dict[str, Any]] = [{"id": "a", "at": 1}, {"id": "b", "at": 2, "text": "x" * 800_000}]

    first = load(client, rows, index, cursor="at")
    rows[1] = {"id": "b", "at": 1, "text": "short"}
    second = load(client, rows, index, cursor="at")
    rows[1]["at"] = 3
    third = load(client, rows, index, cursor="at")

    assert (first.published, first.rejected_rows) == (1, 1)
    assert any("corrected is sent if its `at` rises" in note for note in first.notes)
    assert (second.sent, third.published) == (0, 1)
    assert ids(client, index) == {"a", "b"}

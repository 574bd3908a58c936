"""Indices that are kept in step with a source, compared with an oracle."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.data.loading.sending import stored_records
from svc_notebook.data.loading.sending.stored_records import StoredRecords, read_stored
from svc_notebook.errors import BadInput
from tests.conftest import Running


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def index() -> str:
    return f"sync-{uuid4().hex[:8]}"


def sync(client: Client, source: Any, index: str, **options: Any) -> loading.LoadResult:
    options = {"if_exists": "sync", "id": "id", **options}
    return background_loop.run(loading.load(client.aio, source, index, **options))


def stored(client: Client, index: str) -> dict[str, Any]:
    pages = client.browse_pages(index)
    return {hit["objectID"]: hit for page in pages for hit in page["hits"]}


def rows_of(numbers: dict[int, int]) -> list[dict[str, Any]]:
    return [{"id": str(key), "n": value, "t": "é" * (key % 3)} for key, value in numbers.items()]


def records_of(numbers: dict[int, int]) -> dict[str, Any]:
    return {row["id"]: {"objectID": row["id"], **row} for row in rows_of(numbers)}


def test_new_changed_and_vanished_rows_are_those_of_an_oracle(client: Client, index: str) -> None:
    chance = random.Random(7)
    before: dict[int, int] = {}
    for _ in range(6):
        after = {
            key: before.get(key, 0) if chance.random() < 0.6 else chance.randint(0, 3)
            for key in chance.sample(range(60), chance.randint(20, 50))
        }
        same = {key for key in before.keys() & after.keys() if before[key] == after[key]}
        expected = (len(after) - len(same), len(same), len(before.keys() - after.keys()))

        plan = sync(client, rows_of(after), index, dry_run=True, batch=7).plan
        result = sync(client, rows_of(after), index, batch=7)

        assert (result.sent, result.unchanged, result.deleted) == expected
        assert stored(client, index) == records_of(after)
        assert plan.difference
        assert plan.difference.operations == expected[0] + expected[2]
        assert plan.difference.vanished == expected[2]
        before = after


def test_a_dry_run_shows_changes_by_column_and_sends_nothing(client: Client, index: str) -> None:
    sync(client, rows_of({1: 1, 2: 2, 3: 3}), index)

    plan = sync(client, rows_of({1: 1, 2: 5, 4: 4}), index, dry_run=True).plan

    assert plan.difference
    assert plan.difference.columns.values.tolist() == [["n", 1, "2: 2 → 5"]]
    assert "1 new, 1 changed, 1 unchanged, 1 to delete; 3 operations" in repr(plan)
    assert stored(client, index) == records_of({1: 1, 2: 2, 3: 3})


def test_deletions_are_guarded(client: Client, index: str) -> None:
    many = dict.fromkeys(range(1200), 1)
    sync(client, rows_of(many), index)

    refused: list[tuple[Any, dict[str, Any], str]] = [
        (rows_of({1: 1}), {}, "1,200 records and would have 1; it is unchanged"),
        ([], {}, "no rows"),
        (rows_of(many), {"limit": 5}, "omit"),
        (rows_of(many), {"resume": True}, "resume"),
        (rows_of(many), {"action": "update"}, "compares whole records"),
    ]
    for source, options, message in refused:
        frame = pd.DataFrame(source, columns=["id", "n", "t"])
        with pytest.raises(BadInput, match=message):
            sync(client, frame, index, **options)
    assert stored(client, index) == records_of(many)


def test_a_rejected_row_keeps_its_record(client: Client, index: str) -> None:
    sync(client, rows_of({1: 1, 2: 2, 3: 3}), index)
    frame = pd.DataFrame(
        {"id": ["1", "2", "4"], "n": [7.0, float("inf"), 4], "t": ["é", "éé", "é"]}
    )

    kept = sync(client, frame, index)

    assert (kept.sent, kept.rejected_rows, kept.deleted) == (2, 1, 0)
    assert any("no record was deleted" in note for note in kept.notes)
    assert stored(client, index).keys() == {"1", "2", "3", "4"}
    assert sync(client, frame, index, min_share=0).deleted == 2


@pytest.mark.slow
def test_a_killed_sync_is_completed_by_another(
    service: Running, client: Client, index: str, tmp_path: Path
) -> None:
    sync(client, rows_of(dict.fromkeys(range(4000), 1)), index)
    after = dict.fromkeys(range(1500, 6000), 2)
    path = tmp_path / "a.ndjson"
    pd.DataFrame(rows_of(after)).to_json(path, orient="records", lines=True)
    key = service.adminKey
    code = (
        "import svc_notebook as svc\n"
        f"svc.connect(url={service.url!r}, app_id={service.appId!r}, api_key={key!r})\n"
        "print('ready', flush=True)\n"
        f"svc.load({str(path)!r}, {index!r}, id='id', if_exists='sync', batch=50, in_flight=1)\n"
    )
    for seconds in (0.4, 0.9, 1.6):
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )  # fmt: skip
        assert process.stdout
        process.stdout.readline()
        time.sleep(seconds)
        process.kill()
        process.wait()
        process.stdout.close()
        assert len(stored(client, index)) >= 4000

    sync(client, path, index)

    assert stored(client, index) == records_of(after)


def test_hashes_of_the_last_load_replace_reading_the_index(
    client: Client, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_stored
    reads: list[str] = []

    async def counted(*args: Any, **options: Any) -> StoredRecords:
        reads.append("read")
        return await read(*args, **options)

    monkeypatch.setattr(stored_records, "read_stored", counted)
    chance = random.Random(8)
    for step in range(8):
        numbers = {key: chance.randint(0, 1) for key in chance.sample(range(60), 40)}
        if step == 4:  # a load without hashes, which they do not know
            background_loop.run(loading.push(client.aio, rows_of({99: 1}), index, id="id"))
        if step == 6:  # others change the number of records
            client.wait(dict(client.delete_object(index, next(iter(stored(client, index))))))

        sync(client, rows_of(numbers), index, batch=7, compare_with="hashes")

        assert stored(client, index) == records_of(numbers)
    assert len(reads) == 3
    for options in ({"compare_with": "x"}, {"compare_with": "hashes", "if_exists": "append"}):
        with pytest.raises(BadInput, match="`compare_with`"):
            sync(client, rows_of({1: 1}), index, **options)


def test_a_rate_limits_the_rows_of_a_second(client: Client, index: str) -> None:
    started = time.monotonic()

    result = sync(client, rows_of(dict.fromkeys(range(30), 1)), index, per_second=20)

    assert (result.published, len(result.tasks)) == (30, 2)
    assert time.monotonic() - started >= 1
    with pytest.raises(BadInput, match="`per_second` must be a whole number"):
        sync(client, rows_of({1: 1}), index, per_second=0)


def test_a_stored_record_is_matched_whatever_characters_its_id_has() -> None:
    ids = ["a\0b", "é", "e\u0301", 'q"x', "\\", "1", "\u2028", "😀", "tab\t", " a", "A"]
    records = StoredRecords()
    records.add([{"objectID": name} for name in ids])

    assert records.take(ids[:-1]).keys() == {*ids[:-1]}
    assert [*records.read_vanished()] == [["A"]]
    records.close()

"""The journal of loads and their undo, compared with an oracle, also after kills."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.data.loading.history import journal
from svc_notebook.data.loading.history.journal import LoadJournal
from svc_notebook.data.session.connection import make_client
from svc_notebook.errors import BadInput, SvcError
from tests.conftest import Running
from tests.kill_points import run_killed

Records = dict[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def index() -> str:
    return f"history-{uuid4().hex[:8]}"


def load(client: Client, source: Any, index: str, **options: Any) -> str:
    options = {"id": "id", "replace_records": True, **options}
    background_loop.run(loading.load(client.aio, source, index, **options))
    return newest(client, index)


def newest(client: Client, index: str) -> str:
    return str(svc.loads(index, client=client).loc[0, "load_id"])


def undo(client: Client, load_id: str, **options: Any) -> dict[str, Any]:
    return dict(svc.undo_load(load_id, client=client, **options))


def stored(client: Client, index: str) -> Records:
    pages = client.browse_pages(index)
    return {hit["objectID"]: hit for page in pages for hit in page["hits"]}


def rows_of(numbers: dict[int, int]) -> list[dict[str, Any]]:
    return [
        {"id": f"{key}", "n": value, "t": ["é", None][key % 2]} for key, value in numbers.items()
    ]


@pytest.mark.slow
def test_every_kind_of_load_is_undone(client: Client, index: str) -> None:
    chance = random.Random(3)
    kinds: list[tuple[dict[str, Any], Callable[[int], dict[str, Any]]]] = [
        ({"if_exists": "append"}, lambda key: {"id": key, "n": chance.randint(0, 2)}),
        ({"if_exists": "merge"}, lambda key: {"id": key, "n": chance.randint(0, 2)}),
        ({"if_exists": "sync", "min_share": 0}, lambda key: {"id": key, "n": key % 3}),
        ({"if_exists": "replace"}, lambda key: {"id": key, "m": 1.5}),
        ({"action": "update"}, lambda key: {"id": key, "extra": {"a": [key]}}),
        ({"action": "update_existing"}, lambda key: {"id": key, "n": None}),
        ({"action": "update", "operations": {"n": "Increment"}}, lambda key: {"id": key, "n": 2}),
        ({"action": "delete"}, lambda key: {"id": key}),
        ({"duplicates": "keep"}, lambda key: {"id": key % 20, "n": key}),
        ({"if_exists": "replace", "undo_rows": 100}, lambda key: {"id": key, "n": key}),
    ]
    for number, (options, row) in enumerate([*kinds, *reversed(kinds)]):
        before = stored(client, index) if number else {}
        keys = chance.sample(range(90), chance.randint(30, 60))

        load_id = load(client, [row(key) for key in keys], index, batch=17, **options)
        after = stored(client, index)
        preview = undo(client, load_id, dry_run=True)
        assert stored(client, index) == after
        summary = undo(client, load_id)

        assert stored(client, index) == before, options
        assert preview["conflicts"] == []
        changed = {key for key in before | after if before.get(key) != after.get(key)}
        assert summary["restored"] + summary["deleted"] == len(changed)
        with pytest.raises(BadInput, match="was undone already"):
            undo(client, load_id)
        load(client, rows_of({key: key for key in keys[:40]}), index)


def test_loads_lists_what_was_done(client: Client, index: str, tmp_path: Path) -> None:
    path = tmp_path / "films.csv"
    path.write_text("id,n\n1,1\n1,2\n2,3\n,4\n")
    load(client, path, index, duplicates="last")
    load(client, f"SELECT * FROM '{path}' WHERE 'password=geheim' <> ''", index, limit=2)

    listed = svc.loads(index, client=client)

    row = listed.loc[1]
    counts = ["rows", "sent", "published", "rejected", "dropped", "unchanged", "deleted"]
    assert [row[name] for name in counts] == [4, 2, 2, 1, 1, 0, 0]
    assert (row["source"], row["state"], row["undo"]) == (str(path), "finished", "possible")
    assert row["plan"] == {
        "id": "id", "duplicates": "last", "replace_records": True,
    }  # fmt: skip
    assert len(row["source_hash"]) == 64
    assert row["application"] == client.connection.app_id
    assert str(listed.dtypes["when"]) == "datetime64[us, UTC]"
    assert "geheim" not in listed.to_csv()
    assert svc.loads("other", client=client).dtypes.to_dict() == listed.dtypes.to_dict()


def test_a_load_with_advice_is_listed(client: Client, index: str) -> None:
    rows = [{"code": "a", "n": 1}, {"code": "b", "n": 2}]

    plan = background_loop.run(loading.load(client.aio, rows, index)).plan

    assert plan.advice
    assert svc.loads(index, client=client).loc[0, "decisions"] == list(plan.notes)


def test_records_that_changed_since_are_not_overwritten(client: Client, index: str) -> None:
    load(client, rows_of(dict.fromkeys(range(30), 1)), index)
    load_id = load(client, rows_of(dict.fromkeys(range(20, 50), 2)), index)
    load(client, rows_of(dict.fromkeys(range(45, 48), 3)), index)
    before = stored(client, index)

    with pytest.raises(BadInput, match=r"3 records have changed .*\(45, 46, 47\)"):
        undo(client, load_id)

    assert stored(client, index) == before
    assert undo(client, load_id, dry_run=True)["conflicts"] == ["45", "46", "47"]
    undo(client, load_id, force=True)
    assert {key: row["n"] for key, row in stored(client, index).items()} == {
        str(key): 1 for key in range(30)
    }


def test_what_cannot_be_undone_is_said(client: Client, index: str) -> None:
    frame = pd.DataFrame(rows_of(dict.fromkeys(range(30), 1)))
    cases = {
        "undo_rows=0 kept nothing": load(client, frame, index, undo_rows=0),
        "changes more than 10 records": load(client, frame, index, undo_rows=10),
        "changes more than 29 records": load(
            client, frame[:5], index, undo_rows=29, if_exists="replace"
        ),
    }
    for reason, load_id in cases.items():
        with pytest.raises(BadInput, match=reason):
            undo(client, load_id)
    with pytest.raises(BadInput, match=r"no load `none`; `svc\.loads` lists them"):
        undo(client, "none")
    with pytest.raises(BadInput, match="`undo_rows` must be a whole number"):
        load(client, frame, index, undo_rows=-1)


def test_a_key_that_does_not_read_all_attributes_keeps_nothing(
    service: Running, client: Client, index: str
) -> None:
    load(client, rows_of({1: 1}), index)
    settings: Any = {"unretrievableAttributes": ["n"]}
    client.wait(dict(client.set_settings(index, settings)), index=index)
    key = client.add_key(acl=["addObject", "search", "settings", "browse"])["key"]
    limited = make_client(None, url=service.url, app_id=service.appId, api_key=key)
    load(limited, rows_of({1: 2}), index)

    assert "may not read whole records" in str(svc.loads(index, client=client).loc[0, "undo"])


def test_a_load_does_not_fail_because_of_its_record(
    client: Client, index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))

    with pytest.warns(
        UserWarning, match=f"{index} cannot be undone: the journal .*set XDG_DATA_HOME to"
    ):
        background_loop.run(loading.load(client.aio, rows_of({1: 1}), index, id="id"))

    assert stored(client, index).keys() == {"1"}


def test_a_killed_load_and_a_killed_undo_are_taken_back(
    service: Running, client: Client, index: str, tmp_path: Path
) -> None:
    before = {f"{key}": {"objectID": f"{key}", "n": 1} for key in range(2500)}
    load(client, [{"id": key, "n": 1} for key in before], index)
    first = stored(client, index)
    path = tmp_path / "rows.csv"
    path.write_text("id,n\n" + "".join(f"{key},2\n" for key in range(1000, 4000)))
    call = (
        f"svc.load({str(path)!r}, {index!r}, id='id', if_exists='sync', "
        "replace_records=True, batch=400, in_flight=1)"
    )
    assert not run_killed(service, call, 4, "after")
    load_id = newest(client, index)
    assert svc.loads(index, client=client)["state"][0] == "interrupted"
    assert not run_killed(service, f"svc.undo_load({load_id!r})", 0, "after")
    listed = svc.loads(index, client=client)
    assert (listed["action"][0], listed["state"][0]) == ("undo", "interrupted")

    undo(client, load_id)

    assert stored(client, index) == first
    states = svc.loads(index, client=client).set_index("load_id")["state"]
    assert states[[load_id, f"{load_id}-undo"]].tolist() == ["undone", "finished"]


def test_a_resumed_load_is_undone_as_one(
    service: Running, client: Client, index: str, tmp_path: Path
) -> None:
    load(client, rows_of(dict.fromkeys(range(300), 1)), index)
    first = stored(client, index)
    path = tmp_path / "rows.csv"
    path.write_text("id,n,t\n" + "".join(f"{key},2,x\n" for key in range(200, 900)))
    options = "id='id', replace_records=True, batch=100, in_flight=1"
    assert not run_killed(service, f"svc.load({str(path)!r}, {index!r}, {options})", 3, "after")
    killed = newest(client, index)

    load_id = load(client, path, index, batch=100, in_flight=1, resume=True)

    assert load_id == killed
    undo(client, load_id)
    assert stored(client, index) == first


def test_old_versions_make_room(
    client: Client, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, size in (("MAX_TOTAL_BYTES", 3000), ("MAX_LOAD_BYTES", 1500)):
        monkeypatch.setattr(journal, name, size)
    first = load(client, rows_of({1: 1}), index)
    for number in range(3, 8):
        load(client, rows_of(dict.fromkeys(range(20), number)), index, undo_rows=100)
    too_large = load(client, rows_of(dict.fromkeys(range(90), 9)), index)

    for load_id, reason in ((first, "to make room"), (too_large, "too much space")):
        with pytest.raises(SvcError, match=reason):
            undo(client, load_id)
    folder = LoadJournal.of(client.connection).versions_path("a").parent
    assert sum(file.stat().st_size for file in folder.glob("*.jsonl")) <= 3000


def test_pushed_and_replaced_records_are_listed_and_undone(client: Client, index: str) -> None:
    svc.push(pd.DataFrame(rows_of({1: 1, 2: 2})), index, id="id", client=client)
    before = stored(client, index)
    svc.replace_records(index, rows_of({2: 5, 3: 3}), id="id", client=client)

    replaced, pushed = svc.loads(index, client=client).itertuples()

    assert (replaced.if_exists, pushed.if_exists) == ("replace", "append")
    assert (replaced.undo, pushed.undo) == ("possible", "possible")
    undo(client, str(replaced.load_id))
    assert stored(client, index) == before
    undo(client, str(pushed.load_id))
    assert stored(client, index) == {}


def test_the_journal_keeps_the_newest_loads(
    client: Client, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "MAX_JOURNAL_BYTES", 6_000)
    frame = pd.DataFrame({"id": [1], "at": [1]})
    load(client, frame, index, cursor="at", undo_rows=0)
    increment = newest(client, index)
    ids = [load(client, frame, index) for _ in range(15)]

    listed = [*svc.loads(index, client=client)["load_id"]]

    path = LoadJournal.of(client.connection).path
    assert path.stat().st_size <= 6_000
    assert listed[0] == ids[-1]
    assert listed[-1] == increment
    assert ids[0] not in listed
    assert not LoadJournal.of(client.connection).versions_path(ids[0]).exists()
    undo(client, ids[-1])

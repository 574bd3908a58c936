"""Loads of files and DataFrames, on a real service."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import AsyncClient, Client, ClientConfig, Secret, background_loop
from svc_notebook.errors import BadInput, KeyRefused, Stopped, SvcError, Unreachable
from tests.conftest import ROOT, Running

FILMS = pd.DataFrame({"id": ["1", "2", "3"], "title": ["Jaws", None, "Alien"], "n": [1, 2, 3]})


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    return folder


@pytest.fixture
def client(service: Running) -> Iterator[Client]:
    with Client(connection(service)) as client:
        yield client


@pytest.fixture
def index() -> str:
    return f"bulk-{uuid4().hex[:8]}"


def connection(service: Running, key: str | None = None) -> ClientConfig:
    return ClientConfig(
        url=service.url, app_id=service.appId, api_key=Secret(key or service.adminKey)
    )


def load(client: Client, *args: Any, **options: Any) -> loading.LoadResult:
    return background_loop.run(loading.load(client.aio, *args, **options))


def stored(client: Client, index: str) -> list[dict[str, Any]]:
    records = [hit for page in client.browse_pages(index) for hit in page["hits"]]
    return sorted(records, key=lambda record: str(record["objectID"]))


def table(path: Path, rows: int) -> Path:
    lines = (f"{n:06d},film {n},{n / 4},{n % 2 == 0}\n" for n in range(rows))
    path.write_text(
        "id,title,score,seen\n" + "".join(lines).replace("True", "true").replace("False", "false")
    )
    return path


def test_every_row_of_a_file_is_in_the_index_once_the_load_returns(
    client: Client, index: str, tmp_path: Path
) -> None:
    told: list[tuple[int, int]] = []

    result = load(
        client, table(tmp_path / "films.csv", 2500), index, batch=1000,
        on_progress=lambda done, total: told.append((done, total)),
    )  # fmt: skip

    records = stored(client, index)
    assert len(records) == 2500
    assert records[7] == {
        "objectID": "000007",
        "id": "000007",
        "title": "film 7",
        "score": 1.75,
        "seen": False,
    }
    assert (result.sent, result.published, len(result.tasks)) == (2500, 2500, 3)
    assert result.complete
    assert told[0] == (0, 2500)
    assert told[-1] == (2500, 2500)


def test_a_frame_that_is_pushed_comes_back_equal(client: Client, index: str) -> None:
    background_loop.run(loading.push(client.aio, FILMS, index, id="id"))

    assert stored(client, index) == [
        {"objectID": "1", "id": "1", "title": "Jaws", "n": 1},
        {"objectID": "2", "id": "2", "n": 2},
        {"objectID": "3", "id": "3", "title": "Alien", "n": 3},
    ]


def test_pushing_twice_changes_nothing(client: Client, index: str) -> None:
    background_loop.run(loading.push(client.aio, FILMS.drop(columns="id"), index))
    with pytest.warns(UserWarning, match="already has 3 records"):
        background_loop.run(loading.push(client.aio, FILMS.drop(columns="id"), index))

    assert len(stored(client, index)) == 3


def test_unsendable_rows_are_reported_and_the_others_are_stored(
    client: Client, index: str, tmp_path: Path
) -> None:
    path = tmp_path / "films.csv"
    path.write_text("id,title\n1,Jaws\n,Alien\n3,Heat,1995\n4,Up\n")

    result = load(client, path, index, id="id")

    assert [record["objectID"] for record in stored(client, index)] == ["1", "3", "4"]
    assert result.rejected["row"].tolist() == [2]
    assert not result.complete
    assert "1 rejected" in repr(result)
    assert "has no id" in result._repr_html_()


def test_a_partial_update_keeps_what_it_does_not_name(client: Client, index: str) -> None:
    load(client, FILMS, index, id="id")

    change = pd.DataFrame({"id": ["1", "9"], "n": [10, 90]})
    load(
        client,
        change,
        index,
        id="id",
        columns=["n"],
        action="update",
        operations={"n": "Increment"},
    )
    load(client, change, index, id="id", columns=["n"], action="update_existing")

    records = {record["objectID"]: record for record in stored(client, index)}
    assert records["1"] == {"objectID": "1", "id": "1", "title": "Jaws", "n": 10}
    assert records["9"]["n"] == 90


def test_rows_are_deleted_by_their_ids(client: Client, index: str) -> None:
    load(client, FILMS, index, id="id")

    load(client, FILMS.head(2), index, id="id", action="delete")

    assert [record["objectID"] for record in stored(client, index)] == ["3"]


def test_rows_of_one_id_are_applied_in_their_order(client: Client, index: str) -> None:
    frame = pd.DataFrame({"id": ["a"] * 500, "n": range(500)})

    load(client, frame, index, id="id", duplicates="keep", batch=20)

    assert [record["n"] for record in stored(client, index)] == [499]


def test_a_dry_run_sends_nothing(client: Client, index: str) -> None:
    result = load(client, FILMS, index, id="id", dry_run=True)

    assert (result.sent, result.plan.sendable) == (0, 3)
    assert not client.index_exists(index)


def test_a_dry_run_shows_the_plan(client: Client, index: str) -> None:
    result = svc.load(FILMS, index, id="id", dry_run=True, client=client)

    assert repr(result) == f"dry run: nothing was sent\n{result.plan!r}"
    assert result.plan._repr_html_() in result._repr_html_()
    assert "0 sent" not in repr(result) + result._repr_html_()


def test_an_index_that_exists_can_be_refused(client: Client, index: str) -> None:
    load(client, FILMS, index, if_exists="fail")

    with pytest.raises(BadInput, match="if_exists='append'"):
        load(client, FILMS, index, if_exists="fail")


def test_replacing_keeps_the_settings_and_leaves_nothing_else(client: Client, index: str) -> None:
    load(client, FILMS, index, id="id")
    client.wait(dict(client.set_settings(index, {"hitsPerPage": 7})), index=index)

    load(client, FILMS.tail(1), index, id="id", if_exists="replace")

    assert [record["objectID"] for record in stored(client, index)] == ["3"]
    assert client.get_settings(index)["hitsPerPage"] == 7
    names = [entry["name"] for entry in client.list_indices()["items"]]
    assert [name for name in names if name.startswith(index)] == [index]


def test_an_index_that_is_not_there_can_be_replaced(client: Client, index: str) -> None:
    load(client, FILMS, index, id="id", if_exists="replace")

    assert len(stored(client, index)) == 3


def test_a_merge_sends_only_what_changed(client: Client, index: str) -> None:
    load(client, FILMS, index, id="id")
    changed = pd.concat([FILMS.replace("Jaws", "Jaws 2"), FILMS.head(1).assign(id="4")])

    result = load(client, changed, index, id="id", if_exists="merge")

    assert (result.sent, result.unchanged, result.complete) == (2, 2, True)
    assert "2 unchanged" in repr(result)
    assert [record.get("title") for record in stored(client, index)] == [
        "Jaws 2", None, "Alien", "Jaws",
    ]  # fmt: skip


def test_a_merge_of_what_is_stored_sends_nothing(
    client: Client, index: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "films.csv", 500)
    load(client, path, index)

    result = load(client, path, index, if_exists="merge", batch=100)

    assert (result.sent, result.unchanged, result.tasks) == (0, 500, ())


def test_an_update_cannot_be_merged(client: Client, index: str) -> None:
    with pytest.raises(BadInput, match="compares whole records"):
        load(client, FILMS, index, id="id", action="update", if_exists="merge")


def test_a_source_without_rows_does_not_replace_an_index(client: Client, index: str) -> None:
    load(client, FILMS, index, id="id")

    with pytest.raises(BadInput, match="no rows to replace"):
        load(client, FILMS.head(0), index, id="id", if_exists="replace")

    assert len(stored(client, index)) == 3


def test_unsendable_rows_do_not_replace_an_index_and_the_first_is_reported(
    client: Client, index: str
) -> None:
    load(client, FILMS, index, id="id")

    with pytest.raises(BadInput, match=r"is unchanged: row 1, column `cut` is bytes"):
        load(client, FILMS.assign(cut=b"x"), index, id="id", if_exists="replace")

    assert len(stored(client, index)) == 3


def test_an_index_is_not_replaced_by_less_than_half_if_rows_are_rejected(
    client: Client, index: str
) -> None:
    load(client, FILMS, index, id="id")
    broken = FILMS.assign(n=[1.0, float("inf"), float("inf")])

    with pytest.raises(BadInput, match=r"has 3 records and would have 1, as 2 rows .*row 2, col"):
        load(client, broken, index, id="id", if_exists="replace")

    assert len(stored(client, index)) == 3
    load(client, broken.tail(2).assign(n=[1, float("inf")]), f"{index}-2", id="id")
    load(client, broken.head(2), f"{index}-2", id="id", if_exists="replace")
    assert [record["objectID"] for record in stored(client, f"{index}-2")] == ["1"]


def test_a_source_without_rows_loads_nothing(client: Client, index: str) -> None:
    result = load(client, FILMS.head(0), index, id="id")

    assert (result.sent, result.published, result.complete) == (0, 0, True)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"if_exists": "repalce"}, "did you mean `replace`"),
        ({"resume": True}, "only a load of files"),
        ({"in_flight": 0}, "from 1 to 1,024"),
        ({"bach": 1}, "did you mean `batch`"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_sent(
    client: Client, index: str, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        load(client, FILMS, index, **options)

    assert not client.index_exists(index)


def test_a_missing_right_is_reported(service: Running, index: str) -> None:
    with (
        Client(connection(service, service.searchKey)) as client,
        pytest.raises(KeyRefused) as caught,
    ):
        load(client, FILMS, index)

    assert "0 of 3 rows were sent" in caught.value.__notes__[0]


@pytest.mark.slow
def test_a_stopped_load_reports_what_was_sent(
    service: Running, client: Client, index: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "films.csv", 30_000)

    async def stopped_on_the_way() -> Stopped:
        twin, enough = AsyncClient(connection(service)), asyncio.Event()

        def tell(done: int, _: int) -> None:
            if done >= 5000:
                enough.set()

        work = asyncio.create_task(
            guarded(loading.load(twin, path, index, batch=500, on_progress=tell))
        )
        await enough.wait()
        work.cancel()
        return await work

    async def guarded(work: Any) -> Stopped:
        with pytest.raises(Stopped) as caught:
            await work
        return caught.value

    stopped = background_loop.run(stopped_on_the_way())

    assert isinstance(stopped.result, loading.LoadResult)
    assert 5000 <= stopped.result.sent < 30_000
    assert f"{stopped.result.sent:,} of 30,000 rows were sent" in str(stopped)
    # Batches that were in flight are counted, so that no more records appear afterwards.
    published = f"{stopped.result.published:,} published"
    assert f"to {index}, {published}" in str(stopped) or f"at least {published}" in str(stopped)
    client.wait(list(stopped.result.tasks), index=index)
    missing = len(stored(client, index)) - stopped.result.sent
    assert missing == 0 or f"; {missing:,} more may be stored" in str(stopped)

    result = load(client, path, index, batch=500, resume=True)

    assert result.resumed == stopped.result.sent
    assert result.published == 30_000
    assert len(stored(client, index)) == 30_000


LOADER = """
import asyncio, sys
from svc_notebook.data import loading as bulk
from svc_notebook.data.client import AsyncClient, ClientConfig, Secret
url, app, key, path, index, choice = sys.argv[1:]
client = AsyncClient(ClientConfig(url=url, app_id=app, api_key=Secret(key)))
tell = lambda done, total: print(done, flush=True)
asyncio.run(bulk.load(client, path, index, batch=500, if_exists=choice, on_progress=tell))
"""


@pytest.mark.slow
@pytest.mark.parametrize("choice", ["append", "replace"])
def test_a_killed_load_is_resumed(
    service: Running, client: Client, index: str, tmp_path: Path, choice: str
) -> None:
    path = table(tmp_path / "films.csv", 20_000)
    command = [
        sys.executable,
        "-c",
        LOADER,
        service.url,
        service.appId,
        service.adminKey,
        str(path),
        index,
        choice,
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as loader:  # fmt: skip
        assert loader.stdout
        while int(loader.stdout.readline()) < 4000:
            pass
        loader.send_signal(signal.SIGKILL)

    result = load(client, path, index, batch=500, if_exists=choice, resume=True)

    assert 4000 <= result.resumed < 20_000
    assert result.published == 20_000
    ids = [record["objectID"] for record in stored(client, index)]
    assert ids == [f"{n:06d}" for n in range(20_000)]
    names = [entry["name"] for entry in client.list_indices()["items"]]
    assert [name for name in names if name.startswith(index)] == [index]


def test_an_interrupt_ends_the_reading_of_a_source(client: Client, index: str) -> None:
    rows = "range(100000) t(i), range(100000) u(j)"
    endless = f"SELECT i AS id, md5(i::VARCHAR || j::VARCHAR) AS x FROM {rows}"

    async def stopped_early() -> None:
        work = asyncio.create_task(loading.load(client.aio, endless, index, id="id"))
        await asyncio.sleep(0.3)
        work.cancel()
        with pytest.raises(Stopped, match="nothing was sent"):
            await work

    background_loop.run(stopped_early())


STOPPED = """
import os, signal, sys
from svc_notebook.data import loading as bulk
from svc_notebook.data.client import AsyncClient, ClientConfig, Secret, background_loop as portal
from svc_notebook.errors import Stopped
url, app, key, path, index = sys.argv[1:]
client = AsyncClient(ClientConfig(url=url, app_id=app, api_key=Secret(key)))
interrupted = []
def tell(done, total):
    if done and not interrupted:
        interrupted.append(done)
        os.kill(os.getpid(), signal.SIGINT)
try:
    portal.run(bulk.load(client, path, index, batch=200, on_progress=tell))
except Stopped as stopped:
    print(stopped.result.sent)
# The portal works as before.
print("items" in portal.run(client.list_indices()))
"""


@pytest.mark.slow
def test_an_interrupt_of_a_blocking_load_reports_what_was_sent(
    service: Running, index: str, tmp_path: Path
) -> None:
    path = table(tmp_path / "films.csv", 30_000)
    command = [sys.executable, "-c", STOPPED, service.url, service.appId, service.adminKey]

    done = subprocess.run(
        [*command, str(path), index], capture_output=True, text=True, check=True, cwd=ROOT
    )

    sent, works = done.stdout.split()
    assert 200 <= int(sent) < 30_000
    assert works == "True"


@pytest.mark.slow
def test_memory_stays_flat_while_files_grow(service: Running, tmp_path: Path) -> None:
    """A loader of ten times the rows holds hardly more."""
    peaks = [peak_of(service, table(tmp_path / f"{rows}.csv", rows)) for rows in (20_000, 200_000)]

    assert peaks[1] < peaks[0] * 1.5


def peak_of(service: Running, path: Path) -> int:
    program = (
        "import json, resource, sys\n"
        "from svc_notebook.data.loading.sending.batches import pack_batches\n"
        "from svc_notebook.data.loading.database import Database\n"
        "from svc_notebook.data.loading.options import LoadSettings\n"
        "from svc_notebook.data.loading.load_plan.preparation import prepare\n"
        "with Database() as db:\n"
        "    prepared = prepare(sys.argv[1], 'i', LoadSettings(), db)\n"
        "    rows = sum(batch.rows for batch in pack_batches(prepared))\n"
        "print(json.dumps([rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    rows, peak = json.loads(done.stdout)
    assert rows == int(path.stem)
    return int(peak)


def test_a_path_is_not_pushed_but_loaded(client: Client, index: str) -> None:
    with pytest.raises(BadInput, match=r"not a DataFrame; svc.load"):
        background_loop.run(loading.push(client.aio, "films.csv", index))  # type: ignore[arg-type]


def test_a_large_index_is_not_replaced_by_a_few_rows(client: Client, index: str) -> None:
    many = pd.DataFrame({"id": range(1000)})
    load(client, many, index, id="id")

    with pytest.raises(BadInput, match="has 1,000 records and would have 499; it is unchanged"):
        load(client, many[:499], index, id="id", if_exists="replace")
    load(client, many[:500], index, id="id", if_exists="replace")

    # Fewer than 1,000 are replaced by any number, and others if that is wanted.
    assert load(client, many[:5], index, id="id", if_exists="replace").published == 5
    load(client, many, index, id="id")
    assert load(client, many[:1], index, id="id", if_exists="replace", min_share=0).published == 1


@pytest.mark.parametrize(("rows", "share", "done"), [(2, 0.9, False), (2, 0.5, True), (3, 1, True)])
def test_an_index_is_not_replaced_by_less_than_min_share(
    client: Client, index: str, rows: int, share: float, done: bool
) -> None:
    load(client, FILMS, index, id="id")
    films = FILMS.head(rows).assign(title="another")

    if done:
        load(client, films, index, id="id", if_exists="replace", min_share=share)
    else:
        with pytest.raises(BadInput, match=r"has 3 records and would have 2; it is unchanged"):
            load(client, films, index, id="id", if_exists="replace", min_share=share)

    found = stored(client, index)
    assert (len(found), found[0]["title"]) == ((rows, "another") if done else (3, "Jaws"))


@pytest.mark.parametrize(
    ("share", "if_exists"), [(2, "replace"), (-1, "replace"), (True, "replace"), (0.5, "append")]
)
def test_an_invalid_share_is_refused(
    client: Client, index: str, share: Any, if_exists: str
) -> None:
    with pytest.raises(BadInput, match="`min_share` "):
        load(client, FILMS, index, id="id", if_exists=if_exists, min_share=share)


def test_an_unreachable_service_gets_no_cleanup_calls(
    index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Client(ClientConfig(url="http://127.0.0.1:9", app_id="A", api_key=Secret("k")))
    asked: list[str] = []
    perform = AsyncClient.perform

    async def watched(self: AsyncClient, endpoint: Any, parcel: Any) -> Any:
        asked.append(endpoint.name)
        return await perform(self, endpoint, parcel)

    monkeypatch.setattr(AsyncClient, "perform", watched)
    with pytest.raises(Unreachable):
        load(gone, FILMS, index, id="id", if_exists="replace")
    with pytest.raises(Unreachable):
        background_loop.run(svc.aio.replace_records(index, FILMS, id="id", client=gone))

    # One call each: the number of the old records.
    assert asked == ["search", "search"]


@pytest.mark.parametrize("choice", ["append", "replace"])
def test_a_load_into_a_replica_is_refused_with_its_primary(
    client: Client, index: str, choice: str
) -> None:
    load(client, FILMS, index, id="id")
    client.wait(dict(client.set_settings(index, {"replicas": [f"{index}_by_n"]})), index=index)

    with pytest.raises(SvcError, match=f"{index}_by_n is a replica of {index}") as refused:
        load(client, FILMS, f"{index}_by_n", id="id", if_exists=choice)

    assert "the key needs" not in str(refused.value)
    assert not [name for name in names(client) if name.startswith(f"{index}_by_n_tmp")]


def names(client: Client) -> list[str]:
    return [entry["name"] for entry in client.list_indices()["items"]]


def test_a_lone_surrogate_in_the_name_of_an_index_is_refused(client: Client) -> None:
    with pytest.raises(BadInput, match="lone surrogate"):
        load(client, FILMS, "films\ud83d", id="id")


def test_records_above_the_limit_of_the_service_are_rejected(client: Client, index: str) -> None:
    frame = pd.DataFrame({"id": ["a", "b", "c"], "text": ["x", "y" * 150_000, "z"]})

    result = svc.load(
        frame, index, client=client, record_bytes=500_000, batch=1, if_exists="fail", in_flight=1
    )

    assert (result.published, result.rejected_rows) == (2, 1)
    assert result.rejected["row"].tolist() == [2]
    assert "is larger than 100,000 bytes" in result.rejected["reason"].iloc[0]
    assert sorted(svc.read_browse(index, client=client)["id"]) == ["a", "c"]

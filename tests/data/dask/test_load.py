"""Dask DataFrames loaded by workers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask import config
from dask.base import tokenize
from distributed import Client as Cluster

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.loading.dask.partition_sender import WorkerCredentials
from svc_notebook.data.loading.sources.partitions import FOOTERS_PER_TASK, find_workers
from svc_notebook.errors import BadInput, KeyRefused
from tests.conftest import Running

ROWS, PARTS = 4000, 8
FRAME = pd.DataFrame(
    {
        "sku": [f"{n:05d}" for n in range(ROWS)],
        "price": np.arange(ROWS) / 4,
        "shelf": [f"s{n % 3}" for n in range(ROWS)],
    }
)


def spread(frame: pd.DataFrame = FRAME, parts: int = PARTS) -> Any:
    return dd.from_pandas(frame, npartitions=parts)


def stored(client: Client, index: str) -> list[dict[str, Any]]:
    records = [dict(hit) for page in client.browse_pages(index) for hit in page["hits"]]
    return sorted(records, key=lambda record: str(record["objectID"]))


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    rows: list[Any] = frame.assign(objectID=frame["sku"]).to_dict("records")
    return rows


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_every_partition_is_sent_by_the_workers(client: Client, index: str) -> None:
    told: list[tuple[int, int]] = []

    work = loading.load(
        client.aio, spread(), index, id="sku", on_progress=lambda *each: told.append(each)
    )
    result = background_loop.run(work)

    assert stored(client, index) == records_of(FRAME)
    assert (result.sent, result.published, result.complete) == (ROWS, ROWS, True)
    assert result.plan.source == "the Dask DataFrame of 8 partitions"
    assert [done for done, _ in told] == list(range(500, ROWS + 1, 500))
    assert {total for _, total in told} == {ROWS}


@pytest.mark.slow
def test_without_workers_the_partitions_are_sent_from_here(client: Client, index: str) -> None:
    result = svc.push(spread(), index, id="sku", client=client)

    assert stored(client, index) == records_of(FRAME)
    assert result.complete


@pytest.mark.slow
def test_a_worker_that_is_killed_loses_and_doubles_nothing(
    workers: Any, client: Client, index: str, tmp_path: Path
) -> None:
    mark = tmp_path / "killed"

    def kill_once(part: pd.DataFrame) -> pd.DataFrame:
        # The worker is shot while it sends, a moment after it was handed its third partition.
        if len(part) and part["sku"].iloc[0] == "01000" and not mark.exists():
            mark.write_text(str(os.getpid()))
            threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGKILL)).start()
        return part

    frame = spread().map_partitions(kill_once, meta=FRAME.head(0))

    result = svc.load(frame, index, id="sku", client=client, batch=50)

    assert int(mark.read_text()) not in workers.run(os.getpid).values()
    assert stored(client, index) == records_of(FRAME)
    assert result.sent == ROWS


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_equal_rows_without_ids_are_as_many_records(client: Client, index: str) -> None:
    frame = spread(pd.DataFrame({"word": ["a"] * 100}), 4)

    svc.push(frame, index, client=client)
    with pytest.warns(UserWarning, match="already has 100 records"):
        again = svc.push(frame, index, client=client)

    assert len(stored(client, index)) == 100
    assert again.plan.ids == "hash of the row and its partition"


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_a_folder_of_parquet_is_sent_file_by_file(
    client: Client, index: str, tmp_path: Path
) -> None:
    FRAME.to_parquet(tmp_path / "shop", partition_cols=["shelf"])

    result = svc.load(tmp_path / "shop", index, id="sku", client=client)

    assert stored(client, index) == records_of(FRAME)
    assert result.plan.source.endswith("of 3 files")


@pytest.mark.usefixtures("workers")
@pytest.mark.slow
def test_footers_of_many_files_are_read_by_the_workers(
    client: Client, index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folder names are a column, as numbers and as text; a column is only in some files."""
    parts = 2 * FOOTERS_PER_TASK + 3
    made = pd.DataFrame({"sku": [f"p{n}" for n in range(parts)], "n": range(parts)})
    for number, rows in made.groupby(made.index):
        folder = tmp_path / "shop" / f"shelf={number % 3 if number != parts - 1 else 'top'}"
        folder.mkdir(parents=True, exist_ok=True)
        more = {"late": [1.5]} if number == parts - 2 else {}
        rows.assign(**more).to_parquet(folder / f"{number:03}.parquet", index=False)

    def refuse(_: Path) -> None:
        raise AssertionError("a footer was read in this process")

    monkeypatch.setattr("pyarrow.parquet.read_metadata", refuse)
    result = svc.load(tmp_path / "shop", index, id="sku", client=client)

    assert result.plan.source.endswith(f"of {parts} files")
    found = stored(client, index)
    assert {record["objectID"]: record["n"] for record in found} == dict(made.to_numpy().tolist())
    assert {record["shelf"] for record in found} == {"0", "1", "2", "top"}
    assert [record["late"] for record in found if "late" in record] == [1.5]


@pytest.mark.usefixtures("workers")
def test_files_that_workers_do_not_see_are_refused(
    client: Client, index: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2 * FOOTERS_PER_TASK):
        FRAME.head(1).to_parquet(tmp_path / f"{number}.parquet")
    map_tasks = Cluster.map

    def hide(self: Cluster, work: Any, parts: list[list[Path]], **options: Any) -> Any:
        hidden = [Path("/elsewhere") / path.name for path in parts[1]]
        return map_tasks(self, work, [parts[0], hidden], **options)

    monkeypatch.setattr(Cluster, "map", hide)

    with pytest.raises(BadInput, match="the same path on every worker"):
        svc.load(tmp_path, index, id="sku", client=client)


def test_a_folder_of_parquet_needs_no_workers(client: Client, index: str, tmp_path: Path) -> None:
    FRAME.to_parquet(tmp_path / "shop", partition_cols=["shelf"])

    svc.load(tmp_path / "shop", index, id="sku", client=client)

    assert stored(client, index) == records_of(FRAME)


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_an_index_is_replaced_at_one_moment(client: Client, index: str) -> None:
    svc.push(FRAME.head(1).assign(sku="old"), index, id="sku", client=client)
    svc.settings(index, hitsPerPage=7, client=client)

    spread().svc.push(index, id="sku", if_exists="replace", client=client)

    assert stored(client, index) == records_of(FRAME)
    assert client.get_settings(index)["hitsPerPage"] == 7
    names = [entry["name"] for entry in client.list_indices()["items"]]
    assert [name for name in names if name.startswith(index)] == [index]


@pytest.mark.usefixtures("workers")
def test_ids_that_several_partitions_share_replace_nothing(client: Client, index: str) -> None:
    svc.push(FRAME.head(1), index, id="sku", client=client)
    frame = spread(pd.concat([FRAME.head(10), FRAME.head(10)], ignore_index=True), 2)

    with pytest.raises(BadInput, match="Check that the ids are unique"):
        svc.load(frame, index, id="sku", if_exists="replace", client=client)

    assert len(stored(client, index)) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_rejected_rows_of_all_partitions_are_told(client: Client, index: str) -> None:
    frame = FRAME.assign(price=[np.inf if n % 1000 == 0 else 1.0 for n in range(ROWS)])

    result = svc.push(spread(frame), index, id="sku", client=client)

    assert result.rejected["partition"].tolist() == [0, 2, 4, 6]
    assert (result.sent, result.rejected_rows, result.complete) == (ROWS - 4, 4, False)

    result.rejected.assign(price=2.0).svc.push(index, id="sku", client=client)

    assert len(stored(client, index)) == ROWS


@pytest.mark.slow
def test_partitions_without_rows_are_nothing_special(client: Client, index: str) -> None:
    frame = spread()

    result = svc.push(frame[frame["sku"] < "00010"], index, id="sku", client=client)

    assert stored(client, index) == records_of(FRAME.head(10))
    assert result.complete


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_records_are_deleted_by_the_workers(client: Client, index: str) -> None:
    svc.push(spread(), index, id="sku", client=client)

    spread(FRAME.iloc[10:], 3).svc.delete(index, id="sku", client=client)

    assert stored(client, index) == records_of(FRAME.head(10))


def test_a_plan_is_that_of_the_first_partition() -> None:
    plan = spread().svc.plan("films", id="sku")

    assert (plan.rows, plan.ids) == (500, "column `sku`")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "pass id='sku'"),
        ({"id": "sku", "if_exists": "merge"}, "if_exists='merge'"),
        ({"id": "sku", "verify": True}, "`verify` does not work with a source in partitions"),
        ({"id": "sku", "if_exists": "sync"}, r"load all of them at once, ddf.compute\(\)"),
        ({"id": "sku", "if_exists": "merge"}, "load the partitions one by one"),
        ({"id": "sku", "limit": 3}, "ddf.head"),
        ({"id": "sku", "action": "update", "operations": {"price": "Increment"}}, "compute()"),
        ({"id": "sk"}, "did you mean `sku`"),
    ],
)
def test_what_no_partition_can_decide_is_refused(
    client: Client, index: str, options: dict[str, Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        svc.load(spread(), index, client=client, **options)


def test_increments_written_in_cells_are_not_left_to_workers(client: Client, index: str) -> None:
    more = {"_operation": "Increment", "value": 1}
    with config.set({"dataframe.convert-string": False}):
        frame = spread(pd.DataFrame({"sku": ["1", "2"], "stock": [more, more]}), 2)

    with pytest.raises(BadInput, match=r"could change the records twice \(Increment\)"):
        svc.load(frame, index, id="sku", action="update", client=client)

    assert not client.index_exists(index)


def test_an_error_of_a_worker_is_raised_as_it_was_and_shows_no_key(
    workers: Any, service: Running, index: str
) -> None:
    key = "k" * 20
    wrong = Client(ClientConfig(url=service.url, app_id=service.appId, api_key=Secret(key)))

    with pytest.raises(KeyRefused) as caught:
        svc.push(spread(), index, id="sku", client=wrong)

    assert caught.value.status == 403
    assert "0 of 8 partitions were sent" in caught.value.__notes__[0]
    logs = str(workers.get_worker_logs()) + str(workers.get_scheduler_logs())
    assert key not in logs
    assert key not in str(workers.story())


def broken(part: pd.DataFrame) -> pd.DataFrame:
    if (part["price"] > 900).any():
        raise ValueError("the shelf is broken")
    return part


@pytest.mark.slow
def test_a_partition_that_cannot_be_computed_fails_the_load_and_says_what_was_sent(
    workers: Any, client: Client, index: str
) -> None:
    parts = spread().map_partitions(broken, meta=FRAME.head(0))

    with pytest.raises(ValueError, match="the shelf is broken") as caught:
        svc.load(parts, index, id="sku", in_flight=1, client=client)

    assert caught.value.__notes__ == [
        f"7 of 8 partitions were sent to {index}, 3,500 rows; rows of 1 more may be stored; "
        "resume=True resumes the load"
    ]
    assert len(stored(client, index)) == 3500


def test_a_ticket_carries_the_key_and_does_not_show_it() -> None:
    ticket = WorkerCredentials(
        ClientConfig(url="https://here", app_id="shop", api_key=Secret("hidden"))
    )

    again = pickle.loads(pickle.dumps(ticket))

    assert again.client().connection.api_key == Secret("hidden")
    assert repr(ticket) == "WorkerCredentials('shop', 'https://here')"
    other = WorkerCredentials(
        ClientConfig(url="https://here", app_id="shop", api_key=Secret("another"))
    )
    assert tokenize(ticket) == tokenize(other)


def test_a_package_that_is_being_imported_has_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", ModuleType("distributed"))

    assert find_workers() is None


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_a_distributed_load_is_listed_and_checks_a_saved_plan(
    client: Client, index: str, tmp_path: Path
) -> None:
    loading.plan(FRAME, index, id="sku").save(tmp_path / "plan.yaml")

    svc.load(spread(), index, plan=tmp_path / "plan.yaml", client=client)
    with pytest.raises(BadInput, match="`weight` is new"):
        svc.load(
            spread(FRAME.assign(weight=1.5)), index, plan=tmp_path / "plan.yaml", client=client
        )

    failed, finished = svc.loads(index, client=client).itertuples()
    assert (finished.state, finished.rows, finished.sent) == ("finished", ROWS, ROWS)
    assert finished.source == "the Dask DataFrame of 8 partitions"
    assert failed.state == "failed"
    with pytest.raises(BadInput, match="no previous versions are kept"):
        svc.undo_load(str(finished.load_id), client=client)


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
def test_rejected_rows_of_a_partition_prevent_a_replacement(client: Client, index: str) -> None:
    svc.push(FRAME.head(5), index, id="sku", client=client)
    broken = FRAME.assign(sku=FRAME["sku"].where(FRAME.index != 3000))

    with pytest.raises(BadInput, match="1 row cannot be sent"):
        svc.replace_records(index, spread(broken), id="sku", client=client)

    assert len(stored(client, index)) == 5

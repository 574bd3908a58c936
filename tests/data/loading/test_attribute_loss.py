"""No write of rows deletes attributes of existing records that the rows do not have."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

import svc_notebook as svc
from benchmarks.load import DiscardingServer
from svc_notebook.core.imports import register_accessors
from svc_notebook.data.client import background_loop
from svc_notebook.errors import BadInput
from svc_notebook.faces.lab.kernel import LabCalls
from svc_notebook.faces.magics.extension import run
from tests.conftest import ROOT, Running

WHOLE = [
    {"objectID": f"{n}", "name": f"Lamp {n}", "price": n, "size": {"width": n, "height": 2 * n}}
    for n in range(40)
]
PARTS = [{"objectID": f"{n}", "stock": 0} for n in range(20)]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(autouse=True)
def connected(service: Running) -> None:
    svc.connect(url=service.url, app_id=service.appId, api_key=service.adminKey)


@pytest.fixture
def index() -> str:
    name = f"parts-{uuid4().hex[:8]}"
    svc.push(WHOLE, name)
    return name


def file_of(suffix: str, folder: Path) -> str:
    frame = pd.DataFrame(PARTS)
    path = folder / f"parts{suffix}"
    if suffix == ".parquet":
        frame.to_parquet(path)
    elif suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif suffix == ".json":
        path.write_text(json.dumps(PARTS))
    elif suffix == ".ndjson":
        path.write_text("".join(json.dumps(part) + "\n" for part in PARTS))
    else:
        frame.to_csv(path, index=False)
    return str(path)


def arrow() -> Any:
    import pyarrow as pa

    return pa.Table.from_pylist(PARTS)


def polars() -> Any:
    import polars as pl

    return pl.DataFrame(PARTS)


def relation() -> Any:
    import duckdb

    return duckdb.sql("SELECT '1' AS \"objectID\", 0 AS stock")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "DataFrame": lambda _: pd.DataFrame(PARTS),
    "dicts": lambda _: PARTS,
    "generator": lambda _: iter(PARTS),
    "one dict": lambda _: PARTS[0],
    "Arrow": lambda _: arrow(),
    "Polars": lambda _: polars(),
    "relation": lambda _: relation(),
    "SQL": lambda folder: f"SELECT * FROM '{file_of('.parquet', folder)}'",
    "CSV": lambda folder: file_of(".csv", folder),
    "JSON": lambda folder: file_of(".json", folder),
    "NDJSON": lambda folder: file_of(".ndjson", folder),
    "Parquet": lambda folder: file_of(".parquet", folder),
    "workbook": lambda folder: file_of(".xlsx", folder),
    "glob": lambda folder: file_of(".csv", folder).replace("parts.csv", "*.csv"),
}


def assert_unchanged(index: str) -> None:
    assert svc.read_browse(index).to_dict("records")[0].keys() >= {"name", "price", "size"}
    assert len(svc.read_browse(index).dropna(subset=["name"])) == len(WHOLE)


@pytest.mark.sampled(quick=7)
@pytest.mark.parametrize("if_exists", ["append", "merge"])
@pytest.mark.parametrize("kind", SOURCES)
def test_a_load_of_parts_is_refused(index: str, tmp_path: Path, kind: str, if_exists: Any) -> None:
    with pytest.raises(BadInput, match=r"3 attributes.*`name`, `price`, `size`") as refused:
        svc.load(SOURCES[kind](tmp_path), index, if_exists=if_exists)

    assert "action='update'" in str(refused.value)
    assert "replace_records=True" in str(refused.value)
    assert_unchanged(index)


def test_a_frame_that_was_read_from_the_index_is_refused(index: str) -> None:
    frame = svc.read_browse(index).head(20)

    with pytest.raises(BadInput, match="3 attributes"):
        frame[["objectID"]].assign(stock=0).svc.push(index)

    assert_unchanged(index)


def test_a_frame_that_was_read_with_fewer_columns_is_refused(index: str) -> None:
    frame = svc.read_browse(index, columns=["name"])

    with pytest.raises(BadInput, match=r"2 attributes.*`price`, `size`"):
        frame.assign(stock=0).svc.push(index)

    assert_unchanged(index)


def test_hits_of_a_search_are_refused(index: str) -> None:
    hits = svc.search(index, "lamp", columns=["name"])

    with pytest.raises(BadInput, match=r"`price`, `size`"):
        svc.push(hits, index)

    assert_unchanged(index)


def test_both_ways_on_work(index: str) -> None:
    updated = svc.push(PARTS, index, action="update")
    first = svc.read_records(index, ["0"]).iloc[0]
    replaced = svc.push(PARTS, index, replace_records=True)

    assert (updated.published, first["name"], first["stock"]) == (20, "Lamp 0", 0)
    assert replaced.published == 20
    assert [*svc.read_records(index, ["0"])] == ["objectID", "stock"]


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(pd.DataFrame(WHOLE).assign(stock=0), id="more attributes"),
        pytest.param(pd.DataFrame(WHOLE).assign(price=None), id="values cleared in a column"),
        pytest.param(pd.DataFrame({"objectID": ["a", "b"], "stock": 0}), id="new records"),
        pytest.param(pd.DataFrame({"stock": [0, 1]}), id="hashes of rows"),
    ],
)
def test_other_rows_are_sent(index: str, frame: pd.DataFrame) -> None:
    hashed = "objectID" not in frame
    with pytest.warns(UserWarning, match="hashes") if hashed else nullcontext():
        assert svc.push(frame, index).published == len(frame)


def test_a_replacement_of_the_index_is_not_refused(index: str) -> None:
    assert svc.push(PARTS, index, if_exists="replace").published == 20
    assert svc.replace_records(index, PARTS[:15]).published == 15


def test_an_index_is_filled_again_with_the_same_rows(tmp_path: Path) -> None:
    name = f"parts-{uuid4().hex[:8]}"
    path = file_of(".csv", tmp_path)

    assert svc.load(path, name).published == 20
    assert svc.load(path, name).published == 20


def test_a_row_among_whole_records_that_is_a_part_is_refused(index: str) -> None:
    rows = [*WHOLE[:10], PARTS[12]]

    with pytest.raises(BadInput, match=r"1 of 11 compared"):
        svc.push(rows, index)

    assert_unchanged(index)


def test_members_of_objects_are_counted_where_columns_build_them(index: str) -> None:
    frame = pd.DataFrame(WHOLE).drop(columns="size").assign(**{"size.width": 1})

    with pytest.raises(BadInput, match=r"1 attribute of .*`size.height`"):
        svc.push(frame, index, nest=True)
    with pytest.raises(BadInput, match=r"1 attribute of .*`size`"):
        svc.push(frame, index)


def test_existing_records_are_found_in_all_parts_of_a_source(index: str, tmp_path: Path) -> None:
    names = [f"new-{n}" if n < 5000 or n % 50 else f"{n // 50 % 40}" for n in range(40_000)]
    path = tmp_path / "later.csv"
    pd.DataFrame({"objectID": names, "stock": 0}).to_csv(path, index=False)

    with pytest.raises(BadInput, match="3 attributes"):
        svc.load(str(path), index, duplicates="last")

    assert_unchanged(index)


def test_a_dry_run_counts_the_attributes(index: str) -> None:
    plan = svc.load(PARTS, index, dry_run=True).plan

    assert set(plan.deleted_attributes) == {"name", "price", "size"}
    assert "deletes 3 attributes" in plan.notes[-1]
    assert "deletes 3 attributes" in repr(plan)
    assert_unchanged(index)


def test_a_plan_knows_the_columns_that_a_frame_was_read_with(index: str) -> None:
    frame = svc.read_browse(index)

    plan = frame[["objectID"]].assign(stock=0).svc.plan(index)
    other = frame[["objectID"]].assign(stock=0).svc.plan("other")

    assert set(plan.deleted_attributes) == {"name", "price", "size"}
    assert other.deleted_attributes == ()


def test_a_key_that_may_only_write_knows_the_columns_that_were_read(
    service: Running, index: str
) -> None:
    frame = svc.read_browse(index)[["objectID"]].assign(stock=0)
    key = svc.add_key(acl=["addObject"])["key"]
    writer = svc.connect(url=service.url, app_id=service.appId, api_key=key)

    with pytest.raises(BadInput, match="3 attributes"):
        frame.svc.push(index, client=writer)
    result = svc.push([{"objectID": "x", "stock": 1}], index, client=writer)

    assert any("is not known: this key may not read" in note for note in result.notes)


def test_a_service_that_returns_no_records_is_loaded_with_a_note() -> None:
    transports: list[asyncio.Transport] = []

    class Server(DiscardingServer):
        def connection_made(self, transport: Any) -> None:
            transports.append(transport)
            super().connection_made(transport)

    async def serve(ready: Event, ended: Event, address: list[str]) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Server, "127.0.0.1", 0)
        address.append("http://127.0.0.1:{1}".format(*server.sockets[0].getsockname()))
        ready.set()
        await asyncio.to_thread(ended.wait)
        server.close()
        for transport in transports:
            transport.abort()
        await asyncio.sleep(0)  # transports close in the next turn of the loop

    ready, ended, address = Event(), Event(), list[str]()
    thread = Thread(target=lambda: asyncio.run(serve(ready, ended, address)))
    thread.start()
    ready.wait()
    svc.connect(url=address[0], app_id="A", api_key="key")

    result = svc.load(pd.DataFrame(PARTS), "discarded")
    ended.set()
    thread.join()

    assert result.published == len(PARTS)
    assert "the service did not return the records" in " ".join(result.notes)


def test_magics_name_both_ways_as_options(index: str, tmp_path: Path) -> None:
    path = file_of(".csv", tmp_path)
    variables: dict[str, Any] = {"df": pd.DataFrame(PARTS)}

    for line in (f"push {index} --from df", f"load {path} {index}"):
        with pytest.raises(BadInput, match="3 attributes") as refused:
            run(line, None, variables)

        assert "pass --action update; to replace the records, --replace-records" in str(
            refused.value
        )
    assert_unchanged(index)
    result = run(f"push {index} --from df --replace-records", None, variables)
    assert result.published == 20


@pytest.mark.slow
def test_the_command_names_both_ways_as_options(
    service: Running, index: str, tmp_path: Path
) -> None:
    def load(*options: str) -> subprocess.CompletedProcess[str]:
        words = ["load", file_of(".csv", tmp_path), index, *options]
        return subprocess.run(
            [sys.executable, "-m", "svc_notebook", *words],
            capture_output=True, text=True, check=False, timeout=60, cwd=ROOT,
            env={
                **os.environ, "SVC_URL": service.url, "SVC_APP_ID": service.appId,
                "SVC_API_KEY": service.adminKey,
            },
        )  # fmt: skip

    refused, planned = load(), load("--dry-run")
    unchanged = len(svc.read_browse(index).columns)
    updated, replaced = load("--action", "update"), load("--replace-records")

    assert refused.returncode != 0
    assert "pass --action update; to replace the records, --replace-records" in refused.stderr
    assert "deletes 3 attributes" in planned.stdout
    assert (unchanged, updated.returncode, replaced.returncode) == (4, 0, 0)


def test_the_dialog_of_a_file_names_the_attributes_and_loads_if_allowed(
    index: str, tmp_path: Path
) -> None:
    path, calls = file_of(".csv", tmp_path), LabCalls()

    plan = background_loop.run(calls.plan_file(path, index))
    with pytest.raises(BadInput, match="3 attributes"):
        background_loop.run(calls.load_file(path, index))
    assert_unchanged(index)
    updated = background_loop.run(calls.load_file(path, index, options={"action": "update"}))
    replaced = background_loop.run(calls.load_file(path, index, options={"replace_records": True}))

    assert set(plan["deletedAttributes"]) == {"name", "price", "size"}
    assert (updated["published"], replaced["published"]) == (20, 20)


@pytest.mark.parametrize("rows", [1, 20])
def test_a_dask_frame_is_refused_before_a_partition_is_sent(index: str, rows: int) -> None:
    import dask.dataframe as dd

    register_accessors()  # as the next use of `svc` does
    frame = pd.DataFrame({"objectID": ["new"], "stock": 0})
    first = pd.DataFrame(PARTS[:rows])
    parts = dd.from_pandas(pd.concat([first, frame], ignore_index=True), npartitions=2)

    with pytest.raises(BadInput, match="3 attributes"):
        parts.svc.push(index)

    assert_unchanged(index)
    assert parts.svc.push(index, replace_records=True).published == rows + 1


def test_a_later_partition_of_a_dask_frame_is_refused(index: str) -> None:
    import dask.dataframe as dd

    register_accessors()  # as the next use of `svc` does
    frame = pd.DataFrame({"objectID": [f"new-{n}" for n in range(20)], "stock": 0})
    parts = dd.from_pandas(
        pd.concat([frame, pd.DataFrame(PARTS)]).reset_index(drop=True), npartitions=2
    )

    with pytest.raises(BadInput, match="3 attributes"):
        parts.svc.push(index)

    assert len(svc.read_browse(index).dropna(subset=["name"])) == len(WHOLE)


def test_a_new_index_is_looked_up_once() -> None:
    name = f"new-{uuid4().hex[:8]}"

    svc.push(PARTS, name)

    logs = svc.read_logs(limit=200)
    missing = logs[(logs["answer_code"] == 404) & logs["query_body"].str.contains(name)]
    assert missing["url"].tolist() == ["/1/indexes/*/objects"]

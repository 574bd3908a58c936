"""Distributed loads that were interrupted, and are resumed by another process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask.delayed import delayed

import svc_notebook as svc
from svc_notebook.data import loading
from svc_notebook.data.client import Client, background_loop
from svc_notebook.data.loading.dask.load import load_partitions
from svc_notebook.data.loading.options import LoadSettings, SendSettings
from svc_notebook.data.loading.sending.checkpoint import state_folder
from svc_notebook.data.loading.sources.partitions import SourcePartitions
from svc_notebook.errors import BadInput
from tests.conftest import Running

PARTS, PART_ROWS = 6, 50
ROWS = PARTS * PART_ROWS
FRAME = pd.DataFrame({"sku": [f"{n:05d}" for n in range(ROWS)], "price": np.arange(ROWS) / 4})
Run = Callable[..., Any]
SECONDS = 60
# Dask reads Parquet with a keyword that pandas is about to remove.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword")


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return write(tmp_path / "files", FRAME)


def write(folder: Path, frame: pd.DataFrame) -> Path:
    folder.mkdir(exist_ok=True)
    for n in range(PARTS):
        rows = frame.iloc[n * PART_ROWS : (n + 1) * PART_ROWS]
        rows.to_parquet(folder / f"part-{n}.parquet", index=False)
    return folder


@pytest.fixture
def run(cluster: Any, service: Running, index: str, files: Path, tmp_path: Path) -> Run:
    """Load in a process of its own; returns its counts, or None if it was killed."""

    def load(kill_after: int = 0, **options: Any) -> Any:
        given = {
            "scheduler": cluster.scheduler.address, "url": service.url, "app": service.appId,
            "key": service.adminKey, "files": str(files), "index": index,
            "log": str(tmp_path / "computed"), "kill_after": kill_after, "part_rows": PART_ROWS,
            "options": {"id": "sku", **options},
        }  # fmt: skip
        script = Path(__file__).with_name("resumed_load.py")
        done = subprocess.run(
            [sys.executable, script, json.dumps(given)],
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if kill_after:
            assert done.returncode == -9, done.stderr
            return None
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return load


def computations(folder: Path) -> Counter[str]:
    return Counter((folder / "computed").read_text().split())


def skus(client: Client, index: str) -> set[str]:
    return {str(hit["sku"]) for page in client.browse_pages(index) for hit in page["hits"]}


def names(client: Client, index: str) -> list[str]:
    every = [item["name"] for item in client.list_indices()["items"]]
    return [name for name in every if name.startswith(index)]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("if_exists", ["append", "replace"])
@pytest.mark.sampled(1)
def test_a_killed_load_is_resumed_after_the_published_partitions(
    run: Run, client: Client, index: str, tmp_path: Path, if_exists: Literal["append", "replace"]
) -> None:
    svc.push(pd.DataFrame({"objectID": ["old"], "sku": ["old"]}), index, client=client)
    run(kill_after=3, if_exists=if_exists)

    sent, resumed, published, _, _, complete = run(if_exists=if_exists, resume=True)

    kept = {"old"} if if_exists == "append" else set()
    assert skus(client, index) == {*FRAME["sku"], *kept}
    assert (sent, resumed, published, complete) == (ROWS, 3 * PART_ROWS, ROWS, True)
    again = [sku for sku, times in computations(tmp_path).items() if times > 1]
    assert len(again) <= 1  # the one that was in flight
    assert len(computations(tmp_path)) == PARTS
    assert names(client, index) == [index]
    assert list(state_folder().glob("*")) == []


@pytest.mark.timeout(120)
@pytest.mark.slow
def test_rejected_rows_of_earlier_partitions_are_listed_again(
    run: Run, client: Client, index: str, files: Path
) -> None:
    write(files, FRAME.assign(price=[np.inf if n % 100 == 0 else 1.0 for n in range(ROWS)]))
    run(kill_after=3)

    sent, resumed, _, rejected, listed, complete = run(resume=True)

    assert (sent, resumed, rejected, listed) == (ROWS - 3, 3 * PART_ROWS - 2, 3, 3)
    assert not complete
    assert len(skus(client, index)) == ROWS - 3


def stop_after(rows: int) -> Callable[[int, int], None]:
    def tell(done: int, _: int) -> None:
        if done >= rows:
            raise ValueError("stopped here")

    return tell


def interrupt(client: Client, frame: Any, index: str, **options: Any) -> None:
    work = loading.load(
        client.aio, frame, index, in_flight=1, on_progress=stop_after(3 * PART_ROWS),
        **{"id": "sku", **options},
    )  # fmt: skip
    with pytest.raises(ValueError, match="stopped here") as caught:
        background_loop.run(work)
    assert "resume=True resumes the load" in caught.value.__notes__[0]


@pytest.mark.slow
def test_other_partitions_are_sent_from_the_beginning(
    client: Client, index: str, files: Path
) -> None:
    frame = dd.read_parquet(files)
    interrupt(client, frame, index, if_exists="replace")
    assert len(names(client, index)) == 1

    result = svc.load(
        frame.repartition(npartitions=2), index, id="sku", if_exists="replace", resume=True,
        client=client,
    )  # fmt: skip

    assert (result.resumed, result.sent) == (0, ROWS)
    assert "the source, the options or the index have changed" in result.notes[0]
    assert names(client, index) == [index]
    assert skus(client, index) == set(FRAME["sku"])


@pytest.mark.slow
@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_records_that_are_gone_are_sent_again(
    client: Client, index: str, files: Path, if_exists: Literal["append", "replace"]
) -> None:
    frame = dd.read_parquet(files)
    interrupt(client, frame, index, if_exists=if_exists)
    (target,) = names(client, index)
    client.wait(dict(client.clear_objects(target)), index=target)

    result = svc.load(frame, index, id="sku", if_exists=if_exists, resume=True, client=client)

    assert (result.resumed, result.sent) == (0, ROWS)
    assert skus(client, index) == set(FRAME["sku"])
    assert names(client, index) == [index]


@pytest.mark.slow
def test_hashes_of_other_partitions_are_not_stored_beside_the_first(
    client: Client, index: str, tmp_path: Path
) -> None:
    frame = dd.read_parquet(write(tmp_path / "words", FRAME.rename(columns={"sku": "word"})))
    interrupt(client, frame, index, id=None)

    with pytest.raises(BadInput, match="would be stored twice"):
        svc.load(frame.repartition(npartitions=2), index, resume=True, client=client)

    result = svc.load(frame, index, resume=True, client=client)

    assert (result.sent, result.resumed) == (ROWS, 3 * PART_ROWS)
    assert client.search(index, "")["nbHits"] == ROWS


def test_partitions_without_a_token_are_not_resumed(client: Client, index: str) -> None:
    partitions = SourcePartitions("the parts", ("sku", "price"), [delayed(FRAME)])

    def load(*, resume: bool) -> loading.LoadResult:
        options, settings = LoadSettings.of({"id": "sku"}), SendSettings(resume=resume)
        return background_loop.run(
            load_partitions(client.aio, partitions, index, options, settings)
        )

    with pytest.raises(BadInput, match=r"the parts cannot be resumed.*write it to Parquet files"):
        load(resume=True)

    assert load(resume=False).sent == ROWS


def test_partitions_with_random_names_are_not_resumed(client: Client, index: str) -> None:
    parts = [delayed(FRAME.iloc[n : n + PART_ROWS]) for n in range(0, ROWS, PART_ROWS)]
    frame = dd.from_delayed(parts, meta=FRAME.iloc[:0])

    with pytest.raises(BadInput, match="write it to Parquet files"):
        svc.load(frame, index, id="sku", resume=True, client=client)


@pytest.mark.slow
def test_a_share_that_is_too_small_keeps_what_was_sent(
    client: Client, index: str, files: Path
) -> None:
    old = pd.DataFrame({"objectID": [f"o{n}" for n in range(1000)]})
    svc.push(old, index, client=client)
    frame = dd.read_parquet(files)
    with pytest.raises(BadInput, match="min_share=0") as caught:
        svc.load(frame, index, id="sku", if_exists="replace", client=client)
    assert "resume=True" in caught.value.__notes__[0]

    result = svc.load(
        frame, index, id="sku", if_exists="replace", min_share=0, resume=True, client=client
    )

    assert (result.sent, result.resumed) == (ROWS, ROWS)
    assert skus(client, index) == set(FRAME["sku"])
    assert names(client, index) == [index]

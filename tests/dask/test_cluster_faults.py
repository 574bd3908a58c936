"""Faults of a cluster and of the service while many partitions are in flight."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import Client as Cluster
from distributed import LocalCluster

from svc_notebook import loading
from svc_notebook.client import Client, background_loop
from svc_notebook.errors import SvcError, TooMany
from svc_notebook.loading.dask import load as spread_load
from svc_notebook.loading.options import LoadSettings
from svc_notebook.loading.sources.partitions import SourcePartitions

FRAME = pd.DataFrame({"sku": [f"{n:04d}" for n in range(400)], "price": range(400)})


class SlowService:
    """Stands in for the sending of partitions: a service that allows a number of calls at once."""

    def __init__(self, allowed: int, result: loading.LoadResult) -> None:
        self.allowed, self.result = allowed, result
        self.busy = self.most = self.refused = 0
        self.sent: list[int] = []
        self.running: list[int] = []

    async def send(self, number: int, partition: Any, target: str) -> loading.LoadResult:
        self.busy += 1
        self.running.append(self.busy)
        self.most = max(self.most, self.busy)
        try:
            if self.busy > self.allowed:
                self.refused += 1
                raise TooMany("slow down", wait=0.01)
            await asyncio.sleep(0.01)
        finally:
            self.busy -= 1
        self.sent.append(number)
        return self.result


def test_two_hundred_partitions_in_flight_agree_on_what_the_service_takes(
    client: Client, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [delayed(FRAME.iloc[:2]) for _ in range(2000)]
    partitions = SourcePartitions("2,000 parts", ("sku", "price"), parts)
    one = background_loop.run(loading.load(client.aio, FRAME.iloc[:2], index, id="sku"))
    service = SlowService(allowed=100, result=one)
    monkeypatch.setattr(spread_load, "FIRST_PAUSE_SECONDS", 0.01)

    async def send() -> Any:
        options = LoadSettings.of({"id": "sku"})
        run = spread_load._DaskRun(client.aio, partitions, index, options, 200, None)
        monkeypatch.setattr(run, "_send_one", service.send)
        await run.send(index)
        return run

    run = background_loop.run(send())

    assert sorted(service.sent) == list(range(2000))
    # All refused calls of one moment are one overload: the limit is halved, not lost.
    assert run.limiter.decreases < 10
    assert max(service.running[-50:]) <= service.allowed
    assert run.result().published == 4000


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["workers", "scheduler"])
def test_a_cluster_that_is_gone_is_an_error_within_seconds(
    lost: str, client: Client, index: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spread_load, "MAX_SILENT_SECONDS", 2.0)

    def wait(part: pd.DataFrame) -> pd.DataFrame:
        time.sleep(0.5)
        return part

    local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    cluster = Cluster(local, set_as_default=False)
    try:
        with cluster.as_current():
            frame = dd.from_pandas(FRAME, npartitions=60).map_partitions(wait, meta=FRAME.head(0))

            def stop() -> None:
                if lost == "workers":
                    cluster.retire_workers(close_workers=True)
                else:
                    local.close(timeout=1)

            # In another thread: the progress is reported in the loop that sends.
            stopping = threading.Thread(target=stop)

            def stop_once(*_: int) -> None:
                if stopping.ident is None:
                    stopping.start()

            with pytest.raises(SvcError, match=r"the Dask (cluster has no workers|scheduler does)"):
                background_loop.run(
                    loading.load(
                        client.aio,
                        frame,
                        index,
                        id="sku",
                        on_progress=stop_once,
                    )
                )
    finally:
        cluster.close(timeout=1)
        local.close(timeout=1)

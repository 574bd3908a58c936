"""Faults of a cluster and of the service while many partitions are in flight."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import fields
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pytest
from dask.delayed import delayed
from distributed import Client as DaskClient
from distributed import LocalCluster

from svc_notebook.data import loading
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.loading.dask.load import ClusterTimes, _DaskRun
from svc_notebook.data.loading.dask.partition_sender import (
    cluster_lost,
    expects_workers,
    open_partition_checkpoint,
)
from svc_notebook.data.loading.options import LoadSettings, SendSettings
from svc_notebook.data.loading.sources.partitions import SourcePartitions
from svc_notebook.data.loading.table import TableOrigin
from svc_notebook.errors import SvcError, TooMany
from tests.conftest import Running
from tests.hostile import network

FRAME = pd.DataFrame({"sku": [f"{n:04d}" for n in range(400)], "price": range(400)})


class SlowService:
    """Stands in for the sending of partitions: a service that allows a number of calls at once."""

    def __init__(self, allowed: int, result: loading.LoadResult) -> None:
        self.allowed, self.result = allowed, result
        self.busy = 0
        self.sent: list[int] = []
        self.running: list[int] = []

    async def send(self, number: int, partition: Any, target: str) -> loading.LoadResult:
        self.busy += 1
        self.running.append(self.busy)
        try:
            refused = self.busy > self.allowed
            await asyncio.sleep(0.01)
            if refused:
                raise TooMany("slow down", wait=0.01)
        finally:
            self.busy -= 1
        self.sent.append(number)
        return self.result


@pytest.mark.slow
def test_two_hundred_partitions_in_flight_agree_on_what_the_service_takes(
    client: Client, index: str
) -> None:
    parts = [delayed(FRAME.iloc[:2]) for _ in range(2000)]
    partitions = SourcePartitions("2,000 parts", ("sku", "price"), parts)
    one = background_loop.run(loading.load(client.aio, FRAME.iloc[:2], index, id="sku"))
    service = SlowService(allowed=100, result=one)

    class Run(_DaskRun):
        _send_one = staticmethod(service.send)  # type: ignore[assignment]

    async def send() -> Any:
        options = LoadSettings.of({"id": "sku"})
        times = ClusterTimes(first_pause_seconds=0.01)
        run = Run(client.aio, partitions, index, options, SendSettings(in_flight=200), times)
        await run.send(index)
        return run

    run = background_loop.run(send())

    assert sorted(service.sent) == list(range(2000))
    # All refused calls of one moment are one overload: the limit is halved, not lost.
    assert run.limiter.decreases < 10
    # A few more are tried until the first of them is refused.
    assert max(service.running[-50:]) <= 1.1 * service.allowed
    assert run.result().published == 4000


@pytest.mark.slow
@pytest.mark.usefixtures("workers")
@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_partitions_arrive_whole_through_answers_429_and_503(
    service: Running, client: Client, index: str, if_exists: str
) -> None:
    """Workers send through a service that refuses every third batch, and is away at others."""
    draw = random.Random(7)
    faults = (network.slow_down, network.be_away, network.pass_on, network.pass_on)

    def choose(_: network.Proxy, request: network.Request) -> network.Fault:
        return draw.choice(faults) if request.path.endswith("/batch") else network.pass_on

    options: dict[str, Any] = {"id": "sku", "batch": 20, "if_exists": if_exists}
    with network.running(network.Proxy(service.url, choose)) as proxy:
        config = ClientConfig(url=proxy.url, app_id=service.appId, api_key=Secret(service.adminKey))
        with Client(config) as through:
            frame = dd.from_pandas(FRAME, npartitions=8)
            result = background_loop.run(loading.load(through.aio, frame, index, **options))

    assert proxy.injected["slow_down"] > 0
    assert proxy.injected["be_away"] > 0
    assert (result.published, result.rejected_rows) == (len(FRAME), 0)
    hits = [hit for page in client.browse_pages(index) for hit in page["hits"]]
    records = {hit["objectID"]: hit["price"] for hit in hits}
    assert records == dict(zip(FRAME["sku"], FRAME["price"], strict=True))


class LostCluster:
    """A cluster whose scheduler answered once, and then has no workers, or does not answer."""

    def __init__(self, status: str) -> None:
        self.status, self._threads = status, [{"tcp://worker": 2}]

    def nthreads(self) -> dict[str, int]:
        return self._threads.pop() if self._threads else {}


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ("running", r"no workers: start some \(cluster.scale\(4\)\)"),
        ("connecting", "the Dask scheduler does not answer: start the cluster"),
    ],
)
def test_a_cluster_that_is_gone_is_an_error_with_advice(
    status: str, message: str, client: Client, index: str
) -> None:
    partitions = SourcePartitions("parts", ("sku",), [delayed(FRAME)])
    options = LoadSettings.of({"id": "sku"})

    async def watch() -> None:
        times = ClusterTimes(*[0.01] * len(fields(ClusterTimes)))
        run = _DaskRun(client.aio, partitions, index, options, SendSettings(), times)
        await run._watch(LostCluster(status))

    with pytest.raises(SvcError, match=message):
        background_loop.run(watch())


def test_a_cluster_without_workers_is_an_error_within_seconds(client: Client, index: str) -> None:
    partitions = SourcePartitions("parts", ("sku",), [delayed(FRAME)] * 2)
    none: Any = {"n_workers": 0, "processes": False, "dashboard_address": None}

    async def send() -> None:
        options, times = LoadSettings.of({"id": "sku"}), ClusterTimes(max_silent_seconds=0.5)
        run = _DaskRun(client.aio, partitions, index, options, SendSettings(), times)
        await run.send(index)

    with LocalCluster(**none) as cluster, DaskClient(cluster) as workers:
        started = time.monotonic()

        with pytest.raises(SvcError, match="the Dask cluster has no workers: start some"):
            background_loop.run(send())

        assert time.monotonic() - started < 10
        cluster.scale(1)
        assert expects_workers(workers)


class BusyCluster:
    """A cluster whose scheduler is connected, but takes long for its second answer."""

    status = "running"

    def __init__(self) -> None:
        self.answers = 0

    def nthreads(self) -> dict[str, int]:
        self.answers += 1
        if self.answers == 2:
            time.sleep(0.5)
        return {"tcp://worker": 2}


def test_a_scheduler_that_is_busy_is_not_gone(client: Client, index: str) -> None:
    partitions = SourcePartitions("parts", ("sku",), [delayed(FRAME)])
    cluster = BusyCluster()

    async def watch() -> None:
        options = LoadSettings.of({"id": "sku"})
        times = ClusterTimes(watch_seconds=0.01, max_silent_seconds=0.01)
        run = _DaskRun(client.aio, partitions, index, options, SendSettings(), times)
        asyncio.get_running_loop().call_later(1, run.finished.set)
        await run._watch(cluster)

    background_loop.run(watch())

    assert cluster.answers >= 2


def test_the_advice_after_a_lost_cluster_resumes_what_was_published(
    client: Client, index: str
) -> None:
    origin = TableOrigin("Dask", "dask token")
    partitions = SourcePartitions("parts", ("sku",), [delayed(FRAME)] * 2, origin=origin)
    options = LoadSettings.of({"id": "sku"})
    run = _DaskRun(client.aio, partitions, index, options, SendSettings())
    run.checkpoint = open_partition_checkpoint(
        client.aio, partitions, index, options, "append", hashed=False
    )

    before = str(cluster_lost(LostCluster("running"), run.advice()))
    run.done[0] = background_loop.run(loading.load(client.aio, FRAME, index, id="sku"))
    after = str(cluster_lost(LostCluster("running"), run.advice()))

    assert before.endswith("then load again; equal ids overwrite what was sent")
    assert after.endswith("then load again with resume=True, which sends only what is missing")

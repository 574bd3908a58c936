"""Loads, browses and exports over connections with faults."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pandas as pd
import pytest

from svc_notebook.data import loading
from svc_notebook.data.client import Client, ClientConfig, Secret, background_loop
from svc_notebook.data.client.retry import RetryPolicy
from svc_notebook.errors import CallFailed, Unreachable
from tests.conftest import Running
from tests.hostile import network
from tests.hostile.network import Exchange, Proxy, Request, at_random, running

# Waits as short as the local network allows; the tries are those of every client.
HASTY = RetryPolicy(connect=1, read=5, write=10)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def direct(service: Running) -> Iterator[Client]:
    """A client that the network lets alone."""
    with client_at(service.url, service) as client:
        yield client


@pytest.fixture
def index() -> str:
    return f"hostile-{uuid4().hex[:8]}"


def client_at(url: str, service: Running, retry_policy: RetryPolicy = HASTY) -> Client:
    key = Secret(service.adminKey)
    return Client(
        ClientConfig(url=url, app_id=service.appId, api_key=key, retry_policy=retry_policy)
    )


def stored(client: Client, index: str) -> pd.DataFrame:
    hits = [hit for page in client.browse_pages(index) for hit in page["hits"]]
    return pd.DataFrame(hits).sort_values("objectID", ignore_index=True)


def load(client: Client, *args: Any, **options: Any) -> loading.LoadResult:
    return background_loop.run(loading.load(client.aio, *args, **options))


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_hundred_thousand_rows_arrive_exactly_once(
    service: Running,
    direct: Client,
    index: str,
    tmp_path: Path,
) -> None:
    frame = pd.DataFrame(
        {
            "objectID": [f"{n:06d}" for n in range(100_000)],
            "n": np.arange(100_000),
            "word": [f"w{n % 7}" for n in range(100_000)],
        }
    )
    frame.to_csv(tmp_path / "rows.csv", index=False)
    dice = random.Random(5)
    proxy = Proxy(service.url, at_random(0.3, seed=7), cut=lambda: dice.random() < 0.05)

    with running(proxy), client_at(proxy.url, service) as client:
        result = load(client, tmp_path / "rows.csv", index, batch=250, dtype={"word": "string"})

    assert (result.sent, result.published, result.complete) == (100_000, 100_000, True)
    pd.testing.assert_frame_equal(stored(direct, index), frame, check_dtype=False)
    assert proxy.injected.total() > 120, proxy.injected
    assert {fault.__name__ for fault in network.FAULTS} < set(proxy.injected)


@pytest.mark.slow
def test_rows_of_one_id_keep_their_order(service: Running, direct: Client, index: str) -> None:
    frame = pd.DataFrame({"id": [f"{n % 40:02d}" for n in range(2000)], "n": range(2000)})
    proxy = Proxy(service.url, at_random(0.3, seed=3))

    with running(proxy), client_at(proxy.url, service) as client:
        load(client, frame, index, id="id", duplicates="keep", batch=20)

    assert stored(direct, index)["n"].tolist() == list(range(1960, 2000))
    assert proxy.injected.total() > 20


@pytest.mark.slow
def test_an_increment_is_never_made_twice(service: Running, direct: Client, index: str) -> None:
    ids = [f"{n:03d}" for n in range(300)]
    load(direct, pd.DataFrame({"objectID": ids, "n": 0}), index)
    proxy = Proxy(service.url, at_random(0.4, seed=1))
    sure: list[str] = []

    with running(proxy), client_at(proxy.url, service) as client:
        for start in range(0, 300, 10):
            part = pd.DataFrame({"objectID": ids[start : start + 10], "n": 1})
            with contextlib.suppress(CallFailed):
                load(client, part, index, action="update", operations={"n": "Increment"})
                sure += ids[start : start + 10]

    counts = stored(direct, index).set_index("objectID")["n"]
    assert set(counts) <= {0, 1}
    assert set(counts[sure]) == {1}
    assert 0 < len(sure) < 300


def test_what_is_certain_to_have_failed_is_sent_again_increments_too(
    service: Running, direct: Client, index: str
) -> None:
    ids = [f"{n:03d}" for n in range(100)]
    proxy = Proxy(service.url, at_random(0.6, seed=2, faults=network.HARMLESS))

    with running(proxy), client_at(proxy.url, service) as client:
        load(
            client, pd.DataFrame({"objectID": ids, "n": 1}), index,
            batch=5, action="update", operations={"n": "Increment"},
        )  # fmt: skip

    assert stored(direct, index)["n"].tolist() == [1] * 100
    assert proxy.injected["slow_down"] > 2


@pytest.mark.slow
def test_a_load_that_is_told_to_slow_down_does(
    service: Running, direct: Client, index: str, short_backoff: None
) -> None:
    refused: list[bool] = []

    async def take_time(exchange: Exchange) -> bool:
        await asyncio.sleep(0.02)
        return await network.pass_on(exchange)

    def two_at_once(proxy: Proxy, request: Request) -> network.Fault:
        if not request.path.endswith("/batch"):
            return network.pass_on
        refused.append(proxy.busy >= 2)
        return network.slow_down if refused[-1] else take_time

    proxy = Proxy(service.url, two_at_once)
    frame = pd.DataFrame({"objectID": [f"{n:05d}" for n in range(1500)], "n": 1})

    with running(proxy), client_at(proxy.url, service) as client:
        result = load(client, frame, index, batch=20, in_flight=8)

    assert result.complete
    assert len(stored(direct, index)) == 1500
    # Eight that kept on coming would be refused until one of them gives up.
    assert sum(refused) > 10


def test_a_service_that_stays_away_is_told_in_bounded_time(
    service: Running, index: str, short_backoff: None
) -> None:
    proxy = Proxy(service.url, lambda proxy, request: gone_after(proxy, 10))
    frame = pd.DataFrame({"objectID": [str(n) for n in range(1000)], "n": 1})

    with (
        running(proxy),
        client_at(proxy.url, service, RetryPolicy(attempts=2)) as client,
        pytest.raises(Unreachable) as caught,
    ):
        load(client, frame, index, batch=20)

    assert "of 1,000 rows were sent" in caught.value.__notes__[0]
    assert caught.value.tried


def gone_after(proxy: Proxy, requests: int) -> Any:
    return network.pass_on if proxy.requests < requests else network.drop


@pytest.mark.slow
def test_an_export_through_it_holds_every_record(
    service: Running, direct: Client, index: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"objectID": [f"{n:05d}" for n in range(20_000)], "n": range(20_000)})
    load(direct, frame, index)
    proxy = Proxy(service.url, at_random(0.4, seed=11))

    with running(proxy), client_at(proxy.url, service) as client:
        background_loop.run(loading.export(client.aio, index, tmp_path / "a.parquet"))

    found = pd.read_parquet(tmp_path / "a.parquet").sort_values("objectID", ignore_index=True)
    pd.testing.assert_frame_equal(found, frame, check_dtype=False)
    assert proxy.injected.total() > 5

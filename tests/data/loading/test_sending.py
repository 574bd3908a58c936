"""Batches sent concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import httpx
import pytest

from svc_notebook.core.api import Endpoint, RequestSpec
from svc_notebook.data.client import AsyncClient
from svc_notebook.data.client.transport.exchange import pack_body
from svc_notebook.data.loading.sending.batch_sender import (
    MAX_ATTEMPTS,
    ConcurrencyLimiter,
    send_batches,
)
from svc_notebook.data.loading.sending.batches import Batch, Span
from svc_notebook.errors import (
    CallFailed,
    KeyRefused,
    ServiceBroken,
    TimedOut,
    TooMany,
    Unreachable,
)


class Service:
    """Answers batches in its own time, after failing as it is told to."""

    def __init__(self, failures: Sequence[CallFailed] = ()) -> None:
        self.failures = list(failures)
        self.taken: list[bytes] = []
        self.at_once = self.most_at_once = 0

    async def perform(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(0.001)
            if self.failures:
                raise self.failures.pop(0)
            self.taken.append(pack_body(endpoint, parcel.body).content or b"")
            return {"taskID": len(self.taken), "objectIDs": []}
        finally:
            self.at_once -= 1


class Clock:
    def __init__(self) -> None:
        self.waited: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waited.append(seconds)
        await asyncio.sleep(0)


def send(
    service: Service, count: int, limiter: ConcurrencyLimiter, *, repeatable: bool = True
) -> list[float]:
    """Send so many batches; returns what was waited for."""
    batches = [Batch(Span(n, n + 1), 1, b"%d" % n, repeatable) for n in range(count)]
    clock = Clock()

    async def next_batch() -> Batch | None:
        return batches.pop(0) if batches else None

    async def main() -> None:
        client = cast("AsyncClient", service)
        await send_batches(
            client, "i", next_batch, lambda *_: None, limiter=limiter, sleep=clock.sleep
        )

    asyncio.run(main())
    return clock.waited


def test_several_batches_are_on_their_way_at_once_but_no_more() -> None:
    service = Service()

    send(service, 20, ConcurrencyLimiter(4))

    assert sorted(service.taken, key=int) == [b"%d" % n for n in range(20)]
    assert service.most_at_once == 4


def test_one_slot_keeps_the_order() -> None:
    service = Service()

    send(service, 10, ConcurrencyLimiter(1))

    assert service.taken == [b"%d" % n for n in range(10)]


def test_a_rate_limit_causes_a_wait_and_halves_the_concurrency() -> None:
    service, limiter = Service([TooMany("slowly", wait=7)]), ConcurrencyLimiter(4)

    waited = send(service, 4, limiter)

    assert waited == [7]
    assert limiter.limit == 2
    assert len(service.taken) == 4


def test_the_concurrency_increases_again_after_successes() -> None:
    service, limiter = Service([TooMany("slowly")]), ConcurrencyLimiter(4)

    send(service, 60, limiter)

    assert limiter.limit == 4


@pytest.mark.parametrize(
    "failure", [Unreachable("away"), TimedOut("late"), ServiceBroken("oops", status=500)]
)
def test_a_passing_failure_is_tried_again(failure: CallFailed) -> None:
    service = Service([failure, failure])

    send(service, 3, ConcurrencyLimiter(1))

    assert service.taken == [b"0", b"1", b"2"]


def nobody_there() -> Unreachable:
    error = Unreachable("nobody there")
    error.__cause__ = httpx.ConnectError("refused")
    return error


def test_where_nobody_has_been_there_yet_nobody_is_waited_for() -> None:
    service = Service([nobody_there()])

    with pytest.raises(Unreachable, match="nobody there"):
        send(service, 3, ConcurrencyLimiter(1))

    assert service.taken == []


def test_who_was_there_before_is_waited_for() -> None:
    service = Service([TimedOut("late"), TooMany("slowly", wait=1)])
    limiter = ConcurrencyLimiter(1)
    send(service, 1, limiter)
    service.failures = [nobody_there(), nobody_there()]

    waited = send(service, 1, limiter)

    assert (service.taken, waited) == ([b"0", b"0"], [0.5, 1.0])


def test_what_may_not_be_repeated_is_not() -> None:
    service = Service([TimedOut("late")])

    with pytest.raises(TimedOut):
        send(service, 3, ConcurrencyLimiter(1), repeatable=False)

    assert service.taken == []


def test_even_what_may_not_be_repeated_waits_when_nothing_was_taken() -> None:
    service = Service([TooMany("slowly", wait=1)])

    send(service, 1, ConcurrencyLimiter(1), repeatable=False)

    assert service.taken == [b"0"]


def test_a_refusal_ends_the_load_at_once() -> None:
    service = Service([KeyRefused("no", status=403)])

    with pytest.raises(KeyRefused):
        send(service, 3, ConcurrencyLimiter(1))

    assert service.taken == []


def test_the_last_failed_attempt_raises() -> None:
    service = Service([TooMany("slowly", wait=1)] * MAX_ATTEMPTS)

    with pytest.raises(TooMany):
        send(service, 1, ConcurrencyLimiter(1))


class SlowService(Service):
    """Takes batches at once, and acknowledges them after a while."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds
        self.is_full = asyncio.Event()

    async def perform(self, endpoint: Endpoint, parcel: RequestSpec) -> Any:
        self.taken.append(pack_body(endpoint, parcel.body).content or b"")
        if len(self.taken) == 4:
            self.is_full.set()
        await asyncio.sleep(self.seconds)
        return {"taskID": len(self.taken), "objectIDs": []}


@pytest.mark.parametrize(
    ("seconds", "is_known"), [(0.05, True), (60, False)], ids=["soon", "not in time"]
)
def test_a_stopped_load_counts_the_batches_in_flight(seconds: float, is_known: bool) -> None:
    service = SlowService(seconds)
    counted: dict[bool, list[bytes]] = {True: [], False: []}

    async def next_batch() -> Batch | None:
        number = len(service.taken)
        return Batch(Span(number, number + 1), 1, b"%d" % number, True)

    async def stop_while_sending() -> None:
        sending = asyncio.create_task(
            send_batches(
                cast("AsyncClient", service), "i", next_batch,
                lambda batch, _: counted[True].append(batch.body),
                limiter=ConcurrencyLimiter(4),
                uncertain=lambda batch: counted[False].append(batch.body),
            )
        )  # fmt: skip
        await service.is_full.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending

    asyncio.run(stop_while_sending())

    assert sorted(counted[is_known]) == sorted(service.taken)
    assert counted[not is_known] == []

"""The retry plan, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_notebook.data.client.hosts import Hosts, Role
from svc_notebook.data.client.retry import (
    Attempt,
    FailedAttempt,
    Outcome,
    Plan,
    RateLimited,
    ReceivedReply,
    RetryPolicy,
    plan_attempts,
)
from svc_notebook.errors import BadInput, NotFound, TooMany
from tests.data.client.clock import Clock

REFUSED_CONNECTION = FailedAttempt("connection refused", arrived=False)
BROKEN = FailedAttempt("answered 500", arrived=True)
TOO_LATE = FailedAttempt("read timeout", arrived=True, lasting=False, timed_out=True)
BUSY = RateLimited(TooMany("slow down", wait=7))


def hosts_of(*names: str) -> Hosts:
    return Hosts({"read": names, "write": names}, clock=Clock())


def follow(
    hosts: Hosts,
    *outcomes: Outcome,
    repeatable: bool = True,
    patience: RetryPolicy | None = None,
) -> list[Attempt]:
    """Tell a plan how its attempts went, the last outcome again and again."""
    plan = plan_attempts(hosts, "read", patience or RetryPolicy(), repeatable=repeatable)
    told = endless(outcomes)
    attempts = [next(plan)]
    try:
        while True:
            attempts.append(plan.send(next(told)))
    except StopIteration:
        return attempts


def endless(outcomes: tuple[Outcome, ...]) -> Iterator[Outcome]:
    yield from outcomes
    while True:
        yield outcomes[-1]


def test_an_answer_ends_the_plan() -> None:
    assert [a.host for a in follow(hosts_of("a", "b"), ReceivedReply({}))] == ["a"]


def test_a_refusal_ends_the_plan() -> None:
    refusal = ReceivedReply(refusal=NotFound("no index", status=404))

    assert [a.host for a in follow(hosts_of("a", "b"), refusal)] == ["a"]


@pytest.mark.parametrize("failure", [REFUSED_CONNECTION, BROKEN, TOO_LATE])
def test_a_failure_leads_to_the_next_host(failure: FailedAttempt) -> None:
    assert [a.host for a in follow(hosts_of("a", "b"), failure, ReceivedReply({}))] == ["a", "b"]


def test_time_outs_grow_with_each_round() -> None:
    attempts = follow(hosts_of("a", "b"), TOO_LATE, patience=RetryPolicy(connect=2, read=5))

    assert [(a.host, a.connect, a.answer) for a in attempts] == [
        ("a", 2, 5), ("b", 2, 5), ("a", 4, 10), ("b", 4, 10), ("a", 6, 15), ("b", 6, 15),
    ]  # fmt: skip


def test_a_round_begins_after_a_growing_pause() -> None:
    attempts = follow(hosts_of("a", "b"), REFUSED_CONNECTION)

    assert [a.wait for a in attempts] == [0, 0, 0.05, 0, 0.1, 0]


def test_every_host_is_tried_even_if_there_are_many() -> None:
    names = "abcdefghij"

    assert [a.host for a in follow(hosts_of(*names), REFUSED_CONNECTION)] == list(names)


def test_a_write_that_may_have_arrived_is_not_sent_again() -> None:
    attempts = follow(hosts_of("a", "b"), REFUSED_CONNECTION, BROKEN, repeatable=False)

    assert [a.host for a in attempts] == ["a", "b"]


def test_a_slow_answer_does_not_set_a_host_aside() -> None:
    hosts = hosts_of("a", "b")

    follow(hosts, TOO_LATE, BROKEN, ReceivedReply({}))

    assert hosts.order("read") == ["a", "b"]


def test_a_failure_sets_a_host_aside() -> None:
    hosts = hosts_of("a", "b")

    follow(hosts, BROKEN, ReceivedReply({}))

    assert hosts.order("read") == ["b", "a"]


def test_asked_to_slow_down_it_waits_and_asks_the_same_host() -> None:
    attempts = follow(hosts_of("a", "b"), BUSY, BUSY, ReceivedReply({}))

    assert [(a.host, a.wait) for a in attempts] == [("a", 0), ("a", 7), ("a", 7)]


def test_it_slows_down_a_few_times_only() -> None:
    assert len(follow(hosts_of("a"), BUSY, patience=RetryPolicy(slow_downs=3))) == 4


def test_it_does_not_wait_for_an_hour() -> None:
    assert len(follow(hosts_of("a"), RateLimited(TooMany("used up", wait=3600)))) == 1


OUTCOMES = st.sampled_from([REFUSED_CONNECTION, BROKEN, TOO_LATE, BUSY, ReceivedReply({})])


@given(outcomes=st.lists(OUTCOMES, min_size=1), repeatable=st.booleans(), count=st.integers(1, 5))
def test_a_plan_always_ends_and_repeats_only_what_it_may(
    outcomes: list[Outcome], repeatable: bool, count: int
) -> None:
    patience = RetryPolicy()

    attempts = follow(hosts_of(*"abcde"[:count]), *outcomes, repeatable=repeatable)

    went = [*outcomes, *[outcomes[-1]] * len(attempts)][: len(attempts) - 1]
    assert len(attempts) <= max(patience.attempts, count) + patience.slow_downs
    assert not any(isinstance(how, ReceivedReply) for how in went)
    assert repeatable or not any(isinstance(how, FailedAttempt) and how.arrived for how in went)


@pytest.mark.parametrize(("role", "seconds"), [("read", 5), ("write", 30)])
def test_a_lone_host_that_hangs_is_tried_once(role: Role, seconds: float) -> None:
    """Told with a clock: how long a caller waits in all, for a host that never answers."""
    clock = Clock()
    hosts = Hosts({"read": ("a",), "write": ("a",)}, clock=clock)
    plan = plan_attempts(hosts, role, RetryPolicy(), repeatable=True)
    began, tried = clock.now, 0
    attempt: Attempt | None = next(plan)
    while attempt:
        tried += 1
        clock.now += attempt.wait + attempt.answer
        attempt = next_of(plan, TOO_LATE)

    assert (tried, clock.now - began) == (1, seconds)


def next_of(plan: Plan, outcome: Outcome) -> Attempt | None:
    try:
        return plan.send(outcome)
    except StopIteration:
        return None


def test_a_lone_host_that_cannot_be_reached_in_time_is_tried_once() -> None:
    late = FailedAttempt("connect timeout", arrived=False, timed_out=True)

    assert [a.connect for a in follow(hosts_of("a"), late)] == [2]


@pytest.mark.parametrize("failure", [REFUSED_CONNECTION, BROKEN])
def test_a_lone_host_that_fails_at_once_is_tried_again(failure: FailedAttempt) -> None:
    assert len(follow(hosts_of("a"), failure)) == RetryPolicy().attempts


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "5", True, None])
def test_a_time_out_is_a_number_of_seconds(seconds: Any) -> None:
    with pytest.raises(BadInput, match="number of seconds above 0"):
        RetryPolicy(read=seconds)

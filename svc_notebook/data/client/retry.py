"""The retry policy: decides which attempt follows a failed one, without using the network."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any, NamedTuple

from svc_notebook.core.api.values import is_number
from svc_notebook.data.client.hosts import Hosts, Role
from svc_notebook.errors import BadInput, CallFailed, TooMany


@dataclass(frozen=True)
class RetryPolicy:
    """Timeouts and waits in seconds, and the number of attempts.

    - `connect`, `read`, `write`: timeouts of connecting, of reads and of writes.
    - `attempts`: the minimum number of attempts; each host of a role is tried at least once.
    - `slow_downs`: how often a rate-limited call is repeated.
    - `longest_wait`: the longest wait, in seconds, that is accepted from a rate limit.
    """

    connect: float = 2
    read: float = 5
    write: float = 30
    attempts: int = 6
    slow_downs: int = 3
    longest_wait: float = 60

    def __post_init__(self) -> None:
        for name in ("connect", "read", "write"):
            check_seconds(name, getattr(self, name))

    def changed(self, **seconds: float | None) -> RetryPolicy:
        """Return a copy with some timeouts changed: `connect`, `read`, `write`."""
        given = {name: value for name, value in seconds.items() if value is not None}
        return replace(self, **given) if given else self  # type: ignore[arg-type]

    def answer(self, role: Role) -> float:
        """Return the response timeout of the first attempt, in seconds."""
        return self.read if role == "read" else self.write


def check_seconds(name: str, seconds: Any) -> None:
    """Raise `BadInput` for an invalid timeout."""
    if not (is_number(seconds) and math.isfinite(seconds) and seconds > 0):
        raise BadInput(f"`{name}` must be a number of seconds above 0, not {seconds!r}")


class Attempt(NamedTuple):
    """An attempt on a host: wait `wait` seconds, then send with these timeouts."""

    host: str
    connect: float
    answer: float
    wait: float = 0


class ReceivedReply(NamedTuple):
    """The host responded; if `refusal` is set, further attempts are useless."""

    value: Any = None
    refusal: CallFailed | None = None


class FailedAttempt(NamedTuple):
    """The attempt failed.

    `arrived` says whether the request may have been executed, `lasting` whether the host is likely
    to fail the next call too.
    """

    reason: str
    arrived: bool
    lasting: bool = True
    timed_out: bool = False
    cause: Exception | None = None


class RateLimited(NamedTuple):
    """The rate limit of the host is exceeded; the request was not executed."""

    refusal: TooMany


Outcome = ReceivedReply | FailedAttempt | RateLimited
Plan = Generator[Attempt, Outcome, None]


def plan_attempts(hosts: Hosts, role: Role, policy: RetryPolicy, *, repeatable: bool) -> Plan:
    """Yield attempts and receive their outcomes; ends when no further attempt is useful.

    A single host that times out is tried once, because more attempts would only multiply the wait.
    A host that refuses the connection, resets it or fails is tried again, because that takes no
    time.
    """
    order = hosts.order(role)
    slow_downs = policy.slow_downs
    for number, host in enumerate(islice(cycle(order), max(policy.attempts, len(order)))):
        turn, position = divmod(number, len(order))
        wait = _pause(turn) if position == 0 else 0
        attempt = Attempt(host, policy.connect * (turn + 1), policy.answer(role) * (turn + 1), wait)
        outcome = yield attempt
        while isinstance(outcome, RateLimited):
            if slow_downs == 0 or outcome.refusal.wait > policy.longest_wait:
                return
            slow_downs -= 1
            outcome = yield attempt._replace(wait=outcome.refusal.wait)
        if isinstance(outcome, ReceivedReply):
            hosts.restore(host)
            return
        if outcome.lasting:
            hosts.mark_down(host)
        if outcome.arrived and not repeatable:
            return
        if outcome.timed_out and len(order) == 1:
            return


def _pause(turn: int) -> float:
    """Return the seconds to wait before a new round over the hosts: 0, then 0.05, 0.1, 0.2, ..."""
    return 0.05 * 2 ** (turn - 1) if turn else 0

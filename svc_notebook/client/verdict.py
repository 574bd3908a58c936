"""What a call comes to after all that was tried: its answer, or the one error that says why."""

from __future__ import annotations

from typing import Any, NamedTuple

from svc_notebook.api import Endpoint
from svc_notebook.client.hosts import is_loopback
from svc_notebook.client.retry import Failure, Outcome, SlowDown
from svc_notebook.errors import CallFailed, ServiceBroken, TimedOut, Unreachable

UNSURE = "it may or may not have been applied, so it was not sent again; look before you repeat it"


class Try(NamedTuple):
    """A host and how it went there."""

    host: str
    outcome: Outcome


def conclude(
    endpoint: Endpoint, tries: list[Try], *, repeatable: bool, request_id: str = ""
) -> Any:
    """Return the answer of the last try, or raise what is to be told.

    An error bears the service's own name for the request, or else `request_id`.
    """
    last = tries[-1].outcome
    if isinstance(last, Failure):
        error = _failed(endpoint, tries, repeatable=repeatable)
        error.request_id = getattr(last.cause, "request_id", "") or request_id
        if isinstance(error, ServiceBroken):
            error.add_note(f"request id: {error.request_id}")
        raise error from last.cause
    if isinstance(last, SlowDown):
        last.refusal.request_id = last.refusal.request_id or request_id
        raise last.refusal
    if last.refusal:
        last.refusal.request_id = last.refusal.request_id or request_id
        raise last.refusal
    return last.value


def _failed(endpoint: Endpoint, tries: list[Try], *, repeatable: bool) -> CallFailed:
    failed = [(host, how) for host, how in tries if isinstance(how, Failure)]
    unsure = not repeatable and any(how.arrived for _, how in failed)
    reasons = dict.fromkeys(f"{host}: {how.reason}" for host, how in failed)
    told = "; ".join([*reasons, UNSURE if unsure else _advice(tries[-1].host)])
    tried = [f"{host}: {how.reason}" for host, how in failed]
    broken = [how.cause for _, how in failed if isinstance(how.cause, ServiceBroken)]
    if broken:
        return ServiceBroken(
            f"{endpoint.name}: {told}", status=broken[-1].status, endpoint=endpoint.name
        )
    if all(how.timed_out for _, how in failed):
        return TimedOut(
            f"{endpoint.name} took too long: {told}", endpoint=endpoint.name, tried=tried
        )
    return Unreachable(f"{endpoint.name}: no answer: {told}", endpoint=endpoint.name, tried=tried)


def _advice(host: str) -> str:
    if is_loopback(host):
        return (
            'is the service on this machine running? connect("local") starts it, in a shell '
            "`svc serve`"
        )
    return "check the address, the network, and whether the service is up"

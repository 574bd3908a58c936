"""The sender of requests to the hosts, with retries; the only module that uses the network."""

from __future__ import annotations

import asyncio
import gzip
import platform
import secrets
import string
from collections.abc import Awaitable, Callable, Iterator, Mapping
from copy import copy
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import httpx

from svc_notebook.core.api import Endpoint, RequestSpec
from svc_notebook.core.api.endpoint import Decode
from svc_notebook.core.api.validation import write_query
from svc_notebook.core.release import read_version
from svc_notebook.data.client.config import (
    NO_OPTIONS,
    ClientConfig,
    RequestOptions,
    Response,
    merge_extra,
)
from svc_notebook.data.client.hosts import is_loopback, role_of
from svc_notebook.data.client.retry import (
    Attempt,
    FailedAttempt,
    Outcome,
    Plan,
    RateLimited,
    ReceivedReply,
    plan_attempts,
)
from svc_notebook.data.client.transport.error_mapping import read_answer, read_failure
from svc_notebook.data.client.transport.exchange import (
    ENCODINGS,
    Keys,
    Request,
    SerializedBody,
    TooLarge,
    pack_body,
)
from svc_notebook.data.client.transport.pool import Channels
from svc_notebook.errors import (
    AnswerTooLarge,
    BadInput,
    CallFailed,
    ServiceBroken,
    TimedOut,
    Unreachable,
)

UNSURE = "it may have been applied, so it was not sent again; check before you repeat the call"


class AttemptOutcome(NamedTuple):
    """A host and the outcome of the attempt on it."""

    host: str
    outcome: Outcome


def conclude(
    endpoint: Endpoint, tries: list[AttemptOutcome], *, repeatable: bool, request_id: str = ""
) -> Any:
    """Turn the attempts of one call into a response or one error.

    The error has the service's id of the request, or else `request_id`.
    """
    last = tries[-1].outcome
    if isinstance(last, FailedAttempt):
        error = _failed(endpoint, tries, repeatable=repeatable)
        error.request_id = getattr(last.cause, "request_id", "") or request_id
        if isinstance(error, ServiceBroken):
            error.add_note(f"request id: {error.request_id}")
        raise error from last.cause
    if isinstance(last, RateLimited):
        last.refusal.request_id = last.refusal.request_id or request_id
        raise last.refusal
    if last.refusal:
        last.refusal.request_id = last.refusal.request_id or request_id
        raise last.refusal
    return last.value


def _failed(endpoint: Endpoint, tries: list[AttemptOutcome], *, repeatable: bool) -> CallFailed:
    failed = [(host, how) for host, how in tries if isinstance(how, FailedAttempt)]
    unsure = not repeatable and any(how.arrived for _, how in failed)
    tried = [f"{host}: {how.reason}" for host, how in failed]
    message = "; ".join([*dict.fromkeys(tried), *([UNSURE] if unsure else _advise(*failed[-1]))])
    broken = [how.cause for _, how in failed if isinstance(how.cause, ServiceBroken)]
    if broken:
        return ServiceBroken(
            f"{endpoint.name}: {message}", status=broken[-1].status, endpoint=endpoint.name
        )
    if all(how.timed_out for _, how in failed):
        return TimedOut(
            f"{endpoint.name} timed out: {message}", endpoint=endpoint.name, tried=tried
        )
    return Unreachable(
        f"{endpoint.name}: no response: {message}", endpoint=endpoint.name, tried=tried
    )


def _advise(host: str, last: FailedAttempt) -> Iterator[str]:
    """Yield what to check; a service on this machine that has answered runs."""
    if not is_loopback(host):
        yield "check the address, the network, and whether the service is up"
    elif not isinstance(last.cause, ServiceBroken):
        yield (
            'check that the service on this machine is running; svc.connect("local") starts one, '
            "in a shell `svc serve`"
        )


Sleep = Callable[[float], Awaitable[None]]
# A response may arrive slowly, but within this multiple of the timeout.
MAX_TIMEOUT_FACTOR = 12
MIN_COMPRESSED_BYTES = 1024
# Characters of path and query; the HTTP library has the same limit.
MAX_TARGET_CHARACTERS = 65_000
# The format of request ids of the vendor's own clients.
REQUEST_ID_LENGTH = 11
REQUEST_ID_LETTERS = string.digits + string.ascii_letters


class Message(NamedTuple):
    """A request prepared for sending to any host."""

    endpoint: Endpoint
    target: str
    headers: dict[str, str]
    content: bytes | None
    keys: Keys
    read: Decode
    request_id: str


class HttpSender:
    """Sends calls over HTTP to one host after another, until one responds."""

    def __init__(
        self,
        connection: ClientConfig,
        *,
        sleep: Sleep = asyncio.sleep,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.connection = connection
        self.hosts = connection.open_hosts()
        self.options = NO_OPTIONS
        self._sleep = sleep
        self._channels = Channels(transport)

    def with_options(self, options: RequestOptions) -> HttpSender:
        """Return a sender over the same hosts and connections that applies these options."""
        other = copy(self)
        other.options = options
        return other

    async def send(self, endpoint: Endpoint, spec: RequestSpec) -> Any:
        """Return the decoded response, or raise `CallFailed`."""
        spec = _with_extra(endpoint, spec, self.options.extra)
        packed = pack_body(endpoint, spec.body)
        message = await self._make_message(endpoint, spec, packed)
        policy, role = self.options.apply_timeouts(self.connection.retry_policy), role_of(endpoint)
        plan = plan_attempts(self.hosts, role, policy, repeatable=packed.repeatable)
        tries: list[AttemptOutcome] = []
        attempt: Attempt | None = next(plan)
        while attempt:
            if attempt.wait:
                await self._sleep(attempt.wait)
            outcome = await self._try_host(message, attempt)
            tries.append(AttemptOutcome(attempt.host, outcome))
            attempt = _next_attempt(plan, outcome)
        return conclude(
            endpoint, tries, repeatable=packed.repeatable, request_id=message.request_id
        )

    async def _make_message(
        self, endpoint: Endpoint, spec: RequestSpec, packed: SerializedBody
    ) -> Message:
        vendor = self.connection.vendor
        headers = {"user-agent": user_agent(), "accept": "application/json"}
        request_id = self.options.request_id or make_request_id()
        headers["Request-ID"] = request_id
        headers |= {f"X-{vendor}-{name}": value for name, value in spec.headers.items()}
        content = packed.content
        if content is not None:
            headers["content-type"] = "application/json; charset=UTF-8"
            if self.connection.compress and len(content) > MIN_COMPRESSED_BYTES:
                content = await asyncio.to_thread(gzip.compress, content, 1)
                headers["content-encoding"] = "gzip"
        target = _target(spec.path, self.options.add_query(spec.query))
        if len(target) > MAX_TARGET_CHARACTERS:
            raise BadInput(
                f"{endpoint.name}: the URL has {len(target):,} characters, more than services "
                "accept; shorten the name of the index, the id or the query"
            )
        keys = Keys(self.connection, endpoint, self.options.forwarded_key)
        headers = self.options.add_headers(headers, vendor)
        return Message(endpoint, target, headers, content, keys, spec.read, request_id)

    async def _try_host(self, message: Message, attempt: Attempt) -> Outcome:
        endpoint, host = message.endpoint, attempt.host
        headers = message.headers | _packing(host)
        timeout = httpx.Timeout(attempt.answer, connect=attempt.connect, pool=None)
        request = Request(
            endpoint.verb, host, message.target, headers, message.content, message.keys, timeout,
            self.options.max_answer_bytes,
        )  # fmt: skip
        channel = await self._channels.here()
        try:
            async with asyncio.timeout(attempt.answer * MAX_TIMEOUT_FACTOR):
                reply = await channel.exchange(request)
        except httpx.RequestError as error:
            return read_failure(error)
        except httpx.InvalidURL as error:
            raise BadInput(f"{endpoint.name}: {error}") from None
        except TimeoutError:
            return FailedAttempt(
                "the response did not end", arrived=True, lasting=False, timed_out=True
            )
        except TooLarge as error:
            return ReceivedReply(refusal=_too_large(endpoint, error))
        if self.options.on_response:
            self.options.on_response(Response(*reply))
        if self.options.raw and 200 <= reply.status < 300:
            return ReceivedReply(Response(*reply))
        return read_answer(
            endpoint, reply.status, reply.headers, reply.content, message.read, message.target
        )

    async def close(self) -> None:
        """Close the connections of the running loop; a later call opens new ones."""
        await self._channels.close()


def _packing(host: str) -> dict[str, str]:
    """Return the `accept-encoding` header; on one machine, compression costs more than it saves."""
    return {"accept-encoding": "identity" if is_loopback(host) else ENCODINGS}


def _with_extra(endpoint: Endpoint, spec: RequestSpec, extra: Mapping[str, Any]) -> RequestSpec:
    """Add extra members where the endpoint's own members are sent: in the query or the body."""
    if not extra:
        return spec
    if endpoint.verb == "GET":
        return spec._replace(query={**spec.query, **write_query(extra)})
    return spec._replace(body=merge_extra(endpoint.name, spec.body, extra))


def _too_large(endpoint: Endpoint, error: TooLarge) -> AnswerTooLarge:
    advice = (
        "ask for less at a time (a smaller hitsPerPage or length, fewer attributesToRetrieve), or "
        "allow more by client.with_options(max_answer_bytes=...)"
        if endpoint.reads
        else "it may have been applied; check before you repeat the call"
    )
    return AnswerTooLarge(f"{endpoint.name}: {error}; {advice}", endpoint=endpoint.name)


def _next_attempt(plan: Plan, outcome: Outcome) -> Attempt | None:
    try:
        return plan.send(outcome)
    except StopIteration:
        return None


@cache
def user_agent() -> str:
    """Return the value of the header `user-agent`."""
    return f"svc-notebook/{read_version()} Python/{platform.python_version()}"


def make_request_id() -> str:
    """Generate an id for one call, for the service's logs; all attempts have the same id."""
    letters = REQUEST_ID_LETTERS
    return "".join(letters[byte % len(letters)] for byte in secrets.token_bytes(REQUEST_ID_LENGTH))


def _target(path: str, query: Mapping[str, str]) -> str:
    """Build path and query; parts of only dots are encoded, because they mean a parent path."""
    parts = (part.replace(".", "%2E") if part in (".", "..") else part for part in path.split("/"))
    text = urlencode(query, quote_via=quote, safe="")
    return "/".join(parts) + (f"?{text}" if text else "")

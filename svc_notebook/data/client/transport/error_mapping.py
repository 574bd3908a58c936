"""The mapping of HTTP statuses and network exceptions to the errors of this package."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import responses
from typing import Any
from urllib.parse import unquote

import httpx
import msgspec

from svc_notebook.core.api import Endpoint
from svc_notebook.core.api.endpoint import Decode, describe_access
from svc_notebook.core.api.messages import INDEX_MISSING, OBJECT_MISSING, SYNONYM_MISSING
from svc_notebook.data.client.retry import FailedAttempt, Outcome, RateLimited, ReceivedReply
from svc_notebook.errors import (
    BadInput,
    CallFailed,
    KeyRefused,
    NotFound,
    Refused,
    ServiceBroken,
    TooMany,
)

NOT_THE_API = "is this the address of a search service?"
MAX_MESSAGE_CHARACTERS = 2000
# Messages of services that do not name what does not exist.
NAMELESS = (INDEX_MISSING, OBJECT_MISSING, SYNONYM_MISSING)

_OF_REPLICA = re.compile(r" is a (virtual )?replica of ")
# The words of services for an unknown key, and for a missing right or index.
_UNKNOWN_KEY = re.compile(r"invalid application", re.I)
_NAMED_RIGHT = re.compile(r"the right `\w+`|\bindex\b", re.I)
_BY_STATUS: dict[int, type[Refused]] = {401: KeyRefused, 403: KeyRefused, 404: NotFound}

# For each exception: may the request have been executed, is the host likely to fail the next call
# too, did it time out?
_FAILURES: dict[type[httpx.RequestError], tuple[bool, bool, bool]] = {
    httpx.ConnectTimeout: (False, True, True),
    httpx.PoolTimeout: (False, False, True),
    httpx.TimeoutException: (True, False, True),
    httpx.ConnectError: (False, True, False),
    httpx.ProxyError: (False, True, False),
    httpx.NetworkError: (True, True, False),
    httpx.ProtocolError: (True, True, False),
    httpx.DecodingError: (True, True, False),
    httpx.TooManyRedirects: (True, True, False),
    httpx.RequestError: (True, True, False),
}


def read_failure(error: httpx.RequestError) -> FailedAttempt:
    """Convert a network exception to a failed attempt; raises `BadInput` if the call is invalid."""
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        raise BadInput(f"the request cannot be sent: {error}") from hide_frames(error)
    kind = next(kind for kind in type(error).__mro__ if kind in _FAILURES)
    arrived, lasting, timed_out = _FAILURES[kind]
    reason = str(error) or _words(type(error).__name__)
    return FailedAttempt(reason, arrived, lasting, timed_out, hide_frames(error))


def _words(name: str) -> str:
    """Convert a name such as `ReadTimeout` to `read timeout`."""
    return re.sub(r"(?<!^)([A-Z])", r" \1", name).lower()


def hide_frames(error: Exception) -> Exception:
    """Remove the tracebacks of an exception and its causes: their frames contain the key."""
    below: BaseException | None = error
    while below:
        below.__traceback__ = None
        if isinstance(below, httpx.RequestError):
            below._request = None
        below = below.__cause__ or below.__context__
    return error


def read_answer(
    endpoint: Endpoint,
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    read: Decode = msgspec.json.decode,
    target: str = "",
) -> Outcome:
    """Convert the response to a request for the path `target` to the outcome of an attempt."""
    outcome = _read_outcome(endpoint, status, headers, content, read, target)
    error = outcome.cause if isinstance(outcome, FailedAttempt) else outcome.refusal
    if isinstance(error, CallFailed):
        error.request_id = read_request_id(headers)
    return outcome


def read_request_id(headers: Mapping[str, str]) -> str:
    """Return the service's id of the request, or an empty string."""
    return headers.get("correlation-id") or headers.get("request-id") or ""


def _read_outcome(
    endpoint: Endpoint,
    status: int,
    headers: Mapping[str, str],
    content: bytes,
    read: Decode,
    target: str,
) -> Outcome:
    if 200 <= status < 300:
        return _read_value(endpoint, status, content, read)
    message = _name_missing(endpoint, target, _read_message(status, content))
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        wait = read_wait(headers.get("retry-after", ""))
        return RateLimited(TooMany(message, endpoint=endpoint.name, wait=wait))
    if status == HTTPStatus.NOT_IMPLEMENTED or status < 400:
        return ReceivedReply(refusal=ServiceBroken(message, status=status, endpoint=endpoint.name))
    if status >= 500:
        broken = ServiceBroken(message, status=status, endpoint=endpoint.name)
        return FailedAttempt(f"answered {status}: {message}", arrived=True, cause=broken)
    return ReceivedReply(refusal=_refusal(endpoint, status, message))


def _name_missing(endpoint: Endpoint, target: str, message: str) -> str:
    """Add what the path names to a message that only says that something does not exist."""
    if message not in NAMELESS:
        return message
    template = endpoint.path.split("/")
    parts = target.partition("?")[0].split("/")[-len(template) :]
    names = [unquote(part) for name, part in zip(template, parts, strict=False) if "{" in name]
    return f"{message}: {' in '.join(f'`{name}`' for name in reversed(names))}"


def _read_value(endpoint: Endpoint, status: int, content: bytes, read: Decode) -> Outcome:
    if status == HTTPStatus.NO_CONTENT:
        return ReceivedReply(None)
    if not content and endpoint.interface == "crawler":
        return ReceivedReply({})  # api.md shows no body for some endpoints
    value = decode_json(content, read)
    if isinstance(value, (dict, list)):
        return ReceivedReply(value)
    message = f"responded with status {status} and a body that is not JSON; {NOT_THE_API}"
    broken = ServiceBroken(f"the service {message}", status=status, endpoint=endpoint.name)
    return FailedAttempt(message, arrived=True, cause=broken)


def decode_json(content: bytes, read: Decode = msgspec.json.decode) -> Any:
    """Decode JSON; return None if it is invalid."""
    try:
        return read(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _refusal(endpoint: Endpoint, status: int, message: str) -> Refused:
    kind = _BY_STATUS.get(status, Refused)
    if kind is KeyRefused and _OF_REPLICA.search(message):
        kind = Refused  # no key may write to a replica
    if kind is KeyRefused:
        message = f"{message}; {_advice_on_key(endpoint, message)}"
    return kind(message, status=status, endpoint=endpoint.name)


def _advice_on_key(endpoint: Endpoint, message: str) -> str:
    """Return advice about a refused key, with the missing right unless the message names it."""
    unknown = _UNKNOWN_KEY.search(message)
    if endpoint.acl == "crawler" or not (unknown or _NAMED_RIGHT.search(message)):
        return f"{endpoint.name}: {describe_access(endpoint.acl)}"
    if unknown:
        return "check that the application id and the key belong to this service"
    return "svc.whoami() shows the rights of this key; svc.connect(...) accepts another key"


def _read_message(status: int, content: bytes) -> str:
    body = decode_json(content)
    nested = body.get("error") if isinstance(body, dict) else None
    for holder in (body, nested):
        message = holder.get("message") if isinstance(holder, dict) else None
        if isinstance(message, str):
            return message[:MAX_MESSAGE_CHARACTERS]
    phrase = responses.get(status, "unknown status")
    return f"{status} {phrase}, without a message; {NOT_THE_API}"


def read_wait(text: str) -> float:
    """Parse `Retry-After`, seconds or a date, to seconds; 1 if it is missing."""
    try:
        return max(float(text), 0) if text.strip().isdigit() else _seconds_until(text)
    except (TypeError, ValueError):
        return 1


def _seconds_until(date: str) -> float:
    return max(parsedate_to_datetime(date).timestamp() - time.time(), 0)

"""HTTP messages: bodies of requests and responses.

Bodies are read within limits, decompressed and decoded from JSON. Responses are built, compressed
and sent.
"""

from __future__ import annotations

import gzip
import json
import math
import secrets
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec
import numpy as np

from svc_notebook.core.api.values import list_leaves, refuse_long_integers
from svc_notebook.errors import BadInput, Refused, TooMany
from svc_notebook.service import limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
# Pages of any origin may call; access depends on the key.
CORS_HEADERS = {"access-control-allow-origin": "*"}
# Names the credentials that the crawler interface requires.
AUTHENTICATE_HEADERS = {"www-authenticate": 'Basic realm="crawler", charset="UTF-8"'}
Reserve = Callable[[int], None]
# A key and the address of its caller.
Account = tuple[str, str]
Accounts = Sequence[Account]
_CONTAINERS = (dict, list)
# Maps all digits to one, so that one substring search finds a number too long for 64 bits.
_DIGITS = bytes(ord("1") if 48 <= byte < 58 else byte for byte in range(256))
_LONG = b"1" * 19
# The bytes that say nothing of nesting, and how each bracket changes the depth, as signed bytes.
_NO_STRUCTURE = bytes(byte for byte in range(256) if byte not in b'{}[]"\\')
_STEPS = bytes.maketrans(b"{[}]", b"\x01\x01\xff\xff")


@dataclass(frozen=True)
class ServiceResponse:
    """A response; `plain` is the uncompressed beginning of a compressed body."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    plain: bytes = b""

    @property
    def excerpt(self) -> bytes:
        """The uncompressed beginning of the body."""
        return self.plain or self.body[: limits.MAX_LOGGED_BYTES]


def json_response(
    status: int, value: Any, headers: Mapping[str, str] | None = None
) -> ServiceResponse:
    """Build a response with a value as JSON."""
    fields = {"content-type": "application/json; charset=UTF-8", **(headers or {})}
    return ServiceResponse(status, msgspec.json.encode(value), fields)


def error_response(
    status: int,
    message: str,
    headers: Mapping[str, str] | None = None,
    members: Mapping[str, Any] | None = None,
) -> ServiceResponse:
    """Build an error response; all errors have this shape, and a few have further `members`."""
    # A message can quote a lone surrogate, which UTF-8 cannot encode, from JSON inside a parameter.
    text = message.encode("utf-8", "backslashreplace").decode()
    return json_response(status, {"message": text, **(members or {}), "status": status}, headers)


def crawler_error_response(response: ServiceResponse) -> ServiceResponse:
    """Convert an error to the crawler interface's form, with `error` (api-notes, section 13)."""
    content = msgspec.json.decode(response.body)
    words = HTTPStatus(response.status).phrase.lower().replace(" ", "_").replace("-", "_")
    error = {"code": words, "message": content["message"], "errors": []}
    headers = {**response.headers, **(AUTHENTICATE_HEADERS if response.status == 401 else {})}
    return json_response(response.status, {**content, "error": error}, headers)


def preflight_response(verbs: list[str], requested_headers: str) -> ServiceResponse:
    """Answer a CORS preflight: allow these HTTP methods and the requested headers."""
    return ServiceResponse(
        200,
        headers={
            "access-control-allow-methods": ", ".join(verbs),
            "access-control-allow-headers": requested_headers or "*",
            "access-control-max-age": "86400",
        },
    )


def compress_response(response: ServiceResponse, headers: Mapping[str, str]) -> ServiceResponse:
    """Compress a large response if the caller accepts gzip."""
    if len(response.body) < limits.MIN_COMPRESSED_BYTES or "gzip" not in headers.get(
        "accept-encoding", ""
    ):
        return response
    fields = {**response.headers, "content-encoding": "gzip", "vary": "accept-encoding"}
    return ServiceResponse(
        response.status, gzip.compress(response.body, compresslevel=1), fields, response.excerpt
    )


async def send_response(
    send: Send, response: ServiceResponse, *, head_only: bool = False, request_id: str = ""
) -> None:
    """Send a response with the request's id; if `head_only`, without its body."""
    headers = {
        **CORS_HEADERS,
        **response.headers,
        "correlation-id": request_id or secrets.token_hex(8),
    }
    if response.status != 204:
        headers["content-length"] = str(len(response.body))
    await send(
        {
            "type": "http.response.start",
            "status": response.status,
            "headers": [(n.encode("latin-1"), v.encode("latin-1")) for n, v in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": b"" if head_only else response.body})


class ClientDisconnected(Exception):
    """The caller disconnected before its request was complete."""


class MalformedBody(BadInput):
    """A body is not valid JSON, or does not have its declared encoding."""


class BodyMemory:
    """Counts the bytes of all request bodies in memory, by sender.

    A caller may hold as many bytes as it leaves free for others: one caller half of the total, two
    callers a third each. Unfinished bodies of some callers therefore never use all of the memory.
    """

    def __init__(self) -> None:
        self._held: Counter[Account] = Counter()
        self.used_bytes = 0

    def reserve(self, accounts: Accounts, size: int) -> None:
        """Reserve bytes; raises `TooMany` if that exceeds the caller's share.

        `accounts` are the caller's identities, the widest first: a key, then a secured key derived
        from it. Each has a share of what the previous one may hold.
        """
        free, used = float(limits.MAX_HELD_BYTES), self.used_bytes
        for account in accounts:
            account_bytes = self._held[account]
            if account_bytes + size > free - used - size:
                raise TooMany("this key sends too many bytes at the same time; try again")
            free, used = (free - used + account_bytes) / 2, account_bytes
        for account in accounts:
            self._held[account] += size
        self.used_bytes += size

    def release(self, accounts: Accounts, size: int) -> None:
        """Release bytes."""
        self.used_bytes -= size
        for account in accounts:
            self._held[account] -= size
            if not self._held[account]:
                del self._held[account]


@dataclass
class IncomingBody:
    """The body of a request while it is received; `complete` is true after its end was read."""

    receive: Receive
    complete: bool = False

    async def __call__(self) -> Message:
        """Receive the next part."""
        message = await self.receive()
        self.complete = not message.get("more_body", False)
        return message


async def read_body(
    receive: Receive,
    headers: Mapping[str, str],
    reserve: Reserve,
    max_bytes: int = limits.MAX_BODY_BYTES,
) -> bytes:
    """Read and decompress a request's body; raises `Refused` if it exceeds `max_bytes`.

    A body beyond the limit is still read, up to `MAX_DRAINED_BYTES`, because its sender would
    otherwise see a broken connection instead of the refusal. `reserve` is called with the bytes to
    hold.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= limits.MAX_DRAINED_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= max_bytes:
            reserve(len(part))
            parts.append(part)
    if size > max_bytes:
        raise body_too_large(max_bytes)
    body = b"".join(parts)
    encoding = headers.get("content-encoding", "").strip().lower()
    if body and encoding not in ("", "identity"):
        body = decompress_body(body, encoding, max_bytes)
        reserve(len(body))
    return body


async def discard_body(receive: IncomingBody) -> None:
    """Read and discard the rest of a refused request's body, up to a limit."""
    size = 0
    while not receive.complete and size <= limits.MAX_DRAINED_BYTES:
        size += len((await receive()).get("body", b""))


def decompress_body(body: bytes, encoding: str, max_bytes: int) -> bytes:
    """Decompress a body, up to the limit."""
    if encoding not in ("gzip", "x-gzip"):
        raise Refused(f"content-encoding {encoding[:40]} is not known; use gzip", status=415)
    reader = zlib.decompressobj(wbits=31)
    try:
        plain = reader.decompress(body, max_bytes + 1)
    except zlib.error as error:
        raise MalformedBody(f"the body is not valid gzip: {error}") from None
    if len(plain) > max_bytes:
        raise body_too_large(max_bytes)
    if not reader.eof:
        raise MalformedBody("the body is not valid gzip: it ends too early")
    if reader.unused_data:
        raise MalformedBody("the body goes on after its gzip data; send it as a single gzip member")
    return plain


def body_too_large(max_bytes: int) -> Refused:
    """Return the error for a body beyond the limit."""
    return Refused(f"the body is larger than {max_bytes // 2**20} MB; send it in parts", status=413)


def read_json(raw: bytes) -> Any:
    """Decode a body, None if it is empty; raises `BadInput` with the position of an error."""
    if not raw.strip():
        return None
    try:
        body = msgspec.json.decode(raw)
    except RecursionError:
        raise nested_too_deeply() from None
    except (msgspec.MsgspecError, ValueError) as error:
        raise _explain(raw, error) from None
    # Each level has a bracket.
    if raw.count(b"[") + raw.count(b"{") > limits.MAX_JSON_DEPTH and _may_exceed_depth(raw):
        _refuse_depth(body)
    if _LONG in raw.translate(_DIGITS):
        refuse_long_integers(body, "")
    return body


def nested_too_deeply() -> MalformedBody:
    """Return the error for a body that is nested too deeply."""
    return MalformedBody(
        f"the body is nested too deeply; the maximum is {limits.MAX_JSON_DEPTH} levels"
    )


def _explain(raw: bytes, error: Exception) -> MalformedBody:
    """Return the error with its position, which the slower standard parser finds."""
    text = str(error)
    try:
        body = json.loads(raw.decode("utf-8"), parse_int=float, parse_constant=_refuse_constant)
    except UnicodeDecodeError as wrong:
        text = f"byte {wrong.start} is not UTF-8"
    except json.JSONDecodeError as wrong:
        text = f"{wrong.msg} at line {wrong.lineno} column {wrong.colno}"
    except (ValueError, RecursionError):
        pass
    else:
        huge = [at for at, leaf in list_leaves(body, "") if leaf in (math.inf, -math.inf)]
        if huge:
            return MalformedBody(f"`{huge[0]}`: the number does not fit in 64 bits")
        text = "a \\u escape is a lone surrogate, which is not valid Unicode"
    return MalformedBody(f"the body is not valid JSON: {text}")


def _refuse_constant(word: str) -> None:
    raise ValueError(word)


def _may_exceed_depth(raw: bytes) -> bool:
    """Return whether a body may be nested too deeply; its values are not visited."""
    # Outside of texts, quotation marks are next to each other once all else is removed.
    brackets = raw.translate(None, _NO_STRUCTURE).replace(b'""', b"")
    if b'"' in brackets or b"\\" in brackets:
        return True
    steps = np.frombuffer(brackets.translate(_STEPS), np.int8)
    return int(np.cumsum(steps, dtype=np.int32).max()) > limits.MAX_JSON_DEPTH


def _refuse_depth(body: Any) -> None:
    level = [body]
    for _ in range(limits.MAX_JSON_DEPTH):
        level = [
            inner
            for outer in level
            if type(outer) in _CONTAINERS
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) in _CONTAINERS
        ]
        if not level:
            return
    raise nested_too_deeply()

"""Read request bodies within limits, and encode and send responses."""

from __future__ import annotations

import gzip
import secrets
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import msgspec

from svc_notebook.errors import BadInput, Refused, TooMany
from svc_notebook.service import limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Reserve = Callable[[int], None]
# A key and the address of its caller.
Account = tuple[str, str]
Accounts = Sequence[Account]

# Pages of any origin may call; access depends on the key.
CORS_HEADERS = {"access-control-allow-origin": "*"}


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
    own = {"content-type": "application/json; charset=UTF-8", **(headers or {})}
    return ServiceResponse(status, msgspec.json.encode(value), own)


def error_response(
    status: int, message: str, headers: Mapping[str, str] | None = None
) -> ServiceResponse:
    """Build an error response; all errors have this shape."""
    return json_response(status, {"message": message, "status": status}, headers)


def crawler_error_response(response: ServiceResponse) -> ServiceResponse:
    """Convert an error to the crawler interface's form, with `error` (api-notes, section 13)."""
    content = msgspec.json.decode(response.body)
    words = HTTPStatus(response.status).phrase.lower().replace(" ", "_").replace("-", "_")
    error = {"code": words, "message": content["message"], "errors": []}
    headers = {**response.headers, **(AUTHENTICATE_HEADERS if response.status == 401 else {})}
    return json_response(response.status, {**content, "error": error}, headers)


# Names the credentials that the crawler interface requires.
AUTHENTICATE_HEADERS = {"www-authenticate": 'Basic realm="crawler", charset="UTF-8"'}


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
            own = self._held[account]
            if own + size > free - used - size:
                raise TooMany("this key sends too many bytes at the same time; try again")
            free, used = (free - used + own) / 2, own
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


class IncomingBody:
    """The body of a request while it is received; `complete` is true after its end was read."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.complete = False

    async def __call__(self) -> Message:
        """Receive the next part."""
        message = await self._receive()
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
    packed = b"".join(parts)
    plain = decompress_body(packed, headers.get("content-encoding", ""), max_bytes)
    if plain is not packed:
        reserve(len(plain))
    return plain


async def discard_body(receive: IncomingBody) -> None:
    """Read and discard the rest of a refused request's body, up to a limit."""
    size = 0
    while not receive.complete and size <= limits.MAX_DRAINED_BYTES:
        size += len((await receive()).get("body", b""))


def decompress_body(body: bytes, encoding: str, max_bytes: int = limits.MAX_BODY_BYTES) -> bytes:
    """Decompress a body, up to the limit."""
    encoding = encoding.strip().lower()
    if not body or encoding in ("", "identity"):
        return body
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
    return plain


def body_too_large(max_bytes: int) -> Refused:
    """Return the error for a body beyond the limit."""
    return Refused(f"the body is larger than {max_bytes // 2**20} MB; send it in parts", status=413)


def compress_response(response: ServiceResponse, headers: Mapping[str, str]) -> ServiceResponse:
    """Compress a large response if the caller accepts gzip."""
    if len(response.body) < limits.MIN_COMPRESSED_BYTES or "gzip" not in headers.get(
        "accept-encoding", ""
    ):
        return response
    own = {**response.headers, "content-encoding": "gzip", "vary": "accept-encoding"}
    return ServiceResponse(
        response.status, gzip.compress(response.body, compresslevel=1), own, response.excerpt
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

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
from svc_notebook.service.http import limits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Take = Callable[[int], None]
# A key and the address it is used from.
Account = tuple[str, str]
Accounts = Sequence[Account]

# Pages of any origin may call; access depends on the key.
OPEN = {"access-control-allow-origin": "*"}


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


def json_reply(
    status: int, value: Any, headers: Mapping[str, str] | None = None
) -> ServiceResponse:
    """Build a response with a value as JSON."""
    own = {"content-type": "application/json; charset=UTF-8", **(headers or {})}
    return ServiceResponse(status, msgspec.json.encode(value), own)


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> ServiceResponse:
    """Build an error response; all errors have this shape."""
    # A message can quote a lone surrogate, which UTF-8 cannot encode, from JSON inside a parameter.
    text = message.encode("utf-8", "backslashreplace").decode()
    return json_reply(status, {"message": text, "status": status}, headers)


def crawler_refusal(reply: ServiceResponse) -> ServiceResponse:
    """Convert an error to the crawler interface's form, with `error` (api-notes, section 13)."""
    said = msgspec.json.decode(reply.body)
    words = HTTPStatus(reply.status).phrase.lower().replace(" ", "_").replace("-", "_")
    error = {"code": words, "message": said["message"], "errors": []}
    headers = {**reply.headers, **(CHALLENGE if reply.status == 401 else {})}
    return json_reply(reply.status, {**said, "error": error}, headers)


# Tells a caller without credentials which ones are required.
CHALLENGE = {"www-authenticate": 'Basic realm="crawler", charset="UTF-8"'}


def preflight(verbs: list[str], asked: str) -> ServiceResponse:
    """Answer a CORS preflight: allow these HTTP methods and the requested headers."""
    return ServiceResponse(
        200,
        headers={
            "access-control-allow-methods": ", ".join(verbs),
            "access-control-allow-headers": asked or "*",
            "access-control-max-age": "86400",
        },
    )


class LostCaller(Exception):
    """The caller disconnected before its request was complete."""


class Malformed(BadInput):
    """A body is not valid JSON, or does not have its declared encoding."""


class Intake:
    """Counts the bytes of all request bodies in memory, by sender.

    A caller may hold as many bytes as it leaves free for others: one caller half of the total, two
    callers a third each. However many bodies some callers leave unfinished, others still have room.
    """

    def __init__(self) -> None:
        self._held: Counter[Account] = Counter()
        self.held = 0

    def take(self, accounts: Accounts, size: int) -> None:
        """Reserve bytes; raises `TooMany` if that exceeds the caller's share.

        `accounts` are the caller's identities, the widest first: a key, then a secured key derived
        from
        it. Each has a share of what the previous one may hold.
        """
        room, used = float(limits.MAX_HELD_BYTES), self.held
        for account in accounts:
            own = self._held[account]
            if own + size > room - used - size:
                raise TooMany("too much is being sent with this key at one time; try again")
            room, used = (room - used + own) / 2, own
        for account in accounts:
            self._held[account] += size
        self.held += size

    def let_go(self, accounts: Accounts, size: int) -> None:
        """Release bytes."""
        self.held -= size
        for account in accounts:
            self._held[account] -= size
            if not self._held[account]:
                del self._held[account]


class Incoming:
    """The body of a request while it is received; `whole` is true after its end was read."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.whole = False

    async def __call__(self) -> Message:
        """Receive the next part."""
        message = await self._receive()
        self.whole = not message.get("more_body", False)
        return message


async def read_body(
    receive: Receive, headers: Mapping[str, str], take: Take, most: int = limits.MAX_BODY_BYTES
) -> bytes:
    """Read and decompress a request's body; raises `Refused` if it is larger than `most` bytes.

    A body beyond the limit is still read, up to `MAX_DRAINED_BYTES`, because its sender would
    otherwise see a broken connection instead of the refusal. `take` is called with the bytes to
    hold.
    """
    parts: list[bytes] = []
    size, more = 0, True
    while more and size <= limits.MAX_DRAINED_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise LostCaller
        part, more = message.get("body", b""), message.get("more_body", False)
        size += len(part)
        if size <= most:
            take(len(part))
            parts.append(part)
    if size > most:
        raise too_large(most)
    packed = b"".join(parts)
    plain = unpack(packed, headers.get("content-encoding", ""), most)
    if plain is not packed:
        take(len(plain))
    return plain


async def drop_body(receive: Incoming) -> None:
    """Read and discard the rest of a refused request's body, up to a limit."""
    size = 0
    while not receive.whole and size <= limits.MAX_DRAINED_BYTES:
        size += len((await receive()).get("body", b""))


def unpack(body: bytes, encoding: str, most: int = limits.MAX_BODY_BYTES) -> bytes:
    """Decompress a body, up to the limit."""
    encoding = encoding.strip().lower()
    if not body or encoding in ("", "identity"):
        return body
    if encoding not in ("gzip", "x-gzip"):
        raise Refused(f"content-encoding {encoding[:40]} is not known; use gzip", status=415)
    reader = zlib.decompressobj(wbits=31)
    try:
        plain = reader.decompress(body, most + 1)
    except zlib.error as error:
        raise Malformed(f"the body is not valid gzip: {error}") from None
    if len(plain) > most:
        raise too_large(most)
    if not reader.eof:
        raise Malformed("the body is not valid gzip: it ends too early")
    return plain


def too_large(most: int) -> Refused:
    """Return the error for a body beyond the limit."""
    return Refused(f"the body is larger than {most // 2**20} MB; send it in parts", status=413)


def pack(reply: ServiceResponse, headers: Mapping[str, str]) -> ServiceResponse:
    """Compress a large response if the caller accepts gzip."""
    if len(reply.body) < limits.MIN_COMPRESSED_BYTES or "gzip" not in headers.get(
        "accept-encoding", ""
    ):
        return reply
    own = {**reply.headers, "content-encoding": "gzip", "vary": "accept-encoding"}
    return ServiceResponse(
        reply.status, gzip.compress(reply.body, compresslevel=1), own, reply.excerpt
    )


async def send_reply(
    send: Send, reply: ServiceResponse, *, bare: bool = False, request_id: str = ""
) -> None:
    """Send a response with the request's id; if `bare`, only its head."""
    headers = {**OPEN, **reply.headers, "correlation-id": request_id or secrets.token_hex(8)}
    if reply.status != 204:
        headers["content-length"] = str(len(reply.body))
    await send(
        {
            "type": "http.response.start",
            "status": reply.status,
            "headers": [(n.encode("latin-1"), v.encode("latin-1")) for n, v in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": b"" if bare else reply.body})

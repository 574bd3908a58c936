"""The request to one host and the response.

A request has a body as JSON, which may be sent twice or not, and authentication headers. Responses
are decompressed incrementally, with limits on size and compression ratio.
"""

from __future__ import annotations

import math
import re
import secrets
import zlib
from base64 import b64encode
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import msgspec

from svc_notebook.core.api import Endpoint
from svc_notebook.data.client.config import MAX_ANSWER_BYTES, ClientConfig
from svc_notebook.data.client.secret import NO_SECRET, Secret
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from zlib import _Decompress as Inflate

# A partial update with one of these operations has a different result if applied twice; api.md,
# Objects.
_NOT_IDEMPOTENT = re.compile(rb'"_operation"\s*:\s*"(?:Increment|Decrement|Add)"')
_ADVICE = {
    "Timestamp": "pass its .isoformat(), or seconds as a number",
    "datetime": "pass its .isoformat(), or seconds as a number",
    "date": "pass its .isoformat()",
    "NaTType": "omit it or pass None",
    "NAType": "omit it or pass None",
    "Decimal": "pass a float, or text if it must stay exact",
    "ndarray": "pass its .tolist()",
    "Series": "pass its .tolist()",
    "set": "pass a sorted list",
    "bytes": "pass text",
}
# Text compresses to a tenth, very repetitive text to a hundredth; gzip can reach a thousandth.
MAX_UNPACKING_RATIO = 200
# A response up to this size is harmless at any compression ratio.
RATIO_FREE_BYTES = 32 * 2**20
PIECE_BYTES = 2**20
# The value of the request header `accept-encoding`.
ENCODINGS = "gzip, deflate"
# `wbits` of zlib for the three formats.
GZIP_WINDOW_BITS, ZLIB_WINDOW_BITS, RAW_WINDOW_BITS = 31, 15, -15
_GZIP_MAGIC = b"\x1f\x8b"
HEAD_BYTES = 2


class Keys(httpx.Auth):
    """Adds the keys to a request when it is sent; no frame of this package contains them."""

    def __init__(
        self, connection: ClientConfig, endpoint: Endpoint, forwarded: Secret = NO_SECRET
    ) -> None:
        self._connection = connection
        self._crawler = endpoint.interface == "crawler"
        self._forwarded = forwarded

    def headers(self) -> dict[str, str]:
        """Return the authentication headers of the interface."""
        connection = self._connection
        if self._crawler:
            pair = f"{connection.crawler_user_id}:{connection.crawler_api_key.reveal()}".encode()
            return {"authorization": f"Basic {b64encode(pair).decode()}"}
        forwarded = {"X-Forwarded-API-Key": self._forwarded.reveal()} if self._forwarded else {}
        return {
            f"X-{connection.vendor}-Application-Id": connection.app_id,
            f"X-{connection.vendor}-API-Key": connection.api_key.reveal(),
            **forwarded,
        }

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the headers, as the auth interface of httpx."""
        request.headers.update(self.headers())
        yield request


class Request(NamedTuple):
    """A request to one host; its timeouts are in seconds.

    A response of more than `max_bytes` is not read to its end.
    """

    verb: str
    host: str
    target: str
    headers: Mapping[str, str]
    content: bytes | None
    keys: Keys
    timeout: httpx.Timeout
    max_bytes: int = MAX_ANSWER_BYTES


class HttpReply(NamedTuple):
    """A complete response; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class TooLarge(Exception):
    """A response exceeds a limit; the message names the limit."""


class AnswerReader:
    """Decompress a response incrementally; content beyond the limits is not kept.

    `encoding` is the response's `content-encoding`; `max_bytes` limits the content. Raises
    `TooLarge`, and `httpx.DecodingError` if the data does not have that encoding.
    """

    def __init__(self, encoding: str = "", *, max_bytes: int = MAX_ANSWER_BYTES) -> None:
        self._max_bytes = max_bytes
        self._received = self._size = 0
        self._parts: list[bytes] = []
        self._inflater = _open_inflater(encoding.strip().lower())

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self._received += len(data)
        if self._inflater is None:
            self._keep(data)
            return
        for piece in self._inflater.inflate(data):
            self._keep(piece)

    def finish(self) -> bytes:
        """Return the whole content."""
        if self._inflater and self._received and not self._inflater.ended:
            raise httpx.DecodingError("the compressed response is not complete")
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._max_bytes:
            raise TooLarge(f"the response is larger than {self._max_bytes:,} bytes")
        free = self._size <= RATIO_FREE_BYTES
        if not free and self._size > self._received * MAX_UNPACKING_RATIO:
            raise TooLarge(
                f"{self._received:,} bytes of the response decompress to {self._size:,} bytes, "
                f"more than {MAX_UNPACKING_RATIO} times their number"
            )
        self._parts.append(piece)


class _Inflater:
    """Decompress `gzip` or `deflate` incrementally."""

    def __init__(self, *, is_gzip: bool) -> None:
        self._is_gzip = is_gzip
        self._head = b""
        self._open: Inflate | None = None

    @property
    def ended(self) -> bool:
        """Whether the compressed data is complete."""
        return self._open is not None and self._open.eof

    def inflate(self, data: bytes) -> Iterator[bytes]:
        """Yield the decompressed next bytes, in pieces of limited size."""
        if self._open is None:
            self._head += data
            if len(self._head) < HEAD_BYTES:
                return
            data, self._head = self._head, b""
            self._open = zlib.decompressobj(GZIP_WINDOW_BITS if self._is_gzip else _format_of(data))
        full = False  # if set, zlib may have more output although it has read all input
        while data or full:
            if self._open.eof:
                if not (self._is_gzip and data.startswith(_GZIP_MAGIC)):
                    return  # padding after the end
                # A gzip stream may have several members.
                self._open = zlib.decompressobj(GZIP_WINDOW_BITS)
            try:
                piece = self._open.decompress(data, PIECE_BYTES)
            except zlib.error as error:
                reason = f"the response does not have the encoding that its header names: {error}"
                raise httpx.DecodingError(reason) from None
            if piece:
                yield piece
            full = len(piece) == PIECE_BYTES
            data = self._open.unconsumed_tail or self._open.unused_data


def _format_of(data: bytes) -> int:
    """Distinguish `deflate` with a zlib header from raw deflate, which some services send."""
    has_head = (
        data[0] & 0x0F == zlib.DEFLATED and int.from_bytes(data[:HEAD_BYTES], "big") % 31 == 0
    )
    return ZLIB_WINDOW_BITS if has_head else RAW_WINDOW_BITS


def _open_inflater(encoding: str) -> _Inflater | None:
    if encoding in ("", "identity"):
        return None
    if encoding in ("gzip", "x-gzip", "deflate"):
        return _Inflater(is_gzip=encoding != "deflate")
    raise httpx.DecodingError(
        f"the response has the encoding `{encoding[:40]}`; only {ENCODINGS} are accepted"
    )


class SerializedBody(NamedTuple):
    """A serialized body, and whether the request may be sent twice."""

    content: bytes | None
    repeatable: bool


def pack_body(endpoint: Endpoint, body: Any) -> SerializedBody:
    """Serialize a body; bytes are unchanged, and added records without an objectID get one.

    A record with an objectID can be added twice with the same result, so the call is repeatable. A
    `SerializedBody` body is returned unchanged.
    """
    if isinstance(body, SerializedBody):
        return body
    repeatable = endpoint.repeatable
    if not isinstance(body, bytes) and endpoint.name in _ASSIGN:
        body, repeatable = _ASSIGN[endpoint.name](body), True
    content = _encoded(endpoint, body)
    return SerializedBody(content, repeatable and not _is_not_idempotent(content or b""))


def _encoded(endpoint: Endpoint, body: Any) -> bytes | None:
    if body is None:
        return b"{}" if endpoint.members and endpoint.verb != "GET" else None
    return body if isinstance(body, bytes) else encode_json(body)


def _is_not_idempotent(content: bytes) -> bool:
    # The substring search comes first: on megabytes of records it takes a tenth of the time.
    return b'"_operation"' in content and _NOT_IDEMPOTENT.search(content) is not None


def encode_json(value: Any) -> bytes:
    """Encode JSON values; raises `BadInput` with the position of any other value."""
    try:
        if foreign := _find_foreign(value):
            position, reason = foreign
            raise BadInput(
                f"`{position.lstrip('.')}` {reason}" if position else f"the body {reason}"
            )
        return msgspec.json.encode(value)
    except RecursionError:
        raise BadInput("the body is nested too deeply") from None


def _find_foreign(value: Any) -> tuple[str, str] | None:
    """Return position and reason of the first value that JSON cannot represent."""
    if isinstance(value, dict):
        members = ((f".{key}", item) for key, item in value.items())
        if wrong := next(
            (key for key in value if type(key) is not str or _has_lone_surrogate(key)), None
        ):
            return "", f"has the key {wrong!r}; keys must be valid text"
    elif isinstance(value, (list, tuple)):
        members = ((f"[{number}]", item) for number, item in enumerate(value))
    else:
        return ("", reason) if (reason := _foreign(value)) else None
    for at, item in members:
        if foreign := _find_foreign(item):
            return at + foreign[0], foreign[1]
    return None


def _foreign(value: Any) -> str | None:
    if value is None or value is True or value is False:
        return None
    if type(value) is str:
        return (
            "contains a lone surrogate, which is not valid Unicode"
            if _has_lone_surrogate(value)
            else None
        )
    if type(value) is int:
        return None if -(2**63) <= value < 2**64 else "is a number that does not fit in 64 bits"
    if type(value) is float:
        return None if math.isfinite(value) else f"is {value}, which JSON cannot represent"
    kind = type(value)
    advice = _ADVICE.get(kind.__name__, "pass its .item()" if hasattr(value, "item") else "")
    return f"has the type {kind.__module__}.{kind.__name__}{advice and f'; {advice}'}"


def _has_lone_surrogate(text: str) -> bool:
    try:
        return not text.isascii() and not text.encode()
    except UnicodeEncodeError:
        return True


def _with_id(record: Mapping[str, Any]) -> Mapping[str, Any]:
    if record.get("objectID") is not None:
        return record
    return {**record, "objectID": secrets.token_hex(20)}


def _with_ids(body: Mapping[str, Any]) -> Mapping[str, Any]:
    requests = [
        {**request, "body": _with_id(request["body"])}
        if request["action"] == "addObject" and "body" in request
        else request
        for request in body["requests"]
    ]
    return {**body, "requests": requests}


_ASSIGN: dict[str, Callable[[Any], Any]] = {
    "add_object": _with_id,
    "batch": _with_ids,
    "batch_many": _with_ids,
}

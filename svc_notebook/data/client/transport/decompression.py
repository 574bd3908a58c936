"""Incremental decompression of responses, with limits on size and compression ratio."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx

from svc_notebook.data.client.request_options import MAX_ANSWER_BYTES

if TYPE_CHECKING:
    from zlib import _Decompress as Inflate

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

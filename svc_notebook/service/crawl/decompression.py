"""Decompress bodies while they arrive, up to a size limit that stops decompression bombs."""

from __future__ import annotations

import zlib

from svc_notebook.service.crawl.outcomes import FetchFailure

# What is asked for; brotli would need a further library, and every server has gzip.
ACCEPTED = "gzip, deflate"
# What a packed body may be longer than what is in it.
_COMPRESSION_OVERHEAD_BYTES = 1 << 16
_GZIP = ("gzip", "x-gzip")


class Body:
    """A body that grows to at most `limit` bytes, unpacked by its Content-Encoding."""

    def __init__(self, encoding: str, limit: int) -> None:
        codings = [name.strip().lower() for name in encoding.split(",")]
        codings = [name for name in codings if name and name != "identity"]
        if len(codings) > 1 or (codings and codings[0] not in (*_GZIP, "deflate")):
            raise FetchFailure(
                "unsupported_encoding", f"the body is encoded as {encoding}, which is not read"
            )
        self._coding = codings[0] if codings else ""
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._packed = 0
        self._head = b""
        self._unpacker: zlib._Decompress | None = None

    def add(self, chunk: bytes) -> None:
        """Add a chunk; raises `FetchFailure` beyond the limit or where it cannot be unpacked."""
        if not self._coding:
            self._keep(chunk)
            return
        self._packed += len(chunk)
        if self._packed > self._limit + _COMPRESSION_OVERHEAD_BYTES:
            raise self._too_big()
        chunk, self._head = self._head + chunk, b""
        if self._unpacker is None and len(chunk) < 2:
            self._head = chunk
            return
        while chunk:
            self._unpacker = self._unpacker or self._unpacker_for(chunk)
            try:
                self._keep(self._unpacker.decompress(chunk, self._limit - self._size + 1))
            except zlib.error as error:
                raise FetchFailure(
                    "invalid_body", f"the body cannot be unpacked: {error}"
                ) from None
            chunk = self._rest()

    def read(self) -> bytes:
        """Return the whole body."""
        if self._head or (self._unpacker and not self._unpacker.eof):
            raise FetchFailure("truncated_body", "the body breaks off before its end")
        return b"".join(self._parts)

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit:
            raise self._too_big()
        self._parts.append(data)

    def _too_big(self) -> FetchFailure:
        return FetchFailure("page_too_big", f"the body has more than {self._limit:,} bytes")

    def _rest(self) -> bytes:
        """Return what is still to unpack: gzip may be several files in a row."""
        assert self._unpacker
        if not self._unpacker.eof:
            return self._unpacker.unconsumed_tail
        rest = self._unpacker.unused_data
        if rest[:2] != b"\x1f\x8b":
            return b""
        self._unpacker = self._unpacker_for(rest)
        return rest

    def _unpacker_for(self, start: bytes) -> zlib._Decompress:
        if self._coding in _GZIP:
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        # What servers call deflate comes with zlib's head or without.
        wrapped = start[:1] and start[0] & 0x0F == 8 and int.from_bytes(start[:2]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)

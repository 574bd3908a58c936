"""Decompress bodies while they arrive, up to a size limit that stops decompression bombs."""

from __future__ import annotations

import zlib

from svc_notebook.service.crawl.visits import FetchFailure

# The accepted encodings; brotli would need another library, and every server supports gzip.
ACCEPTED_ENCODINGS = "gzip, deflate"
# How many bytes a compressed body may exceed the limit.
_COMPRESSION_OVERHEAD_BYTES = 1 << 16
_GZIP = ("gzip", "x-gzip")


class Body:
    """A response body of at most `limit` bytes, decompressed by its Content-Encoding."""

    def __init__(self, encoding: str, limit: int) -> None:
        codings = [name.strip().lower() for name in encoding.split(",")]
        codings = [name for name in codings if name and name != "identity"]
        if len(codings) > 1 or (codings and codings[0] not in (*_GZIP, "deflate")):
            raise FetchFailure(
                "unsupported_encoding", f"the body is encoded as {encoding}, which is not supported"
            )
        self._coding = codings[0] if codings else ""
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._compressed = 0
        self._head = b""
        self._decompressor: zlib._Decompress | None = None

    def add(self, chunk: bytes) -> None:
        """Add a chunk; raises `FetchFailure` above the limit or if it cannot be decompressed."""
        if not self._coding:
            self._keep(chunk)
            return
        self._compressed += len(chunk)
        if self._compressed > self._limit + _COMPRESSION_OVERHEAD_BYTES:
            raise self._too_big()
        chunk, self._head = self._head + chunk, b""
        if self._decompressor is None and len(chunk) < 2:
            self._head = chunk
            return
        while chunk:
            self._decompressor = self._decompressor or self._decompressor_for(chunk)
            try:
                self._keep(self._decompressor.decompress(chunk, self._limit - self._size + 1))
            except zlib.error as error:
                raise FetchFailure(
                    "invalid_body", f"the body cannot be decompressed: {error}"
                ) from None
            chunk = self._rest()

    def read(self) -> bytes:
        """Return the whole body; raises `FetchFailure` if it is truncated."""
        if self._head or (self._decompressor and not self._decompressor.eof):
            raise FetchFailure("truncated_body", "the body is truncated")
        return b"".join(self._parts)

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > self._limit:
            raise self._too_big()
        self._parts.append(data)

    def _too_big(self) -> FetchFailure:
        return FetchFailure("page_too_big", f"the body has more than {self._limit:,} bytes")

    def _rest(self) -> bytes:
        """Return the data still to decompress: gzip may have several members in a row."""
        assert self._decompressor
        if not self._decompressor.eof:
            return self._decompressor.unconsumed_tail
        rest = self._decompressor.unused_data
        if rest[:2] != b"\x1f\x8b":
            return b""
        self._decompressor = self._decompressor_for(rest)
        return rest

    def _decompressor_for(self, start: bytes) -> zlib._Decompress:
        if self._coding in _GZIP:
            return zlib.decompressobj(16 + zlib.MAX_WBITS)
        # Servers send deflate with or without a zlib header.
        wrapped = start[:1] and start[0] & 0x0F == 8 and int.from_bytes(start[:2]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)

"""An HTTP endpoint that embeds texts, by the protocol of OpenAI, and the file of its vectors."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np

from svc_notebook.core.display import format_count
from svc_notebook.core.model_endpoint import RETRY_SECONDS, EndpointRole, ModelEndpoint, TokenUsage
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array

KEY_VARIABLE = "SVC_EMBEDDER_KEY"
# The price of a million tokens, in any currency.
PRICE_VARIABLE = "SVC_EMBEDDER_PRICE"
CACHE_FILE = "embeddings.sqlite"
MAX_CACHE_BYTES = 2**30
RECORD_TIMEOUT_SECONDS, QUERY_TIMEOUT_SECONDS = 60.0, 3.0


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Response(msgspec.Struct):
    data: list[_Embedding]
    usage: TokenUsage | None = None


EMBEDDER = EndpointRole("embedder", "/embeddings", KEY_VARIABLE, PRICE_VARIABLE, LocalServiceFailed)


class EmbeddingEndpoint:
    """A function from texts to vectors; texts that were sent before are not sent again.

    `name` is `URL#MODEL`; `/embeddings` is added to a URL without it. `folder` keeps the vectors;
    without it, none are kept. Raises `LocalServiceFailed` for a key that would be sent
    unencrypted.
    """

    def __init__(self, name: str, folder: Path | None) -> None:
        self._endpoint = ModelEndpoint(name, EMBEDDER)
        source = f"{self._endpoint.url}#{self._endpoint.model}"
        self._cache = VectorCache(folder / CACHE_FILE, source) if folder else None
        self._kept = 0

    def __call__(self, texts: Sequence[str]) -> Array:
        """Return the vectors of texts of records; failed requests are repeated."""
        return self._embed(texts, RECORD_TIMEOUT_SECONDS, RETRY_SECONDS)

    def embed_queries(self, texts: Sequence[str]) -> Array:
        """Return the vectors of queries; a search does not wait for a repeated request."""
        return self._embed(texts, QUERY_TIMEOUT_SECONDS, ())

    def take_usage(self) -> str:
        """Return the requests and tokens since the last time, and their price if it is known."""
        kept, self._kept = self._kept, 0
        if not kept and not self._endpoint.requests:
            return ""
        return self._endpoint.take_usage(f"{format_count(kept, 'text')} embedded before")

    def _embed(self, texts: Sequence[str], timeout: float, retries: Sequence[float]) -> Array:
        vectors = self._cache.read(texts) if self._cache else {}
        self._kept += len(vectors)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            embedded = dict(zip(missing, self._send(missing, timeout, retries), strict=True))
            if self._cache:
                self._cache.write(embedded)
            vectors |= embedded
        return np.array([vectors[text] for text in texts], np.float32)

    def _send(self, texts: list[str], timeout: float, retries: Sequence[float]) -> list[Array]:
        response = self._endpoint.send({"input": texts}, _Response, timeout, retries)
        by_index = {item.index: np.array(item.embedding, np.float32) for item in response.data}
        if sorted(by_index) != list(range(len(texts))):
            raise LocalServiceFailed(
                f"the embedder {self._endpoint.url} returned {len(by_index)} embeddings for "
                f"{len(texts)} texts"
            )
        return [by_index[number] for number in range(len(texts))]


class VectorCache:
    """The vectors of texts in a file; each call opens it, so that any thread may.

    A file that cannot be used is as good as none: texts are then sent again.
    """

    def __init__(self, path: Path, model: str, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self._path = path
        self._model = model
        self._max_bytes = max_bytes

    def read(self, texts: Sequence[str]) -> dict[str, Array]:
        """Return the vectors that are kept, by text."""
        keys = {self._key(text): text for text in texts}
        marks = ",".join("?" * len(keys))
        try:
            with closing(self._open()) as connection:
                rows = connection.execute(
                    f"SELECT key, vector FROM vectors WHERE key IN ({marks})",
                    list(keys),
                ).fetchall()
        except sqlite3.Error:
            return {}
        return {keys[key]: np.frombuffer(vector, np.float32) for key, vector in rows}

    def write(self, vectors: Mapping[str, Array]) -> None:
        """Keep vectors; the older half is deleted when the file is full."""
        rows = [(self._key(text), vector.tobytes()) for text, vector in vectors.items()]
        try:
            with closing(self._open()) as connection, connection:
                connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
                if _count_used_bytes(connection) > self._max_bytes:
                    connection.execute(
                        "DELETE FROM vectors WHERE rowid <= "
                        "(SELECT min(rowid) + max(rowid) FROM vectors) / 2"
                    )
        except sqlite3.Error:
            return

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
        )
        return connection

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self._model}\n{text}".encode("utf-8", "replace")).digest()


def _count_used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)

"""An HTTP endpoint that embeds texts, by the protocol of OpenAI, and the file of its vectors."""

from __future__ import annotations

import hashlib
import math
import os
import re
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import httpx
import msgspec
import numpy as np

from svc_notebook.display import format_count
from svc_notebook.errors import LocalServiceFailed
from svc_notebook.service.engine.arrays import Array

KEY_VARIABLE = "SVC_EMBEDDER_KEY"
# The price of a million tokens, in any currency.
PRICE_VARIABLE = "SVC_EMBEDDER_PRICE"
CACHE_FILE = "embeddings.sqlite"
MAX_CACHE_BYTES = 2**30
RECORD_TIMEOUT_SECONDS, QUERY_TIMEOUT_SECONDS = 60.0, 3.0
# Seconds before a failed request of records is sent again, unless the response has a longer time.
RETRY_SECONDS = (1.0, 2.0, 4.0, 8.0)
MAX_RETRY_AFTER_SECONDS = 60.0
RETRIED_STATUS = {408, 409, 425, 429, 500, 502, 503, 504}
MAX_SHOWN_CHARACTERS = 200
_LOOPBACK = re.compile(r"localhost|::1|127(\.\d+){3}")


class _Embedding(msgspec.Struct):
    index: int
    embedding: list[float]


class _Usage(msgspec.Struct):
    total_tokens: int = 0


class _Response(msgspec.Struct):
    data: list[_Embedding]
    usage: _Usage | None = None


class EmbeddingEndpoint:
    """A function from texts to vectors; texts that were sent before are not sent again.

    `url` is that of the endpoint, `model` is sent with each request if it is not empty. `folder`
    keeps the vectors; without it, none are kept.
    """

    def __init__(self, url: str, model: str, key: str, price: float, folder: Path | None) -> None:
        self._url = url
        self._model = model
        self._price = price
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._cache = VectorCache(folder / CACHE_FILE, f"{url}#{model}") if folder else None
        self._requests = self._tokens = self._kept = 0

    @classmethod
    def of(cls, name: str, folder: Path | None) -> EmbeddingEndpoint:
        """Return the endpoint `URL#MODEL`; key and price are read from the environment.

        `/embeddings` is added to a URL without it. Raises `LocalServiceFailed` for a key that
        others could read on its way.
        """
        address, model = urldefrag(name)
        parts = urlsplit(address)
        if not parts.hostname or parts.username or parts.password:
            raise LocalServiceFailed(
                f"an embedder's URL is https://HOST/PATH#MODEL; its key is read from {KEY_VARIABLE}"
            )
        key = os.environ.get(KEY_VARIABLE, "").strip()
        if key and parts.scheme == "http" and not _LOOPBACK.fullmatch(parts.hostname):
            raise LocalServiceFailed(
                f"{KEY_VARIABLE} is sent by https only, or to this machine: use https://"
            )
        url = address.rstrip("/")
        url = url if url.endswith("/embeddings") else f"{url}/embeddings"
        return cls(url, model, key, _read_price(), folder)

    def __call__(self, texts: Sequence[str]) -> Array:
        """Return the vectors of texts of records; failed requests are repeated."""
        return self._embed(texts, RECORD_TIMEOUT_SECONDS, RETRY_SECONDS)

    def embed_queries(self, texts: Sequence[str]) -> Array:
        """Return the vectors of queries; a search does not wait for a repeated request."""
        return self._embed(texts, QUERY_TIMEOUT_SECONDS, ())

    def take_usage(self) -> str:
        """Return the requests and tokens since the last time, and their price if it is known."""
        requests, tokens, kept = self._requests, self._tokens, self._kept
        self._requests = self._tokens = self._kept = 0
        if not requests and not kept:
            return ""
        counts = (format_count(requests, "request"), format_count(tokens, "token"))
        usage = f"{', '.join(counts)}, {format_count(kept, 'text')} embedded before"
        cost = tokens / 1e6 * self._price
        return f"{usage}, cost {cost:.4f}" if self._price else usage

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
        body = {"input": texts, **({"model": self._model} if self._model else {})}
        for seconds in (*retries, None):
            self._requests += 1
            try:
                response = httpx.post(self._url, json=body, headers=self._headers, timeout=timeout)
            except httpx.HTTPError as error:
                fault, retried, wait = f"{type(error).__name__}: {error}", True, 0.0
            else:
                if response.is_success:
                    return self._read(response, len(texts))
                fault = f"status {response.status_code}: {response.text[:MAX_SHOWN_CHARACTERS]}"
                retried, wait = response.status_code in RETRIED_STATUS, _retry_after(response)
            if seconds is None or not retried or wait > MAX_RETRY_AFTER_SECONDS:
                break
            time.sleep(max(seconds, wait))
        advice = f"; set {KEY_VARIABLE}" if "status 401" in fault and not self._headers else ""
        raise LocalServiceFailed(f"the embedder {self._url} failed: {fault}{advice}")

    def _read(self, response: httpx.Response, count: int) -> list[Array]:
        try:
            answer = msgspec.json.decode(response.content, type=_Response)
        except msgspec.MsgspecError as error:
            raise LocalServiceFailed(
                f"the embedder {self._url} returned no list of embeddings: {error}"
            ) from error
        self._tokens += answer.usage.total_tokens if answer.usage else 0
        by_index = {item.index: np.array(item.embedding, np.float32) for item in answer.data}
        if sorted(by_index) != list(range(count)):
            raise LocalServiceFailed(
                f"the embedder {self._url} returned {len(by_index)} embeddings for {count} texts"
            )
        return [by_index[number] for number in range(count)]


class VectorCache:
    """The vectors of texts in a file; each call opens it, so that any thread may.

    A file that cannot be used is as good as none: texts are then sent again.
    """

    def __init__(self, path: Path, model: str) -> None:
        self._path = path
        self._model = model

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
                if _count_used_bytes(connection) > MAX_CACHE_BYTES:
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


def _read_price() -> float:
    text = os.environ.get(PRICE_VARIABLE, "").strip()
    try:
        price = float(text or 0)
    except ValueError:
        price = -1.0
    if not 0 <= price < math.inf:
        raise LocalServiceFailed(f"{PRICE_VARIABLE} is {text!r}: use the price of a million tokens")
    return price


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds of the header; 0 without it, or if it is a date."""
    try:
        return max(0.0, float(response.headers.get("Retry-After", 0)))
    except ValueError:
        return 0.0

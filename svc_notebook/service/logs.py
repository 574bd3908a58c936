"""The request log: the last requests and their responses, with secrets masked."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import islice
from typing import Any, Literal, TypedDict
from urllib.parse import quote, unquote, urlencode

import msgspec

from svc_notebook.core.api import Endpoint
from svc_notebook.core.api.secured_keys import read_secured_key
from svc_notebook.core.api.shapes import LogEntry
from svc_notebook.service.store import Store

# api.md, Limits: about the last thousand requests of seven days, with truncated bodies.
MAX_LOGGED_REQUESTS = 1000
RETENTION_SECONDS = 7 * 24 * 3600
MAX_BODY_CHARACTERS = 1000
# The number of characters of a key that are shown.
SHOWN_KEY_CHARACTERS = 4
SECRET_NAMES = ("api-key", "apikey", "api_key", "authorization", "cookie")
HIDDEN_CONTENT = b"not shown: this key may not read all of these records"
# Minimum lengths: a known secret is masked anywhere from the first on, and as a whole word from the
# second on.
MIN_SECRET_CHARACTERS, MIN_SECRET_WORD_CHARACTERS = 8, 4


class InnerQuery(TypedDict, total=False):
    """One of several searches of one request."""

    index_name: str
    user_token: str
    query_id: str


WRITES_RECORDS = {"add_object", "put_object", "partial_update_object", "batch", "batch_many"}
# Which text of an entry contains attributes of records; `both` if unknown.
Content = Literal["answer", "body", "both", ""]


@dataclass(frozen=True)
class Logged:
    """One request and its response; `kind` is `query`, `build` or empty.

    `others` are indices that it names besides `index`. `hidden` are the unretrievable attributes of
    these indices at that time; `shows_hidden` is true if the entry may contain them.
    """

    verb: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    address: str
    body: bytes
    status: int
    answer: bytes
    milliseconds: int
    hits: int | None = None
    kind: str = ""
    index: str = ""
    inner: list[InnerQuery] = field(default_factory=list)
    params: str = ""
    time: float = field(default_factory=time.time)
    others: list[str] = field(default_factory=list)
    content: Content = "both"
    hidden: list[str] = field(default_factory=list)
    shows_hidden: bool = True

    @property
    def indices(self) -> set[str]:
        """The indices of the request; `{""}` if there are none."""
        named = {*(query["index_name"] for query in self.inner), *self.others}
        return named | {self.index} if self.index or not named else named


@cache
def content_of(endpoint: Endpoint) -> Content:
    """Return which text of a request to an endpoint contains attributes of records."""
    if endpoint.acl in ("search", "browse") and endpoint.interface == "search":
        return "answer"
    return "body" if endpoint.name in WRITES_RECORDS else ""


class RequestLog:
    """The request log in memory, written regularly: a kill may lose the last second."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        rows = store.read(
            "SELECT entry FROM logs ORDER BY number DESC LIMIT ?", MAX_LOGGED_REQUESTS
        )
        entries = [decoded for [entry] in reversed(rows) if (decoded := _decode_entry(entry))]
        self._kept = deque(entries, maxlen=MAX_LOGGED_REQUESTS)
        self._new: deque[Logged] = deque(maxlen=MAX_LOGGED_REQUESTS)

    def add(self, logged: Logged) -> None:
        """Add one request."""
        with self._lock:
            self._kept.append(logged)
            self._new.append(logged)

    def read(
        self,
        offset: int,
        length: int,
        index: str | None,
        kind: str,
        may_see: Callable[[str], bool] = lambda index: True,
        may_read: Callable[[Logged], bool] = lambda logged: True,
    ) -> list[LogEntry]:
        """Return requests of the indices that the reader may see, newest first.

        Texts that contain records are replaced if the reader may not read them.
        """
        with self._lock:
            kept = list(reversed(self._kept))
        fitting = (
            logged
            for logged in kept
            if _fits(logged, index, kind) and all(map(may_see, logged.indices))
        )
        first = min(offset, MAX_LOGGED_REQUESTS)
        chosen = islice(fitting, first, first + length)
        return [
            _format_entry(logged if may_read(logged) else _without_content(logged))
            for logged in chosen
        ]

    def flush(self) -> None:
        """Write new entries to disk and delete old ones."""
        with self._lock:
            new = list(self._new)
            self._new.clear()
        if new:
            rows = [(logged.time, msgspec.msgpack.encode(logged)) for logged in new]
            with self._store.writing() as connection:
                connection.executemany("INSERT INTO logs (time, entry) VALUES (?, ?)", rows)
                connection.execute(
                    "DELETE FROM logs WHERE time < ? "
                    "OR number <= (SELECT max(number) FROM logs) - ?",
                    (time.time() - RETENTION_SECONDS, MAX_LOGGED_REQUESTS),
                )


def _decode_entry(entry: bytes) -> Logged | None:
    """Decode an entry; an invalid one must not prevent the start."""
    try:
        return msgspec.msgpack.decode(entry, type=Logged)
    except msgspec.MsgspecError:
        return None


def _fits(logged: Logged, index: str | None, kind: str) -> bool:
    failed = logged.status >= 400
    return (
        logged.time > time.time() - RETENTION_SECONDS
        and (index is None or index in logged.indices)
        and (kind == "all" or (failed if kind == "error" else kind == logged.kind))
    )


def _without_content(logged: Logged) -> Logged:
    return replace(
        logged,
        answer=HIDDEN_CONTENT if logged.content in ("answer", "both") else logged.answer,
        body=HIDDEN_CONTENT if logged.content in ("body", "both") else logged.body,
    )


def _format_entry(logged: Logged) -> LogEntry:
    moment = datetime.fromtimestamp(logged.time, UTC).isoformat(timespec="milliseconds")
    entry: LogEntry = {
        "timestamp": moment.replace("+00:00", "Z"),
        "method": logged.verb,
        "answer_code": str(logged.status),
        "query_body": _cut(logged.body),
        "answer": _cut(logged.answer),
        "url": _url(logged),
        "ip": logged.address,
        "query_headers": "\n".join(f"{n}: {mask(n, v)}" for n, v in logged.headers.items()),
        "sha1": hashlib.sha1(_identity(logged), usedforsecurity=False).hexdigest(),
        "nb_api_calls": "1",
        "processing_time_ms": str(logged.milliseconds),
    }
    if logged.index:
        entry["index"] = logged.index
    if logged.inner:
        entry["inner_queries"] = [dict(query) for query in logged.inner]
    if logged.params:
        entry["query_params"] = logged.params[:MAX_BODY_CHARACTERS]
    if logged.hits is not None:
        entry["query_nb_hits"] = str(logged.hits)
    return entry


def mask(name: str, value: str) -> str:
    """Return the value, or only its beginning if the name is that of a secret."""
    return shorten(value) if name.lower().endswith(SECRET_NAMES) else value


def shorten(secret: str) -> str:
    """Return the beginning of a secret, with stars for the rest."""
    shown = min(SHOWN_KEY_CHARACTERS, len(secret) // 4)
    return secret[:shown] + "*" * min(len(secret) - shown, 32 - shown)


def hide_keys(text: bytes, *keys: str) -> bytes:
    """Mask all API keys in a text: those generated by the service, and the known ones."""
    for key in keys:
        text = text.replace(key.encode(), shorten(key).encode())
    return _KEY.sub(lambda match: shorten(match[0].decode()).encode(), text)


_KEY = re.compile(rb"\b[0-9a-f]{32}\b")
# A key labelled as an API key inside another text, such as a page's address.
_NAMED_KEY = re.compile(rb"""(?i)(api[-_]?key["']?\s*[=:]\s*["']?)([^"'&\s,}]+)""")


def hide_known(text: bytes, secrets: Iterable[str]) -> bytes:
    """Mask known secrets, and values that the text labels as an API key."""
    for secret in secrets:
        if (encoded := secret.encode()) not in text:
            continue
        shown = shorten(secret).encode()
        if len(secret) >= MIN_SECRET_CHARACTERS:
            text = text.replace(encoded, shown)
        elif len(secret) >= MIN_SECRET_WORD_CHARACTERS:
            text = re.sub(rb"\b%s\b" % re.escape(encoded), shown, text)
    if b"key" not in text.lower():
        return text
    return _NAMED_KEY.sub(lambda match: match[1] + shorten(_decode(match[2])).encode(), text)


def hide_in_text(text: str, secrets: Collection[str]) -> str:
    """Mask secrets as `hide_known` does."""
    # Most texts of a request contain no secret, and a request has a dozen.
    if (
        text.isascii()
        and "key" not in text.lower()
        and not any(secret in text for secret in secrets)
    ):
        return text
    return _decode(hide_known(text.encode("utf-8", "replace"), secrets))


def hide_in_path(path: str, secrets: Collection[str], *, declared: bool) -> str:
    """Mask secrets in a path; if the endpoint is not `declared`, mask any key."""
    shown, before = [], ""
    for part in path.split("/"):
        plain = unquote(unquote(unquote(part)))  # the encoding may be applied repeatedly
        hidden = hide_in_text(plain, secrets)
        if plain in secrets or (not declared and (before == "keys" or read_secured_key(plain))):
            hidden = shorten(plain)
        elif not declared:
            hidden = _decode(hide_keys(hidden.encode("utf-8", "replace")))
        shown.append(part if hidden == plain else quote(hidden, safe="*"))
        before = plain.lower()
    return "/".join(shown)


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _cut(text: bytes) -> str:
    return _decode(text)[:MAX_BODY_CHARACTERS]


def _url(logged: Logged) -> str:
    query = urlencode({name: mask(name, value) for name, value in logged.query.items()})
    return f"{logged.path}?{query}" if query else logged.path


def _identity(logged: Logged) -> bytes:
    entries: Any = (logged.time, logged.verb, logged.path, logged.address)
    return repr(entries).encode("utf-8", "replace")

"""The service as an ASGI application: each request becomes a handler's arguments, each result or
error an answer in JSON."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from svc_notebook.api import ENDPOINTS, Endpoint
from svc_notebook.errors import BadInput, Refused, TooMany, did_you_mean
from svc_notebook.service.access import Access, Caller
from svc_notebook.service.bodies import read_json
from svc_notebook.service.handlers import HANDLERS, Call
from svc_notebook.service.router import Router, WrongVerb
from svc_notebook.service.service import Service, check_index_name
from svc_notebook.service.steps import RIGHTS
from svc_notebook.service.wire import (
    LostCaller,
    Message,
    Receive,
    Reply,
    Send,
    json_reply,
    pack,
    preflight,
    read_body,
    refusal,
    send_reply,
)

T = TypeVar("T")

# Searches may be slow and writes wait for the disk: neither keeps the other from its turn.
READERS, WRITERS = 6, 16


@dataclass(frozen=True)
class _Request:
    """What came over the wire, read as far as its kind allows."""

    verb: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    address: str


class App:
    """Answers every declared endpoint; what has no handler yet says so."""

    def __init__(self, service: Service, vendor: str | None = None) -> None:
        self.service = service
        self._router = Router(ENDPOINTS)
        name = vendor or os.environ.get("SVC_VENDOR") or "Service"
        self._access = Access(service.keyring, service.sources, name)
        self._readers = ThreadPoolExecutor(READERS, "svc-read")
        self._writers = ThreadPoolExecutor(WRITERS, "svc-write")

    def close(self) -> None:
        """Take no more work; what has not begun is dropped."""
        for pool in (self._readers, self._writers):
            pool.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        try:
            reply = await self._answer(scope, receive)
        except LostCaller:
            return
        await send_reply(send, reply, bare=scope["method"] == "HEAD")

    async def _answer(self, scope: Message, receive: Receive) -> Reply:
        try:
            return await self._serve(_read_head(scope), receive)
        except Exception as error:
            if isinstance(error, LostCaller):
                raise
            return _explain(error)

    async def _serve(self, request: _Request, receive: Receive) -> Reply:
        if request.verb == "OPTIONS":
            asked = request.headers.get("access-control-request-headers", "")
            return preflight(self._router.verbs(request.path), asked)
        verb = "GET" if request.verb == "HEAD" else request.verb
        row, parts = self._router.find(verb, request.path)
        caller = self._access.admit(row, request.headers, request.query, request.address)
        raw = await read_body(receive, request.headers)
        return await self._in_thread(row, lambda: self._handle(row, caller, parts, request, raw))

    async def _in_thread(self, row: Endpoint, work: Callable[[], T]) -> T:
        pool = self._readers if row.reads else self._writers
        return await asyncio.get_running_loop().run_in_executor(pool, work)

    def _handle(
        self, row: Endpoint, caller: Caller, parts: dict[str, str], request: _Request, raw: bytes
    ) -> Reply:
        if row.acl not in ("any", "actions", "crawler"):
            caller.require(row.acl, [parts["index"]] if "index" in parts else ())
        if row not in HANDLERS:
            message = f"{row.verb} {row.path} is not answered by the local service yet"
            return refusal(501, message)
        given = row.decode(parts, self._own(row, request.query), read_json(raw), request.headers)
        _check_reach(row, caller, given)
        if row.acl in ("search", "browse"):
            self._access.count(caller, given.get("userToken"), _count_queries(row, given))
        answer = HANDLERS[row](Call(self.service, caller), **given)
        return pack(json_reply(row.status, answer), request.headers)

    def _own(self, row: Endpoint, query: Mapping[str, str]) -> dict[str, str]:
        """The query string's parameters without credentials and the like; none is unknown."""
        own = {n: v for n, v in query.items() if not n.lower().startswith(self._access.prefix)}
        known = [name for name, place in row.places.items() if place == "query"]
        for name in own if row.verb != "GET" else ():
            if name not in known:
                raise BadInput(f"`{name}` is not known in this URL{did_you_mean(name, known)}")
        return own


def _read_head(scope: Message) -> _Request:
    headers = {n.decode("latin-1").lower(): v.decode("latin-1") for n, v in scope["headers"]}
    raw = scope["raw_path"].split(b"?", 1)[0]
    try:
        query = parse_qsl(
            scope["query_string"].decode("latin-1"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=1000,
        )
    except ValueError as error:
        raise BadInput(f"the query string is not URL-encoded UTF-8: {error}") from None
    address = scope["client"][0] if scope.get("client") else ""
    return _Request(scope["method"], raw.decode("latin-1"), dict(query), headers, address)


def _check_reach(row: Endpoint, caller: Caller, given: Mapping[str, Any]) -> None:
    """Check the rights that only the body tells: of each batched action, on each index."""
    if "index" in given:
        check_index_name(given["index"])
    requests = given.get("requests") if "*" in row.path or row.acl == "actions" else None
    for request in requests or ():
        right = RIGHTS[request["action"]] if row.acl == "actions" else row.acl
        caller.require(right, [given.get("index") or request.get("indexName", "")])
    if row.name == "operate_index":
        caller.require(row.acl, [given["destination"]])


def _count_queries(row: Endpoint, given: Mapping[str, Any]) -> int:
    return len(given["requests"]) if row.name == "search_many" else 1


def _explain(error: Exception) -> Reply:
    """Say what went wrong; only what nobody foresaw is a fault of the service's own."""
    if isinstance(error, WrongVerb):
        return refusal(405, str(error), {"allow": ", ".join(error.allowed)})
    if isinstance(error, TooMany):
        return refusal(429, str(error), {"retry-after": str(int(error.wait))})
    if isinstance(error, Refused):
        return refusal(error.status, str(error))
    if isinstance(error, BadInput):
        return refusal(400, str(error))
    traceback.print_exception(error, file=sys.stderr)
    return refusal(500, "the local service failed; its own output tells more")

"""The service as an ASGI application: decode requests, call handlers, encode results and errors."""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from svc_notebook.api import ENDPOINTS, Endpoint
from svc_notebook.errors import BadInput, KeyRefused, Refused, TooMany
from svc_notebook.service import limits
from svc_notebook.service.engine.deadline import SEARCH_TIMEOUT_SECONDS
from svc_notebook.service.handlers import HANDLERS
from svc_notebook.service.http.auth import Authenticator, Caller
from svc_notebook.service.http.body import (
    BodyMemory,
    ClientDisconnected,
    IncomingBody,
    MalformedBody,
    Message,
    Receive,
    Send,
    ServiceResponse,
    compress_response,
    crawler_error_response,
    discard_body,
    error_response,
    json_response,
    preflight_response,
    read_body,
    send_response,
)
from svc_notebook.service.http.body_reader import read_json
from svc_notebook.service.http.reader_threads import ReaderThreads
from svc_notebook.service.http.request import RequestState, read_head
from svc_notebook.service.http.router import MethodNotAllowed, Router
from svc_notebook.service.limits import check_index_name
from svc_notebook.service.log_access import (
    NO_INDEX,
    may_name_others,
    named_indices,
    shows_hidden,
    unretrievable_attributes,
)
from svc_notebook.service.logs import content_of
from svc_notebook.service.service import RequestContext, Service
from svc_notebook.service.store import is_damage, is_storage_failure
from svc_notebook.service.tasks.batch_operations import ACTION_RIGHTS
from svc_notebook.terminal import escape_controls

# Searches may be slow and writes wait for the disk, so each kind has its own threads.
WRITER_THREADS = 16
# Endpoints that are not logged: reads of the log would fill it.
UNLOGGED_ENDPOINTS = ("get_logs",)
# Secrets of the service itself, which the logs mask.
SECRET_FACTS = ("adminKey", "searchKey", "crawlerApiKey")
# Maximum body sizes in bytes of interfaces that differ from the default.
MAX_BODY_BYTES_BY_INTERFACE = {"events": limits.MAX_EVENTS_BODY_BYTES}


class App:
    """The ASGI application that serves all declared endpoints."""

    def __init__(
        self,
        service: Service,
        vendor: str | None = None,
        search_timeout: float = SEARCH_TIMEOUT_SECONDS,
    ) -> None:
        self.service = service
        self._router = Router(ENDPOINTS)
        name = vendor or os.environ.get("SVC_VENDOR") or "Service"
        self._access = Authenticator(service.keyring, service.sources, name)
        self._intake = BodyMemory()
        self._readers = ReaderThreads(search_timeout)
        self._writers = ThreadPoolExecutor(WRITER_THREADS, "svc-write")

    def close(self) -> None:
        """Accept no more work; work that has not started is dropped."""
        self._readers.close()
        self._writers.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        exchange, incoming = read_head(scope), IncomingBody(receive)
        try:
            reply = await self._answer(exchange, incoming)
        except ClientDisconnected:
            return
        finally:
            self._intake.let_go(exchange.accounts, exchange.held)
        if exchange.verb != "OPTIONS" and _is_logged(exchange.row):
            facts = self.service.keyring.facts
            self.service.logs.note(exchange.logged(reply, (facts[name] for name in SECRET_FACTS)))
        if exchange.closes:
            await discard_body(
                incoming
            )  # otherwise the connection breaks before the refusal is read
        bare = exchange.verb == "HEAD"
        await send_response(send, reply, bare=bare, request_id=exchange.request_id)

    async def _answer(self, exchange: RequestState, receive: Receive) -> ServiceResponse:
        try:
            return await self._serve(exchange, receive)
        except ClientDisconnected:
            raise
        except Exception as error:
            reply = _convert_error(error, exchange, self.service)
            return crawler_error_response(reply) if _is_crawler_request(exchange) else reply

    async def _serve(self, exchange: RequestState, receive: Receive) -> ServiceResponse:
        if exchange.verb == "OPTIONS":
            asked = exchange.headers.get("access-control-request-headers", "")
            return preflight_response(self._router.verbs(exchange.path), asked)
        exchange.read_query()
        verb = "GET" if exchange.verb == "HEAD" else exchange.verb
        row, exchange.parts = self._router.find(verb, exchange.path)
        exchange.row = row
        exchange.others = [NO_INDEX] if may_name_others(row) else []
        caller = self._access.admit(row, exchange.headers, exchange.query, exchange.address)
        # Before the body is read: a request that will be refused must not take memory from others.
        _check_head_right(row, caller, exchange.parts)
        exchange.accounts = caller.accounts
        hold, most = (
            partial(self._hold, exchange),
            MAX_BODY_BYTES_BY_INTERFACE.get(row.interface, limits.MAX_BODY_BYTES),
        )
        exchange.body = await read_body(receive, exchange.headers, hold, most)
        work = partial(self._handle, row, caller, exchange)
        if row.reads:
            return await self._readers.run(caller.name, len(exchange.body), receive, work)
        return await asyncio.get_running_loop().run_in_executor(self._writers, work)

    def _note_hidden(self, row: Endpoint, caller: Caller, exchange: RequestState) -> None:
        """Record which attributes a reader of this log entry must be allowed to see."""
        inner = [one["index_name"] for one in exchange.inner]
        indices = {exchange.parts.get("index", ""), *exchange.others, *inner}
        catalog = self.service.catalog
        exchange.hidden = sorted(unretrievable_attributes(catalog, indices))
        if content_of(row) == "answer":
            exchange.shows_hidden = shows_hidden(caller, catalog, indices)

    def _hold(self, exchange: RequestState, size: int) -> None:
        self._intake.take(exchange.accounts, size)
        exchange.held += size

    def _handle(self, row: Endpoint, caller: Caller, exchange: RequestState) -> ServiceResponse:
        prefix = self._access.prefix
        given = row.decode(
            exchange.parts,
            exchange.own_query(row, prefix),
            read_json(exchange.body),
            exchange.headings(row, prefix),
        )
        _check_body_rights(self.service, row, caller, given)
        if row.acl in ("search", "browse") and row.interface == "search":
            for token, queries in _count_queries(row, given).items():
                self._access.count(caller, token, queries)
        user = exchange.headers.get(f"{prefix}user-id", "") if _writes(row) else ""
        if user:
            self.service.mapping.one(user)
        call = RequestContext(self.service, caller, headers=exchange.said)
        answer = HANDLERS[row](call, **given)
        if _writes(row):
            self.service.mapping.note_write(row.name, given, user)
        exchange.note_answer(given, answer)
        exchange.others = sorted({*named_indices(row, given, answer), *call.redirects})
        self._note_hidden(row, caller, exchange)
        if row.status == 204:
            return ServiceResponse(row.status, headers=exchange.said)
        return compress_response(json_response(row.status, answer, exchange.said), exchange.headers)


def _is_crawler_request(exchange: RequestState) -> bool:
    """Return whether a request is for the crawler interface, even on an unknown path."""
    return exchange.path.startswith("/api/")


def _is_logged(row: Endpoint | None) -> bool:
    """Return whether an endpoint is logged: the logs are those of the search service only."""
    return row is None or not (row.name in UNLOGGED_ENDPOINTS or row.interface == "events")


def _check_head_right(row: Endpoint, caller: Caller, parts: Mapping[str, str]) -> None:
    """Check the right that the request's head requires, on the index of the path if any."""
    indices = [parts["index"]] if "index" in parts else []
    if row.acl == "actions":
        caller.require_any({*ACTION_RIGHTS.values()}, indices)
    elif row.acl not in ("any", "crawler"):
        caller.require(row.acl, indices)


def _check_body_rights(
    service: Service, row: Endpoint, caller: Caller, given: Mapping[str, Any]
) -> None:
    """Check the rights that depend on the body: of each batched action, on each index."""
    if given.get("index") is not None:
        check_index_name(given["index"])
    requests = given.get("requests") if "*" in row.path or row.acl == "actions" else None
    for request in requests or ():
        right = ACTION_RIGHTS[request["action"]] if row.acl == "actions" else row.acl
        named = request.get("indexName") or request.get("index_name", "")
        caller.require(right, [given.get("index", named)])
    if row.name == "operate_index":
        caller.require(row.acl, [given["destination"]])
    if given.get("forwardToReplicas") or given.get("forwardToSlaves"):
        _check_replicas(service, row, caller, given["index"])


def _check_replicas(service: Service, row: Endpoint, caller: Caller, index: str) -> None:
    """Refuse to change replicas that the key does not reach: all of them change, or none."""
    shelf = service.catalog.get(index)
    replicas = service.catalog.family(shelf)[1:] if shelf and not shelf.leader else ()
    if not all(caller.may(row.acl, replica.name) for replica in replicas):
        raise KeyRefused(
            f"this key does not reach every replica of {index}: leave out forwardToReplicas, or "
            "use a key that does",
            status=403,
        )


def _writes(row: Endpoint) -> bool:
    """Return whether an endpoint writes to an index."""
    return not row.reads and row.acl != "admin" and "/1/indexes/" in row.path


def _count_queries(row: Endpoint, given: Mapping[str, Any]) -> Counter[str | None]:
    """Count the queries of a call by user token."""
    queries = given["requests"] if row.name == "search_many" else [given]
    return Counter(one.get("userToken") for one in queries)


def _convert_error(error: Exception, exchange: RequestState, service: Service) -> ServiceResponse:
    """Convert an error to a response; only unexpected errors count as faults of the service."""
    of_events = exchange.row is not None and exchange.row.interface == "events"
    if isinstance(error, MethodNotAllowed):
        return error_response(405, str(error), {"allow": ", ".join(error.allowed)})
    if isinstance(error, TooMany):
        return error_response(
            429, str(error), {"retry-after": str(int(error.wait)), **exchange.said}
        )
    # The events interface has different statuses (api.md, Errors).
    if isinstance(error, KeyRefused) and of_events:
        return error_response(401, str(error))
    if isinstance(error, BadInput) and of_events and not isinstance(error, MalformedBody):
        return error_response(422, str(error))
    if isinstance(error, Refused):
        return error_response(error.status, str(error))
    if isinstance(error, BadInput):
        return error_response(400, str(error))
    if is_damage(error):
        return error_response(500, service.store.report_damage(error))
    if is_storage_failure(error):
        return error_response(
            507, f"nothing was written: {error}; make room on the disk, then try again"
        )
    sys.stderr.write(escape_controls("".join(traceback.format_exception(error))))
    return error_response(500, "the local service failed; its own output tells more")

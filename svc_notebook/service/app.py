"""The service as an ASGI application: decode requests, call handlers, encode results and errors."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from svc_notebook.core.api import ENDPOINTS, Endpoint
from svc_notebook.errors import BadInput, KeyRefused, Refused, TooMany
from svc_notebook.service import limits
from svc_notebook.service.background_thread import ERROR_LOG
from svc_notebook.service.engine.execution import SEARCH_TIMEOUT_SECONDS, Deadline
from svc_notebook.service.handlers import HANDLERS
from svc_notebook.service.http.auth import SEE_ALL_ATTRIBUTES, Authenticator, Caller
from svc_notebook.service.http.messages import (
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
    read_json,
    send_response,
)
from svc_notebook.service.http.reader_threads import LARGE_REQUEST_BYTES, ReaderThreads
from svc_notebook.service.http.request import (
    NO_INDEX,
    RequestState,
    may_have_body_key,
    may_name_others,
    named_indices,
    read_body_key,
    read_head,
    refuse_security_tags,
)
from svc_notebook.service.http.router import MethodNotAllowed, Router
from svc_notebook.service.indices.published_index import check_index_name
from svc_notebook.service.logs import content_of
from svc_notebook.service.service import RequestContext, Service
from svc_notebook.service.store import advise_on_storage, is_damage, is_storage_failure
from svc_notebook.service.tasks.batch_operations import ACTION_RIGHTS, RecordTooBig
from svc_notebook.service.tasks.writer import WritesPaused
from svc_notebook.service.workers.messages import SEARCH_ENDPOINTS
from svc_notebook.service.workers.pool import SearchWorkers

# Searches may be slow and writes wait for the disk, so each kind has its own threads.
WRITER_THREADS = 16
# Endpoints that are not logged: events, and reads of the log, which would fill it.
UNLOGGED_ENDPOINTS = {
    endpoint
    for endpoint in ENDPOINTS
    if endpoint.name == "get_logs" or endpoint.interface == "events"
}
# Endpoints that write to an index.
INDEX_WRITES = {
    endpoint
    for endpoint in ENDPOINTS
    if not endpoint.reads and endpoint.acl != "admin" and "/1/indexes/" in endpoint.path
}
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
        workers: int = 0,
    ) -> None:
        self.service = service
        self._router = Router(ENDPOINTS)
        name = vendor or os.environ.get("SVC_VENDOR") or "Service"
        self._authenticator = Authenticator(service.keyring, service.sources, name)
        self._body_memory = BodyMemory()
        self.workers = SearchWorkers(service, workers, search_timeout)
        self._readers = ReaderThreads(search_timeout, at_once=self.workers.count + 2)
        self._writers = ThreadPoolExecutor(WRITER_THREADS, "svc-write")
        self._open_requests = 0
        self._last_request = time.monotonic()

    def last_request(self) -> float:
        """Return when a request was last served, by the monotonic clock."""
        return time.monotonic() if self._open_requests else self._last_request

    def close(self) -> None:
        """Accept no more work; work that has not started is dropped."""
        self.workers.close()
        self._readers.close()
        self._writers.shutdown(wait=False, cancel_futures=True)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        self._open_requests += 1
        try:
            await self._respond(read_head(scope), IncomingBody(receive), send)
        finally:
            self._open_requests -= 1
            self._last_request = time.monotonic()

    async def _respond(self, state: RequestState, incoming: IncomingBody, send: Send) -> None:
        try:
            response = await self._serve(state, incoming)
        except ClientDisconnected:
            return
        except Exception as error:  # every failure has a response; unexpected ones are reported
            response = _convert_error(error, state, self.service)
            if state.path.startswith("/api/"):  # the crawler interface; the path may be unknown
                response = crawler_error_response(response)
        finally:
            if state.held_bytes:
                self._body_memory.release(state.accounts, state.held_bytes)
        if state.verb != "OPTIONS" and state.endpoint not in UNLOGGED_ENDPOINTS:
            self._log(state, response)
        if state.closes_connection:
            # Otherwise the connection breaks before the caller reads the error.
            await discard_body(incoming)
        head_only = state.verb == "HEAD"
        await send_response(send, response, head_only=head_only, request_id=state.request_id)

    def _log(self, state: RequestState, response: ServiceResponse) -> None:
        """Log a request; a failure is reported, and the caller still receives the response."""
        facts = self.service.keyring.facts
        try:
            entry = state.to_log_entry(response, (facts[name] for name in SECRET_FACTS))
            self.service.logs.add(entry)
        except Exception as error:
            ERROR_LOG.write_traceback(error)

    async def _serve(self, state: RequestState, receive: Receive) -> ServiceResponse:
        if state.verb == "OPTIONS":
            requested = state.headers.get("access-control-request-headers", "")
            return preflight_response(self._router.verbs(state.path), requested)
        state.read_query()
        verb = "GET" if state.verb == "HEAD" else state.verb
        endpoint, state.path_parts = self._router.find(verb, state.path)
        state.endpoint = endpoint
        prefix = self._authenticator.prefix
        if endpoint.former_paths:
            state.read_path_headers(endpoint, prefix)
        if may_have_body_key(endpoint, state, prefix):
            await read_body_key(state, receive, self._body_memory, prefix)
        state.others = [NO_INDEX] if may_name_others(endpoint) else []
        caller = self._authenticator.authenticate(
            endpoint, state.headers, state.query, state.address
        )
        refuse_security_tags(state, prefix)
        # Before the body is read, so that refused requests use no memory.
        _check_head_right(endpoint, caller, state.path_parts)
        state.accounts = caller.accounts
        reserve = partial(self._reserve, state)
        max_bytes = MAX_BODY_BYTES_BY_INTERFACE.get(endpoint.interface, limits.MAX_BODY_BYTES)
        if state.body:
            reserve(len(state.body))
        else:
            state.body = await read_body(receive, state.headers, reserve, max_bytes)
        work = partial(self._handle, endpoint, caller, state)
        if endpoint.reads:
            elsewhere = (
                partial(self._search_in_worker, endpoint, caller, state)
                if self.workers.count and endpoint.name in SEARCH_ENDPOINTS
                else None
            )
            return await self._readers.run(caller.name, len(state.body), receive, work, elsewhere)
        return await asyncio.get_running_loop().run_in_executor(self._writers, work)

    def _record(
        self,
        endpoint: Endpoint,
        caller: Caller,
        state: RequestState,
        answer: Any,
        redirects: Iterable[str],
    ) -> None:
        """Record what the logs show of a response, and who may read it."""
        given = state.given or {}
        state.record_response(given, answer)
        named = named_indices(endpoint, given, answer) if may_name_others(endpoint) else ()
        state.others = sorted({*named, *redirects})
        # Attributes that a reader of this log entry must be allowed to see.
        inner = [query["index_name"] for query in state.inner]
        indices = {state.path_parts.get("index", ""), *state.others, *inner}
        catalog = self.service.catalog
        state.hidden = sorted(catalog.unretrievable_attributes(indices))
        if content_of(endpoint) == "answer":
            state.shows_hidden = any(
                catalog.unretrievable_attributes([index]) and caller.may(SEE_ALL_ATTRIBUTES, index)
                for index in indices
            )

    def _reserve(self, state: RequestState, size: int) -> None:
        self._body_memory.reserve(state.accounts, size)
        state.held_bytes += size

    async def _search_in_worker(
        self, endpoint: Endpoint, caller: Caller, state: RequestState, deadline: Deadline
    ) -> ServiceResponse | None:
        """Answer a search in a worker process; None if this process must."""
        if not self.workers.ready:
            if self._readers.running:  # searches overlap, so that workers are of use
                self.workers.start()
            return None
        loop = asyncio.get_running_loop()
        if len(state.body) > LARGE_REQUEST_BYTES:
            await loop.run_in_executor(None, self._prepare, endpoint, caller, state)
        given = self._prepare(endpoint, caller, state)
        reply = await self.workers.answer(endpoint.name, given, caller, state.headers, deadline)
        if reply is None:
            return None
        for impression in reply.impressions:
            self.service.impressions.add(impression)
        for search in reply.counted:
            self.service.search_counts.add(search)
        if reply.refusal:
            raise reply.refusal.error()
        self._record(endpoint, caller, state, reply.facts, redirects=())
        headers = {**reply.headers, **state.response_headers}
        response = ServiceResponse(reply.status, reply.body, headers, reply.plain)
        if reply.joined:
            return await loop.run_in_executor(None, compress_response, response, state.headers)
        return response

    def _prepare(self, endpoint: Endpoint, caller: Caller, state: RequestState) -> dict[str, Any]:
        """Decode a request once, check what its body needs and count its queries."""
        if state.given is not None:
            return state.given
        prefix = self._authenticator.prefix
        given = endpoint.decode(
            state.path_parts,
            state.own_query(endpoint, prefix),
            read_json(state.body),
            state.header_arguments(endpoint, prefix) if endpoint.headings else {},
        )
        _check_body_rights(self.service, endpoint, caller, given)
        if endpoint.acl in ("search", "browse") and endpoint.interface == "search":
            user = state.header("UserToken", prefix)
            queries = given["requests"] if endpoint.name == "search_many" else [given]
            by_token = Counter(query.get("userToken") or user for query in queries)
            for token, count in by_token.items():
                self._authenticator.count_queries(caller, token, count)
        state.given = given
        return given

    def _handle(self, endpoint: Endpoint, caller: Caller, state: RequestState) -> ServiceResponse:
        given, prefix = self._prepare(endpoint, caller, state), self._authenticator.prefix
        writes = endpoint in INDEX_WRITES
        user = (state.header("User-ID", prefix) or "") if writes else ""
        if user:
            self.service.users.get(user)
        call = RequestContext(self.service, caller, headers=state.response_headers)
        answer = HANDLERS[endpoint](call, **given)
        if writes:
            self.service.users.note_write(endpoint.name, given, user)
        self._record(endpoint, caller, state, answer, call.redirects)
        if endpoint.status == 204:
            return ServiceResponse(endpoint.status, headers=state.response_headers)
        return compress_response(
            json_response(endpoint.status, answer, state.response_headers), state.headers
        )


def _check_head_right(endpoint: Endpoint, caller: Caller, parts: Mapping[str, str]) -> None:
    """Check the right that the endpoint requires, on the index of the path if it has one."""
    indices = [parts["index"]] if "index" in parts else []
    if endpoint.acl == "actions":
        caller.require_any({*ACTION_RIGHTS.values()}, indices)
    elif endpoint.acl not in ("any", "crawler"):
        caller.require(endpoint.acl, indices)


def _check_body_rights(
    service: Service, endpoint: Endpoint, caller: Caller, given: Mapping[str, Any]
) -> None:
    """Check the rights that depend on the body: of each batched action, on each index."""
    if given.get("index") is not None:
        check_index_name(given["index"])
    if "*" in endpoint.path or endpoint.acl == "actions":
        for right, index in _find_needed_rights(endpoint, given):
            caller.require(right, [index])
    if endpoint.name == "operate_index":
        caller.require(endpoint.acl, [given["destination"]])
    if given.get("forwardToReplicas") or given.get("forwardToSlaves"):
        _check_replicas(service, endpoint, caller, given["index"])


def _find_needed_rights(endpoint: Endpoint, given: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Return each right that the requests of a call need, and the index that it concerns."""
    needed = (
        (
            ACTION_RIGHTS[request["action"]] if endpoint.acl == "actions" else endpoint.acl,
            given.get("index") or request.get("indexName") or request.get("index_name", ""),
        )
        for request in given.get("requests") or ()
    )
    return dict.fromkeys(needed)


def _check_replicas(service: Service, endpoint: Endpoint, caller: Caller, index: str) -> None:
    """Raise `KeyRefused` unless the key reaches every replica: all of them change, or none."""
    replicas = service.catalog.replicas_of(service.catalog.get(index))
    if not all(caller.may(endpoint.acl, replica.name) for replica in replicas):
        raise KeyRefused(
            f"this key does not reach every replica of {index}: leave out forwardToReplicas, or "
            "use a key that does",
            status=403,
        )


def _convert_error(error: Exception, state: RequestState, service: Service) -> ServiceResponse:
    """Convert an error to a response; an unexpected error gets the status 500."""
    if (response := _convert_refusal(error, state)) is not None:
        return response
    if isinstance(error, WritesPaused):
        return error_response(507, f"{error}")
    if is_damage(error):
        return error_response(500, service.store.report_damage(error))
    if is_storage_failure(error):
        return error_response(
            507, f"nothing was written: {error}; {advise_on_storage(error)}, then try again"
        )
    ERROR_LOG.write_traceback(error)
    return error_response(500, "the local service failed; its output contains the details")


def _find_events_status(error: Exception) -> int | None:
    """Return a status in which the events interface differs from others (api.md, Errors)."""
    if isinstance(error, KeyRefused):
        return 401
    return 422 if isinstance(error, BadInput) and not isinstance(error, MalformedBody) else None


def _convert_refusal(error: Exception, state: RequestState) -> ServiceResponse | None:
    """Convert the error of a request that is refused; None for another error."""
    of_events = state.endpoint is not None and state.endpoint.interface == "events"
    if isinstance(error, MethodNotAllowed):
        return error_response(405, str(error), {"allow": ", ".join(error.allowed)})
    if isinstance(error, TooMany):
        return error_response(
            429, str(error), {"retry-after": str(int(error.wait)), **state.response_headers}
        )
    if of_events and (status := _find_events_status(error)):
        return error_response(status, str(error))
    if isinstance(error, Refused):
        return error_response(error.status, str(error))
    if isinstance(error, BadInput):
        members = error.members if isinstance(error, RecordTooBig) else None
        return error_response(400, str(error), members=members)
    return None

"""A search worker: `python -m svc_notebook.service.workers.process SOCKET DATABASE`.

It answers one search at a time from segment files that it maps, and reads records from the
database. While it searches, all it can receive is that the caller left, or that the service ended:
both stop the search.
"""

from __future__ import annotations

import select
import signal
import socket
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, NoReturn, TypeVar

import msgspec

from svc_notebook.core.api.shapes import SearchImpression
from svc_notebook.errors import BadInput, NotFound, Refused
from svc_notebook.service.analytics.ab_tests import RunningTest
from svc_notebook.service.analytics.search_counts import CountedSearch
from svc_notebook.service.background_thread import BackgroundThread
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.engine.execution import (
    Deadline,
    SearchCancelled,
    limit_time,
    without_missing_tables,
)
from svc_notebook.service.engine.index.schema import Schema
from svc_notebook.service.engine.index.segment import Segment
from svc_notebook.service.engine.index.segment_store import SegmentStore
from svc_notebook.service.engine.index.storage import READ_ERRORS
from svc_notebook.service.engine.search_index import Index
from svc_notebook.service.handlers import searches
from svc_notebook.service.heap import (
    RELEASE_INTERVAL_SECONDS,
    keep_freed_arrays,
    release_free_memory,
)
from svc_notebook.service.http.messages import compress_response, json_response
from svc_notebook.service.indices.published_index import LazyEngine, PublishedIndex
from svc_notebook.service.resources.compiled import CompiledResources
from svc_notebook.service.resources.entries import APPLICATION_ID
from svc_notebook.service.store import Store
from svc_notebook.service.workers.messages import (
    CANCEL,
    LENGTH_BYTES,
    IndexSnapshot,
    Refusal,
    ResourceVersions,
    SearchCall,
    Unencodable,
    WorkerReply,
    WorkerRequest,
    frame,
    read_readers,
)

T = TypeVar("T")

# The members of an answer that the logs show.
LOGGED_MEMBERS = ("nbHits", "params", "queryID")


class Declined(Exception):
    """The worker does not have what the search needs; the argument is the reason."""


class ReadRecords:
    """The records that searches read, in place of the writes in flight, which the service knows."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, list[str]]] = []

    def last_visible(self) -> int:
        """Return no number, because the service compares."""
        return 0

    def may_have_changed(self, since: int, records_id: int, ids: Iterable[str]) -> bool:
        """Note the records for the service."""
        self.reads.append((records_id, list(ids)))
        return False

    def wait(self) -> None:
        """Return at once, because no record is known to have changed."""


class WorkerCatalog:
    """The indices of one call, as the service has them."""

    def __init__(self, resources: CompiledResources, indices: Mapping[str, PublishedIndex]) -> None:
        self.resources = resources
        self.in_flight_writes = ReadRecords()
        self._indices = indices

    def get(self, name: str) -> PublishedIndex:
        """Return an index that the call names; raises `Declined` for others."""
        if name not in self._indices:
            raise Declined("another index")
        return self._indices[name]

    find = get

    @property
    def embedder(self) -> NoReturn:
        """Raise `Declined`: the service has the vectors of records, and embeds queries."""
        raise Declined("vectors")

    vector_problems = reranker = embedder

    def request_vectors(self, index: PublishedIndex) -> NoReturn:
        """Raise `Declined`."""
        raise Declined("vectors")


class WorkerService:
    """What the handlers of searches use of a service (`SearchService`)."""

    def __init__(
        self, store: Store, catalog: WorkerCatalog, tests: Mapping[str, RunningTest]
    ) -> None:
        self.store = store
        self.catalog = catalog
        self.impressions: Collected[SearchImpression] = Collected()
        self.search_counts: Collected[CountedSearch] = Collected()
        self.ab_tests = SentTests(tests)


class SentTests:
    """The A/B tests that run on the indices of one call."""

    def __init__(self, tests: Mapping[str, RunningTest]) -> None:
        self.running = tests.get


class Collected(list[T]):
    """The impressions or counted searches of one call, which the service stores."""

    add = list.append


class WatchfulDeadline(Deadline):
    """A deadline that also ends when the service sends something, or ends."""

    def __init__(self, seconds: float, link: select.poll) -> None:
        super().__init__(seconds)
        self._link = link
        self._polling = threading.Lock()

    def check(self) -> None:
        """Raise `SearchCancelled` or `Refused`, as for any search."""
        if self._polling.acquire(blocking=False):  # one thread of a search is enough
            try:
                if self._link.poll(0):
                    self.cancel()
            finally:
                self._polling.release()
        super().check()


class SearchWorker:
    """The state of the process: the indices that it was sent."""

    def __init__(self, link: socket.socket, store: Store) -> None:
        self._link = link
        self._link_events = select.poll()  # unlike `select`, for descriptors of any number
        self._link_events.register(link, select.POLLIN)
        self._store = store
        self._resources = CompiledResources(store)
        self._versions: dict[int, int] = {}
        self._indices: dict[int, PublishedIndex] = {}
        self._segments: weakref.WeakValueDictionary[str, Segment] = weakref.WeakValueDictionary()
        self._to_warm: dict[int, PublishedIndex] = {}
        self._arrived = threading.Event()
        self._warming = BackgroundThread("svc-warm", self._warm, store)

    def run(self) -> None:
        """Answer calls until the service closes the connection."""
        self._warming.start()
        self._link.sendall(frame(WorkerReply("ready")))
        while (body := self._receive()) is not None:
            if body:
                self._link.sendall(self._reply(body))

    def _receive(self) -> bytes | None:
        """Return the next message, None at the end of the connection."""
        length = self._read(LENGTH_BYTES)
        return length and (self._read(int.from_bytes(length, "big")) if length != CANCEL else b"")

    def _read(self, size: int) -> bytes | None:
        received = bytearray(size)
        left = memoryview(received)
        while left:
            count = self._link.recv_into(left)
            if not count:
                return None
            left = left[count:]
        return bytes(received)

    def _reply(self, body: bytes) -> bytes:
        """Return the encoded reply to a request; what fails leaves the search to the service."""
        try:
            reply = self._answer(_read_request(body))
        except Declined as declined:
            reply = WorkerReply("declined", reason=str(declined))
        except Exception as error:
            reason = f"error: {type(error).__name__}"
            reply = WorkerReply("declined", reason=reason, fault=traceback.format_exc())
        try:
            return frame(reply)
        except Unencodable as error:
            return frame(WorkerReply("declined", reason=str(error)))

    def _answer(self, request: WorkerRequest) -> WorkerReply:
        try:
            self._update(request)
        except READ_ERRORS:  # the files were replaced in the meantime
            return WorkerReply("outdated")
        by_name = {index.name: index for index in self._indices.values()}
        named = {name: by_name[name] for name in request.call.indices}
        service = WorkerService(
            self._store, WorkerCatalog(self._resources, named), request.call.tests
        )
        reply = self._search(request.call, service)
        reply.impressions = list(service.impressions)
        reply.counted = list(service.search_counts)
        reply.reads = service.catalog.in_flight_writes.reads
        return reply

    def _search(self, call: SearchCall, service: WorkerService) -> WorkerReply:
        deadline = WatchfulDeadline(call.seconds, self._link_events)
        context = CallContext(service, call.caller.caller())
        try:
            with limit_time(deadline):
                answer = HANDLERS[call.endpoint](context, **call.given)
            response = compress_response(json_response(200, answer), call.headers)
        except SearchCancelled:
            return WorkerReply("cancelled")
        except (BadInput, Refused, NotFound) as error:
            if refusal := Refusal.of(error):
                return WorkerReply("refused", refusal=refusal)
            raise Declined(type(error).__name__) from error
        return WorkerReply(
            "answered",
            response.status,
            response.body,
            dict(response.headers),
            response.plain,
            _logged_members(answer),
        )

    def _update(self, request: WorkerRequest) -> None:
        """Take over the snapshots; an index that cannot be read is forgotten."""
        for number in request.dropped:
            self._indices.pop(number, None)
            self._resources.forget(number)
        for snapshot in request.snapshots:
            self._indices[snapshot.id] = self._open(snapshot)
            self._set_versions(snapshot.id, snapshot.resources)
            self._to_warm[snapshot.id] = self._indices[snapshot.id]
            self._arrived.set()

    def _open(self, snapshot: IndexSnapshot) -> PublishedIndex:
        index = PublishedIndex(
            snapshot.id,
            snapshot.name,
            snapshot.settings,
            primary_id=snapshot.primary_id,
            engine=LazyEngine(Index),
        )
        readers = read_readers(snapshot, self._segments)
        self._segments.update({reader.segment.name: reader.segment for reader in readers})
        store = SegmentStore(Schema.of(snapshot.engine_settings), readers)
        index.engine.set(Index(snapshot.engine_settings, store))
        return index

    def _set_versions(self, id: int, versions: ResourceVersions) -> None:
        """Compile synonyms, rules and dictionaries again if they changed."""
        for owner, version in zip((id, APPLICATION_ID), versions, strict=True):
            if self._versions.get(owner) != version:
                self._resources.forget(owner)
            self._versions[owner] = version

    def _warm(self) -> None:
        """Compile and sort ahead what searches of new states use, while other searches run."""
        while True:
            if not self._arrived.wait(RELEASE_INTERVAL_SECONDS):
                release_free_memory()
            self._arrived.clear()
            while self._to_warm:
                _, index = self._to_warm.popitem()
                self._warming.attempt(partial(self._warm_index, index))

    def _warm_index(self, index: PublishedIndex) -> None:
        with without_missing_tables():
            self._resources.warm(index.id, index.settings)
            index.engine.get().warm(self._resources.language_resources(index.id))


# Typed, so that the handlers use nothing but the members of a `CallContext`.
HANDLERS: dict[str, Callable[Concatenate[CallContext, ...], Mapping[str, Any]]] = {
    "search": searches.search,
    "get_search": searches.get_search,
    "search_many": searches.search_many,
    "search_facet": searches.search_facet,
}


_read_request = msgspec.msgpack.Decoder(WorkerRequest).decode


def _logged_members(answer: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: answer[name] for name in LOGGED_MEMBERS if name in answer}
    if "results" in answer:
        facts["results"] = [_logged_members(result) for result in answer["results"]]
    return facts


def main() -> None:
    """Serve the connection that the service opened."""
    keep_freed_arrays()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops the service, which stops this
    descriptor, database = sys.argv[1:]
    link = socket.socket(fileno=int(descriptor))
    store = Store(Path(database), read_only=True)
    try:
        SearchWorker(link, store).run()
    except OSError:  # the service ended
        return


if __name__ == "__main__":
    main()

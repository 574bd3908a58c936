"""The search workers of a service: processes that share its segment files.

The service keeps connections, keys, limits, logs and writes; a worker runs one search at a time and
returns the encoded answer. Workers start when searches first overlap, so that a service with one
user does not pay for them. A worker that ends is replaced, and its search runs in the service.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import Any

import msgspec

from svc_notebook.core.child_process import python_command, start_process
from svc_notebook.core.terminal import write_log
from svc_notebook.service.engine.execution import MAX_ANSWER_BYTES, Deadline, SearchCancelled
from svc_notebook.service.http.auth import Caller
from svc_notebook.service.service import Service
from svc_notebook.service.workers.messages import (
    CANCEL,
    CallerFacts,
    IndexView,
    SearchCall,
    SentIndex,
    Unencodable,
    WorkerReply,
    WorkerRequest,
    frame,
    split_frames,
    take_snapshot,
)

MODULE = "svc_notebook.service.workers.process"
# Whether a process can be given an open socket; elsewhere the service searches itself.
SUPPORTED = os.name == "posix"
# A search that waits longer for a worker runs in the service, beside those that occupy them.
MAX_WAIT_SECONDS = 0.5
# A call with several searches is divided into parts of at least this many.
MIN_PART_SEARCHES = 4
ENCODINGS = "accept-encoding"
# The pause before a worker is replaced, doubled while new ones fail, too.
RESTART_SECONDS, MAX_RESTART_SECONDS = 0.1, 60.0


class WorkerLost(Exception):
    """The process ended during a search."""


class WorkerConnection(asyncio.Protocol):
    """One worker process and its connection."""

    def __init__(self, process: subprocess.Popen[bytes], pool: SearchWorkers) -> None:
        self.process = process
        self.sent: dict[int, SentIndex] = {}
        self.lost = False
        self._pool = pool
        self._received = bytearray()
        self._reply: asyncio.Future[WorkerReply] | None = None
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Hand on a complete reply; then the worker is free."""
        self._received += data
        for body in split_frames(self._received):
            waiting, self._reply = self._reply, None
            reply = _read_reply(body)
            if reply.outcome == "outdated" or reply.fault:
                # Here, before the next search takes the worker: this one may resume later.
                self.sent.clear()
            if waiting and not waiting.done():
                waiting.set_result(reply)
            self._pool.release(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the current search, and replace the process."""
        self.lost = True
        waiting, self._reply = self._reply, None
        if waiting and not waiting.done():
            waiting.set_exception(WorkerLost())
        self._pool.replace(self)

    async def ask(self, request: bytes) -> WorkerReply:
        """Send a call and return its reply; raises `WorkerLost`."""
        if self.lost or self._transport is None:
            raise WorkerLost
        self._reply = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._reply

    def cancel(self) -> None:
        """Stop the current search at its next step."""
        if self._reply is not None and self._transport is not None:
            self._transport.write(CANCEL)

    def close(self) -> None:
        """End the process."""
        with suppress(RuntimeError):  # the event loop is closed
            if self._transport is not None:
                self._transport.close()
        self.process.kill()
        self.process.wait()


class SearchWorkers:
    """The workers of a service, at most `count`; a count below two means none."""

    def __init__(self, service: Service, count: int, seconds: float) -> None:
        self.count = count if SUPPORTED and count > 1 else 0
        self._catalog = service.catalog
        self._ab_tests = service.ab_tests
        self._database = service.store.path
        self.counts = service.worker_counts
        self._seconds = seconds
        self.counts.processes = self.count
        self._workers: set[WorkerConnection] = set()
        self._idle: list[WorkerConnection] = []
        self._waiting: deque[asyncio.Future[WorkerConnection]] = deque()
        self._launches: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._started = self._closed = False

    @property
    def processes(self) -> list[int]:
        """The ids of the processes that are ready."""
        return [worker.process.pid for worker in self._workers]

    @property
    def ready(self) -> bool:
        """Whether a worker runs."""
        return bool(self._workers)

    def start(self) -> None:
        """Start the workers, unless they were started."""
        if not self._started and not self._closed:
            self._started = True
            for _ in range(self.count):
                self._launch(0)

    def close(self) -> None:
        """End all workers; searches that run there fail."""
        self._closed = True
        for task in self._launches:
            with suppress(RuntimeError):  # the event loop is closed
                task.cancel()
        for worker in [*self._workers]:
            worker.close()
        self._workers.clear()
        self._idle.clear()

    def release(self, worker: WorkerConnection) -> None:
        """Give a worker that has nothing to do to the next search, or keep it idle."""
        self._failures = 0
        self._workers.add(worker)
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(worker)
                return
        self._idle.append(worker)

    def replace(self, worker: WorkerConnection) -> None:
        """Start a process in place of one that ended."""
        self._workers.discard(worker)
        if worker in self._idle:
            self._idle.remove(worker)
        if not self._closed:
            pause = min(RESTART_SECONDS * 2**self._failures, MAX_RESTART_SECONDS)
            self._failures += 1
            self._launch(pause, worker)

    async def answer(
        self,
        endpoint: str,
        given: Mapping[str, Any],
        caller: Caller,
        headers: Mapping[str, str],
        deadline: Deadline,
    ) -> WorkerReply | None:
        """Search in a worker; None if the service must search itself."""
        # Before a worker is taken, which would be lost if this failed.
        names, facts = _named(given), CallerFacts.of(caller)
        tests = {name: test for name in names if (test := self._ab_tests.running(name))}
        names += [variant.index for test in tests.values() for variant in test.variants]
        worker = await self._acquire()
        if worker is None:
            self.counts.decline("no worker was free")
            return None
        try:
            deadline.raise_if_cancelled()
        except SearchCancelled:
            self.release(worker)
            raise
        workers = [worker, *self._take_helpers(given)]
        # Parts are compressed when they are joined.
        encodings = {} if len(workers) > 1 else {ENCODINGS: headers.get(ENCODINGS, "")}
        calls = [
            SearchCall(endpoint, part, facts, names, encodings, self._seconds, tests)
            for part in _divide(given, len(workers))
        ]
        since = self._catalog.in_flight_writes.last_visible()
        deadline.on_cancel = partial(_cancel_all, workers)
        try:
            replies = (
                [await self._ask(worker, calls[0])]
                if len(calls) == 1
                else await asyncio.gather(*map(self._ask, workers, calls))
            )
        finally:
            deadline.on_cancel = None
        deadline.raise_if_cancelled()
        return self._join_unchanged(replies, since)

    def _join_unchanged(self, replies: Sequence[WorkerReply], since: int) -> WorkerReply | None:
        """Join the replies; count and return None if one has no answer or records changed."""
        for reply in replies:
            if reply.outcome not in ("answered", "refused"):
                self.counts.decline(reply.reason or reply.outcome, reply.fault)
                return None
        if self._may_have_changed(since, replies):
            self.counts.decline("records changed")
            return None
        joined = replies[0] if len(replies) == 1 else _join(replies)
        if joined is None:
            self.counts.decline("parts cannot be joined")
        else:
            self.counts.answered += 1
        return joined

    async def _acquire(self) -> WorkerConnection | None:
        """Return an idle worker, None if none becomes idle in time."""
        if self._idle:
            return self._idle.pop()
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[WorkerConnection] = loop.create_future()
        self._waiting.append(turn)
        timer = loop.call_later(MAX_WAIT_SECONDS, turn.cancel)
        try:
            # `wait` does not raise when the turn is cancelled, only when the request is.
            await asyncio.wait([turn])
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release(turn.result())
            turn.cancel()
            raise
        finally:
            timer.cancel()
        return None if turn.cancelled() else turn.result()

    def _take_helpers(self, given: Mapping[str, Any]) -> list[WorkerConnection]:
        """Take idle workers for the parts of a call with many searches."""
        if "requests" not in given or given.get("strategy", "none") != "none":
            return []
        count = min(len(given["requests"]) // MIN_PART_SEARCHES - 1, len(self._idle))
        return [self._idle.pop() for _ in range(count)]

    async def _ask(self, worker: WorkerConnection, call: SearchCall) -> WorkerReply:
        """Send what changed and the call, and return the reply."""
        request, reason = None, "index not sent"
        try:
            request = self._encode(worker, call)
        except Unencodable as error:
            reason = str(error)
        finally:
            if request is None and not worker.lost:
                self.release(worker)
        if request is None:
            return WorkerReply("declined", reason=reason)
        try:
            return await worker.ask(request)
        except WorkerLost:
            return WorkerReply("declined", reason="worker ended")

    def _encode(self, worker: WorkerConnection, call: SearchCall) -> bytes | None:
        """Encode a request with the states of indices that the worker does not have yet."""
        snapshots, views, needed = [], [], set()
        for name in dict.fromkeys(call.indices):
            view = IndexView.of(self._catalog, name)
            if view is None:
                return None
            needed.add(view.index.id)
            sent = worker.sent.get(view.index.id)
            if sent is not None and sent.matches(view):
                continue
            snapshot = take_snapshot(view, sent)
            if snapshot is None:
                return None
            snapshots.append(snapshot)
            views.append(view)
        dropped = self._find_dropped(worker) - needed if snapshots else set()
        request = frame(WorkerRequest(snapshots, [*dropped], call))
        for number in dropped:
            del worker.sent[number]
        worker.sent |= {view.index.id: SentIndex(view) for view in views}
        return request

    def _find_dropped(self, worker: WorkerConnection) -> set[int]:
        """Return the indices of a worker that are deleted or have another name now."""
        return {
            number
            for number, sent in worker.sent.items()
            if (index := self._catalog.get(sent.name)) is None or index.id != number
        }

    def _may_have_changed(self, since: int, replies: Sequence[WorkerReply]) -> bool:
        """Return whether a hit was overwritten after its index was compared with the worker's."""
        changes = self._catalog.in_flight_writes
        return any(
            changes.may_have_changed(since, records_id, ids)
            for reply in replies
            for records_id, ids in reply.reads
        )

    def _launch(self, pause: float, ended: WorkerConnection | None = None) -> None:
        task = asyncio.get_running_loop().create_task(self._start_process(pause, ended))
        self._launches.add(task)
        task.add_done_callback(self._launches.discard)

    async def _start_process(self, pause: float, ended: WorkerConnection | None) -> None:
        """Start a process; it is used as soon as it says that it is ready."""
        loop = asyncio.get_running_loop()
        if ended is not None:
            ended.process.kill()
            await loop.run_in_executor(None, ended.process.wait)
        await asyncio.sleep(pause)
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = await loop.run_in_executor(None, self._spawn, theirs)
        except asyncio.CancelledError:
            ours.close()  # a process that starts now finds its connection closed, and ends
            raise
        except OSError as error:
            ours.close()
            if not self._failures:
                write_log(f"search workers cannot start, searches use one core: {error}")
            self._failures += 1
            self._launch(MAX_RESTART_SECONDS)
            return
        if self._closed:
            ours.close()
            process.kill()
            process.wait()
            return
        await loop.create_connection(lambda: WorkerConnection(process, self), sock=ours)

    def _spawn(self, link: socket.socket) -> subprocess.Popen[bytes]:
        return start_process(
            python_command(MODULE, str(link.fileno()), str(self._database.absolute())),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[link.fileno()],
        )


def _cancel_all(workers: Sequence[WorkerConnection]) -> None:
    for worker in workers:
        worker.cancel()


def _named(given: Mapping[str, Any]) -> list[str]:
    if "requests" in given:
        return list(dict.fromkeys(request["indexName"] for request in given["requests"]))
    return [given["index"]]


def _divide(given: Mapping[str, Any], count: int) -> list[dict[str, Any]]:
    """Divide the searches of a call into parts of about the same size, in order."""
    if count == 1:
        return [dict(given)]
    requests = given["requests"]
    ends = [len(requests) * part // count for part in range(count + 1)]
    return [{**given, "requests": requests[start:end]} for start, end in pairwise(ends)]


def _join(replies: Sequence[WorkerReply]) -> WorkerReply | None:
    """Join the answers to the parts of a call; None if the service must search itself.

    An error names the number of its search in the call, which a part does not know.
    """
    if any(reply.outcome != "answered" for reply in replies):
        return None
    if sum(len(reply.body) for reply in replies) > MAX_ANSWER_BYTES:
        return None
    results = [reply.body.removeprefix(RESULTS_START)[: -len(RESULTS_END)] for reply in replies]
    return WorkerReply(
        "answered",
        200,
        RESULTS_START + b",".join(results) + RESULTS_END,
        replies[0].headers,
        facts={"results": [fact for reply in replies for fact in reply.facts["results"]]},
        impressions=[impression for reply in replies for impression in reply.impressions],
        counted=[search for reply in replies for search in reply.counted],
        joined=True,
    )


RESULTS_START, RESULTS_END = b'{"results":[', b"]}"
_decode_reply = msgspec.msgpack.Decoder(WorkerReply).decode


def _read_reply(body: bytes) -> WorkerReply:
    """Decode a reply; one that cannot be read leaves the search to the service."""
    try:
        return _decode_reply(body)
    except msgspec.MsgspecError as error:
        return WorkerReply("declined", reason="unreadable reply", fault=f"{error}\n")

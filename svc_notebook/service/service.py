"""The service as a whole: store, tasks, indices, crawlers and threads; the context of a request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from svc_notebook.core.api.shapes import Updated
from svc_notebook.core.terminal import escape_controls, write_log
from svc_notebook.errors import Refused
from svc_notebook.service import limits
from svc_notebook.service.analytics.ab_tests import ABTests
from svc_notebook.service.analytics.search_counts import Retention, SearchCounter
from svc_notebook.service.analytics.suggestion_configs import SuggestionConfigs
from svc_notebook.service.call_context import CallContext
from svc_notebook.service.crawlers.crawlers import Crawlers
from svc_notebook.service.crawlers.dependencies import CrawlerDependencies
from svc_notebook.service.events import Events, Impressions
from svc_notebook.service.http.auth import Sources
from svc_notebook.service.http.rate_limit import MinuteCallLimit
from svc_notebook.service.indices.cursors import Cursors
from svc_notebook.service.indices.published_index import check_index_name, stamp_now
from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.keyring import Keyring
from svc_notebook.service.logs import RequestLog
from svc_notebook.service.maintenance import Maintenance, MaintenanceLimits
from svc_notebook.service.resources.entries import EntriesChange
from svc_notebook.service.search_models import Embedder, Reranker
from svc_notebook.service.store import Store, is_damage
from svc_notebook.service.tasks.queue import NewTask, TaskQueue
from svc_notebook.service.tasks.writer import Writer
from svc_notebook.service.users import UserRegistry
from svc_notebook.service.vector_builder import VectorBuilder, VectorTimes

DATABASE = "service.sqlite"
# Application id and keys given on the command line.
GivenFacts = AnyMapping[str, str | None]
# The kinds of tasks that change an index's records.
RECORD_TASKS = {"steps", "deleteBy", "move"}


class Service:
    """The service on one data folder, from `start` to `stop`."""

    def __init__(
        self,
        folder: Path,
        facts: GivenFacts | None = None,
        *,
        clusters: int = 1,
        allow_private_crawl: bool = False,
        embedder: Embedder | None = None,
        reranker: Reranker | None = None,
        browser: str | None = None,
        retention: Retention | None = None,
        maintenance: MaintenanceLimits | None = None,
        vectors: VectorTimes | None = None,
    ) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.store = Store(folder / DATABASE)
        self.keyring = Keyring(self.store, facts)
        self.users = UserRegistry(self.store, clusters)
        self.logs = RequestLog(self.store)
        self.events = Events(self.store)
        self.impressions = Impressions(self.store)
        self.search_counts = SearchCounter(self.store, retention or Retention())
        self.suggestions = SuggestionConfigs(self.store)
        self.deletion_limit = MinuteCallLimit(limits.MAX_DELETIONS_PER_MINUTE)
        self.sources = Sources(self.store)
        self.tasks = TaskQueue(self.store)
        self.catalog = IndexRegistry(self.store, folder / "engine")
        self.ab_tests = ABTests(self.store, lambda name: self.catalog.get(name) is not None)
        self.catalog.embedder, self.catalog.reranker = embedder, reranker
        self.cursors = Cursors()
        self.worker_counts = WorkerCounts()
        self.crawlers = Crawlers(
            CrawlerDependencies(
                self.store,
                self.tasks,
                self.catalog,
                self.keyring,
                allow_private_crawl,
                browser=browser,
            )
        )
        self.writer = Writer(self.store, self.tasks, self.catalog)
        periodic = (
            self.logs.flush,
            self.impressions.flush,
            self.search_counts.flush,
            self.ab_tests.stop_incomplete,
            self.events.delete_due,
            self.cursors.drop_expired,
        )
        self._maintenance = Maintenance(self.store, self.tasks, self.catalog, periodic, maintenance)
        self._vector_builder = VectorBuilder(
            self.store, self.tasks, self.catalog, embedder, vectors
        )

    def start(self) -> None:
        """Start the background threads; pending tasks of the last run are applied first."""
        self.writer.start()
        self._maintenance.start()
        self._vector_builder.start()
        self.crawlers.start()

    def is_busy(self) -> bool:
        """Return whether a crawl is running, or accepted writes are not published yet."""
        return not self.crawlers.is_idle() or self.tasks.published < self.tasks.last

    def stop(self) -> None:
        """Stop the threads and close the store; pending tasks are applied at the next start."""
        self.catalog.closing = True
        self.crawlers.stop()
        self._vector_builder.stop()
        self._maintenance.stop()
        self.writer.stop()
        try:
            for flush in (self.logs.flush, self.impressions.flush, self.search_counts.flush):
                self._flush(flush)
        finally:
            self.store.close()

    def _flush(self, flush: Callable[[], None]) -> None:
        """Write what is left in memory; damage of the database is reported, not raised."""
        try:
            flush()
        except Exception as error:
            if not is_damage(error):
                raise
            self.store.report_damage(error)

    def refuse_replica(self, index: str) -> None:
        """Raise `Refused` for a replica, because its records are those of its primary."""
        published = self.catalog.get(index)
        if published and published.primary_id:
            primary = self.catalog.replica_group(published)[0].name
            raise Refused(
                f"{index} is a replica of {primary}: write to {primary}, or unlink the replica "
                "from its setting `replicas` first",
                status=403,
            )

    def accept(self, index: str, kind: str, body: object) -> int:
        """Queue a write on an index; return its taskID after it is on disk."""
        check_index_name(index)
        if kind in RECORD_TASKS:
            self.refuse_replica(index)
        packed = body if isinstance(body, bytes) else msgspec.json.encode(body)
        return self.tasks.submit(NewTask(index, kind, packed))[0]

    def accept_for_all(self, kind: str, body: object) -> int:
        """Queue a write on data of the application; return its taskID after it is on disk."""
        return self.tasks.submit(NewTask("", kind, msgspec.json.encode(body)))[0]


@dataclass(frozen=True)
class RequestContext(CallContext):
    """The context of a request to the whole service."""

    service: Service

    def accept_entries(self, index: str, change: EntriesChange) -> Updated:
        """Queue a change of an index's entries; return its taskID after it is on disk."""
        return {
            "taskID": self.service.accept(index, "entries", [change]),
            "updatedAt": stamp_now(),
        }


class WorkerCounts:
    """Counts of one service; only its event loop changes them."""

    def __init__(self) -> None:
        self.processes = 0
        self.answered = 0
        self.declined: Counter[str] = Counter()

    def decline(self, reason: str, fault: str = "") -> None:
        """Count a search that the service has to run itself.

        `fault` is the traceback of an unexpected error, which is reported once for each reason.
        """
        self.declined[reason] += 1
        if fault and self.declined[reason] == 1:
            write_log(
                f"a search worker failed ({reason}), the service runs such searches itself:\n"
                f"{escape_controls(fault.rstrip())}"
            )

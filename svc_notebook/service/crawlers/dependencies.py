"""Dependencies of crawlers: store, task queue, registry, keys, extractor processes and clock."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from svc_notebook.service.indices.registry import IndexRegistry
from svc_notebook.service.keyring import Keyring
from svc_notebook.service.store import Store
from svc_notebook.service.tasks.queue import TaskQueue

if TYPE_CHECKING:
    from svc_notebook.service.crawl.extraction.extractors import Extractors


# Seconds for which unused extractor processes are kept: starting them takes half a second.
IDLE_SECONDS = 60.0


class Engines:
    """The extractor processes, at most two, until `close`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._extractors: Extractors | None = None
        self._users = 0
        self._last_used = 0.0

    @contextmanager
    def borrow(self) -> Iterator[Extractors]:
        """Provide the extractors in a context; raises `BadInput` if they are not installed."""
        with self._lock:
            extractors = self._extractors = self._extractors or _make()
            self._users += 1
        try:
            yield extractors
        finally:
            with self._lock:
                self._users -= 1
                self._last_used = time.monotonic()

    def stop_idle(self) -> None:
        """Stop extractor processes that have been unused for a while."""
        with self._lock:
            if not self._users and time.monotonic() - self._last_used > IDLE_SECONDS:
                self._end()

    def close(self) -> None:
        """Stop the extractor processes, even if they are in use."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        if self._extractors:
            self._extractors.close()
            self._extractors = None


def _make() -> Extractors:
    from svc_notebook.service.crawl.extraction.extractors import Extractors

    return Extractors()


Clock = Callable[[], float]


@dataclass(frozen=True)
class CrawlerDependencies:
    """The dependencies of a crawler; `clock` returns Unix seconds."""

    store: Store
    tasks: TaskQueue
    catalog: IndexRegistry
    keyring: Keyring
    allow_private: bool = False
    clock: Clock = time.time
    engines: Engines = field(default_factory=Engines)
    browser: str | None = None  # that renders pages; by default one of the machine

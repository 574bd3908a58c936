"""The context of a call that searches, in the service or in a search worker.

Handlers of searches and the packages below them use these members only, so that a worker can
answer them without a whole service. The type checker compares both with the protocols.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol, TypeVar

from svc_notebook.core.api.shapes import SearchImpression
from svc_notebook.service.analytics.ab_tests import RunningTest
from svc_notebook.service.analytics.search_counts import CountedSearch
from svc_notebook.service.http.auth import Caller
from svc_notebook.service.indices.published_index import PublishedIndex
from svc_notebook.service.resources.compiled import CompiledResources
from svc_notebook.service.search_models import Embedder, Reranker
from svc_notebook.service.store import Store

T = TypeVar("T", contravariant=True)


class SearchLog(Protocol[T]):
    """Takes one entry for each search."""

    def add(self, entry: T, /) -> None:
        """Store one search."""


class WriteVersions(Protocol):
    """Tells whether records changed between a search and the reading of its hits."""

    def last_visible(self) -> int:
        """Return the number of the last change that a new search is certain to see."""

    def may_have_changed(self, since: int, records_id: int, ids: Iterable[str]) -> bool:
        """Return whether any of these records may have changed since a change."""

    def wait(self) -> None:
        """Wait until the changes so far are visible to searches."""


class RunningTests(Protocol):
    """The A/B tests that divide searches."""

    def running(self, index: str, /) -> RunningTest | None:
        """Return the test of a control index, None if there is none."""


class SearchCatalog(Protocol):
    """The indices that a call may search."""

    @property
    def resources(self) -> CompiledResources:
        """The compiled synonyms, rules and dictionaries."""

    @property
    def in_flight_writes(self) -> WriteVersions:
        """The changes that searches may not see yet."""

    @property
    def embedder(self) -> Embedder | None:
        """The function that embeds queries, if the service has one."""

    @property
    def reranker(self) -> Reranker | None:
        """The function that scores hits, if the service has one."""

    @property
    def vector_problems(self) -> Mapping[int, str]:
        """Why vectors are missing, by the id of the index."""

    def find(self, name: str) -> PublishedIndex:
        """Return an index; raises `NotFound`."""

    def get(self, name: str) -> PublishedIndex | None:
        """Return an index, None if there is none."""

    def request_vectors(self, index: PublishedIndex) -> None:
        """Record that an index is searched by vectors."""


class SearchService(Protocol):
    """What a search uses of a service."""

    @property
    def store(self) -> Store:
        """The store of records."""

    @property
    def catalog(self) -> SearchCatalog:
        """The indices."""

    @property
    def impressions(self) -> SearchLog[SearchImpression]:
        """The log of searches with a queryID."""

    @property
    def search_counts(self) -> SearchLog[CountedSearch]:
        """The counts of searches for analytics."""

    @property
    def ab_tests(self) -> RunningTests:
        """The A/B tests that divide searches."""


@dataclass(frozen=True)
class CallContext:
    """The context of one call: its caller, its start time and the headers of its response.

    `redirects` are the indices that rules redirected its searches to.
    """

    service: SearchService
    caller: Caller
    started: float = field(default_factory=perf_counter)
    headers: dict[str, str] = field(default_factory=dict)
    redirects: set[str] = field(default_factory=set)

    @property
    def elapsed(self) -> int:
        """Whole milliseconds since the start of the call."""
        return int((perf_counter() - self.started) * 1000)

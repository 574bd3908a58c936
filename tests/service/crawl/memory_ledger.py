"""A ledger in memory for tests, whose contents can be inspected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from svc_notebook.service.crawl.visits import PendingUrl, Remembered, VisitOutcome


@dataclass
class MemoryLedger:
    """The URLs of one crawl; `last` is the ledger of the crawl before it."""

    last: MemoryLedger | None = None
    known: dict[str, PendingUrl] = field(default_factory=dict)
    outcomes: dict[str, VisitOutcome] = field(default_factory=dict)
    batches: list[int] = field(default_factory=list)
    most_taken: int = 0
    after: Callable[[MemoryLedger], None] = lambda _: None  # called when outcomes were settled

    def waiting(self, n: int) -> list[PendingUrl]:
        rows = [row for row in self.known.values() if row.url not in self.outcomes]
        taken = sorted(rows, key=lambda row: row.depth)[:n]
        self.most_taken = max(self.most_taken, len(taken))
        return taken

    def add(self, found: Iterable[PendingUrl], *, limit: int | None = None) -> None:
        pages = sum(row.kind == "page" for row in self.known.values())
        for row in found:
            if row.url in self.known or (row.kind == "page" and limit and pages >= limit):
                continue
            pages += row.kind == "page"
            self.known[row.url] = row

    def settle(
        self,
        outcomes: Sequence[VisitOutcome],
        found: Iterable[PendingUrl],
        *,
        limit: int | None = None,
    ) -> None:
        for outcome in outcomes:
            assert outcome.url in self.known
            assert outcome.url not in self.outcomes, f"{outcome.url} was visited twice"
            self.outcomes[outcome.url] = outcome
        self.batches.append(len(outcomes))
        self.add(found, limit=limit)
        self.after(self)

    def copy(self) -> MemoryLedger:
        """Return what a crawl would find that begins again after it was killed now."""
        return MemoryLedger(self.last, dict(self.known), dict(self.outcomes))

    def remembered(self, url: str) -> Remembered | None:
        before = self.last.outcomes.get(url) if self.last else None
        return before.remember if before else None

    def reasons(self, base: str) -> dict[str, str]:
        """Return how each path of a site ended."""
        return {url.removeprefix(base): one.reason for url, one in self.outcomes.items()}

"""The result of a load."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from time import monotonic

import pandas as pd

from svc_notebook.core.display import write_frame
from svc_notebook.data.loading.load_plan.plan import LoadPlan
from svc_notebook.data.loading.load_plan.row_errors import ERROR_COLUMNS
from svc_notebook.data.loading.options import Action
from svc_notebook.data.loading.sending.batches import Batch
from svc_notebook.data.loading.table import write_notes

# The nouns and verbs of each action in messages.
OUTCOMES: dict[Action, tuple[str, str]] = {
    "replace": ("", "published"),
    "update": ("updates ", "published"),
    "update_existing": ("updates ", "published"),
    "delete": ("deletions ", "deleted"),
}
DRY_RUN = "dry run: nothing was sent"


@dataclass(frozen=True, repr=False)
class LoadResult:
    """The result of a load; displayed as HTML in notebooks.

    Attributes
    ----------
    plan : LoadPlan
        Plan of the load.
    index : str
        Name of the index.
    sent : int
        Number of rows that the service accepted.
    published : int
        Number of rows that are published.
    tasks : tuple of int
        Numbers of the tasks.
    seconds : float
        Duration in seconds, from reading the source until its rows are published.
    resumed : int
        Number of rows that an interrupted load had already sent.
    unchanged : int
        Number of rows that a merge skipped because the stored records are identical.
    deleted : int
        Number of records that a synchronization deleted because no row has their id.
    differences : DataFrame or None
        With `verify`, the records that are not stored as sent.
    action : str
        Action of the load, such as `replace`.
    dry_run : bool
        Whether nothing was sent.
    slowed : int
        Number of times that the load went on with fewer concurrent calls, because the service
        was overloaded.

    Examples
    --------
    >>> result = svc.load("products.csv", "products", id="sku")
    >>> result.complete, result.rejected_rows
    (True, 0)
    """

    plan: LoadPlan
    index: str
    sent: int
    published: int
    tasks: tuple[int, ...]
    seconds: float
    resumed: int = 0
    unchanged: int = 0
    deleted: int = 0
    differences: pd.DataFrame | None = None
    action: Action = "replace"
    dry_run: bool = False
    slowed: int = 0

    @property
    def rejected(self) -> pd.DataFrame:
        """The rejected rows: row, column, value, reason, then all columns of the source.

        After they are fixed, they can be sent again: `result.rejected.svc.push(index)`.
        """
        return self.plan.rejected

    @property
    def rejected_rows(self) -> int:
        """The number of rejected rows, also of those that `rejected` does not list."""
        return self.plan.rejected_rows

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the plan on the source: columns sent as text, rows filled, ids."""
        return self.plan.notes

    @property
    def complete(self) -> bool:
        """Whether every row of the source is published, and stored as it was sent."""
        agrees = self.differences is None or self.differences.empty
        return agrees and self.published + self.unchanged == self.plan.rows

    @property
    def rate(self) -> float:
        """Rows per second."""
        return (self.sent - self.resumed) / self.seconds if self.seconds else 0.0

    def __repr__(self) -> str:
        if self.dry_run:
            return f"{DRY_RUN}\n{self.plan!r}"
        return "\n".join([self._headline(), *write_notes(self.notes)])

    def _headline(self) -> str:
        unchanged = f", {self.unchanged:,} unchanged" if self.unchanged else ""
        deleted = f", {self.deleted:,} deleted" if self.deleted else ""
        return (
            f"{self.index}: {self._outcome()}{unchanged}{deleted}, "
            f"{self.rejected_rows:,} rejected in {self.seconds:.1f} s ({self.rate:,.0f} rows/s)"
            f"{self._verification()}; ids: {self.plan.ids}"
        )

    def _outcome(self) -> str:
        """Describe the outcome of the rows, by action."""
        what, done = OUTCOMES[self.action]
        earlier = f" ({self.resumed:,} of them earlier)" if self.resumed else ""
        if self.action == "delete" and self.published == self.sent:
            return f"{self.published:,} {done}{earlier}"
        return f"{self.sent:,} {what}sent{earlier}, {self.published:,} {done}"

    def _verification(self) -> str:
        """Describe the result of `verify`, if it was requested."""
        if self.differences is None:
            return ""
        count = len(self.differences)
        if self.action == "delete":
            return f"; verified: {count:,} still stored" if count else "; verified: all are deleted"
        return f"; verified: {count:,} differ" if count else "; verified: all are stored as sent"

    def _repr_html_(self) -> str:
        if self.dry_run:
            return f"<p>{DRY_RUN}</p>{self.plan._repr_html_()}"
        shown = self.rejected[ERROR_COLUMNS].head(10)
        rejected = write_frame(shown) if len(self.rejected) else ""
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in write_notes(self.notes))
        listed = f"<ul>{notes}</ul>" if notes else ""
        return f"<p>{html.escape(self._headline())}</p>{listed}{rejected}"


@dataclass
class LoadCounts:
    """The counts of a running load."""

    plan: LoadPlan
    index: str
    # When the source was opened.
    started: float
    rows_of: dict[int, int] = field(default_factory=dict)
    resumed: int = 0
    unchanged: int = 0
    deleted: int = 0
    published: int = 0
    differences: pd.DataFrame | None = None
    action: Action = "replace"
    slowed: int = 0
    # Whether the load was stopped, and the rows that were in flight then and may be stored.
    stopped: bool = False
    uncertain: int = 0

    def count_uncertain(self, batch: Batch) -> None:
        """Count the rows of a batch that was sent, but not acknowledged."""
        self.uncertain += batch.rows

    def enter(self, task: int, rows: int) -> None:
        """Record the acknowledgement of a batch."""
        self.rows_of[task] = self.rows_of.get(task, 0) + rows

    @property
    def sent(self) -> int:
        """The number of acknowledged rows."""
        return sum(self.rows_of.values())

    def close(self, *, dry_run: bool = False) -> LoadResult:
        """Build the result."""
        return LoadResult(
            plan=self.plan,
            index=self.index,
            sent=self.sent,
            published=self.published,
            tasks=tuple(self.rows_of),
            seconds=monotonic() - self.started,
            resumed=self.resumed,
            unchanged=self.unchanged,
            deleted=self.deleted,
            differences=self.differences,
            action=self.action,
            dry_run=dry_run,
            slowed=self.slowed,
        )

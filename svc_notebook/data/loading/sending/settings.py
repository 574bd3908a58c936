"""The settings of a load that determine how its records are sent, validated once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from svc_notebook.data.loading.history.recorder import DEFAULT_UNDO_ROWS
from svc_notebook.data.loading.options import CompareWith, IfExists
from svc_notebook.data.loading.sending.replacement import check_min_share
from svc_notebook.errors import BadInput

if TYPE_CHECKING:
    from svc_notebook.data.client.tasks import OnProgress
    from svc_notebook.data.loading.load_plan.contract import LoadContract


@dataclass(frozen=True)
class SendSettings:
    """How the records of a load are sent; the fields are parameters of `load`."""

    if_exists: IfExists = "append"
    min_share: float | None = None
    dry_run: bool = False
    resume: bool = False
    verify: bool = False
    # Batches, or partitions, that are sent at the same time; None for the default number.
    in_flight: int | None = None
    on_progress: OnProgress | None = None
    # The columns that the source must have.
    contract: LoadContract | None = None
    # The maximum number of rows that are sent in a second.
    per_second: int | None = None
    # The maximum number of records that are kept for an undo.
    undo_rows: int = DEFAULT_UNDO_ROWS
    # What the rows of a merge are compared with.
    compare_with: CompareWith = "index"
    # Whether rejected rows do not prevent a replacement.
    skip_rejected: bool = True

    def __post_init__(self) -> None:
        if self.in_flight is not None and self.in_flight < 1:
            raise BadInput("`in_flight` must be 1 or more")
        rate, undo_rows = self.per_second, self.undo_rows
        if rate is not None and (not isinstance(rate, int) or rate < 1):
            raise BadInput(f"`per_second` must be a whole number, 1 or more, not {rate!r}")
        if not isinstance(undo_rows, int) or undo_rows < 0:
            raise BadInput(f"`undo_rows` must be a whole number, 0 or more, not {undo_rows!r}")
        check_min_share(self.min_share, self.if_exists)

    def check_comparison(self) -> None:
        """Reject a comparison that does not exist, or that the load does not make."""
        if self.compare_with not in get_args(CompareWith):
            raise BadInput(f"`compare_with` must be 'index' or 'hashes', not {self.compare_with!r}")
        if self.compare_with == "hashes" and not self.merges:
            raise BadInput("`compare_with` applies to if_exists='merge' and 'sync'; pass one, too")

    @property
    def merges(self) -> bool:
        """Whether rows are compared with the records that exist."""
        return self.if_exists in ("merge", "sync")

    @property
    def replaces_index(self) -> bool:
        """Whether records that exist, and that no row has, are deleted."""
        return self.if_exists in ("replace", "sync")

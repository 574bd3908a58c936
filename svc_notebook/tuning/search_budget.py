"""Budgets of searches: a hosted service bills each one, so that many need consent."""

from __future__ import annotations

from typing import Any

from svc_notebook.core.display import shorten
from svc_notebook.data.client import AsyncClient
from svc_notebook.errors import BadInput

MAX_UNCONFIRMED_SEARCHES = 2000  # of a hosted service, without a budget


def check_budget(budget: Any) -> int:
    """Return a number of searches; raise `BadInput` for anything else."""
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise BadInput(f"`budget` is a number of searches from 1, not {shorten(repr(budget), 40)}")
    return budget


def require_budget(client: AsyncClient, budget: int | None, searches: int, work: str) -> None:
    """Raise `BadInput` for many searches of a hosted service to which no budget consents.

    - `work`: what makes the searches, such as `a diagnosis of 105 queries`.
    """
    config = client.connection
    if budget is None and searches > MAX_UNCONFIRMED_SEARCHES and not config.is_local:
        raise BadInput(
            f"{work} takes up to {searches:,} searches, which {config.address} may bill: pass "
            f"`budget={searches}` to allow them, or a smaller number"
        )

"""The plan of a diagnosis and the budget of its searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pandas import DataFrame

from svc_notebook.data.declarations import described
from svc_notebook.errors import BadInput
from svc_notebook.tuning.diagnosis.observation import list_words
from svc_notebook.tuning.evaluation.runs import check_budget
from svc_notebook.tuning.statistics import check_seed
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments, check_queries
from svc_notebook.tuning.variants.query_parts import tune_part

READINGS_PER_QUERY = 2  # its first hits, and its first 1,000
TRIALS_PER_QUERY = 100  # without a budget; the index as it is, and each value
MIN_TRIALS_PER_QUERY = 2  # the index as it is, and one value


class DiagnosisPlan(NamedTuple):
    """The plan of a diagnosis: its queries, and its maximum number of searches."""

    tune: int
    holdout: int
    reading: int
    budget: int

    def __repr__(self) -> str:
        return (
            f"diagnosis of {self.tune:,} queries ({self.holdout:,} held out): {self.reading:,} "
            f"searches read the index, and with the trials of values it takes at most "
            f"{self.budget:,}"
        )


@dataclass
class SearchBudget:
    """The searches that a diagnosis may make, and those that it has made."""

    total: int
    spent: int = 0
    is_exhausted: bool = False

    def allows(self, searches: int) -> bool:
        """Return whether this number of searches is left; if not, the budget is exhausted."""
        is_left = self.spent + searches <= self.total
        self.is_exhausted |= not is_left
        return is_left

    def take(self, searches: int) -> bool:
        """Return whether this number of searches is left, and count them as made if so."""
        if not self.allows(searches):
            return False
        self.spent += searches
        return True


@described()
def plan_diagnosis(
    judgments: Table,
    queries: Queries | None = None,
    *,
    holdout: float = 0.3,
    seed: int = 0,
    budget: int | None = None,
) -> DiagnosisPlan:
    """Return the plan of a diagnosis; nothing is sent.

    Parameters
    ----------
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to read.
    holdout : float, default 0.3
        Share of the queries that are not read, from 0 up to 1; 0 reads all.
    budget : int, default None
        Maximum number of searches; None allows 100 for each query besides those that read the
        index.

    Returns
    -------
    DiagnosisPlan
        The numbers `tune` and `holdout` (queries), `reading` (searches that read the index) and
        `budget` (maximum number of searches, reading included).

    Raises
    ------
    BadInput
        If an option is not valid, fewer than two queries can be read, or the budget is too small
        to try one value.

    Examples
    --------
    >>> svc.tuning.plan_diagnosis("judgments.csv").budget > 0
    True
    """
    table = check_queries(check_judgments(judgments) if queries is None else queries)
    return plan_queries(table, holdout, check_seed(seed), budget)


def plan_queries(table: DataFrame, holdout: float, seed: int, budget: int | None) -> DiagnosisPlan:
    """Return the plan for checked queries."""
    tune = tune_part(table, holdout, seed)
    reading = READINGS_PER_QUERY * len(tune) + len(list_words(tune))
    least = reading + MIN_TRIALS_PER_QUERY * len(tune)
    if budget is None:
        budget = reading + TRIALS_PER_QUERY * len(tune)
    elif check_budget(budget) < least:
        raise BadInput(
            f"a diagnosis of {len(tune):,} queries takes {least:,} searches or more: {reading:,} "
            f"read the index, and each value is tried with {len(tune):,}; raise `budget`, or "
            "diagnose fewer queries"
        )
    return DiagnosisPlan(len(tune), len(table) - len(tune), reading, budget)

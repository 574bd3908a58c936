"""Situations of large indices, which tests make for small ones."""

from __future__ import annotations

import pytest

from svc_notebook.service.engine import execution
from svc_notebook.service.engine.ranking import occurrences, ranking, top_k_pruning


@pytest.fixture
def threads_for_few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several threads search the segments of an index, however few records it has."""
    for owner, name, value in (
        (execution, "MIN_PARALLEL_RECORDS", 0),
        (execution.segment_threads, "most", 3),
    ):
        monkeypatch.setattr(owner, name, value)


@pytest.fixture
def pruning_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are pruned by the leading positions, however few there are."""
    for owner, name, value in (
        (ranking, "MIN_LEADING_CANDIDATES", 0),
        (top_k_pruning, "MIN_LEADING_CANDIDATES", 0),
        (top_k_pruning, "ADJACENT_FACTOR", 1),
        (occurrences, "MIN_SOUGHT_OCCURRENCES", 0),
    ):
        monkeypatch.setattr(owner, name, value)

"""Measure an index, or two of them, as verbs do: with search parameters among the options."""

from __future__ import annotations

from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook import tuning
from svc_notebook.api.parameters import SearchOptions, SearchParams
from svc_notebook.errors import BadOption
from svc_notebook.session.connection import AnyClient
from svc_notebook.tuning.evaluation.comparison import Comparison
from svc_notebook.tuning.evaluation.metric_names import deepest
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged
from svc_notebook.tuning.tables.tables import Table


def evaluate(
    index: str,
    judgments: Table | None = None,
    *,
    metrics: list[str] | None = None,
    k: int | None = None,
    unjudged: Unjudged = "zero",
    relevant: float = 1.0,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame:
    """Average the scores of an index over judged queries: a row for each metric."""
    return tuning.measure(
        index, _given(judgments), metrics or METRICS, params=_taken(params), k=k, unjudged=unjudged,
        relevant=relevant, client=client,
    )  # fmt: skip


def compare(
    index: str,
    other: str,
    judgments: Table | None = None,
    *,
    metrics: list[str] | None = None,
    k: int | None = None,
    unjudged: Unjudged = "zero",
    relevant: float = 1.0,
    seed: int = 0,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> Comparison:
    """Compare two indices on judged queries; parameters are those of the second."""
    judged = tuning.check_judgments(_given(judgments))
    options: Any = {"k": deepest(metrics or METRICS, k), "client": client}
    before = tuning.run(index, judged, **options)
    after = tuning.run(other, judged, _taken(params), **options)
    return tuning.compare(
        before, after, judged, metrics or METRICS, unjudged=unjudged, relevant=relevant, seed=seed
    )


def _given(judgments: Table | None) -> Table:
    if judgments is None:
        raise BadOption("judgments are wanted: a file after the index, or --from VARIABLE")
    return judgments


def _taken(params: Any) -> SearchParams | None:
    return params or None

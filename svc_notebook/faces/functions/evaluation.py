"""The verbs `evaluate` and `compare`, which take search parameters as options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from pandas import DataFrame

from svc_notebook import tuning
from svc_notebook.core.api.parameters import SearchOptions, SearchParams
from svc_notebook.data.declarations import verb, verb_only
from svc_notebook.data.session import AnyClient
from svc_notebook.errors import BadOption
from svc_notebook.tuning.evaluation import (
    METRICS,
    Comparison,
    RelevanceVerdict,
    Unjudged,
    deepest,
    read_bound,
)
from svc_notebook.tuning.tables import Table


def requires_scores(given: Mapping[str, Any]) -> bool:
    """Return whether scores are required, rather than only computed."""
    return bool(given.get("at_least") or given.get("no_worse_than"))


@verb_only(
    verb(
        "evaluate",
        "evaluate products judged.csv",
        "evaluate products judged.csv --metrics ndcg@10,p@5,judged@10 --typoTolerance false",
        "evaluate products judged.csv --at-least ndcg@10=0.70 --no-worse-than baseline.parquet",
        completes={"judgments": "path", "no_worse_than": "path", "save": "path"},
        variable="judgments",
        checks=requires_scores,
    )
)
def evaluate(
    index: str,
    judgments: Table | None = None,
    *,
    metrics: list[str] | None = None,
    k: int | None = None,
    unjudged: Unjudged = "zero",
    relevant: float = 1.0,
    at_least: list[str] | None = None,
    no_worse_than: str | None = None,
    margin: float = 0.0,
    strict: bool = False,
    save: str | None = None,
    client: AnyClient | None = None,
    **params: Unpack[SearchOptions],
) -> DataFrame | RelevanceVerdict:
    """Evaluate an index on judged queries, average the scores, and check required ones.

    With `at_least` or `no_worse_than`, the command has exit status 1 if the 95 % interval of a
    score is entirely below the requirement. If only the mean is below it, or a single query is
    judged, the outcome is `undecided`, with exit status 0 unless `strict`. If a search or the call
    fails, the exit status is 2.

    Parameters
    ----------
    judgments : DataFrame or path
        Judgments with the columns `query`, `objectID` and `rating`: a table, or a CSV or
        Parquet file.
    metrics : list of str, default `ndcg@10`
        Metrics to compute: `ndcg@k`, `ndcg_exp@k`, `p@k`, `r@k`, `rr@k`, `ap@k`, `err@k`,
        `rbp(p)`, `judged@k`, `value@k`.
    k : int, default as many as the metrics need, at least 10
        Number of hits of each query.
    relevant : float, default 1
        Lowest rating of a relevant record.
    at_least : list of str, default None
        Minimum means, such as `ndcg@10=0.70`.
    no_worse_than : path, default None
        CSV or Parquet file of an earlier run, which `save` wrote.
    margin : float, default 0
        Maximum accepted loss against the earlier run.
    strict : bool, default False
        Fail if a requirement is undecided.
    save : path, default None
        CSV or Parquet file to write the run to.

    Returns
    -------
    DataFrame or RelevanceVerdict
        One row per metric, as `svc.tuning.summary` returns it; with requirements, what
        `svc.tuning.check_relevance` returns.

    Raises
    ------
    BadOption
        If judgments are missing.
    BadInput
        If a metric or a column is unknown.
    CallFailed
        If the service cannot be reached or refuses the call.
    """
    judged = _given(judgments)
    options: Any = {
        "params": _taken(params), "unjudged": unjudged, "relevant": relevant, "client": client,
    }  # fmt: skip
    if at_least or no_worse_than is not None:
        return tuning.check_relevance(
            index, judged, dict(map(read_bound, at_least or ())), no_worse_than=no_worse_than,
            metrics=metrics, margin=margin, strict=strict, k=k, save=save, **options,
        )  # fmt: skip
    if margin or strict:
        raise BadOption("`--margin` and `--strict` need `--at-least` or `--no-worse-than`")
    if save is not None:
        searched = tuning.run(
            index, judged, _taken(params), k=deepest(metrics or METRICS, k), client=client
        )
        tuning.write_table(searched, save)
        scored = tuning.evaluate(
            searched, judged, metrics or METRICS, unjudged=unjudged, relevant=relevant,
            queries=judged,
        )  # fmt: skip
        return tuning.summary(scored)
    return tuning.measure(index, judged, metrics or METRICS, k=k, **options)


@verb_only(
    verb(
        "compare",
        "compare products products_new judged.csv",
        "compare products products judged.csv --ignorePlurals true --metrics ndcg@10",
        completes={"other": "index", "judgments": "path"},
        variable="judgments",
        format=False,
    ),
    like=evaluate.__doc__,
)
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
    """Compare two indices on judged queries.

    Parameters
    ----------
    index : str
        Name of the index that is the baseline.
    other : str
        Name of the index to compare with it; search parameters apply to this one.
    seed : int, default 0
        Seed of the random numbers of intervals and tests.

    Returns
    -------
    Comparison
        The comparison, as `svc.tuning.compare` returns it.
    """
    judged = tuning.check_judgments(_given(judgments))
    options: Any = {"k": deepest(metrics or METRICS, k), "client": client}
    before = tuning.run(index, judged, **options)
    after = tuning.run(other, judged, _taken(params), **options)
    return tuning.compare(
        before, after, judged, metrics or METRICS, unjudged=unjudged, relevant=relevant, seed=seed
    )


def _given(judgments: Table | None) -> Table:
    if judgments is None:
        raise BadOption("judgments are missing; pass a file after the index, or --from VARIABLE")
    return judgments


def _taken(params: Any) -> SearchParams | None:
    return params or None

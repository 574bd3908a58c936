"""The functions of tuning that call the service, as blocking functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pandas import DataFrame

from svc_notebook.api.parameters import SearchParams
from svc_notebook.client import Progress
from svc_notebook.client.background_loop import behind_bar, blocking
from svc_notebook.session.connection import AnyClient
from svc_notebook.tuning import aio
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged
from svc_notebook.tuning.tables.tables import Queries, Table
from svc_notebook.tuning.variants.result import Search

apply = blocking(aio.apply)
diff = blocking(aio.diff)
drop_scratches = blocking(aio.drop_scratches)
history = blocking(aio.history)
impact = blocking(aio.impact)
missing = blocking(aio.missing)
restore = blocking(aio.restore)
scratches = blocking(aio.scratches)
snapshot = blocking(aio.snapshot)
suggest_synonyms = blocking(aio.suggest_synonyms)
undo = blocking(aio.undo)


def run(
    index: str,
    queries: Queries,
    params: SearchParams | None = None,
    *,
    k: int = 10,
    name: str | None = None,
    client: AnyClient | None = None,
    progress: bool | None = None,
) -> DataFrame:
    """Search an index for many queries and return one row per hit.

    Parameters
    ----------
    index : str
        Name of the index.
    queries : str, list, DataFrame or path
        Queries: texts, dicts, a table with the column `query`, or a CSV or Parquet file of
        it. The queries of judgments or of a run are used if one is given.
    params : dict, default None
        Search parameters of every query.
    k : int, default 10
        Number of hits of each query, up to 1,000.
    name : str, default the index and the parameters
        Name of the run.
    client : Client or AsyncClient, default the current client
        Client to use.
    progress : bool, default None
        Draw a progress bar; None draws one in notebooks and terminals.

    Returns
    -------
    DataFrame
        One row per hit: `run`, `query` and `filters` (str), `rank` (Int64, from 1), `objectID`
        (str), `score` (float64, the negative rank), `nbHits`, `nbTypos`, `geoDistance`,
        `words`, `optionalFilters`, `proximityDistance`, `firstMatchedWord`, `nbExactWords` and
        `userScore` (Int64), `promoted` (boolean), `sorted` (object, the attributes of the
        custom ranking), `queryID` and `error` (str). A query without hits has one row without
        `objectID`; a failed query has its message in `error`. `attrs["svc"]` contains the
        parameters and the ranking of the index.

    Raises
    ------
    BadInput
        If a query, a parameter or `k` is not valid.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["desk lamp", "mug"], k=2)
    >>> hits[["query", "rank", "objectID", "nbHits"]]
           query  rank objectID  nbHits
    0  desk lamp     1  LMP-001      10
    1  desk lamp     2  LMP-002      10
    2        mug     1  MUG-001      20
    3        mug     2  MUG-002      20
    """
    return behind_bar(
        lambda tell: aio.run(
            index, queries, params, k=k, name=name, client=client, on_progress=tell
        ),
        Progress(unit="searches", label=index, shown=progress),
    )


def measure(
    index: str,
    judgments: Table,
    metrics: str | Iterable[str] = METRICS,
    *,
    queries: Queries | None = None,
    params: SearchParams | None = None,
    k: int | None = None,
    name: str | None = None,
    unjudged: Unjudged = "zero",
    gains: Mapping[float, float] | None = None,
    relevant: float = 1.0,
    client: AnyClient | None = None,
    progress: bool | None = None,
) -> DataFrame:
    """Search for every judged query and average the scores: run, evaluate, summary.

    Parameters
    ----------
    index : str
        Name of the index.
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them.
    metrics : str or list of str, default 'ndcg@10'
        Metrics to compute: `ndcg@k`, `ndcg_exp@k`, `p@k`, `r@k`, `rr@k`, `ap@k`, `err@k`,
        `rbp(p)`, `judged@k`.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for.
    params : dict, default None
        Search parameters of every query.
    k : int, default as many as the metrics need, at least 10
        Number of hits of each query.
    name : str, default the index and the parameters
        Name of the run.
    unjudged : {'zero', 'skip', 'bound'}, default 'zero'
        Treatment of hits without a judgment: no gain, left out, or both bounds of the
        score.
    gains : dict of float, default None
        Gain of each rating; None uses the rating itself. Gains of several raters are
        averaged.
    relevant : float, default 1
        Minimum gain of a relevant record.
    client : Client or AsyncClient, default the current client
        Client to use.
    progress : bool, default None
        Draw a progress bar; None draws one in notebooks and terminals.

    Returns
    -------
    DataFrame
        One row per metric, as `summary` returns it.

    Raises
    ------
    BadInput
        If a query, a judgment, a metric or a parameter is not valid.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> scores = svc.tuning.measure("products", "judgments.csv", ["ndcg@10", "p@5"])
    >>> scores[["metric", "mean", "queries"]].round(3)
        metric   mean  queries
    0  ndcg@10  ...          8
    1      p@5  ...          8
    """
    return behind_bar(
        lambda tell: aio.measure(
            index, judgments, metrics, queries=queries, params=params, k=k, name=name,
            unjudged=unjudged, gains=gains, relevant=relevant, client=client, on_progress=tell,
        ),
        Progress(unit="searches", label=index, shown=progress),
    )  # fmt: skip


def search(
    index: str,
    space: Mapping[str, Sequence[Any]],
    queries: Queries | None = None,
    judgments: Table | None = None,
    sampler: str = "grid",
    *,
    metric: str = "ndcg@10",
    budget: int | None = None,
    holdout: float = 0.3,
    best: int = 3,
    k: int = 10,
    seed: int = 0,
    notes: str | Path | None = None,
    client: AnyClient | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Search:
    """Search a space of variants for better settings, synonyms or rules; nothing is saved.

    Variants are selected on the queries of one part alone: those marked `tune` in the column
    `split`, else all except the share `holdout`. The best are then compared with the index on
    the held-out queries. Search parameters are tried directly, other settings on one temporary
    copy of the index.

    Parameters
    ----------
    index : str
        Name of the index.
    space : dict of lists
        Values to try by name of a setting, or `synonyms` and `rules`, such as
        `{"ignorePlurals": [False, ["en"]]}`.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for.
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them; required.
    sampler : {'grid', 'random', 'halving', 'coordinate'}, default 'grid'
        Order in which variants are tried.
    metric : str, default 'ndcg@10'
        Metric that selects variants.
    budget : int, default None
        Maximum number of searches; None selects it by the sampler.
    holdout : float, default 0.3
        Share of the queries to hold out.
    best : int, default 3
        Number of variants that are compared on the held-out queries.
    k : int, default 10
        Number of hits of each query.
    seed : int, default 0
        Seed of the random numbers.
    notes : path, default None
        File that stores finished trials, from which the same call resumes.
    client : Client or AsyncClient, default the current client
        Client to use.
    progress : bool, default None
        Draw a progress bar; None draws one in notebooks and terminals.
    **options
        Options of `evaluate`.

    Returns
    -------
    Search
        The trials, the best variants and their comparison on the held-out queries.

    Raises
    ------
    BadInput
        If judgments are missing, there are too few queries, or an option is not valid.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.
    Stopped
        If the search is cancelled; its `result` is the `Search` so far.

    Examples
    --------
    >>> space = {"customRanking": [["desc(reviews)"], ["asc(price)"]]}
    >>> found = svc.tuning.search("products", space, judgments="judgments.csv")
    >>> found.best
    {'customRanking': ['desc(reviews)']}
    """
    return behind_bar(
        lambda tell: aio.search(
            index, space, queries, judgments, sampler, metric=metric, budget=budget,
            holdout=holdout, best=best, k=k, seed=seed, notes=notes, client=client,
            on_progress=tell, **options,
        ),
        Progress(unit="searches", label=index, shown=progress),
    )  # fmt: skip

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
    """Search an index for many queries, as it ranks now or with `params`: a row for each hit.

    `queries` are texts, dicts, or a table; judgments or a run are accepted. `k` (default 10) is the
    number of hits for each query. `name` is the name of the run, `client` the current client by
    default; `progress` draws a bar, by default in notebooks and terminals.

    Returns a run: a row for each hit with the value of each criterion; see
    `svc_notebook.tuning.tables.schema.RUNS`. A query without hits is a row without `objectID`; a
    failed query has its message in `error`. `attrs["svc"]` contains the parameters and the index's
    ranking.
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
    """Search for every judged query, or `queries`, and average the scores: run, evaluate, summary.

    `k` is the number of hits for each query, by default as many as the metrics need. `params` are
    search parameters; `unjudged`, `gains` and `relevant` are as in `evaluate`. `client` is the
    current client by default; `progress` draws a bar, by default in notebooks and terminals.
    Returns the DataFrame of `summary`.
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
    """Search a space for better settings, synonyms or rules; nothing is saved.

    `space` maps names to values, `{"ignorePlurals": [False, ["en"]]}`; search parameters are tried
    directly, other settings on one scratch copy. `sampler` is `grid`, `random`, `halving` or
    `coordinate`; `budget` is the maximum number of searches, which `plan_search` reports in
    advance. Only the tune queries select variants: those marked in `split`, else all except the
    share `holdout` (default 0.3); the `best` (default 3) are then evaluated on the held-out
    queries. `k` (default 10) is the number of hits for each query. With a file `notes`, a stopped
    search is resumed. `options` are those of `evaluate`. Returns a `Search`.
    """
    return behind_bar(
        lambda tell: aio.search(
            index, space, queries, judgments, sampler, metric=metric, budget=budget,
            holdout=holdout, best=best, k=k, seed=seed, notes=notes, client=client,
            on_progress=tell, **options,
        ),
        Progress(unit="searches", label=index, shown=progress),
    )  # fmt: skip

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

    The first `k` hits, each with its criteria; see `svc_notebook.tuning.tables.schema.RUNS`. A
    query without hits is a row without `objectID`, and one that failed says why in `error`.
    Judgments or a run will do for `queries`. `attrs["svc"]` says what was asked, and how the
    index ranked.
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

    `k` hits of each are looked at, by default as many as the metrics want.
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
    """Look for better settings, synonyms or rules among those of a space; nothing is saved.

    `space` names values to choose from, `{"ignorePlurals": [False, ["en"]]}`; what parameters of a
    search can say is tried by them, the rest on one scratch copy. `sampler` is `grid`, `random`,
    `halving` or `coordinate`; `budget` is how many searches it may take at the most, which
    `plan_search` tells beforehand. Only the tune queries choose: those marked in `split`, else all
    but the share `holdout` of them; the `best` few are then held against the rest. With `notes`, a
    file, a search that was stopped goes on where it was. `options` are those of `evaluate`.
    """
    return behind_bar(
        lambda tell: aio.search(
            index, space, queries, judgments, sampler, metric=metric, budget=budget,
            holdout=holdout, best=best, k=k, seed=seed, notes=notes, client=client,
            on_progress=tell, **options,
        ),
        Progress(unit="searches", label=index, shown=progress),
    )  # fmt: skip

"""Measure an index in one step, and check that it still contains the judged records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pandas import DataFrame

from svc_notebook.api.parameters import SearchParams
from svc_notebook.client.tasks import OnProgress
from svc_notebook.declarations.declaration import public
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.evaluation.metric_names import deepest
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged, evaluate, summary
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments

MAX_IDS_PER_REQUEST = 1000  # records per call


@public(bar="searches")
async def measure(
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
    on_progress: OnProgress | None = None,
) -> DataFrame:
    """Search for every judged query and average the scores: run, evaluate, summary.

    Parameters
    ----------
    metrics : str or list of str, default 'ndcg@10'
        Metrics to compute: `ndcg@k`, `ndcg_exp@k`, `p@k`, `r@k`, `rr@k`, `ap@k`, `err@k`,
        `rbp(p)`, `judged@k`, `value@k`.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for.
    params : dict, default None
        Search parameters of every query.
    k : int, default as many as the metrics need, at least 10
        Number of hits of each query.
    name : str, default the index and the parameters
        Name of the run.
    gains : dict of float, default None
        Gain of each rating; None uses the rating itself. Gains of several raters are
        averaged.
    relevant : float, default 1
        Minimum gain of a relevant record.

    Returns
    -------
    DataFrame
        One row per metric, as `summary` returns it.

    Raises
    ------
    BadInput
        If a query, a judgment, a metric or a parameter is not valid.
    NotFound

    Examples
    --------
    >>> scores = svc.tuning.measure("products", "judgments.csv", ["ndcg@10", "p@5"])
    >>> scores[["metric", "mean", "queries"]].round(3)
        metric   mean  queries
    0  ndcg@10  ...          8
    1      p@5  ...          8
    """
    wanted = [metrics] if isinstance(metrics, str) else list(metrics)
    judged = check_judgments(judgments)
    searched = judged if queries is None else queries
    found = await run(
        index,
        searched,
        params,
        k=deepest(wanted, k),
        name=name,
        client=client,
        on_progress=on_progress,
    )
    return summary(
        evaluate(
            found, judged, wanted, unjudged=unjudged, gains=gains, relevant=relevant,
            queries=searched,
        )
    )  # fmt: skip


@public()
async def missing(index: str, judgments: Table, *, client: AnyClient | None = None) -> DataFrame:
    """Return the judgments of records that the index does not have.

    Returns
    -------
    DataFrame
        One row per judgment, with the columns of `check_judgments`; empty if the index has all
        judged records.

    Raises
    ------
    BadRecord
        If a judgment is not valid.
    NotFound

    Examples
    --------
    >>> svc.tuning.missing("products", "judgments.csv").empty
    True
    """
    reader = asynchronous(client)
    judged = check_judgments(judgments)
    ids = judged["objectID"].drop_duplicates().tolist()
    missing_ids: set[str] = set()
    for start in range(0, len(ids), MAX_IDS_PER_REQUEST):
        part = ids[start : start + MAX_IDS_PER_REQUEST]
        found = await reader.get_objects(
            [
                {"indexName": index, "objectID": one, "attributesToRetrieve": ["objectID"]}
                for one in part
            ]
        )
        pairs = zip(part, found["results"], strict=True)
        missing_ids |= {one for one, record in pairs if record is None}
    frame = judged[judged["objectID"].isin(missing_ids)].reset_index(drop=True)
    frame.attrs["svc"] = {"index": index, "records": len(ids), "gone": len(missing_ids)}
    return frame

"""Measurement of an index by judgments, and the judged records that are missing or changed."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from pandas import DataFrame

from svc_notebook.core.api.parameters import SearchParams
from svc_notebook.data.client import OnProgress
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.evaluation.metrics import VALUE, deepest
from svc_notebook.tuning.evaluation.record_texts import (
    RECORD_HASH,
    digest_record,
    find_records,
    read_records,
)
from svc_notebook.tuning.evaluation.runs import run
from svc_notebook.tuning.evaluation.scores import METRICS, Unjudged, evaluate, summary
from svc_notebook.tuning.tables.tables import Queries, Table, check_judgments


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
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    judged = check_judgments(judgments)
    searched = judged if queries is None else queries
    hits = await run(
        index,
        searched,
        params,
        k=deepest(names, k),
        name=name,
        client=client,
        on_progress=on_progress,
    )
    return summary(
        evaluate(
            hits, judged, names, unjudged=unjudged, gains=gains, relevant=relevant,
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
    NotFound

    Examples
    --------
    >>> svc.tuning.missing("products", "judgments.csv").empty
    True
    """
    judged = check_judgments(judgments)
    ids = judged["objectID"].drop_duplicates().tolist()
    records = await find_records(asynchronous(client), index, ids, ["objectID"])
    missing_ids = {name for name, record in zip(ids, records, strict=True) if record is None}
    frame = judged[judged["objectID"].isin(missing_ids)].reset_index(drop=True)
    frame.attrs["svc"] = {"index": index, "records": len(ids), "gone": len(missing_ids)}
    return frame


@public()
async def add_values(
    index: str, judgments: Table, value: str, *, client: AnyClient | None = None
) -> DataFrame:
    """Add the value of each judged record to judgments, for the metric `value@k`.

    The metric sums rating times value over the hits, and later ranks count less. With ratings that
    are shares of clicks or conversions, it is the expected amount of a search.

    Parameters
    ----------
    value : str
        Attribute of the records with a number, such as `margin`.

    Returns
    -------
    DataFrame
        The judgments with the column `value` (float64), 0 for a record without a number.
        `attrs["svc"]["without_value"]` is the number of such judgments.

    Raises
    ------
    BadInput
        If no judged record has a number in the attribute.
    BadRecord
    NotFound

    Examples
    --------
    >>> judged = svc.tuning.add_values("products", "judgments.csv", "price")
    >>> svc.tuning.measure("products", judged, ["ndcg@10", "value@10"])["metric"].tolist()
    ['ndcg@10', 'value@10']
    """
    judged = check_judgments(judgments)
    ids = judged["objectID"].drop_duplicates().tolist()
    records = await read_records(asynchronous(client), index, ids)
    values = {name: _read_value(record.get(value)) for name, record in records.items()}
    amounts = judged["objectID"].map(values).astype("float64")
    if amounts.isna().all():
        names = sorted({name for record in records.values() for name in record})
        raise BadInput(
            f"no judged record of {index} has a number in `{value}`{did_you_mean(value, names)}"
        )
    frame = judged.assign(**{VALUE: amounts.fillna(0.0)})
    frame.attrs["svc"] = {"index": index, "without_value": int(amounts.isna().sum())}
    return frame


@public()
async def find_changed(
    index: str, judgments: Table, *, client: AnyClient | None = None
) -> DataFrame:
    """Return the judgments whose record has changed since, to judge them again.

    Judgments of `rate` and of the judgment editor have the column `record_hash`, a digest of the
    texts of the record that was judged; changed numbers, such as prices, do not count. Others are
    never returned.

    Returns
    -------
    DataFrame
        One row per judgment, with the columns of the judgments. `attrs["svc"]["unknown"]` is the
        number of judgments without a digest.

    Raises
    ------
    BadRecord
    NotFound

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"], k=2)
    >>> judged = svc.tuning.rate("products", hits, lambda pairs: [1] * len(pairs))
    >>> len(svc.tuning.find_changed("products", judged))
    0
    """
    judged = check_judgments(judgments)
    if RECORD_HASH not in judged:
        changed = judged.head(0)
        changed.attrs["svc"] = {"index": index, "unknown": len(judged)}
        return changed
    kept = judged[judged[RECORD_HASH].fillna("") != ""]
    ids = kept["objectID"].drop_duplicates().tolist()
    records = await read_records(asynchronous(client), index, ids)
    digests = {name: digest_record(record) for name, record in records.items()}
    current = kept["objectID"].map(digests)
    changed = kept[current.notna() & (current != kept[RECORD_HASH])].reset_index(drop=True)
    changed.attrs["svc"] = {"index": index, "unknown": len(judged) - len(kept)}
    return changed


def _read_value(value: Any) -> float:
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number and value >= 0 else float("nan")

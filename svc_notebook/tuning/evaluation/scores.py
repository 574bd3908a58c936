"""Scores of runs: one for each answer and metric, and their summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas import DataFrame

from svc_notebook.core.terminal import warn_user
from svc_notebook.data.declarations import described
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.evaluation.metrics import (
    FAMILIES,
    VALUE,
    Measure,
    completed,
    describe,
    judged,
    rank_biased_tail,
    read_measures,
)
from svc_notebook.tuning.evaluation.ranked_lists import (
    Floats,
    Lists,
    build_ranked_lists,
    known_gains,
)
from svc_notebook.tuning.evaluation.runs import add_missing_rows, warn_of_missing
from svc_notebook.tuning.statistics import RESAMPLES, interval
from svc_notebook.tuning.tables.tables import (
    ANSWER,
    QUESTION,
    Queries,
    Table,
    check_judgments,
    check_queries,
    check_runs,
)

Unjudged = Literal["zero", "skip", "bound"]
TREATMENTS = {
    "zero": "unjudged hits: no gain",
    "skip": "unjudged hits: left out",
    "bound": "unjudged hits: no gain, residual if all were the best",
}
METRICS = ("ndcg@10",)
SCORES = [
    *ANSWER, "metric", "value", "residual", "judged_at_k", "n_hits", "n_relevant", "error",
    "definition",
]  # fmt: skip
OF_QUERIES = ("weight", "stratum", "split")
# The maximum grade of a metric that doubles: 2^10 - 1 is a thousand times the gain of grade 1.
MAX_USUAL_GRADE = 10


@described()
def evaluate(
    runs: Table,
    judgments: Table,
    metrics: str | Iterable[str] = METRICS,
    *,
    unjudged: Unjudged = "zero",
    gains: Mapping[float, float] | None = None,
    relevant: float = 1.0,
    queries: Queries | None = None,
) -> DataFrame:
    """Score each query of runs by each metric.

    A query without hits scores 0, and so does a query without a row in a run: one of `queries`,
    of the other runs, or, for a run without `nbHits`, a judged one. Such queries cause a
    warning; `attrs["svc"]["absent"]` is their number by run.

    Parameters
    ----------
    runs : DataFrame, list of dict or path
        Runs, as `run` returns them, or a CSV or Parquet file of them.
    metrics : str or list of str, default 'ndcg@10'
        Metrics to compute: `ndcg@k`, `ndcg_exp@k`, `p@k`, `r@k`, `rr@k`, `ap@k`, `err@k`,
        `rbp(p)`, `judged@k`, `value@k`.
    queries : str, list, DataFrame or path, default None
        Queries with `weight`, `stratum` and `split`, which become columns of the result.

    Returns
    -------
    DataFrame
        One row per run, query and metric: `run`, `query`, `filters` and `metric` (str), `value`
        (float64, NaN if no relevant record is known or the search failed), `residual` (float64,
        increase of the value if all unjudged hits had the best grade; NaN unless bounds are
        computed), `judged_at_k` (float64, share of judged hits), `n_hits` and `n_relevant`
        (int64), `error` and `definition` (str).

    Raises
    ------
    BadInput
        If a metric or an option is not valid, or no rating reaches the limit of a metric, as
        with judgments from clicks.
    BadRecord
        If a row of a table is not valid.

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"])
    >>> scores = svc.tuning.evaluate(hits, "judgments.csv", "rr@10")
    >>> scores[["query", "metric", "n_relevant"]]
      query metric  n_relevant
    0   mug  rr@10           3
    """
    checked, given = check_runs(runs), check_judgments(judgments)
    checked, absent = add_missing_rows(checked, given, queries)
    frame = score_runs(
        checked, given, metrics, unjudged=unjudged, gains=gains, relevant=relevant, queries=queries
    )
    frame.attrs["svc"]["absent"] = absent
    warn_of_missing(absent, checked)
    return frame


def score_runs(
    checked: DataFrame,
    given: DataFrame,
    metrics: str | Iterable[str],
    *,
    unjudged: Unjudged,
    gains: Mapping[float, float] | None,
    relevant: float,
    queries: Queries | None,
    warns: bool = True,
) -> DataFrame:
    """Score checked runs that have a row for each query; see `evaluate`.

    If `warns` is true, a run without a judged hit causes a warning.
    """
    measures = read_measures(metrics)
    _check_options(unjudged, relevant)
    judged_gains = known_gains(given, gains)
    for measure in measures:
        _check_scale(measure, judged_gains["gain"].to_numpy())
        _check_threshold(measure, judged_gains["gain"].to_numpy(), relevant)
    answers, lists = build_ranked_lists(checked, judged_gains, depth=_depth(measures))
    if warns:
        _warn_of_unjudged_runs(answers, lists)
    lists_by_family = dict.fromkeys(FAMILIES, lists)
    if valued := [measure for measure in measures if measure.family == VALUE]:
        amounts = known_gains(_check_values(given, valued[0]), gains, value=VALUE)
        _, lists_by_family[VALUE] = build_ranked_lists(checked, amounts, depth=0)
    parts = [
        _score(answers, lists_by_family[metric.family], metric, unjudged, relevant, gains)
        for metric in measures
    ]
    frame = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)[SCORES]
    if queries is not None:
        about = check_queries(queries)[[*QUESTION, *OF_QUERIES]]
        frame = frame.merge(about, on=QUESTION, how="left", sort=False)
    frame.attrs["svc"] = _facts(
        measures, unjudged, gains, relevant, lists.best, answers, judged_gains
    )
    return frame


def _check_options(unjudged: Unjudged, relevant: float) -> None:
    if unjudged not in [*TREATMENTS]:
        raise BadInput(f"`unjudged` must be one of {', '.join(TREATMENTS)}, not {unjudged!r}")
    if isinstance(relevant, bool | str) or not relevant > 0:
        raise BadInput(f"`relevant` must be a rating of more than 0, not {relevant!r}")


def summary(
    scores: DataFrame,
    by: str | Sequence[str] = (),
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> DataFrame:
    """Average the scores of each run and metric, with a bootstrap interval.

    Parameters
    ----------
    scores : DataFrame
        Result of `evaluate`; a column `weight` weights the queries.
    by : str or list of str, default none
        Further columns to group by, such as `stratum`.
    resamples : int, default 10000
        Number of bootstrap resamples.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    DataFrame
        One row per run, metric and group: `run` and `metric` (str), the columns of `by`,
        `mean`, `low` and `high` (float64, mean and its 95 % interval), `residual` and `judged`
        (float64, means), `queries` (int64, averaged queries), `without_relevant`,
        `without_hits` and `failed` (int64, queries) and `definition` (str).

    Raises
    ------
    BadInput
        If the scores are not a result of `evaluate`, or lack a column of `by`.

    Examples
    --------
    >>> hits = svc.tuning.run("products", "judgments.csv")
    >>> scores = svc.tuning.evaluate(hits, "judgments.csv")
    >>> svc.tuning.summary(scores)[["run", "metric", "queries"]]
            run   metric  queries
    0  products  ndcg@10        8
    """
    _check_scores(scores)
    keys = ["run", "metric", *([by] if isinstance(by, str) else by)]
    for name in keys:
        if name not in scores:
            raise BadInput(f"scores have no column `{name}`{did_you_mean(name, scores.columns)}")
    groups = scores.groupby(keys, sort=False, observed=True, dropna=False)
    rows = [
        {**dict(zip(keys, key, strict=True)), **_summed(part, resamples, seed)}
        for key, part in groups
    ]
    frame = DataFrame(rows, columns=[*keys, *SUMMED])
    frame.attrs["svc"] = dict(scores.attrs.get("svc", {}))
    return frame


SUMMED = [
    "mean", "low", "high", "residual", "judged", "queries", "without_relevant", "without_hits",
    "failed", "definition",
]  # fmt: skip


def _summed(part: DataFrame, resamples: int, seed: int) -> dict[str, Any]:
    failed = part["error"] != ""
    unknown = (part["n_relevant"] == 0) & ~failed
    weights = part["weight"].fillna(1).to_numpy() if "weight" in part else None
    mean, low, high = interval(
        part["value"].to_numpy(), weights=weights, resamples=resamples, seed=seed
    )
    return {
        "mean": mean, "low": low, "high": high,
        "residual": part["residual"].mean(), "judged": part["judged_at_k"].mean(),
        "queries": int(part["value"].notna().sum()),
        "without_relevant": int(unknown.sum()),
        "without_hits": int(((part["n_hits"] == 0) & ~failed).sum()),
        "failed": int(failed.sum()), "definition": part["definition"].iloc[0],
    }  # fmt: skip


def _score(
    answers: DataFrame,
    lists: Lists,
    measure: Measure,
    unjudged: Unjudged,
    relevant: float,
    gains: Mapping[float, float] | None,
) -> DataFrame:
    options = completed(measure, relevant=relevant, best=lists.best)
    min_gain = options["rel"] if "rel" in options else float(np.nextafter(0, 1))
    value, residual = _values(lists, measure, options, unjudged)
    failed = (answers["error"] != "").to_numpy()
    return answers.assign(
        metric=measure.name,
        value=np.where(failed, np.nan, value),
        residual=np.where(failed, np.nan, residual),
        judged_at_k=judged(lists, measure.cutoff, {}),
        n_relevant=lists.count_relevant(min_gain).astype(np.int64),
        definition=_definition(measure, lists.best, unjudged, relevant, gains),
    )


def _values(
    lists: Lists, measure: Measure, options: dict[str, float], unjudged: Unjudged
) -> tuple[Floats, Floats]:
    """Compute values, and the residual of unjudged hits."""
    if measure.family == "judged":
        shares = judged(lists, measure.cutoff, options)
        return shares, np.full_like(shares, np.nan)
    formula = FAMILIES[measure.family].formula
    chosen = lists.condensed() if unjudged == "skip" else lists
    value = formula(chosen, measure.cutoff, options)
    residual = np.full_like(value, np.nan)
    if unjudged == "bound" or measure.family == "rbp":
        best_case = lists.with_best_grades() if unjudged != "skip" else chosen
        residual = formula(best_case, measure.cutoff, options) - value
    if measure.family == "rbp":
        residual = residual + rank_biased_tail(chosen, None, options)
    return value, residual


def _definition(
    measure: Measure,
    best: float,
    unjudged: Unjudged,
    relevant: float,
    gains: Mapping[float, float] | None,
) -> str:
    words = describe(measure, relevant=relevant, best=best)
    if measure.family == "judged":
        return words
    mapped = ", ".join(f"{rating:g} as {gain:g}" for rating, gain in (gains or {}).items())
    return "; ".join(filter(None, [words, mapped and f"r: {mapped}", TREATMENTS[unjudged]]))


def _check_values(judgments: DataFrame, measure: Measure) -> DataFrame:
    """Return judgments with numbers in the column `value`; raise `BadInput` without the column."""
    if VALUE not in judgments:
        raise BadInput(
            f"`{measure.name}` needs a column `value` in the judgments, such as the margin of each "
            'record: `judgments = svc.tuning.add_values(index, judgments, "margin")`'
        )
    values = pd.to_numeric(judgments[VALUE], errors="coerce").astype("float64").fillna(0.0)
    if (values < 0).any():
        row = int(np.flatnonzero(values < 0)[0])
        raise BadInput(f"row {row}: a `value` is 0 or more, not {values.iloc[row]:g}")
    return judgments.assign(**{VALUE: values})


def _check_scale(measure: Measure, gains: Floats) -> None:
    """Reject grades that are already doubling gains for a metric that doubles them."""
    if not FAMILIES[measure.family].doubling or not len(gains):
        return
    best, grades = gains.max(), set(gains[gains > 0])
    if best > MAX_USUAL_GRADE or (best >= 10 and grades <= {1.0, 10.0, 100.0}):
        raise BadInput(
            f"`{measure.name}` has an exponential gain, and the highest grade is {best:g}: map the "
            "grades by gains={100: 3, 10: 2, 1: 1, 0: 0}, or use ndcg, whose gain is linear"
        )


def _check_threshold(measure: Measure, gains: Floats, relevant: float) -> None:
    """Reject ratings of clicks, which are shares, for a metric whose threshold none reaches.

    Whole grades below the threshold are judgments that no record is relevant: the metric is 0.
    """
    threshold = completed(measure, relevant=relevant, best=1.0).get("rel")
    best = gains.max() if len(gains) else 0.0
    are_grades = bool((gains == gains.round()).all())
    if threshold is None or are_grades or not 0 < best < threshold:
        return
    raise BadInput(
        f"`{measure.name}` counts records from a rating of {threshold:g}, and the best here is "
        f"{best:.3g}, as of judgments from clicks; pass relevant={best / 2:.2g} or another limit, "
        "make grades with clicks.judgments(..., grades=3), or take ndcg, which needs no limit"
    )


def _depth(measures: Iterable[Measure]) -> int | None:
    """Return how many ranks of the ideal are used; None for all."""
    graded = [measure.cutoff for measure in measures if measure.family in ("ndcg", "ndcg_exp")]
    return None if None in graded else max([0, *filter(None, graded)])


def _warn_of_unjudged_runs(answers: DataFrame, lists: Lists) -> None:
    """Warn if no hit of a run is judged although its queries are."""
    has_judgments = lists.count_relevant(0) > 0
    counts = DataFrame(
        {"run": answers["run"], "hits": lists.hit.sum(axis=1), "rated": lists.rated.sum(axis=1)}
    )[has_judgments]
    for run, hits, rated in counts.groupby("run", sort=False).sum().itertuples():
        if hits and not rated:
            warn_user(
                f"none of the {hits:,} hits of `{run}` is judged: were records given other "
                "objectIDs, or are these judgments of another index?"
            )


def _facts(
    measures: Sequence[Measure],
    unjudged: str,
    gains: Mapping[float, float] | None,
    relevant: float,
    best: float,
    answers: DataFrame,
    judged_gains: DataFrame,
) -> dict[str, Any]:
    judged_queries = judged_gains[QUESTION].drop_duplicates()
    run_queries = judged_queries.merge(answers[QUESTION].drop_duplicates(), on=QUESTION)
    return {
        "metrics": [measure.name for measure in measures],
        "unjudged": unjudged,
        "gains": None if gains is None else {f"{r:g}": float(g) for r, g in gains.items()},
        "relevant": relevant,
        "best": best,
        "judged_but_not_run": len(judged_queries) - len(run_queries),
    }


def _check_scores(scores: Any) -> None:
    missing = [name for name in SCORES if name not in getattr(scores, "columns", ())]
    if missing:
        raise BadInput(
            f"`scores` must be the result of evaluate(runs, judgments); it has no `{missing[0]}`"
        )


def count_failures(scored: DataFrame) -> DataFrame:
    """Score searches that failed 0, as those without hits, where a change must not profit."""
    failed = (scored["error"] != "") & (scored["n_relevant"] > 0)
    return scored.assign(value=scored["value"].mask(failed, 0.0))

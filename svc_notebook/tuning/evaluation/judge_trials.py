"""A judge compared with people on a few pairs, and its judgments of the new hits of runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from pandas import DataFrame

from svc_notebook.client.tasks import OnProgress
from svc_notebook.declarations.declaration import public
from svc_notebook.errors import BadInput
from svc_notebook.session.connection import AnyClient
from svc_notebook.tuning.evaluation.judge_batches import Judge, rate
from svc_notebook.tuning.evaluation.ranked_lists import known_gains
from svc_notebook.tuning.tables.tables import QUESTION, Table, check_judgments, check_runs

PAIR = [*QUESTION, "objectID"]


@public(bar="pairs")
async def try_judge(
    index: str,
    human: Table,
    judge: Judge,
    *,
    n: int = 10,
    seed: int = 0,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> DataFrame:
    """Rate a few pairs that people have graded, to compare a judge with them at a low cost.

    Parameters
    ----------
    human : DataFrame, list of dict or path
        Judgments of people; their grades are drawn in equal numbers, if there are enough.
    judge : callable
        Judge, as `rate` takes it, such as a `ModelJudge`.
    n : int, default 10
        Number of pairs, 1 or more.
    seed : int, default 0
        Seed of the random numbers.
    **options
        Options of `rate`.

    Returns
    -------
    DataFrame
        One row per pair, the largest differences first: `query`, `filters` and `objectID` (str),
        `human` (float64, mean of the raters), `judge` and `difference` (float64) and `reason`
        (str, of a `ModelJudge`). `attrs["svc"]` is that of `rate`, with `agreement` and `usage`.

    Raises
    ------
    BadInput
        If `n` is less than 1, nothing is graded, or `rate` raises it.
    CallFailed

    Examples
    --------
    >>> trial = svc.tuning.try_judge("products", "judgments.csv", lambda pairs: [1] * len(pairs))
    >>> len(trial)
    10
    """
    if n < 1:
        raise BadInput(f"`n` must be 1 or more, not {n}")
    judged = check_judgments(human)
    graded = known_gains(judged, None).rename(columns={"gain": "human"})
    if graded.empty:
        raise BadInput("no judgment of people has a rating to compare with")
    drawn = graded.sample(frac=1, random_state=seed)
    turns = drawn.groupby("human").cumcount()
    chosen = drawn.assign(turn=turns).sort_values(["turn", "human"], kind="stable").head(n)
    rated = await rate(
        index, chosen[PAIR], judge, human=judged, client=client, on_progress=on_progress, **options
    )
    frame = rated[[*PAIR, "rating"]].rename(columns={"rating": "judge"})
    frame = frame.merge(chosen[[*PAIR, "human"]], on=PAIR)
    frame["difference"] = frame["judge"] - frame["human"]
    reasons: Mapping[Any, str] = getattr(judge, "reasons", {})
    keys = zip(*(frame[name] for name in PAIR), strict=True)
    frame["reason"] = pd.Series([reasons.get(key, "") for key in keys], frame.index, dtype="str")
    order = frame["difference"].abs().sort_values(ascending=False, kind="stable").index
    columns = [*PAIR, "human", "judge", "difference", "reason"]
    frame = frame.loc[order, columns].reset_index(drop=True)
    frame.attrs["svc"] = dict(rated.attrs["svc"])
    return frame


@public(bar="pairs")
async def complete_judgments(
    index: str,
    runs: Table,
    judgments: Table,
    judge: Judge,
    *,
    k: int = 10,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> DataFrame:
    """Let a judge rate the unjudged hits of runs, and return all judgments.

    Parameters
    ----------
    runs : DataFrame, list of dict or path
        Runs, as `run` returns them.
    judge : callable
        Judge, as `rate` takes it, such as a `ModelJudge`.
    k : int, default 10
        Number of first hits of each query that are judged.
    **options
        Options of `rate`, such as `cache` and `max_cost`.

    Returns
    -------
    DataFrame
        The judgments, then those of the judge. `attrs["svc"]` is that of `rate`; `pairs` is the
        number of new pairs.

    Raises
    ------
    BadInput
        If `k` is less than 1, or `rate` raises it.
    CallFailed

    Examples
    --------
    >>> hits = svc.tuning.run("products", ["mug"], k=2)
    >>> human = [{"query": "mug", "objectID": "MUG-001", "rating": 3}]
    >>> judged = svc.tuning.complete_judgments("products", hits, human, lambda pairs: [1])
    >>> judged[["objectID", "rating", "rater"]]
      objectID  rating  rater
    0  MUG-001     3.0
    1  MUG-002     1.0  judge
    """
    if k < 1:
        raise BadInput(f"`k` must be 1 or more, not {k}")
    if options.get("dry_run"):
        raise BadInput("`dry_run` is an option of `rate`; pass it the pairs of the run")
    hits, judged = check_runs(runs), check_judgments(judgments)
    first = hits[hits["objectID"].notna() & (hits["rank"] <= k)][PAIR].drop_duplicates()
    done = judged.loc[judged["rating"].notna() | judged["unrateable"], PAIR].drop_duplicates()
    both = first.merge(done, how="left", on=PAIR, indicator="state")
    new = both.loc[both["state"] == "left_only", PAIR]
    rated = await rate(index, new, judge, client=client, on_progress=on_progress, **options)
    whole = check_judgments(pd.concat([judged, rated], ignore_index=True) if len(rated) else judged)
    whole.attrs["svc"] = dict(rated.attrs["svc"])
    return whole

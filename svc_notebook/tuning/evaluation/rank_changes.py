"""Rank changes between two runs: per hit, and as the similarity of two rankings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from pandas import DataFrame, Series

from svc_notebook.tuning.evaluation.ranked_lists import Floats
from svc_notebook.tuning.tables.tables import ANSWER, QUESTION

# The first ten places have 86 % of the weight of rank-biased overlap.
RBO_PERSISTENCE = 0.9
MOVES = [
    "run", *QUESTION, "objectID", "rank_before", "rank_after", "moved", "kind", "gain",
]  # fmt: skip


def find_moves(before: DataFrame, after: DataFrame, gains: DataFrame) -> DataFrame:
    """List every hit of either run, with both ranks and its known gain.

    `moved` is the number of ranks by which it rose; `kind` is up, down, same, entered or left. A
    query that only one run has is left out.
    """
    pairs = _both(before, after)
    old, new = (_ranks(frame, pairs) for frame in (before, after))
    key = [*QUESTION, "objectID"]
    moves = old.merge(new, on=key, how="outer", suffixes=("_before", "_after"), sort=False)
    moves = moves.merge(gains, on=key, how="left", sort=False)
    moves["moved"] = moves["rank_before"] - moves["rank_after"]
    moves["kind"] = _kinds(moves)
    moves["run"] = after["run"].iloc[0] if len(after) else ""
    places = pairs.assign(place=range(len(pairs)))
    ordered = moves.merge(places, on=QUESTION, sort=False)
    best = ordered[["rank_before", "rank_after"]].min(axis=1)
    ordered = ordered.assign(best=best).sort_values(["place", "best"], kind="stable")
    return ordered[MOVES].reset_index(drop=True)


def find_overlaps(before: DataFrame, after: DataFrame, p: float = RBO_PERSISTENCE) -> DataFrame:
    """Compute the similarity of two runs per query: extrapolated rank-biased overlap, from 0 to 1.

    After Webber, Moffat and Zobel (2010), also for lists of different lengths; two empty lists have
    1.
    """
    pairs = _both(before, after)
    old, new = (_ranks(frame, pairs) for frame in (before, after))
    one, other = (_lengths(frame, pairs) for frame in (old, new))
    both = old.merge(new, on=[*QUESTION, "objectID"], suffixes=("_before", "_after"))
    rows = both[QUESTION].merge(pairs.reset_index(), on=QUESTION, how="left")["index"]
    depths = both[["rank_before", "rank_after"]].max(axis=1).to_numpy(dtype=np.int64)
    longest = int(max([0, *one, *other]))
    common = np.zeros((len(pairs), longest + 1))
    np.add.at(common, (rows.to_numpy(dtype=np.int64), depths), 1)
    overlaps = _extrapolated(np.cumsum(common, axis=1), one, other, p)
    name = after["run"].iloc[0] if len(after) else ""
    return pairs.assign(run=name, rbo=overlaps)[["run", *QUESTION, "rbo"]]


def _extrapolated(common: Floats, one: Any, other: Any, p: float) -> Floats:
    """Formula 32: `common[:, d]` is the number of hits that both have in the first d ranks."""
    short, long = np.minimum(one, other), np.maximum(one, other)
    rows = np.arange(len(common))
    depths = np.arange(1, common.shape[1])
    at_short = common[rows, short]
    agreement = common[:, 1:] / depths
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(short > 0, at_short / np.maximum(short, 1), 0.0)
        beyond = share[:, None] * (depths - short[:, None]) / depths
    agreement = agreement + np.where(depths > short[:, None], beyond, 0)
    weights = np.where(depths <= long[:, None], p**depths, 0)
    last = (common[rows, long] - at_short) / np.maximum(long, 1) + share
    values = (1 - p) / p * (agreement * weights).sum(axis=1) + last * p**long
    return np.where(long == 0, 1.0, np.minimum(values, 1.0))


def _both(before: DataFrame, after: DataFrame) -> DataFrame:
    """Return the queries of both runs, in the order of the first."""
    old, new = (frame[QUESTION].drop_duplicates() for frame in (before, after))
    return old.merge(new, on=QUESTION, sort=False).reset_index(drop=True)


def _ranks(frame: DataFrame, pairs: DataFrame) -> DataFrame:
    """Number the hits of each query from 1, whatever their ranks were."""
    hits = frame[frame["objectID"].notna()].merge(pairs, on=QUESTION, sort=False)
    hits = hits.sort_values("rank", kind="stable")
    ranks = hits.groupby(ANSWER, sort=False).cumcount() + 1
    return hits[[*QUESTION, "objectID"]].assign(rank=ranks.astype("Int64"))


def _lengths(hits: DataFrame, pairs: DataFrame) -> Any:
    counts = hits.groupby(QUESTION, sort=False).size().rename("count").reset_index()
    return pairs.merge(counts, on=QUESTION, how="left")["count"].fillna(0).to_numpy(dtype=np.int64)


def _kinds(moves: DataFrame) -> Series[Any]:
    conditions = [
        moves["rank_before"].isna(), moves["rank_after"].isna(), moves["moved"] > 0,
        moves["moved"] < 0,
    ]  # fmt: skip
    given = [np.asarray(one.fillna(False), dtype=bool) for one in conditions]
    return pd.Series(np.select(given, ["entered", "left", "up", "down"], "same"), dtype="str")

"""Runs and judgments as arrays of ranks, and the rank changes between two runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas import DataFrame, Series

from svc_notebook.errors import BadInput
from svc_notebook.tuning.tables.tables import ANSWER, QUESTION

# The first ten places have 86 % of the weight of rank-biased overlap.
RBO_PERSISTENCE = 0.9
MOVES = [
    "run", *QUESTION, "objectID", "rank_before", "rank_after", "moved", "kind", "gain",
]  # fmt: skip

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Lists:
    """The hits and their known gains, answer by answer.

    `gain`, `rated` and `hit` have a column for each rank, `ideal` the gains of all judged records,
    descending; `judged` and `of` are the same gains flat, with the row they belong to.
    """

    gain: Floats
    rated: Bools
    hit: Bools
    ended: Bools
    ideal: Floats
    judged: Floats
    of: NDArray[np.int64]
    best: float

    def count_relevant(self, min_gain: float) -> Floats:
        """Count, for each answer, the judged records with at least this gain."""
        counts = np.bincount(self.of[self.judged >= min_gain], minlength=len(self.gain))
        return counts.astype(np.float64)

    def condensed(self) -> Lists:
        """Remove hits without a rating; those below move up."""
        order = np.argsort(~self.rated, axis=1, kind="stable")
        rated = np.take_along_axis(self.rated, order, axis=1)
        gain = np.take_along_axis(self.gain, order, axis=1)
        return replace(self, gain=gain, rated=rated, hit=rated)

    def with_best_grades(self) -> Lists:
        """Treat every hit without a rating as one of the best grade."""
        unrated = self.hit & ~self.rated
        return replace(self, gain=np.where(unrated, self.best, self.gain))


def build_ranked_lists(
    runs: DataFrame, judgments: DataFrame, *, depth: int | None
) -> tuple[DataFrame, Lists]:
    """Combine checked runs and `known_gains`: the answers, and their arrays in that order.

    The ideal is limited to `depth` ranks; None keeps all of it.
    """
    answers, hits = _split(runs)
    hits = hits.merge(judgments, on=[*QUESTION, "objectID"], how="left", sort=False)
    rows, places = hits["row"].to_numpy(), hits["place"].to_numpy()
    shape = (len(answers), int(places.max()) + 1 if len(hits) else 0)
    gains = hits["gain"].to_numpy(dtype=np.float64)
    rated = ~np.isnan(gains)
    of, judged_gains = _known(answers, judgments)
    lists = Lists(
        gain=_matrix(shape, rows[rated], places[rated], gains[rated]),
        rated=_matrix(shape, rows[rated], places[rated], True),
        hit=_matrix(shape, rows, places, True),
        ended=_ended(answers),
        ideal=_sort_descending(len(answers), of, judged_gains, depth),
        judged=judged_gains, of=of,
        best=float(judgments["gain"].max()) if len(judgments) else 0.0,
    )  # fmt: skip
    return answers, lists


def known_gains(
    judgments: DataFrame, gains: Mapping[float, float] | None, *, value: str | None = None
) -> DataFrame:
    """Average the gains of all raters for each hit: `query, filters, objectID, gain`.

    With `value`, gains are multiplied by that column. Raises `BadInput` for a rating that `gains`
    does not contain.
    """
    rated = judgments[judgments["rating"].notna()]
    values = rated["rating"]
    if gains is not None:
        if not isinstance(gains, Mapping):
            raise BadInput("`gains` must be a dict, such as {100: 3, 10: 2, 1: 1, 0: 0}")
        named = {float(rating): float(gain) for rating, gain in gains.items()}
        unmapped = sorted(set(values.unique()) - named.keys())
        if unmapped:
            raise BadInput(f"`gains` does not contain the rating {unmapped[0]:g}")
        if any(not 0 <= gain < float("inf") for gain in named.values()):
            raise BadInput("`gains` must be 0 or more")
        values = values.map(named)
    if value:
        values = values * rated[value]
    keyed = rated[[*QUESTION, "objectID"]].assign(gain=values)
    return keyed.groupby([*QUESTION, "objectID"], sort=False)[["gain"]].mean().reset_index()


def _split(runs: DataFrame) -> tuple[DataFrame, DataFrame]:
    """Number the answers, and give each hit its answer's row and its rank, from 0."""
    rows = runs.groupby(ANSWER, sort=False).ngroup().to_numpy()
    first = ~pd.Series(rows).duplicated().to_numpy()
    is_hit = runs["objectID"].notna().to_numpy()
    answers = runs.loc[first, [*ANSWER, "nbHits", "error"]].reset_index(drop=True)
    answers["n_hits"] = np.bincount(rows[is_hit], minlength=len(answers))
    hits = runs[is_hit].assign(row=rows[is_hit])[[*QUESTION, "objectID", "rank", "row"]]
    hits = hits.sort_values(["row", "rank"], kind="stable")
    return answers, hits.assign(place=hits.groupby("row").cumcount())


def _matrix(shape: tuple[int, int], rows: Any, places: Any, values: Any) -> Any:
    dtype = np.bool_ if values is True else np.float64
    matrix: Any = np.zeros(shape, dtype=dtype)
    matrix[rows, places] = values
    return matrix


def _ended(answers: DataFrame) -> Bools:
    """Return whether no hits follow the listed ones."""
    counts: Series[Any] = answers["nbHits"]
    listed = answers["n_hits"].to_numpy()
    return np.asarray(counts.fillna(-1).to_numpy(dtype=np.int64) == listed)


def _known(answers: DataFrame, judgments: DataFrame) -> tuple[NDArray[np.int64], Floats]:
    numbered = answers[QUESTION].assign(of=np.arange(len(answers)))
    merged = judgments.merge(numbered, on=QUESTION, how="inner", sort=False)
    return merged["of"].to_numpy(dtype=np.int64), merged["gain"].to_numpy(dtype=np.float64)


def _sort_descending(
    count: int, of: NDArray[np.int64], judged_gains: Floats, depth: int | None
) -> Floats:
    order = np.lexsort((-judged_gains, of))
    rows, gains = of[order], judged_gains[order]
    starts = np.searchsorted(rows, np.arange(count))
    places = np.arange(len(rows)) - starts[rows] if count else np.arange(0)
    kept = (gains > 0) & (places < (len(rows) if depth is None else depth))
    width = int(places[kept].max()) + 1 if kept.any() else 0
    ideal: Floats = _matrix((count, width), rows[kept], places[kept], gains[kept])
    return ideal


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
    old_lengths, new_lengths = (_lengths(frame, pairs) for frame in (old, new))
    both = old.merge(new, on=[*QUESTION, "objectID"], suffixes=("_before", "_after"))
    rows = both[QUESTION].merge(pairs.reset_index(), on=QUESTION, how="left")["index"]
    depths = both[["rank_before", "rank_after"]].max(axis=1).to_numpy(dtype=np.int64)
    longest = int(max([0, *old_lengths, *new_lengths]))
    common = np.zeros((len(pairs), longest + 1))
    np.add.at(common, (rows.to_numpy(dtype=np.int64), depths), 1)
    overlaps = _extrapolated(np.cumsum(common, axis=1), old_lengths, new_lengths, p)
    name = after["run"].iloc[0] if len(after) else ""
    return pairs.assign(run=name, rbo=overlaps)[["run", *QUESTION, "rbo"]]


def _extrapolated(common: Floats, old_lengths: Any, new_lengths: Any, p: float) -> Floats:
    """Formula 32: `common[:, d]` is the number of hits that both have in the first d ranks."""
    short, long = np.minimum(old_lengths, new_lengths), np.maximum(old_lengths, new_lengths)
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
    given = [np.asarray(condition.fillna(False), dtype=bool) for condition in conditions]
    return pd.Series(np.select(given, ["entered", "left", "up", "down"], "same"), dtype="str")

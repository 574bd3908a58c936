"""Agreement between raters, and the hits that are most worth judging next."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.data.declarations import described
from svc_notebook.errors import BadInput
from svc_notebook.tuning.evaluation.ranked_lists import Floats, find_moves, known_gains
from svc_notebook.tuning.statistics import bootstrap_kappa, cohen, fleiss, krippendorff
from svc_notebook.tuning.tables.tables import QUESTION, Table, check_judgments, check_runs

GRADE_AGREEMENT = ["grade", "kappa", "low", "high", "first", "second", "both", "hits"]
AGREEMENT = ["measure", "raters", "value", "hits"]
WANTED = [*QUESTION, "objectID", "rank_before", "rank_after", "influence"]


def agreement(judgments: Table) -> DataFrame:
    """Measure the agreement of raters.

    The measures are the share of equal ratings, Cohen's kappa, plain and with squared weights,
    for each pair of raters; Fleiss' kappa for three or more raters, over the hits that all have
    rated; and Krippendorff's alpha for ordered grades, over the hits that were rated at least
    twice. A kappa or alpha of 1 is complete agreement, 0 is chance.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID`, `rating` and `rater`.

    Returns
    -------
    DataFrame
        One row per measure: `measure` and `raters` (str), `value` (float64) and `hits` (int64,
        number of hits used).

    Raises
    ------
    BadInput
        If there are fewer than two raters.
    BadRecord
        If a judgment is not valid.

    Examples
    --------
    >>> anna = pd.DataFrame({"query": "mug", "objectID": ["MUG-001", "MUG-002"], "rating": [3, 1]})
    >>> ben = anna.assign(rating=[2, 1])
    >>> judgments = pd.concat([anna.assign(rater="anna"), ben.assign(rater="ben")])
    >>> svc.tuning.agreement(judgments).head(2)
             measure     raters     value  hits
    0  equal ratings  anna, ben  0.500000     2
    1  Cohen's kappa  anna, ben  0.333333     2
    """
    table = by_rater(check_judgments(judgments))
    if table.shape[1] < 2:
        raise BadInput("agreement needs the judgments of two raters or more, named in `rater`")
    return DataFrame(_agreements(table), columns=AGREEMENT)


@described()
def grade_agreement(
    judgments: Table, raters: Sequence[str] | None = None, *, seed: int = 0
) -> DataFrame:
    """Measure how far two raters agree on each grade, such as a model and people.

    Parameters
    ----------
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID`, `rating` and `rater`.
    raters : list of str, default the two of the judgments
        Names of two raters.

    Returns
    -------
    DataFrame
        One row for all grades (squared weights), then one per grade against all others: `grade`
        (str, `all` first), `kappa`, `low` and `high` (float64, Cohen's kappa and its 95 % bootstrap
        interval over pairs), `first` and `second` (int64, how often each rater gave the grade),
        `both` (int64, how often both did) and `hits` (int64).

    Raises
    ------
    BadInput
        If there are not two raters, or they share no hit.
    BadRecord

    Examples
    --------
    >>> anna = pd.DataFrame({"query": "mug", "objectID": ["MUG-001", "MUG-002"], "rating": [3, 1]})
    >>> model = anna.assign(rating=[3, 0], rater="model")
    >>> judgments = pd.concat([anna.assign(rater="anna"), model])
    >>> svc.tuning.grade_agreement(judgments)[["grade", "first", "second", "both"]]
      grade  first  second  both
    0   all      2       2     1
    1     0      0       1     0
    2     1      1       0     0
    3     3      1       1     1
    """
    pairs = _pair_raters(judgments, raters).to_numpy(dtype=np.float64)
    rows = [("all", *bootstrap_kappa(pairs, weighted=True, seed=seed), len(pairs), len(pairs),
             int((pairs[:, 0] == pairs[:, 1]).sum()), len(pairs))]  # fmt: skip
    for grade in np.unique(pairs):
        given = pairs == grade
        first, second = given.sum(axis=0).tolist()
        kappa = bootstrap_kappa(given.astype(np.float64), weighted=False, seed=seed)
        both = int(given.all(axis=1).sum())
        rows.append((f"{grade:g}", *kappa, first, second, both, len(pairs)))
    return DataFrame(rows, columns=GRADE_AGREEMENT).astype({"grade": "str"})


@described(like=grade_agreement.__doc__)
def disagreements(judgments: Table, raters: Sequence[str] | None = None) -> DataFrame:
    """Return the hits on which two raters differ, the largest differences first, to judge by hand.

    Returns
    -------
    DataFrame
        One row per hit: `query`, `filters` and `objectID` (str), `first` and `second` (float64, the
        ratings in the order of `raters`) and `difference` (float64).

    Examples
    --------
    >>> anna = pd.DataFrame({"query": "mug", "objectID": ["MUG-001", "MUG-002"], "rating": [3, 1]})
    >>> model = anna.assign(rating=[3, 0], rater="model")
    >>> judgments = pd.concat([anna.assign(rater="anna"), model])
    >>> svc.tuning.disagreements(judgments)[["objectID", "first", "second", "difference"]]
      objectID  first  second  difference
    0  MUG-002    1.0     0.0        -1.0
    """
    pairs = _pair_raters(judgments, raters)
    pairs = pairs.set_axis(["first", "second"], axis=1).reset_index()
    pairs["difference"] = pairs["second"] - pairs["first"]
    order = pairs["difference"].abs().sort_values(ascending=False, kind="stable").index
    ordered = pairs.loc[order]
    return ordered[ordered["difference"] != 0].reset_index(drop=True)


@described()
def next_to_judge(a: Table, b: Table, judgments: Table, n: int = 20) -> DataFrame:
    """Return the unjudged hits whose ratings could change the difference of two runs most.

    Parameters
    ----------
    a : DataFrame, list of dict or path
        Run, as `run` returns it.
    b : DataFrame, list of dict or path
        Run to compare with it.
    n : int, default 20
        Maximum number of hits, 1 or more.

    Returns
    -------
    DataFrame
        One row per hit: `query`, `filters` and `objectID` (str), `rank_before` and `rank_after`
        (Int64) and `influence` (float64, change of the difference of the query's nDCG if the
        hit had the best grade).

    Raises
    ------
    BadInput
        If `n` is less than 1.
    BadRecord
        If a row of a table is not valid.

    Examples
    --------
    >>> before = svc.tuning.run("products", ["mug"])
    >>> svc.set_settings("products", {"customRanking": ["desc(reviews)"]})
    >>> after = svc.tuning.run("products", ["mug"])
    >>> svc.tuning.next_to_judge(before, after, "judgments.csv", n=5)
    """
    if n < 1:
        raise BadInput(f"`n` must be 1 or more, not {n}")
    before, after, judged = check_runs(a), check_runs(b), check_judgments(judgments)
    gains = known_gains(judged, None)
    moves = find_moves(before, after, gains)
    dealt = judged.loc[judged["unrateable"], [*QUESTION, "objectID"]].drop_duplicates()
    moves = moves.merge(dealt, how="left", on=[*QUESTION, "objectID"], indicator="dealt")
    left = moves[moves["gain"].isna() & (moves["dealt"] == "left_only")]
    best = float(gains["gain"].max()) if len(gains) else 1.0
    depth = int(max(moves[["rank_before", "rank_after"]].max().fillna(1)))
    ideals = _ideals(gains, depth)
    apart = abs(_discount(left["rank_before"]) - _discount(left["rank_after"]))
    wholes = left[QUESTION].merge(ideals, on=QUESTION, how="left")["ideal"].fillna(best)
    influence = best * apart / np.maximum(wholes.to_numpy(), best)
    ranked = left.assign(influence=influence).sort_values(
        "influence", ascending=False, kind="stable"
    )
    return ranked[WANTED].head(n).reset_index(drop=True)


def _discount(ranks: Any) -> Floats:
    numbers = ranks.astype("float64").to_numpy()
    return np.where(np.isnan(numbers), 0.0, 1 / np.log2(np.nan_to_num(numbers, nan=1.0) + 1))


def _ideals(gains: DataFrame, depth: int) -> DataFrame:
    """Return the discounted gain of the ideal order of each query."""
    ordered = gains.sort_values("gain", ascending=False, kind="stable")
    places = ordered.groupby(QUESTION, sort=False).cumcount().to_numpy()
    ideal = np.where(places < depth, ordered["gain"] / np.log2(places + 2), 0.0)
    return ordered.assign(ideal=ideal).groupby(QUESTION, sort=False)[["ideal"]].sum().reset_index()


def _pair_raters(judgments: Table, raters: Sequence[str] | None) -> DataFrame:
    """Return the hits that both raters have rated, with a column for each of the two."""
    table = by_rater(check_judgments(judgments))
    names = [str(name) for name in table.columns] if raters is None else [*raters]
    if len(names) != 2 or len({*names}) != 2 or not {*names} <= {*table.columns}:
        listed = ", ".join(repr(str(name)) for name in table.columns) or "none"
        raise BadInput(f"name two raters of the judgments as `raters`; they have {listed}")
    pairs = table[names].dropna()
    if pairs.empty:
        raise BadInput(f"{names[0]!r} and {names[1]!r} have no rated hit in common")
    return pairs


def by_rater(judgments: DataFrame) -> DataFrame:
    """Return a column of ratings for each rater, and a row for each rated hit."""
    rated = judgments[judgments["rating"].notna()]
    return rated.pivot(index=[*QUESTION, "objectID"], columns="rater", values="rating")


def _agreements(table: DataFrame) -> Iterator[tuple[str, str, float, int]]:
    values = table.to_numpy(dtype=np.float64)
    names = [str(name) or "(unnamed)" for name in table.columns]
    for first, second in itertools.combinations(range(len(names)), 2):
        pair = values[:, [first, second]]
        pair = pair[~np.isnan(pair).any(axis=1)]
        who = f"{names[first]}, {names[second]}"
        equal = float((pair[:, 0] == pair[:, 1]).mean()) if len(pair) else np.nan
        yield "equal ratings", who, equal, len(pair)
        yield "Cohen's kappa", who, cohen(pair, weighted=False), len(pair)
        yield "Cohen's kappa, squared weights", who, cohen(pair, weighted=True), len(pair)
    everyone = ", ".join(names)
    if len(names) > 2:
        whole = values[~np.isnan(values).any(axis=1)]
        yield "Fleiss' kappa", everyone, fleiss(whole), len(whole)
    twice = int(((~np.isnan(values)).sum(axis=1) > 1).sum())
    yield "Krippendorff's alpha", everyone, krippendorff(values), twice

"""The formulas of the metrics, vectorized over all answers.

Each takes the `Lists`, a cutoff or None and the options of its name, and returns a value for each
answer. The value is NaN where no relevant hit is known, because no value is correct there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from svc_notebook.tuning.evaluation.ranked_lists import Floats, Lists

Options = Mapping[str, float]
Formula = Callable[[Lists, int | None, Options], Floats]


def ndcg(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """Discounted cumulative gain, divided by that of the ideal order."""
    return _share(_discounted(lists.gain, cutoff), _discounted(lists.ideal, cutoff))


def ndcg_exp(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The same with gains that double from grade to grade."""
    return _share(
        _discounted(np.exp2(lists.gain) - 1, cutoff), _discounted(np.exp2(lists.ideal) - 1, cutoff)
    )


def precision(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The number of relevant hits among the first k, divided by k."""
    assert cutoff is not None
    relevant = _relevant(lists, cutoff, options).sum(axis=1) / cutoff
    return _where_known(relevant, lists, options["rel"])


def recall(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The share of all relevant records that are among the first hits."""
    found = _relevant(lists, cutoff, options).sum(axis=1).astype(np.float64)
    return _share(found, lists.count_relevant(options["rel"]))


def reciprocal_rank(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """One over the rank of the first relevant hit."""
    relevant = _relevant(lists, cutoff, options)
    values = (relevant / _ranks(relevant)).max(axis=1, initial=0.0)
    return _where_known(values, lists, options["rel"])


def average_precision(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The sum of the precisions at each relevant hit, divided by the number of relevant records."""
    relevant = _relevant(lists, cutoff, options)
    precisions = np.cumsum(relevant, axis=1) / _ranks(relevant)
    return _share((precisions * relevant).sum(axis=1), lists.count_relevant(options["rel"]))


def expected_reciprocal_rank(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The expected value of one over the rank at which a user who reads down is satisfied."""
    stops = (np.exp2(lists.gain[:, :cutoff]) - 1) / np.exp2(options["max"])
    continues = np.cumprod(1 - stops, axis=1)
    reaches = np.concatenate([np.ones((len(stops), 1)), continues[:, :-1]], axis=1)
    reaches = reaches[:, : stops.shape[1]]
    return _where_known((reaches * stops / _ranks(stops)).sum(axis=1), lists)


def rank_biased(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The gain at each rank, weighted by the share of users who reach it."""
    gains = lists.gain >= options["rel"] if "rel" in options else lists.gain / (options["max"] or 1)
    values = (gains * lists.hit * _readers(lists, options["p"])).sum(axis=1)
    return _where_known(values, lists, options.get("rel"))


def rank_biased_tail(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The maximum contribution of the ranks after the last hit; zero if the list is complete."""
    tail = options["p"] ** lists.hit.sum(axis=1)
    return np.where(lists.ended, 0.0, tail)


def judged(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The share of hits with a rating; NaN without hits."""
    rated = lists.rated[:, :cutoff].sum(axis=1).astype(np.float64)
    return _share(rated, lists.hit[:, :cutoff].sum(axis=1).astype(np.float64))


def discounted_value(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    """The sum of the gains, discounted by rank; an amount if the gains are money."""
    return _where_known(_discounted(lists.gain, cutoff), lists)


FORMULAS: dict[str, Formula] = {
    "ndcg": ndcg,
    "ndcg_exp": ndcg_exp,
    "p": precision,
    "r": recall,
    "rr": reciprocal_rank,
    "ap": average_precision,
    "err": expected_reciprocal_rank,
    "rbp": rank_biased,
    "judged": judged,
    "value": discounted_value,
}


def _share(part: Floats, whole: Floats) -> Floats:
    """Divide, NaN for division by zero; rounding and assumed gains never exceed 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.minimum(part / whole, 1.0), np.nan)


def _where_known(values: Floats, lists: Lists, min_gain: float | None = None) -> Floats:
    floor = np.nextafter(0, 1) if min_gain is None else min_gain
    return np.where(lists.count_relevant(floor) > 0, values, np.nan)


def _discounted(gains: Floats, cutoff: int | None) -> Floats:
    kept = gains[:, :cutoff]
    worth = kept / np.log2(np.arange(2, kept.shape[1] + 2))
    # Summed from the first rank on, so that trailing ranks without a gain cause no rounding.
    return np.cumsum(worth, axis=1)[:, -1] if kept.shape[1] else np.zeros(len(kept))


def _relevant(lists: Lists, cutoff: int | None, options: Options) -> Floats:
    return (lists.hit & (lists.gain >= options["rel"]))[:, :cutoff].astype(np.float64)


def _ranks(matrix: Floats) -> Floats:
    return np.arange(1, matrix.shape[1] + 1, dtype=np.float64)


def _readers(lists: Lists, p: float) -> Floats:
    return np.asarray((1 - p) * p ** np.arange(lists.hit.shape[1]))

"""Metrics: the grammar of their names, and their formulas, vectorized over all answers.

A formula takes the `Lists`, a cutoff or None and the options of its name, and returns a value for
each answer. The value is NaN where no relevant hit is known, because no value is correct there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.evaluation.ranked_lists import Floats, Lists

_NAME = re.compile(r"\s*([a-zA-Z_]+)\s*(?:\(([^()]*)\))?\s*(?:@\s*(\d+))?\s*")
DEFAULT_RBP_PERSISTENCE = 0.8
# Names in other tools; each is the mean of one of our metrics, or a synonym.
ALIASES = {
    "map": "ap", "mrr": "rr", "precision": "p", "recall": "r", "average_precision": "ap",
    "reciprocal_rank": "rr", "recip_rank": "rr", "map_cut": "ap", "ndcg_cut": "ndcg",
    "ndcg_linear": "ndcg", "exp_ndcg": "ndcg_exp",
}  # fmt: skip
# Names of other metrics, each with the most similar one of ours.
SIMILAR = {"dcg": "ndcg", "hole": "judged"}
# A name of trec_eval with its cutoff, such as `ndcg_cut_10`.
_TREC = re.compile(r"\s*(P|recall|map_cut|ndcg_cut)_(\d+)\s*")

Options = Mapping[str, float]
Formula = Callable[[Lists, int | None, Options], Floats]


@dataclass(frozen=True)
class Family:
    """The metrics of one name: formula, ordered options, whether `@k` is required, definition.

    With `doubling`, each grade is worth about twice the one below it. Options in `unset` have no
    value unless given.
    """

    formula: Formula
    options: tuple[str, ...]
    needs_cutoff: bool
    definition: str
    doubling: bool = False
    unset: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measure:
    """One requested metric."""

    family: str
    cutoff: int | None = None
    options: Mapping[str, float] = field(default_factory=dict, hash=False)

    @property
    def name(self) -> str:
        """Its canonical name in the grammar."""
        formats = {"p": "{:g}"}
        inner = ",".join(
            formats.get(name, f"{name}={{:g}}").format(value)
            for name, value in self.options.items()
        )
        text = f"{self.family}({inner})" if inner else self.family
        return text if self.cutoff is None else f"{text}@{self.cutoff}"


# The metric that is an amount, such as the expected margin of a search, and its column.
VALUE = "value"


def read_measures(names: str | Iterable[str]) -> list[Measure]:
    """Parse the names of metrics; raise `BadInput` for an invalid one."""
    given = [names] if isinstance(names, str) else list(names or ())
    if not given:
        raise BadInput("name at least one metric, such as ndcg@10")
    return list({measure.name: measure for measure in map(read_measure, given)}.values())


def read_measure(name: str) -> Measure:
    """Parse one name, such as `ndcg@10`, `rbp(0.8)` or `p(rel=2)@5`, or one of another tool."""
    if isinstance(name, str):
        name = _TREC.sub(r"\1@\2", name)
    parts = _NAME.fullmatch(name) if isinstance(name, str) else None
    if not parts:
        raise BadInput(f"a metric is written as ndcg@10, rbp(0.8) or p(rel=2)@5, not {name!r}")
    written, inner, cutoff = parts[1].lower(), parts[2], parts[3]
    label = ALIASES.get(written, written)
    family = _find_family(label)
    if cutoff == "0" or (family.needs_cutoff and cutoff is None):
        raise BadInput(f"`{label}` needs a cutoff of 1 or more, such as {label}@10")
    measure = Measure(label, int(cutoff) if cutoff else None, _read_options(name, family, inner))
    return _checked(measure)


def _find_family(name: str) -> Family:
    if family := FAMILIES.get(name):
        return family
    suggestion = f"; use `{SIMILAR[name]}`" if name in SIMILAR else did_you_mean(name, FAMILIES)
    suggestion = suggestion or f"; known are {', '.join(FAMILIES)}"
    raise BadInput(f"unknown metric `{name}`{suggestion}")


def _read_options(name: str, family: Family, inner: str | None) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in filter(None, (inner or "").replace(" ", "").split(",")):
        option, _, value = part.rpartition("=")
        option = option or next(iter(family.options), "")
        if option not in family.options:
            accepted = ", ".join(family.options) or "no options"
            raise BadInput(f"`{name}`: it takes {accepted}, not `{option or part}`")
        try:
            values[option] = float(value)
        except ValueError:
            raise BadInput(f"`{name}`: `{option}` is a number, not {value!r}") from None
    values = {"p": DEFAULT_RBP_PERSISTENCE, **values}
    return {option: values[option] for option in family.options if option in values}


def _checked(measure: Measure) -> Measure:
    options = measure.options
    if not 0 < options.get("p", 0.5) < 1:
        raise BadInput(f"`{measure.name}`: p is between 0 and 1, such as 0.8")
    if any(not 0 < options.get(name, 1) < float("inf") for name in ("rel", "max")):
        raise BadInput(f"`{measure.name}`: rel and max are more than 0")
    if measure.family == "rbp" and measure.cutoff is not None:
        raise BadInput("`rbp` evaluates all hits and reports a residual: omit the cutoff")
    return measure


def completed(measure: Measure, *, relevant: float, best: float) -> dict[str, float]:
    """Return a metric's options including defaults."""
    defaults = {"rel": relevant, "max": best, "p": DEFAULT_RBP_PERSISTENCE}
    family = FAMILIES[measure.family]
    preset = {name: defaults[name] for name in family.options if name not in family.unset}
    return {**preset, **measure.options}


def describe(measure: Measure, *, relevant: float, best: float) -> str:
    """Describe what a metric measures, with all its numbers."""
    options = completed(measure, relevant=relevant, best=best)
    binary = "rel" in options
    gain = f"1 from r = {options['rel']:g}" if binary else f"r / {options.get('max', best):g}"
    return FAMILIES[measure.family].definition.format(**options, gain=gain)


def deepest(metrics: str | Iterable[str], k: int | None = None) -> int:
    """Return how many hits the metrics need, at least 10; `k` if given."""
    return k or max([10, *(measure.cutoff or 0 for measure in read_measures(metrics))])


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
    relevant = _relevant(lists, cutoff, options).sum(axis=1).astype(np.float64)
    return _share(relevant, lists.count_relevant(options["rel"]))


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


FAMILIES: dict[str, Family] = {
    "ndcg": Family(ndcg, (), False, "gain r, discount log2(rank + 1), ideal cut at the same rank"),
    "ndcg_exp": Family(
        ndcg_exp,
        (),
        False,
        "gain 2^r - 1, discount log2(rank + 1), ideal cut at the same rank",
        True,
    ),
    "p": Family(precision, ("rel",), True, "relevant from r = {rel:g}, share of k"),
    "r": Family(recall, ("rel",), False, "relevant from r = {rel:g}, share of all relevant"),
    "rr": Family(
        reciprocal_rank, ("rel",), False, "relevant from r = {rel:g}, 1 / rank of the first"
    ),
    "ap": Family(
        average_precision,
        ("rel",),
        False,
        "relevant from r = {rel:g}, precision at each, over all relevant",
    ),
    "err": Family(
        expected_reciprocal_rank,
        ("max",),
        False,
        "satisfied by (2^r - 1) / 2^{max:g}, 1 / rank there",
        True,
    ),
    "rbp": Family(
        rank_biased,
        ("p", "rel", "max"),
        False,
        "persistence {p:g}, gain {gain}, no cut",
        unset=("rel",),
    ),
    "judged": Family(judged, (), False, "share of the hits that have a rating"),
    "value": Family(
        discounted_value, (), True, "rating times value, discount log2(rank + 1), summed"
    ),
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

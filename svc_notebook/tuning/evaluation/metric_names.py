"""Names of metrics: the grammar `name(option=value)@cutoff`, and the definition of each name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from svc_notebook.errors import BadInput, did_you_mean

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


@dataclass(frozen=True)
class Family:
    """The metrics of one name: ordered options, whether `@k` is required, and a definition.

    With `doubling`, each grade is worth about twice the one below it. Options in `unset` have no
    value unless given.
    """

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
        own = f"{self.family}({inner})" if inner else self.family
        return own if self.cutoff is None else f"{own}@{self.cutoff}"


FAMILIES: dict[str, Family] = {
    "ndcg": Family((), False, "gain r, discount log2(rank + 1), ideal cut at the same rank"),
    "ndcg_exp": Family(
        (), False, "gain 2^r - 1, discount log2(rank + 1), ideal cut at the same rank", True
    ),
    "p": Family(("rel",), True, "relevant from r = {rel:g}, share of k"),
    "r": Family(("rel",), False, "relevant from r = {rel:g}, share of all relevant"),
    "rr": Family(("rel",), False, "relevant from r = {rel:g}, 1 / rank of the first"),
    "ap": Family(
        ("rel",), False, "relevant from r = {rel:g}, precision at each, over all relevant"
    ),
    "err": Family(("max",), False, "satisfied by (2^r - 1) / 2^{max:g}, 1 / rank there", True),
    "rbp": Family(
        ("p", "rel", "max"), False, "persistence {p:g}, gain {gain}, no cut", unset=("rel",)
    ),
    "judged": Family((), False, "share of the hits that have a rating"),
    "value": Family((), True, "rating times value, discount log2(rank + 1), summed"),
}
# The metric that is an amount, such as the expected margin of a search, and its column.
VALUE = "value"


def read_measures(names: str | Iterable[str]) -> list[Measure]:
    """Parse the names of metrics; raise `BadInput` for an invalid one."""
    given = [names] if isinstance(names, str) else list(names or ())
    if not given:
        raise BadInput("name at least one metric, such as ndcg@10")
    found = {measure.name: measure for measure in map(read_measure, given)}
    return list(found.values())


def read_measure(name: str) -> Measure:
    """Parse one name, such as `ndcg@10`, `rbp(0.8)` or `p(rel=2)@5`, or one of another tool."""
    if isinstance(name, str):
        name = _TREC.sub(r"\1@\2", name)
    parts = _NAME.fullmatch(name) if isinstance(name, str) else None
    if not parts:
        raise BadInput(f"a metric is written as ndcg@10, rbp(0.8) or p(rel=2)@5, not {name!r}")
    own, inner, cutoff = parts[1].lower(), parts[2], parts[3]
    own = ALIASES.get(own, own)
    if own not in FAMILIES:
        suggestion = f"; use `{SIMILAR[own]}`" if own in SIMILAR else did_you_mean(own, FAMILIES)
        raise BadInput(f"unknown metric `{own}`{suggestion or f'; known are {_list_names()}'}")
    family = FAMILIES[own]
    if cutoff == "0" or (family.needs_cutoff and cutoff is None):
        raise BadInput(f"`{own}` needs a cutoff of 1 or more, such as {own}@10")
    measure = Measure(own, int(cutoff) if cutoff else None, _read_options(name, family, inner))
    return _checked(measure)


def _list_names() -> str:
    return ", ".join(FAMILIES)


def _read_options(name: str, family: Family, inner: str | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in filter(None, (inner or "").replace(" ", "").split(",")):
        option, _, value = part.rpartition("=")
        option = option or next(iter(family.options), "")
        if option not in family.options:
            known = ", ".join(family.options) or "no options"
            raise BadInput(f"`{name}`: it takes {known}, not `{option or part}`")
        try:
            found[option] = float(value)
        except ValueError:
            raise BadInput(f"`{name}`: `{option}` is a number, not {value!r}") from None
    if "p" in family.options:
        found = {"p": DEFAULT_RBP_PERSISTENCE, **found}
    return {option: found[option] for option in family.options if option in found}


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
    own = {name: defaults[name] for name in family.options if name not in family.unset}
    return {**own, **measure.options}


def describe(measure: Measure, *, relevant: float, best: float) -> str:
    """Describe what a metric measures, with all its numbers."""
    options = completed(measure, relevant=relevant, best=best)
    binary = "rel" in options
    gain = f"1 from r = {options['rel']:g}" if binary else f"r / {options.get('max', best):g}"
    return FAMILIES[measure.family].definition.format(**options, gain=gain)


def deepest(metrics: str | Iterable[str], k: int | None = None) -> int:
    """Return how many hits the metrics need, at least 10; `k` if given."""
    return k or max([10, *(measure.cutoff or 0 for measure in read_measures(metrics))])

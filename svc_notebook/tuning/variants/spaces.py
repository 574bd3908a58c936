"""The search space of variants, and the samplers that choose which of them are tried, in an order.

A variant has values for settings, synonyms and rules. Each sampler is a generator of trials; the
caller sends it the result of the last trial. The next trial depends on these results alone, so that
an interrupted search can be replayed.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from svc_notebook.core.api.parameters import PARAMETERS
from svc_notebook.core.display import shorten, text_of
from svc_notebook.errors import BadInput, did_you_mean
from svc_notebook.tuning.changes.request_part import BY_QUERY, belongs_to_request, check_request
from svc_notebook.tuning.changes.state import IGNORED_SETTINGS, KINDS, Objects, Scope
from svc_notebook.tuning.evaluation.runs import FIXED
from svc_notebook.tuning.proposed_changes.change_spec import read_proposal

MAX_VALUE_CHARACTERS = 60


@dataclass(frozen=True)
class Variant:
    """One variant: a value for each changed name."""

    choices: Mapping[str, Any]

    @cached_property
    def key(self) -> str:
        """Return its identity."""
        return msgspec.json.encode(dict(self.choices), order="sorted").decode()

    @property
    def parts(self) -> dict[Scope, Objects]:
        """Return its changes of the index, by scope and name."""
        settings = {
            name: value
            for name, value in self.choices.items()
            if name not in KINDS and not belongs_to_request(name, value)
        }
        given: dict[str, Any] = {
            name: value for name, value in self.choices.items() if name in KINDS and value
        }
        if settings:
            given["settings"] = settings
        return read_proposal(given) if given else {}

    @property
    def request(self) -> dict[str, Any]:
        """Return its parameters of each search, which no index can save."""
        return {
            name: value
            for name, value in self.choices.items()
            if value is not None and name not in KINDS and belongs_to_request(name, value)
        }

    def __str__(self) -> str:
        described = [f"{name}={_short(value)}" for name, value in self.choices.items()]
        return ", ".join(described) or "current settings"


def _short(value: Any) -> str:
    return (
        "default" if value is None else shorten(text_of(value, compact=True), MAX_VALUE_CHARACTERS)
    )


AS_IT_IS = Variant({})


class Space:
    """The values of each name; `None` is a setting's default.

    Names that need a copy of the index change slowest, so that the copy is rarely reconfigured;
    `names` are in the given order. `starts` are variants from which a sampler may begin.
    """

    def __init__(self, given: Mapping[str, Sequence[Any]], starts: Iterable[Variant] = ()) -> None:
        if not isinstance(given, Mapping) or not given:
            raise BadInput('a space is a dict of values: {"ignorePlurals": [False, True]}')
        for name, values in given.items():
            _check(name, values)
        self.names = list(given)
        apart = {start.key: start for start in starts if start.choices}
        self.starts = [*apart.values()]
        names = sorted(given, key=lambda name: not _wants_copy(name))
        self.values: dict[str, list[Any]] = {name: list(given[name]) for name in names}

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.values.values())

    def __iter__(self) -> Iterator[Variant]:
        for values in itertools.product(*self.values.values()):
            yield Variant(dict(zip(self.values, values, strict=True)))

    def draw(self, count: int, seed: int) -> list[Variant]:
        """Draw distinct variants randomly, in order; all if there are not more."""
        if count >= len(self):
            return list(self)
        chosen = random.Random(seed).sample(range(len(self)), count)
        return [self[number] for number in sorted(chosen)]

    def __getitem__(self, number: int) -> Variant:
        choices: dict[str, Any] = {}
        for name in reversed(self.values):
            number, choice = divmod(number, len(self.values[name]))
            choices[name] = self.values[name][choice]
        return Variant({name: choices[name] for name in self.values})


def _wants_copy(name: str) -> bool:
    if name in KINDS:
        return True
    return name != BY_QUERY and PARAMETERS[name].scope == "setting" and name != "customRanking"


def _check(name: str, values: Any) -> None:
    """Reject values that cannot be tried, before any trial."""
    if name in (*IGNORED_SETTINGS, *FIXED):
        raise BadInput(f"`{name}` does not affect the ranking")
    if isinstance(values, str | bytes) or not isinstance(values, Sequence) or not values:
        raise BadInput(f"`{name}`: give a list of values to try, such as [False, True]")
    if name in KINDS:
        for value in values:
            if value:
                read_proposal({f"{name}": value})
        return
    for value in values:
        if belongs_to_request(name, value):
            check_request({name: value})
        else:
            read_proposal({"settings": {name: value}})


DEFAULT_TRIALS = 30
MIN_GAIN = 1e-12
# Standard errors of the difference that the coordinate sampler takes as a gain. Of dozens of
# changes some gain a little on the tune queries by chance, of few queries more.
MIN_GAIN_ERRORS, MIN_GAIN_ERRORS_OF_FEW = 1.0, 2.0
# From this number of tune queries on, one standard error is enough.
MANY_QUERIES = 50


class Result(msgspec.Struct, frozen=True):
    """One trial: the score of each query, None without a score."""

    variant: dict[str, Any]
    values: list[float | None]
    judged: float | None
    zero: int

    @property
    def mean(self) -> float:
        """The mean of the existing scores; without any, a value below every score."""
        scored = [value for value in self.values if value is not None]
        return float(np.mean(scored)) if scored else -1.0


class Trial(NamedTuple):
    """A variant, and the number of (first) queries on which it is tried."""

    variant: Variant
    queries: int


Sampler = Generator[Trial, Result, None]


class TrialPlan(NamedTuple):
    """The plan of a search: the maximum number of searches, and the number of variants."""

    sampler: str
    variants: int
    space: int
    tune: int
    holdout: int
    budget: int

    def __repr__(self) -> str:
        return (
            f"{self.sampler} search over {self.variants:,} of {self.space:,} variants: "
            f"at most {self.budget:,} searches on {self.tune:,} queries, then the best on "
            f"{self.holdout:,} held-out queries"
        )


def budget_of(name: str, space: Space, tune: int, budget: int | None) -> int:
    """Return the maximum number of searches, including the trial of the current index."""
    if name not in SAMPLERS:
        listed = ", ".join(SAMPLERS)
        raise BadInput(
            f"`sampler` must be {listed}, not {name!r}{did_you_mean(str(name), SAMPLERS)}"
        )
    full_budget = (len(space) + 1) * tune
    if budget is None:
        return full_budget if name == "grid" else min(full_budget, (DEFAULT_TRIALS + 1) * tune)
    if name == "grid" and budget < full_budget:
        raise BadInput(
            f"the whole grid takes {full_budget:,} searches: {len(space):,} variants and the "
            f"current settings, on {tune:,} queries each; raise the budget, or use another sampler"
        )
    if budget < 2 * tune:
        raise BadInput(
            f"a budget is {2 * tune:,} searches or more: two variants on {tune:,} queries each"
        )
    return budget


def count_variants(name: str, space: Space, tune: int, budget: int) -> int:
    """Return how many variants fit a budget, besides the current index."""
    left = budget - tune
    if name != "halving":
        return min(len(space), left // tune)
    count = min(len(space), left)
    while count > 1 and sum(n * size for n, size in rungs(count, tune)) > left:
        count -= max(1, count // 50)
    return count


def grid(space: Space, tune: int, budget: int, seed: int) -> Sampler:
    """Try every variant."""
    for variant in space:
        yield Trial(variant, tune)


def draw(space: Space, tune: int, budget: int, seed: int) -> Sampler:
    """Try randomly drawn variants, as many as the budget allows."""
    for variant in space.draw(count_variants("random", space, tune, budget), seed):
        yield Trial(variant, tune)


def halve(space: Space, tune: int, budget: int, seed: int) -> Sampler:
    """Try many on a few queries, the better half on twice as many, until one is tried on all."""
    count = count_variants("halving", space, tune, budget)
    left = list(enumerate(space.draw(count, seed)))
    for number, size in rungs(count, tune):
        scores: dict[int, float] = {}
        for number_of_variant, variant in left[:number]:
            scores[number_of_variant] = (yield Trial(variant, size)).mean
        best = sorted(left, key=lambda numbered: -scores.get(numbered[0], -math.inf))
        left = sorted(best[: max(1, number // 2)], key=lambda numbered: numbered[0])


def rungs(count: int, tune: int) -> list[tuple[int, int]]:
    """Return the number of variants and of queries of each rung of successive halving."""
    steps = max(1, math.ceil(math.log2(max(count, 1))))
    sizes = [max(1, min(tune, math.ceil(tune / 2 ** (steps - 1 - step)))) for step in range(steps)]
    numbers = [max(1, count // 2**step) for step in range(steps)]
    return list(zip(numbers, sizes, strict=True))


def descend(space: Space, tune: int, budget: int, seed: int) -> Sampler:
    """Change one name at a time and keep improvements, until there are none or the budget ends.

    Names are changed in the given order, in which a diagnosis has those of the largest gain first.
    The starts of the space are tried first: several values may help only together.
    """
    best = yield Trial(AS_IT_IS, tune)
    current = AS_IT_IS
    tried_keys, left = {AS_IT_IS.key}, budget // tune - 1
    for start in space.starts[:left]:
        left -= 1
        tried_keys.add(start.key)
        result = yield Trial(start, tune)
        if is_gain(best, result):
            current, best = start, result
    moved = True
    while moved:
        moved = False
        for name in space.names:
            for value in space.values[name]:
                tried = Variant({**current.choices, name: value})
                if tried.key in tried_keys:
                    continue
                if left < 1:
                    return
                left -= 1
                tried_keys.add(tried.key)
                result = yield Trial(tried, tune)
                if is_gain(best, result):
                    current, best, moved = tried, result, True


def is_gain(before: Result, after: Result) -> bool:
    """Return whether the mean rises by more than one standard error of the difference.

    Two standard errors are necessary if there are fewer than `MANY_QUERIES` queries.
    """
    differences = [
        new - old
        for old, new in zip(before.values, after.values, strict=True)
        if old is not None and new is not None
    ]
    if len(differences) < 2:
        return after.mean > before.mean + MIN_GAIN
    error = float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    errors = MIN_GAIN_ERRORS if len(differences) >= MANY_QUERIES else MIN_GAIN_ERRORS_OF_FEW
    return after.mean - before.mean > max(MIN_GAIN, errors * error)


def find_accepted(results: Iterable[Result]) -> list[Result]:
    """Return the results that the coordinate sampler kept, the last first."""
    kept: list[Result] = []
    for result in results:
        if not kept or is_gain(kept[0], result):
            kept.insert(0, result)
    return kept


SAMPLERS: dict[str, Callable[[Space, int, int, int], Sampler]] = {
    "grid": grid,
    "random": draw,
    "halving": halve,
    "coordinate": descend,
}

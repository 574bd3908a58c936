"""Trials of the values of levers, each alone, on top of a variant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.errors import CallFailed
from svc_notebook.tuning.diagnosis.levers import Lever
from svc_notebook.tuning.diagnosis.observation import Observation
from svc_notebook.tuning.diagnosis.plan import SearchBudget
from svc_notebook.tuning.statistics import t_interval
from svc_notebook.tuning.tables.tables import QUESTION
from svc_notebook.tuning.variants.spaces import Variant
from svc_notebook.tuning.variants.trials import TrialIndex, score

NO_EFFECT = "changes no hit of these queries on this service"
UNTRIED = "not tried: the budget of searches is used up"
HARMFUL = "lowers the score alone, with its whole interval"


@dataclass(frozen=True)
class Gain:
    """The mean difference of one value alone, and the number of queries whose score changes."""

    mean: float
    low: float
    high: float
    touched: int


@dataclass(frozen=True)
class TriedValue:
    """A value of a lever, with its gain, or the reason why it has none."""

    lever: Lever
    value: Any
    gain: Gain | None = None
    failure: str = ""

    @property
    def choices(self) -> dict[str, Any]:
        """The values of parameters, with those without which the value has no effect."""
        return {**self.lever.together, self.lever.name: self.value}

    @property
    def reason(self) -> str:
        """Why the value is not proposed; empty if it does no harm."""
        return HARMFUL if self.gain and self.gain.high < 0 else self.failure


@dataclass
class ValueTrials:
    """The trials of values, each alone, on top of the variant `base`."""

    seen: Observation
    tried: TrialIndex
    metric: str
    seed: int
    base: Variant
    budget: SearchBudget
    before: Any = field(default_factory=lambda: np.array([]))

    async def run(self, levers: Sequence[Lever], on_tried: Any) -> list[TriedValue]:
        """Try every value; one that the service refuses has the error as its failure."""
        size = len(self.seen.queries)
        self.budget.take(size)
        base = await self.tried.run(self.base, self.seen.queries)
        self.before = self._values(base)
        shown = _ranked(base)
        on_tried()
        tried = []
        for lever in levers:
            for value in lever.values:
                if not self.budget.take(size):
                    tried.append(TriedValue(lever, value, failure=UNTRIED))
                    continue
                tried.append(await self._try(lever, value, shown))
                on_tried()
        return tried

    async def _try(self, lever: Lever, value: Any, shown: list[tuple[Any, ...]]) -> TriedValue:
        choices = {**self.base.choices, **lever.together, lever.name: value}
        try:
            hits = await self.tried.run(Variant(choices), self.seen.queries)
        except CallFailed as error:
            return TriedValue(lever, value, failure=str(error))
        if _ranked(hits) == shown:
            return TriedValue(lever, value, failure=NO_EFFECT)
        return TriedValue(lever, value, self._gain(hits))

    def _values(self, hits: DataFrame) -> Any:
        values, _, _ = score(hits, self.seen.queries, self.seen.judged, self.metric, {})
        return np.array(values, dtype=np.float64)

    def _gain(self, hits: DataFrame) -> Gain:
        deltas = self._values(hits) - self.before
        mean, low, high = t_interval(deltas)
        return Gain(mean, low, high, int((np.nan_to_num(deltas) != 0).sum()))


def _ranked(hits: DataFrame) -> list[tuple[Any, ...]]:
    columns = hits[[*QUESTION, "objectID"]].astype(object)
    return list(columns.where(columns.notna(), None).itertuples(index=False, name=None))

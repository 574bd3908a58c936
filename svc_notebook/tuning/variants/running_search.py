"""A running search over variants: trials, the choice among them, and what they prove."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.tuning.changes.snapshots import Snapshot
from svc_notebook.tuning.diagnosis.result import RelevanceDiagnosis
from svc_notebook.tuning.evaluation.comparison import Comparison, compare
from svc_notebook.tuning.statistics import Floats
from svc_notebook.tuning.tables.tables import (
    QUESTION,
)
from svc_notebook.tuning.variants.query_parts import (
    MAX_GUARDED_VARIANTS,
    GuardLoss,
    find_losses,
)
from svc_notebook.tuning.variants.result import Evidence, Search, weigh
from svc_notebook.tuning.variants.spaces import (
    AS_IT_IS,
    SAMPLERS,
    Result,
    Space,
    Trial,
    TrialPlan,
    Variant,
    find_accepted,
)
from svc_notebook.tuning.variants.trials import Notes, TrialIndex, score

OnProgress = Callable[[int, int], None]


@dataclass(frozen=True)
class VariantSearch:
    """A validated search before it begins."""

    space: Space
    plan: TrialPlan
    metric: str
    tune: DataFrame
    held: DataFrame
    judgments: DataFrame
    seed: int
    sampler_budget: int

    @property
    def text_score(self) -> Variant | None:
        """Return the variant that ranks by the text score alone, if the space was diagnosed."""
        return next(iter(self.space.starts), None)

    @property
    def facts(self) -> list[Any]:
        """Return what identifies a search."""
        tables = [
            self.tune[QUESTION].to_json(), self.held[QUESTION].to_json(),
            self.judgments[[*QUESTION, "objectID", "rating"]].to_json(),
        ]  # fmt: skip
        starts = [start.key for start in self.space.starts]
        return [*tables, self.space.values, starts, [*self.plan], self.metric, self.seed]


class RunningSearch:
    """A running search."""

    def __init__(
        self,
        job: VariantSearch,
        tried: TrialIndex,
        notes: Notes,
        on_progress: OnProgress | None,
        options: Any,
    ) -> None:
        self.job = job
        self.field = tried
        self.notes = notes
        self.on_progress = on_progress or (lambda done, total: None)
        self.options = options
        self.results: dict[tuple[str, int], Result] = {}
        self.selected: list[Variant] | None = None
        self.losses: list[GuardLoss] = []
        self.searches = 0

    async def tune(self) -> None:
        """Try the variants of the sampler."""
        size = len(self.job.tune)
        await self.try_out(Trial(AS_IT_IS, size))
        if self.job.text_score:
            await self.try_out(Trial(self.job.text_score, size))
        sampler = SAMPLERS[self.job.plan.sampler](
            self.job.space, size, self.job.sampler_budget, self.job.seed
        )
        trial = next(sampler, None)
        while trial is not None:
            result = await self.try_out(trial)
            try:
                trial = sampler.send(result)
            except StopIteration:
                return

    async def try_out(self, trial: Trial) -> Result:
        """Try a variant unless its score is known; write the score at once."""
        position = (trial.variant.key, trial.queries)
        if position not in self.results:
            key = f"{trial.queries} {trial.variant.key}"
            if key not in self.notes.done:
                self.notes.keep(key, await self._measure(trial))
            self.results[position] = self.notes.done[key]
            self.searches += trial.queries
            self.on_progress(min(self.searches, self.job.plan.budget), self.job.plan.budget)
        return self.results[position]

    async def _measure(self, trial: Trial) -> Result:
        queries = self.job.tune.head(trial.queries)
        hits = await self.field.run(trial.variant, queries)
        values = score(hits, queries, self.job.judgments, self.job.metric, self.options)
        return Result(dict(trial.variant.choices), *values)

    def trace(self) -> DataFrame:
        """Return every trial as a row."""
        base = self.results.get((AS_IT_IS.key, len(self.job.tune)))
        rows, so_far = [], -1.0
        for number, ((_, size), result) in enumerate(self.results.items()):
            baseline = Result({}, base.values[:size], None, 0).mean if base else None
            whole = size == len(self.job.tune)
            better = whole and result.mean > so_far
            so_far = max(so_far, result.mean) if whole else so_far
            rows.append({
                "trial": number, "variant": str(Variant(result.variant)),
                **{name: result.variant.get(name) for name in self.job.space.values},
                "queries": size, "score": result.mean,
                "delta": result.mean - baseline if baseline is not None else None,
                "judged": result.judged, "zero": result.zero, "best": better,
            })  # fmt: skip
        return DataFrame(rows)

    def finalists(self, count: int) -> list[Variant]:
        """Return the best variants on all tune queries that beat the current index.

        Those that the coordinate sampler kept come before others whose gain may be chance.
        """
        size = len(self.job.tune)
        base = self.results.get((AS_IT_IS.key, size))
        whole = [result for (_, n), result in self.results.items() if n == size]
        better = [result for result in whole if base and result.mean > base.mean]
        kept = find_accepted(whole) if self.job.plan.sampler == "coordinate" else []
        places = {id(result): number for number, result in enumerate(kept)}
        ordered = sorted(
            better, key=lambda result: (places.get(id(result), len(kept)), -result.mean)
        )
        apart = {
            tuple(result.values): result for result in reversed(ordered)
        }  # of equal ones the first
        best = sorted(apart.values(), key=ordered.index)
        return [Variant(result.variant) for result in best[: max(1, count)]]

    async def select(self, count: int, guarded: DataFrame | None) -> list[Variant]:
        """Return the finalists, without those that lower the score of a guarded query."""
        if guarded is None:
            self.selected = self.finalists(count)
            return self.selected
        passing: list[Variant] = []
        candidates = self.finalists(MAX_GUARDED_VARIANTS)
        before = await self._score_guarded(AS_IT_IS, guarded) if candidates else []
        for variant in candidates:
            losses = find_losses(
                variant, guarded, before, await self._score_guarded(variant, guarded)
            )
            self.losses += losses
            passing += [] if losses else [variant]
            if len(passing) == max(1, count):
                break
        self.selected = passing
        return passing

    async def _score_guarded(self, variant: Variant, guarded: DataFrame) -> list[float | None]:
        guarded_run = await self.field.run(variant, guarded)
        values, _, _ = score(
            guarded_run, guarded, self.job.judgments, self.job.metric, self.options
        )
        return values

    def compared(self, finalists: Sequence[Variant]) -> list[Variant]:
        """Return the finalists and, if it was tried, the text score alone."""
        text = self.job.text_score
        if text is None or self._differences(text) is None:
            return [*finalists]
        results = {finalist.key: self._values(finalist) for finalist in finalists}
        return [*finalists, *([] if self._values(text) in results.values() else [text])]

    def weigh(self, finalist: Variant) -> Evidence | None:
        """Return the evidence for a finalist among all trials."""
        differences = self._differences(finalist)
        if differences is None:
            return None
        job = self.job
        tried = [
            measured
            for measured in map(self._differences_of, self.results.items())
            if measured is not None
        ]
        queries = job.judgments[QUESTION].drop_duplicates()
        return weigh(
            differences, tried, tune_share=len(job.tune) / (len(job.tune) + len(job.held)),
            per_query=len(job.judgments) / max(1, len(queries)), seed=job.seed,
        )  # fmt: skip

    def _values(self, variant: Variant) -> list[float | None]:
        return self.results[variant.key, len(self.job.tune)].values

    def _differences(self, variant: Variant) -> Floats | None:
        key = variant.key, len(self.job.tune)
        result = self.results.get(key)
        return None if result is None else self._differences_of((key, result))

    def _differences_of(self, trial: tuple[tuple[str, int], Result]) -> Floats | None:
        """Return the difference of each tune query, NaN where it was not tried."""
        (key, size), result = trial
        base = self.results.get((AS_IT_IS.key, len(self.job.tune)))
        if base is None or key == AS_IT_IS.key:
            return None
        differences = np.full(len(self.job.tune), np.nan)
        values = np.array([result.values, base.values[:size]], dtype=np.float64)
        differences[:size] = values[0] - values[1]
        return differences

    def found(
        self,
        index: str,
        before: Snapshot,
        holdout: Comparison | None,
        best: int,
        diagnosis: RelevanceDiagnosis | None,
    ) -> Search:
        """Return the result so far."""
        finalists = tuple(self.finalists(best) if self.selected is None else self.selected)
        weighed = [evidence for evidence in map(self.weigh, finalists) if evidence]
        return Search(
            index, self.job.metric, self.job.plan, self.trace(), holdout, finalists, before,
            diagnosis, tuple(self.compared(finalists)), tuple(weighed), tuple(self.losses),
        )  # fmt: skip

    async def hold_out(self, finalists: Iterable[Variant]) -> Comparison:
        """Compare the finalists with the current index on the held-out queries."""
        base = await self.field.run(AS_IT_IS, self.job.held)
        runs = [await self.field.run(finalist, self.job.held) for finalist in finalists]
        options = {**self.options, "seed": self.job.seed}
        return compare(base, runs, self.job.judgments, self.job.metric, **options)

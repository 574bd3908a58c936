"""A search over variants: selected on one part of the queries, evaluated on the held-out part."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.data.client import AsyncClient
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, Stopped
from svc_notebook.tuning.changes.snapshots import Snapshot, snapshot
from svc_notebook.tuning.diagnosis.diagnosis import diagnose
from svc_notebook.tuning.diagnosis.result import RelevanceDiagnosis
from svc_notebook.tuning.evaluation.comparison import Comparison, compare
from svc_notebook.tuning.evaluation.metrics import read_measures
from svc_notebook.tuning.search_budget import check_budget, require_budget
from svc_notebook.tuning.statistics import Floats, check_seed
from svc_notebook.tuning.tables.tables import (
    QUESTION,
    Queries,
    Table,
    check_judgments,
    check_queries,
)
from svc_notebook.tuning.variants.evidence import Evidence, weigh
from svc_notebook.tuning.variants.guard import (
    MAX_GUARDED_VARIANTS,
    GuardLoss,
    check_guard,
    find_losses,
)
from svc_notebook.tuning.variants.query_parts import part_queries
from svc_notebook.tuning.variants.result import Search
from svc_notebook.tuning.variants.samplers import (
    SAMPLERS,
    Trial,
    TrialPlan,
    budget_of,
    count_variants,
    find_accepted,
)
from svc_notebook.tuning.variants.spaces import AS_IT_IS, Space, Variant
from svc_notebook.tuning.variants.trials import Notes, Result, TrialIndex, score

OnProgress = Callable[[int, int], None]
# Rounds over a diagnosed space in the default budget; the coordinate sampler repeats them.
DIAGNOSED_ROUNDS = 3
DIAGNOSED_STARTS = 2  # the text score alone, and the best change of the diagnosis


@public(bar="searches")
async def search(
    index: str,
    space: Mapping[str, Sequence[Any]] | None = None,
    queries: Queries | None = None,
    judgments: Table | None = None,
    sampler: str | None = None,
    *,
    metric: str = "ndcg@10",
    budget: int | None = None,
    holdout: float = 0.3,
    best: int = 3,
    k: int = 10,
    seed: int = 0,
    guard: Queries | None = None,
    notes: str | Path | None = None,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> Search:
    """Search a space of variants for better settings or parameters; nothing is saved.

    Variants are selected on the queries of one part alone: those marked `tune` in the column
    `split`, else all except the share `holdout`. The best are then compared with the index on
    the held-out queries. Search parameters are tried directly, other settings on one temporary
    copy of the index. A change is proposed only if its gain on the tune queries is hardly
    chance: among all variants that were tried, one gains as much by chance with a probability
    of at most 5 %. Without `space`, the text score alone is always tried and compared.

    Parameters
    ----------
    space : dict of lists, default the space that `diagnose` proposes
        Values to try by name of a setting, a search parameter, or `synonyms` and `rules`, such
        as `{"ignorePlurals": [False, ["en"]]}`. `optionalWords` and `similarQuery` can be
        filled from each query: `{"words": "all"}`, `{"words": "all but rarest"}` and
        `{"words": "rare", "records": 5}`, the words in fewer than 5 records. `params` takes
        dicts of query texts and their parameters.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for.
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them; required.
    sampler : {'grid', 'random', 'halving', 'coordinate'}, default None
        Order in which variants are tried; None is `grid`, and `coordinate` without `space`.
        `coordinate` keeps a change that gains more than one standard error of the difference,
        and more than two if there are fewer than 50 tune queries.
    metric : str, default 'ndcg@10'
        Metric that selects variants.
    budget : int, default None
        Maximum number of searches; None selects it by the sampler. Without `space`, the diagnosis
        takes up to half of it. Of a hosted service, more than 2,000 searches need a budget.
    holdout : float, default 0.3
        Share of the queries to hold out.
    best : int, default 3
        Number of variants that are compared on the held-out queries.
    seed : int, default 0
        Seed of the random numbers.
    guard : str, list, DataFrame or path, default None
        Judged queries whose score must not fall, such as the most frequent ones. A variant that
        lowers the score of one is refused, and the query is named. Up to 12 variants are tried
        with these queries, besides the budget.
    notes : path, default None
        File that stores finished trials, from which the same call resumes.
    **options
        Options of `evaluate`.

    Returns
    -------
    Search
        The trials, the best variants and their comparison on the held-out queries.

    Raises
    ------
    BadInput
        If judgments are missing, a query of `guard` has none, there are too few queries, an option
        is not valid, nothing is proposed for the space, or a hosted service would make more than
        2,000 searches without a budget.
    NotFound
    Stopped
        If the search is cancelled; its `result` is the `Search` so far.

    Examples
    --------
    >>> space = {"customRanking": [["desc(reviews)"], ["asc(price)"]]}
    >>> found = svc.tuning.search("products", space, judgments="judgments.csv")
    >>> found.best
    {'customRanking': ['desc(reviews)']}
    """
    if judgments is None:
        raise BadInput("a search needs judgments to compare variants")
    diagnosis, given_budget = None, budget
    if space is None:
        client = asynchronous(client)
        diagnosis, sampler, budget = await _diagnose(
            client,
            index,
            queries,
            judgments,
            sampler,
            metric,
            budget,
            holdout,
            k,
            seed,
            on_progress,
        )
        space = diagnosis.space
    starts = [Variant(diagnosis.text_score), Variant(diagnosis.start)] if diagnosis else []
    job = _prepare(
        space, queries, judgments, sampler or "grid", metric, budget, holdout, seed, starts
    )
    guarded = None if guard is None else check_guard(guard, job.judgments)
    client = asynchronous(client)
    require_budget(client, given_budget, job.plan.budget, "a search over variants")
    before = await snapshot(index, client=client)
    earlier_trials = Notes.open(
        notes, [*job.facts, index, before.hash, k, sorted(map(repr, options.items()))]
    )
    async with TrialIndex(client, index, before.state, k=k) as tried:
        work = _RunningSearch(job, tried, earlier_trials, on_progress, options)
        try:
            await work.tune()
            finalists = await work.select(best, guarded)
            compared = await work.hold_out(work.compared(finalists)) if finalists else None
        except asyncio.CancelledError:
            raise _stopped(work.found(index, before, None, best, diagnosis), notes) from None
    return work.found(index, before, compared, best, diagnosis)


async def _diagnose(
    client: AsyncClient, index: str, queries: Any, judgments: Any, sampler: str | None,
    metric: str, budget: int | None, holdout: float, k: int, seed: int,
    on_progress: OnProgress | None,
) -> tuple[RelevanceDiagnosis, str, int | None]:  # fmt: skip
    """Diagnose the tune queries, and select the sampler and the budget for the proposed space."""
    half = None if budget is None else check_budget(budget) // 2
    diagnosis: RelevanceDiagnosis = await diagnose(
        index, judgments, queries, metric=metric, holdout=holdout, k=k, seed=seed, budget=half,
        client=client, on_progress=on_progress,
    )  # fmt: skip
    if budget is not None:
        budget -= diagnosis.searches
    if not diagnosis.space:
        raise BadInput(
            "the diagnosis proposes no parameter for these queries; give a `space`, such as "
            '{"ignorePlurals": [False, ["en"]]}'
        )
    chosen = sampler or "coordinate"
    if budget is None and chosen == "coordinate":
        values = sum(map(len, diagnosis.space.values()))
        budget = (1 + DIAGNOSED_STARTS + DIAGNOSED_ROUNDS * values) * diagnosis.queries
    return diagnosis, chosen, budget


def _stopped(search: Search, notes: str | Path | None) -> Stopped:
    advice = (
        f"the same call resumes from {notes}"
        if notes
        else "pass `notes` to make a search resumable"
    )
    return Stopped(f"stopped after {len(search.trace)} trials; {advice}", result=search)


def plan_search(
    space: Mapping[str, Sequence[Any]],
    queries: Queries | None = None,
    judgments: Table | None = None,
    sampler: str = "grid",
    *,
    budget: int | None = None,
    holdout: float = 0.3,
    seed: int = 0,
) -> TrialPlan:
    """Return the plan of a search over variants; nothing is sent.

    Parameters
    ----------
    space : dict of lists
        Values to try by name of a setting, or `synonyms` and `rules`.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for.
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them; required.
    sampler : {'grid', 'random', 'halving', 'coordinate'}, default 'grid'
        Order in which variants are tried.
    budget : int, default None
        Maximum number of searches; None selects it by the sampler.
    holdout : float, default 0.3
        Share of the queries to hold out.
    seed : int, default 0
        Seed of the random numbers.

    Returns
    -------
    TrialPlan
        `sampler` and the numbers `variants` (tried), `space` (all variants), `tune` and
        `holdout` (queries) and `budget` (searches).

    Raises
    ------
    BadInput
        If judgments are missing, there are too few queries, or an option is not valid.

    Examples
    --------
    >>> space = {"customRanking": [["desc(reviews)"], ["asc(price)"]]}
    >>> svc.tuning.plan_search(space, judgments="judgments.csv").variants
    2
    """
    return _prepare(space, queries, judgments, sampler, "ndcg@10", budget, holdout, seed).plan


@dataclass(frozen=True)
class _VariantSearch:
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


def _prepare(
    space: Mapping[str, Sequence[Any]], queries: Any, judgments: Any, sampler: str, metric: str,
    budget: int | None, holdout: float, seed: int, starts: Sequence[Variant] = (),
) -> _VariantSearch:  # fmt: skip
    if judgments is None:
        raise BadInput("a search needs judgments to compare variants")
    measures = read_measures(metric)
    if len(measures) != 1:
        raise BadInput("a search needs exactly one metric")
    judged = check_judgments(judgments)
    table = check_queries(judged if queries is None else queries)
    tune, held = part_queries(table, holdout, check_seed(seed))
    sampled = Space(space, starts)
    # The coordinate sampler counts the text score itself.
    reserved = len(sampled.starts[:1]) * len(tune) if sampler != "coordinate" else 0
    allowed = budget_of(sampler, sampled, len(tune), None if budget is None else budget - reserved)
    variants = count_variants(sampler, sampled, len(tune), allowed)
    plan = TrialPlan(sampler, variants, len(sampled), len(tune), len(held), allowed + reserved)
    return _VariantSearch(sampled, plan, metric, tune, held, judged, seed, allowed)


class _RunningSearch:
    """A running search."""

    def __init__(
        self,
        job: _VariantSearch,
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

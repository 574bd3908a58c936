"""A search over variants: selected on one part of the queries, evaluated on the held-out part."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from svc_notebook.data.client import AsyncClient
from svc_notebook.data.declarations import described, public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, Stopped
from svc_notebook.tuning.changes.snapshots import snapshot
from svc_notebook.tuning.diagnosis.diagnosis import diagnose
from svc_notebook.tuning.diagnosis.result import RelevanceDiagnosis
from svc_notebook.tuning.evaluation.metrics import read_measures
from svc_notebook.tuning.evaluation.runs import check_budget, require_budget
from svc_notebook.tuning.statistics import check_seed
from svc_notebook.tuning.tables.tables import (
    Queries,
    Table,
    check_judgments,
    check_queries,
)
from svc_notebook.tuning.variants.query_parts import (
    check_guard,
    part_queries,
)
from svc_notebook.tuning.variants.result import Search
from svc_notebook.tuning.variants.running_search import OnProgress, RunningSearch, VariantSearch
from svc_notebook.tuning.variants.spaces import (
    Space,
    TrialPlan,
    Variant,
    budget_of,
    count_variants,
)
from svc_notebook.tuning.variants.trials import Notes, TrialIndex

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
        work = RunningSearch(job, tried, earlier_trials, on_progress, options)
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


@described(like=search.__doc__)
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
    sampler : {'grid', 'random', 'halving', 'coordinate'}, default 'grid'
        Order in which variants are tried.
    budget : int, default None
        Maximum number of searches; None selects it by the sampler.

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


def _prepare(
    space: Mapping[str, Sequence[Any]], queries: Any, judgments: Any, sampler: str, metric: str,
    budget: int | None, holdout: float, seed: int, starts: Sequence[Variant] = (),
) -> VariantSearch:  # fmt: skip
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
    return VariantSearch(sampled, plan, metric, tune, held, judged, seed, allowed)

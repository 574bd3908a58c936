"""The diagnosis of an index: what fails, and the changes that help alone, tried one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.data.client import AsyncClient, OnProgress
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput, CallFailed
from svc_notebook.tuning.changes.request_part import WordCounts, belongs_to_request
from svc_notebook.tuning.changes.state import KINDS, IndexConfiguration, read_state
from svc_notebook.tuning.diagnosis.findings import Finding, find_all
from svc_notebook.tuning.diagnosis.levers import Lever, find_levers, rank_by_text
from svc_notebook.tuning.diagnosis.observation import Observation, observe, observe_again
from svc_notebook.tuning.diagnosis.plan import (
    MIN_TRIALS_PER_QUERY,
    READINGS_PER_QUERY,
    SearchBudget,
    plan_queries,
)
from svc_notebook.tuning.diagnosis.result import NO_EFFECT, UNTRIED, RelevanceDiagnosis
from svc_notebook.tuning.evaluation.measurement import missing
from svc_notebook.tuning.evaluation.metrics import deepest, read_measures
from svc_notebook.tuning.evaluation.runs import require_budget
from svc_notebook.tuning.statistics import check_seed, t_interval
from svc_notebook.tuning.tables.tables import (
    QUESTION,
    Queries,
    Table,
    check_judgments,
    check_queries,
)
from svc_notebook.tuning.variants.query_parts import tune_part
from svc_notebook.tuning.variants.spaces import AS_IT_IS, Variant
from svc_notebook.tuning.variants.trials import TrialIndex, score

FINDINGS = ["finding", "queries", "share", "evidence"]
PROPOSALS = [
    "finding", "name", "value", "where", "change", "touched", "gain", "low", "high", "evidence",
]  # fmt: skip
LEFT_OUT = ["name", "value", "reason"]
BY_TEXT = "ranking by the score of the text alone, as BM25 does"


@public(bar="searches")
async def diagnose(
    index: str | DataFrame,
    judgments: Table,
    queries: Queries | None = None,
    *,
    metric: str = "ndcg@10",
    holdout: float = 0.3,
    k: int | None = None,
    seed: int = 0,
    budget: int | None = None,
    client: AnyClient | None = None,
    on_progress: OnProgress | None = None,
) -> RelevanceDiagnosis:
    """Find out why judged queries score low, and what to change first; nothing is saved.

    Only queries that `search` selects on are read: those marked `tune` in the column `split`,
    else all except the share `holdout`. Each proposed value is tried alone, with search
    parameters or on one temporary copy of the index. If the best one helps with its whole
    interval, the index is read again with it, and values are tried on top of it. Values that
    change no hit are left out.

    Parameters
    ----------
    index : str or DataFrame
        Name of the index, or a run of it without search parameters, as `run` returns it.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to read.
    metric : str, default 'ndcg@10'
        Metric of the gains.
    holdout : float, default 0.3
        Share of the queries that are not read, from 0 up to 1, as in `search`; 0 reads all, to
        look at a few.
    k : int, default as many as the metric needs, at least 10
        Number of hits of each query.
    seed : int, default 0
        Seed of the random numbers, as in `search`.
    budget : int, default None
        Maximum number of searches, those included that read the index. None allows about 100 for
        each query (`plan_diagnosis` returns the number), but of a hosted service no more than
        2,000. Values for the findings with the most queries are tried first.

    Returns
    -------
    RelevanceDiagnosis
        The findings, the first changes in order of gain, and the first space for `search`.

    Raises
    ------
    BadInput
        If an option is not valid, fewer than two queries can be read, the budget is too small to
        try one value, or a hosted service would make more than 2,000 searches without a budget.
    NotFound

    Examples
    --------
    >>> found = svc.tuning.diagnose("products", "judgments.csv")
    >>> found.proposals[["name", "where", "gain"]]
    """
    if len(read_measures(metric)) != 1:
        raise BadInput("a diagnosis needs exactly one metric")
    index = _name_index(index)
    judged = check_judgments(judgments)
    table = check_queries(judged if queries is None else queries)
    plan = plan_queries(table, holdout, check_seed(seed), budget)
    tune = tune_part(table, holdout, seed)
    client = asynchronous(client)
    require_budget(client, budget, plan.budget, f"a diagnosis of {plan.tune:,} queries")
    state = await read_state(client, index)
    depth = deepest(metric, k)
    counts = WordCounts(client, index)
    seen = await observe(client, index, tune, judged, state.settings, counts=counts, k=depth)
    if seen.judged.empty:
        raise BadInput("none of the queries that may be read has a judgment")
    lost: DataFrame = await missing(index, seen.judged, client=client)
    findings = find_all(seen, lost)
    levers = _order_levers(find_levers(seen, findings), findings)
    spending = SearchBudget(plan.budget, spent=plan.reading)
    async with TrialIndex(client, index, state, k=depth, counts=counts) as tried:
        trials = ValueTrials(seen, tried, metric, seed, AS_IT_IS, spending)
        steps = await _try_in_steps(client, state, trials, levers, depth, on_progress)
    return replace(_conclude(seen, findings, trials, *steps), held_out=plan.holdout)


def _name_index(index: str | DataFrame) -> str:
    """Return the name of an index, or that of the index of a run."""
    if isinstance(index, str):
        return index
    facts = index.attrs.get("svc", {})
    if "index" not in facts:
        raise BadInput("this DataFrame has no index attached; pass the name of the index")
    if facts.get("params"):
        raise BadInput(
            "this run has search parameters, which a diagnosis does not read; pass the name of "
            "the index, and queries with a column `params`"
        )
    return str(facts["index"])


def _order_levers(levers: Sequence[Lever], findings: Sequence[Finding]) -> list[Lever]:
    """Return the levers, those for the findings with the most queries first."""
    affected = {finding.name: finding.queries for finding in findings}
    return sorted(levers, key=lambda lever: -affected.get(lever.finding, 0))


async def _try_in_steps(
    client: AsyncClient,
    state: IndexConfiguration,
    trials: ValueTrials,
    levers: Sequence[Lever],
    depth: int,
    on_progress: OnProgress | None,
) -> tuple[list[TriedValue], list[TriedValue], dict[str, str]]:
    """Try values alone, then on top of the best one, with which other values may help.

    Queries that find nothing hide what is wrong with the order of hits, so that the index is
    observed again with the best value in place. The second step needs a first that is certain.
    """
    seen, spending = trials.seen, trials.budget
    size = len(seen.queries)
    total = spending.spent + (1 + sum(len(lever.values) for lever in levers)) * size

    def on_tried() -> None:
        if on_progress:
            on_progress(spending.spent, min(total, spending.total))

    alone = await trials.run(levers, on_tried)
    best = max((trial for trial in alone if trial.gain), key=_gain_of, default=None)
    if best is None or best.gain is None or not best.gain.low > 0:
        return alone, [], {}
    if not spending.allows((READINGS_PER_QUERY + MIN_TRIALS_PER_QUERY) * size):
        return alone, [], {}
    spending.take(READINGS_PER_QUERY * size)
    base = Variant(best.choices)
    where, queries, params = await trials.tried.prepare(base, seen.queries)
    settings = {**state.settings, **best.choices}
    again = await observe_again(client, where, queries, seen, settings, parameters=params, k=depth)
    findings = find_all(again, DataFrame(columns=[*QUESTION, "objectID"]))
    more = _order_levers(_without_harmful(find_levers(again, findings), alone), findings)
    total = spending.spent + (1 + sum(len(lever.values) for lever in more)) * size
    following = await replace(trials, seen=again, base=base).run(more, on_tried)
    return alone, following, {finding.name: finding.evidence for finding in findings}


def _without_harmful(levers: Sequence[Lever], alone: Sequence[TriedValue]) -> list[Lever]:
    """Return the levers without the values that do harm alone, or that the service refuses."""
    harmful = [
        (entry.lever.name, entry.value) for entry in alone if entry.reason not in ("", NO_EFFECT)
    ]
    left = [
        lever._replace(
            values=[entry for entry in lever.values if (lever.name, entry) not in harmful]
        )
        for lever in levers
    ]
    return [lever for lever in left if lever.values]


def _gain_of(tried: TriedValue) -> float:
    return tried.gain.mean if tried.gain else -np.inf


def _conclude(
    seen: Observation,
    findings: Sequence[Finding],
    trials: ValueTrials,
    alone: Sequence[TriedValue],
    following: Sequence[TriedValue],
    evidence_of_following: Mapping[str, str],
) -> RelevanceDiagnosis:
    evidence = {finding.name: finding.evidence for finding in findings}
    best = max((item for item in alone if item.gain), key=_gain_of, default=None)
    choices = best.choices if best else {}
    space = _combine_spaces(seen, choices, _space_of(alone), _space_of(following))
    left_out = [
        (item.lever.name, item.value, item.reason)
        for item in (*alone, *following)
        if item.reason and item.value not in space.get(item.lever.name, [])
    ]
    return RelevanceDiagnosis(
        index=seen.index,
        metric=trials.metric,
        queries=len(seen.queries),
        before=float(np.nanmean(trials.before)) if len(trials.before) else np.nan,
        findings=DataFrame(
            [(item.name, item.queries, item.share, item.evidence) for item in findings],
            columns=FINDINGS,
        ).astype({"finding": "str", "queries": "int64", "share": "float64", "evidence": "str"}),
        proposals=_propose(alone, evidence, {}),
        following=_propose(following, evidence_of_following, choices),
        space=space,
        left_out=DataFrame(_distinct(left_out), columns=LEFT_OUT, dtype=object).astype(
            {"name": "str", "reason": "str"}
        ),
        searches=trials.budget.spent,
        is_cut=trials.budget.is_exhausted,
        text_score=_find_text_score(seen, alone),
    )


def _combine_spaces(
    seen: Observation,
    choices: Mapping[str, Any],
    alone: Mapping[str, list[Any]],
    following: Mapping[str, list[Any]],
) -> dict[str, list[Any]]:
    """Return the values of each name; what helps on top of the first value comes after it."""
    first = [name for name in choices if name in alone]
    return {
        name: _distinct([_now(seen, name), *following.get(name, []), *alone.get(name, [])])
        for name in dict.fromkeys([*first, *following, *alone])
    }


def _find_text_score(seen: Observation, tried: Sequence[TriedValue]) -> dict[str, Any]:
    """Return the values that rank by the text alone; empty if the service refuses them."""
    values = rank_by_text(seen)
    refused = any(
        trial.value == values["ranking"] and trial.lever.together and trial.failure
        and trial.failure not in (NO_EFFECT, UNTRIED)
        for trial in tried if trial.lever.name == "ranking"
    )  # fmt: skip
    return {} if refused else values


def _propose(
    tried: Sequence[TriedValue], evidence: Mapping[str, str], base: Mapping[str, Any]
) -> DataFrame:
    """Return the best value of each parameter that raises the score, the largest gain first."""
    rows: dict[str, dict[str, Any]] = {}
    for trial in sorted(tried, key=_gain_of, reverse=True):
        if trial.gain and trial.gain.mean > 0 and trial.lever.name not in rows:
            rows[trial.lever.name] = _row(
                trial, trial.gain, evidence.get(trial.lever.finding, BY_TEXT), base
            )
    types = {"touched": "int64", "gain": "float64", "low": "float64", "high": "float64"}
    texts = dict.fromkeys(("finding", "name", "where", "evidence"), "str")
    return DataFrame(list(rows.values()), columns=PROPOSALS, dtype=object).astype(
        {**types, **texts}
    )


def _space_of(tried: Sequence[TriedValue]) -> dict[str, list[Any]]:
    """Return the values that do no harm by name, the largest gain first.

    Values that have an effect only with others come after these others.
    """
    space: dict[str, list[Any]] = {}
    for trial in sorted(tried, key=_gain_of, reverse=True):
        if trial.gain and not trial.reason:
            for name, value in trial.choices.items():
                space.setdefault(name, []).append(value)
    return {name: _distinct(values) for name, values in space.items()}


def _distinct(values: Sequence[Any]) -> list[Any]:
    return [value for number, value in enumerate(values) if value not in values[:number]]


def _now(seen: Observation, name: str) -> Any:
    """Return the current value; None is the default."""
    return seen.settings.get(name)


def _row(tried: TriedValue, gain: Gain, evidence: str, base: Mapping[str, Any]) -> dict[str, Any]:
    change: dict[str, Any] = {}
    for name, value in {**base, **tried.choices}.items():
        if name in KINDS:
            change[name] = value
            continue
        part = "request" if belongs_to_request(name, value) else "settings"
        change.setdefault(part, {})[name] = value
    name = tried.lever.name
    by_request = name not in KINDS and belongs_to_request(name, tried.value)
    return {
        "finding": tried.lever.finding, "name": tried.lever.name, "value": tried.value,
        "where": "request" if by_request else "index", "change": change,
        "touched": gain.touched, "gain": gain.mean, "low": gain.low, "high": gain.high,
        "evidence": evidence,
    }  # fmt: skip


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

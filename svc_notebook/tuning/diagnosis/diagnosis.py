"""The diagnosis of an index: what fails, and the changes that help alone, tried one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.client import AsyncClient
from svc_notebook.client.tasks import OnProgress
from svc_notebook.declarations.declaration import public
from svc_notebook.display import format_difference, format_number, shorten, text_of, write_table
from svc_notebook.errors import BadInput
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes.request_part import belongs_to_request
from svc_notebook.tuning.changes.state import IndexConfiguration, read_state
from svc_notebook.tuning.diagnosis.findings import Finding, find_all
from svc_notebook.tuning.diagnosis.levers import Lever, find_levers
from svc_notebook.tuning.diagnosis.observation import Observation, observe, observe_again
from svc_notebook.tuning.diagnosis.value_trials import (
    NO_EFFECT,
    Gain,
    TriedValue,
    ValueTrials,
)
from svc_notebook.tuning.evaluation.measurement import missing
from svc_notebook.tuning.evaluation.metric_names import deepest, read_measures
from svc_notebook.tuning.statistics import check_seed
from svc_notebook.tuning.tables.tables import (
    QUESTION,
    Queries,
    Table,
    check_judgments,
    check_queries,
)
from svc_notebook.tuning.variants.query_parts import tune_part
from svc_notebook.tuning.variants.spaces import AS_IT_IS, Variant
from svc_notebook.tuning.variants.trials import TrialIndex

FINDINGS = ["finding", "queries", "share", "evidence"]
PROPOSALS = [
    "finding", "name", "value", "where", "change", "touched", "gain", "low", "high", "evidence",
]  # fmt: skip
LEFT_OUT = ["name", "value", "reason"]
MAX_VALUE_CHARACTERS = 60
SHOWN_PROPOSALS = 10


@dataclass(frozen=True, repr=False, eq=False)
class RelevanceDiagnosis:
    """What fails for judged queries, and what to change first; displayed as HTML in notebooks.

    Attributes
    ----------
    index : str
        Name of the index.
    metric : str
        Metric of the gains.
    queries : int
        Number of queries that were read; no query that `search` holds out is among them.
    before : float
        Mean score of these queries with the index as it is.
    findings : DataFrame
        One row per kind of failure: `finding` (str), `queries` (int64), `share` (float64) and
        `evidence` (str).
    proposals : DataFrame
        One row per parameter, the largest gain first: `finding` and `name` (str), `value`
        (object), `where` (str, `index` or `request`), `change` (object, for `tuning.impact` and
        `tuning.apply`), `touched` (int64, queries whose score changes), `gain`, `low` and `high`
        (float64, mean difference of the value alone with its 95 % interval, on the queries
        that were read) and `evidence` (str).
    following : DataFrame
        As `proposals`, with the first of them in place: `change` contains it, and the gains are
        those over it. Empty if the interval of the first gain contains 0.
    space : dict of lists
        First space for `tuning.search`: what did no harm, in the order in which to try it.
    left_out : DataFrame
        One row per value that is not proposed: `name` (str), `value` (object), `reason` (str).

    Examples
    --------
    >>> found = svc.tuning.diagnose("products", "judgments.csv")
    >>> found.findings[["finding", "queries"]]
    """

    index: str
    metric: str
    queries: int
    before: float
    findings: DataFrame = field(repr=False)
    proposals: DataFrame = field(repr=False)
    following: DataFrame = field(repr=False)
    space: dict[str, list[Any]] = field(repr=False)
    left_out: DataFrame = field(repr=False)

    @property
    def start(self) -> dict[str, Any]:
        """The values of the best change, with which `search` begins; empty without a proposal."""
        best = self.following if len(self.following) else self.proposals
        change = best["change"].iloc[0] if len(best) else {}
        return {name: value for part in change.values() for name, value in part.items()}

    def __repr__(self) -> str:
        lines = [self._headline()]
        lines += [f"  {row['finding']}: {row['evidence']}" for row in self._found()]
        lines.append("first changes, each tried alone:" if len(self.proposals) else NO_PROPOSAL)
        lines += [f"  {'  '.join(cells[:4])}" for cells in _cells(self.proposals)]
        if len(self.following):
            lines.append(f"{FOLLOWING}:")
            lines += [f"  {'  '.join(cells[:4])}" for cells in _cells(self.following)]
        return "\n".join([*lines, *self._notes()])

    def _repr_html_(self) -> str:
        findings = [
            (row["finding"], f"{row['queries']:,}", row["evidence"]) for row in self._found()
        ]
        parts = [
            f"<p><b>{escape(self._headline())}</b></p>",
            write_table(["finding", "queries", "evidence"], findings, numbers=[1]),
        ]
        if len(self.proposals):
            head = ["first changes", "where", "gain", "interval", "because of"]
            parts.append(write_table(head, _cells(self.proposals), numbers=[2]))
            if len(self.following):
                head = [FOLLOWING, *head[1:]]
                parts.append(write_table(head, _cells(self.following), numbers=[2]))
        else:
            parts.append(f"<p>{escape(NO_PROPOSAL)}</p>")
        parts += [f"<p>{escape(note)}</p>" for note in self._notes()]
        return f"<div>{''.join(parts)}</div>"

    def _headline(self) -> str:
        return (
            f"{self.index}: {self.metric} {format_number(self.before)} on {self.queries:,} queries"
        )

    def _found(self) -> list[dict[Any, Any]]:
        return self.findings.to_dict("records")

    def _notes(self) -> list[str]:
        notes = []
        if len(self.proposals):
            notes.append(
                "gains are on the queries that were read, and too optimistic; "
                "svc.tuning.search measures on others"
            )
        without = self.left_out["reason"] == NO_EFFECT
        idle = self.left_out[without & ~self.left_out["name"].isin(list(self.space))]
        if len(idle):
            listed = ", ".join(
                f"{name}={_short(value)}"
                for name, value in zip(idle["name"], idle["value"], strict=True)
            )
            notes.append(f"without effect on these queries, so left out: {listed}")
        return notes


FOLLOWING = "next changes, each tried with the first"
NO_PROPOSAL = "no change of a parameter alone raises the score"


def _cells(proposals: DataFrame) -> list[list[str]]:
    return [
        [
            f"{row['name']}={_short(row['value'])}", row["where"],
            format_difference(row["gain"]),
            f"[{format_difference(row['low'])}, {format_difference(row['high'])}]",
            row["finding"],
        ]
        for row in proposals.head(SHOWN_PROPOSALS).to_dict("records")
    ]  # fmt: skip


def _short(value: Any) -> str:
    return shorten(text_of(value, compact=True), MAX_VALUE_CHARACTERS)


@public(bar="searches")
async def diagnose(
    index: str,
    judgments: Table,
    queries: Queries | None = None,
    *,
    metric: str = "ndcg@10",
    holdout: float = 0.3,
    k: int | None = None,
    seed: int = 0,
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
    index : str
        Name of the index.
    judgments : DataFrame, list of dict or path
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to read.
    metric : str, default 'ndcg@10'
        Metric of the gains.
    holdout : float, default 0.3
        Share of the queries that are not read, from 0 to 1, as in `search`.
    k : int, default as many as the metric needs, at least 10
        Number of hits of each query.
    seed : int, default 0
        Seed of the random numbers, as in `search`.
    client : Client or AsyncClient, default the current client
        Client to use.
    on_progress : callable, default None
        Function that is called with the number of searches done and the total number of
        searches.

    Returns
    -------
    RelevanceDiagnosis
        The findings, the first changes in order of gain, and the first space for `search`.

    Raises
    ------
    BadInput
        If an option is not valid, or fewer than two queries can be read.
    NotFound
        If the index does not exist.
    CallFailed
        If the service cannot be reached or refuses the call.

    Examples
    --------
    >>> found = svc.tuning.diagnose("products", "judgments.csv")
    >>> found.proposals[["name", "where", "gain"]]
    """
    if len(read_measures(metric)) != 1:
        raise BadInput("a diagnosis needs exactly one metric")
    judged = check_judgments(judgments)
    table = check_queries(judged if queries is None else queries)
    tune = tune_part(table, holdout, check_seed(seed))
    own = asynchronous(client)
    state = await read_state(own, index)
    depth = deepest(metric, k)
    seen = await observe(own, index, tune, judged, state.settings, k=depth)
    if seen.judged.empty:
        raise BadInput("none of the queries that may be read has a judgment")
    lost: DataFrame = await missing(index, seen.judged, client=own)
    findings = find_all(seen, lost)
    levers = find_levers(seen, findings)
    steps = await _try_in_steps(own, index, state, seen, levers, metric, depth, seed, on_progress)
    return _conclude(seen, findings, *steps, metric)


async def _try_in_steps(
    client: AsyncClient,
    index: str,
    state: IndexConfiguration,
    seen: Observation,
    levers: Sequence[Lever],
    metric: str,
    depth: int,
    seed: int,
    on_progress: OnProgress | None,
) -> tuple[ValueTrials, list[TriedValue], list[TriedValue], dict[str, str]]:
    """Try values alone, then on top of the best one, with which other values may help.

    Queries that find nothing hide what is wrong with the order of hits, so that the index is
    observed again with the best value in place. The second step needs a first that is certain.
    """
    report = on_progress or (lambda done, total: None)
    size, done, total = len(seen.queries), 0, 0

    def on_tried() -> None:
        nonlocal done
        done += size
        report(done, total)

    async with TrialIndex(client, index, state, k=depth) as tried:
        trials = ValueTrials(seen, tried, metric, seed, AS_IT_IS)
        total = (1 + sum(len(lever.values) for lever in levers)) * size
        alone = await trials.run(levers, on_tried)
        best = max((each for each in alone if each.gain), key=_gain_of, default=None)
        if best is None or best.gain is None or not best.gain.low > 0:
            return trials, alone, [], {}
        base = Variant(best.choices)
        where, queries, params = await tried.prepare(base, seen.queries)
        settings = {**state.settings, **best.choices}
        again = await observe_again(
            client, where, queries, seen, settings, parameters=params, k=depth
        )
        findings = find_all(again, DataFrame(columns=[*QUESTION, "objectID"]))
        more = _without_harmful(find_levers(again, findings), alone)
        total += (1 + sum(len(lever.values) for lever in more)) * size
        following = await ValueTrials(again, tried, metric, seed, base).run(more, on_tried)
    return trials, alone, following, {each.name: each.evidence for each in findings}


def _without_harmful(levers: Sequence[Lever], alone: Sequence[TriedValue]) -> list[Lever]:
    """Return the levers without the values that do harm alone, or that the service refuses."""
    harmful = [
        (each.lever.name, each.value) for each in alone if each.reason not in ("", NO_EFFECT)
    ]
    left = [
        lever._replace(values=[each for each in lever.values if (lever.name, each) not in harmful])
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
    metric: str,
) -> RelevanceDiagnosis:
    evidence = {finding.name: finding.evidence for finding in findings}
    best = max((each for each in alone if each.gain), key=_gain_of, default=None)
    proposals = _propose(alone, evidence, {})
    after_best = _propose(following, evidence_of_following, best.choices if best else {})
    spaces = [_space_of(alone), _space_of(following)]
    # What helps on top of the first value is tried right after it.
    names = [name for name in (best.choices if best else {}) if name in spaces[0]]
    names = list(dict.fromkeys([*names, *spaces[1], *spaces[0]]))
    space = {
        name: _distinct([_now(seen, name), *spaces[1].get(name, []), *spaces[0].get(name, [])])
        for name in names
    }
    left_out = [
        (name, value, reason)
        for name, value, reason in (
            (each.lever.name, each.value, each.reason) for each in (*alone, *following)
        )
        if reason and value not in space.get(name, [])
    ]
    return RelevanceDiagnosis(
        index=seen.index,
        metric=metric,
        queries=len(seen.queries),
        before=float(np.nanmean(trials.before)) if len(trials.before) else np.nan,
        findings=DataFrame(
            [(each.name, each.queries, each.share, each.evidence) for each in findings],
            columns=FINDINGS,
        ).astype({"finding": "str", "queries": "int64", "share": "float64", "evidence": "str"}),
        proposals=proposals,
        following=after_best,
        space=space,
        left_out=DataFrame(_distinct(left_out), columns=LEFT_OUT, dtype=object).astype(
            {"name": "str", "reason": "str"}
        ),
    )


def _propose(
    tried: Sequence[TriedValue], evidence: Mapping[str, str], base: Mapping[str, Any]
) -> DataFrame:
    """Return the best value of each parameter that raises the score, the largest gain first."""
    rows: dict[str, dict[str, Any]] = {}
    for each in sorted(tried, key=_gain_of, reverse=True):
        if each.gain and each.gain.mean > 0 and each.lever.name not in rows:
            rows[each.lever.name] = _row(each, each.gain, evidence[each.lever.finding], base)
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
    for each in sorted(tried, key=_gain_of, reverse=True):
        if each.gain and not each.reason:
            for name, value in each.choices.items():
                space.setdefault(name, []).append(value)
    return {name: _distinct(values) for name, values in space.items()}


def _distinct(values: Sequence[Any]) -> list[Any]:
    return [value for place, value in enumerate(values) if value not in values[:place]]


def _now(seen: Observation, name: str) -> Any:
    """Return the value in place; None is the default."""
    return seen.settings.get(name)


def _row(tried: TriedValue, gain: Gain, evidence: str, base: Mapping[str, Any]) -> dict[str, Any]:
    change: dict[str, dict[str, Any]] = {}
    for name, value in {**base, **tried.choices}.items():
        part = "request" if belongs_to_request(name, value) else "settings"
        change.setdefault(part, {})[name] = value
    own = belongs_to_request(tried.lever.name, tried.value)
    return {
        "finding": tried.lever.finding, "name": tried.lever.name, "value": tried.value,
        "where": "request" if own else "index", "change": change,
        "touched": gain.touched, "gain": gain.mean, "low": gain.low, "high": gain.high,
        "evidence": evidence,
    }  # fmt: skip

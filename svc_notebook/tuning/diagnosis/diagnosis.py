"""The diagnosis of an index: what fails, and the changes that help alone, tried one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from pandas import DataFrame

from svc_notebook.client.tasks import OnProgress
from svc_notebook.declarations.declaration import public
from svc_notebook.display import format_difference, format_number, shorten, text_of, write_table
from svc_notebook.errors import BadInput, CallFailed
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes.request_part import belongs_to_request
from svc_notebook.tuning.changes.state import read_state
from svc_notebook.tuning.diagnosis.findings import Finding, find_all
from svc_notebook.tuning.diagnosis.levers import Lever, find_levers
from svc_notebook.tuning.diagnosis.observation import Observation, observe
from svc_notebook.tuning.evaluation.measurement import missing
from svc_notebook.tuning.evaluation.metric_names import deepest, read_measures
from svc_notebook.tuning.statistics import check_seed, interval
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
    space : dict of lists
        First space for `tuning.search`: what did no harm, the largest gain first.
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
    space: dict[str, list[Any]] = field(repr=False)
    left_out: DataFrame = field(repr=False)

    def __repr__(self) -> str:
        lines = [self._headline()]
        lines += [f"  {row['finding']}: {row['evidence']}" for row in self._found()]
        lines.append("first changes, each tried alone:" if len(self.proposals) else NO_PROPOSAL)
        lines += [f"  {'  '.join(cells[:4])}" for cells in self._rows()]
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
            parts.append(write_table(head, self._rows(), numbers=[2]))
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

    def _rows(self) -> list[list[str]]:
        return [
            [
                f"{row['name']}={_short(row['value'])}", row["where"],
                format_difference(row["gain"]),
                f"[{format_difference(row['low'])}, {format_difference(row['high'])}]",
                row["finding"],
            ]
            for row in self.proposals.head(SHOWN_PROPOSALS).to_dict("records")
        ]  # fmt: skip

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


NO_PROPOSAL = "no change of a parameter alone raises the score"
NO_EFFECT = "changes no hit of these queries on this service"
HARMFUL = "lowers the score alone, with its whole interval"


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
    parameters or on one temporary copy of the index. Values that change no hit are left out.

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
    async with TrialIndex(own, index, state, k=depth) as tried:
        trials = _Trials(seen, tried, metric, seed, on_progress)
        await trials.run(levers)
    return _conclude(seen, findings, levers, trials, metric)


@dataclass(frozen=True)
class _Gain:
    """The mean difference of one value alone, and the number of queries whose score changes."""

    mean: float
    low: float
    high: float
    touched: int


class _Trials:
    """The trials of values, each alone."""

    def __init__(
        self,
        seen: Observation,
        tried: TrialIndex,
        metric: str,
        seed: int,
        on_progress: OnProgress | None,
    ) -> None:
        self.seen = seen
        self.tried = tried
        self.metric = metric
        self.seed = seed
        self.on_progress = on_progress or (lambda done, total: None)
        self.before = np.array([])
        self.gains: dict[tuple[str, int], _Gain] = {}
        self.failures: dict[tuple[str, int], str] = {}

    async def run(self, levers: Sequence[Lever]) -> None:
        """Try every value; one that the service refuses is kept as a failure."""
        base = await self.tried.run(AS_IT_IS, self.seen.queries)
        self.before = self._values(base)
        shown = _ranked(base)
        total = (1 + sum(len(lever.values) for lever in levers)) * len(self.seen.queries)
        done = len(self.seen.queries)
        for lever in levers:
            for place, value in enumerate(lever.values):
                try:
                    found = await self.tried.run(Variant({lever.name: value}), self.seen.queries)
                except CallFailed as error:
                    self.failures[lever.name, place] = str(error)
                else:
                    if _ranked(found) == shown:
                        self.failures[lever.name, place] = NO_EFFECT
                    else:
                        self.gains[lever.name, place] = self._gain(found)
                done += len(self.seen.queries)
                self.on_progress(done, total)

    def _values(self, found: DataFrame) -> Any:
        judged = self.seen.judged
        return np.array(
            score(found, self.seen.queries, judged, self.metric, {})[0], dtype=np.float64
        )

    def _gain(self, found: DataFrame) -> _Gain:
        deltas = self._values(found) - self.before
        mean, low, high = interval(deltas, seed=self.seed)
        return _Gain(mean, low, high, int((np.nan_to_num(deltas) != 0).sum()))


def _ranked(found: DataFrame) -> list[tuple[Any, ...]]:
    columns = found[[*QUESTION, "objectID"]].astype(object)
    return list(columns.where(columns.notna(), None).itertuples(index=False, name=None))


def _conclude(
    seen: Observation,
    findings: Sequence[Finding],
    levers: Sequence[Lever],
    trials: _Trials,
    metric: str,
) -> RelevanceDiagnosis:
    evidence = {finding.name: finding.evidence for finding in findings}
    rows, left_out, space = [], [], []
    for lever in levers:
        gains: Mapping[int, _Gain] = {
            place: gain for (name, place), gain in trials.gains.items() if name == lever.name
        }
        left_out += [
            (lever.name, lever.values[place], reason)
            for (name, place), reason in trials.failures.items()
            if name == lever.name
        ]
        harmless = {place: gain for place, gain in gains.items() if not gain.high < 0}
        left_out += [
            (lever.name, lever.values[place], HARMFUL) for place in gains if place not in harmless
        ]
        if not harmless:
            continue
        ordered = sorted(harmless, key=lambda place: -harmless[place].mean)
        best = harmless[ordered[0]]
        space.append((best.mean, lever.name, [lever.values[place] for place in ordered]))
        if best.mean > 0:
            rows.append(_row(lever, lever.values[ordered[0]], best, evidence[lever.finding]))
    rows.sort(key=lambda row: -row["gain"])
    space.sort(key=lambda each: -each[0])
    types = {"touched": "int64", "gain": "float64", "low": "float64", "high": "float64"}
    texts = dict.fromkeys(("finding", "name", "where", "evidence"), "str")
    return RelevanceDiagnosis(
        index=seen.index,
        metric=metric,
        queries=len(seen.queries),
        before=float(np.nanmean(trials.before)) if len(trials.before) else np.nan,
        findings=DataFrame(
            [(each.name, each.queries, each.share, each.evidence) for each in findings],
            columns=FINDINGS,
        ).astype({"finding": "str", "queries": "int64", "share": "float64", "evidence": "str"}),
        proposals=DataFrame(rows, columns=PROPOSALS, dtype=object).astype({**types, **texts}),
        space={name: [_now(seen, name), *values] for _, name, values in space},
        left_out=DataFrame(left_out, columns=LEFT_OUT, dtype=object).astype(
            {"name": "str", "reason": "str"}
        ),
    )


def _now(seen: Observation, name: str) -> Any:
    """Return the value in place; None is the default."""
    return seen.settings.get(name)


def _row(lever: Lever, value: Any, gain: _Gain, evidence: str) -> dict[str, Any]:
    of_request = belongs_to_request(lever.name, value)
    return {
        "finding": lever.finding, "name": lever.name, "value": value,
        "where": "request" if of_request else "index",
        "change": {("request" if of_request else "settings"): {lever.name: value}},
        "touched": gain.touched, "gain": gain.mean, "low": gain.low, "high": gain.high,
        "evidence": evidence,
    }  # fmt: skip

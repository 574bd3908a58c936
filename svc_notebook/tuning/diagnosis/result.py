"""The result of a diagnosis: findings, the changes to try first, and how they are displayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

from pandas import DataFrame

from svc_notebook.core.display import (
    format_count,
    format_difference,
    format_number,
    shorten,
    text_of,
    write_table,
)
from svc_notebook.tuning.statistics import FEW_QUERIES

MAX_VALUE_CHARACTERS = 60
SHOWN_PROPOSALS = 10
# Reasons why a value is left out.
NO_EFFECT = "changes no hit of these queries on this service"
UNTRIED = "not tried: the budget of searches is used up"


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
    held_out : int
        Number of queries that `search` holds out, which were not read.
    before : float
        Mean score of these queries with the index as it is.
    findings : DataFrame
        One row per kind of failure: `finding` (str), `queries` (int64), `share` (float64) and
        `evidence` (str).
    proposals : DataFrame
        One row per parameter, the largest gain first: `finding` and `name` (str), `value`
        (object), `where` (str, `index` or `request`), `change` (object, for `tuning.impact` and
        `tuning.apply`), `touched` (int64, queries whose score changes), `gain`, `low` and `high`
        (float64, mean difference of the value alone with its 95 % t interval, on the queries
        that were read) and `evidence` (str).
    following : DataFrame
        As `proposals`, with the first of them in place: `change` contains it, and the gains are
        those over it. Empty if the interval of the first gain contains 0.
    space : dict of lists
        First space for `tuning.search`: what did no harm, in the order in which to try it.
    left_out : DataFrame
        One row per value that is not proposed: `name` (str), `value` (object), `reason` (str).
    searches : int
        Number of searches that were made.
    is_cut : bool
        Whether the budget ended the trials.
    text_score : dict
        Values that rank by the score of the text alone; `search` always tries them.

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
    searches: int = 0
    is_cut: bool = False
    text_score: dict[str, Any] = field(default_factory=dict, repr=False)
    held_out: int = 0

    @property
    def start(self) -> dict[str, Any]:
        """The values of the best change, with which `search` begins; empty without a proposal."""
        best = self.following if len(self.following) else self.proposals
        change = best["change"].iloc[0] if len(best) else {}
        lists = {name: value for name, value in change.items() if isinstance(value, list)}
        parts = [part for part in change.values() if isinstance(part, dict)]
        return {**lists, **{name: value for part in parts for name, value in part.items()}}

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
            f" ({self.held_out:,} held out)"
        )

    def _found(self) -> list[dict[Any, Any]]:
        return self.findings.to_dict("records")

    def _notes(self) -> list[str]:
        notes = []
        if self.queries < FEW_QUERIES:
            notes.append(
                f"{format_count(self.queries, 'query', 'queries')} "
                f"{'is' if self.queries == 1 else 'are'} not enough to choose: read at least "
                f"{FEW_QUERIES - self.queries} more with judgments"
            )
        if len(self.proposals):
            notes.append(
                "gains are on the queries that were read, and too optimistic; "
                "svc.tuning.search measures on others"
            )
        without = self.left_out["reason"] == NO_EFFECT
        idle = self.left_out[without & ~self.left_out["name"].isin(list(self.space))]
        if len(idle):
            notes.append(f"without effect on these queries, so left out: {_list_values(idle)}")
        if self.is_cut:
            untried = self.left_out[self.left_out["reason"] == UNTRIED]
            notes.append(
                f"the budget ended the trials after {self.searches:,} searches"
                + (f"; not tried: {_list_values(untried)}" if len(untried) else "")
            )
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


def _list_values(rows: DataFrame) -> str:
    pairs = zip(rows["name"], rows["value"], strict=True)
    return ", ".join(f"{name}={_short(value)}" for name, value in pairs)


def _short(value: Any) -> str:
    return shorten(text_of(value, compact=True), MAX_VALUE_CHARACTERS)

"""The impact of a change on searches, measured before anything is saved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any, Literal

import pandas as pd
from pandas import DataFrame

from svc_notebook.client import AsyncClient
from svc_notebook.client.attribute_checks import check_attributes
from svc_notebook.errors import BadInput
from svc_notebook.session.connection import AnyClient, asynchronous
from svc_notebook.tuning.changes.change_spec import Proposal, read_proposal
from svc_notebook.tuning.changes.diff import Differences, tabulate
from svc_notebook.tuning.changes.parameter_overrides import as_parameters
from svc_notebook.tuning.changes.rule_filters import warn_of_rule_filters
from svc_notebook.tuning.changes.scratch import AsyncScratch
from svc_notebook.tuning.changes.state import Delta, Deltas, Objects, Scope, read_part, write_parts
from svc_notebook.tuning.changes.state import compare as differ
from svc_notebook.tuning.evaluation.comparison import Comparison, compare
from svc_notebook.tuning.evaluation.comparison_summary import definitions, describe_row
from svc_notebook.tuning.evaluation.rank_changes import find_moves
from svc_notebook.tuning.evaluation.runs import FIXED, run
from svc_notebook.tuning.evaluation.scores import METRICS
from svc_notebook.tuning.number_format import number, signed
from svc_notebook.tuning.tables.tables import QUESTION, Queries, Table

By = Literal["parameters", "scratch copy"]
SHOWN_QUERIES = 10
TEXTS, LEFT = ("query", "filters"), ' style="text-align:left"'
_CODE = re.compile("`([^`]+)`")
TOUCHED = ["up", "down", "entered", "left"]


@dataclass(frozen=True, repr=False, eq=False)
class Impact:
    """The impact of a change that was tried and not saved; displayed as HTML in notebooks."""

    index: str
    change: Differences
    by: By
    before: DataFrame = field(repr=False)
    after: DataFrame = field(repr=False)
    comparison: Comparison | None = field(default=None, repr=False)

    @cached_property
    def moves(self) -> DataFrame:
        """Every hit with its ranks before and after, and its gain."""
        if self.comparison:
            return self.comparison.moves
        unknown = DataFrame(columns=[*QUESTION, "objectID", "gain"], dtype="string")
        return find_moves(self.before, self.after, unknown.astype({"gain": "float64"}))

    @cached_property
    def queries(self) -> DataFrame:
        """Every query: total hits before and after, and the changes among the first hits.

        With judgments also its score before and after, `delta`, and the number of new unjudged
        hits. The most affected queries come first.
        """
        frame = pd.concat([_count(self.before), _count(self.after)], axis=1)
        frame.columns = pd.Index(["hits_before", "hits_after"])
        kinds = pd.crosstab([self.moves[name] for name in QUESTION], self.moves["kind"])
        for name in TOUCHED:
            frame[name] = kinds.get(name, 0)
        frame[TOUCHED] = frame[TOUCHED].fillna(0).astype("int64")
        if self.comparison:
            first = self.comparison.scores["metric"] == self.comparison.metrics[0]
            scores = self.comparison.scores[first].set_index(QUESTION)
            frame = frame.join(scores[["before", "after", "delta"]])
            frame["unjudged"] = self.unjudged.groupby(QUESTION).size()
            frame["unjudged"] = frame["unjudged"].fillna(0).astype("int64")
        order = frame[TOUCHED].sum(axis=1).sort_values(ascending=False, kind="stable").index
        return frame.loc[order].reset_index()

    @cached_property
    def unjudged(self) -> DataFrame:
        """New hits without a judgment: judge them before you rely on the scores."""
        new_unjudged = (self.moves["kind"] == "entered") & self.moves["gain"].isna()
        columns = [*QUESTION, "objectID", "rank_after"]
        return self.moves.loc[new_unjudged, columns].reset_index(drop=True)

    @property
    def touched(self) -> int:
        """The number of queries whose first hits change, or change their order."""
        return int((self.queries[TOUCHED].sum(axis=1) > 0).sum())

    def __repr__(self) -> str:
        return "\n".join([_headline(self), *_describe_scores(self)])

    def _repr_html_(self) -> str:
        return _draw(self)


async def impact(
    index: str,
    change: Proposal,
    queries: Queries | None = None,
    judgments: Table | None = None,
    metrics: str | Iterable[str] = METRICS,
    *,
    k: int = 10,
    client: AnyClient | None = None,
    **options: Any,
) -> Impact:
    """Measure the impact of changed settings, synonyms or rules on searches; nothing is saved.

    The change is made by search parameters if possible, else on a scratch copy, which is dropped.
    Without `queries` the judged queries are used. `options` are those of `compare`. Returns an
    `Impact`.
    """
    if queries is None and judgments is None:
        raise BadInput("give `queries` to try the change on, or `judgments`")
    own, wanted = asynchronous(client), read_proposal(change)
    (await check_attributes(own, index, wanted.get("settings", {}))).warn()
    await warn_of_rule_filters(own, index, wanted)
    tried_queries: Any = judgments if queries is None else queries
    deltas = await _find_deltas(own, index, wanted)
    before = await run(index, tried_queries, k=k, name=index, client=own)
    by, after = await _try(own, index, wanted, tried_queries, k)
    comparison = None
    if judgments is not None:
        comparison = compare(before, after, judgments, metrics, **options)
    return Impact(index, tabulate(deltas), by, before, after, comparison)


async def _find_deltas(client: AsyncClient, index: str, wanted: Mapping[Scope, Objects]) -> Deltas:
    found: dict[Scope, Delta] = {}
    for scope, objects in wanted.items():
        found[scope] = differ(scope, await read_part(client, index, scope, objects), objects)
    return found


async def _try(
    client: AsyncClient, index: str, wanted: Mapping[Scope, Objects], tried_queries: Any, k: int
) -> tuple[By, DataFrame]:
    """Search with the change, by parameters or on a scratch copy."""
    name = f"{index} with the change"
    if wanted.keys() == {"settings"}:
        now = await read_part(client, index, "settings")
        params, others = as_parameters(wanted["settings"], {**now, **wanted["settings"]})
        if not others:
            search_params: Any = {key: value for key, value in params.items() if key not in FIXED}
            return "parameters", await run(
                index, tried_queries, search_params, k=k, name=name, client=client
            )
    async with AsyncScratch(index, client) as s:
        await write_parts(client, s.name, wanted)
        return "scratch copy", await run(s.name, tried_queries, k=k, name=name, client=client)


def _count(found: DataFrame) -> pd.Series[int]:
    return found.groupby(QUESTION, sort=False)["nbHits"].first()


def _headline(impact: Impact) -> str:
    zero_results = [
        int((impact.queries[f"hits_{side}"] == 0).sum()) for side in ("before", "after")
    ]
    kinds = impact.moves["kind"].value_counts()
    entered, left = int(kinds.get("entered", 0)), int(kinds.get("left", 0))
    moved = int(kinds.get("up", 0) + kinds.get("down", 0))
    return (
        f"{impact.index}, {len(impact.change)} change{'s' * (len(impact.change) != 1)} tried by "
        f"{impact.by}, nothing saved: {impact.touched:,} of {len(impact.queries):,} queries "
        f"touched; {_hits(entered)} new, {left:,} dropped out, {moved:,} moved; zero results "
        f"{zero_results[0]:,} → {zero_results[1]:,}"
    )


def _hits(count: int) -> str:
    return "1 hit" if count == 1 else f"{count:,} hits"


def _describe_scores(impact: Impact) -> list[str]:
    if not impact.comparison:
        return []
    lines = [
        "  ".join([row["metric"], *describe_row(row)])
        for row in impact.comparison.test().to_dict("records")
    ]
    lines += [f"  {name}: {words}" for name, words in definitions(impact.comparison)]
    if count := len(impact.unjudged):
        lines.append(f"{_hits(count)} new and unjudged: see `.unjudged`")
    return lines


def _draw(impact: Impact) -> str:
    lines = [f"<p><b>{escape(_headline(impact))}</b></p>", impact.change._repr_html_()]
    parts = [_CODE.sub(r"<code>\1</code>", escape(line)) for line in _describe_scores(impact)]
    lines += [f"<p>{line}</p>" for line in parts]
    shown = impact.queries[impact.queries[TOUCHED].sum(axis=1) > 0].head(SHOWN_QUERIES)
    if not shown.empty:
        lines.append(_draw_queries(shown))
    return f"<div>{''.join(lines)}</div>"


def _draw_queries(shown: DataFrame) -> str:
    filtered = bool((shown["filters"] != "").any())
    names = [str(name) for name in shown if name != "filters" or filtered]
    head = "".join(
        f"<th{LEFT * (name in TEXTS)}>{escape(name.replace('_', ' '))}</th>" for name in names
    )
    cells = [[_cell(name, value) for value in shown[name]] for name in names]
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    return f"<table><tr>{head}</tr>{rows}</table>"


def _cell(name: str, value: Any) -> str:
    if name in TEXTS:
        return f"<td{LEFT}>{escape(str(value))}</td>"
    written = {"before": number, "after": number, "delta": signed}.get(name, lambda n: f"{n:,}")
    return f"<td>{written(value)}</td>"

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

from svc_notebook.core.display import format_count, format_difference, format_number, write_table
from svc_notebook.data.client import AsyncClient, check_attributes
from svc_notebook.data.declarations import public
from svc_notebook.data.session import AnyClient, asynchronous
from svc_notebook.errors import BadInput
from svc_notebook.tuning.changes.request_part import (
    RequestFiller,
    WordCounts,
    split_change,
)
from svc_notebook.tuning.changes.scratch_copy import AsyncScratch
from svc_notebook.tuning.changes.state import (
    Deltas,
    Differences,
    Objects,
    Scope,
    as_parameters,
    read_part,
    tabulate,
    write_parts,
)
from svc_notebook.tuning.changes.state import compare as differ
from svc_notebook.tuning.evaluation.comparison import Comparison, compare
from svc_notebook.tuning.evaluation.comparison_summary import (
    definitions,
    describe_few,
    describe_row,
)
from svc_notebook.tuning.evaluation.ranked_lists import find_moves
from svc_notebook.tuning.evaluation.runs import FIXED, run
from svc_notebook.tuning.evaluation.scores import METRICS
from svc_notebook.tuning.proposed_changes.change_spec import (
    Proposal,
    add_request,
    read_proposal,
    warn_of_rule_filters,
)
from svc_notebook.tuning.tables.tables import QUESTION, Queries, Table

By = Literal["parameters", "scratch copy"]
SHOWN_QUERIES = 10
TEXTS = ("query", "filters")
_CODE = re.compile("`([^`]+)`")
TOUCHED = ["up", "down", "entered", "left"]


@dataclass(frozen=True, repr=False, eq=False)
class Impact:
    """The impact of a change that was tried and not saved; displayed as HTML in notebooks.

    Attributes
    ----------
    index : str
        Name of the index.
    change : DataFrame
        Tried change, as `diff` returns it.
    by : {'parameters', 'scratch copy'}
        Means by which the change was tried.
    before : DataFrame
        Run without the change, as `run` returns it.
    after : DataFrame
        Run with the change, as `run` returns it.
    comparison : Comparison or None
        Comparison of both runs, if judgments were given.

    Examples
    --------
    >>> impact = svc.tuning.impact("products", {"customRanking": ["desc(reviews)"]}, ["mug"])
    >>> impact.change[["name", "after"]]
                name            after
    0  customRanking  [desc(reviews)]
    """

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
    def tried(self) -> int:
        """The number of changed names, those of the request included."""
        return len(self.change) + len(self.change.attrs.get("svc", {}).get("request", {}))

    @property
    def touched(self) -> int:
        """The number of queries whose first hits change, or change their order."""
        return int((self.queries[TOUCHED].sum(axis=1) > 0).sum())

    def __repr__(self) -> str:
        return "\n".join([_headline(self), *_describe_scores(self)])

    def _repr_html_(self) -> str:
        return _draw(self)


@public()
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

    The change is tried by search parameters if possible, else on a temporary copy of the index.

    Parameters
    ----------
    change : dict or list of dict
        Settings by name; one synonym or rule, or several; or a dict of `settings`,
        `synonyms`, `rules` and `request`, in which None deletes a synonym or rule by its
        objectID.
    queries : str, list, DataFrame or path, default those of the judgments
        Queries to search for.
    judgments : DataFrame, list of dict or path, default None
        Judgments with the columns `query`, `objectID` and `rating`, or a CSV or Parquet
        file of them.
    metrics : str or list of str, default 'ndcg@10'
        Metrics to compute: `ndcg@k`, `ndcg_exp@k`, `p@k`, `r@k`, `rr@k`, `ap@k`, `err@k`,
        `rbp(p)`, `judged@k`.
    **options
        Options of `compare`.

    Returns
    -------
    Impact
        The hits before and after, with `queries`, `moves`, `unjudged` and, with judgments,
        `comparison`.

    Raises
    ------
    BadInput
        If there are neither queries nor judgments, or the change is wrong.
    NotFound

    Examples
    --------
    >>> change = {"customRanking": ["desc(reviews)"]}
    >>> impact = svc.tuning.impact("products", change, ["mug", "wool blanket"])
    >>> impact.touched
    2
    >>> impact.queries[["query", "up", "down", "entered", "left"]]
    """
    if queries is None and judgments is None:
        raise BadInput("pass `queries` to try the change on, or `judgments`")
    for_index, request = split_change(change)
    caller = asynchronous(client)
    only_request = bool(request) and not any(for_index.values())
    proposed = {} if only_request else read_proposal(for_index)
    (await check_attributes(caller, index, proposed.get("settings", {}))).warn()
    await warn_of_rule_filters(caller, index, proposed)
    tried_queries: Any = judgments if queries is None else queries
    deltas = await find_deltas(caller, index, proposed)
    before = await run(index, tried_queries, k=k, name=index, client=caller)
    if request:
        tried_queries = await RequestFiller(WordCounts(caller, index)).fill(tried_queries, request)
    by, after = await _try(caller, index, proposed, tried_queries, k)
    comparison = None
    if judgments is not None:
        comparison = compare(before, after, judgments, metrics, **options)
    changed = add_request(tabulate(deltas), index, request)
    return Impact(index, changed, by, before, after, comparison)


async def find_deltas(client: AsyncClient, index: str, objects: Mapping[Scope, Objects]) -> Deltas:
    """Return what these settings, synonyms and rules would change in an index."""
    return {
        scope: differ(scope, await read_part(client, index, scope, proposed), proposed)
        for scope, proposed in objects.items()
    }


async def _try(
    client: AsyncClient, index: str, proposed: Mapping[Scope, Objects], tried_queries: Any, k: int
) -> tuple[By, DataFrame]:
    """Search with the change, by parameters or on a scratch copy."""
    name = f"{index} with the change"
    if not proposed:
        return "parameters", await run(index, tried_queries, k=k, name=name, client=client)
    if proposed.keys() == {"settings"}:
        now = await read_part(client, index, "settings")
        params, others = as_parameters(proposed["settings"], {**now, **proposed["settings"]})
        if not others:
            search_params: Any = {key: value for key, value in params.items() if key not in FIXED}
            return "parameters", await run(
                index, tried_queries, search_params, k=k, name=name, client=client
            )
    async with AsyncScratch(index, client) as s:
        await write_parts(client, s.name, proposed)
        return "scratch copy", await run(s.name, tried_queries, k=k, name=name, client=client)


def _count(hits: DataFrame) -> pd.Series[int]:
    return hits.groupby(QUESTION, sort=False)["nbHits"].first()


def _headline(impact: Impact) -> str:
    zero_results = [
        int((impact.queries[f"hits_{side}"] == 0).sum()) for side in ("before", "after")
    ]
    kinds = impact.moves["kind"].value_counts()
    entered, left = int(kinds.get("entered", 0)), int(kinds.get("left", 0))
    moved = int(kinds.get("up", 0) + kinds.get("down", 0))
    return (
        f"{impact.index}, {format_count(impact.tried, 'change')} tried by "
        f"{impact.by}, nothing saved: {impact.touched:,} of {len(impact.queries):,} queries "
        f"affected; {format_count(entered, 'hit')} new, {left:,} dropped out, {moved:,} moved; "
        f"zero results {zero_results[0]:,} → {zero_results[1]:,}"
    )


def _describe_scores(impact: Impact) -> list[str]:
    if not impact.comparison:
        return []
    lines = [
        "  ".join([row["metric"], *describe_row(row)])
        for row in impact.comparison.test().to_dict("records")
    ]
    lines += describe_few(impact.comparison.test().to_dict("records"))
    lines += [f"  {name}: {words}" for name, words in definitions(impact.comparison)]
    if count := len(impact.unjudged):
        lines.append(f"{format_count(count, 'hit')} new and unjudged: see `.unjudged`")
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
    cells = [[_cell(name, value) for value in shown[name]] for name in names]
    numbers = [number for number, name in enumerate(names) if name not in TEXTS]
    head = [name.replace("_", " ") for name in names]
    return write_table(head, zip(*cells, strict=True), numbers=numbers)


def _cell(name: str, value: Any) -> str:
    if name in TEXTS:
        return str(value)
    if name == "delta":
        return format_difference(value)
    return format_number(value) if name in ("before", "after") else f"{value:,}"
